//! What a scene's sensors find over time: as a table, as charts; and their verdicts in words.

use crate::{plot::Chart, quantity::quantity};
use nendo_model::scene::{
    Scene,
    measure::{Expectation, Measuring, Moment, Outcome, Quantity, Value},
};
use std::{collections::BTreeMap, fmt::Write};

/// A number that is measured: its name with its unit, and whether it is a part of a vector.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    unit: &'static str,
}

/// All numbers that a scene's sensors find, moment by moment.
#[derive(Clone, Debug)]
pub struct MeasureSeries {
    columns: Vec<Column>,
    rows: Vec<(f64, Vec<Option<f64>>)>,
}

/// Name and points of a curve.
type Curve = (String, Vec<(f64, f64)>);

/// Whether something is a number at any moment; a kind of deformation is not.
fn is_number(quantity: &Quantity) -> bool {
    !matches!(quantity, Quantity::Class { .. })
}

impl MeasureSeries {
    /// Of a scene, with nothing in it.
    pub fn new(scene: &Scene) -> Self {
        let mut columns = Vec::new();
        for measure in scene.measures.iter().filter(|measure| is_number(&measure.quantity)) {
            let unit = measure.quantity.unit();
            let parts: &[&str] = if measure.quantity.is_vector() && measure.axis.is_none() {
                &["_x", "_y", "_z"]
            } else {
                &[""]
            };
            columns.extend(parts.iter().map(|part| Column { name: format!("{}{part}", measure.name), unit }));
        }
        Self { columns, rows: Vec::new() }
    }

    /// Adds what is found at a moment.
    pub fn push(&mut self, scene: &Scene, measuring: &Measuring<'_>, moment: &Moment<'_>) {
        let mut row = Vec::with_capacity(self.columns.len());
        for measure in scene.measures.iter().filter(|measure| is_number(&measure.quantity)) {
            let vector = measure.quantity.is_vector() && measure.axis.is_none();
            match measuring.value(measure, moment) {
                Some(Value::Number(n)) => row.push(Some(n)),
                Some(Value::Vector(v)) => row.extend(v.map(Some)),
                // Where nothing touches there is no place of contact.
                Some(Value::Class(_)) | None => row.extend(vec![None; if vector { 3 } else { 1 }]),
            }
        }
        self.rows.push((moment.step as f64 * scene.step, row));
    }

    /// The table, one line per moment; a cell is empty where there was nothing to measure.
    pub fn csv(&self) -> String {
        let mut csv = "t_s".to_owned();
        for Column { name, unit } in &self.columns {
            let unit = unit.replace(' ', "").replace('/', "_").replace('³', "3").replace('²', "2");
            let _ = write!(csv, ",{name}{}{unit}", if unit.is_empty() { "" } else { "_" });
        }
        csv.push('\n');
        for (time, row) in &self.rows {
            let _ = write!(csv, "{time}");
            for cell in row {
                let _ = write!(csv, ",{}", cell.map_or(String::new(), |n| n.to_string()));
            }
            csv.push('\n');
        }
        csv
    }

    /// A chart for each unit.
    pub fn charts(&self) -> Vec<Chart> {
        let mut charts: BTreeMap<&str, Vec<Curve>> = BTreeMap::new();
        for (k, Column { name, unit }) in self.columns.iter().enumerate() {
            let point = |(time, row): &(f64, Vec<Option<f64>>)| Some((*time, row[k]?));
            let line: Vec<(f64, f64)> = self.rows.iter().filter_map(point).collect();
            if line.len() > 1 {
                charts.entry(unit).or_default().push((name.clone(), line));
            }
        }
        let chart = |(unit, lines): (&str, _)| Chart {
            title: "Measured".to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: if unit.is_empty() { "number".to_owned() } else { format!("[{unit}]") },
            lines,
        };
        charts.into_iter().map(chart).collect()
    }
}

/// A measured value in words.
pub fn value_text(value: &Value, unit: &str) -> String {
    match value {
        Value::Number(n) => quantity(*n, unit).trim_end().to_owned(),
        Value::Vector(v) => format!("({})", v.map(|n| quantity(n, unit)).join(", ")),
        Value::Class(kind) => kind.name().to_owned(),
    }
}

