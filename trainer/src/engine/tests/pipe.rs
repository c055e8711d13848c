//! A client in the same process: an input that waits for lines, an output that hands them over.

use crate::engine::{self, Setup};
use std::collections::VecDeque;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The client's side of a running engine.
pub struct Client {
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<String>,
    /// What the engine has said lately, for messages.
    heard: VecDeque<String>,
    reads: Arc<AtomicBool>,
}

impl Client {
    /// Starts an engine on a thread of its own.
    pub fn start(setup: Setup) -> Client {
        let (input, lines) = mpsc::channel();
        let (spoken, output) = mpsc::channel();
        let reads = Arc::new(AtomicBool::new(true));
        let pipe = Input {
            lines,
            rest: Vec::new(),
        };
        let writer = Output {
            lines: spoken,
            open: Arc::clone(&reads),
            rest: Vec::new(),
        };
        std::thread::spawn(move || engine::run(setup, BufReader::new(pipe), writer));
        Client {
            input: Some(input),
            output,
            heard: VecDeque::new(),
            reads,
        }
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends any bytes. An engine that has ended takes no notice.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_ref().expect("an open input");
        let _ended = input.send(bytes.to_vec());
    }

    /// Closes the engine's input.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// From now on the engine's output goes to a closed pipe.
    pub fn stop_reading(&mut self) {
        self.reads.store(false, Ordering::SeqCst);
    }

    /// The next line.
    pub fn hear(&mut self) -> String {
        match self.output.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.heard.push_back(line.clone());
                if self.heard.len() > 30 {
                    self.heard.pop_front();
                }
                line
            }
            Err(error) => panic!("no more lines ({error}); the last were {:#?}", self.heard),
        }
    }

    /// All lines up to the first that begins so, that one last.
    pub fn until(&mut self, beginning: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.hear();
            let found = line.starts_with(beginning);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// The first line that begins so.
    pub fn expect(&mut self, beginning: &str) -> String {
        self.until(beginning).pop().expect("the line itself")
    }

    /// Waits for the engine's end and returns what it still says.
    pub fn expect_end(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => return lines,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the engine does not end; it says {lines:#?}")
                }
            }
        }
    }
}

struct Input {
    lines: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.lines.recv() {
                Ok(bytes) => self.rest = bytes,
                Err(_) => return Ok(0),
            }
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

struct Output {
    lines: Sender<String>,
    open: Arc<AtomicBool>,
    rest: Vec<u8>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.open.load(Ordering::SeqCst) {
            return Err(ErrorKind::BrokenPipe.into());
        }
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]).into_owned();
            let _nobody_listens = self.lines.send(line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
