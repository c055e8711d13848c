//! The engine's options, under the same names in both protocols.

use super::event::excerpt;
use selfplay::search::PuctConfig;
use std::time::Duration;

/// What can be set, with its present value.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `Hash`: memory for the search tree and the evaluations remembered, in MiB.
    pub hash_mib: usize,
    /// `Threads`: threads that evaluate positions on a CPU.
    pub threads: usize,
    /// `MinibatchSize`: leaves evaluated at once; 0 lets the engine choose.
    pub batch: usize,
    /// `CPuct`, `FpuReduction`, `PolicyTemperature`: how the search chooses where to look.
    pub puct: PuctConfig,
    /// `MultiPV`: lines shown.
    pub multipv: usize,
    /// `Ponder`: whether the client may ask for thinking on the opponent's time.
    pub ponder: bool,
    /// `UCI_ShowWDL`: whether the chances of win, draw and loss are shown.
    pub show_wdl: bool,
    /// `Move Overhead`: time that gets lost between engine and client, each move.
    pub overhead: Duration,
    /// `Resign`: whether a lost game is resigned (CECP).
    pub resign: bool,
    /// `VariantPath`: TOML files of further variants, separated by `;`.
    pub variant_path: String,
    /// `EvalFile`: nets, separated by `;`.
    pub eval_file: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            hash_mib: 512,
            threads: 1,
            batch: 0,
            puct: PuctConfig {
                c_puct: C_PUCT_DEFAULT,
                policy_temperature: TEMPERATURE_DEFAULT,
                ..PuctConfig::default()
            },
            multipv: 1,
            ponder: false,
            show_wdl: false,
            overhead: Duration::from_millis(10),
            resign: false,
            variant_path: String::new(),
            eval_file: String::new(),
        }
    }
}

/// An option as a client is told of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OptionSpec {
    pub name: &'static str,
    pub kind: OptionKind,
}

/// Type and default of an option.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OptionKind {
    Check(bool),
    Spin {
        value: usize,
        least: usize,
        most: usize,
    },
    Text(String),
    /// Text that names a file.
    File(String),
    /// Something to be done.
    Button,
}

/// What an option's new value means for the rest of the engine.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// Nothing more to do.
    Noted,
    /// The memory of the search has changed.
    Memory,
    /// The evaluator must be made anew.
    Evaluator,
    /// Everything remembered is to be forgotten.
    Forget,
    /// Another variant is to be played.
    Variant(String),
    /// Variants are to be read.
    VariantPath,
    /// Nets are to be read.
    EvalFile,
}

const HASH: &str = "Hash";
const CLEAR_HASH: &str = "Clear Hash";
const THREADS: &str = "Threads";
const BATCH: &str = "MinibatchSize";
const C_PUCT: &str = "CPuct";
const FPU_REDUCTION: &str = "FpuReduction";
const POLICY_TEMPERATURE: &str = "PolicyTemperature";
const MULTI_PV: &str = "MultiPV";
const PONDER: &str = "Ponder";
const SHOW_WDL: &str = "UCI_ShowWDL";
const OVERHEAD: &str = "Move Overhead";
const RESIGN: &str = "Resign";
const VARIANT_PATH: &str = "VariantPath";
const EVAL_FILE: &str = "EvalFile";
/// The only option that is no setting: its values depend on the variants there are.
pub(super) const VARIANT: &str = "UCI_Variant";

/// Nets that were trained by few simulations a move are too sure of their choice of moves for the thousands that an engine
/// makes: docs/learning.md has the matches that these two were chosen by.
const C_PUCT_DEFAULT: f32 = 1.0;
const TEMPERATURE_DEFAULT: f32 = 2.5;

/// Least and most of the options that are numbers.
const HASH_RANGE: (usize, usize) = (16, 1 << 20);
const THREADS_RANGE: (usize, usize) = (1, 256);
const BATCH_RANGE: (usize, usize) = (0, 4096);
const C_PUCT_RANGE: (f32, f32) = (0.01, 100.0);
const FPU_RANGE: (f32, f32) = (0.0, 2.0);
const TEMPERATURE_RANGE: (f32, f32) = (0.1, 10.0);
const MULTI_PV_RANGE: (usize, usize) = (1, 256);
const OVERHEAD_RANGE: (usize, usize) = (0, 10_000);

impl Settings {
    /// All options but [`VARIANT`], with their present values as defaults.
    pub(super) fn specs(&self) -> Vec<OptionSpec> {
        let spin = |value, (least, most)| OptionKind::Spin { value, least, most };
        let overhead = self.overhead.as_millis() as usize;
        [
            (HASH, spin(self.hash_mib, HASH_RANGE)),
            (CLEAR_HASH, OptionKind::Button),
            (THREADS, spin(self.threads, THREADS_RANGE)),
            (BATCH, spin(self.batch, BATCH_RANGE)),
            (C_PUCT, OptionKind::Text(self.puct.c_puct.to_string())),
            (
                FPU_REDUCTION,
                OptionKind::Text(self.puct.fpu_reduction.to_string()),
            ),
            (
                POLICY_TEMPERATURE,
                OptionKind::Text(self.puct.policy_temperature.to_string()),
            ),
            (MULTI_PV, spin(self.multipv, MULTI_PV_RANGE)),
            (PONDER, OptionKind::Check(self.ponder)),
            (SHOW_WDL, OptionKind::Check(self.show_wdl)),
            (OVERHEAD, spin(overhead, OVERHEAD_RANGE)),
            (RESIGN, OptionKind::Check(self.resign)),
            (VARIANT_PATH, OptionKind::File(self.variant_path.clone())),
            (EVAL_FILE, OptionKind::Text(self.eval_file.clone())),
        ]
        .map(|(name, kind)| OptionSpec { name, kind })
        .into()
    }