/// An expectation in words.
pub fn expectation_text(expectation: &Expectation, unit: &str) -> String {
    let number = |n: f64| quantity(n, unit).trim_end().to_owned();
    let near = match (&expectation.value, expectation.within, expectation.within_percent) {
        (Some(value), Some(within), _) => Some(format!("{} ± {}", value_text(value, unit), number(within))),
        (Some(value), None, percent) => {
            Some(format!("{} ± {} %", value_text(value, unit), percent.unwrap_or(0.0)))
        }
        (None, ..) => None,
    };
    let parts = [
        near,
        expectation.at_least.map(|n| format!("at least {}", number(n))),
        expectation.at_most.map(|n| format!("at most {}", number(n))),
        expectation.class.map(|kind| kind.name().to_owned()),
        expectation.more_than.clone().map(|other| format!("more than {}", String::from(other))),
        expectation.less_than.clone().map(|other| format!("less than {}", String::from(other))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Name with its time, value, what was expected, and the verdict, for people.
pub fn rows(outcomes: &[Outcome]) -> Vec<[String; 4]> {
    let row = |outcome: &Outcome| {
        let unit = outcome.unit;
        let value = outcome.value.as_ref().map_or_else(|| "not measured".to_owned(), |v| value_text(v, unit));
        let wanted = outcome.expected.as_ref().map_or(String::new(), |e| expectation_text(e, unit));
        let verdict = match (outcome.ok, &outcome.why) {
            (Some(true), _) => "met".to_owned(),
            (Some(false), why) => format!("NOT MET: {}", why.as_deref().unwrap_or_default()),
            (None, Some(why)) => format!("not judged: {why}"),
            (None, None) if outcome.expected.is_some() => "not judged".to_owned(),
            (None, None) => String::new(),
        };
        [format!("{} at {}", outcome.name, quantity(outcome.at, "s")), value, wanted, verdict]
    };
    outcomes.iter().map(row).collect()
}

/// Whether all expectations are met: nothing without any, or if one could not be judged and none was missed.
pub fn all_met(outcomes: &[Outcome]) -> Option<bool> {
    let mut expected = outcomes.iter().filter(|outcome| outcome.expected.is_some()).peekable();
    expected.peek()?;
    let verdicts: Vec<Option<bool>> = expected.map(|outcome| outcome.ok).collect();
    if verdicts.contains(&Some(false)) {
        Some(false)
    } else {
        verdicts.iter().all(|ok| *ok == Some(true)).then_some(true)
    }
}

/// Columns side by side, each as wide as its widest cell.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: String =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        cells.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::mesh::Vec3;

    const SCENE: &str = "step = 0.5\nduration = 1\nmass = 2\n[mesh]\nparticles = [[0,0,0],[0,0,1]]\nedges = [[0,1]]\n\
        [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[[measure]]\nname = \"where\"\nof = \"position\"\non = [1]\n\
        [[measure]]\nname = \"push\"\nof = \"momentum\"\naxis = \"z\"\n\
        expect = { at-least = 1, value = 2.0, within-percent = 5 }\n\
        [[measure]]\nname = \"kind\"\nof = \"class\"\nloaded = 0.5\nexpect = { class = \"elastic\" }\n";

    #[test]
    fn measures_over_time_are_a_table_charts_and_verdicts() {
        let scene = Scene::parse(SCENE, "m.toml").unwrap();
        let (mut series, mut measuring) = (MeasureSeries::new(&scene), Measuring::new(&scene));
        for (step, z) in [(0, 1.0), (1, 1.5), (2, 2.0)] {
            let positions = [Vec3::zeros(), Vec3::new(0.0, 0.0, z)];
            let velocities = [Vec3::zeros(), Vec3::new(0.0, 0.0, z / 2.0)];
            let moment = Moment {
                step,
                positions: &positions,
                velocities: &velocities,
                sensed: None,
                extensions: None,
            };
            measuring.take(&moment);
            series.push(&scene, &measuring, &moment);
        }
        assert_eq!(
            series.csv(),
            "t_s,where_x_m,where_y_m,where_z_m,push_Ns\n0,0,0,1,1\n0.5,0,0,1.5,1.5\n1,0,0,2,2\n"
        );
        let charts = series.charts();
        assert_eq!(charts.len(), 2, "one of metres, one of newton seconds");
        assert_eq!(charts[0].lines[0], ("push".to_owned(), vec![(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)]));
        let outcomes = measuring.outcomes(&mut |_| unreachable!());
        let lines = aligned(&rows(&outcomes));
        assert_eq!(lines[0], "where at 1.00 s  (0 m, 0 m, 2.00 m)");
        assert_eq!(lines[1], "push at 1.00 s   2.00 N s            2.00 N s ± 5 %, at least 1.00 N s  met");
        assert!(lines[2].contains("elastic") && lines[2].contains("NOT MET: not elastic"), "{}", lines[2]);
        assert_eq!(all_met(&outcomes), Some(false));
        assert_eq!((all_met(&outcomes[..2]), all_met(&outcomes[..1])), (Some(true), None));
        let mut open = outcomes[1].clone();
        open.ok = None;
        assert_eq!(all_met(&[open, outcomes[1].clone()]), None, "one is not judged");
    }
}
