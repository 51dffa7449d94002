//! Compiled functions as text, for `harn dis`: what a person reads, and what a test compares.
//!
//! Nothing in it depends on where things lie in memory, so that a script always gives the same text.

use super::op::{Extent, FAR, IN_LIST, Op, Operand, Reg};
use super::{Capture, Failure, Handler, HandlerKind, Isolate, KeySource, PathSite, Place, Proto, Test, TypeTest};
use crate::value::display;
use crate::value::{EnumDef, Str, Value, inspect};
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// Characters of a constant that are shown.
const WIDTH: usize = 60;

/// Name of the top-level statements.
const MAIN: &str = "main";

/// All functions of the file of `main`: `main` itself, those with a number, and those inside them. `globals` are the names of
/// globals.
#[must_use]
pub fn listing(isolate: &Isolate, main: &Rc<Proto>, globals: &[(u32, &str)]) -> String {
    let mut listed = NamedValues { isolate, globals: HashMap::new(), labels: HashMap::new(), functions: Vec::new() };
    for (slot, name) in globals {
        listed.globals.entry(*slot).or_insert_with(|| (*name).to_owned());
    }
    let numbered: Vec<_> = (0..isolate.function_count()).filter_map(|n| Some((n, isolate.function(n)?))).collect();
    for (number, proto) in &numbered {
        listed.labels.insert(Rc::as_ptr(proto), format!("fn{number}"));
    }
    listed.collect(main, MAIN);
    for (number, proto) in &numbered {
        let of_this_file = match (&proto.source, &main.source) {
            (Some(its), Some(ours)) => Arc::ptr_eq(its, ours),
            _ => false,
        };
        if of_this_file {
            listed.collect(proto, &format!("fn{number}"));
        }
    }
    let mut out = String::new();
    for (proto, label) in &listed.functions {
        if !out.is_empty() {
            out.push('\n');
        }
        ListedFunction { listed: &listed, proto, at: 0 }.write(label, &mut out);
    }
    out
}

/// Values to show, with their names.
struct NamedValues<'a> {
    isolate: &'a Isolate,
    globals: HashMap<u32, String>,
    labels: HashMap<*const Proto, String>,
    functions: Vec<(Rc<Proto>, String)>,
}

impl NamedValues<'_> {
    /// Adds a function and those inside it that have no name yet.
    fn collect(&mut self, proto: &Rc<Proto>, label: &str) {
        self.labels.insert(Rc::as_ptr(proto), label.to_owned());
        self.functions.push((proto.clone(), label.to_owned()));
        let made = proto.constants.iter().filter_map(|value| match value {
            Value::Closure(closure) => Some(&closure.proto),
            _ => None,
        });
        for (at, inside) in proto.protos.iter().chain(made).enumerate() {
            if !self.labels.contains_key(&Rc::as_ptr(inside)) {
                self.collect(inside, &format!("{label}.{at}"));
            }
        }
    }

    fn function(&self, proto: &Rc<Proto>) -> String {
        let label = self.labels.get(&Rc::as_ptr(proto)).map_or("fn", String::as_str);
        format!("{label} {}", proto.title())
    }
}

/// A function that is written.
struct ListedFunction<'a> {
    listed: &'a NamedValues<'a>,
    proto: &'a Proto,
    /// The instruction.
    at: usize,
}

