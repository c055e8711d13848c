//! Contestants by name: `greedy`, `random`, `uniform`, a net's file, or a run.

use super::contestant::Contestant;
use super::greedy::GreedyContestant;
use super::play::Team;
use super::random::RandomContestant;
use super::search::SearchContestant;
use crate::shipped;
use anyhow::{Context, bail, ensure};
use model::{DeviceChoice, Inference, UniformEvaluator, load_evaluator};
use rules::Variant;
use selfplay::layout::{CurrentNet, RunPaths};
use selfplay::search::SearchConfig;
use selfplay::storage::Storage;
use std::path::Path;

/// What a net that comes with the program is called by, before its variant.
const SHIPPED: &str = "shipped:";

/// A net file's bytes and where they come from.
#[derive(Debug, Clone)]
pub struct NetBytes {
    /// Short name for results.
    pub name: String,
    /// File or URL, for errors.
    pub origin: String,
    /// The safetensors file, whole.
    pub bytes: Vec<u8>,
    /// How the net is evaluated, if not as the others are.
    pub inference: Option<Inference>,
}

/// Who is to play.
#[derive(Debug, Clone)]
pub enum ContestantSpec {
    /// One ply of material greed: [`GreedyContestant`].
    Greedy,
    /// Any legal move: [`RandomContestant`].
    Random,
    /// Search without a net: every move as likely, every position even.
    Uniform,
    /// Search with a net.
    Net(NetBytes),
}

/// What searching contestants need besides their net.
#[derive(Debug, Clone, Copy)]
pub struct Equipment {
    /// Simulations a move.
    pub simulations: u32,
    /// Where nets are evaluated.
    pub device: DeviceChoice,
    /// How nets are evaluated that do not say otherwise.
    pub inference: Inference,
}

impl ContestantSpec {
    /// Reads a contestant from the command line: `greedy`, `random`, `uniform`, the path of a net's file, or the folder or
    /// URL of a run, which stands for its current net, or `shipped:VARIANT` for a net that comes with the program. A net may
    /// end in `@` and how it is evaluated: `net.safetensors@int8`.
    ///
    /// # Errors
    /// If it is none of these, or the net cannot be read.
    pub fn parse(text: &str) -> anyhow::Result<ContestantSpec> {
        if let Some((net, inference)) = text.rsplit_once('@')
            && let Ok(inference) = inference.parse::<Inference>()
        {
            let spec = ContestantSpec::parse(net)?;
            let ContestantSpec::Net(net) = spec else {
                bail!("'{text}': '{net}' has no net that could be evaluated with {inference}");
            };
            return Ok(ContestantSpec::Net(NetBytes {
                name: format!("{}@{inference}", net.name),
                inference: Some(inference),
                ..net
            }));
        }
        match text {
            "greedy" => return Ok(ContestantSpec::Greedy),
            "random" => return Ok(ContestantSpec::Random),
            "uniform" => return Ok(ContestantSpec::Uniform),
            _ => {}
        }
        if let Some(variant) = text.strip_prefix(SHIPPED) {
            let net = shipped::net(variant).with_context(|| {
                let known: Vec<&str> = shipped::variants().collect();
                format!(
                    "no net for '{variant}' comes with the program, only for {}",
                    known.join(", ")
                )
            })?;
            return Ok(ContestantSpec::Net(net));
        }
        let path = Path::new(text);
        if path.is_file() {
            let bytes =
                std::fs::read(path).with_context(|| format!("cannot read the net '{text}'"))?;
            let name = path.file_stem().map_or_else(
                || text.to_owned(),
                |stem| stem.to_string_lossy().into_owned(),
            );
            return Ok(ContestantSpec::Net(NetBytes {
                name,
                origin: text.to_owned(),
                bytes,
                inference: None,
            }));
        }
        if path.is_dir() || text.contains("://") {
            let storage = Storage::open(text)?;
            let current = CurrentNet::read(&storage)?.with_context(|| {
                format!("'{text}' has no published net; is it the folder of a run?")
            })?;
            return ContestantSpec::published(&storage, &current.id);
        }
        ensure!(
            !path.exists(),
            "'{text}' is neither a file nor a folder; give the path of a net's file, or the folder or URL of a run"
        );
        bail!(
            "there is no file or folder '{text}'; give the path of a net's file, the folder or URL of a run, shipped:VARIANT, \
             or, where no net is needed, greedy, random or uniform"
        )
    }

