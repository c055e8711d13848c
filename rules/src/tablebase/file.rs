//! Tables as bytes.
//!
//! ```text
//! 8 bytes   FZTABLE1                     format and its version
//! 8         hash of the variant's moves  little-endian, as all numbers
//! 8         checksum of the cells        XXH64 of what is compressed below
//! 8         number of cells
//! 1 + n     name of the material         length and ASCII letters
//! rest      zstd                         low bytes of all cells, then their high bytes
//! ```

use std::io::Read;

use twox_hash::XxHash64;

use super::layout::Layout;
use super::{Cell, MaterialKey, Tablebase, TablebaseError};
use crate::Variant;

const MAGIC: &[u8; 8] = b"FZTABLE1";

/// zstd's level: higher ones save little here.
const LEVEL: i32 = 9;

pub(super) fn to_bytes(table: &Tablebase, variant_hash: u64, variant: &Variant) -> Vec<u8> {
    let low = table.cells.iter().map(|cell| cell.to_le_bytes()[0]);
    let high = table.cells.iter().map(|cell| cell.to_le_bytes()[1]);
    let planes: Vec<u8> = low.chain(high).collect();
    let name = table.key.name(variant);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(variant_hash.to_le_bytes());
    bytes.extend(XxHash64::oneshot(0, &planes).to_le_bytes());
    bytes.extend((table.cells.len() as u64).to_le_bytes());
    bytes.push(name.len() as u8);
    bytes.extend(name.bytes());
    let packed =
        zstd::bulk::compress(&planes, LEVEL).expect("zstd compresses from memory to memory");
    bytes.extend(packed);
    bytes
}

/// Reads a table back; `layout` numbers the positions of a material.
pub(super) fn from_bytes(
    bytes: &[u8],
    variant_hash: u64,
    variant: &Variant,
    layout: impl Fn(&MaterialKey) -> Layout,
) -> Result<Tablebase, TablebaseError> {
    let mut rest = bytes;
    if take(&mut rest, 8)? != MAGIC {
        return Err(wrong(
            "it does not begin with FZTABLE1; delete it and build it again with this program",
        ));
    }
    let hash = number(&mut rest)?;
    let checksum = number(&mut rest)?;
    let cells = number(&mut rest)?;
    let length = take(&mut rest, 1)?[0];
    let name = take(&mut rest, usize::from(length))?;
    if hash != variant_hash {
        return Err(wrong(&format!(
            "it was built for other rules than those of {}; give the tables of each game a folder of their own (--dir), or delete it and build it again",
            variant.name()
        )));
    }
    let name =
        std::str::from_utf8(name).map_err(|_| wrong("the name of its material is damaged"))?;
    let key = MaterialKey::parse(variant, name).map_err(|error| wrong(&error.to_string()))?;
    let layout = layout(&key);
    if cells != layout.cells() as u64 {
        return Err(wrong(&format!(
            "it has {cells} cells where {name} has {}; delete it and build it again",
            layout.cells()
        )));
    }
    let planes = unpack(rest, 2 * layout.cells())?;
    if XxHash64::oneshot(0, &planes) != checksum {
        return Err(wrong(
            "its checksum is wrong, so it is damaged; delete it and build it again",
        ));
    }
    let (low, high) = planes.split_at(layout.cells());
    let cells = low
        .iter()
        .zip(high)
        .map(|(&low, &high)| Cell::from_le_bytes([low, high]));
    Ok(Tablebase {
        key,
        cells: cells.collect(),
        layout,
    })
}

/// Unpacks exactly `length` bytes, never more, whatever the stream says.
fn unpack(packed: &[u8], length: usize) -> Result<Vec<u8>, TablebaseError> {
    let damaged =
        |_| wrong("its compressed part is damaged or cut off; delete it and build it again");
    let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(damaged)?;
    let mut planes = Vec::with_capacity(length);
    decoder
        .take(length as u64 + 1)
        .read_to_end(&mut planes)
        .map_err(damaged)?;
    if planes.len() != length {
        return Err(wrong(
            "its compressed part has the wrong length; delete it and build it again",
        ));
    }
    Ok(planes)
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], TablebaseError> {
    let (taken, left) = rest
        .split_at_checked(count)
        .ok_or_else(|| wrong("it is cut off in its header; delete it and build it again"))?;
    *rest = left;
    Ok(taken)
}

fn number(rest: &mut &[u8]) -> Result<u64, TablebaseError> {
    let bytes = take(rest, 8)?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn wrong(message: &str) -> TablebaseError {
    TablebaseError::File {
        message: message.to_string(),
    }
}
