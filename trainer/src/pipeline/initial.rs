//! A run that does not begin with random weights: it goes on from a net that there is.

use super::state::Pipeline;
use crate::arena::spec::{ContestantSpec, NetBytes};
use crate::config::RunConfig;
use anyhow::{Context, bail, ensure};
use model::{NetConfig, RelatedNet, load_related};
use rules::Variant;

/// What a recipe's reader is told of a net that cannot be used.
const PROBLEM: &str = "the recipe's field run.initial_net (--from) names no usable net";

/// The weights that a run begins with.
pub struct InitialNet(RelatedNet);

impl InitialNet {
    /// Reads the net that the recipe names, if it names one.
    ///
    /// # Errors
    /// If it cannot be read, or is of another encoding or size than the recipe's.
    pub fn load(config: &RunConfig, variant: &Variant) -> anyhow::Result<Option<InitialNet>> {
        let name = &config.run.initial_net;
        if name.is_empty() {
            return Ok(None);
        }
        let net = read(name, variant).context(PROBLEM)?;
        ensure!(
            net.meta.net == config.net,
            "{PROBLEM}: '{name}' has another size than the recipe's section [net]; with it the section is\n{}",
            section(&net.meta.net)
        );
        Ok(Some(InitialNet(net)))
    }

    /// The size of the net of this name, which the section `net` of its run's recipe must have.
    ///
    /// # Errors
    /// If it cannot be read, or does not fit its own game.
    pub fn size(name: &str, variant: &Variant) -> anyhow::Result<NetConfig> {
        Ok(read(name, variant)?.meta.net)
    }
}

fn read(name: &str, variant: &Variant) -> anyhow::Result<RelatedNet> {
    match ContestantSpec::parse(name)? {
        ContestantSpec::Net(NetBytes {
            origin,
            bytes,
            inference: None,
            ..
        }) => Ok(load_related(&bytes, &origin, variant)?),
        _ => bail!(
            "'{name}' is not a net's file nor the folder or URL of a run, nor shipped:VARIANT"
        ),
    }
}

/// The section of a recipe that makes nets of this size.
fn section(net: &NetConfig) -> String {
    let fields = toml::to_string(net).expect("a net's size is plain numbers");
    format!("[net]\n{}", fields.trim_end())
}

impl Pipeline<'_> {
    /// Takes over the recipe's initial net and publishes it, unless the run has learnt something already.
    pub(super) fn take_initial_net(&mut self) -> anyhow::Result<()> {
        if self.learner.counters.steps > 0 {
            return Ok(());
        }
        let variant = &self.run.variant;
        if let Some(InitialNet(net)) = InitialNet::load(&self.run.config, variant)? {
            if net.meta.variant != variant.name() {
                let unknown: String = net.unknown_men.iter().collect();
                tracing::info!(
                    of = net.meta.variant,
                    unknown_men = unknown,
                    "the initial net is of another game: what both have keeps its weights, unknown men begin as the mean of the others"
                );
            }
            self.learner
                .begin_from(&net.weights, net.meta.step.max(1))?;
            self.publish()?;
        }
        Ok(())
    }
}
