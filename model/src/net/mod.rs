//! The network in burn: residual tower with global pooling, source–destination policy, WDL and
//! moves-left heads.

mod block;
mod config;
mod heads;
mod init;
mod output;
mod tower;
mod transfer;

pub use block::NORM_EPSILON;
pub use config::{NetConfig, NetShape};
pub use output::{MOVES_LEFT_UNIT, MovePlace, NetOutput, PolicyGather, PolicyVectors};
pub use tower::Net;
