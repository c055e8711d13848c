//! Castling rules, and the rights that they and first-move powers need.

use super::compile::Source;
use super::file::{CastlingTable, RightTable};
use super::rights::{Leader, RightLetter, RightSource, Rights};
use crate::{Bitboard, ByColor, Color, Role, Square, VariantError};

/// A castling of two roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Castling {
    /// The man that moves towards the other, usually the king.
    pub leader: Role,
    /// The man that ends next to it, on the square the leader crossed last.
    pub partner: Role,
    /// The fewest steps of the leader.
    pub min_steps: u8,
    /// The most steps of the leader; it always stops short of the partner.
    pub max_steps: u8,
    /// Whether the move's text names the partner's square.
    pub name_partner: bool,
}

/// All castlings, and the rights that they need.
type CastlingRules = (Vec<Castling>, Rights);

/// Compiles the `[[castling]]` and `[[right]]` tables.
pub(super) fn compile(source: &Source) -> Result<CastlingRules, VariantError> {
    let mut castlings = Vec::new();
    for table in &source.file.castling {
        let span = table.span();
        castlings.push(rule(source, table.get_ref(), span)?);
    }
    let mut letters = Vec::new();
    for table in &source.file.right {
        let span = table.span();
        letters.push(letter(source, table.get_ref(), span, &letters)?);
    }
    if source.file.right.is_empty() {
        letters = default_letters(source, &castlings);
    }
    let leaders = leaders(source, &castlings, &letters);
    let entered = letters.iter().fold(0, |set, letter| match letter.source {
        RightSource::Entered { role } => set | 1 << role.index(),
        RightSource::Start { .. } => set,
    });
    if entered != 0 && leaders.white.iter().any(|leader| leader.implied) {
        let span = source.file.right[0].span();
        let message = "with a right for entered men, every castling leader needs a [[right]] too";
        return Err(source.error(span, "right", message));
    }
    let all = leaders.white.iter().chain(&leaders.black);
    let rights = Rights {
        leader_squares: all.map(|l| l.square).collect::<Bitboard>().0,
        letters,
        leaders,
        entered,
    };
    Ok((castlings, rights))
}

fn rule(
    source: &Source,
    table: &CastlingTable,
    span: std::ops::Range<usize>,
) -> Result<Castling, VariantError> {
    let role =
        |letter: &toml::Spanned<char>, field| source.role(*letter.get_ref(), letter.span(), field);
    let leader = role(&table.leader, "castling.leader")?;
    let partner = role(&table.partner, "castling.partner")?;
    let (min_steps, max_steps) = match (&table.steps, &table.min_steps) {
        (Some(steps), None) => (*steps.get_ref(), *steps.get_ref()),
        (None, Some(steps)) => (*steps.get_ref(), Square::SIDE),
        _ => {
            let message = "give either `steps` (fixed) or `min_steps` (free)";
            return Err(source.error(span, "castling", message));
        }
    };
    if min_steps == 0 || min_steps > 8 {
        let message = "the leader makes 1 to 8 steps";
        return Err(source.error(span, "castling", message));
    }
    if leader == partner {
        let message = "the leader needs a partner of another kind";
        return Err(source.error(table.partner.span(), "castling.partner", message));
    }
    for color in Color::ALL {
        if source.start_squares(color, leader).count() != 1 {
            let message = format!("{color:?} must start with exactly one leader");
            return Err(source.error(table.leader.span(), "castling.leader", message));
        }
    }
    if !source.start.hand.contains(*table.partner.get_ref())
        && !has_room(source, leader, partner, min_steps)
    {
        let message = format!(
            "no {} starts on the leader's rank with {min_steps} squares between them, so that it could never castle",
            table.partner.get_ref()
        );
        return Err(source.error(table.partner.span(), "castling.partner", message));
    }
    Ok(Castling {
        leader,
        partner,
        min_steps,
        max_steps,
        name_partner: table.name_partner,
    })
}

/// Whether White's leader could make so many steps towards a partner at the start; the array is the same for Black.
fn has_room(source: &Source, leader: Role, partner: Role, steps: u8) -> bool {
    let squares = |role| source.start_squares(Color::White, role).into_iter();
    squares(leader).any(|from| {
        squares(partner)
            .any(|to| to.rank() == from.rank() && to.file().abs_diff(from.file()) > steps)
    })
}

