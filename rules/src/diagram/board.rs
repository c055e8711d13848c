//! A position as SVG.

use std::fmt::Write;

use super::glyphs::write_man;
use crate::{Color, Piece, Position, Square, Variant};

/// Side of a square in user units.
const CELL: i32 = 100;
/// Room for the coordinates, and around the board.
const MARGIN: i32 = 54;
/// Width of the line around the squares.
const FRAME: i32 = 5;
/// Pixels a square, when nobody asks for another size.
const PIXELS: i32 = 48;

impl Variant {
    /// A man as a piece of SVG on a square of 100 by 100 units, to be placed by a `<g>` or `<symbol>` around it.
    pub fn man_svg(&self, piece: Piece) -> String {
        let role = self.role_info(piece.role);
        let mut svg = String::new();
        write_man(&mut svg, &role.name, role.letter, piece.color, (0, 0));
        svg
    }
}

impl Position {
    /// The board as an SVG document, White at the bottom: men, coordinates, and beside it men in hand. Squares that do
    /// not exist are left out. All pictures are this project's own.
    ///
    /// ```
    /// let falcon = rules::Variant::by_name("falcon").unwrap();
    /// let svg = falcon.start().board_svg(&falcon);
    /// assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    /// ```
    pub fn board_svg(&self, variant: &Variant) -> String {
        let canvas = Canvas { variant };
        let (width, height) = canvas.size();
        let mut svg = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{}\" height=\"{}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#faf7f0\"/>",
            width * PIXELS / CELL,
            height * PIXELS / CELL
        );
        canvas.write_squares(&mut svg);
        canvas.write_coordinates(&mut svg);
        for square in self.occupied() {
            if let Some(piece) = self.piece_at(square) {
                let role = variant.role_info(piece.role);
                let corner = canvas.corner(square);
                write_man(&mut svg, &role.name, role.letter, piece.color, corner);
            }
        }
        canvas.write_hands(&mut svg, self);
        svg.push_str("</svg>\n");
        svg
    }
}

/// Where things are drawn.
struct Canvas<'a> {
    variant: &'a Variant,
}

impl Canvas<'_> {
    fn size(&self) -> (i32, i32) {
        let hands = match self.variant.hand_roles().is_empty() {
            true => 0,
            false => CELL + MARGIN / 2,
        };
        let side = |squares: u8| i32::from(squares) * CELL;
        (
            side(self.variant.files()) + MARGIN + MARGIN / 2 + hands,
            side(self.variant.ranks()) + MARGIN + MARGIN / 2,
        )
    }

    /// The upper left corner of a square.
    fn corner(&self, square: Square) -> (i32, i32) {
        let from_top = self.variant.ranks() - 1 - square.rank();
        (
            MARGIN + i32::from(square.file()) * CELL,
            MARGIN / 2 + i32::from(from_top) * CELL,
        )
    }

    /// The frame is what larger squares leave visible around the others, so that it follows a board of any form.
    fn write_squares(&self, svg: &mut String) {
        for square in self.variant.board() {
            let (x, y) = self.corner(square);
            let side = CELL + 2 * FRAME;
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{side}\" height=\"{side}\" fill=\"#5b4a3a\"/>",
                x - FRAME,
                y - FRAME
            );
        }
        for square in self.variant.board() {
            let (x, y) = self.corner(square);
            let fill = match (square.file() + square.rank()) % 2 {
                0 => "#b08d68",
                _ => "#eddfc4",
            };
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\"/>"
            );
        }
    }

    fn write_coordinates(&self, svg: &mut String) {
        let (_, height) = self.size();
        svg.push_str(
            "<g font-family=\"Verdana, 'DejaVu Sans', sans-serif\" font-size=\"26\" fill=\"#5b4a3a\" \
             text-anchor=\"middle\">\n",
        );
        for file in 0..self.variant.files() {
            let x = MARGIN + i32::from(file) * CELL + CELL / 2;
            let letter = (b'a' + file) as char;
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{}\">{letter}</text>", height - 17);
        }
        for rank in 0..self.variant.ranks() {
            let from_top = self.variant.ranks() - 1 - rank;
            let y = MARGIN / 2 + i32::from(from_top) * CELL + CELL / 2 + 9;
            let number = rank + self.variant.first_rank;
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{y}\">{number}</text>",
                MARGIN / 2 - 2
            );
        }
        svg.push_str("</g>\n");
    }

    /// Black's men in hand from the top down, White's from the bottom up.
    fn write_hands(&self, svg: &mut String, position: &Position) {
        let variant = self.variant;
        let x = MARGIN + i32::from(variant.files()) * CELL + MARGIN / 2;
        for color in Color::ALL {
            let men = variant.hand_roles().iter().flat_map(|&role| {
                std::iter::repeat_n(role, usize::from(position.hand(color, role)))
            });
            for (place, role) in (0..).zip(men) {
                let from_top = match color {
                    Color::White => i32::from(variant.ranks()) - 1 - place,
                    Color::Black => place,
                };
                let info = variant.role_info(role);
                let corner = (x, MARGIN / 2 + from_top * CELL);
                write_man(svg, &info.name, info.letter, color, corner);
            }
        }
    }
}
