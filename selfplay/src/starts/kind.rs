//! Where a game's first position came from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kind of a game's start, recorded with the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartKind {
    /// The variant's array, after some random or sampled plies.
    Opening,
    /// The array without some of the men, after some random plies.
    MaterialOdds,
    /// Kings and a few men anywhere on the board.
    FewMen,
    /// A late position of an earlier game.
    Archive,
    /// A position of an endgame tablebase.
    Tablebase,
}

impl StartKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Opening,
        Self::MaterialOdds,
        Self::FewMen,
        Self::Archive,
        Self::Tablebase,
    ];

    /// The name used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::MaterialOdds => "material_odds",
            Self::FewMen => "few_men",
            Self::Archive => "archive",
            Self::Tablebase => "tablebase",
        }
    }
}

impl fmt::Display for StartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no kind of start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kind of start: use opening, material_odds, few_men, archive or tablebase")]
pub struct UnknownStartKind(pub String);

impl FromStr for StartKind {
    type Err = UnknownStartKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kind = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        kind.ok_or_else(|| UnknownStartKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for kind in StartKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).ok(), Some(kind.as_str().into()));
        }
        assert!("oppening".parse::<StartKind>().is_err());
    }
}
