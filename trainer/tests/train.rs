//! The program itself, from recipe to published net, on a tiny net: what a user does, and what goes wrong.

use selfplay::games::GameStream;
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::lease::TrainerStatus;
use selfplay::storage::Storage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Small enough for a generation to take a second.
const RECIPE: &str = r#"
device = "cpu"
[run]
variant = "chess"
minutes = MINUTES
workers = 1
games_in_parallel = 8
[net]
channels = 16
blocks = 1
policy_dim = 8
value_channels = 8
value_hidden = 8
[search]
simulations = 4
[selfplay]
cheap_simulations = 2
max_plies = 40
[learn]
batch_size = 8
samples_per_position = 0.5
min_positions = 200
holdout_every = 4
publish_every = 10
[arena]
every = 2
games = 2
simulations = 2
max_plies = 20
final_games = 4
"#;

/// Longest that any run here may take, many times what it should.
const PATIENCE: Duration = Duration::from_secs(240);

struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new(minutes: f64) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("tiny.toml"),
            RECIPE.replace("MINUTES", &format!("{minutes:?}")),
        )
        .unwrap();
        Lab { folder }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_falconzero"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn storage(&self) -> Storage {
        Storage::open(self.path().join("runs/tiny").to_str().unwrap()).unwrap()
    }

    fn steps(&self) -> u64 {
        TrainerStatus::read(&self.storage())
            .unwrap()
            .map_or(0, |status| status.counters.steps)
    }

    fn games(&self) -> usize {
        GameStream::new(&self.storage()).scan().unwrap().games.len()
    }
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A whole run, as in the README: it ends by itself, says what it has gained, and is not begun twice.
#[test]
fn a_run_from_recipe_to_report() {
    let lab = Lab::new(0.25);
    let output = lab.run(&["train", "tiny.toml"]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for part in [
        "Final match: 4 games",
        "Elo",
        "runs/tiny/nets/",
        "train --resume --run runs/tiny",
        "tensorboard --logdir",
    ] {
        assert!(said.contains(part), "'{part}' is missing in:\n{said}");
    }
    let net = CurrentNet::read(&lab.storage()).unwrap().unwrap();
    assert!(net.step >= 10, "only {} steps in:\n{said}", net.step);
    assert!(lab.storage().exists(&RunPaths::net(&net.id)).unwrap());
    assert!(
        lab.path()
            .join("runs/tiny/tensorboard")
            .read_dir()
            .unwrap()
            .next()
            .is_some()
    );

    let output = lab.run(&["report", "--run", "runs/tiny", "--out", "report.html"]);
    assert!(output.status.success(), "{}", text(&output));
    let page = std::fs::read_to_string(lab.path().join("report.html")).unwrap();
    for part in [
        "What the men are worth",
        "Published claims",
        "Policy loss",
        "const GAMES=",
        "</html>",
    ] {
        assert!(page.contains(part), "'{part}' is missing in the report");
    }
    let foreign = ["src=", "<link", "@import", "url(", "fetch("];
    assert!(
        foreign.iter().all(|part| !page.contains(part)),
        "the page needs something from elsewhere"
    );
    assert!(lab.path().join("report.json").is_file() && lab.path().join("report.csv").is_file());

    let begin = [
        "train",
        "tiny.toml",
        "--from",
        "runs/tiny",
        "--run",
        "runs/next",
    ];
    let next = lab.run(&[&begin[..], &["--minutes", "0.001"]].concat());
    assert!(next.status.success(), "{}", text(&next));
    let storage = Storage::open(lab.path().join("runs/next").to_str().unwrap()).unwrap();
    let initial = storage.get(&RunPaths::net(&net.id)).unwrap();
    assert!(initial == lab.storage().get(&RunPaths::net(&net.id)).unwrap());
    let newest = CurrentNet::read(&storage).unwrap().unwrap();
    assert!(newest.step >= net.step, "{newest:?} after {net:?}");

    let again = lab.run(&["train", "tiny.toml"]);
    assert!(!again.status.success());
    assert!(
        text(&again).contains("--resume --run runs/tiny"),
        "{}",
        text(&again)
    );
}

/// Killed at any moment and resumed, a run goes on from its last step, keeps every finished game, passes over a broken
/// file, and lets no second trainer in.
#[test]
fn a_killed_run_goes_on() {
    let lab = Lab::new(30.0);
    let mut first = lab.start(&["train", "tiny.toml"]);
    wait_until("the first steps", || {
        lab.path().join("runs/tiny/run.json").exists() && lab.steps() >= 20
    });

    let second = lab.run(&["train", "--resume", "--run", "runs/tiny"]);
    assert!(!second.status.success());
    assert!(
        text(&second).contains("another trainer is at work"),
        "{}",
        text(&second)
    );

    let (steps, games) = (lab.steps(), lab.games());
    first.kill().unwrap();
    first.wait().unwrap();
    // Damage on top: the run falls back on the checkpoint before, and publishes its net again.
    let checkpoint = newest_checkpoint(&lab.path().join("runs/tiny/checkpoints"));
    std::fs::write(&checkpoint, b"cut short").unwrap();
    std::fs::write(lab.path().join("runs/tiny/checkpoints/current.json"), b"{").unwrap();
    std::fs::write(lab.path().join("runs/tiny/nets/current.json"), b"{").unwrap();
    let broken = lab.path().join("runs/tiny/games/other/000000.parquet");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, b"PAR1 and then nothing of use").unwrap();

    let mut resumed = lab.start(&["train", "--resume", "--run", "runs/tiny"]);
    // The counters of the first trainer stay until the second has loaded its own.
    wait_until("more steps", || lab.steps() >= steps + 10);
    wait_until("the broken file to be set aside", || !broken.exists());
    assert!(
        lab.games() >= games,
        "{} games of {games} are left",
        lab.games()
    );
    resumed.kill().unwrap();
    resumed.wait().unwrap();

    // Without any checkpoint it goes on from its newest net, and makes none of a name that there is.
    let nets = || -> BTreeMap<PathBuf, Vec<u8>> {
        let files = std::fs::read_dir(lab.path().join("runs/tiny/nets")).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let is_net = |path: &PathBuf| path.extension().is_some_and(|end| end == "safetensors");
        let nets = paths.filter(is_net);
        nets.map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    };
    let before = nets();
    std::fs::remove_dir_all(lab.path().join("runs/tiny/checkpoints")).unwrap();
    let mut again = lab.start(&["train", "--resume", "--run", "runs/tiny"]);
    wait_until("another net", || nets().len() > before.len());
    again.kill().unwrap();
    again.wait().unwrap();
    let after = nets();
    assert!(
        before
            .iter()
            .all(|(path, bytes)| after.get(path) == Some(bytes))
    );
    assert!(before.keys().max() < after.keys().max());
}

