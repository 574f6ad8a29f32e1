//! The numbers of a Gmsh file, as words or as bytes: a reader asks for what comes next, and need not know which.

use super::super::{Cursor, Fault};

/// How the numbers of a binary file are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binary {
    /// The lowest byte first.
    little: bool,
    /// Bytes of a size: 4 or 8.
    wide: usize,
}

/// A place in a Gmsh file.
pub(super) struct Source<'a> {
    pub(super) text: Cursor<'a>,
    binary: Option<Binary>,
}

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { text: Cursor::new(bytes), binary: None }
    }

    pub(super) fn is_binary(&self) -> bool {
        self.binary.is_some()
    }

    /// What is wrong here. Bytes have no lines.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        match self.binary {
            None => self.text.fault(message),
            Some(_) => Fault { line: 0, message: format!("byte {}: {}", self.text.at(), message.into()) },
        }
    }

    /// From here on numbers are bytes; the number one follows, which says in which order they come.
    pub(super) fn begin_binary(&mut self, wide: i64) -> Result<(), Fault> {
        let wide = match wide {
            4 => 4,
            8 => 8,
            _ => return Err(self.text.fault(format!("a data size of {wide}: 4 and 8 are read"))),
        };
        self.text.rest_of_line()?;
        let little = match self.text.take(4, "the number one")? {
            [1, 0, 0, 0] => true,
            [0, 0, 0, 1] => false,
            _ => return Err(self.text.fault("the number one is not where binary files have it")),
        };
        self.binary = Some(Binary { little, wide });
        Ok(())
    }

    /// Behind a section's name in a binary file: its numbers begin on the next line.
    pub(super) fn begin_section(&mut self) -> Result<(), Fault> {
        if self.is_binary() {
            self.text.rest_of_line()?;
        }
        Ok(())
    }

    /// So many bytes as a number, the highest first.
    fn bytes(&mut self, size: usize, little: bool, what: &str) -> Result<u64, Fault> {
        let bytes = self.text.take(size, what)?;
        let add = |n: u64, &b: &u8| n << 8 | u64::from(b);
        Ok(if little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) })
    }

    /// A coordinate or another finite number.
    pub(super) fn number(&mut self, what: &str) -> Result<f64, Fault> {
        let Some(Binary { little, .. }) = self.binary else { return self.text.number(what) };
        let n = f64::from_bits(self.bytes(8, little, what)?);
        if n.is_finite() {
            Ok(n)
        } else {
            Err(self.fault(format!("{what} must be a finite number, not {n}")))
        }
    }

    /// A C `int`.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64, Fault> {
        let Some(Binary { little, .. }) = self.binary else { return self.text.integer(what) };
        Ok(i64::from(self.bytes(4, little, what)? as u32 as i32))
    }

    /// A C `size_t`.
    pub(super) fn size(&mut self, what: &str) -> Result<i64, Fault> {
        let Some(Binary { little, wide }) = self.binary else { return self.text.integer(what) };
        let n = self.bytes(wide, little, what)?;
        i64::try_from(n).map_err(|_| self.fault(format!("{what} is {n}: no file has so many")))
    }

    /// How many of something follow, as an `int`; never more than `most`.
    pub(super) fn small_count(&mut self, what: &str, most: usize) -> Result<usize, Fault> {
        let n = self.integer(what)?;
        self.bounded(n, what, most)
    }

    /// The same as a `size_t`.
    pub(super) fn count(&mut self, what: &str, most: usize) -> Result<usize, Fault> {
        let n = self.size(what)?;
        self.bounded(n, what, most)
    }

    /// The same as text, which version 2 has in binary files too.
    pub(super) fn text_count(&mut self, what: &str, most: usize) -> Result<usize, Fault> {
        let n = self.text.count(what, most)?;
        self.begin_section()?;
        Ok(n)
    }

    fn bounded(&self, n: i64, what: &str, most: usize) -> Result<usize, Fault> {
        let fits = usize::try_from(n).ok().filter(|&n| n <= most);
        fits.ok_or_else(|| self.fault(format!("{what} is {n}: from 0 to {most} are possible")))
    }
}
