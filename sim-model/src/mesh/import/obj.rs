//! Wavefront `.obj` surfaces: vertices and faces; everything about looks is passed over.

use super::{Cursor, Fault, Parts, Shape, Vec3, cursor::parse_number, cursor::short};

pub(super) fn read(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    let mut file = Cursor::new(bytes);
    loop {
        let place = file.fault("");
        let fault = |message: String| Fault { line: place.line, message };
        let Some(line) = file.rest_of_line()? else { break };
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut coordinate = || {
                    let word =
                        words.next().ok_or_else(|| fault("a vertex has three coordinates".to_owned()))?;
                    parse_number(word).ok_or_else(|| {
                        fault(format!("a coordinate must be a finite number, not `{}`", short(word)))
                    })
                };
                let at = Vec3::new(coordinate()?, coordinate()?, coordinate()?);
                parts.node(at).map_err(fault)?;
            }
            Some("f") => {
                let mut corners = words.map(|word| {
                    corner(word, parts.particles.len()).ok_or_else(|| {
                        fault(format!("a face names vertex `{}` of {}", short(word), parts.particles.len()))
                    })
                });
                let mut next = || corners.next().transpose();
                let (first, second) = (next()?, next()?);
                let (Some(a), Some(mut b)) = (first, second) else {
                    return Err(fault("a face has three corners at least".to_owned()));
                };
                let mut fan = Vec::new();
                while let Some(c) = next()? {
                    fan.push([a, b, c]);
                    b = c;
                }
                if fan.is_empty() {
                    return Err(fault("a face has three corners at least".to_owned()));
                }
                for triangle in fan {
                    parts.element(Shape::Triangle, &triangle, &[]).map_err(fault)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// `7`, `7/1`, `7//3` or `-2` (counted from the last vertex) as a node number.
fn corner(word: &str, vertices: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let count = i64::try_from(vertices).ok()?;
    let index = if number < 0 { count.checked_add(number)? } else { number - 1 };
    u32::try_from(index).ok().filter(|&i| i64::from(i) < count)
}
