//! Lines from the client, read on a thread of their own.

use super::event::{Event, LineError};
use std::io::{BufRead, ErrorKind, Read};
use std::sync::mpsc::Sender;

/// The longest line that is read, in bytes: a game of 30,000 moves fits.
const LONGEST: usize = 1 << 18;

/// Reads lines until the input ends or nobody wants them any more.
pub(super) fn spawn(mut input: impl BufRead + Send + 'static, events: Sender<Event>) {
    std::thread::spawn(move || {
        loop {
            let event = next(&mut input);
            let is_end = matches!(event, Event::End);
            if events.send(event).is_err() || is_end {
                return;
            }
        }
    });
}

/// The next line; the last one may lack its end. An input that fails has ended.
pub(super) fn next(input: &mut impl BufRead) -> Event {
    let mut bytes = Vec::new();
    loop {
        let left = (LONGEST + 1 - bytes.len()) as u64;
        match input.by_ref().take(left).read_until(b'\n', &mut bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Event::End,
            Ok(0) if bytes.is_empty() => return Event::End,
            Ok(_) => break,
        }
    }
    if bytes.len() > LONGEST && bytes.last() != Some(&b'\n') {
        skip_line(input);
        return Event::BadLine(LineError::TooLong { limit: LONGEST });
    }
    while let Some(b'\n' | b'\r') = bytes.last() {
        bytes.pop();
    }
    match String::from_utf8(bytes) {
        Ok(line) => Event::Line(line),
        Err(_) => Event::BadLine(LineError::NotText),
    }
}

/// Reads to the end of the line without keeping it.
fn skip_line(input: &mut impl BufRead) {
    loop {
        let (used, found) = match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
            Ok([]) => return,
            Ok(buffer) => match buffer.iter().position(|&byte| byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), false),
            },
        };
        input.consume(used);
        if found {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<String> {
        let mut input = bytes;
        let mut seen = Vec::new();
        loop {
            match next(&mut input) {
                Event::Line(line) => seen.push(line),
                Event::BadLine(error) => seen.push(format!("({error:?})")),
                Event::End => return seen,
                other => panic!("input gives lines only, not {other:?}"),
            }
        }
    }

    #[test]
    fn lines_end_with_either_system_s_end_or_with_the_input() {
        assert_eq!(
            read(b"uci\r\n\nisready\nqui"),
            ["uci", "", "isready", "qui"]
        );
    }

    #[test]
    fn what_is_not_a_line_of_text_is_passed_over_whole() {
        let mut bytes = vec![b'x'; 3 * LONGEST];
        bytes.extend_from_slice(b"\n\xff\xfe\nquit\n");
        let too_long = format!("(TooLong {{ limit: {LONGEST} }})");
        assert_eq!(read(&bytes), [&too_long, "(NotText)", "quit"]);
        let mut fits = vec![b'y'; LONGEST];
        fits.push(b'\n');
        assert_eq!(read(&fits)[0].len(), LONGEST);
    }
}
