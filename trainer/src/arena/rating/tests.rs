use super::*;
use crate::arena::pentanomial::Pentanomial;
use model::{Net, NetConfig, NetMeta, NetShape, save_net};

fn net(step: u64) -> CurrentNet {
    CurrentNet {
        id: format!("{step:06}"),
        step,
    }
}

fn ladder(steps: &[u64]) -> Ladder {
    let nets = steps.iter().map(|&step| net(step)).collect();
    Ladder {
        version: LADDER_VERSION,
        nets,
        matchups: Vec::new(),
    }
}

#[test]
fn the_first_net_plays_the_greedy_anchor() {
    assert_eq!(ladder(&[]).opponents(&net(0), 2), ["greedy"]);
    assert_eq!(ladder(&[0]).opponents(&net(100), 2), ["000000", "greedy"]);
}

#[test]
fn milestones_are_the_last_net_and_the_one_half_way() {
    let ladder = ladder(&[0, 100, 200, 300, 400, 500]);
    assert_eq!(
        ladder.opponents(&net(600), 2),
        ["000500", "000300", "000000", "greedy"]
    );
    assert_eq!(ladder.opponents(&net(600), 0), ["000000", "greedy"]);
    assert_eq!(
        ladder.opponents(&net(500), 1),
        ["000400", "000000", "greedy"],
        "a net does not play itself"
    );
}

#[test]
fn foregone_matches_are_not_played() {
    let mut ladder = ladder(&[0, 100, 200]);
    ladder.add_match("000000", GREEDY, Pentanomial::new([4, 4, 4, 2, 2]));
    ladder.add_match("000100", GREEDY, Pentanomial::new([0, 2, 4, 6, 8]));
    ladder.add_match("000200", "000100", Pentanomial::new([0, 0, 0, 1, 40]));
    assert_eq!(ladder.opponents(&net(300), 2), ["000200", "000100"]);
    assert_eq!(
        ladder.opponents(&net(300), 0),
        ["000000"],
        "somebody must be played"
    );
}

#[test]
fn the_curve_starts_at_zero_and_results_add_up() {
    let mut ladder = ladder(&[0, 100]);
    ladder.add_match("000100", "000000", Pentanomial::new([0, 1, 2, 3, 2]));
    ladder.add_match("000100", "000000", Pentanomial::new([0, 1, 2, 3, 2]));
    assert_eq!(ladder.matchups.len(), 1);
    let curve = ladder.curve();
    assert_eq!((curve[0].elo, curve[0].error), (0.0, 0.0));
    assert!(curve[1].elo > 0.0 && curve[1].error > 0.0);
    assert_eq!(curve[1].games, 32);
    assert_eq!(ladder.greedy(), None);
    let storage = Storage::in_memory();
    ladder.write(&storage).expect("written");
    assert_eq!(Ladder::read(&storage).expect("read"), ladder);
}

fn publish(storage: &Storage, variant: &Variant, net: &CurrentNet) {
    let config = NetConfig::new(32, 1);
    let device = DeviceChoice::Cpu.device().expect("a CPU");
    let weights =
        Net::new(config, NetShape::new(variant), net.step, &device).expect("a valid size");
    let meta = NetMeta::new(variant, config, net.id.clone(), net.step);
    net.publish(storage, save_net(&weights, &meta).expect("a net file"))
        .expect("published");
}

#[test]
fn published_nets_are_rated_one_after_the_other() {
    let variant = Variant::by_name("chess").expect("a shipped variant");
    let storage = Storage::in_memory();
    let config = MatchConfig {
        games: 4,
        simulations: 2,
        max_plies: 16,
        ..MatchConfig::default()
    };
    let rated = |step: u64| {
        let net = net(step);
        publish(&storage, &variant, &net);
        let request = RatingRequest {
            storage: &storage,
            variant: &variant,
            device: DeviceChoice::Cpu,
            inference: Inference::Auto,
            threads: 2,
            config: &config,
            milestones: 2,
            net: &net,
        };
        rate_net(request, &mut |_| ControlFlow::Continue(()))
            .expect("the nets are there")
            .expect("games were played")
    };
    let first = rated(0);
    assert_eq!((first.elo, first.error, first.games), (0.0, 0.0, 4));
    let second = rated(10);
    assert_eq!(
        (second.step, second.games),
        (10, 8),
        "the untrained net and the greedy player"
    );
    let third = rated(20);
    assert_eq!(third.games, 12, "the net before it as well");
    assert!(third.error > 0.0 && third.error.is_finite());
    let ladder = Ladder::read(&storage).expect("stored");
    assert_eq!(ladder.curve().len(), 3);
    assert!(ladder.greedy().is_some());
}
