//! Nets as ONNX graphs, for any engine with an ONNX runtime.
//!
//! The format is specified in `docs/export.md`. The graph computes what [`CompiledEvaluator`](crate::CompiledEvaluator) does,
//! with batch normalisation folded into the convolutions, for any batch size.

mod builder;
mod metadata;
mod proto;

use rules::Variant;

use crate::board::GRID;
use crate::encoding::BOARD_PLANE;
use crate::net::{MOVES_LEFT_UNIT, NetConfig, NetShape};
use crate::{ModelError, NetMeta, Weights};
use builder::{Builder, Value};
use proto::{Model, Port};

pub use metadata::EXPORT_FORMAT;

/// Name of the planes that go in, `[batch, planes, 10, 10]`.
pub const PLANES: &str = "/input/planes";
/// Name of the policy logits, `[batch, rows, cells, kinds]`.
pub const POLICY: &str = "/output/policy";
/// Name of the probabilities of win, draw and loss, `[batch, 3]`.
pub const WDL: &str = "/output/wdl";
/// Name of the expected plies until the end, `[batch, 1]`.
pub const MOVES_LEFT: &str = "/output/moves_left";

/// The bytes of an ONNX file for a net.
///
/// # Errors
/// [`ModelError::Weights`] or [`ModelError::Config`] if the weights do not fit their own description.
pub fn to_onnx(
    weights: &Weights,
    meta: &NetMeta,
    variant: &Variant,
) -> Result<Vec<u8>, ModelError> {
    meta.net.validate()?;
    let shape = NetShape::new(variant);
    let mut graph = Graph {
        build: Builder::new(weights),
        config: meta.net,
        shape,
        mask: None,
    };
    let features = graph.trunk()?;
    graph.policy(&features)?;
    graph.value(&features)?;
    let (nodes, constants) = graph.build.finish();
    let model = Model {
        name: format!("{} {}", variant.name(), meta.net_id),
        nodes,
        constants,
        inputs: vec![Port {
            name: PLANES,
            shape: vec![shape.planes, GRID, GRID],
            doc: "the position as the side to move sees it; metadata `planes` names the planes"
                .into(),
        }],
        outputs: outputs(&shape),
        metadata: metadata::of(weights, meta, variant),
    };
    Ok(model.to_bytes())
}

fn outputs(shape: &NetShape) -> Vec<Port> {
    let port = |name, shape, doc: &str| Port {
        name,
        shape,
        doc: doc.to_owned(),
    };
    let policy = vec![shape.query_rows(), shape.cells(), shape.kinds];
    vec![
        port(
            POLICY,
            policy,
            "logits of moves by source, goal and kind; see metadata `policy`",
        ),
        port(
            WDL,
            vec![3],
            "probabilities of win, draw and loss for the side to move",
        ),
        port(MOVES_LEFT, vec![1], "expected plies until the game ends"),
    ]
}

/// The net's parts, as [`Net`](crate::Net) has them.
struct Graph<'a> {
    build: Builder<'a>,
    config: NetConfig,
    shape: NetShape,
    /// `[batch, 1, ranks, files]`, 1 on squares that exist; none if all cells do.
    mask: Option<Value>,
}

