//! An engine's process: lines in and out, and nothing that it does can block us.

use crate::process_group::{ProcessGroup, set_apart};
use anyhow::{Context, ensure};
#[cfg(unix)]
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest piece of output that is taken for one line, in bytes.
const LONGEST_LINE: u64 = 1 << 16;
/// Lines that are kept until they are asked for; an engine that prints more has to wait.
const KEPT_LINES: usize = 512;
/// Time that an engine has for ending after `quit`.
const FAREWELL: Duration = Duration::from_millis(300);

/// Why no line came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// There was none in time.
    Timeout,
    /// The process has ended or closed its output; what it last wrote to its standard error, if anything.
    Ended(String),
}

/// A line that an engine has printed.
#[derive(Debug, Clone)]
pub struct Line {
    /// Without surrounding white space.
    pub text: String,
    /// When it came out of the engine.
    pub at: Instant,
}

/// A running engine. It is ended when this is dropped.
pub struct EngineProcess {
    child: Child,
    group: ProcessGroup,
    stdin: ChildStdin,
    lines: Receiver<Line>,
    last_words: Arc<Mutex<String>>,
}

impl EngineProcess {
    /// Starts a program: its path or name, and its arguments.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &[String]) -> anyhow::Result<EngineProcess> {
        let (program, arguments) = command
            .split_first()
            .context("the engine's command is empty")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C is for us: we end the match and then the engines.
        set_apart(&mut command);
        let mut child = command.spawn().with_context(|| {
            format!("cannot start '{program}'; check that it is installed and its path is right")
        })?;
        let group = ProcessGroup::of(&child);
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let (sender, lines) = mpsc::sync_channel(KEPT_LINES);
        std::thread::spawn(move || {
            read_lines(stdout, |text| {
                let at = Instant::now();
                sender.send(Line { text, at }).is_ok()
            });
        });
        let last_words = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&last_words);
        std::thread::spawn(move || {
            read_lines(stderr, |text| {
                if !text.is_empty() {
                    *heard.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
                true
            });
        });
        Ok(EngineProcess {
            child,
            group,
            stdin,
            lines,
            last_words,
        })
    }

    /// Sends a line.
    ///
    /// # Errors
    /// [`Silence::Ended`] if the engine does not listen any more.
    pub fn send(&mut self, line: &str) -> Result<(), Silence> {
        tracing::trace!(line, "to the engine");
        let written = self
            .stdin
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| self.stdin.flush());
        written.map_err(|_| self.ended())
    }

    /// The next line, if there is one before `deadline`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn receive(&mut self, deadline: Instant) -> Result<Line, Silence> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Silence::Timeout);
        }
        match self.lines.recv_timeout(left) {
            Ok(line) => {
                tracing::trace!(line = line.text, "from the engine");
                Ok(line)
            }
            Err(RecvTimeoutError::Timeout) => Err(Silence::Timeout),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// Waits for a line that `wanted` makes something of; all others are dropped.
    ///
    /// # Errors
    /// Why there is none.
    pub fn wait_for<T>(
        &mut self,
        deadline: Instant,
        mut wanted: impl FnMut(&Line) -> Option<T>,
    ) -> Result<T, Silence> {
        loop {
            let line = self.receive(deadline)?;
            if let Some(found) = wanted(&line) {
                return Ok(found);
            }
        }
    }

    /// Drops what has been printed and not been asked for.
    pub fn skip_pending(&mut self) {
        self.lines.try_iter().take(KEPT_LINES).for_each(drop);
    }

    /// Whether the process runs. One that has ended is not waited for yet: until it is, nothing else can get its number,
    /// which is its group's.
    fn is_running(&mut self) -> bool {
        #[cfg(unix)]
        if let Some(process) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            return matches!(waitid(WaitId::Pid(process), look), Ok(None));
        }
        matches!(self.child.try_wait(), Ok(None))
    }

    fn ended(&self) -> Silence {
        // What the process wrote last may still be on its way through the other thread.
        std::thread::sleep(Duration::from_millis(20));
        let words = self
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Silence::Ended(words.clone())
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        let deadline = Instant::now() + FAREWELL;
        if self.send("quit").is_ok() {
            while Instant::now() < deadline && self.is_running() {
                self.skip_pending();
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        // What a wrapper has started must not outlive it.
        self.group.kill();
        self.group.forget();
        // What is not on Unix has no groups; an error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Hands each line to `heard` until that has enough or the stream ends. Bytes that are no text are replaced.
fn read_lines(stream: impl Read, mut heard: impl FnMut(String) -> bool) {
    let mut reader = BufReader::new(stream);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match reader
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&bytes).trim().to_owned();
                if !heard(text) {
                    return;
                }
            }
        }
    }
}

/// Splits a command line into words: white space separates them, quotes of either kind keep it, and outside single quotes a
/// backslash takes the next character as it is.
///
/// # Errors
/// If a quote is not closed, or there are no words.
pub fn split_command(text: &str) -> anyhow::Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) => word
                .get_or_insert_default()
                .push(letters.next().unwrap_or('\\')),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, None) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    ensure!(
        quote.is_none(),
        "a quote is not closed in the command `{text}`"
    );
    words.extend(word);
    ensure!(
        !words.is_empty(),
        "the engine's command is empty; write for example `uci:stockfish`"
    );
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_would() {
        for (text, words) in [
            ("fairymax", vec!["fairymax"]),
            ("node  fsf.js -x", vec!["node", "fsf.js", "-x"]),
            (
                r#""my engine" 'a "b"' c\ d"#,
                vec!["my engine", "a \"b\"", "c d"],
            ),
            ("a '' b", vec!["a", "", "b"]),
            (r"C\:x", vec!["C:x"]),
        ] {
            assert_eq!(split_command(text).expect("words"), words, "{text}");
        }
        assert!(split_command("a 'b").is_err());
        assert!(split_command("  ").is_err());
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = EngineProcess::start(&["no-such-engine".to_owned()])
            .err()
            .expect("nothing is there");
        assert!(error.to_string().contains("no-such-engine"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn lines_come_out_silence_times_out_and_the_end_is_told() {
        let script = "echo one; read x; echo \"got $x\"; sleep 0.3; echo last words >&2; exit 3";
        let command = ["sh", "-c", script].map(str::to_owned);
        let mut process = EngineProcess::start(&command).expect("a shell");
        let soon = || Instant::now() + Duration::from_secs(20);
        assert_eq!(process.receive(soon()).expect("a line").text, "one");
        process.send("two").expect("it listens");
        assert_eq!(process.receive(soon()).expect("a line").text, "got two");
        let at_once = Instant::now() + Duration::from_millis(10);
        assert_eq!(process.receive(at_once).err(), Some(Silence::Timeout));
        let end = process.receive(soon()).err();
        assert_eq!(end, Some(Silence::Ended("last words".to_owned())));
    }

    /// A wrapper that is killed leaves nothing running.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_an_engine_has_started_ends_with_it() {
        let script = "sleep 1000 & echo $!; wait";
        let command = ["sh", "-c", script].map(str::to_owned);
        let mut process = EngineProcess::start(&command).expect("a shell");
        let soon = Instant::now() + Duration::from_secs(20);
        let started = process.receive(soon).expect("a line").text;
        let stat = format!("/proc/{started}/stat");
        let is_running = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z"));
        assert!(is_running());
        drop(process);
        while is_running() {
            assert!(Instant::now() < soon, "it still runs");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
