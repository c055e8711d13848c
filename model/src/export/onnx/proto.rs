//! The part of ONNX's file format that our graphs need, written by hand.
//!
//! ONNX files are Protocol Buffers (<https://protobuf.dev/programming-guides/encoding/>): a message is a sequence of
//! fields, each a tag (number · 8 + wire type) and a varint, four bytes, or a length and bytes. The numbers of fields are
//! those of `onnx.proto` (<https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>).

/// Version of the intermediate representation that came with opset 17.
const IR_VERSION: u64 = 8;
/// The operators that our graphs are made of.
pub const OPSET: u64 = 17;

/// `TensorProto.DataType`
const FLOAT: u64 = 1;
const INT64: u64 = 7;

/// A message under construction.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn varint(mut self, field: u64, value: u64) -> Message {
        self.raw_varint(field << 3);
        self.raw_varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.raw_varint(field << 3 | 2);
        self.raw_varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: Message) -> Message {
        self.bytes(field, &message.0)
    }

    fn all<T>(self, items: &[T], add: impl Fn(Message, &T) -> Message) -> Message {
        items.iter().fold(self, add)
    }
}

/// A named constant.
#[derive(Debug, Clone)]
pub struct Constant {
    /// Name, unique in the graph.
    pub name: String,
    /// Extent of each dimension.
    pub shape: Vec<usize>,
    /// The numbers, last dimension fastest.
    pub data: Data,
}

/// Numbers of a constant.
#[derive(Debug, Clone)]
pub enum Data {
    /// 32-bit floats.
    Floats(Vec<f32>),
    /// 64-bit integers.
    Ints(Vec<i64>),
}

/// The value of an operator's attribute.
#[derive(Debug, Clone)]
pub enum Attribute {
    /// One integer.
    Int(i64),
    /// A list of integers.
    Ints(Vec<i64>),
}

/// One operator.
#[derive(Debug, Clone)]
pub struct Node {
    /// Which operator.
    pub op: &'static str,
    /// Names of the values that go in.
    pub inputs: Vec<String>,
    /// Name of the value that comes out, and of the node.
    pub output: String,
    /// Attributes by name.
    pub attributes: Vec<(&'static str, Attribute)>,
}

/// A tensor that goes into the graph or comes out of it; its first dimension is the batch.
#[derive(Debug, Clone)]
pub struct Port {
    /// Name.
    pub name: &'static str,
    /// Dimensions after the batch.
    pub shape: Vec<usize>,
    /// What it holds.
    pub doc: String,
}

/// A whole file.
#[derive(Debug, Clone)]
pub struct Model {
    /// Name of the graph.
    pub name: String,
    /// The operators, each after those whose values it needs.
    pub nodes: Vec<Node>,
    /// The weights and other constants.
    pub constants: Vec<Constant>,
    /// What goes in.
    pub inputs: Vec<Port>,
    /// What comes out.
    pub outputs: Vec<Port>,
    /// `metadata_props`: texts by key.
    pub metadata: Vec<(&'static str, String)>,
}

impl Model {
    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let opset = Message::default().text(1, "").varint(2, OPSET);
        let graph = Message::default()
            .all(&self.nodes, |graph, node| graph.message(1, node.encode()))
            .text(2, &self.name)
            .all(&self.constants, |graph, constant| {
                graph.message(5, constant.encode())
            })
            .all(&self.inputs, |graph, port| graph.message(11, port.encode()))
            .all(&self.outputs, |graph, port| {
                graph.message(12, port.encode())
            });
        Message::default()
            .varint(1, IR_VERSION)
            .text(2, "falconzero")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, graph)
            .message(8, opset)
            .all(&self.metadata, |model, (key, value)| {
                model.message(14, Message::default().text(1, key).text(2, value))
            })
            .0
    }
}

impl Node {
    fn encode(&self) -> Message {
        Message::default()
            .all(&self.inputs, |node, input| node.text(1, input))
            .text(2, &self.output)
            .text(3, &self.output)
            .text(4, self.op)
            .all(&self.attributes, |node, (name, value)| {
                node.message(5, value.encode(name))
            })
    }
}

impl Attribute {
    /// `AttributeProto`, whose types are 2 for an integer and 7 for integers.
    fn encode(&self, name: &str) -> Message {
        let attribute = Message::default().text(1, name);
        match self {
            Attribute::Int(value) => attribute.varint(3, *value as u64).varint(20, 2),
            Attribute::Ints(values) => attribute
                .all(values, |attribute, &value| {
                    attribute.varint(8, value as u64)
                })
                .varint(20, 7),
        }
    }
}

impl Constant {
    fn encode(&self) -> Message {
        let (kind, bytes): (u64, Vec<u8>) = match &self.data {
            Data::Floats(data) => (FLOAT, data.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Data::Ints(data) => (INT64, data.iter().flat_map(|x| x.to_le_bytes()).collect()),
        };
        Message::default()
            .all(&self.shape, |tensor, &extent| {
                tensor.varint(1, extent as u64)
            })
            .varint(2, kind)
            .text(8, &self.name)
            .bytes(9, &bytes)
    }
}

impl Port {
    fn encode(&self) -> Message {
        let batch = Message::default().text(2, "batch");
        let shape = Message::default()
            .message(1, batch)
            .all(&self.shape, |shape, &extent| {
                shape.message(1, Message::default().varint(1, extent as u64))
            });
        let tensor = Message::default().varint(1, FLOAT).message(2, shape);
        Message::default()
            .text(1, self.name)
            .message(2, Message::default().message(1, tensor))
            .text(3, &self.doc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's documentation.
    #[test]
    fn fields_are_encoded_as_documented() {
        assert_eq!(Message::default().varint(1, 150).0, [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").0;
        assert_eq!(text, b"\x12\x07testing");
        let nested = Message::default().message(3, Message::default().varint(1, 150));
        assert_eq!(nested.0, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let negative = Message::default().varint(1, -2i64 as u64);
        assert_eq!(
            negative.0[1..],
            [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        );
    }
}