impl ListedFunction<'_> {
    fn write(&mut self, label: &str, out: &mut String) {
        // Writing to a text cannot fail.
        let _ = self.head(label, out);
        for (at, op) in self.proto.code.iter().enumerate() {
            self.at = at;
            let text = self.text(*op);
            let line = format!("  {at:04} {:>4}  {:<14} {text}", self.line(at), op.name());
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    fn head(&self, label: &str, out: &mut String) -> std::fmt::Result {
        let proto = self.proto;
        out.push_str(label);
        if label != MAIN {
            write!(out, " {}", proto.title())?;
        }
        if let Some(source) = &proto.source {
            write!(out, ", {}:{}", source.name(), source.line(proto.span.start))?;
        }
        write!(out, "\n  registers {}, parameters {}", proto.regs, proto.params)?;
        if proto.required != proto.params {
            write!(out, " ({} required)", proto.required)?;
        }
        out.push_str(if proto.rest { " and a rest\n" } else { "\n" });
        for (at, capture) in proto.captures.iter().enumerate() {
            match capture {
                Capture::Register(reg) => writeln!(out, "  c{at} = r{reg} of the function around")?,
                Capture::Outer(index) => writeln!(out, "  c{at} = c{index} of the function around")?,
            }
        }
        for (at, value) in proto.constants.iter().enumerate() {
            writeln!(out, "  k{at} = {}", self.value(value))?;
        }
        for Handler { start, end, target, reg, kind } in &proto.handlers {
            let kind = match kind {
                HandlerKind::Catch => "catch",
                HandlerKind::CatchAndHold => "catch and hold",
                HandlerKind::Finally => "finally",
                HandlerKind::Retry => "retry",
                HandlerKind::CleanUp => "clean-up",
            };
            let last = i64::from(*end) - 1;
            writeln!(out, "  {start:04} to {last:04}: {kind} r{reg} -> {target:04}")?;
        }
        Ok(())
    }

    /// The line from which an instruction comes.
    fn line(&self, at: usize) -> String {
        let span = self.proto.spans.get(at).copied().unwrap_or_default();
        match &self.proto.source {
            // What the compiler adds comes from nowhere.
            Some(source) if span.start < span.end => source.line(span.start).to_string(),
            _ => "-".to_owned(),
        }
    }

    /// An instruction's text with its operands in their places.
    fn text(&self, op: Op) -> String {
        let mut shown = Vec::new();
        let Ok(()) = op.each_operand::<Infallible>(|name, operand| {
            shown.push((name, self.operand(operand)));
            Ok(())
        });
        let mut text = String::new();
        let mut rest = op.text();
        while let Some((before, behind)) = rest.split_once('{') {
            text.push_str(before);
            let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
            text.push_str(shown.iter().find(|(known, _)| *known == name).map_or("?", |(_, text)| text));
            rest = behind;
        }
        text + rest
    }

    fn operand(&self, operand: Operand) -> String {
        let proto = self.proto;
        match operand {
            Operand::Read(reg) | Operand::Taken(reg) | Operand::Write(reg) | Operand::Change(reg) => format!("r{reg}"),
            Operand::Window(base, extent) => self.window(base, extent),
            Operand::Count(count) => count.to_string(),
            Operand::Given(argc) => argc.to_string(),
            Operand::Long(number) => number.to_string(),
            Operand::Short(number) => number.to_string(),
            Operand::Number(index) => index.to_string(),
            Operand::Truth(value) => value.to_string(),
            Operand::Tags(tags) => format!("{tags:#b}"),
            Operand::Kind(flavor) => flavor.name().to_owned(),
            Operand::Forward(by) | Operand::Back(by) => self.target(by),
            Operand::Skip(by) => self.target(by.into()),
            Operand::Near(by) => self.target(if by == FAR { proto.far(self.at) } else { i32::from(by) }),
            Operand::Global(slot) => match self.listed.globals.get(&slot) {
                Some(name) => format!("g{slot} {name}"),
                None => format!("g{slot}"),
            },
            Operand::Function(number) => match self.listed.isolate.function(usize::from(number)) {
                Some(proto) => self.listed.function(&proto),
                None => format!("fn{number}"),
            },
            Operand::Capture(index) => format!("c{index}"),
            Operand::Constant(at) => format!("k{at} {}", entry(&proto.constants, at, |value| self.value(value))),
            Operand::ShortConstant(at) => format!("k{at} {}", entry(&proto.constants, at, |value| self.value(value))),
            Operand::Inner(at) => entry(&proto.protos, at, |proto| self.listed.function(proto)),
            Operand::Builtin(at) => entry(&proto.builtins, at, |row| row.full_name()),
            Operand::Method(at) => entry(&proto.methods, at, |site| format!(".{}", site.name)),
            Operand::Place(at) => entry(&proto.places, at, |changed| {
                let place = match changed.path {
                    None => self.place(changed.root),
                    Some(path) => entry(&proto.paths, path, |path| self.path(path)),
                };
                format!("{place} {}", self.target(changed.skip.into()))
            }),
            Operand::Shape(at) => entry(&proto.shapes, at, |keys| format!("{{{}}}", joined(keys))),
            Operand::Struct(at) => entry(&proto.structs, at, |def| def.name.to_string()),
            Operand::Rebuild(at) => entry(&proto.rebuilds, at, |site| {
                let given = site.given.iter().filter_map(|at| site.def.fields.get(usize::from(*at)));
                format!("{} {{{}}}", site.def.name, joined(given.map(|field| &field.name)))
            }),
            Operand::Variant(at) => entry(&proto.variants, at, |(def, tag)| variant(def, *tag)),
            Operand::Field(at) => entry(&proto.fields, at, |site| format!(".{}", site.name)),
            Operand::Path(at) => entry(&proto.paths, at, |path| self.path(path)),
            Operand::Test(at) => entry(&proto.tests, at, |test| match test {
                Test::List { len, rest: false } => format!("list of {len}"),
                Test::List { len, rest: true } => format!("list of {len} or more"),
                Test::Keys(keys) => format!("{{{}}}", joined(keys)),
                Test::Struct(def) => def.name.to_string(),
                Test::Variant(def, tag) => variant(def, *tag),
            }),
            Operand::Type(at) => entry(&proto.types, at, written),
            Operand::Border(at) => entry(&proto.borders, at, |border| format!("is {}", border.expected)),
            Operand::Failure(at) => entry(&proto.failures, at, |failure| match failure {
                Failure::NoArm => "no arm fits".to_owned(),
                Failure::Unfit => "the pattern does not fit".to_owned(),
                Failure::Require => "requirement failed".to_owned(),
            }),
        }
    }

    /// Registers in a row; those of a call as its arguments.
    fn window(&self, base: Reg, extent: Extent) -> String {
        let count = extent.registers(self.proto).unwrap_or(0);
        // The verifier has seen that they are all in range.
        let behind = |skip: u16| in_a_row(base.saturating_add(skip), count.saturating_sub(usize::from(skip)));
        let spread = |argc: u8| if argc == IN_LIST { "..." } else { "" };
        match extent {
            Extent::Arguments(argc) => format!("({}{})", spread(argc), behind(0)),
            Extent::Callee(argc) => format!("r{base}({}{})", spread(argc), behind(1)),
            Extent::Receiver(0) => format!("(r{base})"),
            Extent::Receiver(argc) => format!("(r{base}, {}{})", spread(argc), behind(1)),
            Extent::InPlace(_) => format!("({})", behind(1)),
            Extent::Parameters(_) => format!("({})", behind(0)),
            Extent::Registers(_)
            | Extent::Two
            | Extent::Keys(_)
            | Extent::Fields(_)
            | Extent::Spread(_)
            | Extent::Values(_) => format!("[{}]", behind(0)),
        }
    }

    fn target(&self, by: i32) -> String {
        let to = i64::try_from(self.at).unwrap_or(i64::MAX).saturating_add(1).saturating_add(by.into());
        format!("-> {to:04}")
    }

    fn value(&self, value: &Value) -> String {
        let text = match value {
            Value::Closure(closure) => return self.listed.function(&closure.proto),
            Value::Unbound => return "unbound".to_owned(),
            value => inspect(value),
        };
        match text.char_indices().nth(WIDTH) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::Register(reg) => format!("r{reg}"),
            Place::Cell(reg) => format!("*r{reg}"),
            Place::CaptureCell(index) => format!("*c{index}"),
            Place::Global(slot) => self.operand(Operand::Global(slot)),
        }
    }

    fn path(&self, path: &PathSite) -> String {
        let op = path.op.map_or("", crate::ast::BinaryOp::symbol);
        let keys = path.keys.iter().map(|key| match &key.source {
            KeySource::Register(reg) => format!("[r{reg}]"),
            KeySource::Name(name) => format!(".{}", display(name)),
        });
        format!("{}{} {op}=", self.place(path.root), keys.collect::<String>())
    }
}

