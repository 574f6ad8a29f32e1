//! Typed access to a TOML document in which every complaint knows its line.

use crate::mesh::Vec3;
use std::ops::Range;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Why a scene cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Read {
        /// The path of the file.
        path: String,
        /// What the system says, and what to try.
        reason: String,
    },
    /// Something in the file is wrong.
    #[error("{origin}:{line}:{column}: {message}")]
    Invalid {
        /// The path of the file.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong and what to try.
        message: String,
    },
    /// A `box:` name that cannot be made.
    #[error("scene `{name}`: {reason}")]
    Builtin {
        /// The name given.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// The text of a file and its name.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The name, for messages.
    pub origin: &'a str,
    /// All of it.
    pub text: &'a str,
}

impl Source<'_> {
    /// An error at a place in the text.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> SceneError {
        let before = &self.text[..self.text.floor_char_boundary(span.start.min(self.text.len()))];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        SceneError::Invalid { origin: self.origin.to_owned(), line, column, message: message.into() }
    }
}

/// Quantities beyond these are mistakes, and products of them no numbers.
const TINY: f64 = 1e-30;
const HUGE: f64 = 1e30;

/// A value and where it stands.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    source: Source<'a>,
    /// How messages name it, e.g. `materials.dough.k1`.
    name: &'a str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    /// An error at this place.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        self.source.error(self.value.span(), message)
    }

    fn wrong(&self, wanted: &str) -> SceneError {
        let found = match self.value.get_ref() {
            DeValue::Integer(i) => format!("the integer {i}"),
            DeValue::Float(f) => format!("the number {f}"),
            DeValue::String(s) => format!("the string \"{s}\""),
            DeValue::Boolean(b) => format!("`{b}`"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.error(format!("`{}` must be {wanted}, not {found}", self.name))
    }

    /// A number, infinities allowed.
    pub fn number_or_inf(&self) -> Result<f64, SceneError> {
        let parsed = match self.value.get_ref() {
            DeValue::Float(f) => f.as_str().parse::<f64>().ok(),
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64),
            _ => None,
        };
        match parsed {
            Some(n) if n.is_nan() => Err(self.error(format!("`{}` is not a number (nan)", self.name))),
            Some(n) => Ok(n),
            None => Err(self.wrong("a number")),
        }
    }

    /// A finite number.
    pub fn number(&self) -> Result<f64, SceneError> {
        let n = self.number_or_inf()?;
        match n.abs() {
            0.0 | TINY..=HUGE => Ok(n),
            f64::INFINITY => Err(self.error(format!("`{}` must be finite, not {n}", self.name))),
            _ => Err(self.error(format!(
                "`{}` is {n:e}: quantities between {TINY:e} and {HUGE:e} can be computed",
                self.name
            ))),
        }
    }

    /// A positive finite number.
    pub fn positive(&self) -> Result<f64, SceneError> {
        let n = self.number()?;
        if n > 0.0 { Ok(n) } else { Err(self.error(format!("`{}` must be positive, not {n}", self.name))) }
    }

    /// A number from 0 to 2^32 - 1.
    pub fn index(&self) -> Result<u32, SceneError> {
        match self.value.get_ref() {
            DeValue::Integer(i) => u32::from_str_radix(i.as_str(), i.radix()).ok(),
            _ => None,
        }
        .ok_or_else(|| self.wrong("a whole number, zero or more"))
    }

    /// A string.
    pub fn string(&self) -> Result<&'a str, SceneError> {
        match self.value.get_ref() {
            DeValue::String(s) => Ok(s.as_ref()),
            _ => Err(self.wrong("a string")),
        }
    }

    /// True or false.
    pub fn flag(&self) -> Result<bool, SceneError> {
        match self.value.get_ref() {
            DeValue::Boolean(b) => Ok(*b),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::String(_))
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    /// The file it stands in.
    pub fn origin(&self) -> &'a str {
        self.source.origin
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Array(_))
    }

    /// The items of an array.
    pub fn array(&self) -> Result<impl Iterator<Item = Value<'a>> + use<'a>, SceneError> {
        match self.value.get_ref() {
            DeValue::Array(items) => {
                let (source, name) = (self.source, self.name);
                Ok(items.iter().map(move |value| Value { source, name, value }))
            }
            _ => Err(self.wrong("an array")),
        }
    }

    fn fixed_array<T: Copy + Default, const N: usize>(
        &self,
        wanted: &str,
        item: impl Fn(&Value<'a>) -> Result<T, SceneError>,
    ) -> Result<[T; N], SceneError> {
        let mut out = [T::default(); N];
        let mut count = 0;
        for value in self.array().map_err(|_| self.wrong(wanted))? {
            if let Some(slot) = out.get_mut(count) {
                *slot = item(&value)?;
            }
            count += 1;
        }
        if count == N {
            Ok(out)
        } else {
            Err(self.error(format!("`{}` must be {wanted}, not {count} values", self.name)))
        }
    }

    /// Three finite numbers.
    pub fn vec3(&self) -> Result<Vec3, SceneError> {
        self.fixed_array::<f64, 3>("three numbers", Self::number).map(Vec3::from)
    }

    /// Three numbers, infinities allowed.
    pub fn vec3_or_inf(&self) -> Result<Vec3, SceneError> {
        self.fixed_array::<f64, 3>("three numbers", Self::number_or_inf).map(Vec3::from)
    }

    /// `N` whole numbers.
    pub fn indices<const N: usize>(&self) -> Result<[u32; N], SceneError> {
        self.fixed_array(&format!("{N} whole numbers"), Self::index)
    }

    /// A table with no other keys than these.
    pub fn table(&self, keys: &'static [&'static str]) -> Result<Table<'a>, SceneError> {
        match self.value.get_ref() {
            DeValue::Table(entries) => Table::new(self.source, self.name, self.value.span(), entries, keys),
            _ => Err(self.wrong("a table")),
        }
    }

    /// A table with free keys: each with its value.
    pub fn entries(&self) -> Result<Vec<(&'a str, Value<'a>)>, SceneError> {
        match self.value.get_ref() {
            DeValue::Table(entries) => {
                let source = self.source;
                Ok(entries
                    .iter()
                    .map(|(key, value)| {
                        let name: &'a str = key.get_ref().as_ref();
                        (name, Value { source, name, value })
                    })
                    .collect())
            }
            _ => Err(self.wrong("a table")),
        }
    }
}

