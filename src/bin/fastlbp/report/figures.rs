//! Figures as SVG: lines, a histogram, and bars, drawn by plotters.

use crate::failure::{Failure, Outcome};
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use std::fmt::{Debug, Display};
use std::ops::Range;

const SIZE: (u32, u32) = (760, 300);
/// As many points as a line has at most: more than the figure has columns.
const MOST_POINTS: usize = 1500;
const FONT: &str = "sans-serif";
/// Pixels of a line of a legend.
const LEGEND_LINE: i32 = 18;
/// Colours that people who cannot tell red from green tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// A line of a figure.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// What the axes of a figure say.
pub struct Axes<'a> {
    pub x: &'a str,
    pub y: &'a str,
    /// Whether the vertical axis is logarithmic: points that are not positive are left out.
    pub is_logarithmic: bool,
}

/// Lines over numbers; `None` where there is nothing to draw.
pub fn lines(axes: &Axes<'_>, series: &[Series]) -> Outcome<Option<String>> {
    let is_drawn =
        |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && (y > 0.0 || !axes.is_logarithmic);
    let series: Vec<(&str, Vec<(f64, f64)>)> = series
        .iter()
        .map(|line| (line.name.as_str(), line.points.iter().copied().filter(is_drawn).collect()))
        .filter(|(_, points): &(_, Vec<_>)| !points.is_empty())
        .map(|(name, points)| (name, thinned(points)))
        .collect();
    let points = || series.iter().flat_map(|(_, points)| points);
    let Some(x) = range(points().map(|point| point.0)) else { return Ok(None) };
    let Some(y) = range(points().map(|point| point.1)) else { return Ok(None) };
    draw(|area| {
        if axes.is_logarithmic {
            let range = (y.start / 2.0..y.end * 2.0).log_scale();
            let chart = builder(area).build_cartesian_2d(widened(x), range)?;
            draw_lines(chart, axes, &series, &|y| format!("{y:.0e}"))
        } else {
            let from_zero = if y.start >= 0.0 { 0.0..y.end } else { y };
            let chart = builder(area).build_cartesian_2d(widened(x), widened(from_zero))?;
            draw_lines(chart, axes, &series, &number)
        }
    })
    .map(Some)
}

/// How many of some probabilities there are in each of 50 intervals, on a logarithmic axis; `None` without any.
pub fn histogram(x: &str, y: &str, probabilities: &[f64]) -> Outcome<Option<String>> {
    const BINS: usize = 50;
    let mut counts = [0_u32; BINS];
    for &probability in probabilities.iter().filter(|p| p.is_finite()) {
        let bin = (probability * BINS as f64) as usize;
        counts[bin.min(BINS - 1)] += 1;
    }
    let Some(&most) = counts.iter().max().filter(|&&most| most > 0) else { return Ok(None) };
    // Below one, so that a bin with one in it is seen.
    const BASE: f64 = 0.5;
    draw(|area| {
        let range = (BASE..f64::from(most) * 2.0).log_scale();
        let mut chart = builder(area).build_cartesian_2d(0.0..1.0, range)?;
        mesh(&mut chart, x, y, &|y| number(&y.round()))?;
        let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let edge = |bin: usize| bin as f64 / BINS as f64;
        chart.draw_series(bars.map(|(bin, &count)| {
            let corners = [(edge(bin), BASE), (edge(bin + 1), f64::from(count))];
            Rectangle::new(corners, COLOURS[0].filled())
        }))?;
        Ok(())
    })
    .map(Some)
}

/// A horizontal bar for each of some times in seconds.
pub fn times(times: &[(&str, f64)]) -> Outcome<Option<String>> {
    let most = times.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
    if most <= 0.0 {
        return Ok(None);
    }
    let height = 60 + 28 * times.len() as u32;
    draw_sized((SIZE.0, height), |area| {
        let count = times.len() as f64;
        let mut chart = builder(area).build_cartesian_2d(0.0..most * 1.25, 0.0..count)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .y_labels(0)
            .light_line_style(TRANSPARENT)
            .x_labels(6)
            .x_label_formatter(&number)
            .x_desc("seconds")
            .draw()?;
        for (position, (name, seconds)) in times.iter().enumerate() {
            // The first one on top.
            let top = count - position as f64;
            let corners = [(0.0, top - 0.85), (*seconds, top - 0.15)];
            let colour = COLOURS[position % COLOURS.len()].mix(0.6);
            chart.draw_series([Rectangle::new(corners, colour.filled())])?;
            let text = format!("{name} {}", duration(*seconds));
            let place = (most * 0.005, top - 0.35);
            chart.draw_series([Text::new(text, place, (FONT, 14))])?;
        }
        Ok(())
    })
    .map(Some)
}

