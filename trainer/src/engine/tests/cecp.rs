//! Sessions in CECP.

use super::pipe::Client;
use super::{setup, uniform};
use rules::{Variant, export};

fn greet(client: &mut Client) {
    client.send("xboard");
    client.send("protover 2");
    client.expect("feature done=1");
}

/// Everything up to the answer to a ping.
fn answers(client: &mut Client) -> Vec<String> {
    client.send("ping 7");
    let mut lines = client.until("pong 7");
    lines.pop();
    lines
}

#[test]
fn features_name_the_variants_that_xboard_can_be_told_of() {
    let mut client = uniform("falcon");
    client.send("xboard");
    client.send("protover 2");
    let lines = client.until("feature done=1");
    let variants = lines
        .iter()
        .find_map(|line| line.strip_prefix("feature variants="))
        .expect("variants");
    let variants: Vec<&str> = variants.trim_matches('"').split(',').collect();
    assert!(
        variants.contains(&"normal") && variants.contains(&"decimal-falcon-hunter"),
        "{variants:?}"
    );
    assert!(!variants.contains(&"hunter-chess"), "{variants:?}");
    assert!(
        lines
            .iter()
            .any(|line| line.contains("usermove=1") && line.contains("setboard=1"))
    );
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("feature option=\"EvalFile -string"))
    );
}

/// All variants in self-play, one engine making the moves of both sides.
#[test]
fn all_variants_play_some_plies() {
    let mut client = uniform("chess");
    greet(&mut client);
    for name in Variant::builtin_names() {
        let variant = Variant::by_name(name).expect("a built-in variant");
        client.send("new");
        client.send(&format!("variant {}", export::xboard_name(name)));
        if let Ok(setup) = export::xboard(&variant) {
            for line in setup.lines() {
                assert_eq!(client.hear(), line);
            }
        }
        client.send("level 0 0:02 0.1");
        client.send("sd 2");
        client.send("time 10");
        for _ in 0..8 {
            client.send("go");
            client.expect("move ");
            client.send("force");
        }
        client.send("remove");
        client.send("undo");
        assert_eq!(answers(&mut client), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn ten_ranks_count_from_zero_and_others_from_one() {
    for (name, mv, wrong) in [
        ("decimal-falcon-hunter", "e1e4", "e2e5"),
        ("falcon", "e2e4", "e1e3"),
    ] {
        let mut client = uniform(name);
        greet(&mut client);
        client.send("new");
        client.send(&format!("variant {name}"));
        client.send("force");
        client.expect("piece K& KisO3");
        client.send(&format!("usermove {wrong}"));
        client.expect("Illegal move (");
        client.send(&format!("usermove {mv}"));
        assert!(answers(&mut client).is_empty());
    }
}

/// XBoard knows no rights but castling's, and lets knights leap from where they stand at the start.
#[test]
fn men_at_home_keep_the_rights_that_xboard_drops() {
    let mut client = uniform("decimal-falcon-hunter");
    greet(&mut client);
    client.send("new");
    client.send("variant decimal-falcon-hunter");
    client.send("force");
    client.send(
        "setboard rnhbqkbfnr/pppppppppp/10/10/10/10/10/10/PPPPPPPPPP/RNHBQKBFNR w KQkq - 0 1",
    );
    for mv in ["b0d4", "i9g5"] {
        client.send(&format!("usermove {mv}"));
    }
    let said = answers(&mut client);
    assert!(
        !said.iter().any(|line| line.contains("Illegal")),
        "{said:?}"
    );
}

#[test]
fn illegal_moves_are_refused_with_the_reason() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("new");
    client.send("force");
    for (mv, reason) in [
        (
            "e2e5",
            "the pawn does not go there, or its king would be attacked",
        ),
        ("e7e5", "it is White's turn"),
        ("e4e5", "there is no man on that square"),
        ("hello", "`hello` is not a move"),
        ("N@e4", "nothing may be entered now"),
    ] {
        client.send(&format!("usermove {mv}"));
        assert_eq!(client.hear(), format!("Illegal move ({reason}): {mv}"));
    }
    client.send("setboard 4k3/8/8/8/8/8/4r3/4K2R w K - 0 1");
    client.send("usermove h1h2");
    client.expect("Illegal move (the king is in check, and the rook does not help so): h1h2");
    client.send("setboard 4k3/P7/8/8/8/8/8/4K2R w K - 0 1");
    for mv in ["e1g1", "e8d8", "a7a8Q"] {
        client.send(&format!("usermove {mv}"));
    }
    assert!(answers(&mut client).is_empty());
    client.send("undo");
    client.send("usermove a7a8");
    assert!(answers(&mut client).is_empty());
    client.send("setboard 9/9 w");
    client.expect("tellusererror Illegal position: FEN");
}

#[test]
fn results_are_claimed() {
    let mut client = uniform("chess");
    greet(&mut client);
    client.send("new");
    client.send("force");
    for mv in ["f2f3", "e7e5", "g2g4", "d8h4"] {
        client.send(&format!("usermove {mv}"));
    }
    client.expect("0-1 {Black mates}");
    client.send("usermove a2a3");
    client.expect("Illegal move (Black mates): a2a3");
    client.send("new");
    client.send("setboard 6k1/5ppp/8/8/8/8/8/1R2K3 w - - 0 1");
    client.send("post");
    client.send("go");
    let lines = client.until("1-0 {White mates}");
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("1 100001 ") && line.ends_with(" b1b8")),
        "{lines:#?}"
    );
    assert!(lines.contains(&"move b1b8".to_owned()), "{lines:#?}");
    client.send("result 1-0 {White mates}");
    client.send("new");
    client.send("force");
    for mv in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(8) {
        client.send(&format!("usermove {mv}"));
    }
    client.expect("1/2-1/2 {third repetition}");
}

