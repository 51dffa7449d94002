//! CSV: rows as dicts by the names of the first row, or as lists.

use crate::options::{CsvReadOptions, CsvWriteOptions, OptionSet};
use csv::{ReaderBuilder, StringRecord, Terminator, WriterBuilder};
use lang::builtins::args;
use lang::value::{Dict, Str, Value, article, display};
use lang::vm::{Cx, Meter, Raise, RunCode, Stopped};
use std::sync::Arc;

lang::builtins! { "" =>
    /// Parses CSV. Returns a dict for each row after the first one, which has the names; with `headers: false` a list for each row.
    /// `types` makes ints, floats, bools and nil of the values that look like them; `separator` is a character other than `,`.
    ///
    /// ```harn
    /// csv_parse("name,age\nAnn,30\n\"Li, Bo\",41\n") // => [{age: "30", name: "Ann"}, {age: "41", name: "Li, Bo"}]
    /// csv_parse("a;1.5\nb;\n", {headers: false, separator: ";", types: true}) // => [["a", 1.5], ["b", nil]]
    /// csv_parse("a,b\n1\n") // => error: line 2: expected 2 fields, found 1
    /// ```
    plain "csv_parse(text: string, options: CsvReadOptions = nil) -> list<any>" csv_parse;
    /// Writes rows as CSV: dicts with a row of their keys, or lists. `headers` names the columns in their order, or is false to omit
    /// their row.
    ///
    /// ```harn
    /// csv_stringify([{name: "Li, Bo", age: 41}], {headers: ["name", "age"]}) // => "name,age\n\"Li, Bo\",41\n"
    /// csv_stringify([["a", 1], ["b", nil]]) // => "a,1\nb,\n"
    /// ```
    plain "csv_stringify(rows: list, options: CsvWriteOptions = nil) -> string" csv_stringify;
}

fn separator(option: Option<&Arc<str>>) -> Result<u8, Box<Raise>> {
    let Some(text) = option else { return Ok(b',') };
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !b"\"\n\r".contains(byte) => Ok(*byte),
        _ => {
            let message = "the separator must be one ASCII character, such as `;` or a tab";
            Err(Raise::error(RunCode::Value, message).about(1, "invalid `separator`"))
        }
    }
}

/// The value that a field looks like.
fn typed(field: &str) -> Value {
    match field {
        "" => return Value::Nil,
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    // A number that begins with a zero is a code, such as that of a town.
    let digits = field.trim_start_matches(['-', '+']);
    let is_code = digits.starts_with('0') && digits.len() > 1 && !digits.starts_with("0.");
    if is_code || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Value::str(field);
    }
    match field.parse::<i64>() {
        Ok(int) => Value::Int(int),
        Err(_) => field.parse::<f64>().map_or_else(|_| Value::str(field), Value::Float),
    }
}

fn invalid(line: u64, why: &str) -> Box<Raise> {
    Raise::error(RunCode::Value, format!("line {line}: {why}")).about(0, "invalid CSV")
}

fn csv_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    let CsvReadOptions { headers: with_names, separator: between, types } = CsvReadOptions::read(cx, args, 1)?;
    // Values are larger than their texts.
    cx.check_room(text.len().saturating_mul(4))?;
    cx.charge(text.len(), 4);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(between.as_ref())?)
        .from_reader(text.as_bytes());
    let value = |field: &str| if types { typed(field) } else { Value::str(field) };
    let (mut names, mut rows, mut meter): (Option<Vec<Str>>, _, _) = (None, Vec::new(), Meter::start());
    let mut record = StringRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(Value::list(rows)),
            Err(error) => return Err(invalid(line, &error.to_string())),
        }
        // Empty lines before a record are not counted as its position.
        let line = record.position().map_or(line, csv::Position::line);
        meter.steps(record.len()).map_err(Stopped::raise)?;
        cx.check_size(rows.len().checked_mul(2 * size_of::<Value>()))?;
        match &names {
            _ if !with_names => rows.push(Value::list(record.iter().map(value).collect())),
            None => {
                let found: Vec<Str> = record.iter().map(|name| Str::new(name.trim())).collect();
                if let Some((i, name)) = found.iter().enumerate().find(|(i, name)| found[..*i].contains(name)) {
                    let why = format!("column {} is named `{}` like an earlier one", i + 1, name.as_str());
                    return Err(invalid(line, &why).help("read the rows as lists: `{headers: false}`"));
                }
                names = Some(found);
            }
            Some(names) if names.len() != record.len() => {
                return Err(invalid(line, &format!("expected {} fields, found {}", names.len(), record.len()))
                    .help("quote fields with separators, or read the rows as lists: `{headers: false}`"));
            }
            Some(names) => {
                let row = names.iter().cloned().zip(record.iter().map(value));
                rows.push(Value::dict(row.collect::<Dict>()));
            }
        }
    }
}

