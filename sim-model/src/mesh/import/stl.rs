//! `.stl` surfaces, as text or binary. Every triangle brings its own corners; equal ones are merged later.

use super::{Cursor, Fault, Parts, Shape, Vec3};

const HEAD: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn read(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    // Some programs begin binary files with `solid` too: the length decides.
    let claimed = bytes.get(80..HEAD).and_then(|c| c.try_into().ok()).map(u32::from_le_bytes);
    let length = claimed.map(|n| HEAD as u64 + TRIANGLE as u64 * u64::from(n));
    if length == Some(bytes.len() as u64) {
        return read_binary(&bytes[HEAD..], parts);
    }
    if !bytes.trim_ascii_start().starts_with(b"solid") {
        let message = match length {
            Some(length) => format!(
                "neither text (it does not begin with `solid`) nor binary (its head promises {length} bytes, it has {})",
                bytes.len()
            ),
            None => "too short for an STL file".to_owned(),
        };
        return Err(Fault { line: 0, message });
    }
    read_text(bytes, parts)
}

fn read_binary(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    for (k, triangle) in bytes.chunks_exact(TRIANGLE).enumerate() {
        let fault = |message: String| Fault { line: 0, message: format!("triangle {k}: {message}") };
        let mut words =
            triangle.chunks_exact(4).map(|w| f32::from_le_bytes([w[0], w[1], w[2], w[3]])).skip(3);
        let mut corner = || {
            let [x, y, z] = std::array::from_fn(|_| f64::from(words.next().unwrap_or(f32::NAN)));
            let at = Vec3::new(x, y, z);
            if at.iter().all(|c| c.is_finite()) {
                Ok(at)
            } else {
                Err("a coordinate is not finite".to_owned())
            }
        };
        let corners = [corner(), corner(), corner()];
        for at in corners {
            at.and_then(|at| parts.node(at)).map_err(fault)?;
        }
        add_last(parts).map_err(fault)?;
    }
    Ok(())
}

fn read_text(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    let mut file = Cursor::new(bytes);
    file.rest_of_line()?;
    let mut corners = 0;
    while let Some(word) = file.word()? {
        match word {
            "vertex" => {
                let at = Vec3::new(file.number("x")?, file.number("y")?, file.number("z")?);
                parts.node(at).map_err(|e| file.fault(e))?;
                corners += 1;
            }
            "endloop" => {
                if corners != 3 {
                    return Err(file.fault(format!("a facet with {corners} corners: it must have three")));
                }
                corners = 0;
                add_last(parts).map_err(|e| file.fault(e))?;
            }
            // The rest of the line may be anything: the name of the body.
            "endsolid" | "solid" => {
                file.rest_of_line()?;
            }
            _ => {}
        }
    }
    if corners != 0 {
        return Err(file.fault("the file ends within a facet"));
    }
    Ok(())
}

/// A triangle of the last three nodes.
fn add_last(parts: &mut Parts) -> Result<(), String> {
    let n = parts.particles.len() as u32;
    parts.element(Shape::Triangle, &[n - 3, n - 2, n - 1], &[])
}
