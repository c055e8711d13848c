//! A piece's moves as SVG.

use std::fmt::Write;

use super::{Mark, PieceDiagram};
use crate::Square;

/// Side of a square in user units.
const CELL: u32 = 40;

impl PieceDiagram {
    /// The diagram as an SVG document: discs for moves with capture, rings for moves without,
    /// crosses for captures only; dashed outlines where a lame leap, a man to leap over or a
    /// first move is needed; a ring with a cross where that is so of one of the two alone; thin lines for
    /// the paths of lame leaps.
    pub fn svg(&self) -> String {
        let (width, height) = (u32::from(self.files) * CELL, u32::from(self.ranks) * CELL);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
        );
        for rank in 0..self.ranks {
            for square in (0..self.files).filter_map(|file| Square::new(file, rank)) {
                self.write_square(&mut svg, square);
            }
        }
        self.write_lame_paths(&mut svg);
        for (&square, &mark) in &self.marks {
            let (cx, cy) = self.center(square);
            write_mark(&mut svg, mark, cx, cy);
        }
        let (cx, cy) = self.center(self.at);
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<path d=\"M{cx} {} l14 14 l-14 14 l-14 -14 z\" fill=\"#2b2b2b\"/>",
            cy - 14
        );
        svg.push_str("</svg>\n");
        svg
    }

    fn center(&self, square: Square) -> (u32, u32) {
        let x = u32::from(square.file()) * CELL + CELL / 2;
        let y = u32::from(self.ranks - 1 - square.rank()) * CELL + CELL / 2;
        (x, y)
    }

    /// Every path of a lame leap as a thin line from square to square.
    fn write_lame_paths(&self, svg: &mut String) {
        for (to, paths) in self.lame_paths() {
            for path in paths {
                let way = std::iter::once(&self.at).chain(path).chain([&to]);
                let points: Vec<String> = way
                    .map(|&square| {
                        let (x, y) = self.center(square);
                        format!("{x},{y}")
                    })
                    .collect();
                let _ = writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"#b5532b\" stroke-width=\"1.5\" opacity=\"0.6\"/>",
                    points.join(" ")
                );
            }
        }
    }

    fn write_square(&self, svg: &mut String, square: Square) {
        let x = u32::from(square.file()) * CELL;
        let y = u32::from(self.ranks - 1 - square.rank()) * CELL;
        let fill = match (square.file() + square.rank()) % 2 {
            0 => "#c9b79c",
            _ => "#f3ead9",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\"/>"
        );
    }
}

/// A ring where a man moves, a cross where it captures, a disc for both; dashed where the way is conditional.
fn write_mark(svg: &mut String, mark: Mark, cx: u32, cy: u32) {
    let conditional = mark.lame || mark.initial;
    let dashed = conditional || mark.is_hop();
    if !mark.quiet {
        write_cross(svg, dashed, cx, cy);
    } else if mark.capture && mark.quiet_hop != mark.capture_hop {
        // One way needs a man to leap over and the other does not: a ring and a cross, one of them dashed.
        write_cross(svg, conditional || mark.capture_hop, cx, cy);
        write_circle(svg, "none", conditional || mark.quiet_hop, cx, cy);
    } else {
        let fill = if mark.capture { "#8fb3d9" } else { "none" };
        write_circle(svg, fill, dashed, cx, cy);
    }
}

fn write_cross(svg: &mut String, dashed: bool, cx: u32, cy: u32) {
    let (x, y, line) = (cx - 10, cy - 10, line(dashed));
    let _ = writeln!(
        svg,
        "<path d=\"M{x} {y} l20 20 m0 -20 l-20 20\" fill=\"none\" {line}/>"
    );
}

fn write_circle(svg: &mut String, fill: &str, dashed: bool, cx: u32, cy: u32) {
    let line = line(dashed);
    let _ = writeln!(
        svg,
        "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"11\" fill=\"{fill}\" {line}/>"
    );
}

/// A line's attributes.
fn line(dashed: bool) -> String {
    let dashes = match dashed {
        true => " stroke-dasharray=\"4 3\"",
        false => "",
    };
    format!("stroke=\"#1f4e79\" stroke-width=\"3\"{dashes}")
}
