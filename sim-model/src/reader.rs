//! Typed access to a TOML document in which every complaint knows its line.

use crate::{mesh::Vec3, scene::SceneError};
use std::ops::Range;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The text of a file and its name.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) origin: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// An error at a place in the text.
    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> SceneError {
        let before = &self.text[..self.text.floor_char_boundary(span.start.min(self.text.len()))];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        SceneError::Invalid { origin: self.origin.to_owned(), line, column, message: message.into() }
    }
}

/// A value and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    source: Source<'a>,
    /// How messages name it, e.g. `materials.dough.k1`.
    name: &'a str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn error(&self, message: impl Into<String>) -> SceneError {
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
    pub(super) fn number_or_inf(&self) -> Result<f64, SceneError> {
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
    pub(super) fn number(&self) -> Result<f64, SceneError> {
        let n = self.number_or_inf()?;
        if n.is_finite() {
            Ok(n)
        } else {
            Err(self.error(format!("`{}` must be finite, not {n}", self.name)))
        }
    }

    /// A positive finite number.
    pub(super) fn positive(&self) -> Result<f64, SceneError> {
        let n = self.number()?;
        if n > 0.0 { Ok(n) } else { Err(self.error(format!("`{}` must be positive, not {n}", self.name))) }
    }

    /// A number from 0 to 2^32 - 1.
    pub(super) fn index(&self) -> Result<u32, SceneError> {
        match self.value.get_ref() {
            DeValue::Integer(i) => u32::from_str_radix(i.as_str(), i.radix()).ok(),
            _ => None,
        }
        .ok_or_else(|| self.wrong("a whole number, zero or more"))
    }

    pub(super) fn string(&self) -> Result<&'a str, SceneError> {
        match self.value.get_ref() {
            DeValue::String(s) => Ok(s.as_ref()),
            _ => Err(self.wrong("a string")),
        }
    }

    pub(super) fn flag(&self) -> Result<bool, SceneError> {
        match self.value.get_ref() {
            DeValue::Boolean(b) => Ok(*b),
            _ => Err(self.wrong("true or false")),
        }
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::String(_))
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    /// The file it stands in.
    pub(super) fn origin(&self) -> &'a str {
        self.source.origin
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Array(_))
    }

    pub(super) fn array(&self) -> Result<impl Iterator<Item = Value<'a>> + use<'a>, SceneError> {
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
    pub(super) fn vec3(&self) -> Result<Vec3, SceneError> {
        self.fixed_array::<f64, 3>("three numbers", Self::number).map(Vec3::from)
    }

    /// Three numbers, infinities allowed.
    pub(super) fn vec3_or_inf(&self) -> Result<Vec3, SceneError> {
        self.fixed_array::<f64, 3>("three numbers", Self::number_or_inf).map(Vec3::from)
    }

    /// `N` whole numbers.
    pub(super) fn indices<const N: usize>(&self) -> Result<[u32; N], SceneError> {
        self.fixed_array(&format!("{N} whole numbers"), Self::index)
    }

    /// A table with no other keys than these.
    pub(super) fn table(&self, keys: &'static [&'static str]) -> Result<Table<'a>, SceneError> {
        match self.value.get_ref() {
            DeValue::Table(entries) => Table::new(self.source, self.name, self.value.span(), entries, keys),
            _ => Err(self.wrong("a table")),
        }
    }

    /// A table with free keys: each with its value.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Value<'a>)>, SceneError> {
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
pub(super) struct Table<'a> {
    source: Source<'a>,
    name: &'a str,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    /// Refuses keys that are not in `keys`.
    pub(super) fn new(
        source: Source<'a>,
        name: &'a str,
        span: Range<usize>,
        entries: &'a DeTable<'a>,
        keys: &'static [&'static str],
    ) -> Result<Self, SceneError> {
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

    pub(super) fn error(&self, message: impl Into<String>) -> SceneError {
        self.source.error(self.span.clone(), message)
    }

    pub(super) fn get(&self, key: &'static str) -> Option<Value<'a>> {
        let value = self.entries.iter().find(|(k, _)| k.get_ref() == key)?.1;
        Some(Value { source: self.source, name: key, value })
    }

    pub(super) fn need(&self, key: &'static str) -> Result<Value<'a>, SceneError> {
        self.get(key).ok_or_else(|| {
            let place =
                if self.name.is_empty() { "the scene".to_owned() } else { format!("`{}`", self.name) };
            self.error(format!("{place} needs `{key}`"))
        })
    }

    /// The value of an optional key, read by `read`.
    pub(super) fn optional<T>(
        &self,
        key: &'static str,
        read: impl Fn(&Value<'a>) -> Result<T, SceneError>,
    ) -> Result<Option<T>, SceneError> {
        self.get(key).map(|v| read(&v)).transpose()
    }

    /// The tables of an optional array of tables.
    pub(super) fn tables(
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
