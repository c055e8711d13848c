//! Plots as inline SVG. Colours are variables of the page's style, so that a plot follows light and dark.

use crate::values::estimate::{HeatMap, Interval};
use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rules::Variant;

/// Colours of the drawing, and the variables that take their place.
const COLORS: [(RGBColor, &str); 8] = [
    (PAPER, "var(--paper)"),
    (INK, "var(--ink)"),
    (GRID, "var(--grid)"),
    (SERIES[0], "var(--s1)"),
    (SERIES[1], "var(--s2)"),
    (SERIES[2], "var(--s3)"),
    (SERIES[3], "var(--s4)"),
    (SERIES[4], "var(--s5)"),
];
const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(2, 2, 2);
const PAPER: RGBColor = RGBColor(8, 8, 8);
/// Colours of the lines, in order.
const SERIES: [RGBColor; 5] = [
    RGBColor(3, 3, 3),
    RGBColor(4, 4, 4),
    RGBColor(5, 5, 5),
    RGBColor(6, 6, 6),
    RGBColor(7, 7, 7),
];
const WIDTH: u32 = 640;
const FONT: &str = "sans-serif";

/// A line of points, with a band around it where its error is known.
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// x and y, x ascending.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper ends at the same x.
    pub band: Option<Vec<(f64, f64)>>,
}

/// A row of a forest plot: a name, and one interval for each series, by the series' place.
pub struct Row {
    /// Name at the left.
    pub name: String,
    /// Place of the series and its interval.
    pub marks: Vec<(usize, Interval)>,
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws on a canvas and puts the page's colours in.
fn svg(
    height: u32,
    label: &str,
    draw: impl FnOnce(&Canvas<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        draw(&root)?;
        root.present().map_err(failed)?;
    }
    for (color, variable) in COLORS {
        let RGBColor(r, g, b) = color;
        svg = svg.replace(&format!("#{r:02X}{g:02X}{b:02X}"), variable);
    }
    let label = label.replace('"', "'");
    Ok(svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{label}\" "),
        1,
    ))
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("a plot cannot be drawn: {error}")
}

fn text(size: f64, color: RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(&color)
}

/// Names of series beside marks of their colours, in a row above the plot.
fn legend<'a>(
    root: &Canvas<'_>,
    left: i32,
    names: impl Iterator<Item = &'a str>,
) -> anyhow::Result<()> {
    let mut x = left;
    for (place, name) in names.enumerate() {
        let color = SERIES[place % SERIES.len()];
        root.draw(&Circle::new((x + 5, 12), 4, color.filled()))
            .map_err(failed)?;
        root.draw(&Text::new(name.to_owned(), (x + 14, 5), text(13.0, INK)))
            .map_err(failed)?;
        x += 32 + 7 * name.chars().count() as i32;
    }
    Ok(())
}

/// Lines over training steps, from 0 on unless all of them begin late, as those of a run from another's net do.
///
/// # Errors
/// If the drawing fails, which a drawing into memory does not.
pub fn lines(label: &str, x_label: &str, lines: &[Line]) -> anyhow::Result<String> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let bands = || lines.iter().filter_map(|line| line.band.as_ref()).flatten();
    let xs = || points().map(|point| point.0);
    let ys = || {
        points()
            .map(|point| point.1)
            .chain(bands().flat_map(|&(low, high)| [low, high]))
    };
    let x1 = xs().fold(1.0, f64::max);
    let first = xs().fold(x1, f64::min);
    let x0 = if first > x1 / 4.0 && first < x1 {
        first
    } else {
        0.0
    };
    let named = if lines.len() > 1 { lines } else { &[] };
    let (y0, y1) = padded(
        ys().fold(f64::INFINITY, f64::min),
        ys().fold(f64::NEG_INFINITY, f64::max),
    );
    svg(280, label, |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(8)
            .margin_top(if named.is_empty() { 8 } else { 28 })
            .x_label_area_size(38)
            .y_label_area_size(58)
            .build_cartesian_2d(x0..x1, y0..y1)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(text(13.0, INK))
            .x_desc(x_label)
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .draw()
            .map_err(failed)?;
        for (place, line) in lines.iter().enumerate() {
            let color = SERIES[place % SERIES.len()];
            if let Some(band) = &line.band {
                let outline = outline(&line.points, band);
                chart
                    .draw_series(std::iter::once(Polygon::new(outline, color.mix(0.18))))
                    .map_err(failed)?;
            }
            chart
                .draw_series(LineSeries::new(
                    line.points.iter().copied(),
                    color.stroke_width(2),
                ))
                .map_err(failed)?;
        }
        legend(root, 66, named.iter().map(|line| &line.name[..]))
    })
}

