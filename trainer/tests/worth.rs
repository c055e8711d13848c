//! What a piece is worth, by the program itself: the shortest study there is.

use std::path::Path;
use std::process::{Command, Output};

fn worth(folder: &Path, args: &[&str]) -> (Output, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_falconzero"));
    let output = command.arg("worth").args(args).current_dir(folder).output();
    let output = output.unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output, said)
}

/// A study begins with the net that comes with the program, although its game has no such piece, and says how to go on.
#[test]
fn a_study_begins_with_the_net_of_the_game() {
    let lab = tempfile::tempdir().unwrap();
    let args = ["WD", "--on", "chess", "--minutes", "0.2", "--workers", "1"];
    let (output, said) = worth(lab.path(), &args);
    assert!(output.status.success(), "{said}");
    for part in [
        "Chess with WD in place of the bishops",
        "no value yet",
        "falconzero worth WD --on chess --resume --minutes 2",
    ] {
        assert!(said.contains(part), "'{part}' is missing in:\n{said}");
    }
    assert!(
        !said.contains("ended with exit status"),
        "workers fail:\n{said}"
    );
    let run = lab.path().join("runs/worth-WD-on-chess");
    let config = std::fs::read_to_string(run.join("config.toml")).unwrap();
    assert!(
        config.contains("initial_net = \"shipped:chess\""),
        "{config}"
    );
    let nets = run.join("nets").read_dir().unwrap();
    let names = nets.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let steps = names.filter_map(|name| name.strip_suffix(".safetensors")?.parse::<u64>().ok());
    assert!(steps.max() > Some(50_000), "the net's steps count on");
}

#[test]
fn nets_and_pieces_that_are_of_no_use_are_refused() {
    let lab = tempfile::tempdir().unwrap();
    for (args, parts) in [
        (
            &["WD", "--from", "none.safetensors"][..],
            &["none.safetensors", "--from none"][..],
        ),
        (&["WD", "--from", "shipped:go"], &["'go'", "falcon"]),
        (&["W?"], &["'W?'"]),
        (&["WD", "--minutes", "0"], &["--minutes 0 is out of range"]),
        (&["WD", "--resume"], &["no study of WD", "without --resume"]),
    ] {
        let (output, said) = worth(lab.path(), args);
        assert!(!output.status.success(), "{args:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{args:?}, '{part}':\n{said}");
        }
    }
    assert!(!lab.path().join("runs").exists(), "no run was begun");
}
