//! What others have published about the men of a variant: data in `data/claims/*.toml`, embedded in the program.

use super::phase::Slice;
use rules::Variant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the claims' file format.
const FORMAT: u32 = 1;

const FILES: [(&str, &str); 2] = [
    (
        "chess.toml",
        include_str!("../../../data/claims/chess.toml"),
    ),
    (
        "falcon-10x8.toml",
        include_str!("../../../data/claims/falcon-10x8.toml"),
    ),
];

/// The claims about a family of variants that share board and men.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Version of the file format.
    pub format: u32,
    /// What the claims are about, for people.
    pub title: String,
    /// Names of the variants that they apply to.
    pub variants: Vec<String>,
    /// Where the claims come from.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    /// Scales of values.
    pub values: Vec<ClaimedValues>,
    /// Everything else.
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
}

/// Where claims come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What claims refer to it by.
    pub id: String,
    /// A few characters for the head of a column.
    pub label: String,
    /// Author, title, date.
    pub citation: String,
}

/// Values of several men on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimedValues {
    /// Id of the [`Source`].
    pub source: String,
    /// How the values were found and what their unit is.
    pub note: String,
    /// By the man's name, in the source's own unit.
    pub men: BTreeMap<String, f64>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What reports call it.
    pub id: String,
    /// What it would take to judge the claim.
    pub kind: ClaimKind,
    /// Id of the [`Source`].
    pub source: String,
    /// The claim in one sentence.
    pub text: String,
    /// Claimed worth in pawns, where it is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Claimed score of a match, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Games that the score comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u32>,
    /// How the claim is judged here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// Why there is no test, and what would be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untested: Option<String>,
}

/// What must be found for a claim to be supported. Men go by their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Test {
    /// A man's worth in units of another lies between two values.
    Within {
        /// The man.
        man: String,
        /// The unit.
        unit: String,
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
    },
    /// A man is worth more than another, in all positions or in a part of them.
    Greater {
        /// The man.
        man: String,
        /// The other man.
        than: String,
        /// The part.
        #[serde(default)]
        part: Option<Slice>,
    },
    /// A man is worth less in one part of the positions than in another, in units of another man.
    Less {
        /// The man.
        man: String,
        /// The unit.
        unit: String,
        /// Where it is worth less.
        part: Slice,
        /// Where it is worth more.
        than: Slice,
    },
    /// A pair of bishops is worth so much beyond twice a bishop, in pawns.
    BishopPair {
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
    },
    /// A match with unequal armies scores as claimed rather than one half (a sequential test).
    Match {
        /// What the side lacks whose score is claimed.
        #[serde(default)]
        first_lacks: String,
        /// What the other side lacks.
        #[serde(default)]
        second_lacks: String,
        /// The claimed score, above one half.
        score: f64,
    },
    /// White, to move, wins at least (or at most) this share of the positions of a tablebase.
    Tablebase {
        /// The men, such as `KFvK`.
        material: String,
        /// Least share, 0 to 1.
        #[serde(default)]
        at_least: Option<f64>,
        /// Greatest share, 0 to 1.
        #[serde(default)]
        at_most: Option<f64>,
    },
    /// At most this share of the games from the array is drawn.
    Draws {
        /// Greatest share, 0 to 1.
        at_most: f64,
    },
    /// A pawn's move on each of these files is among the playable first moves.
    FirstMoves {
        /// Letters of files.
        files: String,
    },
}

/// What it would take to judge a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// A man's worth.
    Value,
    /// A man's worth by phase of the game or crowding.
    Phase,
    /// What can be forced with few men; tablebases decide.
    Endgame,
    /// The score of a match with unequal armies or engines.
    Match,
    /// A property of the games.
    Statistic,
}

impl Claims {
    /// The claims about a variant, if there are any.
    ///
    /// # Panics
    /// If an embedded file is not valid, which the tests rule out.
    pub fn about(variant: &Variant) -> Option<Claims> {
        let all = FILES.iter().map(|(name, text)| {
            Claims::parse(text).unwrap_or_else(|problem| {
                panic!("the embedded claims {name} are broken: {problem}")
            })
        });
        all.into_iter()
            .find(|claims| claims.variants.iter().any(|name| name == variant.name()))
    }

    /// The source with this id.
    pub fn source(&self, id: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.id == id)
    }

    fn parse(text: &str) -> Result<Claims, String> {
        let claims: Claims = toml::from_str(text).map_err(|error| error.to_string())?;
        if claims.format != FORMAT {
            return Err(format!("format {} is not {FORMAT}", claims.format));
        }
        let unsettled = |claim: &&Claim| claim.test.is_some() == claim.untested.is_some();
        if let Some(claim) = claims.claims.iter().find(unsettled) {
            return Err(format!(
                "claim '{}' has neither or both of test and untested",
                claim.id
            ));
        }
        let named = claims
            .values
            .iter()
            .map(|values| &values.source)
            .chain(claims.claims.iter().map(|claim| &claim.source));
        match named.into_iter().find(|id| claims.source(id).is_none()) {
            Some(id) => Err(format!("there is no source '{id}'")),
            None => Ok(claims),
        }
    }
}

impl ClaimedValues {
    /// The value of a man in units of another of the same scale.
    pub fn ratio(&self, man: &str, unit: &str) -> Option<f64> {
        Some(self.men.get(man)? / self.men.get(unit)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_claims_are_valid_and_about_men_that_exist() {
        for (name, text) in FILES {
            let claims = Claims::parse(text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            let ids: std::collections::BTreeSet<&str> = claims
                .claims
                .iter()
                .map(|claim| claim.id.as_str())
                .collect();
            assert_eq!(ids.len(), claims.claims.len(), "{name}: an id occurs twice");
            for variant in claims
                .variants
                .iter()
                .filter(|name| Variant::builtin_names().contains(&name.as_str()))
            {
                let variant = Variant::by_name(variant).expect("a shipped variant");
                for man in claims.values.iter().flat_map(|values| values.men.keys()) {
                    assert!(
                        variant.roles().iter().any(|role| role.name == *man),
                        "{name}: {} has no {man}",
                        variant.name()
                    );
                }
            }
        }
    }

    #[test]
    fn claims_are_found_by_variant_and_converted() {
        let falcon = Variant::by_name("falcon").expect("a shipped variant");
        let claims = Claims::about(&falcon).expect("there are claims about falcon");
        let duke = &claims.values[0];
        assert_eq!(
            claims
                .source(&duke.source)
                .map(|source| source.label.as_str()),
            Some("Duke 2000")
        );
        assert_eq!(duke.ratio("falcon", "knight"), Some(7.0 / 3.0));
        assert_eq!(duke.ratio("falcon", "bison"), None);
    }

    #[test]
    fn mistakes_are_named() {
        let text = FILES[0].1;
        let unknown = text.replacen("source = \"kaufman\"", "source = \"nobody\"", 1);
        assert_eq!(
            Claims::parse(&unknown),
            Err("there is no source 'nobody'".to_owned())
        );
        let silent = text.replacen("untested = ", "score = 0.5 # ", 1);
        let problem = Claims::parse(&silent).expect_err("no test and no reason");
        assert!(problem.contains("'no-castling-values'"), "{problem}");
        let newer = text.replacen("format = 1", "format = 9", 1);
        assert!(Claims::parse(&newer).is_err());
        assert!(Claims::parse(&text.replacen("note", "nota", 1)).is_err());
    }
}
