//! Rates of inference and training alone, for programs that compare them with those of other programs.

use clap::ValueEnum;
use model::{
    DeviceChoice, Inference, Net, NetConfig, NetMeta, NetShape, TrainingPrecision, TrainingWay,
    load_evaluator, sample_requests, save_net, throughput, training_throughput,
};
use rules::Variant;
use serde::Serialize;
use std::time::Duration;

/// What to measure alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Evaluation of positions, the same in each thread.
    Inference,
    /// Training steps without the optimizer.
    Training,
}

/// Measuring one thing alone, for comparisons with other programs.
#[derive(Clone, Debug, clap::Args)]
pub struct RatesArgs {
    /// Measure this alone, on the CPU, and print JSON: the shape of the net and positions or samples a second of each way.
    #[arg(long, value_enum)]
    only: Option<Task>,
    /// With --only: a net of this size, tiny, small, medium or large.
    #[arg(long, default_value = "small", requires = "only")]
    size: String,
    /// With --only: threads.
    #[arg(long, default_value_t = 1, requires = "only", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// With --only: batch sizes.
    #[arg(long, value_delimiter = ',', default_values_t = [64, 256], requires = "only",
          value_parser = clap::value_parser!(u16).range(1..=4096))]
    batches: Vec<u16>,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Rates {
    task: Task,
    shape: Shape,
    results: Vec<Rate>,
}

/// The net's measures.
#[derive(Debug, Serialize)]
struct Shape {
    planes: usize,
    kinds: usize,
    files: usize,
    ranks: usize,
    channels: usize,
    blocks: usize,
}

#[derive(Debug, Serialize)]
struct Rate {
    way: String,
    batch: usize,
    /// Positions or samples a second, all threads together.
    rate: f64,
}

/// Whether one thing alone is to be measured.
pub fn wanted(args: &RatesArgs) -> bool {
    args.only.is_some()
}

/// Measures and prints what `args` ask for; each measurement takes about `time`.
///
/// # Errors
/// If there is no net of the size.
pub fn run(args: &RatesArgs, variant: &Variant, time: Duration) -> anyhow::Result<()> {
    let Some(task) = args.only else { return Ok(()) };
    let config = NetConfig::preset(&args.size)?;
    let shape = NetShape::new(variant);
    let net = Net::new(config, shape, 1, &DeviceChoice::Cpu.device()?.autodiff())?;
    let results = match task {
        Task::Inference => inference(args, variant, &net, time)?,
        Task::Training => training(args, variant, &net, time)?,
    };
    let rates = Rates {
        task,
        shape: Shape {
            planes: shape.planes,
            kinds: shape.kinds,
            files: shape.files,
            ranks: shape.ranks,
            channels: config.channels,
            blocks: config.blocks,
        },
        results,
    };
    println!("{}", serde_json::to_string_pretty(&rates)?);
    Ok(())
}

fn inference(
    args: &RatesArgs,
    variant: &Variant,
    net: &Net,
    time: Duration,
) -> anyhow::Result<Vec<Rate>> {
    let net = net.snapshot();
    let bytes = save_net(&net, &NetMeta::new(variant, *net.config(), "bench", 0))?;
    let kinds = [
        Inference::Int8,
        Inference::Bf16,
        Inference::F32,
        Inference::Burn,
    ];
    let mut rates = Vec::new();
    for kind in kinds
        .into_iter()
        .filter(|kind| kind.choose(DeviceChoice::Cpu).is_ok())
    {
        for &batch in &args.batches {
            let batch = usize::from(batch);
            let requests = sample_requests(variant, 2 * batch.max(64), 1);
            let load =
                |_| load_evaluator(&bytes, "the bench's net", variant, DeviceChoice::Cpu, kind);
            let evaluators = (0..args.threads).map(load).collect::<Result<Vec<_>, _>>()?;
            let rate = std::thread::scope(|scope| {
                let start = |mut evaluator: Box<dyn model::Evaluator>| {
                    let requests = &requests;
                    scope.spawn(move || throughput(evaluator.as_mut(), requests, batch, time))
                };
                let running: Vec<_> = evaluators.into_iter().map(start).collect();
                let speed = |thread: std::thread::ScopedJoinHandle<model::Throughput>| {
                    thread
                        .join()
                        .expect("a measurement does not panic")
                        .positions_per_second
                };
                running.into_iter().map(speed).sum()
            });
            rates.push(Rate {
                way: kind.to_string(),
                batch,
                rate,
            });
        }
    }
    Ok(rates)
}

fn training(
    args: &RatesArgs,
    variant: &Variant,
    net: &Net,
    time: Duration,
) -> anyhow::Result<Vec<Rate>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(args.threads))
        .build()?;
    let mut rates = Vec::new();
    for way in TrainingWay::available() {
        for &batch in &args.batches {
            let batch = usize::from(batch);
            let measure = || training_throughput(net, variant, batch, &[way], time);
            let way = match way {
                TrainingWay::Own(TrainingPrecision::F32) => "f32",
                TrainingWay::Own(TrainingPrecision::Bf16) => "bf16",
                TrainingWay::Burn => "burn",
            };
            rates.extend(pool.install(measure).into_iter().map(|rate| Rate {
                way: way.to_owned(),
                batch,
                rate,
            }));
        }
    }
    Ok(rates)
}
