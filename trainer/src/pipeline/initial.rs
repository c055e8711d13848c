//! A run that does not begin with random weights: it goes on from a net that there is.

use super::state::Pipeline;
use crate::arena::spec::{ContestantSpec, NetBytes};
use crate::config::RunConfig;
use anyhow::{Context, bail, ensure};
use model::{NetConfig, Weights, load_related_weights};
use rules::Variant;

/// The weights that a run begins with.
pub struct InitialNet {
    weights: Weights,
    /// Training steps behind them, at least 1.
    step: u64,
}

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
        let problem = "the recipe's field run.initial_net (--from) names no usable net";
        let net = match ContestantSpec::parse(name).context(problem)? {
            ContestantSpec::Net(NetBytes {
                origin,
                bytes,
                inference: None,
                ..
            }) => load_related_weights(&bytes, &origin, variant).context(problem)?,
            _ => bail!("{problem}: '{name}' is not a net's file nor the folder or URL of a run"),
        };
        let (weights, meta) = net;
        ensure!(
            meta.net == config.net,
            "{problem}: '{name}' has another size than the recipe's section [net]; with it the section is\n{}",
            section(&meta.net)
        );
        let step = meta.step.max(1);
        Ok(Some(InitialNet { weights, step }))
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
        if let Some(net) = InitialNet::load(&self.run.config, &self.run.variant)? {
            self.learner.begin_from(&net.weights, net.step)?;
            self.publish()?;
        }
        Ok(())
    }
}
