//! `format`: templates with places for values, and numbers as text.

use super::{Builtin, args, under::under};
use crate::value::{Value, article, display, inspect};
use crate::vm::{Cx, Raise, RunCode};
use std::borrow::Cow;

crate::builtins! { "" =>
    /// Fills the places of a template with values: `{}` takes the next one, `{1}` the one of that number, `{name}` that of the last
    /// dict. After a colon follows how it is shown: `[[fill]<^>][+][#][0][width][,][.digits][d f e % x X b o ?]`.
    ///
    /// ```harn
    /// format("{} of {}: {:.1%}", 3, 4, 0.75) // => "3 of 4: 75.0%"
    /// format("|{:>8.2}|{:<6}|{:^5}|", 3.14159, "ab", "c") // => "|    3.14|ab    |  c  |"
    /// format("{name} has {count:,}", {name: "Ann", count: 12500}) // => "Ann has 12,500"
    /// format("{:05d} {:#x} {{}}", 42, 255) // => "00042 0xff {}"
    /// ```
    plain "format(template: string, ...values) -> string" format_text;
    /// Writes a number with that many digits after the point.
    ///
    /// ```harn
    /// to_fixed(2.5, 2) // => "2.50"
    /// ```
    plain "to_fixed(x: int | float, digits: int = 2) -> string" to_fixed;
    /// Writes a number with a separator between the thousands.
    ///
    /// ```harn
    /// thousands(1234567.5) // => "1,234,567.5"
    /// thousands(1234567, ".") // => "1.234.567"
    /// ```
    plain "thousands(x: int | float, separator: string = \",\") -> string" thousands;
}

/// Methods of strings.
pub(super) mod of_strings {
    use super::format_text;

    crate::builtins! { "<string>" =>
        /// Fills the places of the string with values, as the function `format` does.
        ///
        /// ```harn
        /// "{:>6}|{price:.2f}".format("ab", {price: 3}) // => "    ab|3.00"
        /// ```
        plain "format(self: string, ...values) -> string" [pure] format_text;
    }
}

/// Methods of ints.
pub(super) mod of_numbers {
    use super::{thousands, to_fixed};

    crate::builtins! { "<int>" =>
        /// Writes the number with that many digits after the point.
        ///
        /// ```harn
        /// 3.14159.to_fixed(2) // => "3.14"
        /// ```
        plain "to_fixed(self: int | float, digits: int = 2) -> string" [pure] to_fixed;
        /// Writes the number with a separator between the thousands.
        ///
        /// ```harn
        /// 1234567.thousands() // => "1,234,567"
        /// ```
        plain "thousands(self: int | float, separator: string = \",\") -> string" [pure] thousands;
    }
}

/// Methods of floats.
pub(super) static OF_FLOATS: &[Builtin] = &under::<{ of_numbers::TABLE.len() }>("<float>", of_numbers::TABLE);

/// Digits after the point that a number may have.
const MOST_DIGITS: usize = 1000;

/// Side on which a value is placed that is shorter than its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Center,
    Right,
}

/// The part of a place after its colon.
struct FormatSpec<'t> {
    text: &'t str,
    fill: char,
    align: Option<Align>,
    plus: bool,
    prefix: bool,
    zeros: bool,
    width: usize,
    group: Option<char>,
    digits: Option<usize>,
    kind: Option<char>,
}

