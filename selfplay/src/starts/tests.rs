//! Starts of every shipped variant.

use std::collections::HashSet;

use rules::{Color, Role, Status, Variant};

use super::{Archive, Start, StartConfig, StartGenerator, StartKind};

fn only(kind: StartKind) -> StartConfig {
    let share = |of| if of == kind { 1.0 } else { 0.0 };
    StartConfig {
        opening_share: share(StartKind::Opening),
        odds_share: share(StartKind::MaterialOdds),
        few_men_share: share(StartKind::FewMen),
        archive_share: share(StartKind::Archive),
        tablebase_share: share(StartKind::Tablebase),
        ..StartConfig::default()
    }
}

fn check(variant: &Variant, start: &Start) {
    let fen = start.position.fen(variant);
    assert_eq!(
        start.position.status(variant),
        Status::Ongoing,
        "{}: {fen}",
        variant.name()
    );
    assert!(
        !start.position.is_king_left_in_danger(variant),
        "{}: {fen}",
        variant.name()
    );
    let again = rules::Position::from_fen(variant, &fen);
    assert_eq!(
        again.as_ref(),
        Ok(&start.position),
        "{}: {fen}",
        variant.name()
    );
}

#[test]
fn every_kind_is_legal_varied_and_as_asked_for_in_every_variant() {
    for name in Variant::builtin_names() {
        let variant = Variant::by_name(name).expect("a built-in variant");
        for (kind, least_distinct) in [
            (StartKind::Opening, 30),
            (StartKind::MaterialOdds, 55),
            (StartKind::FewMen, 60),
        ] {
            let generator = StartGenerator::new(&variant, only(kind));
            let starts: Vec<Start> = (0..60)
                .map(|seed| generator.generate(seed, &Archive::new(0)))
                .collect();
            assert_eq!(generator.generate(9, &Archive::new(0)), starts[9]);
            for start in &starts {
                assert_eq!(start.kind, kind);
                check(&variant, start);
            }
            let sampled = |start: &&Start| start.sampled_plies > 0;
            let keys: HashSet<u64> = starts.iter().map(|start| start.position.key()).collect();
            let distinct = keys.len() + starts.iter().filter(sampled).count();
            assert!(
                distinct >= least_distinct,
                "{name}, {kind}: {distinct} of 60"
            );
        }
    }
}

#[test]
fn few_men_cover_all_roles_numbers_and_sides() {
    let variant = Variant::by_name("falcon").expect("falcon is built in");
    let generator = StartGenerator::new(&variant, only(StartKind::FewMen));
    let (mut roles, mut numbers, mut turns) = (HashSet::new(), HashSet::new(), HashSet::new());
    for seed in 0..300 {
        let position = generator.generate(seed, &Archive::new(0)).position;
        numbers.insert(position.occupied().count());
        turns.insert(position.turn());
        for color in Color::ALL {
            for role in (0..variant.roles().len()).filter_map(Role::from_index) {
                if position.pieces(color, role).any() {
                    roles.insert((color, role));
                }
            }
        }
    }
    assert_eq!(numbers, (3..=8).collect());
    assert_eq!((roles.len(), turns.len()), (2 * variant.roles().len(), 2));
}

#[test]
fn odds_leave_one_side_with_less() {
    let variant = Variant::by_name("falcon").expect("falcon is built in");
    let config = StartConfig {
        odds_plies: [0, 0],
        ..only(StartKind::MaterialOdds)
    };
    let generator = StartGenerator::new(&variant, config);
    for seed in 0..100 {
        let position = generator.generate(seed, &Archive::new(0)).position;
        let lacks = Color::ALL.map(|color| 20 - position.by_color(color).count());
        assert!(
            (1..=6).contains(lacks.iter().max().expect("two sides")),
            "{lacks:?}"
        );
    }
}

#[test]
fn shares_are_kept_and_an_empty_archive_gives_openings() {
    let variant = Variant::by_name("chess").expect("chess is built in");
    let generator = StartGenerator::new(&variant, StartConfig::default());
    let count = |kind| {
        let starts = (0..400).map(|seed| generator.generate(seed, &Archive::new(0)));
        starts.filter(|start| start.kind == kind).count()
    };
    assert!((200..=280).contains(&count(StartKind::Opening)));
    assert!((50..=110).contains(&count(StartKind::MaterialOdds)));
    assert!((50..=110).contains(&count(StartKind::FewMen)));
    assert_eq!(count(StartKind::Archive), 0);
}

#[test]
fn settings_out_of_range_are_named() {
    assert_eq!(StartConfig::default().validate(), Ok(()));
    assert_eq!(StartConfig::array_only().validate(), Ok(()));
    let wrong = StartConfig {
        few_men: [3, 2],
        ..StartConfig::default()
    };
    assert_eq!(wrong.validate().map_err(|e| e.field), Err("starts.few_men"));
    let none = StartConfig {
        opening_share: 0.0,
        odds_share: 0.0,
        few_men_share: 0.0,
        ..StartConfig::default()
    };
    assert_eq!(
        none.validate().map_err(|e| e.field),
        Err("starts.opening_share")
    );
}

#[test]
fn tables_give_endgames_of_either_side() {
    let chess = Variant::by_name("chess").expect("built in");
    let mut tables = rules::tablebase::Tablebases::new(&chess);
    let key = rules::tablebase::MaterialKey::parse(&chess, "KRvK").expect("material");
    tables.build(&key, &mut |_| {}).expect("built");
    let generator = StartGenerator::new(&chess, only(StartKind::Tablebase));
    assert_eq!(
        generator.generate(1, &Archive::new(0)).kind,
        StartKind::Opening
    );
    let generator = generator.with_tables(Some(std::sync::Arc::new(tables)));
    let rook = chess.role_by_letter('R').expect("a rook");
    let mut strong = HashSet::new();
    for seed in 0..40 {
        let start = generator.generate(seed, &Archive::new(0));
        assert_eq!(start.kind, StartKind::Tablebase);
        check(&chess, &start);
        strong.insert(start.position.pieces(Color::White, rook).any());
    }
    assert_eq!(strong.len(), 2);
}
