//! A sheet of paper with pictures on it: titles, one legend, a caption.

use super::{DARK, Look, Stage, State, displacements, escape, hex, surface::mark};
use crate::plot::pixels;
use nendo_model::{
    mesh::Vec3,
    scene::{Scene, Support},
    text::count,
};
use resvg::tiny_skia::Pixmap;
use std::fmt::Write;

/// For a line of text, and beside rows.
const LINE: f64 = 40.0;
/// Caption and legend are one above the other where both do not fit beside each other.
const NARROW: f64 = 700.0;
const INK: &str = "#4a443c";
const PAPER: &str = "#fbfaf7";

/// One state in a picture.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What is shown.
    pub state: State,
    /// Written above it.
    pub title: String,
}

/// States side by side, with a word on what they have in common.
#[derive(Clone, Debug)]
pub struct Row {
    /// Written at the left.
    pub title: String,
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// What is written below.
#[derive(Clone, Debug, Default)]
pub struct Caption {
    /// After the scene's name.
    pub text: String,
    /// Whether it is seen where the object began.
    pub outlined: bool,
}

/// A state alone, with where it began behind: for a report.
pub fn picture(scene: &Scene, positions: &[Vec3], time: f64) -> String {
    let values = displacements(scene, positions).iter().map(Vec3::norm).collect();
    let panel = Panel { state: State { time, positions: positions.to_vec(), values }, title: String::new() };
    let rows = [Row { title: String::new(), panels: vec![panel] }];
    let caption = Caption { text: String::new(), outlined: true };
    sheet(scene, &Look::default(), None, &rows, &caption)
}

/// Rows of states of one scene, all on one scale, on a sheet of so many pixels or of as many as they need.
pub fn sheet(
    scene: &Scene,
    look: &Look,
    size: Option<(u32, u32)>,
    rows: &[Row],
    caption: &Caption,
) -> String {
    let columns = rows.iter().map(|row| row.panels.len()).max().unwrap_or(0).max(1) as f64;
    let paper = Paper::new(size, columns, rows);
    let states: Vec<&State> = rows.iter().flat_map(|row| &row.panels).map(|panel| &panel.state).collect();
    paper.draw(&Stage::new(scene, look, paper.panel, &states), rows, caption)
}

/// How a sheet is parted.
#[derive(Clone, Copy, Debug)]
struct Paper {
    total: (f64, f64),
    panel: (f64, f64),
    left: f64,
    above: f64,
}

impl Paper {
    fn new(size: Option<(u32, u32)>, columns: f64, rows: &[Row]) -> Self {
        let titled = rows.iter().flat_map(|row| &row.panels).any(|panel| !panel.title.is_empty());
        let left = if rows.iter().all(|row| row.title.is_empty()) { 0.0 } else { LINE };
        let above = if titled { LINE } else { 0.0 };
        let count = rows.len().max(1) as f64;
        let own = if columns * count > 1.0 { (400.0, 300.0) } else { (900.0, 640.0) };
        let panel = match size {
            None => own,
            Some((width, height)) => {
                let below = below(f64::from(width));
                let (width, height) = (f64::from(width) - left, f64::from(height) - above - below);
                ((width / columns).max(1.0), (height / count).max(1.0))
            }
        };
        let width = left + panel.0 * columns;
        Self { total: (width, above + panel.1 * count + below(width)), panel, left, above }
    }

    fn draw(&self, stage: &Stage<'_>, rows: &[Row], caption: &Caption) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n\
             <defs><filter id=\"soft\" x=\"-20%\" y=\"-20%\" width=\"140%\" height=\"140%\"><feGaussianBlur stdDeviation=\"{2:.1}\"/></filter>\n\
             <linearGradient id=\"heat\">",
            self.total.0,
            self.total.1,
            self.panel.0 / 110.0,
        );
        let stops = stage.scale.stops();
        for (k, stop) in stops.iter().enumerate() {
            let place = 100.0 * k as f64 / (stops.len() - 1) as f64;
            let _ = write!(out, "<stop offset=\"{place:.0}%\" stop-color=\"{}\"/>", hex(*stop));
        }
        let _ = writeln!(
            out,
            "</linearGradient></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>"
        );
        let mut lost = 0;
        for (r, row) in rows.iter().enumerate() {
            let top = self.above + self.panel.1 * r as f64;
            let (x, y) = (self.left * 0.72, top + self.panel.1 / 2.0);
            let turned = format!("transform=\"translate({x:.0} {y:.0}) rotate(-90)\" text-anchor=\"middle\"");
            text(&mut out, &turned, 17, &row.title);
            for (c, panel) in row.panels.iter().enumerate() {
                let x = self.left + self.panel.0 * c as f64;
                if r == 0 {
                    let place = format!(
                        "x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\"",
                        x + self.panel.0 / 2.0,
                        self.above * 0.7
                    );
                    text(&mut out, &place, 17, &panel.title);
                }
                let (width, height) = self.panel;
                let _ = writeln!(out, "<svg x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\">");
                out += &stage.draw(&panel.state, caption.outlined);
                out.push_str("</svg>\n");
                lost = lost.max(stage.out_of_picture(&panel.state));
            }
        }
        self.caption(&mut out, stage, caption, lost);
        out + "</svg>\n"
    }

