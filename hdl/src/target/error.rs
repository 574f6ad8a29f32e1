//! What can be wrong with a target.

/// A target that is not there, or not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Neither a built-in target nor a folder.
    #[error("unknown target `{name}`; one of {known}, or a folder with a target.toml")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A file cannot be read.
    #[error("{file}: {source}")]
    File {
        /// The path of the file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A `target.toml` that is not one: its form, an unknown key, a missing one, a wrong type.
    #[error("{file}: {reason}")]
    Toml {
        /// Which, with the line.
        file: String,
        /// What was wrong with it.
        reason: String,
    },
    /// A key with a value that it cannot have.
    #[error("{file}: `{key}`: {reason}")]
    Key {
        /// The file it is in.
        file: String,
        /// Which, with its table.
        key: String,
        /// What was wrong with it.
        reason: String,
    },
}

impl TargetError {
    /// What the TOML reader says, with the line it speaks of.
    pub(super) fn toml(file: String, text: &str, error: &toml::de::Error) -> Self {
        // Something missing from the file as a whole is at no line of it.
        let start = error.span().map(|span| span.start).filter(|start| *start > 0);
        let Some(before) = start.and_then(|start| text.get(..start)) else {
            return Self::Toml { file, reason: error.message().to_owned() };
        };
        let line = before.matches('\n').count();
        let shown = text.lines().nth(line).unwrap_or_default().trim();
        Self::Toml { file: format!("{file}:{}", line + 1), reason: format!("`{shown}`: {}", error.message()) }
    }
}