/// Returns the text of a field.
fn field(value: &Value) -> Result<String, Box<Raise>> {
    match value {
        Value::Nil => Ok(String::new()),
        Value::Str(text) => Ok(text.to_string()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(display(value)),
        other => {
            let message = format!("cannot write {} in a field of CSV", article(other.type_name()));
            Err(Raise::error(RunCode::Type, message)
                .about(0, "contains it")
                .help("make text of it first, such as `json_stringify(x)` or `xs.join(\" \")`"))
        }
    }
}

fn csv_stringify(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let rows = args::elements(args, 0)?;
    let CsvWriteOptions { headers, separator: between } = CsvWriteOptions::read(cx, args, 1)?;
    let wrong =
        || Raise::error(RunCode::Type, "`headers` must be a bool or a list of strings").about(1, "invalid `headers`");
    let (with_names, mut columns): (bool, Vec<Str>) = match &headers {
        None => (true, Vec::new()),
        Some(Value::Bool(with_names)) => (*with_names, Vec::new()),
        Some(Value::List(names)) => {
            let name = |name: &Value| if let Value::Str(name) = name { Ok(name.clone()) } else { Err(wrong()) };
            (true, names.items.iter().map(name).collect::<Result<_, _>>()?)
        }
        Some(_) => return Err(wrong()),
    };
    cx.charge(rows.len(), 8);
    if columns.is_empty()
        && let Some(first) = rows.iter().find_map(Value::as_dict)
    {
        columns = first.iter().map(|(name, _)| name.clone()).collect();
        // Keys that only later rows have follow.
        let more: Dict =
            rows.iter().filter_map(Value::as_dict).flat_map(Dict::iter).map(|(k, _)| (k.clone(), Value::Nil)).collect();
        columns.extend(more.iter().map(|(name, _)| name).filter(|name| first.get(name).is_none()).cloned());
    }
    let mut writer = WriterBuilder::new()
        .flexible(true)
        .delimiter(separator(between.as_ref())?)
        .terminator(Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    let failed = |error: csv::Error| Raise::error(RunCode::Value, format!("cannot write CSV: {error}")).about(0, "");
    if with_names && !columns.is_empty() {
        writer.write_record(columns.iter().map(Str::as_str)).map_err(failed)?;
    }
    let (mut meter, mut bytes) = (Meter::start(), 0_usize);
    for row in &rows {
        let fields: Vec<String> = match row {
            Value::Dict(entries) => columns
                .iter()
                .map(|name| entries.dict.get(name).map_or_else(|| Ok(String::new()), field))
                .collect::<Result<_, _>>()?,
            Value::List(items) => items.items.iter().map(field).collect::<Result<_, _>>()?,
            other => {
                let message = format!("expected rows that are dicts or lists, found {}", article(other.type_name()));
                return Err(Raise::error(RunCode::Type, message).about(0, "contains it"));
            }
        };
        meter.steps(fields.len()).map_err(Stopped::raise)?;
        bytes = bytes.saturating_add(fields.iter().map(|field| field.len() * 2 + 3).sum::<usize>());
        cx.check_size(Some(bytes))?;
        writer.write_record(&fields).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.into_error().into()))?;
    cx.charge_part(bytes.len(), 4);
    String::from_utf8(bytes).map(Value::from).map_err(|error| Raise::error(RunCode::Value, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::typed;
    use lang::value::inspect;

    #[test]
    fn only_what_surely_is_a_number_becomes_one() {
        for (field, wanted) in [
            ("12", "12"),
            ("-1.5", "-1.5"),
            ("0.5", "0.5"),
            ("0", "0"),
            ("01234", "\"01234\""),
            ("inf", "\"inf\""),
            ("1e3", "1000.0"),
            ("1-2", "\"1-2\""),
            ("true", "true"),
            ("", "nil"),
        ] {
            assert_eq!(inspect(&typed(field)), wanted, "{field}");
        }
    }
}
