//! The worker processes that a trainer starts on its own machine.
//!
//! A worker is this same program with the subcommand `selfplay`. It ends when its standard input closes, which the
//! system does for it when the trainer dies, however that happens; so no worker is left behind.

use crate::process_group::set_apart;
use anyhow::Context;
use model::{DeviceChoice, Inference};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Crashes of one worker in a row that are borne before the run gives up on it.
const MOST_RESTARTS: u32 = 5;
/// Pause before a crashed worker is started again, times the number of its crashes.
const RESTART_PAUSE: Duration = Duration::from_secs(2);
/// A worker that has run for so long is well; its earlier crashes are forgotten.
const GOOD_RUN: Duration = Duration::from_secs(600);
/// How long a worker may take to end after it has been told to.
const STOP_TIME: Duration = Duration::from_secs(20);

/// How the workers of a run are started.
#[derive(Clone, Debug)]
pub struct FleetConfig {
    /// Number of workers.
    pub count: usize,
    /// The run's folder or URL.
    pub run: String,
    /// Where the workers' log files go.
    pub logs: PathBuf,
    /// Where the workers evaluate nets, which may be another place than the run's own recipe says.
    pub device: DeviceChoice,
    /// How the workers evaluate nets.
    pub inference: Inference,
}

/// Running workers.
pub struct Fleet {
    config: FleetConfig,
    workers: Vec<Worker>,
}

struct Worker {
    id: String,
    running: Option<Running>,
    crashes: u32,
    /// When to start it again.
    restart_at: Instant,
}

struct Running {
    child: Child,
    /// Closing it tells the worker to end.
    stdin: ChildStdin,
    since: Instant,
}

impl Fleet {
    /// Workers that are still to be started.
    pub fn idle(config: FleetConfig) -> Fleet {
        let workers = (0..config.count).map(|index| Worker {
            id: format!("local-{index}"),
            running: None,
            crashes: 0,
            restart_at: Instant::now(),
        });
        let workers = workers.collect();
        Fleet { config, workers }
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// If one cannot be started.
    pub fn start(&mut self) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.config.logs).with_context(|| {
            format!(
                "cannot create '{}' for the workers' logs",
                self.config.logs.display()
            )
        })?;
        for worker in &mut self.workers {
            worker.running = Some(launch(&worker.id, &self.config)?);
        }
        Ok(())
    }

    /// Looks after the workers: a crashed one is started again, a few times.
    ///
    /// # Errors
    /// If none is left, with the reason why.
    pub fn tend(&mut self) -> anyhow::Result<()> {
        for worker in &mut self.workers {
            worker.tend(&self.config)?;
        }
        let lost = self
            .workers
            .iter()
            .all(|worker| worker.running.is_none() && worker.crashes > MOST_RESTARTS);
        if lost && !self.workers.is_empty() {
            anyhow::bail!(
                "all workers keep crashing; their logs in '{}' say why, for instance {}",
                self.config.logs.display(),
                log_path(&self.config.logs, &self.workers[0].id).display()
            );
        }
        Ok(())
    }

    /// Number of workers that run.
    pub fn running(&self) -> usize {
        self.workers
            .iter()
            .filter(|worker| worker.running.is_some())
            .count()
    }

    /// Tells all workers to finish and waits for them; those that do not are killed.
    pub fn stop(self) {
        let children: Vec<(String, Child)> = self
            .workers
            .into_iter()
            .filter_map(|worker| worker.running.map(|running| (worker.id, running)))
            .map(|(id, Running { child, stdin, .. })| {
                drop(stdin);
                (id, child)
            })
            .collect();
        let deadline = Instant::now() + STOP_TIME;
        for (id, mut child) in children {
            while let Ok(None) = child.try_wait() {
                if Instant::now() > deadline {
                    tracing::warn!(
                        "worker {id} did not end in time and is killed; its finished games are safe"
                    );
                    let _already_gone = child.kill();
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            match child.wait() {
                Ok(status) if status.success() => {}
                Ok(status) => tracing::warn!(
                    "worker {id} ended with {status}; {} says why",
                    log_path(&self.config.logs, &id).display()
                ),
                Err(error) => tracing::warn!("cannot see how worker {id} ended: {error}"),
            }
        }
    }
}

impl Worker {
    fn tend(&mut self, config: &FleetConfig) -> anyhow::Result<()> {
        let exited = match &mut self.running {
            Some(running) => running.child.try_wait().ok().flatten(),
            None => None,
        };
        if let Some(status) = exited {
            self.note_crash(status, config);
        }
        let may_start = self.running.is_none() && self.crashes <= MOST_RESTARTS;
        if may_start && Instant::now() >= self.restart_at {
            self.running = Some(launch(&self.id, config)?);
        }
        Ok(())
    }

    fn note_crash(&mut self, status: ExitStatus, config: &FleetConfig) {
        let lasted = self.running.take().map(|running| running.since.elapsed());
        if lasted.is_some_and(|time| time >= GOOD_RUN) {
            self.crashes = 0;
        }
        self.crashes += 1;
        self.restart_at = Instant::now() + RESTART_PAUSE * self.crashes;
        let log = log_path(&config.logs, &self.id);
        let next = if self.crashes <= MOST_RESTARTS {
            "it is started again"
        } else {
            "it stays down"
        };
        tracing::warn!(
            "worker {} ended with {status}, {next}; {} says why",
            self.id,
            log.display()
        );
    }
}

fn log_path(logs: &Path, id: &str) -> PathBuf {
    logs.join(format!("worker-{id}.log"))
}

fn launch(id: &str, config: &FleetConfig) -> anyhow::Result<Running> {
    let path = log_path(&config.logs, id);
    let log = OpenOptions::new().create(true).append(true).open(&path);
    let log = log.with_context(|| format!("cannot open the worker's log '{}'", path.display()))?;
    let log_too = log
        .try_clone()
        .context("cannot share the worker's log between its two outputs")?;
    let program = std::env::current_exe()
        .context("cannot find this program's own file to start workers from")?;
    let mut command = Command::new(&program);
    command
        .args([
            "selfplay",
            "--run",
            &config.run,
            "--worker-id",
            id,
            "--until-stdin-closes",
            "--device",
            &config.device.to_string(),
            "--inference",
            &config.inference.to_string(),
        ])
        // A worker is one core's work; more threads of it would only be in the way of others.
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::piped())
        .stdout(log)
        .stderr(log_too);
    // Ctrl-C in the terminal is for the trainer alone, which then ends its workers in good order.
    set_apart(&mut command);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start '{}' as a worker", program.display()))?;
    let stdin = child
        .stdin
        .take()
        .context("the worker has no standard input")?;
    Ok(Running {
        child,
        stdin,
        since: Instant::now(),
    })
}
