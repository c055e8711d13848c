//! Positions per second by kind of inference, and how near that is to what the processor can do.

use model::{
    CompiledEvaluator, DeviceChoice, EvalRequest, Inference, InferenceChoice, Throughput,
    load_evaluator, load_weights, peak_multiplications, sample_requests, throughput,
};
use rules::Variant;
use std::time::{Duration, Instant};

/// Batch sizes that evaluators are measured at.
const BATCHES: [usize; 4] = [1, 16, 64, 256];

/// The batch size that several threads are measured at.
const THREADED_BATCH: usize = 64;

/// What is measured.
pub struct InferenceBench<'a> {
    /// The rules.
    pub variant: &'a Variant,
    /// A net file.
    pub net: &'a [u8],
    /// Where the net is evaluated.
    pub device: DeviceChoice,
    /// How self-play is going to evaluate it.
    pub inference: Inference,
    /// For each kind of inference.
    pub time: Duration,
}

impl InferenceBench<'_> {
    /// Measures the kind that self-play uses and, on a CPU, all others that it has.
    pub fn run(&self) -> anyhow::Result<()> {
        let chosen = self.inference.choose(self.device)?;
        println!("inference: {chosen}");
        let requests = sample_requests(self.variant, 512, 1);
        let all = [
            Inference::Burn,
            Inference::F32,
            Inference::Bf16,
            Inference::Int8,
        ];
        let kinds: Vec<Inference> = match chosen.on_cpu() {
            true => all
                .into_iter()
                .filter(|kind| kind.choose(self.device).is_ok())
                .collect(),
            false => vec![self.inference],
        };
        println!(
            "positions/s                batch 1       16       64      256  {} threads   GFLOP/s  of peak  load",
            threads()
        );
        for kind in kinds {
            self.kind(kind, &requests)?;
        }
        println!(
            "GFLOP/s count the convolutions alone, in the fastest spans; the peak is what their instruction reaches without \
             memory."
        );
        Ok(())
    }

    fn kind(&self, kind: Inference, requests: &[EvalRequest]) -> anyhow::Result<()> {
        let choice = kind.choose(self.device)?;
        let begun = Instant::now();
        let mut evaluator =
            load_evaluator(self.net, "the bench's net", self.variant, self.device, kind)?;
        let load = begun.elapsed();
        let time = self.time / (BATCHES.len() as u32 + 1);
        let speeds = BATCHES.map(|batch| throughput(evaluator.as_mut(), requests, batch, time));
        let columns = speeds.map(|speed| format!("{:9.0}", speed.positions_per_second));
        let threaded = match choice.on_cpu() {
            true => format!("{:11.0}", self.threaded(kind, requests, time)?),
            false => format!("{:>11}", "-"),
        };
        println!(
            "  {:22} {} {threaded} {} {:3.0} ms",
            kind_name(&choice),
            columns.concat(),
            self.share_of_peak(&choice, &speeds)?,
            load.as_secs_f64() * 1e3
        );
        Ok(())
    }

    /// Positions per second of all threads together.
    fn threaded(
        &self,
        kind: Inference,
        requests: &[EvalRequest],
        time: Duration,
    ) -> anyhow::Result<f64> {
        let load = || load_evaluator(self.net, "the bench's net", self.variant, self.device, kind);
        let evaluators = (0..threads())
            .map(|_| load())
            .collect::<Result<Vec<_>, _>>()?;
        let measure = |mut evaluator: Box<dyn model::Evaluator>| {
            throughput(evaluator.as_mut(), requests, THREADED_BATCH, time).positions_per_second
        };
        Ok(std::thread::scope(|scope| {
            let start = |evaluator| scope.spawn(move || measure(evaluator));
            let running: Vec<_> = evaluators.into_iter().map(start).collect();
            let speed = |thread: std::thread::ScopedJoinHandle<f64>| {
                thread.join().expect("a measurement does not panic")
            };
            running.into_iter().map(speed).sum()
        }))
    }

    /// GFLOP/s of the fastest batch, and their share of the peak.
    fn share_of_peak(
        &self,
        choice: &InferenceChoice,
        speeds: &[Throughput],
    ) -> anyhow::Result<String> {
        let Some((level, precision)) = choice.kernels() else {
            return Ok(format!("{:>9} {:>8}", "-", "-"));
        };
        let (weights, meta) = load_weights(self.net, "the bench's net", self.variant)?;
        let compiled =
            CompiledEvaluator::with_precision(&weights, &meta.net, self.variant, level, precision)?;
        let best = speeds
            .iter()
            .map(|speed| speed.best_positions_per_second)
            .fold(0.0, f64::max);
        let rate = best * compiled.multiplications() as f64;
        let share = match peak_multiplications(level, precision) {
            Some(peak) => format!("{:7.0}%", 100.0 * rate / peak),
            None => format!("{:>8}", "-"),
        };
        Ok(format!("{:9.0} {share}", 2.0 * rate / 1e9))
    }
}

/// The kind without the reason for its choice.
fn kind_name(choice: &InferenceChoice) -> String {
    let text = choice.to_string();
    text.split(" (").next().unwrap_or_default().to_owned()
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