    fn caption(&self, out: &mut String, stage: &Stage<'_>, caption: &Caption, lost: usize) {
        let (width, height) = self.total;
        let below = height - below(width);
        let middle = |line: f64| below + LINE * (line + 0.5);
        let mut words = vec![stage.scene.name.clone()];
        words.extend((!caption.text.is_empty()).then(|| caption.text.clone()));
        if lost > 0 {
            let of = count(stage.scene.mesh.particles.len(), "particle");
            words.push(format!("{lost} of {of} out of the picture"));
        }
        let place = format!("x=\"16\" y=\"{:.0}\"", middle(0.0) + 5.0);
        text(out, &place, 15, &words.join(", "));
        legend(out, stage, width - 16.0, middle(if width < NARROW { 0.8 } else { 0.0 }));
    }
}

/// States one at a time, for a movie: all on one scale.
#[derive(Debug)]
pub struct Reel<'a> {
    stage: Stage<'a>,
    paper: Paper,
    states: &'a [State],
}

impl<'a> Reel<'a> {
    /// Frames of so many pixels.
    pub fn new(scene: &'a Scene, look: &Look, size: (u32, u32), states: &'a [State]) -> Self {
        let paper = Paper::new(Some(size), 1.0, &[]);
        let all: Vec<&State> = states.iter().collect();
        Self { stage: Stage::new(scene, look, paper.panel, &all), paper, states }
    }

    /// The frame of a state, with its time.
    pub fn frame(&self, number: usize) -> anyhow::Result<Pixmap> {
        let state = self.states[number].clone();
        // As many digits as tell frames apart.
        let pace = self.states.get(1).map_or(1.0, |second| second.time - self.states[0].time);
        let digits = (-pace.log10()).ceil().clamp(0.0, 6.0) as usize;
        let caption = Caption { text: format!("{:.digits$} s", state.time), outlined: false };
        let rows = [Row { title: String::new(), panels: vec![Panel { state, title: String::new() }] }];
        pixels(&self.paper.draw(&self.stage, &rows, &caption))
    }

    /// The most particles that are out of a frame.
    pub fn out_of_picture(&self) -> usize {
        self.states.iter().map(|state| self.stage.out_of_picture(state)).max().unwrap_or(0)
    }
}

/// The height of what is written below.
fn below(width: f64) -> f64 {
    if width < NARROW { 1.8 * LINE } else { LINE }
}

fn text(out: &mut String, place: &str, size: u32, words: &str) {
    if !words.is_empty() {
        let words = escape(words);
        let _ = writeln!(
            out,
            "<text {place} font-family=\"Ubuntu\" font-size=\"{size}\" fill=\"{INK}\">{words}</text>"
        );
    }
}

/// At most so wide is a text of this legend, whatever a browser has for our typeface.
fn wide(words: &str) -> f64 {
    8.6 * words.chars().count() as f64
}

/// What marks and colours mean, from the right end.
fn legend(out: &mut String, stage: &Stage<'_>, right: f64, y: f64) {
    let mut x = right;
    let mut write = |place: &str, x: f64, words: &str| {
        text(out, &format!("x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"{place}\"", y + 5.0), 15, words);
    };
    let mut shapes = String::new();
    if let Some((from, to)) = stage.scale.ends() {
        let bar = 110.0;
        x -= wide(&to);
        write("start", x, &to);
        x -= bar + 8.0;
        let _ = writeln!(
            shapes,
            "<rect class=\"scale\" x=\"{x:.0}\" y=\"{:.0}\" width=\"{bar}\" height=\"10\" rx=\"5\" fill=\"url(#heat)\"/>",
            y - 5.0
        );
        write("end", x - 8.0, &from);
        x -= wide(&from) + 18.0;
    } else {
        for (k, material) in stage.scene.materials.iter().enumerate().rev().take(8) {
            write("end", x, &material.name);
            x -= wide(&material.name) + 8.0;
            let fill = hex(stage.scale.of(k as f64));
            let _ = writeln!(
                shapes,
                "<circle cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"6\" fill=\"{fill}\" stroke=\"{DARK}\" stroke-width=\".5\"/>"
            );
            x -= 24.0;
        }
    }
    let is = |wanted: fn(&Support) -> bool| stage.scene.support.iter().copied().find(wanted);
    let held =
        [(is(|s| matches!(s, Support::Moved(_))), "moved"), (is(|s| matches!(s, Support::Pinned)), "pinned")];
    for (support, word) in held.into_iter().filter_map(|(support, word)| Some((support?, word))) {
        write("end", x, word);
        x -= wide(word) + 6.0;
        shapes += &mark(support, x, y).unwrap_or_default();
        x -= 20.0;
    }
    *out += &shapes;
}
