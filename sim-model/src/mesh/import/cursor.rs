//! Words and numbers out of bytes, with the line they stand in.

/// What is wrong with a file; line 0 is the whole of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) message: String,
}

/// A place in a file.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { line: self.line, message: message.into() }
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
    }

    /// The next word, if there is one.
    pub(super) fn word(&mut self) -> Result<Option<&'a str>, Fault> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += length;
        match std::str::from_utf8(&rest[..length]) {
            Ok("") => Ok(None),
            Ok(word) => Ok(Some(word)),
            Err(_) => Err(self.fault("not text")),
        }
    }

    /// The next word, which must be there.
    pub(super) fn need(&mut self, what: &str) -> Result<&'a str, Fault> {
        match self.word()? {
            Some(word) => Ok(word),
            None => Err(self.fault(format!("the file ends where {what} should be"))),
        }
    }

    /// What is left of the line, without its end; nothing at the end of the file.
    pub(super) fn rest_of_line(&mut self) -> Result<Option<&'a str>, Fault> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return Ok(None);
        }
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let text = std::str::from_utf8(&rest[..length]).map_err(|_| self.fault("not text"))?;
        self.at += (length + 1).min(rest.len());
        self.line += usize::from(length < rest.len());
        Ok(Some(text.trim_end_matches('\r')))
    }

    /// How many bytes lie behind.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes on behind the next such mark that is a word's end, over bytes of any kind.
    pub(super) fn skip_past(&mut self, mark: &str) -> Result<(), Fault> {
        let rest = &self.bytes[self.at..];
        let length = mark.len();
        let is_here = |at: &usize| {
            rest[*at..].starts_with(mark.as_bytes())
                && rest.get(at + length).is_none_or(u8::is_ascii_whitespace)
        };
        let starts = rest.iter().enumerate().filter(|(_, b)| Some(*b) == mark.as_bytes().first());
        let Some(found) = starts.map(|(at, _)| at).find(is_here) else {
            return Err(self.fault(format!("the file ends where {mark} should be")));
        };
        self.line += rest[..found].iter().filter(|&&b| b == b'\n').count();
        self.at += found + length;
        Ok(())
    }

    /// So many bytes as they are.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else {
            return Err(self.fault(format!("the file ends within {what}")));
        };
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn number(&mut self, what: &str) -> Result<f64, Fault> {
        let word = self.need(what)?;
        parse_number(word)
            .ok_or_else(|| self.fault(format!("{what} must be a finite number, not `{}`", short(word))))
    }

    /// A whole number of any sign.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64, Fault> {
        let word = self.need(what)?;
        word.parse().map_err(|_| self.fault(format!("{what} must be a whole number, not `{}`", short(word))))
    }

    /// How many of something follow; never more than `most`.
    pub(super) fn count(&mut self, what: &str, most: usize) -> Result<usize, Fault> {
        let n = self.integer(what)?;
        usize::try_from(n)
            .ok()
            .filter(|&n| n <= most)
            .ok_or_else(|| self.fault(format!("{what} is {n}: from 0 to {most} are possible")))
    }
}

/// A finite number.
pub(super) fn parse_number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|n: &f64| n.is_finite())
}

/// As much of a word as a message can bear.
pub(super) fn short(word: &str) -> String {
    let mut text: String = word.chars().take(40).collect();
    if text.len() < word.len() {
        text.push_str("...");
    }
    text
}
