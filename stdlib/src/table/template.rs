//! Texts from templates, in the syntax of Jinja.

use super::file::{read_as, text};
use super::plain::plain;
use crate::capability::Capability;
use crate::options::{OptionSet, TemplateOptions};
use lang::builtins::{Right, args};
use lang::value::Value;
use lang::vm::{Cx, Outcome, Raise, RunCode, Wait};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value as TemplateValue;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use std::error::Error;
use std::io::{self, Write};

const READ: &[Right] = &[Capability::FsRead.right()];

lang::builtins! { "" =>
    /// Renders a template in the syntax of Jinja: `{{ name }}`, `{% for x in xs %}`, `{% if x %}`, and filters such as `upper`. A line
    /// of blocks only is not a line of the text. A name without a value is an error. With `html` values are escaped.
    ///
    /// ```harn
    /// render("Hello {{ name | upper }}!", {name: "Ann"}) // => "Hello ANN!"
    /// render("{% for x in items %}\n- {{ x.id }}\n{% endfor %}\n", {items: [{id: 1}, {id: 2}]}) // => "- 1\n- 2\n"
    /// render("{{ x }}", {x: "<b>"}, {html: true}) // => "&lt;b&gt;"
    /// render("a\n{{ nme }}", {name: 1}) // => error: line 2: undefined value
    /// ```
    plain "render(template: string, vars: dict = nil, options: TemplateOptions = nil) -> string" render;
    /// Renders the template in a file, as `render` does.
    ///
    /// ```harn
    /// write_file("mail.txt", "Dear {{ name }},\n")
    /// render_file("mail.txt", {name: "Ann"}) // => "Dear Ann,\n"
    /// ```
    waits "render_file(path: string, vars: dict = nil, options: TemplateOptions = nil) -> string" [caps = READ] render_file;
}

/// Steps of one rendering, and templates within one another.
const FUEL: u64 = 5_000_000;
const DEEPEST: usize = 50;

/// Bytes of the longest template: it is compiled before it is rendered.
const LONGEST: usize = 16 << 20;

fn render(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (vars, TemplateOptions { html }) = (vars(cx, args)?, TemplateOptions::read(cx, args, 2)?);
    rendered(cx, args::str(args, 0)?, &vars, html)
}

/// Returns the variables, which are plain data.
fn vars(cx: &Cx<'_>, args: &[Value]) -> Result<Value, Box<Raise>> {
    match &args[1] {
        Value::Nil => Ok(Value::Nil),
        vars => match plain(cx, vars, 1)? {
            vars @ Value::Dict(_) => Ok(vars),
            _ => Err(args::mismatch(args, 1, "a dict")),
        },
    }
}

fn render_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let (vars, TemplateOptions { html }) = (vars(cx, args)?, TemplateOptions::read(cx, args, 2)?);
    read_as(cx, args, move |cx, path, bytes| {
        let template = text(path, bytes)?;
        rendered(cx, template.as_str().unwrap_or_default(), &vars, html).map_err(|mut raise| {
            raise.message = format!("cannot render `{path}`: {}", raise.message);
            raise
        })
    })
}

/// A text that must not exceed the limit of values.
struct BoundedText<'c, 'a> {
    cx: &'c Cx<'a>,
    bytes: Vec<u8>,
    raised: Option<Box<Raise>>,
}

impl Write for BoundedText<'_, '_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if let Err(raise) = self.cx.check_size(self.bytes.len().checked_add(part.len())) {
            self.raised = Some(raise);
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn rendered(cx: &Cx<'_>, template: &str, vars: &Value, html: bool) -> Outcome {
    if template.len() > LONGEST {
        return Err(Raise::error(RunCode::Value, format!("template longer than {} MiB", LONGEST >> 20)).about(0, ""));
    }
    cx.charge(template.len(), 4);
    // What it is compiled to is larger than its text.
    cx.check_room(template.len().saturating_mul(8))?;
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEEPEST);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(move |_| if html { AutoEscape::Html } else { AutoEscape::None });
    if let Ok(syntax) =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()
    {
        environment.set_syntax(syntax);
    }
    let template = environment.template_from_str(template).map_err(|error| invalid(&error))?;
    let mut out = BoundedText { cx, bytes: Vec::new(), raised: None };
    let result = template.render_captured_to(to_template(vars), &mut out).map(drop);
    if let Some(raise) = out.raised {
        return Err(raise);
    }
    result.map_err(|error| invalid(&error))?;
    cx.charge_part(out.bytes.len(), 2);
    String::from_utf8(out.bytes).map(Value::from).map_err(|error| Raise::error(RunCode::Value, error.to_string()))
}

fn invalid(error: &minijinja::Error) -> Box<Raise> {
    let kind = error.kind();
    let what = match (kind, error.detail()) {
        (minijinja::ErrorKind::OutOfFuel, _) => format!("the template takes more than {FUEL} steps"),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
    let line = error.line().map_or(String::new(), |line| format!("line {line}: "));
    let raise = Raise::error(RunCode::Value, format!("{line}{what}{cause}")).about(0, "");
    match kind {
        minijinja::ErrorKind::UndefinedError => {
            raise.help("pass a value for each name, or use `{{ name | default(\"\") }}`")
        }
        _ => raise,
    }
}

/// Makes a value of a template of plain data.
fn to_template(value: &Value) -> TemplateValue {
    match value {
        Value::Bool(bool) => TemplateValue::from(*bool),
        Value::Int(int) => TemplateValue::from(*int),
        Value::Float(float) => TemplateValue::from(*float),
        Value::Str(text) => TemplateValue::from(text.as_str()),
        Value::List(items) => items.items.iter().map(to_template).collect(),
        Value::Dict(entries) => {
            TemplateValue::from_pairs(entries.dict.iter().map(|(key, value)| (key.as_str(), to_template(value))))
        }
        _ => TemplateValue::from(()),
    }
}
