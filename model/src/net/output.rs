//! What comes out of a net, and how the logits of legal moves are picked from it.

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};

use super::NetShape;
use crate::PolicyIndex;
use crate::board::{GRID, GRID_SQUARES};

/// Plies in one unit of [`NetOutput::moves_left`], so that the head works with numbers near 1.
pub const MOVES_LEFT_UNIT: f32 = 32.0;

/// A net's output for a batch. *Cells* are the squares of the board's bounding rectangle, rank by
/// rank, as the side to move sees them.
#[derive(Clone, Debug)]
pub struct NetOutput {
    /// `[batch, cells + hand rows, cells]`: query of the source times key of the goal.
    pub policy_qk: Tensor<3>,
    /// `[batch, kinds, cells]`: the term of the kind of move at its goal.
    pub policy_kind: Tensor<3>,
    /// `[batch, 3]`: win, draw, loss for the side to move.
    pub wdl_logits: Tensor<2>,
    /// `[batch, 1]`: expected plies until the end in units of [`MOVES_LEFT_UNIT`], not negative.
    pub moves_left: Tensor<2>,
}

/// Where the logits of a batch's legal moves are in a [`NetOutput`]: lists of moves of different
/// lengths, padded to the longest.
#[derive(Clone, Debug)]
pub struct PolicyGather {
    qk: Tensor<2, Int>,
    kind: Tensor<2, Int>,
    padding: Tensor<2, Bool>,
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
        for (sample, list) in moves.iter().enumerate() {
            for (column, &index) in list.iter().enumerate() {
                let (row, to, kind_index) = shape.place(index);
                let at = sample * width + column;
                qk[at] = (row * shape.cells() + to) as i32;
                kind[at] = (kind_index * shape.cells() + to) as i32;
                padding[at] = false;
            }
        }
        let dims = [moves.len(), width];
        PolicyGather {
            qk: Tensor::from_data(TensorData::new(qk, dims), device),
            kind: Tensor::from_data(TensorData::new(kind, dims), device),
            padding: Tensor::from_data(TensorData::new(padding, dims), device),
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
        let flat = |tensor: &Tensor<3>| {
            let [batch, rows, columns] = tensor.dims();
            tensor.clone().reshape([batch, rows * columns])
        };
        let qk = flat(&self.policy_qk).gather(1, gather.qk.clone());
        let kind = flat(&self.policy_kind).gather(1, gather.kind.clone());
        (qk + kind).mask_fill(gather.padding.clone(), Self::PADDING_LOGIT)
    }
}

impl NetShape {
    /// Row, goal and kind of a policy index in the net's matrices.
    ///
    /// # Panics
    /// If the index is not of this shape's variant.
    pub(crate) fn place(&self, index: PolicyIndex) -> (usize, usize, usize) {
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
        (row, cell(usize::from(index.to)), kind)
    }
}
