//! Why the engine cannot start, told in the client's protocol: a chess program hides what goes to standard error.

use super::event::Event;
use super::input::next;
use super::outbox::Outbox;
use std::io::{BufRead, Write};

/// Waits for the command that chooses the protocol and answers with `problem`; says nothing to others, or if the input
/// ends before.
pub fn refuse(problem: &str, mut input: impl BufRead, output: impl Write + Send + 'static) {
    let problem = problem.replace(['\n', '\r'], " ");
    let outbox = Outbox::new(output);
    loop {
        match next(&mut input) {
            Event::Line(line) => match line.trim() {
                "uci" => return outbox.line(format_args!("info string error: {problem}")),
                "xboard" => return outbox.line(format_args!("tellusererror {problem}")),
                "quit" | "exit" => return,
                _ => {}
            },
            Event::End => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A writer whose bytes can be looked at afterwards.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("whole").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_reason_is_told_in_the_client_s_protocol() {
        for (input, told) in [
            ("\nuci\nisready\n", "info string error: no net\n"),
            ("xboard\nprotover 2\n", "tellusererror no net\n"),
            ("go\nquit\nuci\n", ""),
            ("", ""),
        ] {
            let output = Shared::default();
            refuse("no net", input.as_bytes(), output.clone());
            let said = output.0.lock().expect("whole").clone();
            assert_eq!(String::from_utf8_lossy(&said), told, "{input:?}");
        }
    }
}
