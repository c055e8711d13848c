//! The network on burn, on any device.

use burn::tensor::{Device, Tensor, TensorData};
use rules::Variant;

use super::{EvalRequest, Evaluation, Evaluator};
use crate::board::GRID;
use crate::net::{MOVES_LEFT_UNIT, Net, PolicyGather};
use crate::{Encoding, PolicyIndex, PolicyLayout, Wdl};

/// A [`Net`] that answers requests through burn, without recording gradients.
pub struct NetEvaluator {
    net: Net,
    encoding: Encoding,
    layout: PolicyLayout,
    device: Device,
}

impl NetEvaluator {
    /// Requests sent to the device at once; more are cut into batches of this size.
    const MAX_BATCH: usize = 1024;

    /// An evaluator on the device that `net` is on. The net's weights are copied, so training it
    /// on does not change the evaluator.
    pub fn new(net: &Net, variant: &Variant) -> NetEvaluator {
        let net = net.snapshot();
        NetEvaluator {
            device: net.device(),
            net,
            encoding: Encoding::new(variant),
            layout: PolicyLayout::new(variant),
        }
    }

    fn evaluate_batch(&self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let indices: Vec<Vec<PolicyIndex>> = requests
            .iter()
            .map(|request| {
                let turn = request.position.turn();
                let index = |&mv| self.layout.index(turn, mv);
                request.moves.iter().map(index).collect()
            })
            .collect();
        let gather = PolicyGather::new(self.net.shape(), &indices, &self.device);
        let output = self.net.forward(self.planes(requests));
        let policy = floats(output.legal_logits(&gather));
        let wdl = floats(output.wdl_logits);
        let moves_left = floats(output.moves_left);
        let width = gather.width();
        let evaluation = |i: usize| Evaluation {
            wdl: Wdl::from_logits([wdl[3 * i], wdl[3 * i + 1], wdl[3 * i + 2]]),
            moves_left: moves_left[i] * MOVES_LEFT_UNIT,
            policy_logits: policy[i * width..][..requests[i].moves.len()].to_vec(),
        };
        (0..requests.len()).map(evaluation).collect()
    }

    /// Planes of the requests, `[requests, planes, 10, 10]`.
    fn planes(&self, requests: &[EvalRequest]) -> Tensor<4> {
        let positions = requests.iter().map(|r| (&r.position, r.repetitions));
        let planes = self.encoding.encode_batch(positions);
        let shape = [requests.len(), self.encoding.planes(), GRID, GRID];
        Tensor::from_data(TensorData::new(planes, shape), &self.device)
    }
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .try_into_vec_as::<f32>()
        .expect("the device hands back what it has computed")
}

impl Evaluator for NetEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        requests
            .chunks(Self::MAX_BATCH)
            .flat_map(|batch| self.evaluate_batch(batch))
            .collect()
    }
}