/// The band's upper edge from left to right, then its lower edge back.
fn outline(points: &[(f64, f64)], band: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let upper = points.iter().zip(band);
    let lower = upper.clone().rev();
    upper
        .map(|(point, band)| (point.0, band.1))
        .chain(lower.map(|(point, band)| (point.0, band.0)))
        .collect()
}

/// A number without superfluous digits.
fn number(number: &f64) -> String {
    format!("{}", (number * 1000.0).round() / 1000.0)
}

/// Room around the lowest and highest value.
fn padded(low: f64, high: f64) -> (f64, f64) {
    if !low.is_finite() || !high.is_finite() {
        return (0.0, 1.0);
    }
    let room = (0.06 * (high - low)).max(1e-3 * high.abs()).max(1e-3);
    (low - room, high + room)
}

/// Intervals side by side, one row a man.
///
/// # Errors
/// As [`lines`].
pub fn forest(label: &str, x_label: &str, series: &[&str], rows: &[Row]) -> anyhow::Result<String> {
    const LEFT: i32 = 96;
    const TOP: i32 = 30;
    const STEP: i32 = 13;
    let per_row = STEP * series.len() as i32 + 14;
    let bottom = TOP + per_row * rows.len() as i32;
    let marks = || rows.iter().flat_map(|row| &row.marks);
    // An interval without bounds to speak of must not squeeze all others.
    let values = || marks().map(|(_, interval)| interval.value);
    let most = 2.0 * values().fold(1.0, f64::max);
    let high = marks()
        .map(|(_, interval)| interval.high)
        .fold(1.0, f64::max)
        .min(most);
    let low = marks()
        .map(|(_, interval)| interval.low)
        .fold(0.0, f64::min)
        .max(-0.25 * most);
    let at = |value: f64| {
        let share = (value.clamp(low, high) - low) / (high - low);
        LEFT + (share * f64::from(WIDTH as i32 - LEFT - 20)) as i32
    };
    svg((bottom + 44) as u32, label, |root| {
        let line = |from: (i32, i32), to: (i32, i32), color: RGBColor, width: u32| {
            root.draw(&PathElement::new([from, to], color.stroke_width(width)))
                .map_err(failed)
        };
        let write = |words: &str, at: (i32, i32), style: TextStyle<'_>| {
            root.draw(&Text::new(words.to_owned(), at, style))
                .map_err(failed)
        };
        let middle = |style: TextStyle<'static>| style.pos(Pos::new(HPos::Center, VPos::Top));
        for tick in ticks(low, high) {
            line((at(tick), TOP), (at(tick), bottom), GRID, 1)?;
            write(
                &format!("{tick}"),
                (at(tick), bottom + 6),
                middle(text(13.0, INK)),
            )?;
        }
        write(
            x_label,
            ((LEFT + WIDTH as i32) / 2, bottom + 24),
            middle(text(13.0, INK)),
        )?;
        legend(root, LEFT, series.iter().copied())?;
        for (number, row) in rows.iter().enumerate() {
            let top = TOP + per_row * number as i32;
            line((0, top), (WIDTH as i32, top), GRID, 1)?;
            write(&row.name, (4, top + per_row / 2 - 8), text(14.0, INK))?;
            for (place, interval) in &row.marks {
                let color = SERIES[place % SERIES.len()];
                let y = top + 13 + STEP * *place as i32;
                line((at(interval.low), y), (at(interval.high), y), color, 2)?;
                root.draw(&Circle::new((at(interval.value), y), 4, color.filled()))
                    .map_err(failed)?;
            }
        }
        line((LEFT, bottom), (WIDTH as i32 - 20, bottom), INK, 1)
    })
}

