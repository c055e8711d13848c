//! The training runs, each by a process of its own.

use super::plan::{Account, Plan, PlannedRun};
use crate::process_group::{ProcessGroup, set_apart};
use anyhow::{Context, bail};
use selfplay::storage::Storage;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Name of the log in a run's folder.
pub const LOG: &str = "train.log";
/// Time between two looks at a training process.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What a run has done, if it has finished.
///
/// # Errors
/// If its account is there and cannot be read.
pub fn finished(plan: &Plan, run: &PlannedRun) -> anyhow::Result<Option<Account>> {
    Ok(plan.storage()?.find_json(&account(run))?)
}

/// Keeps the recipes of all runs, and refuses a folder with runs of others under the same names.
///
/// # Errors
/// If a run of that name has another recipe, time included, or the storage fails.
pub fn keep_recipes(plan: &Plan) -> anyhow::Result<()> {
    let storage = plan.storage()?;
    for run in plan.runs() {
        let (name, text) = (recipe(&run), plan.training_config(&run).to_toml());
        match storage.find(&name)? {
            None => storage.put(&name, text)?,
            Some(bytes) if bytes == text => {}
            Some(_) => bail!(
                "{} is of another recipe or other --minutes than what is to be compared now; give another --dir, or delete {}",
                storage.object_url(&name),
                plan.run_folder(&run).display()
            ),
        }
    }
    Ok(())
}

/// Trains by the recipe that has been [kept](keep_recipes) until the run's time is up, or goes on with it; none if `stop` was raised before. `on_tick` hears of the
/// passing of time.
///
/// # Errors
/// If the training ends with an error; its log is named.
pub fn train(
    plan: &Plan,
    run: &PlannedRun,
    stop: &AtomicBool,
    on_tick: &mut dyn FnMut(),
) -> anyhow::Result<Option<Account>> {
    let folder = plan.run_folder(run);
    let log = folder.join(LOG);
    let mut child = start(plan, run, &log)?;
    let group = ProcessGroup::of(&child);
    let mut told = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stop.load(Ordering::SeqCst) && !told {
            group.interrupt();
            told = true;
        }
        on_tick();
        std::thread::sleep(LOOK_EVERY);
    };
    group.forget();
    if stop.load(Ordering::SeqCst) {
        return Ok(None);
    }
    if !status.success() {
        bail!("the training of {} failed; see {}", run.name, log.display());
    }
    let storage = Storage::open(&run_location(&folder))?;
    let done = Account::read(&run.name, &storage)?;
    plan.storage()?.put_json(&account(run), &done)?;
    Ok(Some(done))
}

/// Name of a run's account, written when its time is up.
fn account(run: &PlannedRun) -> String {
    format!("{}/account.json", run.name)
}

/// Name of a run's recipe.
fn recipe(run: &PlannedRun) -> String {
    format!("{}/recipe.toml", run.name)
}

/// Where the run proper lies, beside its recipe and log.
pub fn run_location(folder: &Path) -> String {
    folder.join("run").to_string_lossy().into_owned()
}

fn start(plan: &Plan, run: &PlannedRun, log: &Path) -> anyhow::Result<Child> {
    let location = run_location(&plan.run_folder(run));
    let log = File::options()
        .create(true)
        .append(true)
        .open(log)
        .with_context(|| format!("'{}' cannot be written", log.display()))?;
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let mut command = Command::new(program);
    command.arg("train");
    // A run that never got as far as its first files is begun again.
    match Path::new(&location).join("run.json").exists() {
        true => command.args(["--resume", "--minutes", &plan.minutes.to_string()]),
        false => command.arg(plan.folder.join(recipe(run))),
    };
    // Ctrl-C is for us: we pass it on, so that whoever else ends us ends the training too.
    set_apart(&mut command);
    command
        .args(["--run", &location])
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("the training of {} cannot be started", run.name))
}
