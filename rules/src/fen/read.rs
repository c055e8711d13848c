//! Reading and checking a FEN.

use super::RawBoard;
use crate::variant::RightSource;
use crate::{Bitboard, Color, FenError, Position, Square, Variant};

/// A failure in one field, before the whole FEN is known.
type Failure = (&'static str, String);

impl Position {
    /// Reads a FEN of a variant.
    ///
    /// The clocks may be left out, and so may the count of losses.
    ///
    /// # Errors
    /// Which field is wrong and why. Kings, pawns, rights, hands and the en passant
    /// square must be such as a game can lead to; a king that could be captured is let through
    /// (see [`Position::is_king_left_in_danger`]).
    pub fn from_fen(variant: &Variant, fen: &str) -> Result<Position, FenError> {
        read(variant, fen).map_err(|(field, message)| FenError {
            fen: fen.to_string(),
            field,
            message,
        })
    }

    /// No men at all, White to move.
    pub(crate) fn empty() -> Position {
        Position {
            roles: [0; 16],
            colors: [0; 2],
            rights: 0,
            key: 0,
            hands: [0; 2],
            fullmove: 1,
            halfmove: 0,
            losses: [0; 2],
            due: [0; 2],
            turn: Color::White,
            ep: None,
            ep_in_key: false,
        }
    }
}

fn read(variant: &Variant, fen: &str) -> Result<Position, Failure> {
    let mut fields = fen.split_whitespace();
    let mut next = |field: &'static str| {
        let missing = "it is missing; a FEN is `board side castling en-passant halfmoves moves`";
        fields.next().ok_or((field, missing.to_string()))
    };
    let mut position = Position::empty();
    place(variant, &mut position, next("board")?)?;
    position.turn = match next("side to move")? {
        "w" => Color::White,
        "b" => Color::Black,
        other => return Err(("side to move", format!("`{other}` is neither `w` nor `b`"))),
    };
    read_rights(variant, &mut position, next("castling field")?)?;
    let ep = next("en passant field")?;
    let halfmove = fields.next().unwrap_or("0");
    position.halfmove = halfmove.parse().map_err(|_| {
        (
            "halfmove clock",
            format!("`{halfmove}` is not a number up to 65535"),
        )
    })?;
    let fullmove = fields.next().unwrap_or("1");
    position.fullmove = fullmove
        .parse()
        .map_err(|_| ("move number", format!("`{fullmove}` is not a number")))?;
    read_losses(variant, &mut position, fields.next())?;
    if let Some(extra) = fields.next() {
        return Err(("end", format!("`{extra}` is one field too many")));
    }
    read_ep(variant, &mut position, ep)?;
    position
        .check_men(variant)
        .map_err(|error| ("position", error.to_string()))?;
    position.refresh_key(variant);
    Ok(position)
}

fn place(variant: &Variant, position: &mut Position, text: &str) -> Result<(), Failure> {
    let fail = |message: String| ("board", message);
    let raw = RawBoard::parse(text, variant.files, variant.ranks).map_err(fail)?;
    if raw.board != variant.board {
        let odd = (raw.board ^ variant.board).first();
        let name = odd.map_or(String::new(), |square| variant.square_name(square));
        let message = if (variant.board & !raw.board).any() {
            format!("{name} is a square of this board and cannot be `*`")
        } else {
            format!("{name} is not a square of this board; write `*` for it")
        };
        return Err(fail(message));
    }
    let role_of = |letter: char| {
        variant.role_by_letter(letter).ok_or_else(|| {
            let known: String = variant.roles().iter().map(|role| role.letter).collect();
            fail(format!(
                "{} has no piece `{letter}`; its pieces are {known}",
                variant.name()
            ))
        })
    };
    let color_of = |letter: char| match letter.is_ascii_uppercase() {
        true => Color::White,
        false => Color::Black,
    };
    for (square, letter) in raw.men {
        position.roles[role_of(letter)?.index()] |= 1 << square.index();
        position.colors[color_of(letter).index()] |= 1 << square.index();
    }
    for letter in raw.hand.chars() {
        let (role, side) = (role_of(letter)?.index(), color_of(letter));
        let held = position.hands[side.index()] >> (4 * role) & 15;
        let most = match &variant.entry {
            Some(entry) => entry.start_hands[side] >> (4 * role) & 15,
            None => 0,
        };
        if held >= most {
            let message = format!(
                "there are more `{letter}` in hand than a game of {} starts with",
                variant.name()
            );
            return Err(("hand", message));
        }
        position.hands[side.index()] += 1 << (4 * role);
    }
    Ok(())
}

