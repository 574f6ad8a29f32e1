//! Forces and shape over time: as a table, as charts, as a summary.

use crate::quantity::quantity;
use crate::{plot::Chart, sample::Sample};
use nendo_model::{
    mesh::Vec3,
    scene::{health::Health, sense::Reaction},
};
use std::fmt::Write;

/// One moment.
#[derive(Clone, Debug)]
struct Moment {
    time: f64,
    reactions: Vec<Reaction>,
    health: Health,
}

/// What was felt and seen in the course of a run.
#[derive(Clone, Debug, Default)]
pub struct History {
    moments: Vec<Moment>,
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl History {
    /// Adds a moment.
    pub fn push(&mut self, sample: &Sample) {
        let Sample { time, reactions, health, .. } = sample;
        self.moments.push(Moment { time: *time, reactions: reactions.clone(), health: health.clone() });
    }

    /// The most elements that were inside out at once, where that is known.
    pub fn most_inverted(&self) -> Option<usize> {
        self.moments.iter().filter_map(|moment| moment.health.inverted).max()
    }

    /// The first line of the table: columns with their units.
    pub fn head(reactions: &[Reaction]) -> String {
        let mut head = "t_s".to_owned();
        for Reaction { name, .. } in reactions {
            // A name is one cell, whatever is in it.
            let name = name.replace([',', '"', '\n', '\r'], " ");
            AXES.iter().for_each(|axis| head += &format!(",{name}_{axis}_N"));
        }
        head + ",height_m,extent_x_m,extent_y_m,volume_m3,volume_ratio,inverted\n"
    }

    /// The table, one line per moment.
    pub fn csv(&self) -> String {
        let Some(first) = self.moments.first() else { return Self::head(&[]) };
        let mut csv = Self::head(&first.reactions);
        for Moment { time, reactions, health } in &self.moments {
            let _ = write!(csv, "{time}");
            for Reaction { force, .. } in reactions {
                let _ = write!(csv, ",{},{},{}", force.x, force.y, force.z);
            }
            let extent = health.bounds.1 - health.bounds.0;
            let _ = write!(csv, ",{},{},{}", extent.z, extent.x, extent.y);
            for number in [health.volume, health.volume_ratio] {
                let _ = write!(csv, ",{}", number.map_or(String::new(), |n| n.to_string()));
            }
            let _ = writeln!(csv, ",{}", health.inverted.map_or(String::new(), |n| n.to_string()));
        }
        csv
    }

    /// Name, direction and values of each force, along the axis where it is largest.
    fn curves(&self) -> Vec<(String, Vec<(f64, f64)>)> {
        let names = self.moments.first().map_or(&[][..], |first| &first.reactions);
        let curve = |(k, Reaction { name, .. }): (usize, &Reaction)| {
            let forces = || self.moments.iter().filter_map(|m| Some((m.time, m.reactions.get(k)?.force)));
            let most = forces().fold(Vec3::zeros(), |most, (_, force)| most.sup(&force.abs()));
            let axis = most.imax();
            let line = forces().map(|(time, force)| (time, force[axis])).collect();
            (most[axis] > 0.0).then(|| (format!("{name}, {}", AXES[axis]), line))
        };
        names.iter().enumerate().filter_map(curve).collect()
    }

    /// Forces over time, where there are any.
    pub fn forces_chart(&self) -> Option<Chart> {
        let lines = self.curves();
        (!lines.is_empty() && self.moments.len() > 1).then(|| Chart {
            title: "Forces on what holds and bounds the object".to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: "force [N]".to_owned(),
            lines,
        })
    }

    /// By how much height and volume have changed, over time.
    pub fn shape_chart(&self) -> Option<Chart> {
        let first = self.moments.first().filter(|_| self.moments.len() > 1)?;
        let line = |value: &dyn Fn(&Health) -> Option<f64>| -> Vec<(f64, f64)> {
            let point = |m: &Moment| Some((m.time, 100.0 * (value(&m.health)? - 1.0)));
            self.moments.iter().filter_map(point).collect()
        };
        let height = first.health.height();
        let height = line(&|health| (height > 0.0).then(|| health.height() / height));
        let lines = [("height", height), ("volume", line(&|health| health.volume_ratio))];
        let lines: Vec<_> =
            lines.into_iter().filter(|(_, l)| !l.is_empty()).map(|(n, l)| (n.to_owned(), l)).collect();
        (!lines.is_empty()).then(|| Chart {
            title: "Change of height and volume".to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: "change [%]".to_owned(),
            lines,
        })
    }

    /// What became of an object that was within these corners, in words and rounded numbers.
    pub fn summary(&self, start: (Vec3, Vec3)) -> Vec<(String, String)> {
        let Some(last) = self.moments.last() else { return Vec::new() };
        let extent = |(low, high): (Vec3, Vec3)| {
            let size = high - low;
            format!("{} x {} x {}", quantity(size.x, "m"), quantity(size.y, "m"), quantity(size.z, "m"))
        };
        let mut rows = vec![("simulated".to_owned(), quantity(last.time, "s"))];
        let mut row = |name: &str, text: String| rows.push((name.to_owned(), text));
        row("size at the start", extent(start));
        row("size at the end", extent(last.health.bounds));
        let [before, after] = [start, last.health.bounds].map(|(low, high)| high.z - low.z);
        if before > 0.0 {
            let change = 100.0 * (after / before - 1.0);
            let [from, to] = [before, after].map(|height| quantity(height, "m"));
            row("height", format!("from {from} to {to} ({change:+.1} %)"));
        }
        if let Some((volume, ratio)) = last.health.volume.zip(last.health.volume_ratio) {
            row("volume", format!("{} ({:.1} % of the first)", quantity(volume * 1e6, "cm³"), 100.0 * ratio));
        }
        for (k, Reaction { name, force }) in last.reactions.iter().enumerate() {
            let norms = self.moments.iter().filter_map(|m| Some((m.reactions.get(k)?.force.norm(), m.time)));
            let (most, when) = norms.fold((0.0, 0.0), |most, now| if now.0 > most.0 { now } else { most });
            // What is nothing beside the largest is rounding.
            let force = force.map(|f| if f.abs() < 1e-6 * most { 0.0 } else { f });
            let parts: Vec<String> = (0..3).map(|k| quantity(force[k], "N")).collect();
            let peak = format!("at most {} at {}", quantity(most, "N"), quantity(when, "s"));
            row(
                &format!("force on {name}"),
                format!("{} ({}); {peak}", quantity(force.norm(), "N"), parts.join(", ")),
            );
        }
        if let Some(most) = self.most_inverted().filter(|&n| n > 0) {
            let now = last.health.inverted.unwrap_or(0);
            row("elements inside out", format!("{now} at the end, at most {most}"));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(time: f64, push: f64, height: f64) -> Sample {
        let reaction = |name: &str, force| Reaction { name: name.to_owned(), force };
        let health = Health {
            inverted: Some(0),
            volume: Some(2e-6 * height),
            volume_ratio: Some(height),
            bounds: (Vec3::zeros(), Vec3::new(0.02, 0.1, height * 0.05)),
            beyond: Vec::new(),
            nowhere: 0,
        };
        let reactions =
            vec![reaction("floor", Vec3::z() * -push), reaction("a, \"b\"", Vec3::new(push, 0.0, 0.1))];
        Sample { step: 0, time, positions: vec![], velocities: vec![], sensed: None, reactions, health }
    }

    #[test]
    fn forces_over_time_are_a_table_charts_and_a_summary() {
        let mut history = History::default();
        assert!(history.forces_chart().is_none() && history.summary(Default::default()).is_empty());
        for sample in [moment(0.0, 0.0, 1.0), moment(0.5, 40.0, 0.5), moment(1.0, 3.0, 0.75)] {
            history.push(&sample);
        }
        let csv = history.csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "t_s,floor_x_N,floor_y_N,floor_z_N,a   b _x_N,a   b _y_N,a   b _z_N,height_m,extent_x_m,extent_y_m,\
             volume_m3,volume_ratio,inverted"
        );
        assert_eq!(lines[2], "0.5,-0,-0,-40,40,0,0.1,0.025,0.02,0.1,0.000001,0.5,0");
        assert!(lines.iter().all(|line| line.split(',').count() == 13), "{csv}");
        let chart = history.forces_chart().unwrap();
        assert_eq!(chart.lines[0], ("floor, z".to_owned(), vec![(0.0, 0.0), (0.5, -40.0), (1.0, -3.0)]));
        assert_eq!(history.shape_chart().unwrap().lines[1].1[1], (0.5, -50.0));
        let summary = history.summary((Vec3::zeros(), Vec3::new(0.02, 0.1, 0.05)));
        let floor = &summary.iter().find(|(name, _)| name == "force on floor").unwrap().1;
        assert_eq!(floor, "3.00 N (0 N, 0 N, -3.00 N); at most 40.0 N at 500 ms");
        let height = &summary.iter().find(|(name, _)| name == "height").unwrap().1;
        assert_eq!(height, "from 50.0 mm to 37.5 mm (-25.0 %)");
    }
}