/// Seconds for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 1.0 => format!("{seconds:.2} s"),
        _ if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.0} us", seconds * 1e6),
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(work: impl FnOnce(&Area<'_>) -> Drawn) -> Outcome<String> {
    draw_sized(SIZE, work)
}

fn draw_sized(size: (u32, u32), work: impl FnOnce(&Area<'_>) -> Drawn) -> Outcome<String> {
    let mut text = String::new();
    let drawn = {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        work(&area).and_then(|()| Ok(area.present()?))
    };
    drawn.map_err(|error| Failure::other(format!("a figure cannot be drawn: {error}")))?;
    Ok(text)
}

fn builder<'a, 'b>(area: &'a Area<'b>) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(10).margin_right(24).x_label_area_size(38).y_label_area_size(64);
    builder
}

type Chart<'a, 'b, Y> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<plotters::coord::types::RangedCoordf64, Y>>;

fn mesh<Y>(
    chart: &mut Chart<'_, '_, Y>, x: &str, y: &str, format_y: &dyn Fn(&f64) -> String,
) -> Drawn
where
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .x_labels(8)
        .y_labels(6)
        .x_label_formatter(&number)
        .y_label_formatter(&|y| format_y(y))
        .x_desc(x)
        .y_desc(y)
        .label_style((FONT, 12))
        .axis_desc_style((FONT, 13))
        .draw()?;
    Ok(())
}

fn draw_lines<'a, 'b: 'a, Y>(
    mut chart: Chart<'a, 'b, Y>, axes: &Axes<'_>, series: &[(&str, Vec<(f64, f64)>)],
    format_y: &dyn Fn(&f64) -> String,
) -> Drawn
where
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    mesh(&mut chart, axes.x, axes.y, format_y)?;
    for (number, (name, points)) in series.iter().enumerate() {
        let style = COLOURS[number % COLOURS.len()].stroke_width(2);
        let drawn = match &points[..] {
            // A line of one point is not seen.
            &[point] => chart.draw_series([Circle::new(point, 3, style.filled())])?,
            points => chart.draw_series(LineSeries::new(points.iter().copied(), style))?,
        };
        if !name.is_empty() {
            drawn.label(*name).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
    }
    if series.iter().any(|(name, _)| !name.is_empty()) {
        let (across, down) = chart.plotting_area().get_pixel_range();
        let points = series.iter().flat_map(|(_, points)| points.iter());
        let pixels = points.map(|point| chart.backend_coord(point));
        let position = free_corner(across, down, series.len(), pixels);
        chart
            .configure_series_labels()
            .position(position)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.2))
            .label_font((FONT, 12))
            .draw()?;
    }
    Ok(())
}

/// The corner of a figure in which a legend of so many names hides the fewest points.
fn free_corner(
    across: Range<i32>, down: Range<i32>, names: usize, points: impl Iterator<Item = (i32, i32)>,
) -> SeriesLabelPosition {
    const POSITIONS: [SeriesLabelPosition; 4] = [
        SeriesLabelPosition::UpperRight,
        SeriesLabelPosition::LowerRight,
        SeriesLabelPosition::LowerLeft,
        SeriesLabelPosition::UpperLeft,
    ];
    let width = across.len() as i32 * 2 / 5;
    let height = LEGEND_LINE * (names as i32 + 1);
    let mut hidden = [0; POSITIONS.len()];
    for (x, y) in points {
        let (is_left, is_right) = (x < across.start + width, x > across.end - width);
        let (is_up, is_low) = (y < down.start + height, y > down.end - height);
        let corners = [is_up & is_right, is_low & is_right, is_low & is_left, is_up & is_left];
        for (hidden, is_in) in hidden.iter_mut().zip(corners) {
            *hidden += u64::from(is_in);
        }
    }
    let fewest = POSITIONS.into_iter().zip(hidden).min_by_key(|(_, hidden)| *hidden);
    fewest.map_or(SeriesLabelPosition::UpperRight, |(position, _)| position)
}