fn read_rights(variant: &Variant, position: &mut Position, text: &str) -> Result<(), Failure> {
    if text == "-" {
        return Ok(());
    }
    let fail = |message: String| ("castling field", message);
    let mut seen = Vec::new();
    for letter in text.chars() {
        let color = match letter.is_ascii_uppercase() {
            true => Color::White,
            false => Color::Black,
        };
        let right = variant.rights.letters.iter();
        let right = right
            .clone()
            .find(|right| right.letter == letter.to_ascii_uppercase())
            .ok_or_else(|| {
                let known: String = right.map(|right| right.letter).collect();
                fail(format!(
                    "`{letter}` means nothing here; the letters are `{known}`, or `-`"
                ))
            })?;
        if seen.contains(&letter) {
            return Err(fail(format!("`{letter}` occurs twice")));
        }
        seen.push(letter);
        let square = match &right.source {
            RightSource::Start { role, square } => {
                let square = square[color];
                if !position.pieces(color, *role).contains(square) {
                    return Err(fail(format!(
                        "`{letter}` needs {color:?}'s {} on {}; leave the letter out",
                        variant.role_info(*role).name,
                        variant.square_name(square)
                    )));
                }
                square
            }
            RightSource::Entered { role } => {
                let zone = variant.entry.as_ref().map(|entry| entry.zone[color]);
                let men = position.pieces(color, *role) & zone.unwrap_or(Bitboard::EMPTY);
                match (men.first(), men.count()) {
                    (Some(square), 1) => square,
                    _ => {
                        return Err(fail(format!(
                            "`{letter}` needs exactly one {} of {color:?} where it enters; leave the letter out",
                            variant.role_info(*role).name
                        )));
                    }
                }
            }
        };
        position.rights |= 1 << square.index();
    }
    check_leaders(variant, position)?;
    position.rights = variant.rights.with_implied(position.rights);
    Ok(())
}

/// A partner has no right to castle without an unmoved leader.
fn check_leaders(variant: &Variant, position: &Position) -> Result<(), Failure> {
    for color in Color::ALL {
        for leader in &variant.rights.leaders[color] {
            let square = leader.square;
            let claims = leader.partners.iter().any(|(role, squares)| {
                squares & position.rights & position.pieces(color, *role).0 != 0
            });
            if claims && !position.pieces(color, leader.role).contains(square) {
                let message = format!(
                    "{color:?} cannot castle without its leader on {}; leave the letters out",
                    variant.square_name(square)
                );
                return Err(("castling field", message));
            }
        }
    }
    Ok(())
}

fn read_losses(
    variant: &Variant,
    position: &mut Position,
    text: Option<&str>,
) -> Result<(), Failure> {
    let field = "losses";
    let Some(entry) = &variant.entry else {
        return match text {
            None => Ok(()),
            Some(text) => Err((
                field,
                format!("{} counts no losses; leave `{text}` out", variant.name()),
            )),
        };
    };
    let entered = Color::ALL.map(|color| entry.most[color] - position.hand_count(color));
    let mut losses = entered;
    if let Some(text) = text {
        let form = || {
            (
                field,
                format!("`{text}` should look like `+1+0`, White's losses first"),
            )
        };
        let numbers = text.strip_prefix('+').and_then(|rest| rest.split_once('+'));
        let (white, black) = numbers.ok_or_else(form)?;
        for (slot, number) in losses.iter_mut().zip([white, black]) {
            *slot = number.parse().map_err(|_| form())?;
        }
    }
    for color in Color::ALL {
        let lost = losses[color.index()];
        if lost > entry.most[color] {
            let message = format!("losses are counted up to {}", entry.most[color]);
            return Err((field, message));
        }
        let made = entered[color.index()];
        let Some(due) = lost.checked_sub(made) else {
            let message = format!("{color:?} has entered {made} men after {lost} losses");
            return Err((field, message));
        };
        position.losses[color.index()] = lost;
        position.due[color.index()] = due;
    }
    Ok(())
}

/// Reads the square that a pawn has just passed, and checks that one has.
fn read_ep(variant: &Variant, position: &mut Position, text: &str) -> Result<(), Failure> {
    if text == "-" {
        return Ok(());
    }
    let fail = |message: String| ("en passant field", message);
    if !variant.has_en_passant {
        return Err(fail(format!(
            "there is no en passant in {}; write `-`",
            variant.name()
        )));
    }
    let square = variant
        .parse_square(text)
        .ok_or_else(|| fail(format!("`{text}` is not a square of this board; write `-`")))?;
    position.ep = Some(square);
    if position.ep_is_sound(variant) {
        Ok(())
    } else {
        Err(fail(format!(
            "no pawn can just have passed {text}; write `-`"
        )))
    }
}

impl Position {
    /// Whether a pawn stands beyond the en passant square, both squares behind it are empty and
    /// it could have made a double step there.
    pub(crate) fn ep_is_sound(&self, variant: &Variant) -> bool {
        let them = !self.turn;
        let Some((square, victim)) = self.ep.zip(self.ep_victim()) else {
            return self.ep.is_none();
        };
        let ahead = victim.rank() as i8 - square.rank() as i8;
        let origin: Option<Square> = square.offset(0, -ahead);
        let pawn = self.by_color(them).contains(victim)
            && self
                .role_at(victim)
                .is_some_and(|role| variant.is_pawn(role));
        let free = |at: Square| !self.occupied().contains(at);
        pawn && free(square)
            && origin.is_some_and(|at| free(at) && variant.double_steps[them].contains(at))
    }
}