fn letter(
    source: &Source,
    table: &RightTable,
    span: std::ops::Range<usize>,
    known: &[RightLetter],
) -> Result<RightLetter, VariantError> {
    let letter = *table.letter.get_ref();
    if !letter.is_ascii_uppercase() || known.iter().any(|right| right.letter == letter) {
        let message = "give each right its own letter, A to Z";
        return Err(source.error(table.letter.span(), "right.letter", message));
    }
    let from = match (&table.square, &table.entered) {
        (Some(square), None) => start_right(source, square)?,
        (None, Some(entered)) => {
            let role = source.role(*entered.get_ref(), entered.span(), "right.entered")?;
            if !source.start.hand.contains(*entered.get_ref()) {
                let message = "this piece is never in hand, see `start`";
                return Err(source.error(entered.span(), "right.entered", message));
            }
            RightSource::Entered { role }
        }
        _ => {
            let message = "give either `square` or `entered`";
            return Err(source.error(span, "right", message));
        }
    };
    Ok(RightLetter {
        letter,
        source: from,
    })
}

/// The right of the man that starts on a square.
fn start_right(source: &Source, name: &toml::Spanned<String>) -> Result<RightSource, VariantError> {
    let error = |message: String| source.error(name.span(), "right.square", message);
    let first_rank = source.first_rank();
    let text = name.get_ref();
    let square = source
        .start
        .board
        .into_iter()
        .find(|square| {
            let file = (b'a' + square.file()) as char;
            *text == format!("{file}{}", square.rank() + first_rank)
        })
        .ok_or_else(|| error(format!("`{text}` is not a square of this board")))?;
    let squares = ByColor {
        white: square,
        black: mirrored(square, source.ranks()),
    };
    let role_at = |color: Color| {
        (0..source.letters.len())
            .filter_map(Role::from_index)
            .find(|&role| source.start_squares(color, role).contains(squares[color]))
    };
    match (role_at(Color::White), role_at(Color::Black)) {
        (Some(role), Some(black)) if role == black => Ok(RightSource::Start {
            role,
            square: squares,
        }),
        _ => Err(error(format!(
            "the start position must have a White man on {text} and the same man of Black on the mirrored square"
        ))),
    }
}

/// The square of the mirrored rank.
fn mirrored(square: Square, ranks: u8) -> Square {
    Bitboard::from(square)
        .mirror_ranks(ranks)
        .first()
        .unwrap_or(square)
}

/// `K` and `Q` for the outermost partners on either side of the first leader.
fn default_letters(source: &Source, castlings: &[Castling]) -> Vec<RightLetter> {
    let mut letters: Vec<RightLetter> = Vec::new();
    for rule in castlings {
        let Some(leader) = source.start_squares(Color::White, rule.leader).first() else {
            continue;
        };
        let partners =
            source.start_squares(Color::White, rule.partner) & Bitboard::rank(leader.rank());
        let highest = partners
            .into_iter()
            .filter(|square| *square > leader)
            .last();
        let lowest = partners.into_iter().find(|square| *square < leader);
        for (letter, square) in [('K', highest), ('Q', lowest)] {
            if let Some(square) = square
                && letters.iter().all(|known| known.letter != letter)
            {
                letters.push(RightLetter {
                    letter,
                    source: RightSource::Start {
                        role: rule.partner,
                        square: ByColor {
                            white: square,
                            black: mirrored(square, source.ranks()),
                        },
                    },
                });
            }
        }
    }
    letters
}

fn leaders(
    source: &Source,
    castlings: &[Castling],
    letters: &[RightLetter],
) -> ByColor<Vec<Leader>> {
    ByColor::from_fn(|color| {
        let mut leaders: Vec<Leader> = Vec::new();
        for rule in castlings {
            let Some(square) = source.start_squares(color, rule.leader).first() else {
                continue;
            };
            let starts: Vec<(Role, Square)> = letters
                .iter()
                .filter_map(|letter| match &letter.source {
                    RightSource::Start { role, square } => Some((*role, square[color])),
                    RightSource::Entered { .. } => None,
                })
                .collect();
            let partners = starts
                .iter()
                .filter(|(role, at)| *role == rule.partner && at.rank() == square.rank())
                .fold(0, |set, (_, at)| set | 1 << at.index());
            let known = leaders.iter().position(|leader| leader.square == square);
            let at = known.unwrap_or_else(|| {
                leaders.push(Leader {
                    role: rule.leader,
                    square,
                    implied: starts.iter().all(|(_, at)| *at != square),
                    partners: Vec::new(),
                });
                leaders.len() - 1
            });
            leaders[at].partners.push((rule.partner, partners));
        }
        leaders
    })
}
