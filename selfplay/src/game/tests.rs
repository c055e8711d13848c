//! Whole games with fake evaluators.

use std::sync::Arc;

use model::{EvalRequest, Evaluation, Evaluator, UniformEvaluator, Wdl};
use rules::{Color, Outcome, Position, Variant};

use super::{EndReason, GameConfig, GameIdentity, SelfPlayConfig, SelfPlayGame};
use crate::record::GameRecord;
use crate::search::SearchConfig;
use crate::starts::{Archive, Start, StartConfig, StartGenerator, StartKind};

/// White stands well, the more men are gone the better.
struct WhiteEvaluator;

impl Evaluator for WhiteEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let one = |request: &EvalRequest| {
            let win = Wdl {
                win: 0.99,
                draw: 0.0,
                loss: 0.01,
            };
            let wdl = if request.position.turn() == Color::White {
                win
            } else {
                win.flip()
            };
            Evaluation {
                wdl,
                moves_left: 30.0,
                policy_logits: vec![0.0; request.moves.len()],
            }
        };
        requests.iter().map(one).collect()
    }
}

fn variant(name: &str) -> Arc<Variant> {
    Variant::by_name(name).expect("a built-in variant")
}

fn identity(seed: u64) -> GameIdentity {
    GameIdentity {
        game_id: format!("g{seed}"),
        worker_id: "w".into(),
        net_id: "n".into(),
        seed,
    }
}

fn config(selfplay: SelfPlayConfig) -> Arc<GameConfig> {
    let search = SearchConfig {
        simulations: 16,
        ..SearchConfig::default()
    };
    Arc::new(GameConfig {
        search,
        selfplay: SelfPlayConfig {
            cheap_simulations: 4,
            ..selfplay
        },
        tablebases: None,
    })
}

fn start(variant: &Variant, kind: StartKind, fen: &str) -> Start {
    let position = match fen {
        "start" => variant.start(),
        fen => Position::from_fen(variant, fen).expect("a valid FEN"),
    };
    Start {
        kind,
        position,
        sampled_plies: 0,
        sampled_temperature: 1.0,
    }
}

