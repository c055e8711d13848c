//! Pictures of men, drawn for this project: a man fills a square of 100 by 100 units.
//!
//! Every picture is a body, filled and outlined, and details, which are lines on the body. The pictures belong to the
//! names of pieces, not to letters: an `N` may be a nightrider. A man without a picture is its letter on a disc.

use std::fmt::Write;

use crate::Color;

/// A man's picture as SVG path data.
struct Glyph {
    /// The name of the piece in variants' files.
    name: &'static str,
    /// Closed outlines, painted one over the other.
    body: &'static [&'static str],
    /// Lines and dots on the body.
    details: &'static str,
}

/// What most men stand on.
const PLINTH: &str = "M22 90 V84 Q22 78 28 78 H72 Q78 78 78 84 V90 Z";

const GLYPHS: [Glyph; 8] = [
    Glyph {
        name: "pawn",
        body: &[
            "M44 47 C44 62 33 66 31 78 H69 C67 66 56 62 56 47 Z",
            "M37 52 Q35 47 40 46 H60 Q65 47 63 52 Z",
            "M50 20 A13.5 13.5 0 1 1 49.9 20 Z",
            PLINTH,
        ],
        details: "",
    },
    Glyph {
        name: "rook",
        body: &[
            "M33 78 L36 45 H64 L67 78 Z",
            "M26 20 H37 V28 H45 V20 H55 V28 H63 V20 H74 V38 L66 46 H34 L26 38 Z",
            PLINTH,
        ],
        details: "M31 37 H69 M36 69 H64",
    },
    Glyph {
        name: "knight",
        body: &[
            "M31 78 C31 65 42 61 45 50 C41 53 37 55 33 58 C29 61 22 60 20 55 C19 52 20 49 22 46 C28 38 30 33 34 28 \
             L34 14 L44 22 C62 22 79 40 71 78 Z",
            PLINTH,
        ],
        details: "M39.5 34 L41 33.5 M24.8 51.5 L25.4 51.2 M52 30 C62 39 65 52 62 70",
    },
    Glyph {
        name: "bishop",
        body: &[
            "M50 9 A5 5 0 1 1 49.9 9 Z",
            "M50 19 C64 30 71 44 63 57 H37 C29 44 36 30 50 19 Z",
            "M40 64 C40 71 34 73 32 78 H68 C66 73 60 71 60 64 Z",
            "M35 64 Q33 58 38 57 H62 Q67 58 65 64 Z",
            PLINTH,
        ],
        details: "M50 31 V50 M42.5 39 H57.5",
    },
    Glyph {
        name: "queen",
        body: &[
            "M28 68 L16 36 L33 53 L33 24 L43.5 48 L50 19 L56.5 48 L67 24 L67 53 L84 36 L72 68 Z",
            "M16 27 A5 5 0 1 1 15.9 27 Z",
            "M33 15 A5 5 0 1 1 32.9 15 Z",
            "M50 10 A5 5 0 1 1 49.9 10 Z",
            "M67 15 A5 5 0 1 1 66.9 15 Z",
            "M84 27 A5 5 0 1 1 83.9 27 Z",
            "M28 68 H72 L69 78 H31 Z",
            PLINTH,
        ],
        details: "",
    },
    Glyph {
        name: "king",
        body: &[
            "M46.5 38 V22 H38.5 V15 H46.5 V7 H53.5 V15 H61.5 V22 H53.5 V38 Z",
            "M30 68 C20 56 15 47 22 38 C29 30 45 33 50 45 C55 33 71 30 78 38 C85 47 80 56 70 68 Z",
            "M30 68 H70 L68 78 H32 Z",
            PLINTH,
        ],
        details: "M50 46 V67 M34 60 C26 51 23 46 28 42 M66 60 C74 51 77 46 72 42",
    },
    Glyph {
        name: "falcon",
        body: &[
            "M43 40 C34 30 20 26 6 27 C8 34 12 38 18 40 C14 43 15 48 24 50 C20 54 22 58 31 58 C29 62 34 65 43 62 \
             H57 C66 65 71 62 69 58 C78 58 80 54 76 50 C85 48 86 43 82 40 C88 38 92 34 94 27 C80 26 66 30 57 40 Z",
            "M42 60 L37 78 H63 L58 60 Z",
            "M42 31 C36 37 35 50 39 59 C42 66 46 70 50 72 C54 70 58 66 61 59 C65 50 64 37 59 30 C60 27 60 24 59 21 \
             C57 12 46 10 41 16 C34 18 31 25 34 33 C35.5 29 39 27.5 42 31 Z",
            PLINTH,
        ],
        details: "M47.5 22.3 L48.3 22.1 M51.5 27 L50.5 33 M44 43 L50 46 L56 43 M43.5 52 L50 55 L56.5 52 M46 61 L50 63 L54 61",
    },
    Glyph {
        name: "hunter",
        body: &[
            "M50 74 L13 60 L15.5 55 L50 68 L84.5 55 L87 60 Z",
            "M11 61 C13 34 32 25 50 25 C68 25 87 34 89 61 L83 61 C77 42 64 36 50 36 C36 36 23 42 17 61 Z",
            "M46.5 78 V22 H38 L50 5 L62 22 H53.5 V78 Z",
            PLINTH,
        ],
        details: "",
    },
];

/// Fill and outline of a body, and the lines on it.
fn colors(color: Color) -> (&'static str, &'static str, &'static str) {
    match color {
        Color::White => ("#fffdf6", "#2a2622", "#2a2622"),
        Color::Black => ("#35302c", "#171412", "#efe7d6"),
    }
}

/// Draws a man on the square whose upper left corner is at `x` and `y`.
pub(super) fn write_man(
    svg: &mut String,
    name: &str,
    letter: char,
    color: Color,
    (x, y): (i32, i32),
) {
    let (fill, outline, line) = colors(color);
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<g transform=\"translate({x} {y})\" fill=\"{fill}\" stroke=\"{outline}\" stroke-width=\"3\" \
         stroke-linejoin=\"round\" stroke-linecap=\"round\">"
    );
    match GLYPHS.iter().find(|glyph| glyph.name == name) {
        Some(glyph) => {
            for path in glyph.body {
                let _ = writeln!(svg, "<path d=\"{path}\"/>");
            }
            if !glyph.details.is_empty() {
                let _ = writeln!(
                    svg,
                    "<path d=\"{}\" fill=\"none\" stroke=\"{line}\"/>",
                    glyph.details
                );
            }
        }
        None => {
            let _ = writeln!(svg, "<circle cx=\"50\" cy=\"50\" r=\"37\"/>");
            let _ = writeln!(
                svg,
                "<circle cx=\"50\" cy=\"50\" r=\"31\" fill=\"none\" stroke=\"{line}\" stroke-width=\"1.5\"/>"
            );
            let _ = writeln!(
                svg,
                "<text x=\"50\" y=\"66\" font-family=\"Georgia, 'DejaVu Serif', serif\" font-size=\"46\" \
                 font-weight=\"bold\" text-anchor=\"middle\" fill=\"{line}\" stroke=\"none\">{letter}</text>"
            );
        }
    }
    svg.push_str("</g>\n");
}
