//! Subcommands about variants, pieces and games, as a user types them; a variant's file in place of a name everywhere.

use std::path::Path;
use std::process::{Command, Stdio};

/// A small game of a user's own: kings, falcons and pawns on 6x6.
const MINE: &str = r#"
name = "mine"
title = "A falcon each"
start = "fk4/pp4/6/6/4PP/4KF w - - 0 1"

[board]
files = 6
ranks = 6

[[piece]]
letter = "P"
name = "pawn"
betza = "fmWfcF"
pawn = true

[[piece]]
letter = "F"
name = "falcon"
betza = "nCnZ"

[[piece]]
letter = "K"
name = "king"
betza = "K"
royal = true

[promotion]
to = "F"
"#;

/// The shortest training run that still plays games and learns.
const RECIPE: &str = r#"
device = "cpu"
[run]
variant = "mine.toml"
minutes = 0.05
workers = 1
games_in_parallel = 8
[net]
channels = 16
blocks = 1
policy_dim = 8
value_channels = 8
value_hidden = 8
[search]
simulations = 2
[selfplay]
cheap_simulations = 1
max_plies = 10
[learn]
batch_size = 8
samples_per_position = 0.5
min_positions = 20
publish_every = 10
[arena]
every = 100
games = 2
simulations = 2
max_plies = 10
final_games = 2
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Whether the command succeeded, and all that it said.
    fn run(&self, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_falconzero"));
        let command = command
            .args(args)
            .current_dir(self.path())
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    /// What a command said that must succeed and mention all `parts`.
    fn succeed(&self, args: &[&str], parts: &[&str]) -> String {
        let (fine, said) = self.run(args);
        assert!(fine, "{args:?} failed:\n{said}");
        for part in parts {
            assert!(
                said.contains(part),
                "{args:?}: '{part}' is missing in:\n{said}"
            );
        }
        said
    }

    /// The same for a command that must fail.
    fn fail(&self, args: &[&str], parts: &[&str]) {
        let (fine, said) = self.run(args);
        assert!(!fine, "{args:?} succeeded:\n{said}");
        for part in parts {
            assert!(
                said.contains(part),
                "{args:?}: '{part}' is missing in:\n{said}"
            );
        }
    }
}

#[test]
fn pieces_are_drawn_and_bad_ones_refused() {
    let folder = Folder::new();
    folder.succeed(
        &["piece", "nCnZ", "--board", "10x10", "--svg", "falcon.svg"],
        &["o~", "a lame leap", "mobility", "'falcon.svg'"],
    );
    assert!(folder.read("falcon.svg").contains("<polyline"));
    folder.fail(&["piece", "WX"], &["character 2", "no atom `X`"]);
    folder.fail(&["piece", "W", "--board", "12x8"], &["from 1 to 10"]);
    folder.fail(
        &["piece", "W", "--svg", "no/where.svg"],
        &["no/where.svg", "folder exists"],
    );
}

#[test]
fn variants_are_listed_shown_and_checked() {
    let folder = Folder::new();
    folder.write("mine.toml", MINE);
    folder.write(
        "bad.toml",
        &MINE
            .replace("fcF", "fcX")
            .replace("to = \"F\"", "to = \"Q\""),
    );
    folder.succeed(&["variants"], &["falcon-xboard", "10x8"]);
    folder.succeed(&["variants", "--toml", "falcon"], &["betza = \"nCnZ\""]);
    folder.succeed(
        &["variants", "show", "falcon-hunter-66", "--svg", "board.svg"],
        &["H hunter: fRbB", "'board.svg'"],
    );
    assert!(folder.read("board.svg").ends_with("</svg>\n"));
    folder.succeed(
        &["variants", "show", "mine.toml"],
        &["A falcon each", "pawns promote to F"],
    );
    folder.succeed(
        &["variants", "check", "mine.toml"],
        &["mobility", "is fine", "--variant mine.toml"],
    );
    folder.fail(
        &["variants", "check", "bad.toml"],
        &[
            "2 mistakes",
            "line 13, `piece.betza`",
            "`promotion.to`",
            "docs/variants.md",
        ],
    );
    folder.fail(
        &["variants", "check", "none.toml"],
        &["none.toml", "check the path"],
    );
    folder.fail(&["variants", "show", "falcn"], &["no variant 'falcn'"]);
}

/// Every command that takes a variant takes a file; a run keeps the file's text and needs it no more.
#[test]
fn a_file_serves_wherever_a_name_does() {
    let folder = Folder::new();
    folder.write("mine.toml", MINE);
    folder.write("tiny.toml", RECIPE);
    folder.succeed(
        &["perft", "--variant", "mine.toml", "--depth", "2"],
        &["nodes 16"],
    );
    folder.succeed(&["moves", "--variant", "mine.toml"], &["e2e3"]);
    let mate = "k1F3/F1K3/1F4/6/6/6 w - - 0 1";
    folder.succeed(
        &[
            "solve",
            "--variant",
            "mine.toml",
            "--fen",
            mate,
            "--mate",
            "1",
        ],
        &["mate in 1"],
    );
    let against = [
        "--a",
        "uniform",
        "--b",
        "greedy",
        "--games",
        "2",
        "--simulations",
        "2",
        "--max-plies",
        "8",
    ];
    folder.succeed(
        &[&["arena", "--variant", "mine.toml"], &against[..]].concat(),
        &["Elo"],
    );
    folder.fail(
        &[
            &["arena", "--variant", "mine.toml", "--tc", "1+0.1"],
            &against[..],
        ]
        .concat(),
        &["--tc", "neither contestant is one", "--simulations"],
    );

    folder.succeed(&["train", "tiny.toml"], &["Final match"]);
    std::fs::remove_file(folder.path().join("mine.toml")).unwrap();
    folder.fail(
        &["moves", "--variant", "mine.toml"],
        &["cannot read the variant file 'mine.toml'"],
    );
    assert_eq!(folder.read("runs/tiny/variant.toml"), MINE);
    folder.succeed(
        &["selfplay", "--run", "runs/tiny", "--until-stdin-closes"],
        &[],
    );
    folder.succeed(
        &[
            "values",
            "--run",
            "runs/tiny",
            "--positions",
            "10",
            "--resamples",
            "40",
        ],
        &["of runs/tiny", "outcome regression"],
    );

    folder.succeed(
        &["games", "--run", "runs/tiny", "--pgn", "all.pgn"],
        &["games in 'all.pgn'"],
    );
    folder.succeed(
        &[
            "games",
            "--run",
            "runs/tiny",
            "--pgn",
            "two.pgn",
            "--most",
            "2",
        ],
        &["2 games in"],
    );
    let (all, two) = (folder.read("all.pgn"), folder.read("two.pgn"));
    assert_eq!(two.matches("[Variant \"mine\"]").count(), 2, "{two}");
    assert_eq!(two.matches("[Result \"").count(), 2, "{two}");
    assert!(all.ends_with(&two) && all.len() > two.len());
    folder.succeed(
        &["audit", "--run", "runs/tiny", "--json", "audit.json"],
        &["no fault", "held out", "policy entropy", "KFvK"],
    );
    assert!(folder.read("audit.json").contains("\"faults\": 0"));
    folder.fail(
        &["audit", "--run", "runs/tiny", "--games", "0"],
        &["at least 1"],
    );
    folder.fail(
        &["games", "--run", "runs/none", "--pgn", "x.pgn"],
        &["no run in 'runs/none'"],
    );
}