/// Plays all games to their end in one batch.
fn play(mut games: Vec<SelfPlayGame>, evaluator: &mut dyn Evaluator) -> Vec<GameRecord> {
    loop {
        let (mut waiting, mut requests) = (Vec::new(), Vec::new());
        for game in &mut games {
            if let Some(request) = game.gather() {
                requests.push(request);
                waiting.push(game);
            }
        }
        if requests.is_empty() {
            return games.into_iter().map(SelfPlayGame::into_record).collect();
        }
        for (game, evaluation) in waiting.into_iter().zip(evaluator.evaluate(&requests)) {
            game.respond(evaluation);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_game_whatever_the_batch() {
    let falcon = variant("falcon");
    let generator = StartGenerator::new(&falcon, StartConfig::default());
    let archive = Archive::new(0);
    let selfplay = SelfPlayConfig {
        max_plies: 60,
        temperature_plies: 6,
        ..SelfPlayConfig::default()
    };
    let make = |seed| {
        SelfPlayGame::new(
            &falcon,
            generator.generate(seed, &archive),
            config(selfplay.clone()),
            identity(seed),
        )
    };
    let together = play((0..12).map(make).collect(), &mut UniformEvaluator);
    for seed in [0, 5, 11] {
        let alone = play(vec![make(seed)], &mut UniformEvaluator);
        assert_eq!(alone[0], together[seed as usize]);
    }
    assert!(together.iter().any(|game| game.plies != together[0].plies));
}

#[test]
fn a_record_holds_what_was_searched() {
    let chess = variant("chess");
    let selfplay = SelfPlayConfig {
        max_plies: 20,
        full_search_share: 0.5,
        ..SelfPlayConfig::default()
    };
    let game = SelfPlayGame::new(
        &chess,
        start(&chess, StartKind::Opening, "start"),
        config(selfplay),
        identity(3),
    );
    let record = play(vec![game], &mut UniformEvaluator).remove(0);
    assert_eq!(
        (record.outcome, record.end, record.plies.len()),
        (Outcome::Draw, EndReason::MaxPlies, 20)
    );
    assert_eq!(record.plies[0].fen, chess.start_fen());
    let full = record.plies.iter().filter(|ply| ply.full_search).count();
    assert!((4..=16).contains(&full), "{full}");
    let mut position = chess.start();
    for ply in &record.plies {
        assert_eq!(ply.fen, position.fen(&chess));
        assert_eq!(ply.visits, if ply.full_search { 16 } else { 4 });
        assert!((ply.policy.iter().map(|(_, p)| p).sum::<f32>() - 1.0).abs() < 1e-4);
        position = position.play(
            &chess,
            chess.parse_move(&position, &ply.mv).expect("a legal move"),
        );
    }
}

#[test]
fn mates_end_the_game_with_their_winner() {
    let chess = variant("chess");
    let start = start(&chess, StartKind::FewMen, "7k/8/5KQ1/8/8/8/8/8 w - - 0 1");
    let game = SelfPlayGame::new(
        &chess,
        start,
        config(SelfPlayConfig::default()),
        identity(1),
    );
    let record = play(vec![game], &mut UniformEvaluator).remove(0);
    assert_eq!(
        (record.outcome, record.end),
        (Outcome::WhiteWins, EndReason::Checkmate)
    );
    assert_eq!((record.plies.len(), record.plies[0].root_q), (1, 1.0));
    assert_eq!(record.start_kind, StartKind::FewMen);
}

/// A mate moves the whole policy to one move of many, and nothing moves it in a quiet position judged alike everywhere.
#[test]
fn what_surprises_a_cheap_search_gets_a_full_one() {
    let chess = variant("chess");
    let mate = "6k1/5ppp/8/8/8/8/8/1R2K3 w - - 0 1";
    for (fen, surprise, is_full) in [(mate, 0.5, true), (mate, 0.0, false), ("start", 0.5, false)] {
        let config = config(SelfPlayConfig {
            full_search_share: 0.0,
            full_search_surprise: surprise,
            max_plies: 1,
            ..SelfPlayConfig::default()
        });
        let start = start(&chess, StartKind::Opening, fen);
        let game = SelfPlayGame::new(&chess, start, config, identity(1));
        let record = play(vec![game], &mut UniformEvaluator).remove(0);
        assert_eq!(record.plies[0].full_search, is_full, "{fen}, {surprise}");
    }
}

#[test]
fn hopeless_sides_resign_unless_the_game_is_played_out() {
    let chess = variant("chess");
    let run = |kind, resign_playout_share| {
        let selfplay = SelfPlayConfig {
            resign_q: 0.9,
            resign_playout_share,
            max_plies: 30,
            ..SelfPlayConfig::default()
        };
        let game = SelfPlayGame::new(
            &chess,
            start(&chess, kind, "start"),
            config(selfplay),
            identity(1),
        );
        play(vec![game], &mut WhiteEvaluator).remove(0)
    };
    let resigned = run(StartKind::Opening, 0.0);
    assert_eq!(
        (resigned.outcome, resigned.end),
        (Outcome::WhiteWins, EndReason::Resignation)
    );
    // Black's fifth search is that of ply 9, counted from 0.
    assert_eq!((resigned.plies.len(), resigned.would_resign), (9, None));
    let played_out = run(StartKind::Opening, 1.0);
    assert_eq!(
        (played_out.end, played_out.would_resign),
        (EndReason::MaxPlies, Some(Color::Black))
    );
    let few_men = run(StartKind::FewMen, 0.0);
    assert_eq!(
        (few_men.end, few_men.would_resign),
        (EndReason::MaxPlies, None)
    );
}

#[test]
fn sampled_plies_come_before_the_record() {
    let chess = variant("chess");
    let start = Start {
        sampled_plies: 6,
        ..start(&chess, StartKind::Opening, "start")
    };
    let selfplay = SelfPlayConfig {
        max_plies: 4,
        ..SelfPlayConfig::default()
    };
    let game = SelfPlayGame::new(&chess, start, config(selfplay), identity(1));
    let record = play(vec![game], &mut UniformEvaluator).remove(0);
    assert!(
        record.plies[0].fen.ends_with(" 4"),
        "{}",
        record.plies[0].fen
    );
    assert_eq!(record.plies.len(), 4);
}

/// A game that comes into a table ends with its result; one that begins there is played out.
#[test]
fn tables_end_games_that_come_into_them() {
    let chess = variant("chess");
    let mut tables = rules::tablebase::Tablebases::new(&chess);
    let key = rules::tablebase::MaterialKey::parse(&chess, "KRvK").expect("material");
    tables.build(&key, &mut |_| {}).expect("built");
    let with_tables = GameConfig {
        tablebases: Some(Arc::new(tables)),
        ..(*config(SelfPlayConfig {
            max_plies: 6,
            ..SelfPlayConfig::default()
        }))
        .clone()
    };
    let run = |fen: &str| {
        let start = start(&chess, StartKind::Archive, fen);
        let mut game = SelfPlayGame::new(&chess, start, Arc::new(with_tables.clone()), identity(1));
        while let Some(request) = game.gather() {
            game.respond(UniformEvaluator.evaluate(&[request]).remove(0));
        }
        let record = game.into_record();
        (record.outcome, record.end, record.plies.len())
    };
    // White must take the pawn, and has a rook left.
    let run_over = run("8/8/8/8/8/1k6/1p6/KR6 w - - 0 1");
    assert_eq!(run_over, (Outcome::WhiteWins, EndReason::Tablebase, 1));
    let (_, end, plies) = run("7k/8/8/8/8/8/8/R1K5 w - - 0 1");
    assert_ne!(end, EndReason::Tablebase);
    assert!(plies > 1);
}
