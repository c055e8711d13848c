//! What comes out of a net, and how the logits of legal moves are picked from it.

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};

use std::sync::Arc;

use super::NetShape;
use crate::PolicyIndex;
use crate::board::{GRID, GRID_SQUARES};
use crate::training::{MoveLists, legal_logits};

/// Plies in one unit of [`NetOutput::moves_left`], so that the head works with numbers near 1.
pub const MOVES_LEFT_UNIT: f32 = 32.0;

/// A net's output for a batch.
#[derive(Clone, Debug)]
pub struct NetOutput {
    /// What [`legal_logits`](NetOutput::legal_logits) picks from.
    pub(crate) policy: Policy,
    /// `[batch, 3]`: win, draw, loss for the side to move.
    pub wdl_logits: Tensor<2>,
    /// `[batch, 1]`: expected plies until the end in units of [`MOVES_LEFT_UNIT`], not negative.
    pub moves_left: Tensor<2>,
}

/// The policy of a batch. *Cells* are the squares of the board's bounding rectangle, rank by rank,
/// as the side to move sees them.
#[derive(Clone, Debug)]
// One exists for each batch, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Policy {
    /// All products are computed.
    Matrix {
        /// `[batch, cells + hand rows, cells]`: query of the source times key of the goal.
        qk: Tensor<3>,
        /// `[batch, kinds, cells]`: the term of the kind of move at its goal.
        kind: Tensor<3>,
    },
    /// Products are left to be computed for legal moves alone, in training on the CPU.
    Vectors(PolicyVectors),
}

/// What the logits are made of.
#[derive(Clone, Debug)]
pub struct PolicyVectors {
    /// `[batch, cells, policy_dim]`
    pub query: Tensor<3>,
    /// `[batch, cells, policy_dim]`
    pub key: Tensor<3>,
    /// `[batch, cells, kinds]`
    pub kind: Tensor<3>,
    /// Queries of men in hand, `[batch, hand rows, policy_dim]`.
    pub hand: Option<Tensor<3>>,
}

/// Where a move is in the policy.
#[derive(Clone, Copy, Debug)]
pub struct MovePlace {
    /// A cell, or the number of cells plus a row of the hand.
    pub row: usize,
    /// Cell of the goal.
    pub to: usize,
    /// Kind of move.
    pub kind: usize,
}

/// Where the logits of a batch's legal moves are in a [`NetOutput`]: lists of moves of different
/// lengths, padded to the longest.
#[derive(Clone, Debug)]
pub struct PolicyGather {
    qk: Tensor<2, Int>,
    kind: Tensor<2, Int>,
    padding: Tensor<2, Bool>,
    lists: MoveLists,
    width: usize,
}

impl PolicyGather {
    /// The places of one list of moves for each sample of a batch.
    ///
    /// # Panics
    /// If an index is not of the shape's variant.
    pub fn new(shape: &NetShape, moves: &[Vec<PolicyIndex>], device: &Device) -> PolicyGather {
        let longest = moves.iter().map(Vec::len).max().unwrap_or(0);
        // A multiple of eight, so that a GPU sees few different shapes.
        let width = longest.next_multiple_of(8).max(8);
        let mut qk = vec![0i32; moves.len() * width];
        let mut kind = vec![0i32; moves.len() * width];
        let mut padding = vec![true; moves.len() * width];
        let places = |list: &Vec<_>| list.iter().map(|&index| shape.place(index)).collect();
        let lists: Vec<Vec<MovePlace>> = moves.iter().map(places).collect();
        for (sample, list) in lists.iter().enumerate() {
            for (column, place) in list.iter().enumerate() {
                let at = sample * width + column;
                qk[at] = (place.row * shape.cells() + place.to) as i32;
                kind[at] = (place.kind * shape.cells() + place.to) as i32;
                padding[at] = false;
            }
        }
        let dims = [moves.len(), width];
        PolicyGather {
            qk: Tensor::from_data(TensorData::new(qk, dims), device),
            kind: Tensor::from_data(TensorData::new(kind, dims), device),
            padding: Tensor::from_data(TensorData::new(padding, dims), device),
            lists: Arc::new(lists),
            width,
        }
    }

    /// Columns: the length of the longest list, rounded up.
    pub fn width(&self) -> usize {
        self.width
    }

    /// `[batch, width]`, true where a list has ended.
    pub fn padding(&self) -> Tensor<2, Bool> {
        self.padding.clone()
    }
}

impl NetOutput {
    /// What padding gets for a logit: no weight in a softmax, and finite, so that gradients are
    /// never NaN.
    pub const PADDING_LOGIT: f32 = -1e9;

    /// Logits of the moves of `gather`, `[batch, width]`, with
    /// [`PADDING_LOGIT`](NetOutput::PADDING_LOGIT) beyond the end of each list. Gradients flow
    /// back to the picked logits alone.
    pub fn legal_logits(&self, gather: &PolicyGather) -> Tensor<2> {
        let (qk, kind) = match &self.policy {
            Policy::Matrix { qk, kind } => (qk, kind),
            Policy::Vectors(vectors) => {
                let (lists, width) = (&gather.lists, gather.width);
                return legal_logits(vectors, lists, width, Self::PADDING_LOGIT);
            }
        };
        let flat = |tensor: &Tensor<3>| {
            let [batch, rows, columns] = tensor.dims();
            tensor.clone().reshape([batch, rows * columns])
        };
        let qk = flat(qk).gather(1, gather.qk.clone());
        let kind = flat(kind).gather(1, gather.kind.clone());
        (qk + kind).mask_fill(gather.padding.clone(), Self::PADDING_LOGIT)
    }
}

impl NetShape {
    /// Logits of the whole policy, laid out `[rows][cells][kinds]` as exported nets have it.
    pub fn policy_len(&self) -> usize {
        self.query_rows() * self.cells() * self.kinds
    }

    /// The place of a policy index among those logits.
    ///
    /// # Panics
    /// If the index is not of this shape's variant.
    pub fn policy_place(&self, index: PolicyIndex) -> usize {
        let MovePlace { row, to, kind } = self.place(index);
        (row * self.cells() + to) * self.kinds + kind
    }

    /// Row, goal and kind of a policy index in the net's matrices.
    ///
    /// # Panics
    /// If the index is not of this shape's variant.
    pub(crate) fn place(&self, index: PolicyIndex) -> MovePlace {
        let cell = |square: usize| {
            let (rank, file) = (square / GRID, square % GRID);
            assert!(
                rank < self.ranks && file < self.files,
                "square {square} of {index:?} is outside a board of {}x{}",
                self.files,
                self.ranks
            );
            rank * self.files + file
        };
        let row = usize::from(index.row);
        let row = match row.checked_sub(GRID_SQUARES) {
            None => cell(row),
            Some(hand) => self.cells() + hand,
        };
        let kind = usize::from(index.kind);
        assert!(
            row < self.query_rows() && kind < self.kinds,
            "{index:?} is not a move of the net's variant"
        );
        MovePlace {
            row,
            to: cell(usize::from(index.to)),
            kind,
        }
    }
}
