//! Quantities for people: three digits, a unit, and a prefix that keeps the number short.

/// Prefixes by their power of a thousand, from 10^-9.
const PREFIXES: [&str; 7] = ["n", "µ", "m", "", "k", "M", "G"];

/// A quantity in words: `quantity(0.0123, "m")` is `12.3 mm`.
pub fn quantity(value: f64, unit: &str) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { format!("0 {unit}") } else { "no number".to_owned() };
    }
    // Rounded first: 999.7 is 1.00 k.
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let thousands = (rounded.abs().log10() / 3.0 + 1e-9).floor() as i32;
    // Units with a power or with parts of their own take no prefix.
    let plain = unit.chars().any(|c| !c.is_ascii_alphabetic()) || unit == "%";
    if plain || !(-3..=3).contains(&thousands) {
        let text =
            if (1e-3..1e6).contains(&rounded.abs()) { digits(rounded) } else { format!("{value:.2e}") };
        return format!("{text} {unit}");
    }
    format!("{} {}{unit}", digits(rounded / 1000f64.powi(thousands)), PREFIXES[(thousands + 3) as usize])
}

/// Three digits that count.
fn digits(value: f64) -> String {
    let before = value.abs().log10().floor() as i32 + 1;
    format!("{value:.*}", (3 - before).clamp(0, 6) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits_and_a_prefix() {
        for (value, unit, text) in [
            (0.0123, "m", "12.3 mm"),
            (0.1, "m", "100 mm"),
            (1.0, "m", "1.00 m"),
            (-999.7, "N", "-1.00 kN"),
            (5e-7, "s", "500 ns"),
            (12.0, "cm³", "12.0 cm³"),
            (0.0421, "m/s", "0.0421 m/s"),
            (1e-30, "N", "1.00e-30 N"),
            (0.0, "N", "0 N"),
            (f64::NAN, "N", "no number"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
    }
}