#[test]
fn a_game_with_pondering_and_pings() {
    let mut client = uniform("falcon");
    greet(&mut client);
    for line in ["new", "variant falcon", "hard", "post", "st 0.05"] {
        client.send(line);
    }
    client.send("usermove e2e4");
    client.send("ping 1");
    let lines = client.until("pong 1");
    let at = lines.iter().position(|line| line.starts_with("move "));
    assert!(at.is_some(), "the answer comes after the move: {lines:#?}");
    client.send("ping 2");
    client.expect("pong 2");
    client.send("usermove d2d4");
    client.expect("move ");
    client.send("easy");
    client.send("undo");
    client.send("undo");
    client.send("usermove a2a3");
    client.expect("move ");
    client.send("?");
    client.send("st 60");
    client.send("usermove b2b3");
    client.send("?");
    client.expect("move ");
}

#[test]
fn analysis_goes_on_until_it_is_left() {
    let mut client = uniform("falcon");
    greet(&mut client);
    for line in ["new", "variant falcon", "post", "analyze"] {
        client.send(line);
    }
    client.expect("piece K& KisO3");
    let is_thought =
        |line: &str| line.split(' ').count() >= 5 && line.as_bytes()[0].is_ascii_digit();
    let thought = |client: &mut Client| loop {
        let line = client.hear();
        if is_thought(&line) {
            return line;
        }
    };
    thought(&mut client);
    client.send(".");
    client.expect("stat01: ");
    client.send("usermove e2e4");
    thought(&mut client);
    client.send("undo");
    thought(&mut client);
    client.send("exit");
    client.send("ping 3");
    client.expect("pong 3");
    client.send("usermove e2e4");
    assert!(
        !answers(&mut client)
            .iter()
            .any(|line| line.starts_with("move "))
    );
}

#[test]
fn a_hopeless_game_is_resigned_only_if_the_user_wants_it() {
    for (resigns, expected) in [("1", "resign"), ("0", "move ")] {
        let mut client = uniform("falcon");
        greet(&mut client);
        client.send("new");
        client.send("variant falcon");
        client.send(&format!("option Resign={resigns}"));
        // Duke's problem D after the key: Black is mated whatever it does, three times over.
        for turn in 0..3 {
            client.send("force");
            client.send("setboard 10/4kp1N2/4p5/3p6/1PpF1P4/10/10/R3FK4 w - - 0 1");
            client.send("usermove e1c4");
            client.send("go");
            client.expect(if turn == 2 { expected } else { "move " });
        }
    }
}

#[test]
fn errors_have_the_form_of_the_protocol() {
    let mut client = Client::start(setup("falcon", &[]));
    greet(&mut client);
    for (line, answer) in [
        ("frobnicate now", "Error (unknown command): frobnicate now"),
        ("variant nonsense", "Error (unknown variant): nonsense"),
        (
            "level 5",
            "Error (level wants MOVES MINUTES[:SECONDS] INCREMENT): level 5",
        ),
        (
            "option Hsah=3",
            "Error (there is no option `Hsah`): option Hsah=3",
        ),
        (
            "undo",
            "Error (there is no move to take back for undo): undo",
        ),
        ("variant falcon-9x10", "setup ("),
    ] {
        client.send(line);
        client.expect(answer);
    }
    client.expect("tellusererror there is no net for variant `falcon-9x10`");
    client.send("go");
    client.expect("Error (no net): go");
    client.send("quit");
    client.expect_end();
}