/// The least and the greatest of some numbers.
fn range(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    values.fold(None, |range, value| match range {
        None => Some(value..value),
        Some(Range { start, end }) => Some(start.min(value)..end.max(value)),
    })
}

/// A range with some width, which axes need.
fn widened(Range { start, end }: Range<f64>) -> Range<f64> {
    if end > start { start..end } else { start..start + 1.0 }
}

/// Of as many neighbours as one column has, the lowest and the highest.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let size = (2 * points.len()).div_ceil(MOST_POINTS);
    let ends = |chunk: &[(f64, f64)]| {
        let compare = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let low = chunk.iter().min_by(compare).copied();
        let high = chunk.iter().max_by(compare).copied();
        let mut ends: Vec<(f64, f64)> = low.into_iter().chain(high).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends
    };
    points.chunks(size).flat_map(ends).collect()
}

/// A number on an axis.
fn number(value: &(impl Display + Debug + Copy + Into<f64>)) -> String {
    let value: f64 = (*value).into();
    match value.abs() {
        size if size >= 1e6 || (size > 0.0 && size < 1e-3) => format!("{value:.1e}"),
        _ => format!("{}", (value * 1e4).round() / 1e4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_hides_few_points() {
        let corner = |points: &[(i32, i32)]| {
            format!("{:?}", free_corner(100..600, 10..210, 2, points.iter().copied()))
        };
        assert_eq!(corner(&[]), "UpperRight");
        // (Pixels count from the top.)
        assert_eq!(corner(&[(590, 20), (300, 100)]), "LowerRight");
        assert_eq!(corner(&[(590, 20), (590, 200)]), "LowerLeft");
        assert_eq!(corner(&[(590, 20), (590, 200), (110, 200)]), "UpperLeft");
        // All are taken: where there is one point and not two.
        let all = [(590, 20), (590, 200), (110, 200), (110, 20), (580, 20), (580, 200), (120, 200)];
        assert_eq!(corner(&all), "UpperLeft");
    }

    const AXES: Axes<'_> = Axes { x: "iteration", y: "a < b", is_logarithmic: true };

    fn series(points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { name: "<run>".into(), points: points.into_iter().collect() }
    }

    #[test]
    fn lines_are_drawn_where_there_are_points() {
        assert!(lines(&AXES, &[]).unwrap().is_none());
        assert!(lines(&AXES, &[series([(1.0, 0.0), (2.0, f64::INFINITY)])]).unwrap().is_none());
        let text = lines(&AXES, &[series((1..40).map(|i| (f64::from(i), 0.5_f64.powi(i))))]);
        let text = text.unwrap().unwrap();
        assert!(text.starts_with("<svg ") && text.contains("<polyline "), "{text}");
        assert!(
            text.contains("a &lt; b") && text.contains("&lt;run&gt;") && !text.contains("<run>")
        );
        assert!(lines(&AXES, &[series([(3.0, 1e-300)])]).unwrap().unwrap().contains("<circle "));
    }

    #[test]
    fn probabilities_and_times() {
        assert!(histogram("x", "y", &[]).unwrap().is_none());
        let text = histogram("x", "y", &[0.0, 0.5, 1.0, 1.0]).unwrap().unwrap();
        assert!(text.matches("<rect ").count() >= 3, "{text}");
        assert!(times(&[("nothing", 0.0)]).unwrap().is_none());
        let text = times(&[("read", 0.25), ("run", 2.0)]).unwrap().unwrap();
        assert!(text.contains("read 250.00 ms") && text.contains("run 2.00 s"), "{text}");
    }

    #[test]
    fn long_lines_keep_their_ends() {
        let points: Vec<(f64, f64)> =
            (0..100_000).map(|i| (f64::from(i), if i == 77_777 { 9.0 } else { 1.0 })).collect();
        let thin = thinned(points);
        assert!(thin.len() <= MOST_POINTS + 2 && thin.contains(&(77_777.0, 9.0)));
        assert!(thin.is_sorted_by_key(|point| point.0));
    }
}
