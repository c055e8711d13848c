//! Which engine plays, and how it is to be told about it.

use super::cecp::Cecp;
use super::client::{Client, Patience};
use super::process::split_command;
use super::uci::Uci;
use anyhow::{Context, ensure};
use rules::Variant;
use std::sync::Arc;

/// The language of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The Universal Chess Interface.
    Uci,
    /// XBoard's Chess Engine Communication Protocol.
    Cecp,
}

/// An engine to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSpec {
    /// Its language.
    pub protocol: Protocol,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Options by name, sent in this order before the variant is chosen.
    pub options: Vec<(String, String)>,
    /// The name by which the engine knows the variant; the variant's own if `None`.
    pub variant: Option<String>,
}

impl EngineSpec {
    /// Reads `uci:COMMAND` or `cecp:COMMAND`; `None` for anything else.
    ///
    /// # Errors
    /// If the command is not one.
    pub fn parse(text: &str) -> anyhow::Result<Option<EngineSpec>> {
        let (protocol, command) = match text.split_once(':') {
            Some(("uci", command)) => (Protocol::Uci, command),
            Some(("cecp" | "xboard", command)) => (Protocol::Cecp, command),
            Some(_) | None => return Ok(None),
        };
        Ok(Some(EngineSpec {
            protocol,
            command: split_command(command)?,
            options: Vec::new(),
            variant: None,
        }))
    }

    /// Adds options given as `NAME=VALUE`.
    ///
    /// # Errors
    /// If one has no `=`, or a line break.
    pub fn with_options(mut self, options: &[String]) -> anyhow::Result<EngineSpec> {
        for option in options {
            let (name, value) = option.split_once('=').with_context(|| {
                format!("`{option}` is no engine option; write NAME=VALUE, such as Hash=64")
            })?;
            ensure!(
                !option.contains(['\n', '\r']),
                "the engine option {option:?} has a line break"
            );
            self.options.push((name.to_owned(), value.to_owned()));
        }
        Ok(self)
    }

    /// The name by which the engine knows the variant.
    pub fn variant_name<'a>(&'a self, variant: &'a Variant) -> &'a str {
        self.variant.as_deref().unwrap_or(variant.name())
    }

    /// The engine's name if it tells none: its program's file name.
    pub fn fallback_name(&self) -> String {
        let program = self.command.first().map_or("engine", String::as_str);
        let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
        file.to_owned()
    }

    /// Starts the engine.
    ///
    /// # Errors
    /// If it cannot be started, does not answer, or does not play the variant.
    pub fn start(
        &self,
        variant: &Arc<Variant>,
        patience: Patience,
    ) -> anyhow::Result<Box<dyn Client>> {
        let name = self.command.join(" ");
        let context = || format!("the engine `{name}` does not get started");
        Ok(match self.protocol {
            Protocol::Uci => Box::new(Uci::start(self, variant, patience).with_context(context)?),
            Protocol::Cecp => Box::new(Cecp::start(self, variant, patience).with_context(context)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_told_from_nets_by_their_protocol() {
        let engine = EngineSpec::parse("cecp:fairymax 100 'my file.ini'").expect("a command");
        let engine = engine.expect("an engine");
        assert_eq!(engine.protocol, Protocol::Cecp);
        assert_eq!(engine.command, ["fairymax", "100", "my file.ini"]);
        assert_eq!(engine.fallback_name(), "fairymax");
        for net in [
            "greedy",
            "runs/x",
            "s3://bucket/x",
            "C:\\nets\\x.safetensors",
        ] {
            assert_eq!(EngineSpec::parse(net).expect("no engine"), None, "{net}");
        }
        assert!(EngineSpec::parse("uci:").is_err());
    }

    #[test]
    fn options_are_name_and_value() {
        let engine = EngineSpec::parse("uci:x")
            .expect("a command")
            .expect("an engine");
        let options = ["Skill Level=-20".to_owned(), "A==".to_owned()];
        let engine = engine.clone().with_options(&options).expect("options");
        assert_eq!(
            engine.options[0],
            ("Skill Level".to_owned(), "-20".to_owned())
        );
        assert_eq!(engine.options[1], ("A".to_owned(), "=".to_owned()));
        assert!(engine.clone().with_options(&["Hash".to_owned()]).is_err());
        assert!(engine.with_options(&["A=1\nquit".to_owned()]).is_err());
    }
}
