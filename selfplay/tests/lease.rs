//! One trainer a run, and a killed one's run can be taken over.

use std::time::Duration;

use selfplay::layout::RunPaths;
use selfplay::lease::{Lease, LeaseError, LeaseTiming, TrainerCounters, TrainerStatus};
use selfplay::storage::Storage;

const QUICK: LeaseTiming = LeaseTiming {
    beat: Duration::from_millis(40),
    patience: Duration::from_millis(1000),
};

fn acquire(storage: &Storage) -> Result<Lease, LeaseError> {
    Lease::acquire_with(storage, QUICK)
}

fn counters(steps: u64) -> TrainerCounters {
    TrainerCounters {
        steps,
        samples_used: 128 * steps,
        positions: 10_000,
        games: 70,
    }
}

/// `kill -9`: the file stays as it was, and nobody beats.
fn leave_a_dead_trainer(storage: &Storage) {
    let dead = TrainerStatus {
        instance: "dead".to_owned(),
        pid: 4711,
        host: "elsewhere".to_owned(),
        beat: 17,
        released: false,
        counters: counters(5),
    };
    storage.put_json(RunPaths::TRAINER, &dead).unwrap();
}

#[test]
fn a_second_trainer_is_refused_while_the_first_lives() {
    let storage = Storage::in_memory();
    let first = acquire(&storage).unwrap();
    let message = acquire(&storage).unwrap_err().to_string();
    let pid = std::process::id();
    assert!(message.contains(&format!("process {pid} on ")), "{message}");
    assert!(message.contains("stop it first"), "{message}");
    first.check().unwrap();
    first.release().unwrap();
    acquire(&storage).unwrap();
}

#[test]
fn a_killed_trainer_s_run_is_taken_over_with_its_counters() {
    let storage = Storage::in_memory();
    leave_a_dead_trainer(&storage);
    let begun = std::time::Instant::now();
    let lease = acquire(&storage).unwrap();
    assert!(begun.elapsed() >= QUICK.patience);
    assert_eq!(lease.counters(), counters(5));
}

#[test]
fn of_two_that_take_over_at_once_one_gets_the_run() {
    let storage = Storage::in_memory();
    leave_a_dead_trainer(&storage);
    let taken: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| acquire(&storage))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let holders: Vec<_> = taken
        .iter()
        .flatten()
        .filter(|lease| lease.check().is_ok())
        .collect();
    assert_eq!(holders.len(), 1);
}

#[test]
fn beats_carry_the_counters_and_a_usurped_trainer_finds_out() {
    let storage = Storage::in_memory();
    let lease = acquire(&storage).unwrap();
    lease.set_counters(counters(9));
    let wait_until = |done: &dyn Fn() -> bool| {
        let begun = std::time::Instant::now();
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait_until(&|| TrainerStatus::read(&storage).unwrap().unwrap().counters == counters(9));
    leave_a_dead_trainer(&storage);
    // A beat that was under way may overwrite the usurper once.
    wait_until(&|| {
        if lease.check().is_ok() {
            leave_a_dead_trainer(&storage);
        }
        lease.check().is_err()
    });
    let message = lease.release().unwrap_err().to_string();
    assert!(message.contains("process 4711 on elsewhere"), "{message}");
    let left = TrainerStatus::read(&storage).unwrap().unwrap();
    assert_eq!(left.instance, "dead");
}

#[test]
fn a_damaged_heartbeat_does_not_block_the_run() {
    let storage = Storage::in_memory();
    storage.put(RunPaths::TRAINER, "{ half").unwrap();
    acquire(&storage).unwrap();
}