impl Graph<'_> {
    /// `[batch, channels, ranks, files]`
    fn trunk(&mut self) -> Result<Value, ModelError> {
        let NetShape {
            ranks,
            files,
            planes,
            ..
        } = self.shape;
        let channels = self.config.channels;
        let mut cropped = Value::from(PLANES);
        if (ranks, files) != (GRID, GRID) {
            cropped = self
                .build
                .slice("/crop", &cropped, &[(2, 0..ranks), (3, 0..files)]);
        }
        if self.shape.has_holes() {
            let board = [(1, BOARD_PLANE..BOARD_PLANE + 1)];
            self.mask = Some(self.build.slice("/board", &cropped, &board));
        }
        let stem = self.build.conv_norm("stem", &cropped, planes, channels)?;
        let mut x = self.build.relu("/stem/relu", &stem);
        for index in 0..self.config.blocks {
            x = self.block(index, &x)?;
        }
        Ok(x)
    }

    fn block(&mut self, index: usize, x: &Value) -> Result<Value, ModelError> {
        let channels = self.config.channels;
        let name = format!("blocks.{index}");
        let at = |part: &str| format!("/{name}/{part}");
        let mut y = self
            .build
            .conv_norm(&format!("{name}.first"), x, channels, channels)?;
        if self.config.pools(index) {
            let positive = self.build.relu(&at("positive"), &y);
            let pooled = self.pool(&at("pooled"), &positive);
            let linear = format!("{name}.pooling");
            let bias = self
                .build
                .linear(&linear, &pooled, 2 * channels, channels, 1.0)?;
            let bias = self
                .build
                .reshape(&at("bias"), &bias, &[0, channels as i64, 1, 1]);
            y = self.build.node("Add", &at("biased"), &[&y, &bias]);
        }
        let y = self.build.relu(&at("middle"), &y);
        let y = self
            .build
            .conv_norm(&format!("{name}.second"), &y, channels, channels)?;
        let y = self.build.node("Add", &at("sum"), &[&y, x]);
        Ok(self.build.relu(&at("relu"), &y))
    }

    /// `[batch, channels, ranks, files]`, nowhere negative → means then maxima over the board `[batch, 2 · channels]`
    fn pool(&mut self, name: &str, x: &Value) -> Value {
        let x = match self.mask.clone() {
            Some(mask) => self
                .build
                .node("Mul", &format!("{name}/masked"), &[x, &mask]),
            None => x.clone(),
        };
        let mean = self.build.mean(name, &x, self.shape.squares);
        let maximum = self.build.maximum(&format!("{name}/max"), &x);
        self.build.concat(name, &[&mean, &maximum])
    }

    fn policy(&mut self, features: &Value) -> Result<(), ModelError> {
        let (channels, dim) = (self.config.channels, self.config.policy_dim);
        let (cells, kinds) = (self.shape.cells() as i64, self.shape.kinds);
        let scale = 1.0 / (dim as f32).sqrt();
        let build = &mut self.build;
        let key = build.conv1("policy.key", features, channels, dim, 1.0)?;
        let key = build.reshape("/policy/keys", &key, &[0, dim as i64, cells]);
        let query = build.conv1("policy.query", features, channels, dim, scale)?;
        let query = build.reshape("/policy/query_cells", &query, &[0, dim as i64, cells]);
        let mut queries = build.swap("/policy/queries", &query);
        if self.shape.hand_rows > 0 {
            let rows = self.shape.hand_rows;
            let pooled = self.pool("/policy/pooled", features);
            let build = &mut self.build;
            let hand = build.linear("policy.hand", &pooled, 2 * channels, rows * dim, scale)?;
            let hand = build.reshape("/policy/hand_rows", &hand, &[0, rows as i64, dim as i64]);
            queries = build.concat("/policy/all_queries", &[&queries, &hand]);
        }
        let build = &mut self.build;
        let products = build.node("MatMul", "/policy/products", &[&queries, &key]);
        let products = build.unsqueeze("/policy/products_by_kind", &products, 3);
        let kind = build.conv1("policy.kind", features, channels, kinds, 1.0)?;
        let kind = build.reshape("/policy/kind_cells", &kind, &[0, kinds as i64, cells]);
        let kind = build.swap("/policy/kinds", &kind);
        let kind = build.unsqueeze("/policy/kinds_by_row", &kind, 1);
        build.node("Add", POLICY, &[&products, &kind]);
        Ok(())
    }

    fn value(&mut self, features: &Value) -> Result<(), ModelError> {
        let NetConfig {
            channels,
            value_channels,
            value_hidden,
            ..
        } = self.config;
        let x = self
            .build
            .conv1("value.conv", features, channels, value_channels, 1.0)?;
        let x = self.build.relu("/value/relu", &x);
        let pooled = self.pool("/value/pooled", &x);
        let build = &mut self.build;
        let hidden = build.linear(
            "value.hidden",
            &pooled,
            2 * value_channels,
            value_hidden,
            1.0,
        )?;
        let hidden = build.relu("/value/hidden_relu", &hidden);
        let logits = build.linear("value.wdl", &hidden, value_hidden, 3, 1.0)?;
        build.softmax(WDL, &logits);
        let left = build.linear("value.moves_left", &hidden, value_hidden, 1, 1.0)?;
        let left = build.node("Softplus", "/value/moves_left_units", &[&left]);
        let unit = build.scalar("/value/moves_left_unit", MOVES_LEFT_UNIT);
        build.node("Mul", MOVES_LEFT, &[&left, &unit]);
        Ok(())
    }
}
