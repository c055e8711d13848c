//! A run's curves, read back from its TensorBoard logs.
//!
//! A log is a row of records (length, checksum, bytes, checksum), each a protocol buffer of TensorFlow's `Event`. Of it only
//! the step (field 2) and the summary's scalars (field 5: values with tag, field 1, and simple value, field 2) matter here. A log that
//! ends in the middle of a record, as a running trainer's may, is read up to there.

use std::collections::BTreeMap;
use std::path::Path;

/// Points by the curve's name, each training step with the last value written for it.
pub type Curves = BTreeMap<String, BTreeMap<u64, f64>>;

/// Reads all logs of a folder; none if there is no such folder.
pub fn read(folder: &Path) -> Curves {
    let mut curves = Curves::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return curves;
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let is_log = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("tfevents"));
        if let (true, Ok(bytes)) = (is_log, std::fs::read(&path)) {
            add_log(&bytes, &mut curves);
        }
    }
    curves
}

fn add_log(mut bytes: &[u8], curves: &mut Curves) {
    while let Some((header, rest)) = bytes.split_at_checked(12) {
        let length = u64::from_le_bytes(std::array::from_fn(|at| header[at]));
        let Some((event, rest)) = usize::try_from(length)
            .ok()
            .and_then(|length| rest.split_at_checked(length))
        else {
            return;
        };
        add_event(event, curves);
        bytes = rest.get(4..).unwrap_or(&[]);
    }
}

fn add_event(event: &[u8], curves: &mut Curves) {
    let fields: Vec<Field<'_>> = Fields(event).collect();
    let step = fields.iter().find_map(|field| match field {
        Field::Number(2, step) => Some(*step),
        _ => None,
    });
    for field in &fields {
        let Field::Bytes(5, summary) = field else {
            continue;
        };
        for value in Fields(summary) {
            let Field::Bytes(1, value) = value else {
                continue;
            };
            let (mut tag, mut scalar) = (None, None);
            for field in Fields(value) {
                match field {
                    Field::Bytes(1, name) => tag = std::str::from_utf8(name).ok(),
                    Field::Float(2, number) => scalar = Some(number),
                    Field::Bytes(..) | Field::Number(..) | Field::Float(..) => {}
                }
            }
            if let (Some(tag), Some(scalar)) = (tag, scalar.filter(|scalar| scalar.is_finite())) {
                let curve = curves.entry(tag.to_owned()).or_default();
                curve.insert(step.unwrap_or(0), f64::from(scalar));
            }
        }
    }
}

/// A field of a protocol buffer by its number.
enum Field<'a> {
    Number(u64, u64),
    Float(u64, f32),
    Bytes(u64, &'a [u8]),
}

/// The fields of a message; ends at the first that makes no sense.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let key = self.varint()?;
        let number = key >> 3;
        match key & 7 {
            0 => Some(Field::Number(number, self.varint()?)),
            // Eight bytes: the wall time, which nobody asks for.
            1 => self.take(8).map(|bytes| Field::Bytes(number, bytes)),
            2 => {
                let length = self.varint()?;
                self.take(length).map(|bytes| Field::Bytes(number, bytes))
            }
            5 => {
                let bytes = self.take(4)?;
                Some(Field::Float(
                    number,
                    f32::from_le_bytes(std::array::from_fn(|at| bytes[at])),
                ))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn what_was_written_is_read_back_and_a_torn_end_is_no_matter() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut metrics = Metrics::open(folder.path()).expect("opened");
        for step in [1, 2, 300] {
            metrics.scalar(step, "train/policy_loss", 1.5 / step as f32);
        }
        drop(metrics);
        let curves = read(folder.path());
        let curve = &curves["train/policy_loss"];
        assert_eq!(curve.keys().copied().collect::<Vec<_>>(), [1, 2, 300]);
        assert!((curve[&2] - 0.75).abs() < 1e-6, "{curve:?}");
        let log = std::fs::read_dir(folder.path())
            .expect("listed")
            .flatten()
            .next()
            .expect("a log")
            .path();
        let bytes = std::fs::read(&log).expect("read");
        for cut in 0..bytes.len() {
            let mut curves = Curves::new();
            add_log(&bytes[..cut], &mut curves);
        }
        assert!(read(&folder.path().join("none")).is_empty());
    }
}
