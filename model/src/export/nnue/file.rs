//! The file: little-endian numbers one after another, each part behind a hash of its shape.

use super::{BUCKETS, Dense, Features, HALF, HIDDEN, NnueNet, Stack};
use crate::ModelError;

/// Version of the format.
const VERSION: u32 = 0x7AF3_2F20;
/// Of the features HalfKAv2, whatever the variant.
const FEATURES_HASH: u32 = 0x5F23_4CB8;
/// Inputs of a layer are padded with zero weights to a multiple of this.
const PADDING: usize = 32;
/// Longest description that is read; Fairy-Stockfish sets no limit, but a longer one is a damaged length.
const LONGEST_DESCRIPTION: usize = 1 << 16;

/// Hash of the feature transformer.
const fn transformer_hash() -> u32 {
    FEATURES_HASH ^ (2 * HALF as u32)
}

/// Hash of a stack of layers: each layer mixes its outputs into the hash of what it reads from.
const fn stack_hash() -> u32 {
    let inputs = 0xEC42_E90D ^ (2 * HALF as u32);
    let first = clipped(affine(inputs, HIDDEN[0]));
    let second = clipped(affine(first, HIDDEN[1]));
    affine(second, 1)
}

const fn affine(inputs: u32, outputs: usize) -> u32 {
    0xCC03_DAE4u32.wrapping_add(outputs as u32) ^ (inputs >> 1) ^ (inputs << 31)
}

const fn clipped(layer: u32) -> u32 {
    layer.wrapping_add(0x538D_24C7)
}

impl NnueNet {
    /// The bytes of a file. `features` are those that the net is for.
    ///
    /// # Panics
    /// If a part of the net has another size than the format demands.
    pub fn to_bytes(&self, features: &Features) -> Vec<u8> {
        let count = features.count();
        assert_eq!(self.biases.len(), HALF, "biases of the transformer");
        assert_eq!(self.weights.len(), count * HALF, "transformer weights");
        assert_eq!(self.psqt.len(), count * BUCKETS, "piece–square weights");
        assert_eq!(self.stacks.len(), BUCKETS, "stacks of layers");
        let mut bytes = Vec::with_capacity(count * (2 * HALF + 4 * BUCKETS) + (1 << 18));
        let mut put = |number: u32| bytes.extend(number.to_le_bytes());
        put(VERSION);
        put(transformer_hash() ^ stack_hash());
        put(self.description.len() as u32);
        bytes.extend(self.description.as_bytes());
        bytes.extend(transformer_hash().to_le_bytes());
        let words = self.biases.iter().chain(&self.weights);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        bytes.extend(self.psqt.iter().flat_map(|number| number.to_le_bytes()));
        for stack in &self.stacks {
            bytes.extend(stack_hash().to_le_bytes());
            for (layer, inputs) in stack.layers() {
                bytes.extend(layer.biases.iter().flat_map(|bias| bias.to_le_bytes()));
                for row in layer.weights.chunks_exact(inputs) {
                    bytes.extend(row.iter().map(|&weight| weight as u8));
                    bytes.resize(bytes.len() + inputs.next_multiple_of(PADDING) - inputs, 0);
                }
            }
        }
        bytes
    }

    /// Reads a file for `features`; `origin` names it in errors.
    ///
    /// # Errors
    /// [`ModelError::Nnue`] if the bytes are not a net of this format and size.
    pub fn from_bytes(
        bytes: &[u8],
        origin: &str,
        features: &Features,
    ) -> Result<NnueNet, ModelError> {
        let mut reader = Reader {
            rest: bytes,
            origin,
        };
        reader.expect(VERSION, "version of the format")?;
        reader.expect(transformer_hash() ^ stack_hash(), "hash of the net")?;
        let length = reader.number("length of the description")? as usize;
        if length > LONGEST_DESCRIPTION {
            return Err(reader.error(format!("its description claims to have {length} bytes")));
        }
        let description = reader.take(length, "description")?;
        let description = String::from_utf8_lossy(description).into_owned();
        reader.expect(transformer_hash(), "hash of the feature transformer")?;
        let count = features.count();
        let net = NnueNet {
            description,
            biases: reader.words(HALF, "transformer's biases")?,
            weights: reader.words(count * HALF, "transformer's weights")?,
            psqt: reader.numbers(count * BUCKETS, "piece–square weights")?,
            stacks: (0..BUCKETS)
                .map(|_| reader.stack())
                .collect::<Result<_, _>>()?,
        };
        match reader.rest.len() {
            0 => Ok(net),
            more => Err(reader.error(format!("{more} bytes follow the end of the net"))),
        }
    }
}

impl Stack {
    /// The layers with the number of their inputs.
    fn layers(&self) -> [(&Dense, usize); 3] {
        let [first, second] = &self.hidden;
        [
            (first, 2 * HALF),
            (second, HIDDEN[0]),
            (&self.output, HIDDEN[1]),
        ]
    }
}

/// What is still to be read.
struct Reader<'a> {
    rest: &'a [u8],
    origin: &'a str,
}

impl<'a> Reader<'a> {
    fn error(&self, reason: String) -> ModelError {
        ModelError::Nnue {
            origin: self.origin.to_owned(),
            reason,
        }
    }

    fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ModelError> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.error(format!(
                "it ends within the {what}: {count} bytes are needed and {} are left",
                self.rest.len()
            ))),
        }
    }

    fn number(&mut self, what: &str) -> Result<u32, ModelError> {
        let mut number = [0; 4];
        number.copy_from_slice(self.take(4, what)?);
        Ok(u32::from_le_bytes(number))
    }

    fn expect(&mut self, expected: u32, what: &str) -> Result<(), ModelError> {
        match self.number(what)? {
            found if found == expected => Ok(()),
            found => Err(self.error(format!("the {what} is {found:#010x}, not {expected:#010x}"))),
        }
    }

    fn words(&mut self, count: usize, what: &str) -> Result<Vec<i16>, ModelError> {
        let (words, _) = self.take(2 * count, what)?.as_chunks();
        Ok(words.iter().map(|&word| i16::from_le_bytes(word)).collect())
    }

    fn numbers(&mut self, count: usize, what: &str) -> Result<Vec<i32>, ModelError> {
        let (numbers, _) = self.take(4 * count, what)?.as_chunks();
        let number = |&number: &[u8; 4]| i32::from_le_bytes(number);
        Ok(numbers.iter().map(number).collect())
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> Result<Dense, ModelError> {
        let biases = self.numbers(outputs, "biases of a layer")?;
        let padded = inputs.next_multiple_of(PADDING);
        let rows = self.take(padded * outputs, "weights of a layer")?;
        let rows = rows.chunks_exact(padded);
        let weights = rows.flat_map(|row| row[..inputs].iter().map(|&byte| byte as i8));
        Ok(Dense {
            biases,
            weights: weights.collect(),
        })
    }

    fn stack(&mut self) -> Result<Stack, ModelError> {
        self.expect(stack_hash(), "hash of a stack of layers")?;
        Ok(Stack {
            hidden: [
                self.dense(2 * HALF, HIDDEN[0])?,
                self.dense(HIDDEN[0], HIDDEN[1])?,
            ],
            output: self.dense(HIDDEN[1], 1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes that Fairy-Stockfish demands: they stand in its program as constants.
    #[test]
    fn hashes_are_the_programs() {
        assert_eq!(transformer_hash(), 0x5F23_48B8);
        assert_eq!(stack_hash(), 0x6333_76CA);
        assert_eq!(transformer_hash() ^ stack_hash(), 0x3C10_3E72);
    }
}
