//! Kings and a few men.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use rules::{ByColor, Color, Move, Piece, Position, Role, Square, Status, Variant};

/// What placing men at random needs to know of a variant.
#[derive(Clone, Debug)]
pub(super) struct FewMen {
    king: Role,
    /// All other roles, with how many moves the man has on a nearly empty board, on average.
    men: Vec<(Role, f32)>,
    squares: Vec<Square>,
    /// Squares with fewer than eight neighbours, where a king is mated soonest.
    border: Vec<Square>,
    /// Letters of the men in hand at the start, in FEN's order; empty if the variant has none.
    hand: String,
}

/// Who has what.
struct Army {
    strong_side: Color,
    men: Vec<Piece>,
}

impl FewMen {
    /// Measures the men of a variant.
    ///
    /// # Panics
    /// If the variant has no royal man (the rules refuse such variants).
    pub fn new(variant: &Variant) -> Self {
        let royal = variant.roles().iter().position(|role| role.is_royal);
        let king = royal
            .and_then(Role::from_index)
            .expect("a variant has a royal man");
        let squares: Vec<Square> = variant.board().into_iter().collect();
        let neighbours = |a: Square| squares.iter().filter(|&&b| distance(a, b) == 1).count();
        let border = squares
            .iter()
            .copied()
            .filter(|&square| neighbours(square) < 8)
            .collect();
        let (_, hand) = board_and_hand(variant.start_fen());
        let mut few_men = Self {
            king,
            men: Vec::new(),
            squares,
            border,
            hand: hand.to_owned(),
        };
        few_men.men = (0..variant.roles().len())
            .filter_map(Role::from_index)
            .filter(|&role| role != king)
            .map(|role| (role, few_men.mobility(variant, role)))
            .collect();
        few_men
    }

    /// A legal position that goes on, with `count` men besides the kings.
    ///
    /// A `lopsided` one gives the more mobile men to one side and often puts the other king at the border with the
    /// enemy king near, so that mates are close. `None` if many random tries fail, as they may for a great `count`.
    pub fn generate(
        &self,
        variant: &Variant,
        count: usize,
        lopsided: bool,
        rng: &mut ChaCha8Rng,
    ) -> Option<Position> {
        (0..200).find_map(|_| {
            let army = self.draw_army(count, lopsided, rng);
            let placed = self.place(&army, lopsided, rng)?;
            let fen = self.fen(variant, &placed, rng);
            let position = Position::from_fen(variant, &fen).ok()?;
            is_worth_playing(variant, &position).then_some(position)
        })
    }

    /// Draws the men, all roles alike, and shares them out.
    fn draw_army(&self, count: usize, lopsided: bool, rng: &mut ChaCha8Rng) -> Army {
        let strong_side = if rng.random() {
            Color::White
        } else {
            Color::Black
        };
        let mut drawn: Vec<(Role, f32)> = self
            .men
            .choose_iter(rng)
            .into_iter()
            .flatten()
            .take(count)
            .copied()
            .collect();
        let strong_men = if lopsided {
            drawn.sort_by(|a, b| b.1.total_cmp(&a.1));
            let share: f32 = rng.random_range(0.5..=1.0);
            (count as f32 * share).ceil() as usize
        } else {
            drawn.shuffle(rng);
            count.div_ceil(2)
        };
        let color = |index: usize| {
            if index < strong_men {
                strong_side
            } else {
                !strong_side
            }
        };
        let men = drawn.iter().enumerate().map(|(i, &(role, _))| Piece {
            color: color(i),
            role,
        });
        Army {
            strong_side,
            men: men.collect(),
        }
    }

    /// Puts kings and men on different squares; legality is for the rules to judge.
    fn place(
        &self,
        army: &Army,
        lopsided: bool,
        rng: &mut ChaCha8Rng,
    ) -> Option<Vec<(Square, Piece)>> {
        let hunted = lopsided && rng.random_bool(0.5);
        let weak_king = *if hunted { &self.border } else { &self.squares }.choose(rng)?;
        let reach = if hunted { 2..=4 } else { 2..=u8::MAX };
        let apart: Vec<Square> = self
            .squares
            .iter()
            .copied()
            .filter(|&s| reach.contains(&distance(s, weak_king)))
            .collect();
        let strong_king = *apart.choose(rng)?;
        let king = |color| Piece {
            color,
            role: self.king,
        };
        let mut placed = vec![
            (weak_king, king(!army.strong_side)),
            (strong_king, king(army.strong_side)),
        ];
        let mut free = self.squares.clone();
        free.retain(|&square| square != weak_king && square != strong_king);
        free.shuffle(rng);
        placed.extend(free.into_iter().zip(army.men.iter().copied()));
        (placed.len() == army.men.len() + 2).then_some(placed)
    }