impl<'t> FormatSpec<'t> {
    fn parse(text: &'t str) -> Result<Self, Box<Raise>> {
        let mut spec = Self {
            text,
            fill: ' ',
            align: None,
            plus: false,
            prefix: false,
            zeros: false,
            width: 0,
            group: None,
            digits: None,
            kind: None,
        };
        let align = |c: Option<char>| match c {
            Some('<') => Some(Align::Left),
            Some('^') => Some(Align::Center),
            Some('>') => Some(Align::Right),
            _ => None,
        };
        let mut rest = text;
        let mut chars = rest.chars();
        let (first, second) = (chars.next(), chars.next());
        if let (Some(fill), Some(found)) = (first, align(second)) {
            (spec.fill, spec.align) = (fill, Some(found));
            rest = chars.as_str();
        } else if let Some(found) = align(first) {
            spec.align = Some(found);
            rest = &rest[1..];
        }
        let mut flag = |c: char| match rest.strip_prefix(c) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        };
        spec.plus = flag('+');
        spec.prefix = flag('#');
        spec.zeros = flag('0');
        let number = |rest: &mut &'t str| -> Result<Option<usize>, Box<Raise>> {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, after) = rest.split_at(end);
            *rest = after;
            if digits.is_empty() {
                return Ok(None);
            }
            digits.parse().map(Some).map_err(|_| invalid(text, "number too large"))
        };
        spec.width = number(&mut rest)?.unwrap_or(0);
        if let Some(group) = rest.chars().next().filter(|c| matches!(c, ',' | '_')) {
            spec.group = Some(group);
            rest = &rest[1..];
        }
        if let Some(after) = rest.strip_prefix('.') {
            rest = after;
            spec.digits = Some(number(&mut rest)?.ok_or_else(|| invalid(text, "expected digits after `.`"))?);
            if spec.digits > Some(MOST_DIGITS) {
                return Err(invalid(text, &format!("more than {MOST_DIGITS} digits")));
            }
        }
        let mut chars = rest.chars();
        spec.kind = chars.next();
        let known = spec.kind.is_none_or(|kind| "dfe%xXbos?".contains(kind));
        if !known || !chars.as_str().is_empty() {
            return Err(invalid(text, &format!("unexpected `{rest}`")));
        }
        Ok(spec)
    }

    /// Returns the value as text, before it is padded, and whether it is a number.
    fn show<'v>(&self, value: &'v Value) -> Result<(Cow<'v, str>, bool), Box<Raise>> {
        let text = match (value, self.kind) {
            (Value::Int(_) | Value::Float(_), None | Some('d' | 'f' | 'e' | '%' | 'x' | 'X' | 'b' | 'o')) => {
                return self.number(value).map(|text| (text.into(), true));
            }
            (_, None | Some('s')) => match value {
                Value::Str(text) => Cow::Borrowed(text.as_str()),
                other => Cow::Owned(display(other)),
            },
            (_, Some('?')) => Cow::Owned(inspect(value)),
            (other, Some(_)) => {
                let message = format!("cannot format {} as a number", article(other.type_name()));
                return Err(Raise::error(RunCode::Type, message)
                    .labelled(format!("a place is `{{:{}}}`", self.text))
                    .help("convert the value first: `to_int(x)`, `to_float(x)`"));
            }
        };
        let cut = self.digits.and_then(|most| text.char_indices().nth(most)).map(|(at, _)| at);
        Ok((
            match (cut, text) {
                (None, text) => text,
                (Some(at), Cow::Borrowed(text)) => Cow::Borrowed(&text[..at]),
                (Some(at), Cow::Owned(text)) => Cow::Owned(text[..at].to_owned()),
            },
            false,
        ))
    }

    fn number(&self, value: &Value) -> Result<String, Box<Raise>> {
        let float = value.as_number().unwrap_or_default();
        let radix = |number: String, prefix: &str| if self.prefix { format!("{prefix}{number}") } else { number };
        let (negative, digits) = match (value, self.kind) {
            (Value::Int(i), Some('x')) => (*i < 0, radix(format!("{:x}", i.unsigned_abs()), "0x")),
            (Value::Int(i), Some('X')) => (*i < 0, radix(format!("{:X}", i.unsigned_abs()), "0x")),
            (Value::Int(i), Some('b')) => (*i < 0, radix(format!("{:b}", i.unsigned_abs()), "0b")),
            (Value::Int(i), Some('o')) => (*i < 0, radix(format!("{:o}", i.unsigned_abs()), "0o")),
            (Value::Float(_), Some(kind @ ('x' | 'X' | 'b' | 'o' | 'd'))) => {
                return Err(Raise::error(RunCode::Type, format!("cannot format a float as `{kind}`"))
                    .help("convert it first: `to_int(x)` or `round(x)`"));
            }
            (Value::Int(i), None | Some('d')) => {
                let digits = self.digits.filter(|digits| *digits > 0 && self.kind.is_none());
                let zeros = digits.map_or(String::new(), |digits| format!(".{}", "0".repeat(digits)));
                (*i < 0, format!("{}{zeros}", i.unsigned_abs()))
            }
            (_, Some('%')) => {
                let digits = self.digits.unwrap_or(0);
                (float < 0.0, format!("{:.digits$}%", (float * 100.0).abs()))
            }
            (_, Some('e')) => {
                let digits = self.digits.unwrap_or(6);
                (float < 0.0, format!("{:.digits$e}", float.abs()))
            }
            (Value::Int(i), _) => {
                let digits = self.digits.unwrap_or(6);
                let zeros = if digits > 0 { format!(".{}", "0".repeat(digits)) } else { String::new() };
                (*i < 0, format!("{}{zeros}", i.unsigned_abs()))
            }
            _ => {
                let digits = self.digits.or((self.kind == Some('f')).then_some(6));
                let digits = digits.map(|digits| format!("{:.digits$}", float.abs()));
                (
                    float.is_sign_negative() && !float.is_nan(),
                    digits.unwrap_or_else(|| display(&Value::Float(float.abs()))),
                )
            }
        };
        let digits = match self.group {
            Some(group) => grouped(&digits, &group.to_string()),
            None => digits,
        };
        let sign = if negative {
            "-"
        } else if self.plus {
            "+"
        } else {
            ""
        };
        let zeros = if self.zeros && self.align.is_none() {
            self.width.saturating_sub(sign.len() + digits.chars().count())
        } else {
            0
        };
        Ok(format!("{sign}{}{digits}", "0".repeat(zeros)))
    }

    fn write(&self, cx: &Cx<'_>, value: &Value, out: &mut String) -> Result<(), Box<Raise>> {
        // Zeros are a part of the number.
        cx.check_size(self.width.checked_mul(self.fill.len_utf8()).and_then(|size| size.checked_add(out.len())))?;
        cx.charge(self.width, 1);
        let (text, is_number) = self.show(value)?;
        let missing = self.width.saturating_sub(text.chars().count());
        cx.check_size(
            out.len().checked_add(text.len()).and_then(|size| size.checked_add(missing * self.fill.len_utf8())),
        )?;
        let align = self.align.unwrap_or(if is_number { Align::Right } else { Align::Left });
        let left = match align {
            Align::Left => 0,
            Align::Center => missing / 2,
            Align::Right => missing,
        };
        out.extend(std::iter::repeat_n(self.fill, left));
        out.push_str(&text);
        out.extend(std::iter::repeat_n(self.fill, missing - left));
        Ok(())
    }
}

