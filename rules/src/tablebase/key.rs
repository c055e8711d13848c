//! Material as a name, such as `KRvKB`.

use super::{MOST_MEN, TablebaseError};
use crate::{Color, Piece, Position, Role, Variant};

/// Who has which men besides the kings, strongest (latest in the variant's file) first.
///
/// ```
/// use rules::Variant;
/// use rules::tablebase::MaterialKey;
/// let falcon = Variant::by_name("falcon").unwrap();
/// let key = MaterialKey::parse(&falcon, "KNFvK").unwrap();
/// assert_eq!(key.name(&falcon), "KFNvK");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaterialKey {
    pub(super) white: Vec<Role>,
    pub(super) black: Vec<Role>,
}

impl MaterialKey {
    /// Reads a name: White's letters, `v`, Black's letters, a king on either side.
    ///
    /// # Errors
    /// [`TablebaseError::Material`] tells what a name looks like.
    pub fn parse(variant: &Variant, text: &str) -> Result<MaterialKey, TablebaseError> {
        let wrong = |message: String| TablebaseError::Material {
            text: text.to_string(),
            message,
        };
        let royal = variant.role_info(variant.royal).letter;
        let Some((white, black)) = text.split_once('v') else {
            return Err(wrong(format!(
                "write the men of both sides with a `v` between, such as {royal}{}v{royal}",
                variant.roles()[0].letter
            )));
        };
        let side = |letters: &str| -> Result<Vec<Role>, TablebaseError> {
            let mut men = Vec::new();
            for letter in letters.chars() {
                let role = variant.role_by_letter(letter);
                let role = role
                    .filter(|_| letter.is_ascii_uppercase())
                    .ok_or_else(|| {
                        let known: String =
                            variant.roles().iter().map(|role| role.letter).collect();
                        wrong(format!(
                            "`{letter}` is no man of {}; it has {known}",
                            variant.name()
                        ))
                    })?;
                men.push(role);
            }
            let kings = men.iter().filter(|&&role| role == variant.royal).count();
            if kings != 1 {
                return Err(wrong(format!(
                    "each side has exactly one {royal}, but there are {kings} in `{letters}`"
                )));
            }
            men.retain(|&role| role != variant.royal);
            Ok(men)
        };
        let key = MaterialKey::new(side(white)?, side(black)?);
        if key.men() > MOST_MEN {
            return Err(wrong(format!(
                "there are {} men; tables have at most {MOST_MEN}, kings included",
                key.men()
            )));
        }
        Ok(key)
    }

    pub(super) fn new(mut white: Vec<Role>, mut black: Vec<Role>) -> MaterialKey {
        for side in [&mut white, &mut black] {
            side.sort_unstable_by(|a, b| b.cmp(a));
        }
        MaterialKey { white, black }
    }

    /// The material on the board.
    pub fn of(variant: &Variant, position: &Position) -> MaterialKey {
        let side = |color: Color| {
            let roles = variant.role_ids().filter(|&role| role != variant.royal);
            roles
                .flat_map(|role| {
                    let count = position.pieces(color, role).count() as usize;
                    std::iter::repeat_n(role, count)
                })
                .collect()
        };
        MaterialKey::new(side(Color::White), side(Color::Black))
    }

    /// The name, such as `KRvKB`.
    pub fn name(&self, variant: &Variant) -> String {
        let letter = |role: &Role| variant.role_info(*role).letter;
        let side = |men: &[Role]| -> String {
            std::iter::once(letter(&variant.royal))
                .chain(men.iter().map(letter))
                .collect()
        };
        format!("{}v{}", side(&self.white), side(&self.black))
    }

    /// Men, kings included.
    pub fn men(&self) -> usize {
        self.white.len() + self.black.len() + 2
    }

    /// The same with the sides exchanged.
    pub fn flipped(&self) -> MaterialKey {
        MaterialKey {
            white: self.black.clone(),
            black: self.white.clone(),
        }
    }

    /// Whether White has more men, or as many and the stronger ones.
    pub(super) fn is_whites(&self) -> bool {
        (self.white.len(), &self.white) >= (self.black.len(), &self.black)
    }

    /// All men in the order of a table: the kings, White's men, Black's men.
    pub(super) fn pieces(&self, royal: Role) -> Vec<Piece> {
        let of = |color: Color, men: &[Role]| -> Vec<Piece> {
            men.iter().map(|&role| Piece { color, role }).collect()
        };
        let mut pieces = of(Color::White, &[royal]);
        pieces.extend(of(Color::Black, &[royal]));
        pieces.extend(of(Color::White, &self.white));
        pieces.extend(of(Color::Black, &self.black));
        pieces
    }
}
