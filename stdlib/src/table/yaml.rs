//! YAML 1.2, and the front matter of Markdown files.

use super::plain::plain;
use crate::structured_text::{documents, front_matter_of, plain_scalar};
use lang::builtins::{args, json_text};
use lang::value::{Value, display};
use lang::vm::{Cx, Raise, RunCode};
use std::borrow::Cow;

lang::builtins! { "" =>
    /// Parses a YAML document by the core schema of YAML 1.2, in which `yes` and `no` are strings. Keys are strings. An alias is the
    /// value of its anchor, and `<<` merges dicts.
    ///
    /// ```harn
    /// yaml_parse("name: demo\non: [push, 3, true]\nbuild:\n  env: ~\n") // => {build: {env: nil}, name: "demo", on: ["push", 3, true]}
    /// yaml_parse("a: [1") // => error: cannot parse YAML: line
    /// ```
    plain "yaml_parse(text: string) -> any" yaml_parse;
    /// Parses all documents of a YAML text.
    ///
    /// ```harn
    /// yaml_parse_all("a: 1\n---\nb: 2\n") // => [{a: 1}, {b: 2}]
    /// ```
    plain "yaml_parse_all(text: string) -> list" yaml_parse_all;
    /// Writes a value as YAML.
    ///
    /// ```harn
    /// yaml_stringify({name: "demo", on: ["push", "3"]}) // => "name: demo\non:\n  - push\n  - \"3\"\n"
    /// ```
    plain "yaml_stringify(value: any) -> string" yaml_stringify;
    /// Splits the front matter from a text: `{data, body}`. Between two lines `---` it is YAML, between two lines `+++` it is TOML.
    /// Without front matter the data is an empty dict.
    ///
    /// ```harn
    /// front_matter("---\ntitle: Hello\n---\nText.\n") // => {body: "Text.\n", data: {title: "Hello"}}
    /// front_matter("Text.") // => {body: "Text.", data: {}}
    /// ```
    plain "front_matter(text: string) -> {data: dict, body: string}" front_matter;
}

fn yaml_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut documents = documents(cx, args::str(args, 0)?)?;
    if documents.len() > 1 {
        let message = format!("expected one YAML document, found {}", documents.len());
        return Err(Raise::error(RunCode::Value, message).about(0, "").help("use `yaml_parse_all(text)`"));
    }
    Ok(documents.pop().unwrap_or_default())
}

fn yaml_parse_all(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    documents(cx, args::str(args, 0)?).map(Value::list)
}

fn yaml_stringify(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let value = plain(cx, &args[0], 0)?;
    let mut writer = YamlWriter { cx, out: String::new() };
    match &value {
        Value::Dict(_) | Value::List(_) => writer.block(&value, 0)?,
        _ => writer.line(&value, 0)?,
    }
    let text = writer.out;
    cx.charge(text.len(), 4);
    cx.check_size(Some(text.len()))?;
    Ok(Value::from(text))
}

/// Writes block style.
struct YamlWriter<'c, 'a> {
    cx: &'c Cx<'a>,
    out: String,
}

impl YamlWriter<'_, '_> {
    /// Writes a dict or list that is not empty, from the start of a line on.
    fn block(&mut self, value: &Value, indent: usize) -> Result<(), Box<Raise>> {
        match value {
            Value::Dict(entries) if !entries.dict.is_empty() => {
                for (i, (key, value)) in entries.dict.iter().enumerate() {
                    // The first entry of an element follows its hyphen.
                    if i > 0 || !self.out.ends_with("- ") {
                        self.indent(indent)?;
                    }
                    let key = quoted(key, true)?;
                    self.out.push_str(&key);
                    self.out.push(':');
                    if is_block(value) {
                        self.out.push('\n');
                        self.block(value, indent + 1)?;
                    } else {
                        self.out.push(' ');
                        self.line(value, indent + 1)?;
                    }
                }
            }
            Value::List(items) if !items.items.is_empty() => {
                for (i, item) in items.items.iter().enumerate() {
                    if i > 0 || !self.out.ends_with("- ") {
                        self.indent(indent)?;
                    }
                    self.out.push_str("- ");
                    if is_block(item) { self.block(item, indent + 1)? } else { self.line(item, indent + 1)? }
                }
            }
            other => self.line(other, indent)?,
        }
        Ok(())
    }

    fn indent(&mut self, indent: usize) -> Result<(), Box<Raise>> {
        self.cx.check_size(self.out.len().checked_add(2 * indent))?;
        self.out.extend(std::iter::repeat_n("  ", indent));
        Ok(())
    }