    /// A net that a run has published.
    ///
    /// # Errors
    /// If there is no such net.
    pub fn published(storage: &Storage, id: &str) -> anyhow::Result<ContestantSpec> {
        let object = RunPaths::net(id);
        let bytes = storage.get(&object)?.to_vec();
        Ok(ContestantSpec::Net(NetBytes {
            name: id.to_owned(),
            origin: storage.object_url(&object),
            bytes,
            inference: None,
        }))
    }

    /// A player for one thread.
    ///
    /// # Errors
    /// If the net is broken, or of another variant or encoding, or the device is not there.
    pub fn build(
        &self,
        variant: &Variant,
        equipment: Equipment,
    ) -> anyhow::Result<Box<dyn Contestant>> {
        let search = SearchConfig {
            simulations: equipment.simulations,
            ..SearchConfig::default()
        };
        Ok(match self {
            ContestantSpec::Greedy => Box::new(GreedyContestant::new(variant)),
            ContestantSpec::Random => Box::new(RandomContestant),
            // Without a net all moves look alike, and only noise keeps the search from always considering the same ones.
            ContestantSpec::Uniform => Box::new(SearchContestant::new(
                "uniform",
                Box::new(UniformEvaluator),
                search,
            )),
            ContestantSpec::Net(NetBytes {
                name,
                origin,
                bytes,
                inference,
            }) => {
                let inference = inference.unwrap_or(equipment.inference);
                let evaluator =
                    load_evaluator(bytes, origin, variant, equipment.device, inference)?;
                let best = SearchConfig {
                    gumbel_scale: 0.0,
                    ..search
                };
                Box::new(SearchContestant::new(name, evaluator, best))
            }
        })
    }
}

impl Equipment {
    /// Teams of the same two contestants, one for each of `threads`, at least one.
    ///
    /// # Errors
    /// As [`ContestantSpec::build`].
    pub fn teams(
        self,
        variant: &Variant,
        [a, b]: [&ContestantSpec; 2],
        threads: usize,
    ) -> anyhow::Result<Vec<Team>> {
        let team = |_| {
            Ok(Team {
                a: a.build(variant, self)?,
                b: b.build(variant, self)?,
            })
        };
        (0..threads.max(1)).map(team).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_go_by_name_and_anything_else_is_explained() {
        assert!(matches!(
            ContestantSpec::parse("greedy"),
            Ok(ContestantSpec::Greedy)
        ));
        assert!(matches!(
            ContestantSpec::parse("uniform"),
            Ok(ContestantSpec::Uniform)
        ));
        let error = ContestantSpec::parse("no/such/net")
            .expect_err("nothing is there")
            .to_string();
        assert!(
            error.contains("no/such/net") && error.contains("greedy"),
            "{error}"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let error = ContestantSpec::parse(&folder.path().to_string_lossy())
            .expect_err("no run")
            .to_string();
        assert!(error.contains("no published net"), "{error}");
    }

    #[test]
    fn a_net_says_how_it_is_evaluated_and_others_cannot() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("odd@name.safetensors");
        std::fs::write(&path, b"a net").expect("written");
        let path = path.to_string_lossy();
        let parse = |text: &str| match ContestantSpec::parse(text) {
            Ok(ContestantSpec::Net(net)) => (net.name, net.inference),
            other => panic!("{other:?}"),
        };
        assert_eq!(parse(&path), ("odd@name".to_owned(), None));
        let with = parse(&format!("{path}@int8"));
        assert_eq!(with, ("odd@name@int8".to_owned(), Some(Inference::Int8)));
        let error = ContestantSpec::parse("greedy@int8").expect_err("no net");
        assert!(error.to_string().contains("no net"), "{error}");
    }

    #[test]
    fn shipped_nets_go_by_their_variant() {
        let spec = ContestantSpec::parse("shipped:chess@f32").expect("a net that is shipped");
        let ContestantSpec::Net(net) = spec else {
            panic!("{spec:?}");
        };
        assert_eq!(net.inference, Some(Inference::F32));
        assert_eq!(net.bytes, shipped::net("chess").expect("shipped").bytes);
        let error = ContestantSpec::parse("shipped:chesss").expect_err("no such net");
        assert!(error.to_string().contains("chess, "), "{error}");
    }

    #[test]
    fn a_broken_net_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("broken.safetensors");
        std::fs::write(&path, b"not a net").expect("written");
        let spec = ContestantSpec::parse(&path.to_string_lossy()).expect("a file");
        let variant = Variant::by_name("chess").expect("a shipped variant");
        let equipment = Equipment {
            simulations: 2,
            device: DeviceChoice::Cpu,
            inference: Inference::Auto,
        };
        let error = format!(
            "{:#}",
            spec.build(&variant, equipment).err().expect("not a net")
        );
        assert!(error.contains("broken.safetensors"), "{error}");
    }
}