fn invalid(spec: &str, why: &str) -> Box<Raise> {
    Raise::error(RunCode::Value, format!("invalid format `{{:{}}}`: {why}", items_shown(spec)))
        .about(0, "")
        .help("write `[[fill]<^>][+][#][0][width][,][.digits][type]` after the colon, as in `{:>8.2f}`")
}

/// The beginning of a text for a message.
fn items_shown(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(at, _)| &text[..at])
}

/// Puts separators between the thousands of the part of a number before its point.
fn grouped(number: &str, separator: &str) -> String {
    let start = number.find(|c: char| c.is_ascii_digit()).unwrap_or(number.len());
    let end = number[start..].find(|c: char| !c.is_ascii_digit()).map_or(number.len(), |at| start + at);
    let digits = &number[start..end];
    let mut out = String::with_capacity(number.len() * 2);
    out.push_str(&number[..start]);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push_str(separator);
        }
        out.push(digit);
    }
    out.push_str(&number[end..]);
    out
}

/// The value of a place: the next one, that of a number, or that of a name.
fn value_of<'a>(place: &str, values: &'a [Value], next: &mut usize) -> Result<Cow<'a, Value>, Box<Raise>> {
    let missing = |message: String, help: &str| Err(Raise::error(RunCode::Value, message).about(0, "").help(help));
    let count = match values.len() {
        0 => "no values are given".to_owned(),
        1 => "one value is given".to_owned(),
        n => format!("{n} values are given"),
    };
    if place.is_empty() || place.bytes().all(|byte| byte.is_ascii_digit()) {
        let index = if place.is_empty() { *next } else { place.parse().unwrap_or(usize::MAX) };
        *next += usize::from(place.is_empty());
        return match values.get(index) {
            Some(value) => Ok(Cow::Borrowed(value)),
            None => missing(
                format!("no value for place `{{{}}}` of the template: {count}", items_shown(place)),
                "pass a value for each place, and write `{{` for a brace",
            ),
        };
    }
    let holds_names = |value: &&Value| matches!(value, Value::Dict(_) | Value::Struct(_));
    let mut found = values.iter().rev().find(holds_names).map(Cow::Borrowed);
    for name in place.split('.') {
        found = found.and_then(|value| {
            match &*value {
                Value::Dict(entries) => entries.dict.get_str(name).cloned(),
                Value::Struct(own) => {
                    let at = own.def().fields.iter().position(|field| field.name.as_str() == name)?;
                    own.values().get(at).cloned()
                }
                _ => None,
            }
            .map(Cow::Owned)
        });
    }
    match found {
        Some(value) => Ok(value),
        None => missing(
            format!("no value named `{}` for the template", items_shown(place)),
            "pass a dict with that key as the last argument, and write `{{` for a brace",
        ),
    }
}