fn newest_checkpoint(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_checkpoint = |path: &PathBuf| path.extension().is_some_and(|end| end == "safetensors");
    paths.filter(is_checkpoint).max().unwrap()
}

/// A reader who leaves early, as `head` does, is no reason to panic.
#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let lab = Lab::new(1.0);
    let mut command = lab.command(&["moves", "--variant", "falcon"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(output.stderr.is_empty(), "{}", text(&output));
}

/// What is wrong with a recipe or a folder is said with file, field and remedy.
#[test]
fn bad_input_is_explained() {
    let lab = Lab::new(1.0);
    std::fs::write(lab.path().join("bad.toml"), "[learn]\nbatch_sise = 3").unwrap();
    let shipped = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../data/nets/chess.safetensors"
    );
    std::fs::copy(shipped, lab.path().join("small.safetensors")).unwrap();
    for (args, parts) in [
        (
            &["train", "bad.toml"][..],
            &["bad.toml", "batch_sise", "reference.toml"][..],
        ),
        (&["train", "none.toml"], &["none.toml", "configs/runs"]),
        (
            &["train", "tiny.toml", "--minutes", "0"],
            &["run.minutes = 0"],
        ),
        (
            &["train", "tiny.toml", "--from", "greedy"],
            &["run.initial_net (--from)", "'greedy'"],
        ),
        (
            &["train", "tiny.toml", "--from", "small.safetensors"],
            &[
                "run.initial_net (--from)",
                "small.safetensors",
                "channels = 32",
            ],
        ),
        (
            &["train", "--resume", "--run", "runs/none"],
            &["no run in 'runs/none'", "falconzero train"],
        ),
        (
            &["selfplay", "--run", "runs/none"],
            &["no run in 'runs/none'"],
        ),
        (
            &[
                "perft",
                "--variant",
                "falcon",
                "--fen",
                "8/8/8/8/8/8/8/8 w - - 0 1",
                "--depth",
                "1",
            ],
            &["not a position of falcon"],
        ),
    ] {
        let output = lab.run(args);
        let said = text(&output);
        assert!(!output.status.success(), "{args:?} succeeded");
        for part in parts {
            assert!(
                said.contains(part),
                "{args:?}: '{part}' is missing in:\n{said}"
            );
        }
    }
    assert!(
        !lab.path().join("runs").exists(),
        "asking for a run that is not there must not create it"
    );
}
