//! Checkpoints of the run: when one is written, which are kept, and which one a run resumes from.

use super::publish::net_id;
use super::state::Pipeline;
use crate::learn::Learner;
use crate::learn::checkpoint::CheckpointError;
use crate::run::Run;
use anyhow::Context;
use model::load_weights;
use selfplay::layout::RunPaths;
use selfplay::storage::{Storage, StorageError};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A checkpoint may cost this share of the time; it is written as often as that allows.
const SHARE: f64 = 0.02;

/// When the last checkpoint was written, and what it cost.
pub(super) struct Checkpoints {
    written: Instant,
    cost: Duration,
    step: u64,
    /// Object name of the checkpoint before the current one, which goes when the next is written.
    previous: Option<String>,
    current: Option<String>,
}

/// `checkpoints/current.json`: the checkpoint to resume from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CurrentCheckpoint {
    /// Object name of the checkpoint.
    name: String,
    /// Training steps in it.
    step: u64,
}

impl Checkpoints {
    /// Puts the learner where the run was last: at its current checkpoint or, if that is damaged, at the newest other
    /// one that is not. Without any checkpoint it takes the weights of the newest net, if there is one: a run never makes
    /// two nets of one name.
    ///
    /// # Errors
    /// If there are checkpoints but none can be used.
    pub(super) fn resume(run: &Run, learner: &mut Learner) -> anyhow::Result<Checkpoints> {
        let storage = &run.storage;
        let candidates = candidates(storage)?;
        let mut used = None;
        for name in &candidates {
            match resume_from(storage, name, learner) {
                Ok(()) => {
                    used = Some(name.clone());
                    break;
                }
                Err(error) if is_damage(&error) => {
                    tracing::warn!("{error:#}; trying an older checkpoint");
                }
                Err(error) => return Err(error),
            }
        }
        anyhow::ensure!(
            used.is_some() || candidates.is_empty(),
            "no checkpoint of the run can be read; delete {} to go on from the weights of the newest net",
            storage.object_url(RunPaths::CHECKPOINTS)
        );
        if used.is_none() {
            take_newest_net(run, learner)?;
        }
        let previous = match &used {
            Some(used) => forget_older(storage, used)?,
            None => None,
        };
        Ok(Checkpoints {
            written: Instant::now(),
            cost: Duration::ZERO,
            step: learner.counters.steps,
            previous,
            current: used,
        })
    }
}

/// Begins with the newest net that has been published, if there is one.
fn take_newest_net(run: &Run, learner: &mut Learner) -> anyhow::Result<()> {
    let nets = run.storage.list(RunPaths::NETS)?;
    let newest = nets.iter().filter_map(|info| step_of(&info.name)).max();
    let Some(step) = newest.filter(|step| *step > 0) else {
        return Ok(());
    };
    let (bytes, origin) = run.net_bytes(&net_id(step))?;
    let remedy = || {
        format!(
            "the run has no checkpoint, and its newest net cannot be gone on from; move {} away",
            run.storage.object_url(&RunPaths::net(&net_id(step)))
        )
    };
    let (weights, _) = load_weights(&bytes, &origin, &run.variant).with_context(remedy)?;
    learner.begin_from(&weights, step).with_context(remedy)?;
    tracing::warn!(
        "the run has no checkpoint; learning goes on from the weights of net {}",
        net_id(step)
    );
    Ok(())
}

/// Object names of all checkpoints, in the order in which they are to be tried: the current one, then newest first.
fn candidates(storage: &Storage) -> Result<Vec<String>, StorageError> {
    let current = match storage.find_json::<CurrentCheckpoint>(RunPaths::CURRENT_CHECKPOINT) {
        Err(error @ StorageError::Malformed { .. }) => {
            tracing::warn!("{error}; taking the newest checkpoint");
            None
        }
        found => found?.map(|current| current.name),
    };
    let mut others = names(storage)?;
    others.retain(|name| Some(name) != current.as_ref());
    Ok(current
        .into_iter()
        .chain(others.into_iter().rev())
        .collect())
}

/// Object names of the checkpoints that are there, oldest first.
fn names(storage: &Storage) -> Result<Vec<String>, StorageError> {
    let listed = storage.list(RunPaths::CHECKPOINTS)?.into_iter();
    let mut names: Vec<(u64, String)> = listed
        .filter_map(|info| Some((step_of(&info.name)?, info.name)))
        .collect();
    names.sort();
    Ok(names.into_iter().map(|(_, name)| name).collect())
}

fn step_of(name: &str) -> Option<u64> {
    let file = name.rsplit('/').next()?;
    file.strip_suffix(".safetensors")?.parse().ok()
}

fn resume_from(storage: &Storage, name: &str, learner: &mut Learner) -> anyhow::Result<()> {
    let bytes = storage.get(name)?;
    Ok(learner.resume(&bytes, &storage.object_url(name))?)
}

/// Whether another checkpoint may do better.
fn is_damage(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(CheckpointError::Unreadable { .. })
    ) || matches!(error.downcast_ref(), Some(StorageError::NotFound { .. }))
}

/// Deletes what killed trainers have left: all checkpoints older than `used` but one, which is returned.
fn forget_older(storage: &Storage, used: &str) -> Result<Option<String>, StorageError> {
    let mut older = names(storage)?;
    older.retain(|name| step_of(name) < step_of(used));
    let previous = older.pop();
    older.iter().try_for_each(|name| storage.delete(name))?;
    Ok(previous)
}

impl Pipeline<'_> {
    /// Writes a checkpoint as often as it stays cheap, and no later than the recipe says.
    pub(super) fn checkpoint_if_due(&mut self) -> anyhow::Result<()> {
        let since = self.checkpoints.written.elapsed().as_secs_f64();
        let is_cheap = since * SHARE >= self.checkpoints.cost.as_secs_f64();
        let is_new = self.learner.counters.steps > self.checkpoints.step;
        if is_new && is_cheap || since >= self.run.config.learn.checkpoint_seconds {
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Writes a checkpoint; none while steps are being skipped, for what makes them so is in the weights perhaps, and the
    /// last checkpoints are from before.
    pub(super) fn checkpoint(&mut self) -> anyhow::Result<()> {
        if self.learner.skipped_in_a_row() > 0 {
            return Ok(());
        }
        self.learner.counters.seconds = self.seconds();
        let step = self.learner.counters.steps;
        let begun = Instant::now();
        let storage = &self.run.storage;
        let name = RunPaths::checkpoint(&format!("{step:08}.safetensors"));
        let bytes = self.learner.checkpoint().with_context(|| {
            let kept = self.checkpoints.current.as_deref().unwrap_or("none");
            format!(
                "learning has gone astray at step {step}, and nothing of it is saved (the last checkpoint: {kept}); lower \
                 learn.learning_rate in {} and resume",
                storage.object_url(RunPaths::CONFIG)
            )
        })?;
        storage.put(&name, bytes)?;
        storage.put_json(
            RunPaths::CURRENT_CHECKPOINT,
            &CurrentCheckpoint {
                name: name.clone(),
                step,
            },
        )?;
        if self.checkpoints.current.as_ref() != Some(&name) {
            let previous = self.checkpoints.current.replace(name);
            if let Some(old) = std::mem::replace(&mut self.checkpoints.previous, previous) {
                storage.delete(&old)?;
            }
        }
        self.checkpoints.written = Instant::now();
        self.checkpoints.cost = begun.elapsed();
        self.checkpoints.step = step;
        Ok(())
    }
}