/// A table whose keys are known.
#[derive(Clone)]
pub struct Table<'a> {
    source: Source<'a>,
    name: &'a str,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    /// Refuses keys that are not in `keys`.
    pub fn new(
        source: Source<'a>,
        name: &'a str,
        span: Range<usize>,
        entries: &'a DeTable<'a>,
        keys: &'static [&'static str],
    ) -> Result<Self, SceneError> {
        #[cfg(test)]
        seen::note(name, keys);
        for (key, _) in entries {
            let found = key.get_ref().as_ref();
            if !keys.contains(&found) {
                let near = keys.iter().min_by_key(|k| distance(k, found)).filter(|k| distance(k, found) <= 2);
                let hint = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known here: {}", keys.join(", ")),
                };
                let place = if name.is_empty() { String::new() } else { format!(" in `{name}`") };
                return Err(source.error(key.span(), format!("unknown key `{found}`{place}; {hint}")));
            }
        }
        Ok(Self { source, name, span, entries })
    }

    /// An error at this table.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        self.source.error(self.span.clone(), message)
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &'static str) -> Option<Value<'a>> {
        let value = self.entries.iter().find(|(k, _)| k.get_ref() == key)?.1;
        Some(Value { source: self.source, name: key, value })
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &'static str) -> Result<Value<'a>, SceneError> {
        self.get(key).ok_or_else(|| {
            let place =
                if self.name.is_empty() { "the scene".to_owned() } else { format!("`{}`", self.name) };
            self.error(format!("{place} needs `{key}`"))
        })
    }

    /// The value of an optional key, read by `read`.
    pub fn optional<T>(
        &self,
        key: &'static str,
        read: impl Fn(&Value<'a>) -> Result<T, SceneError>,
    ) -> Result<Option<T>, SceneError> {
        self.get(key).map(|v| read(&v)).transpose()
    }

    /// A finite number that is not negative; zero where the key is absent.
    pub fn zero_or_more(&self, key: &'static str) -> Result<f64, SceneError> {
        let Some(value) = self.get(key) else { return Ok(0.0) };
        match value.number()? {
            n if n >= 0.0 => Ok(n),
            n => Err(value.error(format!("`{key}` must be zero or more, not {n}"))),
        }
    }

    /// The tables of an optional array of tables.
    pub fn tables(
        &self,
        key: &'static str,
        keys: &'static [&'static str],
    ) -> Result<Vec<Table<'a>>, SceneError> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(list) => list.array()?.map(|item| item.table(keys)).collect(),
        }
    }
}

/// Which tables have been read with which keys, for the reference of them.
#[cfg(test)]
pub mod seen {
    use std::{
        cell::RefCell,
        collections::{BTreeMap, BTreeSet},
    };

    thread_local! {
        static SEEN: RefCell<BTreeMap<&'static [&'static str], BTreeSet<String>>> = RefCell::default();
    }

    pub(super) fn note(name: &str, keys: &'static [&'static str]) {
        SEEN.with_borrow_mut(|seen| seen.entry(keys).or_default().insert(name.to_owned()));
    }

    /// Names of tables by their keys, of all that this thread has read.
    pub fn take() -> BTreeMap<&'static [&'static str], BTreeSet<String>> {
        SEEN.take()
    }
}

/// Edit distance, for "did you mean".
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn edit_distance() {
        assert_eq!(super::distance("gravity", "gravty"), 1);
        assert_eq!(super::distance("", "abc"), 3);
        assert_eq!(super::distance("pin", "pin"), 0);
    }
}
