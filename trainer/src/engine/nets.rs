//! Which net plays which variant.

use super::team::Team;
use crate::arena::spec::{ContestantSpec, NetBytes};
use crate::shipped;
use model::{
    DeviceChoice, Evaluator, Inference, ModelError, UniformEvaluator, check_net, load_evaluator,
    read_meta,
};
use rules::Variant;
use std::sync::Arc;

/// Where and how nets are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Hardware {
    /// The device.
    pub device: DeviceChoice,
    /// The arithmetic, for nets whose name does not say it.
    pub inference: Inference,
    /// Threads that a CPU uses.
    pub threads: usize,
}

/// The nets that the user has given, for any variants.
#[derive(Clone, Debug, Default)]
pub struct NetShelf {
    nets: Vec<Choice>,
}

#[derive(Clone, Debug)]
enum Choice {
    /// No net at all, for any variant: every move as likely, every position even.
    Uniform,
    Net(NetBytes),
}

/// What judges positions of a variant.
pub(super) struct Judge {
    /// Who does.
    pub team: Team,
    /// What the client is told of the net.
    pub news: NetNews,
}

/// What a client is told of the net that plays from now on.
pub(super) struct NetNews {
    /// Its name.
    pub name: String,
    /// Why none of the nets that were given plays, if it is the shipped one instead.
    pub problem: Option<String>,
}

impl Judge {
    fn new(members: Vec<Box<dyn Evaluator>>, name: &str) -> Result<Judge, String> {
        Ok(Judge {
            team: Team::new(members)?,
            news: NetNews {
                name: name.to_owned(),
                problem: None,
            },
        })
    }
}

impl NetShelf {
    /// Reads nets: files of nets, folders or URLs of runs (their current nets), or `uniform`, which searches without a
    /// net.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn read<'a>(names: impl IntoIterator<Item = &'a str>) -> anyhow::Result<NetShelf> {
        let mut nets = Vec::new();
        for name in names {
            nets.push(match ContestantSpec::parse(name)? {
                ContestantSpec::Net(bytes) => Choice::Net(bytes),
                ContestantSpec::Uniform => Choice::Uniform,
                ContestantSpec::Greedy | ContestantSpec::Random => anyhow::bail!(
                    "'{name}' does not search; an engine needs a net's file, the folder of a run, or `uniform`"
                ),
            });
        }
        Ok(NetShelf { nets })
    }

    /// The variant that the first net plays, if there is a net and its rules can be read.
    pub fn variant(&self) -> Option<Arc<Variant>> {
        let net = self.nets.iter().find_map(|choice| match choice {
            Choice::Net(bytes) => Some(bytes),
            Choice::Uniform => None,
        })?;
        let meta = read_meta(&net.bytes, &net.origin).ok()?;
        let built_in = Variant::by_name(&meta.variant);
        built_in
            .or_else(|_| Variant::from_toml(&meta.variant_toml))
            .ok()
    }

    /// Reads the value of the option `EvalFile`: names as in [`read`](NetShelf::read), separated by `;`.
    ///
    /// # Errors
    /// If one cannot be read or is damaged.
    pub(super) fn read_list(list: &str) -> Result<NetShelf, String> {
        let names = list.split(';').map(str::trim);
        let names = names.filter(|name| !name.is_empty() && *name != "<empty>");
        let shelf = NetShelf::read(names).map_err(|error| format!("{error:#}"))?;
        for choice in &shelf.nets {
            if let Choice::Net(bytes) = choice {
                // Whether it fits a variant is told when one asks for it.
                check_net(&bytes.bytes, &bytes.origin).map_err(|error| error.to_string())?;
            }
        }
        Ok(shelf)
    }

    /// An evaluator for a variant: the first given net that is of it, or the shipped one.
    ///
    /// # Errors
    /// That there is none, or what is wrong with it.
    pub(super) fn evaluator(&self, variant: &Variant, hardware: Hardware) -> Result<Judge, String> {
        let mut others = Vec::new();
        for choice in &self.nets {
            let bytes = match choice {
                Choice::Uniform => return Judge::new(vec![Box::new(UniformEvaluator)], "none"),
                Choice::Net(bytes) => bytes,
            };
            match load(bytes, variant, hardware) {
                Ok(members) => return Judge::new(members, &bytes.name),
                Err(ModelError::Variant { found, .. }) => {
                    others.push(format!("{} is for `{found}`", bytes.origin));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        if let Some(bytes) = shipped::net(variant.name()) {
            let members = load(&bytes, variant, hardware).map_err(|error| error.to_string())?;
            let mut judge = Judge::new(members, &bytes.name)?;
            judge.news.problem = (!others.is_empty())
                .then(|| format!("{}; so the {} plays", others.join("; "), bytes.name));
            return Ok(judge);
        }
        let others = match others.is_empty() {
            true => String::new(),
            false => format!(" ({})", others.join("; ")),
        };
        Err(format!(
            "there is no net for variant `{}`{others}; set EvalFile to the file of one, or to `uniform` to search without",
            variant.name()
        ))
    }
}

/// One evaluator a thread; a GPU serves all by itself.
fn load(
    net: &NetBytes,
    variant: &Variant,
    hardware: Hardware,
) -> Result<Vec<Box<dyn Evaluator>>, ModelError> {
    let threads = match hardware.device.is_cpu() {
        true => hardware.threads.max(1),
        false => 1,
    };
    let inference = net.inference.unwrap_or(hardware.inference);
    let one = |_| load_evaluator(&net.bytes, &net.origin, variant, hardware.device, inference);
    (0..threads).map(one).collect()
}
