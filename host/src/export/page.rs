//! A run as one HTML file that needs nothing else.

use super::escape;
use nendo_model::scene::{Scene, Support};
use serde_json::Value;
use std::fmt::Write;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;color:#33302c;background:#fbfaf7;max-width:960px;margin:2rem auto;padding:0 1rem}\
h1{font-weight:600;margin-bottom:.2rem}h2{font-size:1.1rem;margin-top:2rem}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .8rem .25rem 0;border-bottom:1px solid #e4dfd6;vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto}\
.alert{background:#fbe9e0;border-left:4px solid #b5482b;padding:.6rem 1rem}details{margin-top:1.5rem}summary{font-weight:600;cursor:pointer}code{font-size:.85em;overflow-wrap:anywhere}";

/// A table of names and values.
type Rows = Vec<(String, String)>;

/// A report under way.
#[derive(Clone, Debug)]
pub struct Page {
    html: String,
}

impl Page {
    /// A report with its title.
    pub fn new(title: &str, below: &str) -> Self {
        let title = escape(title);
        Self {
            html: format!(
                "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
                 <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{}</p>\n",
                escape(below)
            ),
        }
    }

    /// Adds something that must not be overlooked.
    pub fn alert(&mut self, text: &str) -> &mut Self {
        let _ = writeln!(self.html, "<p class=\"alert\">{}</p>", escape(text));
        self
    }

    /// Adds what not every reader wants: a line to open.
    pub fn folded(&mut self, title: &str, inside: impl FnOnce(&mut Self)) -> &mut Self {
        let _ = writeln!(self.html, "<details>\n<summary>{}</summary>", escape(title));
        inside(self);
        self.html.push_str("</details>\n");
        self
    }

    /// A heading, where there is something to say.
    fn heading(&mut self, title: &str) {
        if !title.is_empty() {
            let _ = writeln!(self.html, "<h2>{}</h2>", escape(title));
        }
    }

    /// Adds a table of names and values.
    pub fn table(&mut self, title: &str, rows: &[(String, String)]) -> &mut Self {
        self.heading(title);
        self.html.push_str("<table>\n");
        for (name, value) in rows {
            let _ = writeln!(self.html, "<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(value));
        }
        self.html.push_str("</table>\n");
        self
    }

    /// Adds a table of numbers with a head.
    pub fn numbers(&mut self, title: &str, head: &[&str], rows: &[Vec<String>]) -> &mut Self {
        self.heading(title);
        self.html.push_str("<table>\n");
        let line = |cells: Vec<String>, tag: &str| {
            let cells: Vec<String> =
                cells.iter().map(|c| format!("<{tag} class=\"n\">{}</{tag}>", escape(c))).collect();
            format!("<tr>{}</tr>\n", cells.concat())
        };
        self.html += &line(head.iter().map(|h| (*h).to_owned()).collect(), "th");
        for row in rows {
            self.html += &line(row.clone(), "td");
        }
        self.html.push_str("</table>\n");
        self
    }

    /// Adds a picture made by this program.
    pub fn picture(&mut self, title: &str, svg: &str) -> &mut Self {
        self.heading(title);
        let _ = writeln!(self.html, "{svg}");
        self
    }

    /// The page as one HTML file.
    pub fn finish(&self) -> String {
        format!("{}</html>\n", self.html)
    }
}

/// What a scene is, for people.
pub fn scene_rows(scene: &Scene) -> Rows {
    let mesh = &scene.mesh;
    let (low, high) = mesh.bounds();
    let size = high - low;
    let pinned = scene.support.iter().filter(|s| **s == Support::Pinned).count();
    let moved = scene.support.iter().filter(|s| matches!(s, Support::Moved(_))).count();
    let mut rows = vec![
        ("particles".to_owned(), format!("{} ({pinned} pinned, {moved} moved)", mesh.particles.len())),
        ("edges".to_owned(), mesh.edges.len().to_string()),
        ("tetrahedra".to_owned(), mesh.tetrahedra.len().to_string()),
        ("size".to_owned(), format!("{:.4} x {:.4} x {:.4} m", size.x, size.y, size.z)),
        ("step".to_owned(), format!("{} s", scene.step)),
    ];
    for m in &scene.materials {
        let (k1, c1, c2) = (m.material.k1, m.material.c1, m.material.c2);
        rows.push((format!("material {}", m.name), format!("k1 {k1} N/m, c1 {c1} N s/m, c2 {c2} N s/m")));
    }
    rows.extend(scene.float_only().into_iter().map(|what| ("beyond plain edges".to_owned(), what)));
    rows
}

/// What a run's JSON says, except where it says nothing or is a table itself.
pub fn json_rows(report: &Value) -> Rows {
    let Some(map) = report.as_object() else { return Rows::new() };
    map.iter()
        .filter_map(|(key, value)| {
            let text = match value {
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
                Value::String(s) => s.clone(),
                other => other.to_string(),
            };
            Some((key.replace('_', " "), text))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reports_hold_what_they_are_given_and_names_cannot_break_them() {
        let scene = Scene::open("box:2x2x2").unwrap();
        let mut report = Page::new("</title><script>", "below");
        report
            .table("scene", &scene_rows(&scene))
            .table("run", &json_rows(&json!({ "wall_s": 1.5, "probe": null, "engine": "a\"<b>" })))
            .numbers("cycles", &["phase", "clocks"], &[vec!["elements".to_owned(), "3672".to_owned()]])
            .picture("picture", "<svg></svg>");
        let html = report.finish();
        for part in [
            "&lt;script&gt;",
            "wall s",
            "1.5",
            "a&quot;&lt;b&gt;",
            "<td class=\"n\">3672</td>",
            "<svg></svg>",
            "8 (0 pinned",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("<script>") && !html.contains("probe"));
    }
}
