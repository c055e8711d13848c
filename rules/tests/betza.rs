//! The Betza dialect: what strings mean.

use rules::betza::{self, Motion, Reach};

fn steps(text: &str) -> Vec<(i8, i8)> {
    let motions = betza::parse(text).unwrap();
    let mut steps: Vec<_> = motions.iter().map(|motion| motion.step).collect();
    steps.sort();
    steps
}

#[test]
fn atoms_have_their_leaps() {
    let sizes = [
        ("W", 4),
        ("F", 4),
        ("D", 4),
        ("A", 4),
        ("N", 8),
        ("H", 4),
        ("C", 8),
        ("L", 8),
        ("Z", 8),
        ("J", 8),
        ("G", 4),
        ("K", 8),
        ("Q", 8),
        ("R", 4),
        ("B", 4),
        ("(2,4)", 8),
    ];
    for (text, count) in sizes {
        assert_eq!(steps(text).len(), count, "{text}");
    }
    assert_eq!(steps("L"), steps("C"));
    assert_eq!(steps("(4,2)"), steps("(2,4)"));
}

#[test]
fn directions_select() {
    assert_eq!(steps("fW"), [(0, 1)]);
    assert_eq!(steps("sW"), [(-1, 0), (1, 0)]);
    assert_eq!(steps("vW"), [(0, -1), (0, 1)]);
    assert_eq!(steps("fF"), [(-1, 1), (1, 1)]);
    assert_eq!(steps("flF"), [(-1, 1)]);
    assert_eq!(steps("flbrF"), [(-1, 1), (1, -1)]);
    assert_eq!(steps("ffN"), [(-1, 2), (1, 2)]);
    assert_eq!(steps("fsN"), [(-2, 1), (2, 1)]);
    assert_eq!(steps("ffrN"), [(1, 2)]);
    assert_eq!(steps("vN"), [(-1, -2), (-1, 2), (1, -2), (1, 2)]);
    assert_eq!(steps("flN"), [(-2, 1), (-1, 2)]);
    assert_eq!(steps("fK"), [(-1, 1), (0, 1), (1, 1)]);
}

#[test]
fn ranges_and_doubling() {
    let limit = |text: &str| match betza::parse(text).unwrap()[0].reach {
        Reach::Ride { limit } => limit,
        ref other => panic!("{text} is no rider: {other:?}"),
    };
    assert_eq!(limit("R"), limit("WW"));
    assert_eq!(limit("R"), limit("W0"));
    assert_eq!(limit("NN"), limit("N0"));
    assert_eq!(limit("R4"), 4);
    assert_eq!(limit("K2"), 2);
    assert_eq!(betza::parse("R1").unwrap(), betza::parse("W").unwrap());
}

#[test]
fn the_falcon_has_three_paths_to_each_target() {
    let falcon = betza::parse("nCnZ").unwrap();
    assert_eq!(falcon.len(), 16);
    for motion in &falcon {
        let Reach::Lame { paths } = &motion.reach else {
            panic!("{motion:?} is not lame");
        };
        assert_eq!(paths.len(), 3);
        assert!(paths.iter().all(|path| path.len() == 2));
    }
    let to_1_3: Vec<&Motion> = falcon.iter().filter(|m| m.step == (1, 3)).collect();
    let Reach::Lame { paths } = &to_1_3[0].reach else {
        panic!("not lame");
    };
    let mut paths = paths.clone();
    paths.sort();
    assert_eq!(
        paths,
        [
            vec![(0, 1), (0, 2)],
            vec![(0, 1), (1, 2)],
            vec![(1, 1), (1, 2)],
        ]
    );
}

#[test]
fn what_is_not_supported_is_named_with_its_place() {
    let cases = [
        ("", 1, "the piece has no move"),
        ("f", 2, "an atom such as `W` is missing"),
        ("WX", 2, "there is no atom `X`"),
        ("uR", 1, "the modifier `u` is not supported"),
        ("pN", 2, "`p` and `g` need a rider"),
        ("mafK", 2, "only the last leg may have other letters"),
        ("afR", 3, "only king steps `K` are supported"),
        ("KisO2", 4, "write a [[castling]] table"),
        ("Wnz", 3, "the modifier `z` is not supported"),
        ("(2,x)", 1, "a leap is written out as `(2,4)`"),
        ("(1,2", 1, "a leap is written out as `(2,4)`"),
        ("nN3", 2, "a lame leap cannot be repeated"),
        ("WaaaaaaaaaaaaaaaaK", 2, "too many ways"),
    ];
    for (text, place, expected) in cases {
        let error = betza::parse(text).unwrap_err();
        assert_eq!(error.offset + 1, place, "{text}: {error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn xboards_string_is_the_same_falcon() {
    let sorted = |text: &str| {
        let mut motions = betza::parse(text).unwrap();
        motions.sort_by_key(|motion| motion.step);
        motions
    };
    assert_eq!(sorted("aflafrKafraflKafafsKafsafK"), sorted("nCnZ"));
}

#[test]
fn legs_turn_along_the_leg_before() {
    // Any first step, then straight on: a lame queen of exactly two squares.
    let mut twice: Vec<(i8, i8)> = steps("K")
        .into_iter()
        .map(|(x, y)| (2 * x, 2 * y))
        .collect();
    twice.sort();
    assert_eq!(steps("afK"), twice);
    // Forward in any of three ways, then a quarter of the compass to the right.
    assert_eq!(steps("farK"), [(0, 2), (1, 1), (2, 0)]);
}

/// A string of any length is answered at once, and the message does not repeat all of it.
#[test]
fn endless_strings_are_refused() {
    let error = betza::parse(&"WF".repeat(50_000)).unwrap_err().to_string();
    assert!(error.contains("longer than 256 characters"), "{error}");
    assert!(error.len() < 1000, "{} bytes of message", error.len());
    assert!(betza::parse(&"WF".repeat(128)).is_ok());
}
