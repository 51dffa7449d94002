//! Durations as text. A duration is an int, its milliseconds, as `30s` is one.

use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode};

lang::builtins! { "" =>
    /// Formats a duration with its units: days, hours, minutes, seconds and milliseconds.
    ///
    /// ```harn
    /// duration_format(90s) // => "1m 30s"
    /// duration_format(1d + 250ms) // => "1d 250ms"
    /// ```
    plain "duration_format(duration: int) -> string" duration_format;
    /// Parses a duration of the units `ms s m h d w`, such as `1h 30m` or `1.5h`. Returns its milliseconds.
    ///
    /// ```harn
    /// duration_parse("1h 30m") == 90m // => true
    /// duration_parse("ten minutes") // => error: cannot parse "ten minutes" as a duration
    /// ```
    plain "duration_parse(text: string) -> int" duration_parse;
}

/// Units and their milliseconds, the largest first. Weeks are read, and written as days.
const UNITS: [(&str, i64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

fn duration_format(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let duration = args::int(args, 0)?;
    let mut rest = duration.unsigned_abs();
    let mut parts = Vec::new();
    for (unit, size) in &UNITS[1..] {
        let count = rest / size.unsigned_abs();
        rest %= size.unsigned_abs();
        if count > 0 {
            parts.push(format!("{count}{unit}"));
        }
    }
    let text = if parts.is_empty() { "0ms".to_owned() } else { parts.join(" ") };
    Ok(Value::from(if duration < 0 { format!("-{text}") } else { text }))
}

fn duration_parse(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    parse(text.trim()).map(Value::Int).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        Raise::error(RunCode::Value, format!("cannot parse \"{shown}\" as a duration"))
            .about(0, "")
            .help("write numbers with units, such as `90s`, `1h 30m` or `1.5h`")
    })
}

fn parse(text: &str) -> Option<i64> {
    let (sign, mut rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest.trim_start()));
    let mut total = 0_i64;
    // A text of many parts is a mistake, and would take long to read.
    if rest.is_empty() || rest.len() > 200 {
        return None;
    }
    while !rest.is_empty() {
        let unit = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, after) = rest.split_at(unit);
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (_, size) = UNITS.iter().find(|(name, _)| *name == &after[..end])?;
        total = total.checked_add(in_ms(number, *size)?)?;
        rest = after[end..].trim_start();
    }
    total.checked_mul(sign)
}

/// Returns a number of units in milliseconds, rounded.
fn in_ms(number: &str, size: i64) -> Option<i64> {
    if let Ok(whole) = number.parse::<i64>() {
        return whole.checked_mul(size);
    }
    let ms = (number.parse::<f64>().ok()? * size as f64).round();
    (ms < 9.0e18).then_some(ms as i64)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn durations_are_read_with_each_unit() {
        for (text, ms) in [
            ("0ms", 0),
            ("250ms", 250),
            ("1.5s", 1500),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("1w 1d", 691_200_000),
            ("-1h", -3_600_000),
            ("- 1h", -3_600_000),
        ] {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
        for text in ["", "-", "5", "m", "1x", "1.2.3s", "1h,30m", "9223372036854775807d", "99999999999999999999.5d"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
