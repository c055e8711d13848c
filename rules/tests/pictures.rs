//! Pictures show every man and every square, and nothing else.

mod every_variant;

use every_variant::every_variant;
use rules::{PieceDiagram, Position, Variant, betza};

/// Every tag that is opened is closed, in order; attributes have no stray quotes or brackets.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split_whitespace().next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} are never closed");
}

#[test]
fn a_board_has_all_squares_and_all_men() {
    for variant in every_variant() {
        let start = variant.start();
        let svg = start.board_svg(&variant);
        assert_well_formed(&svg);
        let hands: usize = rules::Color::ALL
            .iter()
            .flat_map(|&color| variant.hand_roles().iter().map(move |&role| (color, role)))
            .map(|(color, role)| usize::from(start.hand(color, role)))
            .sum();
        let men = start.occupied().count() as usize + hands;
        assert_eq!(
            svg.matches("<g transform").count(),
            men,
            "{}",
            variant.name()
        );
        // Each square is a field and a part of the frame; the background is one more.
        let squares = variant.board().count() as usize;
        assert_eq!(
            svg.matches("<rect").count(),
            2 * squares + 1,
            "{}",
            variant.name()
        );
    }
}

#[test]
fn men_without_a_picture_show_their_letter() {
    let discs = |variant: &Variant, fen: &str| {
        let position = Position::from_fen(variant, fen).unwrap();
        let svg = position.board_svg(variant);
        ["Q", "N", "J"].map(|letter| svg.matches(&format!(">{letter}</text>")).count())
    };
    let text = include_str!("../../configs/examples/bison-riders.toml");
    let bison = Variant::from_toml(text).unwrap();
    assert_eq!(
        discs(&bison, "4k5/10/10/10/3n6/10/3J6/3QKN4 w - - 0 1"),
        [0, 2, 1]
    );
    let decimal = Variant::by_name("decimal-falcon-hunter").unwrap();
    assert!(!decimal.start().board_svg(&decimal).contains(">F</text>"));
}

#[test]
fn a_diagram_shows_the_paths_of_lame_leaps() {
    let falcon = PieceDiagram::new(&betza::parse("nCnZ").unwrap(), 10, 8).unwrap();
    let paths: Vec<_> = falcon.lame_paths().collect();
    assert_eq!(paths.len(), 16);
    assert!(paths.iter().all(|(_, ways)| ways.len() == 3));
    let svg = falcon.svg();
    assert_well_formed(&svg);
    assert_eq!(svg.matches("<polyline").count(), 48);
    assert_eq!(svg.matches("<circle").count(), 16);
    assert_eq!(falcon.text().matches("o~").count(), 16);

    let plain = PieceDiagram::new(&betza::parse("fmWfceFifmnD").unwrap(), 8, 8).unwrap();
    let svg = plain.svg();
    assert_well_formed(&svg);
    assert_eq!(
        (
            svg.matches("<circle").count(),
            svg.matches("l20 20").count()
        ),
        (2, 2)
    );
}
