//! Flame graphs as SVG, drawn by inferno.

use std::io::Cursor;

use inferno::{differential, flamegraph};

use weir_model::{StackCounts, StackProfile};

use crate::ReportError;

/// Width of a graph for a page, pixels.
const WIDTH: usize = 1_200;
/// Frames below this share of the width are not drawn, per cent.
const LEAST_PERCENT: f64 = 0.2;

/// Draws a profile; the picture can be searched and zoomed in a browser.
///
/// # Errors
/// If there are no stacks.
pub fn flame_graph(title: &str, folded: &StackCounts) -> Result<String, ReportError> {
    let mut options = options(title);
    options.image_width = None;
    draw(&mut options, &folded.lines())
}

/// Draws the threads that waited; `None` if none did.
///
/// # Errors
/// If the drawing fails.
pub fn wait_graph(title: &str, profile: &StackProfile) -> Result<Option<String>, ReportError> {
    let waits = StackCounts::parse(&profile.waits);
    let title = format!("{title}: threads that wait");
    let is_any = waits.samples() > 0;
    is_any.then(|| flame_graph(&title, &waits)).transpose()
}

/// Draws what the second profile has more of (red) and less (blue) than the first. The width of a frame is its share of
/// the second, and the samples of the first are scaled to as many.
///
/// # Errors
/// If there are no stacks.
pub(super) fn difference_graph(
    title: &str,
    before: &StackCounts,
    after: &StackCounts,
) -> Result<String, ReportError> {
    let mut lines = Vec::new();
    let scaled = differential::Options {
        normalize: true,
        ..differential::Options::default()
    };
    let (before, after) = (before.to_string(), after.to_string());
    differential::from_readers(scaled, Cursor::new(before), Cursor::new(after), &mut lines)
        .map_err(ReportError::FlameGraph)?;
    let text = String::from_utf8_lossy(&lines);
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    draw(&mut options(title), &lines)
}

fn options(title: &str) -> flamegraph::Options<'static> {
    let mut options = flamegraph::Options::default();
    title.clone_into(&mut options.title);
    options.image_width = Some(WIDTH);
    options.min_width = LEAST_PERCENT;
    // The same function has the same colour in each picture.
    options.deterministic = true;
    options
}

fn draw(options: &mut flamegraph::Options<'_>, lines: &[String]) -> Result<String, ReportError> {
    let mut svg = Vec::new();
    let lines = lines.iter().map(String::as_str);
    flamegraph::from_lines(options, lines, &mut svg).map_err(ReportError::FlameGraph)?;
    Ok(String::from_utf8_lossy(&svg).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_names_its_functions() {
        let svg = flame_graph("One <run>", &StackCounts::parse("m;main;work 3\nm;main 1")).unwrap();
        assert!(
            svg.contains("work") && svg.contains("One &lt;run&gt;"),
            "{svg}"
        );
    }

    #[test]
    fn a_difference_is_red_where_there_is_more() {
        let svg = difference_graph(
            "d",
            &StackCounts::parse("m;a 10\nm;b 10"),
            &StackCounts::parse("m;a 30\nm;b 10"),
        );
        let svg = svg.unwrap();
        assert!(svg.contains("+25.00%") && svg.contains("-25.00%"), "{svg}");
    }

    #[test]
    fn without_stacks_there_is_an_error() {
        assert!(flame_graph("t", &StackCounts::default()).is_err());
    }
}