/// Round numbers of an axis.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 8.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= raw);
    let step = step.unwrap_or(1.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last)
        .map(|n| (n as f64 * step * 100.0).round() / 100.0)
        .collect()
}

/// A man's worth square by square; the deeper the colour the more, in another colour what is less than nothing.
///
/// # Errors
/// As [`lines`].
pub fn heat(variant: &Variant, map: &HeatMap) -> anyhow::Result<String> {
    const CELL: i32 = 56;
    let worths = map.squares.iter().map(|square| square.pawns.abs());
    let most = worths.fold(0.1, f64::max);
    let height = CELL * i32::from(variant.ranks()) + 26;
    let label = format!("worth of the {} by square, in pawns", map.name);
    svg(height as u32, &label, |root| {
        let style = |size| text(size, INK).pos(Pos::new(HPos::Center, VPos::Center));
        for square in variant.board() {
            let name = variant.square_name(square);
            let x = 30 + CELL * i32::from(square.file());
            let y = 2 + CELL * (i32::from(variant.ranks()) - 1 - i32::from(square.rank()));
            let cell = [(x, y), (x + CELL - 2, y + CELL - 2)];
            root.draw(&Rectangle::new(cell, GRID.stroke_width(1)))
                .map_err(failed)?;
            let Some(found) = map.squares.iter().find(|found| found.square == name) else {
                continue;
            };
            let color = SERIES[usize::from(found.pawns < 0.0)];
            let fill = color.mix(0.6 * found.pawns.abs() / most).filled();
            root.draw(&Rectangle::new(cell, fill)).map_err(failed)?;
            let center = (x + CELL / 2, y + CELL / 2);
            root.draw(&Text::new(
                format!("{:.1}", found.pawns),
                center,
                style(15.0),
            ))
            .map_err(failed)?;
        }
        for rank in 0..variant.ranks() {
            let name = rules::Square::new(0, rank)
                .map(|square| variant.square_name(square))
                .unwrap_or_default();
            let y = CELL * (i32::from(variant.ranks()) - 1 - i32::from(rank)) + CELL / 2;
            root.draw(&Text::new(name[1..].to_owned(), (14, y), style(14.0)))
                .map_err(failed)?;
        }
        for file in 0..variant.files() {
            let letter = ((b'a' + file) as char).to_string();
            let x = 30 + CELL * i32::from(file) + CELL / 2;
            root.draw(&Text::new(letter, (x, height - 12), style(14.0)))
                .map_err(failed)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_use_the_pages_colours_only() {
        let line = Line {
            name: "Elo".to_owned(),
            points: vec![(0.0, 0.0), (10.0, 120.0)],
            band: Some(vec![(-10.0, 10.0), (100.0, 140.0)]),
        };
        let interval = Interval {
            value: 3.0,
            low: 2.0,
            high: 4.5,
        };
        let row = Row {
            name: "knight".to_owned(),
            marks: vec![(0, interval)],
        };
        let falcon = Variant::by_name("falcon").expect("built in");
        let map = HeatMap {
            letter: 'F',
            name: "falcon".to_owned(),
            squares: vec![crate::values::estimate::HeatSquare {
                square: "e4".to_owned(),
                pawns: 4.2,
                positions: 9,
            }],
        };
        for svg in [
            lines("elo", "steps", &[line]).expect("drawn"),
            lines("nothing", "steps", &[]).expect("drawn"),
            forest("values", "pawns", &["regression"], &[row]).expect("drawn"),
            heat(&falcon, &map).expect("drawn"),
        ] {
            assert!(
                svg.starts_with("<svg role=\"img\"") && svg.trim_end().ends_with("</svg>"),
                "{svg}"
            );
            let colors = svg.matches("=\"#").count();
            assert_eq!(colors, 0, "{svg}");
        }
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 8.0), (0..=8).map(f64::from).collect::<Vec<_>>());
        assert_eq!(ticks(-0.3, 1.1), [-0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    }
}