fn format_text(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let template = args::str(args, 0)?;
    cx.charge_part(template.len(), 4);
    cx.check_size(Some(template.len()))?;
    let values = &args[1..];
    let mut out = String::with_capacity(template.len());
    let (mut rest, mut next) = (template.as_str(), 0);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            out.push_str(brace);
            rest = after;
            continue;
        }
        let Some((place, after)) = rest.split_once('}').filter(|_| brace == "{") else {
            let (found, other) = if brace == "{" { ("{", "}") } else { ("}", "{") };
            return Err(Raise::error(RunCode::Value, format!("`{found}` without `{other}` in the template"))
                .about(0, "")
                .help(format!("write `{found}{found}` for a brace")));
        };
        rest = after;
        let (name, spec) = place.split_once(':').unwrap_or((place, ""));
        let value = value_of(name.trim(), values, &mut next)?;
        FormatSpec::parse(spec)?.write(cx, &value, &mut out)?;
    }
    out.push_str(rest);
    cx.check_size(Some(out.len()))?;
    cx.charge_part(out.len(), 16);
    Ok(Value::from(out))
}

fn to_fixed(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let digits = if args[1].is_nil() { 2 } else { args::count(args, 1)? };
    if digits > MOST_DIGITS {
        let message = format!("expected at most {MOST_DIGITS} digits, found {digits}");
        return Err(Raise::error(RunCode::Value, message).about(1, "too many"));
    }
    args::number(args, 0)?;
    let mut spec = FormatSpec::parse("f")?;
    spec.digits = Some(digits);
    spec.number(&args[0]).map(Value::from)
}

fn thousands(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::number(args, 0)?;
    let separator = args::opt_str(args, 1)?.map_or(",", |separator| separator.as_str());
    // A number has few hundred digits at most.
    cx.check_size(separator.len().checked_mul(200))?;
    Ok(Value::from(grouped(&display(&args[0]), separator)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(spec: &str, value: &Value) -> String {
        let spec = FormatSpec::parse(spec).unwrap();
        spec.show(value).unwrap().0.into_owned()
    }

    #[test]
    fn numbers_are_written_as_the_place_says() {
        for (spec, value, wanted) in [
            ("", Value::Int(-5), "-5"),
            ("+", Value::Int(5), "+5"),
            ("05", Value::Int(-42), "-0042"),
            (",", Value::Int(-1_234_567), "-1,234,567"),
            ("_.1f", Value::Float(1234.25), "1_234.2"),
            (".2", Value::Int(3), "3.00"),
            (".2f", Value::Int(i64::MIN), "-9223372036854775808.00"),
            ("f", Value::Float(1.5), "1.500000"),
            (".0", Value::Float(2.5), "2"),
            ("", Value::Float(0.1), "0.1"),
            (".1%", Value::Float(0.256), "25.6%"),
            ("%", Value::Int(1), "100%"),
            ("#x", Value::Int(-255), "-0xff"),
            ("X", Value::Int(255), "FF"),
            ("b", Value::Int(5), "101"),
            ("o", Value::Int(8), "10"),
            (".2e", Value::Float(12345.0), "1.23e4"),
            ("", Value::Float(f64::NAN), "NaN"),
        ] {
            assert_eq!(shown(spec, &value), wanted, "{spec}");
        }
    }

    #[test]
    fn a_place_that_says_nonsense_is_an_error() {
        for spec in ["y", ".f", "5.2.3", "99999999999999999999999", ".1001f", "<<<<"] {
            assert!(FormatSpec::parse(spec).is_err(), "{spec}");
        }
        assert!(FormatSpec::parse("d").unwrap().show(&Value::str("x")).is_err());
        assert!(FormatSpec::parse("x").unwrap().show(&Value::Float(1.5)).is_err());
    }
}
