//! Numbers as Java's `toString` writes them.

/// `Double.toString`: decimal from 1e-3 up to 1e7, else with an exponent. The digits are the fewest that tell the number apart,
/// as in Java from release 19 on.
pub fn double(value: f64) -> String {
    let shortest = format!("{value:e}");
    // Of two that are as short and as near, Rust takes the upper, Java the even one.
    let even = format!("{value:.*e}", digits_of(&shortest).saturating_sub(1));
    text(value, if even.parse() == Ok(value) { &even } else { &shortest })
}

/// `Float.toString`.
pub fn float(value: f32) -> String {
    let shortest = format!("{value:e}");
    let even = format!("{value:.*e}", digits_of(&shortest).saturating_sub(1));
    text(value.into(), if even.parse() == Ok(value) { &even } else { &shortest })
}

/// How many digits stand before the exponent.
fn digits_of(scientific: &str) -> usize {
    scientific.split('e').next().unwrap_or("").bytes().filter(u8::is_ascii_digit).count()
}

/// `scientific` is what Rust's `{:e}` makes of the number: `-1.25e-7`.
fn text(value: f64, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    let (mantissa, exponent) = scientific.trim_start_matches('-').split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let or_zero = |text: &str| if text.is_empty() { "0".to_string() } else { text.to_string() };
    match exponent {
        -3..0 => format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        0..7 => {
            let point = exponent as usize + 1;
            let padded = format!("{digits:0<point$}");
            format!("{sign}{}.{}", &padded[..point], or_zero(&padded[point..]))
        }
        _ => format!("{sign}{}.{}E{exponent}", &digits[..1], or_zero(&digits[1..])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `jshell` of JDK 17 prints for these.
    #[test]
    fn numbers_are_javas() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (0.001, "0.001"),
            (0.0123, "0.0123"),
            (0.00099, "9.9E-4"),
            (1234567.0, "1234567.0"),
            (9999999.5, "9999999.5"),
            (1e7, "1.0E7"),
            (1.25e-7, "1.25E-7"),
            (123456789.125, "1.23456789125E8"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (value, want) in cases {
            assert_eq!(double(value), want);
        }
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(4938269.0 / 4.0), "1234567.2");
        assert_eq!(float(4938271.0 / 4.0), "1234567.8");
        assert_eq!(float(3.4028235e38), "3.4028235E38");
        assert_eq!(float(16777216.0), "1.6777216E7");
    }
}