    /// Writes a scalar or an empty collection, and the line break.
    fn line(&mut self, value: &Value, indent: usize) -> Result<(), Box<Raise>> {
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Float(float) if float.is_nan() => self.out.push_str(".nan"),
            Value::Float(float) if float.is_infinite() => {
                self.out.push_str(if *float > 0.0 { ".inf" } else { "-.inf" });
            }
            Value::Str(text) => match literal(text) {
                Some(mark) => {
                    self.out.push_str(mark);
                    for line in text.lines() {
                        self.out.push('\n');
                        if !line.is_empty() {
                            self.indent(indent.max(1))?;
                            self.out.push_str(line);
                        }
                    }
                }
                None => self.out.push_str(&quoted(text, false)?),
            },
            Value::Dict(_) => self.out.push_str("{}"),
            Value::List(_) => self.out.push_str("[]"),
            other => self.out.push_str(&display(other)),
        }
        self.out.push('\n');
        Ok(())
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Dict(entries) => !entries.dict.is_empty(),
        Value::List(items) => !items.items.is_empty(),
        _ => false,
    }
}

/// Returns the mark of a literal block for text of several lines, if it can be one.
fn literal(text: &str) -> Option<&'static str> {
    let is_plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
    let fits = text.contains('\n') && !text.starts_with([' ', '\t', '\n']) && text.chars().all(is_plain);
    match fits {
        true if text.ends_with("\n\n") => None,
        true => Some(if text.ends_with('\n') { "|" } else { "|-" }),
        false => None,
    }
}

/// Writes a text as it is, or in quotes where it would be something else.
fn quoted(text: &str, is_key: bool) -> Result<Cow<'_, str>, Box<Raise>> {
    /// A longer text is quoted without a look at it.
    const LONGEST_PLAIN: usize = 1 << 10;
    if text.len() > LONGEST_PLAIN {
        return json_text(&Value::str(text)).map(Cow::Owned);
    }
    let starts = text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '('));
    let special =
        text.contains([':', '#', '\n', '\t']) && (text.contains(": ") || text.contains(" #") || text.ends_with(':'));
    let is_text = matches!(plain_scalar(text), Value::Str(_));
    let control = text.chars().any(char::is_control);
    // YAML 1.1 reads these as bools.
    let is_old_bool = ["yes", "no", "on", "off", "y", "n"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_date = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['-', ':']);
    let is_other = special || control || is_date || text.ends_with(' ') || (is_old_bool && !is_key);
    if starts && is_text && !is_other {
        return Ok(Cow::Borrowed(text));
    }
    json_text(&Value::str(text)).map(Cow::Owned)
}

fn front_matter(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_copy(text.len())?;
    let (data, body) = front_matter_of(cx, text)?;
    Ok(Value::record([("data", data), ("body", Value::str(body))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structured_text::YamlReader;
    use lang::builtins::parse_json;
    use lang::value::inspect;

    /// Texts that are read back as they were written.
    #[test]
    fn what_is_written_is_read_back() {
        for json in [
            r##"{"a": [], "b": {}, "c": null, "d": [1, 2.5, true, "true", "1", "", " x", "a: b", "a #b", "-", "- x", "#", "yes"]}"##,
            r#"[[1, [2]], {"k": [{"x": 1, "y": {"z": "w"}}]}, "line\nline\n", "line\nline", "a\n\n", "\n", "tab\there", "2025-01-31"]"#,
            r#"{"key with: colon": 1, "true": 2, "12": 3, "": 4, "é": "ü\u0007", "on": "*x", "q": "\"", "p": "%", "b": "{x}"}"#,
            r#""text""#,
            "12",
        ] {
            let value = parse_json(json).unwrap();
            let isolate = lang::vm::Isolate::new(
                crate::table::registry(),
                std::rc::Rc::new(lang::vm::NoHost),
                lang::vm::Limits::default(),
                Vec::new(),
            );
            let cx = Cx { isolate: &isolate, context: &std::rc::Rc::default() };
            let mut writer = YamlWriter { cx: &cx, out: String::new() };
            writer.block(&value, 0).unwrap();
            let text = writer.out;
            let read = YamlReader::new(&text).documents().unwrap_or_else(|raise| panic!("{text}\n{}", raise.message));
            assert_eq!(inspect(&read[0]), inspect(&value), "{text}");
        }
    }

    #[test]
    fn aliases_are_shared_and_merged() {
        let text = "a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: *x\n  q: 3\n";
        let read = YamlReader::new(text).documents().unwrap();
        assert_eq!(inspect(&read[0]), "{a: {p: 1, q: 2}, b: {p: 1, q: 2}, c: {p: 1, q: 3}}");
    }

    #[test]
    fn invalid_texts_name_their_line() {
        for (text, line) in
            [("a: 1\na: 2\n", 2), ("a: !x 1\n", 1), ("? [1]\n: 2\n", 1), ("a: 1\nb: <<: 2\n", 2), ("x: !!int y\n", 1)]
        {
            let Err(raise) = YamlReader::new(text).documents() else { panic!("{text}") };
            assert!(raise.message.starts_with(&format!("cannot parse YAML: line {line}: ")), "{}", raise.message);
        }
    }
}
