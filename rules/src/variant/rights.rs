//! Rights: which men have never moved, as far as that matters.

use crate::{Bitboard, ByColor, Color, Position, Role, Square, Variant};

/// What a letter of the FEN's castling field says, for programs that read FENs without these rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightInfo {
    /// Upper case; Black's is the lower-case letter.
    pub letter: char,
    /// Squares of the men that have not moved if the letter is there: the letter's own man, and the castling leader if it
    /// has no letter of its own. Empty for a letter of entered men.
    pub squares: ByColor<Bitboard>,
    /// For a letter of entered men: which men. It stands for the man of this role that has not moved since it entered.
    pub entered: Option<Role>,
}

impl Variant {
    /// The letters of the FEN's castling field, in order.
    pub fn right_letters(&self) -> Vec<RightInfo> {
        let info = |right: &RightLetter| {
            let (entered, square) = match &right.source {
                RightSource::Start { square, .. } => (None, Some(square)),
                RightSource::Entered { role } => (Some(*role), None),
            };
            RightInfo {
                letter: right.letter,
                squares: ByColor::from_fn(|color| {
                    let own = square.map_or(0, |square| 1 << square[color].index());
                    let leaders = self.rights.leaders[color].iter();
                    let implied = leaders
                        .filter(|leader| leader.implied && leader.partner_squares() & own != 0);
                    Bitboard(implied.fold(own, |all, leader| all | 1 << leader.square.index()))
                }),
                entered,
            }
        };
        self.rights.letters.iter().map(info).collect()
    }
}

/// The letters of the FEN's castling field and what they stand for.
#[derive(Clone, Debug)]
pub(crate) struct Rights {
    /// In the order of the FEN.
    pub letters: Vec<RightLetter>,
    /// Men that lead a castling, by side.
    pub leaders: ByColor<Vec<Leader>>,
    /// Roles whose men get a right when they enter, as a bit set.
    pub entered: u16,
    /// Start squares of all leaders: what leaves them ends rights even without a letter of its own.
    pub leader_squares: u128,
}

/// One letter of the castling field.
#[derive(Clone, Debug)]
pub(crate) struct RightLetter {
    /// Upper case.
    pub letter: char,
    pub source: RightSource,
}

/// Which man a letter stands for.
#[derive(Clone, Debug)]
pub(crate) enum RightSource {
    /// The man that starts on a square.
    Start { role: Role, square: ByColor<Square> },
    /// The man of a role that has entered and not moved since.
    Entered { role: Role },
}

/// A man that leads a castling.
#[derive(Clone, Debug)]
pub(crate) struct Leader {
    pub role: Role,
    pub square: Square,
    /// Whether the leader has no letter: its right lasts as long as any of its partners'.
    pub implied: bool,
    /// Partners' roles and start squares; their rights end when the leader moves.
    pub partners: Vec<(Role, u128)>,
}

impl Leader {
    /// Where partners of a role start.
    pub fn starting_partners(&self, partner: Role) -> Bitboard {
        let of_role = self.partners.iter().filter(|(role, _)| *role == partner);
        Bitboard(of_role.fold(0, |all, (_, set)| all | set))
    }

    /// All start squares of partners.
    pub fn partner_squares(&self) -> u128 {
        self.partners.iter().fold(0, |all, (_, set)| all | set)
    }
}

impl Rights {
    /// The rights left when the man on a square has moved or been captured.
    pub fn without(&self, position: &Position, color: Color, square: Square) -> u128 {
        let mut left = position.rights & !(1 << square.index());
        for leader in &self.leaders[color] {
            if leader.square == square {
                for &(role, squares) in &leader.partners {
                    left &= !(squares & position.pieces(color, role).0);
                }
            } else if leader.implied && left & leader.partner_squares() == 0 {
                left &= !(1 << leader.square.index());
            }
        }
        left
    }

    /// The right of the leaders without letters, given those of the partners.
    pub fn with_implied(&self, rights: u128) -> u128 {
        let mut all = rights;
        for color in Color::ALL {
            for leader in self.leaders[color].iter().filter(|l| l.implied) {
                let bit = 1 << leader.square.index();
                if rights & leader.partner_squares() != 0 {
                    all |= bit;
                } else {
                    all &= !bit;
                }
            }
        }
        all
    }

    /// Whether some letter tells whether men of a role have moved.
    pub fn tracks(&self, tracked: Role) -> bool {
        self.letters.iter().any(|letter| match letter.source {
            RightSource::Start { role, .. } | RightSource::Entered { role } => role == tracked,
        })
    }
}