    /// Sets an option that is a number.
    ///
    /// # Errors
    /// What its values are.
    pub fn set_number(&mut self, name: &str, value: usize) -> anyhow::Result<()> {
        let set = self.set(name, &value.to_string());
        set.map(drop).map_err(anyhow::Error::msg)
    }

    /// Gives an option a value; names are compared as UCI wants it, without regard to case.
    ///
    /// # Errors
    /// That there is no such option, or what its values are.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<Change, String> {
        let name =
            canonical(name).ok_or_else(|| format!("there is no option `{}`", excerpt(name)))?;
        let text = match value {
            "<empty>" => "",
            value => value,
        };
        match name {
            HASH => self.hash_mib = number(name, value, HASH_RANGE)?,
            THREADS => self.threads = number(name, value, THREADS_RANGE)?,
            BATCH => self.batch = number(name, value, BATCH_RANGE)?,
            C_PUCT => self.puct.c_puct = real(name, value, C_PUCT_RANGE)?,
            FPU_REDUCTION => self.puct.fpu_reduction = real(name, value, FPU_RANGE)?,
            POLICY_TEMPERATURE => {
                self.puct.policy_temperature = real(name, value, TEMPERATURE_RANGE)?;
            }
            MULTI_PV => self.multipv = number(name, value, MULTI_PV_RANGE)?,
            OVERHEAD => {
                let millis = number(name, value, OVERHEAD_RANGE)?;
                self.overhead = Duration::from_millis(millis as u64);
            }
            PONDER => self.ponder = check(name, value)?,
            SHOW_WDL => self.show_wdl = check(name, value)?,
            RESIGN => self.resign = check(name, value)?,
            VARIANT_PATH => self.variant_path = text.to_owned(),
            EVAL_FILE => self.eval_file = text.to_owned(),
            _ => {}
        }
        Ok(match name {
            HASH => Change::Memory,
            THREADS => Change::Evaluator,
            // A tree that has grown under other settings would mix them.
            C_PUCT | FPU_REDUCTION | POLICY_TEMPERATURE | CLEAR_HASH => Change::Forget,
            VARIANT => Change::Variant(value.to_owned()),
            VARIANT_PATH => Change::VariantPath,
            EVAL_FILE => Change::EvalFile,
            _ => Change::Noted,
        })
    }
}

/// The option that is meant.
fn canonical(name: &str) -> Option<&'static str> {
    [
        HASH,
        CLEAR_HASH,
        THREADS,
        BATCH,
        C_PUCT,
        FPU_REDUCTION,
        POLICY_TEMPERATURE,
        MULTI_PV,
        PONDER,
        SHOW_WDL,
        OVERHEAD,
        RESIGN,
        VARIANT_PATH,
        EVAL_FILE,
        VARIANT,
    ]
    .into_iter()
    .find(|known| known.eq_ignore_ascii_case(name))
}

fn number(name: &str, value: &str, (least, most): (usize, usize)) -> Result<usize, String> {
    let number = value.parse().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| {
        format!(
            "option {name} is a whole number from {least} to {most}, not `{}`",
            excerpt(value)
        )
    })
}

fn real(name: &str, value: &str, (least, most): (f32, f32)) -> Result<f32, String> {
    let number = value.parse().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| {
        format!(
            "option {name} is a number from {least} to {most}, not `{}`",
            excerpt(value)
        )
    })
}

fn check(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(format!(
            "option {name} is true or false, not `{}`",
            excerpt(other)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_can_be_set_to_its_own_default() {
        let mut settings = Settings::default();
        for OptionSpec { name, kind } in settings.specs() {
            let value = match kind {
                OptionKind::Check(value) => value.to_string(),
                OptionKind::Spin { value, least, most } => {
                    assert!((least..=most).contains(&value), "{name}");
                    value.to_string()
                }
                OptionKind::Text(text) | OptionKind::File(text) => text,
                OptionKind::Button => String::new(),
            };
            settings
                .set(&name.to_lowercase(), &value)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn bad_names_and_values_are_named_and_change_nothing() {
        let mut settings = Settings::default();
        for (name, value, part) in [
            ("Hsah", "1", "no option `Hsah`"),
            ("Hash", "1", "from 16 to"),
            ("Threads", "-1", "not `-1`"),
            ("CPuct", "nan", "from 0.01 to 100"),
            ("PolicyTemperature", "0", "from 0.1 to 10"),
            ("MultiPV", "9999999999999999999999", "from 1 to 256"),
            ("Resign", "perhaps", "true or false"),
        ] {
            let error = settings.set(name, value).expect_err("a bad value");
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.set("evalfile", "<empty>"), Ok(Change::EvalFile));
        assert_eq!(settings.eval_file, "");
    }
}
