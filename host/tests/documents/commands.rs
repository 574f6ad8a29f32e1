//! The commands that a document prints.

/// A command as it is printed.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    /// The document and the line.
    pub(crate) place: String,
    /// What is to be typed.
    pub(crate) line: String,
    /// What is said of it, behind the `#`.
    pub(crate) says: String,
    /// Whether it stands in a block, to be typed as it is; else it is a mention, which may leave things out.
    pub(crate) whole: bool,
}

impl Printed {
    fn new(place: String, text: &str, whole: bool) -> Self {
        let (line, says) = text.split_once(" #").unwrap_or((text, ""));
        Self { place, line: line.trim().to_owned(), says: says.trim().to_owned(), whole }
    }

    /// Its words, as a shell would part them; placeholders of mentions filled in.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = self.line.split_whitespace().filter(|word| self.whole || !word.starts_with('['));
        words.map(|word| if self.whole { word.to_owned() } else { filled_in(word) }).collect()
    }

    /// Whether it can be typed as it stands.
    pub(crate) fn is_exact(&self) -> bool {
        self.line.split_whitespace().eq(self.words().iter())
    }
}

/// Something that a placeholder stands for.
fn filled_in(word: &str) -> String {
    let name = match word {
        "SCENE" => "cube9",
        "FILE" => "my.toml",
        "DIR" => "out",
        "PATH" => "card.sock",
        "T" => "ecp5-85k",
        "N" => "4",
        "D" => "rtl",
        "chain:LAW" => "chain:maxwell",
        _ => word.split('|').next().unwrap_or(word),
    };
    name.to_owned()
}

/// The commands of a Markdown file: lines of blocks, and code spans, which may go on in the next line.
pub(crate) fn of_markdown(name: &str, text: &str) -> Vec<Printed> {
    let mut found = Vec::new();
    let (mut fence, mut prose) = (None::<&str>, String::new());
    for (k, line) in text.lines().enumerate() {
        match (fence, line.strip_prefix("```")) {
            (None, Some(language)) => fence = Some(language),
            (Some(_), Some(_)) => fence = None,
            // Not settings of scenes and the like: what is for a shell.
            (Some("" | "sh"), None) if line.starts_with("nendo ") => {
                found.push(Printed::new(format!("{name}:{}", k + 1), line, true));
            }
            (Some(_), None) => {}
            (None, None) => prose += line,
        }
        prose.push('\n');
    }
    let mut line = 1;
    for (k, part) in prose.split('`').enumerate() {
        let words: Vec<&str> = part.split_whitespace().collect();
        if k % 2 == 1 && words.len() > 1 && words[0] == "nendo" {
            found.push(Printed::new(format!("{name}:{line}"), &words.join(" "), false));
        }
        line += part.matches('\n').count();
    }
    found
}

/// The commands in the comments of a scene file.
pub(crate) fn of_scene(name: &str, text: &str) -> Vec<Printed> {
    let lines = text.lines().enumerate().filter_map(|(k, line)| Some((k, line.strip_prefix("#   nendo ")?)));
    lines.map(|(k, rest)| Printed::new(format!("{name}:{}", k + 1), &format!("nendo {rest}"), true)).collect()
}

#[test]
fn commands_are_found_where_they_are() {
    let text = "Use `nendo run SCENE\n--out DIR` or `nendo`:\n```\nnendo bench --quick   # how fast\nls\n```\n```toml\nnendo = 1\n```\n";
    let found = of_markdown("a.md", text);
    let shown: Vec<_> =
        found.iter().map(|p| (p.place.as_str(), p.words().join(" "), p.says.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("a.md:4", "nendo bench --quick".to_owned(), "how fast"),
            ("a.md:1", "nendo run cube9 --out out".to_owned(), "")
        ]
    );
}