    /// The FEN of these men with a random side to move and, where the variant has them, random men in hand.
    fn fen(&self, variant: &Variant, placed: &[(Square, Piece)], rng: &mut ChaCha8Rng) -> String {
        // A man that is on the board already is not in hand as well: FEN could not tell the one that has not moved.
        let letter = |piece: &Piece| match (variant.roles()[piece.role.index()].letter, piece.color)
        {
            (letter, Color::White) => letter.to_ascii_uppercase(),
            (letter, Color::Black) => letter.to_ascii_lowercase(),
        };
        let present: Vec<char> = placed.iter().map(|(_, piece)| letter(piece)).collect();
        let kept: String = (self.hand.chars())
            .filter(|letter| rng.random_bool(0.5) && !present.contains(letter))
            .collect();
        let hand = if kept.is_empty() {
            String::new()
        } else {
            format!("[{kept}]")
        };
        // All losses that count have happened, or (with the field left out) only those of men entered already.
        let losses = if !self.hand.is_empty() && rng.random() {
            let of = |upper: bool| {
                self.hand
                    .chars()
                    .filter(|c| c.is_ascii_uppercase() == upper)
                    .count()
            };
            format!(" +{}+{}", of(true), of(false))
        } else {
            String::new()
        };
        let side = if rng.random() { 'w' } else { 'b' };
        format!(
            "{}{hand} {side} - - 0 1{losses}",
            board_text(variant, placed)
        )
    }

    /// Mean number of legal moves of a man alone with the kings, over up to 24 places of the three.
    fn mobility(&self, variant: &Variant, role: Role) -> f32 {
        let corner = self.squares[0];
        let far = *self.squares.last().unwrap_or(&corner);
        let king = |color| Piece {
            color,
            role: self.king,
        };
        let man = Piece {
            color: Color::White,
            role,
        };
        let step = self.squares.len().div_ceil(24);
        let counts: Vec<usize> = self
            .squares
            .iter()
            .step_by(step)
            .filter(|&&square| square != corner && square != far)
            .filter_map(|&square| {
                let placed = [
                    (corner, king(Color::White)),
                    (far, king(Color::Black)),
                    (square, man),
                ];
                let fen = format!("{} w - - 0 1", board_text(variant, &placed));
                let position = Position::from_fen(variant, &fen).ok()?;
                let moves = position.legal_moves(variant);
                Some(moves.iter().filter(|mv| mv.from() == Some(square)).count())
            })
            .collect();
        counts.iter().sum::<usize>() as f32 / counts.len().max(1) as f32
    }
}

/// Goes on, no king can be captured, and no move draws at once (as taking the last man would).
fn is_worth_playing(variant: &Variant, position: &Position) -> bool {
    let goes_on = |mv: &Move| {
        let status = position.play(variant, *mv).status(variant);
        matches!(status, Status::Ongoing | Status::Checkmate)
    };
    !position.is_king_left_in_danger(variant)
        && position.status(variant) == Status::Ongoing
        && position.legal_moves(variant).iter().all(goes_on)
}

/// Steps of a king between two squares of a whole board.
fn distance(a: Square, b: Square) -> u8 {
    a.file().abs_diff(b.file()).max(a.rank().abs_diff(b.rank()))
}

/// The board part of a FEN, and the letters of its men in hand.
fn board_and_hand(fen: &str) -> (&str, &str) {
    let field = fen.split(' ').next().unwrap_or(fen);
    match field.split_once('[') {
        Some((board, hand)) => (board, hand.trim_end_matches(']')),
        None => (field, ""),
    }
}

/// Writes men as the board part of a FEN.
fn board_text(variant: &Variant, placed: &[(Square, Piece)]) -> String {
    let letter = |piece: Piece| {
        let letter = variant.roles()[piece.role.index()].letter;
        let letters = ByColor {
            white: letter.to_ascii_uppercase(),
            black: letter.to_ascii_lowercase(),
        };
        letters[piece.color]
    };
    let ranks = (0..variant.ranks()).rev().map(|rank| {
        let mut text = String::new();
        let mut empty = 0;
        for file in 0..variant.files() {
            let square = Square::new(file, rank).filter(|&square| variant.board().contains(square));
            let man = square.and_then(|square| placed.iter().find(|(at, _)| *at == square));
            let symbol = match (square, man) {
                (None, _) => Some('*'),
                (Some(_), Some(&(_, piece))) => Some(letter(piece)),
                (Some(_), None) => None,
            };
            let Some(symbol) = symbol else {
                empty += 1;
                continue;
            };
            if empty > 0 {
                text += &empty.to_string();
                empty = 0;
            }
            text.push(symbol);
        }
        if empty > 0 {
            text += &empty.to_string();
        }
        text
    });
    ranks.collect::<Vec<_>>().join("/")
}
