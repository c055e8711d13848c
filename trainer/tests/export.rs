//! `falconzero export`, as a user types it.

use model::{Device, Net, NetConfig, NetMeta, NetShape, load_net, save_net};
use rules::Variant;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether it went well, and all that it printed.
fn export(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_falconzero"))
        .arg("export")
        .args(arguments)
        .output()
        .expect("the program runs");
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.success(), text)
}

fn tiny_net(folder: &Path, variant: &str) -> PathBuf {
    let variant = Variant::by_name(variant).expect("built in");
    let config = NetConfig::preset("tiny").expect("a preset");
    let net = Net::new(config, NetShape::new(&variant), 3, &Device::flex()).expect("a net");
    let meta = NetMeta::new(&variant, config, "tiny", 0);
    let path = folder.join("tiny.safetensors");
    std::fs::write(&path, save_net(&net, &meta).expect("bytes")).expect("written");
    path
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

#[test]
fn a_net_becomes_a_graph_with_its_description_and_a_file_that_loads_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = tiny_net(folder.path(), "hunter-chess");
    let net = net.to_string_lossy();
    let onnx = folder.path().join("x.onnx");
    let (ok, text) = export(&[
        "--net",
        &net,
        "--format",
        "onnx",
        "--out",
        &onnx.to_string_lossy(),
    ]);
    assert!(ok, "{text}");
    let graph = std::fs::read(&onnx).expect("a graph");
    for part in [
        "/input/planes",
        "/output/policy",
        "/output/wdl",
        "/output/moves_left",
        "\"own hand F\"",
        "\"entered\":\"H\"",
        "name = \"hunter-chess\"",
        "encoding_hash",
        "net_hash",
        "castling",
    ] {
        assert!(contains(&graph, part), "{part} is missing");
    }
    let copy = folder.path().join("copy.safetensors");
    let (ok, text) = export(&[
        "--net",
        &net,
        "--format",
        "safetensors",
        "--out",
        &copy.to_string_lossy(),
    ]);
    assert!(ok, "{text}");
    let bytes = std::fs::read(&copy).expect("a net");
    let variant = Variant::by_name("hunter-chess").expect("built in");
    let (_, meta) = load_net(&bytes, "copy", &variant, &Device::flex()).expect("a net");
    assert_eq!(meta.net_id, "tiny");
}

#[test]
fn rules_are_written_or_refused_by_name() {
    let (ok, text) = export(&["--variant", "chess", "--format", "variants-ini"]);
    assert!(ok && text.starts_with("[chess:chess]\n"), "{text}");
    let (ok, text) = export(&["--variant", "falcon", "--format", "fmax-ini"]);
    assert!(ok && text.contains("\nGame: falcon # "), "{text}");
    let (ok, text) = export(&["--variant", "falcon-10x10", "--format", "xboard"]);
    let falcon = "\npiece F& aflafrKafraflKafafsKafsafK\n";
    assert!(
        ok && text.starts_with("setup (") && text.contains(falcon),
        "{text}"
    );
    let plain = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../data/engines/decimal-plain.toml"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let double = folder.path().join("double.toml");
    let text = std::fs::read_to_string(plain).expect("a variant");
    std::fs::write(&double, text.replace("ifmW3", "ifmnD")).expect("written");
    let double = double.to_string_lossy();
    let (ok, text) = export(&["--variant", &double, "--format", "fmax-ini"]);
    assert!(ok && text.contains("\np:100 -16,64 -16,6 "), "{text}");
    let net = tiny_net(folder.path(), "falcon");
    let net = net.to_string_lossy();
    for (arguments, reason) in [
        (
            vec!["--variant", "falcon", "--format", "variants-ini"],
            "the falcon F = nCnZ",
        ),
        (
            vec!["--net", &net, "--format", "variants-ini"],
            "the falcon F = nCnZ",
        ),
        (
            vec!["--variant", "falcon-hunter", "--format", "fmax-ini"],
            "men in hand",
        ),
        (
            vec!["--variant", plain, "--format", "fmax-ini"],
            "a first step of 3 squares without en passant",
        ),
        (
            vec!["--variant", "falcon", "--format", "onnx"],
            "give one with --net",
        ),
        (
            vec!["--net", &net, "--variant", "chess", "--format", "onnx"],
            "net for variant `falcon`",
        ),
        (vec!["--net", "greedy", "--format", "onnx"], "not a net"),
        (
            vec![
                "--net",
                &net,
                "--format",
                "onnx",
                "--out",
                "/no/such/folder/x",
            ],
            "/no/such/folder/x",
        ),
    ] {
        let (ok, text) = export(&arguments);
        assert!(
            !ok && text.contains("error:") && text.contains(reason),
            "{arguments:?}: {text}"
        );
    }
    let broken = folder.path().join("broken.safetensors");
    std::fs::write(&broken, &std::fs::read(&*net).expect("a net")[..1000]).expect("written");
    let (ok, text) = export(&["--net", &broken.to_string_lossy(), "--format", "onnx"]);
    assert!(!ok && text.contains("broken.safetensors"), "{text}");
}

/// A net for Fairy-Stockfish is written under a name that it takes, read again by `falconzero nnue`, and refused by name where it cannot be.
#[test]
fn nets_for_fairy_stockfish_are_written_read_and_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chess-men.nnue");
    let file = file.to_string_lossy();
    let (ok, text) = export(&["--variant", "chess", "--format", "nnue", "--out", &file]);
    assert!(ok, "{text}");
    let output = Command::new(env!("CARGO_BIN_EXE_falconzero"))
        .args(["nnue", &file, "--variant", "chess"])
        .args(["--fen", "4k3/8/8/8/8/8/8/Q3K3 b - - 0 1"])
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().nth(1).unwrap_or_default();
    let numbers: Vec<&str> = line.split_whitespace().take(4).collect();
    assert_eq!(numbers, ["0", "-29952", "0", "-1872"], "{text}");
    let net = tiny_net(folder.path(), "chess");
    let net = net.to_string_lossy();
    for (arguments, reason) in [
        (vec!["--variant", "falcon"], "the falcon F = nCnZ"),
        (
            vec!["--variant", "chess", "--out", "x.nnue"],
            "chess-….nnue",
        ),
        (vec!["--net", &net], "give one with --run"),
    ] {
        let (ok, text) = export(&[arguments.clone(), vec!["--format", "nnue"]].concat());
        assert!(!ok && text.contains(reason), "{arguments:?}: {text}");
    }
}

/// The file would be read first and lost then.
#[test]
fn a_net_is_not_written_over_by_its_own_export() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = tiny_net(folder.path(), "chess");
    let before = std::fs::read(&net).expect("the net");
    let net_name = net.to_string_lossy();
    for format in ["onnx", "safetensors", "nnue"] {
        let (ok, text) = export(&["--net", &net_name, "--format", format, "--out", &net_name]);
        assert!(
            !ok && text.contains("is the net itself"),
            "{format}: {text}"
        );
    }
    let other_name = format!("{net_name}@f32");
    let (ok, text) = export(&["--net", &other_name, "--format", "onnx", "--out", &net_name]);
    assert!(!ok && text.contains("is the net itself"), "{text}");
    // Without --out the file has the net's name, here.
    let output = Command::new(env!("CARGO_BIN_EXE_falconzero"))
        .args(["export", "--net", "tiny.safetensors", "--format"])
        .arg("safetensors")
        .current_dir(folder.path())
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("is the net itself"),
        "{text}"
    );
    assert_eq!(std::fs::read(&net).expect("the net"), before);
}
