//! How games end: mate, stalemate and the draw rules, and Duke's mate problems.

use rules::{Color, Game, Move, Position, Status, Variant};

#[test]
fn status_cases() {
    let text = include_str!("../../data/status.txt");
    for line in text.lines().filter(|line| line.contains('|')) {
        if line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split(" | ").collect();
        let [name, fen, moves, expected, why] = fields[..] else {
            panic!("five fields expected in `{line}`");
        };
        let variant = Variant::by_name(name).unwrap();
        let position = Position::from_fen(&variant, fen).unwrap();
        let mut game = Game::new(variant.clone(), position);
        for text in moves.split(' ').filter(|&text| text != "-") {
            game.play(variant.parse_move(game.position(), text).unwrap());
        }
        let check = game.position().is_check(&variant);
        let status = match game.status() {
            Status::Ongoing if check => "check",
            Status::Ongoing => "ongoing",
            Status::Checkmate => "checkmate",
            Status::Stalemate => "stalemate",
            Status::FiftyMoves => "fifty-moves",
            Status::ThreefoldRepetition => "threefold-repetition",
            Status::InsufficientMaterial => "insufficient-material",
        };
        assert_eq!(status, expected, "{line} ({why})");
    }
}

/// White's moves that mate in at most `moves`, by brute force.
fn mating_moves(variant: &Variant, position: &Position, moves: u32) -> Vec<Move> {
    let all = position.legal_moves(variant).into_iter();
    all.filter(|&mv| {
        let after = position.play(variant, mv);
        let replies = after.legal_moves(variant);
        if replies.is_empty() {
            return after.is_check(variant);
        }
        moves > 1
            && replies.into_iter().all(|reply| {
                let next = after.play(variant, reply);
                !mating_moves(variant, &next, moves - 1).is_empty()
            })
    })
    .collect()
}

#[test]
fn dukes_problems() {
    let text = include_str!("../../data/mates.txt");
    let field = |block: &str, name: &str| -> Vec<String> {
        let lines = block.lines().filter_map(|line| line.strip_prefix(name));
        lines.map(|rest| rest.trim().to_string()).collect()
    };
    let names = field(text, "variants ").join(" ");
    let mut tried = 0;
    for name in names.split(' ') {
        let variant = Variant::by_name(name).unwrap();
        for block in text.split("problem ").skip(1) {
            let position = Position::from_fen(&variant, &field(block, "fen ")[0]).unwrap();
            assert_eq!(position.turn(), Color::White);
            let mate_in = field(block, "mate ")[0].parse().unwrap();
            let show = |position: &Position, moves: Vec<Move>| -> Vec<String> {
                let texts = moves.into_iter().map(|mv| variant.move_text(position, mv));
                let mut texts: Vec<String> = texts.collect();
                texts.sort();
                texts
            };
            let keys = mating_moves(&variant, &position, mate_in);
            assert_eq!(
                show(&position, keys.clone()),
                field(block, "key "),
                "{block}"
            );
            let after_key = position.play(&variant, keys[0]);
            for line in field(block, "after ") {
                let (reply, mates) = line.split_once(' ').unwrap();
                let reply = variant.parse_move(&after_key, reply).unwrap();
                let position = after_key.play(&variant, reply);
                let found = mating_moves(&variant, &position, 1);
                assert_eq!(show(&position, found).join(" "), mates, "{block}");
            }
            tried += 1;
        }
    }
    assert!(tried == 25, "only {tried} problems were tried");
}
