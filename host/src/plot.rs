//! Line charts as SVG, and SVG as PNG.

use anyhow::{Context, anyhow};
use plotters::prelude::*;
use resvg::{tiny_skia, usvg};
use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
};

/// A chart of one or more lines.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Above the chart.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// Name and points of each line.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

const SIZE: (u32, u32) = (900, 520);
const COLOURS: [RGBColor; 7] = [
    RGBColor(178, 76, 42),
    RGBColor(90, 110, 140),
    RGBColor(70, 130, 90),
    RGBColor(120, 80, 140),
    RGBColor(200, 150, 40),
    RGBColor(60, 60, 60),
    RGBColor(70, 160, 180),
];
const TYPEFACE: &str = "Ubuntu";

/// Accepts file names a picture can have.
pub fn picture_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg" | "png") => Ok(path),
        _ => Err("a file name that ends in .svg or .png".to_owned()),
    }
}

/// The chart as SVG text.
pub fn svg(chart: &Chart) -> anyhow::Result<String> {
    let mut text = String::new();
    draw(chart, &mut text).map_err(|e| anyhow!("drawing the chart: {e}"))?;
    Ok(text)
}

fn draw(chart: &Chart, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let points =
        || chart.lines.iter().flat_map(|(_, line)| line).filter(|p| p.0.is_finite() && p.1.is_finite());
    // Zero is in the picture: what is small looks small.
    let range = |values: &dyn Fn((f64, f64)) -> f64, air: f64| {
        let values = || points().map(|p| values(*p));
        let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        if low < high { low * air..high * air } else { 0.0..1.0 }
    };
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut area = ChartBuilder::on(&root)
        .caption(&chart.title, (TYPEFACE, 22))
        .margin(14)
        .x_label_area_size(46)
        .y_label_area_size(78)
        .build_cartesian_2d(range(&|p| p.0, 1.0), range(&|p| p.1, 1.08))?;
    area.configure_mesh()
        .x_desc(&chart.x_label)
        .y_desc(&chart.y_label)
        .label_style((TYPEFACE, 14))
        .axis_desc_style((TYPEFACE, 16))
        .light_line_style(RGBColor(245, 245, 245))
        .bold_line_style(RGBColor(225, 225, 225))
        .draw()?;
    for ((name, line), colour) in chart.lines.iter().zip(COLOURS.iter().cycle()) {
        let style = colour.stroke_width(2);
        area.draw_series(LineSeries::new(line.iter().copied().filter(|p| p.1.is_finite()), style))?
            .label(name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 22, y)], style));
    }
    area.configure_series_labels()
        .position(free_corner(&points().copied().collect::<Vec<_>>()))
        .background_style(WHITE.mix(0.85))
        .label_font((TYPEFACE, 15))
        .draw()?;
    root.present()?;
    Ok(())
}

/// The corner with the fewest points: names do not cover what they name.
fn free_corner(points: &[(f64, f64)]) -> SeriesLabelPosition {
    let span = |along: &dyn Fn(&(f64, f64)) -> f64| {
        points.iter().map(along).fold((0.0f64, 0.0f64), |(low, high), c| (low.min(c), high.max(c)))
    };
    let (across, up) = (span(&|p| p.0), span(&|p| p.1));
    let share = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low).max(f64::MIN_POSITIVE);
    let crowd = |right: bool, upper: bool| {
        let inside = |p: &&(f64, f64)| {
            let (x, y) = (share(p.0, across), share(p.1, up));
            (if right { x > 0.6 } else { x < 0.4 }) && (if upper { y > 0.65 } else { y < 0.35 })
        };
        points.iter().filter(inside).count()
    };
    [
        (crowd(false, true), SeriesLabelPosition::UpperLeft),
        (crowd(true, true), SeriesLabelPosition::UpperRight),
        (crowd(true, false), SeriesLabelPosition::LowerRight),
        (crowd(false, false), SeriesLabelPosition::LowerLeft),
    ]
    .into_iter()
    .min_by_key(|(count, _)| *count)
    .map_or(SeriesLabelPosition::UpperLeft, |(_, corner)| corner)
}

/// The typeface that comes with the program.
static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    Arc::new(fonts)
});

/// An SVG picture in pixels, with the typeface that comes with the program.
pub fn pixels(svg: &str) -> anyhow::Result<tiny_skia::Pixmap> {
    let options = usvg::Options { fontdb: FONTS.clone(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).context("reading the picture")?;
    let size = tree.size().to_int_size();
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).context("an empty picture")?;
    pixels.fill(tiny_skia::Color::WHITE);
    resvg::render(&tree, tiny_skia::Transform::identity(), &mut pixels.as_mut());
    Ok(pixels)
}

/// An SVG picture as PNG.
pub fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    pixels(svg)?.encode_png().context("encoding the picture")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_become_svg_and_png() {
        let chart = Chart {
            title: "a < b".to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: "error [%]".to_owned(),
            lines: vec![
                ("mean".to_owned(), vec![(0.0, 0.0), (1.0, 2.0), (2.0, f64::NAN)]),
                ("empty".to_owned(), vec![]),
            ],
        };
        let svg = svg(&chart).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("time [s]") && svg.contains("polyline"));
        let png = png(&svg).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        // Drawn, not blank: a blank picture of this size compresses to almost nothing.
        assert!(png.len() > 5000, "{}", png.len());
    }

    /// A pressed floor feels forces below zero.
    #[test]
    fn values_below_zero_are_in_the_picture() {
        let line = vec![(0.0, 0.0), (1.0, -7.0)];
        let chart =
            |lines| Chart { title: String::new(), x_label: String::new(), y_label: String::new(), lines };
        let text = svg(&chart(vec![("floor".to_owned(), line)])).unwrap();
        assert!(text.contains("-6.0"), "{text}");
        assert!(svg(&chart(vec![])).is_ok());
    }

    /// They covered how a curve begins.
    #[test]
    fn names_stand_where_no_curve_is() {
        let fall = |k: i32| (f64::from(k), -f64::from(k * k));
        for (points, free) in [
            ((0..20).map(|k| (f64::from(k), f64::from(k))).collect::<Vec<_>>(), "UpperLeft"),
            ((0..20).map(fall).collect(), "UpperRight"),
            ((0..20).map(|k| (f64::from(k), 7.0)).collect(), "LowerRight"),
        ] {
            assert_eq!(format!("{:?}", free_corner(&points)), free, "{points:?}");
        }
    }

    #[test]
    fn only_pictures_are_pictures() {
        assert!(picture_path("a/b.svg").is_ok() && picture_path("x.png").is_ok());
        assert!(picture_path("x.pdf").is_err() && picture_path("svg").is_err());
    }
}
