//! A net's weights made to fit another game, for training to begin with.
//!
//! All layers are convolutions or work on what is pooled over the board, so a net knows nothing of the board's size. What
//! depends on the game are the planes that it reads and the kinds and rows of its policy, all of which have names: those
//! that both games know keep their weights. Men go by letter and moves, first moves left aside, so that a knight with a
//! first leap is a knight; kings and pawns go by letter alone. What belongs to a man and is new begins as the mean of the
//! same for men of his sort (kings, pawns, all others), so that he is worth something from the start without being taken for
//! any one of them; what else is new begins with zeros, which is as if it were not there.

use rules::Variant;
use rules::betza::Motion;

use crate::{Encoding, ModelError, NamedTensor, Weights};

/// The weights of a net of `from`, rearranged for `to`. What both games have keeps its meaning whatever its place.
///
/// # Errors
/// [`ModelError::Weights`] if the weights are not of a net of `from`.
pub fn carry_over(weights: &Weights, from: &Variant, to: &Variant) -> Result<Weights, ModelError> {
    let planes = Parts::new(from, to, |variant| {
        Encoding::new(variant).plane_names().to_vec()
    });
    let kinds = Parts::new(from, to, kind_names);
    let hands = Parts::new(from, to, hand_names);
    let mut carried = Weights::default();
    for (name, tensor) in weights.iter() {
        let tensor = match name {
            "stem.conv.weight" => planes.rearrange(name, tensor, 1, 1)?,
            "policy.kind.weight" | "policy.kind.bias" => kinds.rearrange(name, tensor, 0, 1)?,
            // Added below, if the new game has hands.
            "policy.hand.weight" | "policy.hand.bias" => continue,
            _ => tensor.clone(),
        };
        carried.insert(name, tensor);
    }
    if !hands.origins.is_empty() {
        let query = weights.get("policy.query.weight");
        let [dim, channels] = match query.map(|query| &query.shape[..]) {
            Some(&[dim, channels, _, _]) => [dim, channels],
            _ => return Err(misshapen("policy.query.weight")),
        };
        for (name, empty, axis) in [
            ("policy.hand.weight", vec![2 * channels, 0], 1),
            ("policy.hand.bias", vec![0], 0),
        ] {
            // A net of a game without hands has no such layer; of one with hands, no empty one will do.
            let known = weights.get(name).cloned().unwrap_or(NamedTensor {
                shape: empty,
                data: Vec::new(),
            });
            carried.insert(name, hands.rearrange(name, &known, axis, dim)?);
        }
    }
    Ok(carried)
}

/// Letters of the men of `to` that a net of `from` has never seen.
pub fn unknown_men(from: &Variant, to: &Variant) -> Vec<char> {
    let letters = to.roles().iter().map(|role| role.letter);
    letters
        .filter(|&letter| Character::of(from, letter) != Character::of(to, letter))
        .collect()
}

/// One thing of each named part of a layer, in two games.
struct Parts {
    /// Number of them in the old game.
    from: usize,
    /// For each part in the new game the places in the old one whose mean it becomes; none for zeros.
    origins: Vec<Vec<usize>>,
}

impl Parts {
    fn new(from: &Variant, to: &Variant, names: impl Fn(&Variant) -> Vec<String>) -> Parts {
        let (old, new) = (names(from), names(to));
        let old_men: Vec<Option<Man>> = old.iter().map(|name| Man::of(from, name)).collect();
        let origins = new.iter().map(|name| {
            let wanted = Man::of(to, name);
            let same = |&place: &usize| old[place] == *name && old_men[place] == wanted;
            if let Some(place) = (0..old.len()).find(same) {
                return vec![place];
            }
            let like = |&place: &usize| match (&wanted, &old_men[place]) {
                (Some(wanted), Some(man)) => man.stands_in_for(wanted),
                _ => false,
            };
            (0..old.len()).filter(like).collect()
        });
        Parts {
            origins: origins.collect(),
            from: old.len(),
        }
    }

    /// The tensor with the parts along an axis, each `width` wide, put where the new game has them.
    fn rearrange(
        &self,
        name: &str,
        tensor: &NamedTensor,
        axis: usize,
        width: usize,
    ) -> Result<NamedTensor, ModelError> {
        if tensor.shape.get(axis) != Some(&(self.from * width)) {
            return Err(misshapen(name));
        }
        let inner = width * tensor.shape[axis + 1..].iter().product::<usize>();
        let mut data = Vec::new();
        let outer: usize = tensor.shape[..axis].iter().product();
        // Not in chunks of a row: a game without hands has rows of no length.
        let wide = self.from * inner;
        for row in 0..outer {
            let row = &tensor.data[row * wide..][..wide];
            for places in &self.origins {
                let share = 1.0 / places.len().max(1) as f32;
                let sum = |i: usize| {
                    places
                        .iter()
                        .map(|place| row[place * inner + i])
                        .sum::<f32>()
                };
                data.extend((0..inner).map(|i| share * sum(i)));
            }
        }
        let mut shape = tensor.shape.clone();
        shape[axis] = self.origins.len() * width;
        Ok(NamedTensor { shape, data })
    }
}

/// What a part that belongs to a man is about: the text before his letter, and what sort of man he is.
#[derive(PartialEq)]
struct Man<'a> {
    about: &'a str,
    character: Character,
}

/// What sort of man a letter stands for.
#[derive(PartialEq)]
enum Character {
    Royal,
    Pawn,
    /// A piece, with the moves that it always has.
    Piece(Vec<Motion>),
}

impl Man<'_> {
    fn of<'a>(variant: &Variant, name: &'a str) -> Option<Man<'a>> {
        let (about, letter) = name.rsplit_once(' ')?;
        let mut letters = letter.chars();
        let (letter, None) = (letters.next()?, letters.next()) else {
            return None;
        };
        let character = Character::of(variant, letter)?;
        Some(Man { about, character })
    }

    /// Whether this is the same part of a man who may stand for the other: a king, a pawn, or any other man.
    fn stands_in_for(&self, other: &Man) -> bool {
        let sort = |man: &Man| std::mem::discriminant(&man.character);
        self.about == other.about && sort(self) == sort(other)
    }
}

impl Character {
    fn of(variant: &Variant, letter: char) -> Option<Character> {
        let role = variant.role_by_letter(letter)?;
        let role = &variant.roles()[role.index()];
        Some(match (role.is_royal, role.is_pawn) {
            (true, _) => Character::Royal,
            (_, true) => Character::Pawn,
            _ => {
                let mut motions = rules::betza::parse(&role.betza).ok()?;
                motions.retain(|motion| !motion.initial);
                motions.sort();
                Character::Piece(motions)
            }
        })
    }
}

/// The policy's kinds of moves, in their order.
fn kind_names(variant: &Variant) -> Vec<String> {
    let promotions = variant.promotion_roles().iter();
    let promotions = promotions.map(|role| {
        let letter = variant.roles()[role.index()].letter;
        format!("promotion {letter}")
    });
    let castling = variant.can_castle().then(|| "castling".to_owned());
    std::iter::once("plain".to_owned())
        .chain(promotions)
        .chain(castling)
        .collect()
}

/// The policy's rows of men in hand, in their order.
fn hand_names(variant: &Variant) -> Vec<String> {
    let hands = variant.hand_roles().iter();
    hands
        .map(|role| format!("hand {}", variant.roles()[role.index()].letter))
        .collect()
}

fn misshapen(name: &str) -> ModelError {
    ModelError::Weights {
        origin: "the net".into(),
        reason: format!("tensor {name} is not of its variant's shape"),
    }
}
