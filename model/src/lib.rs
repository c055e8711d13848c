//! What a position looks like to a network, the network itself, and everything that answers
//! "how good is this position, and which moves are worth a look?".
//!
//! A tour, in the order in which data flows:
//!
//! 1. [`Encoding`] turns a position into 10×10 planes, side to move at the bottom.
//! 2. [`Net`] maps planes to policy logits, win/draw/loss logits and the plies left.
//! 3. [`PolicyLayout`] names the policy logit of each legal move.
//! 4. An [`Evaluator`] does all of it for a batch of [`EvalRequest`]s: [`NetEvaluator`] on any
//!    device through burn, [`CompiledEvaluator`] on the CPU through kernels of our own,
//!    [`UniformEvaluator`] with no net at all, [`CachedEvaluator`] around any of them.
//! 5. [`save_net`] and [`load_net`] turn a net into bytes and back; [`load_evaluator`] picks the
//!    fastest evaluator that this machine has for them.
//!
//! [`export`] writes nets for other programs.
//!
//! Training goes through burn; on the CPU nearly all of a step is computed by kernels of our own,
//! in the [`TrainingPrecision`] that the net asks for.
//!
//! This is the only crate that names tensors and devices.
//!
//! ```
//! use model::{EvalRequest, Evaluator, UniformEvaluator};
//!
//! let variant = rules::Variant::by_name("falcon").expect("falcon is built in");
//! let request = EvalRequest::new(&variant, variant.start(), 1);
//! let evaluations = UniformEvaluator.evaluate(&[request]);
//! assert_eq!(evaluations[0].wdl.q(), 0.0);
//! ```

mod bench;
mod board;
mod carry_over;
mod compiled;
mod device;
mod encoding;
mod error;
mod evaluator;
pub mod export;
mod fnv;
mod inference;
mod net;
mod net_file;
mod policy;
mod training;
mod wdl;
mod weights;

pub use bench::{
    Throughput, TrainingWay, peak_multiplications, sample_requests, throughput, training_throughput,
};
pub use burn;
pub use burn::tensor::Device;
pub use compiled::{CompiledEvaluator, Precision, SimdLevel};
pub use device::DeviceChoice;
pub use encoding::Encoding;
pub use error::ModelError;
pub use evaluator::{
    CachedEvaluator, EvalRequest, Evaluation, Evaluator, NetEvaluator, UniformEvaluator,
    load_evaluator,
};
pub use fnv::Fnv1a;
pub use inference::{Inference, InferenceChoice};
pub use net::{MOVES_LEFT_UNIT, Net, NetConfig, NetOutput, NetShape, PolicyGather};
pub use net_file::{
    NET_FORMAT, NetMeta, RelatedNet, check_net, load_net, load_related, load_weights, read_meta,
    save_net, save_weights,
};
pub use policy::{PolicyIndex, PolicyLayout};
pub use training::TrainingPrecision;
pub use wdl::Wdl;
pub use weights::{NamedTensor, Weights};
