//! TetGen's `.node` and `.ele` files.
//!
//! Groups: `marker-N` holds the nodes with boundary marker N (not 0), `region-N` the tetrahedra with the
//! region attribute N.

use super::{
    Cursor, Fault, MAX_ELEMENTS, MAX_NODES, Parts, Shape, Vec3, cursor::parse_number, cursor::short,
};

/// TetGen numbers nodes from 0 or from 1.
#[derive(Debug)]
pub(super) struct Numbers {
    first: i64,
}

/// Lines without comments and blanks.
struct Lines<'a>(Cursor<'a>);

impl<'a> Lines<'a> {
    /// The words of the next line that has any.
    fn next(&mut self, what: &str) -> Result<(Vec<&'a str>, Place), Fault> {
        loop {
            let place = Place(self.0.fault(""));
            let Some(line) = self.0.rest_of_line()? else {
                return Err(place.fault(format!("the file ends where {what} should be")));
            };
            let line = line.split('#').next().unwrap_or_default();
            // No line has more words than matter, whatever the file says.
            let words: Vec<&str> = line.split_whitespace().take(256).collect();
            if !words.is_empty() {
                return Ok((words, place));
            }
        }
    }
}

/// A line, for messages.
struct Place(Fault);

impl Place {
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { line: self.0.line, message: message.into() }
    }

    fn integer(&self, words: &[&str], k: usize, what: &str) -> Result<i64, Fault> {
        let word = words.get(k).ok_or_else(|| self.fault(format!("{what} is missing")))?;
        word.parse().map_err(|_| self.fault(format!("{what} must be a whole number, not `{}`", short(word))))
    }

    fn count(&self, words: &[&str], k: usize, what: &str, most: usize) -> Result<usize, Fault> {
        let n = self.integer(words, k, what)?;
        usize::try_from(n)
            .ok()
            .filter(|&n| n <= most)
            .ok_or_else(|| self.fault(format!("{what} is {n}: from 0 to {most} are possible")))
    }

    fn number(&self, words: &[&str], k: usize, what: &str) -> Result<f64, Fault> {
        let word = words.get(k).ok_or_else(|| self.fault(format!("{what} is missing")))?;
        parse_number(word)
            .ok_or_else(|| self.fault(format!("{what} must be a finite number, not `{}`", short(word))))
    }
}

pub(super) fn read_nodes(bytes: &[u8], parts: &mut Parts) -> Result<Numbers, Fault> {
    let mut lines = Lines(Cursor::new(bytes));
    let (head, place) = lines.next("the number of nodes")?;
    let count = place.count(&head, 0, "the number of nodes", MAX_NODES)?;
    if head.len() > 1 && place.integer(&head, 1, "the dimension")? != 3 {
        return Err(place.fault("the dimension must be 3"));
    }
    let attributes =
        if head.len() > 2 { place.count(&head, 2, "the number of attributes", 200)? } else { 0 };
    let marked = head.len() > 3 && place.integer(&head, 3, "whether nodes are marked")? != 0;
    let mut first = 0;
    for k in 0..count {
        let (words, place) = lines.next("a node")?;
        let number = place.integer(&words, 0, "a node's number")?;
        if k == 0 {
            first = number;
        }
        if number.checked_sub(first) != Some(k as i64) || !(0..=1).contains(&first) {
            return Err(place.fault(format!("node {number}: nodes are numbered from 0 or 1, one by one")));
        }
        let at = |axis: usize| place.number(&words, 1 + axis, "a coordinate");
        parts.node(Vec3::new(at(0)?, at(1)?, at(2)?)).map_err(|e| place.fault(e))?;
        if marked {
            let marker = place.integer(&words, 4 + attributes, "a boundary marker")?;
            if marker != 0 {
                let group = parts.group(&format!("marker-{marker}"), 1).map_err(|e| place.fault(e))?;
                group.particles.push(k as u32);
            }
        }
    }
    Ok(Numbers { first })
}

pub(super) fn read_elements(bytes: &[u8], numbers: &Numbers, parts: &mut Parts) -> Result<(), Fault> {
    let mut lines = Lines(Cursor::new(bytes));
    let (head, place) = lines.next("the number of tetrahedra")?;
    let count = place.count(&head, 0, "the number of tetrahedra", MAX_ELEMENTS)?;
    let corners = if head.len() > 1 { place.count(&head, 1, "the nodes of a tetrahedron", 10)? } else { 4 };
    if corners != 4 && corners != 10 {
        return Err(place.fault(format!("{corners} nodes in a tetrahedron: 4 or 10 are possible")));
    }
    let regions = head.len() > 2 && place.count(&head, 2, "the number of attributes", 200)? > 0;
    for _ in 0..count {
        let (words, place) = lines.next("a tetrahedron")?;
        place.integer(&words, 0, "a tetrahedron's number")?;
        let mut nodes = [0; 4];
        for (k, node) in nodes.iter_mut().enumerate() {
            let number = place.integer(&words, 1 + k, "a corner")?;
            *node = number
                .checked_sub(numbers.first)
                .and_then(|n| u32::try_from(n).ok())
                .ok_or_else(|| place.fault(format!("there is no node {number}")))?;
        }
        let mut groups = Vec::new();
        if regions {
            let region = place.number(&words, 1 + corners, "a region")?;
            groups.push(format!("region-{region}"));
        }
        parts.element(Shape::Tetrahedron, &nodes, &groups).map_err(|e| place.fault(e))?;
    }
    Ok(())
}
