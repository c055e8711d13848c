//! The training runs, each by a process of its own.

use super::plan::{Account, Plan, PlannedRun};
use anyhow::{Context, bail};
use selfplay::storage::Storage;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Written into a run's folder when its time is up.
const ACCOUNT: &str = "account.json";
/// Name of the recipe in a run's folder.
const RECIPE: &str = "recipe.toml";
/// Time between two looks at a training process.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What a run has done, if it has finished.
///
/// # Errors
/// If its account is there and cannot be read.
pub fn finished(plan: &Plan, run: &PlannedRun) -> anyhow::Result<Option<Account>> {
    let path = plan.run_folder(run).join(ACCOUNT);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("'{}' cannot be read", path.display()))?;
    let account = serde_json::from_str(&text)
        .with_context(|| format!("'{}' is damaged; delete it", path.display()))?;
    Ok(Some(account))
}

/// Trains until the run's time is up, or goes on with it; none if `stop` was raised before. `on_tick` hears of the
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
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("'{}' cannot be made", folder.display()))?;
    let recipe = folder.join(RECIPE);
    let log = folder.join("train.log");
    if !recipe.exists() {
        std::fs::write(&recipe, plan.training_config(run).to_toml())
            .with_context(|| format!("'{}' cannot be written", recipe.display()))?;
    }
    let mut child = start(plan, run, &recipe, &log)?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        on_tick();
        std::thread::sleep(LOOK_EVERY);
    };
    if stop.load(Ordering::SeqCst) {
        return Ok(None);
    }
    if !status.success() {
        bail!("the training of {} failed; see {}", run.name, log.display());
    }
    let storage = Storage::open(&run_location(&folder))?;
    let account = Account::read(&run.name, &storage)?;
    let text = serde_json::to_string_pretty(&account)?;
    std::fs::write(folder.join(ACCOUNT), text)
        .with_context(|| format!("'{}' cannot be written", folder.display()))?;
    Ok(Some(account))
}

/// Where the run proper lies, beside its recipe and log.
pub fn run_location(folder: &Path) -> String {
    folder.join("run").to_string_lossy().into_owned()
}

fn start(plan: &Plan, run: &PlannedRun, recipe: &Path, log: &Path) -> anyhow::Result<Child> {
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
        false => command.arg(recipe),
    };
    command
        .args(["--run", &location])
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("the training of {} cannot be started", run.name))
}
