//! Whole sessions, through pipes as a client would have them.

mod cecp;
mod garbage;
mod pipe;
mod uci;
mod uci_search;

use super::{NetShelf, Settings, Setup, run};
use model::{DeviceChoice, Inference};
use pipe::Client;
use rules::Variant;
use std::io::{self, ErrorKind, Write};

/// An engine without a net, or with none but the shipped ones.
fn setup(variant: &str, nets: &[&str]) -> Setup {
    Setup {
        variant: Variant::by_name(variant).expect("a built-in variant"),
        nets: NetShelf::read(nets.iter().copied()).expect("readable nets"),
        settings: Settings {
            hash_mib: 16,
            ..Settings::default()
        },
        device: DeviceChoice::Cpu,
        inference: Inference::Auto,
    }
}

/// A client of an engine that searches without a net.
fn uniform(variant: &str) -> Client {
    Client::start(setup(variant, &["uniform"]))
}

#[test]
fn the_first_command_chooses_the_protocol() {
    let mut client = uniform("falcon");
    client.send("hello");
    client.expect("info string error: the first command must be `uci` or `xboard`");
    client.send("uci");
    client.expect("uciok");
    client.send("quit");
    client.expect_end();
    for (first, answer) in [("xboard", "feature done=1"), ("uci", "uciok")] {
        let mut client = uniform("falcon");
        client.send("");
        client.send(first);
        client.send("protover 2");
        client.expect(answer);
        client.close();
        client.expect_end();
    }
    let mut client = uniform("falcon");
    client.send("quit");
    client.expect_end();
}

#[test]
fn an_engine_whose_client_reads_no_more_ends() {
    let mut client = uniform("chess");
    client.send("uci");
    client.expect("uciok");
    client.stop_reading();
    client.send("isready");
    client.expect_end();
}

/// A full disk below the output, say.
struct Full;

impl Write for Full {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let ended = run(setup("chess", &["uniform"]), &b"uci\nquit\n"[..], Full);
    assert_eq!(
        ended.map_err(|error| error.kind()),
        Err(ErrorKind::StorageFull)
    );
}