/// An entry of a table, which the verifier has seen to be there.
fn entry<T>(table: &[T], at: impl Into<u32>, show: impl FnOnce(&T) -> String) -> String {
    table.get(at.into() as usize).map_or_else(|| "?".to_owned(), show)
}

fn in_a_row(from: Reg, count: usize) -> String {
    match count {
        0 => String::new(),
        1 => format!("r{from}"),
        _ => format!("r{from} to r{}", usize::from(from) + count - 1),
    }
}

fn joined<'a>(names: impl IntoIterator<Item = &'a Str>) -> String {
    names.into_iter().map(Str::as_str).collect::<Vec<_>>().join(", ")
}

fn variant(def: &EnumDef, tag: u32) -> String {
    format!("{}.{}", def.name, def.variants.get(tag as usize).map_or("?", |variant| variant.name.as_str()))
}

/// A type as it is written.
fn written(test: &TypeTest) -> String {
    match test {
        TypeTest::Any => "any".to_owned(),
        TypeTest::Never => "never".to_owned(),
        TypeTest::Named(name) | TypeTest::Lazy(name) => name.to_string(),
        TypeTest::Struct(def) => def.name.to_string(),
        TypeTest::Enum(def) => def.name.to_string(),
        TypeTest::Interface(def) => def.name.to_string(),
        TypeTest::List(item) => format!("list<{}>", written(item)),
        TypeTest::Dict(item) => format!("dict<string, {}>", written(item)),
        TypeTest::Set(item) => format!("set<{}>", written(item)),
        TypeTest::Result(ok, err) => format!("Result<{}, {}>", written(ok), written(err)),
        TypeTest::Shape(fields, _) => {
            let field = |(key, optional, ty): &(Str, bool, TypeTest)| {
                format!("{key}{}: {}", if *optional { "?" } else { "" }, written(ty))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        TypeTest::Literal(text) => inspect(&Value::Str(text.clone())),
        TypeTest::Either(parts) => parts.iter().map(written).collect::<Vec<_>>().join(" | "),
        TypeTest::See(at) => format!("type {at}"),
    }
}
