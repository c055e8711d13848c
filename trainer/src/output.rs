//! Printing that outlives its reader.
//!
//! The standard macros panic when nobody reads any more: `falconzero moves … | head -1`, or a run whose terminal has
//! been closed. The macros here stand in their place in the whole crate, under the same names.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line of results, as [`std::println`] does, but ends the program quietly once nobody reads them.
macro_rules! println {
    () => {
        $crate::output::result(format_args!("\n"))
    };
    ($($text:tt)*) => {
        $crate::output::result(format_args!("{}\n", format_args!($($text)*)))
    };
}

/// Prints a part of the results, as [`std::print`] does, but ends the program quietly once nobody reads them.
macro_rules! print {
    ($($text:tt)*) => {
        $crate::output::result(format_args!($($text)*))
    };
}

/// Prints a line of news, as [`std::eprintln`] does, but goes on without it if nobody reads it.
macro_rules! eprintln {
    () => {
        $crate::output::news(format_args!("\n"))
    };
    ($($text:tt)*) => {
        $crate::output::news(format_args!("{}\n", format_args!($($text)*)))
    };
}

/// Writes to the standard output. If that is not possible the program ends: well if the reader has left, which had all
/// that it wanted, and with an error otherwise, since results are lost.
pub(crate) fn result(text: Arguments) {
    let mut out = io::stdout().lock();
    let written = out.write_fmt(text).and_then(|()| out.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            news(format_args!(
                "error: cannot write the output: {error}; check where it goes to, and the free space there\n"
            ));
            std::process::exit(1)
        }
    }
}

/// Writes to the standard error.
pub(crate) fn news(text: Arguments) {
    let _nobody_to_tell = io::stderr().lock().write_fmt(text);
}

/// `text` as one word of a shell's command line, quoted if need be.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:=,@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that a user copies means what it says.
    #[test]
    fn words_are_quoted_when_they_must_be() {
        for (text, word) in [
            ("runs/falcon-quick", "runs/falcon-quick"),
            ("s3://bucket/größe", "s3://bucket/größe"),
            ("my runs/a", "'my runs/a'"),
            ("it's", r"'it'\''s'"),
            ("a$b", "'a$b'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
