//! The file that describes an evaluation.

use base::data::Data;
use serde::Deserialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stdlib::{Diagnostic, RunVariant, SourceRef, Span, TestCode, read_source};
use toml::Spanned;

/// An evaluation: each variant runs each task.
#[derive(Clone, Debug)]
pub struct EvalPlan {
    /// The tasks; at least one.
    pub tasks: Vec<EvalTask>,
    /// The variants; at least one.
    pub variants: Vec<EvalVariant>,
}

/// A task.
#[derive(Clone, Debug)]
pub struct EvalTask {
    /// Its name, unique among the tasks.
    pub name: String,
    /// The value of the pipeline's parameter `task`.
    pub task: Option<String>,
    /// The arguments of the script.
    pub args: Vec<String>,
    /// The folder that each run works in a copy of.
    pub folder: Option<PathBuf>,
}

/// A variant.
#[derive(Clone, Debug)]
pub struct EvalVariant {
    /// Its name, unique among the variants.
    pub name: String,
    /// A sentence about it.
    pub description: Option<String>,
    /// The change of the run.
    pub change: RunVariant,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    #[serde(default)]
    tasks: Vec<Spanned<TaskRow>>,
    #[serde(default)]
    variants: Vec<Spanned<VariantRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskRow {
    name: Spanned<String>,
    task: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    folder: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantRow {
    name: Spanned<String>,
    description: Option<String>,
    reminders: Option<Spanned<toml::Value>>,
    #[serde(default)]
    overrides: Vec<Spanned<OverrideRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverrideRow {
    key: Option<String>,
    tag: Option<String>,
    producer: Option<String>,
    set: Spanned<toml::Value>,
}

impl EvalPlan {
    /// Reads a file of tasks and variants.
    ///
    /// # Errors
    /// Returns the errors in the file.
    pub fn read(path: &Path) -> Result<EvalPlan, Vec<Diagnostic>> {
        let source = read_source(path).map_err(|found| vec![found])?;
        Self::parse(&source, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the text of such a file. Folders of tasks are relative to `folder`.
    ///
    /// # Errors
    /// Returns the errors in the text.
    pub fn parse(source: &SourceRef, folder: &Path) -> Result<EvalPlan, Vec<Diagnostic>> {
        let file: PlanFile = toml::from_str(source.text()).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            vec![wrong(source, at, "invalid file of variants", error.message())]
        })?;
        let mut found = Vec::new();
        let mut names = HashSet::new();
        let mut tasks = Vec::new();
        for row in file.tasks {
            let TaskRow { name, task, args, folder: own } = row.into_inner();
            check_name(source, &name, &mut names, &mut found);
            let at = own.as_ref().map(Spanned::span);
            let own = own.map(|own| folder.join(own.into_inner()));
            if let (Some(own), Some(at)) = (own.as_ref().filter(|own| !own.is_dir()), at) {
                found.push(wrong(source, at, &format!("`{}` is not a folder", own.display()), "not found"));
            }
            tasks.push(EvalTask { name: name.into_inner(), task, args, folder: own });
        }
        if tasks.is_empty() {
            tasks.push(EvalTask { name: "task".to_owned(), task: None, args: Vec::new(), folder: None });
        }
        names.clear();
        let mut variants = Vec::new();
        for row in file.variants {
            let row = row.into_inner();
            check_name(source, &row.name, &mut names, &mut found);
            let change = change(source, &row, &mut found);
            variants.push(EvalVariant { name: row.name.into_inner(), description: row.description, change });
        }
        if variants.is_empty() && found.is_empty() {
            let help = "write `[[variants]]` with a `name` for each way to run the script";
            found.push(wrong(source, 0..0, "missing `[[variants]]`", "this file").help(help));
        }
        if found.is_empty() { Ok(EvalPlan { tasks, variants }) } else { Err(found) }
    }
}

/// Reads what a variant changes.
fn change(source: &SourceRef, row: &VariantRow, found: &mut Vec<Diagnostic>) -> RunVariant {
    let mut change = RunVariant::default();
    if let Some(options) = &row.reminders {
        match change.clone().with_options(&to_data(options.get_ref())) {
            Ok(changed) => change = changed,
            Err(why) => found.push(wrong(source, options.span(), &why, "these options")),
        }
    }
    for one in &row.overrides {
        let OverrideRow { key, tag, producer, set } = one.get_ref();
        let target = Data::dict([
            ("key", Data::from(key.as_deref())),
            ("tag", tag.as_deref().into()),
            ("producer", producer.as_deref().into()),
        ]);
        match change.clone().with_override(&target, &to_data(set.get_ref())) {
            Ok(changed) => change = changed,
            Err(why) => found.push(wrong(source, set.span(), &why, "these fields")),
        }
    }
    change
}

/// Checks that a name can be a column, and the name of a folder of recordings.
fn check_name(source: &SourceRef, name: &Spanned<String>, known: &mut HashSet<String>, found: &mut Vec<Diagnostic>) {
    let text = name.get_ref();
    let is_plain = |c: char| c.is_alphanumeric() || " ._+-".contains(c);
    if text.trim().is_empty() || text.len() > 60 || text.starts_with('.') || !text.chars().all(is_plain) {
        let help = "use up to 60 letters, digits, spaces and `._+-`";
        found.push(wrong(source, name.span(), "invalid name", "this name").help(help));
    } else if !known.insert(text.clone()) {
        found.push(wrong(source, name.span(), &format!("duplicate name `{text}`"), "used before"));
    }
}

fn wrong(source: &SourceRef, at: std::ops::Range<usize>, message: &str, label: &str) -> Diagnostic {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Diagnostic::new(TestCode::Plan, message).label(source, Span::new(offset(at.start), offset(at.end)), label)
}

fn to_data(value: &toml::Value) -> Data {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => Data::Int(*number),
        toml::Value::Float(number) => Data::Float(*number),
        toml::Value::Boolean(flag) => (*flag).into(),
        toml::Value::Datetime(at) => at.to_string().into(),
        toml::Value::Array(items) => items.iter().map(to_data).collect(),
        toml::Value::Table(table) => {
            Data::dict(table.iter().map(|(key, value)| (key.as_str(), to_data(value))).collect::<Vec<_>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdlib::Source;

    fn parse(text: &str) -> Result<EvalPlan, Vec<String>> {
        let found = |found: Vec<Diagnostic>| found.into_iter().map(|d| d.message).collect();
        EvalPlan::parse(&Source::new("v.toml", text), Path::new("")).map_err(found)
    }

    #[test]
    fn tasks_and_variants_are_read() {
        let plan = parse(
            "[[tasks]]\nname = \"a\"\ntask = \"Do it.\"\nargs = [\"x\"]\n[[variants]]\nname = \"plain\"\n[[variants]]\nname = \
             \"other\"\nreminders = {providers = [\"-idle_nudge\"], placement = \"tail\"}\n[[variants.overrides]]\nkey = \
             \"tests*\"\nset = {body = \"b\", ttl_turns = 2}\n",
        );
        let plan = plan.unwrap();
        assert_eq!((plan.tasks.len(), plan.variants.len()), (1, 2));
        assert_eq!(plan.tasks[0].task.as_deref(), Some("Do it."));
        assert_eq!(parse("[[variants]]\nname = \"v\"\n").unwrap().tasks.len(), 1);
    }

    #[test]
    fn each_mistake_is_an_error() {
        for (text, message) in [
            ("", "missing `[[variants]]`"),
            ("x = 1\n", "invalid file of variants"),
            ("[[variants]]\n", "invalid file of variants"),
            ("[[variants]]\nname = \"a/b\"\n", "invalid name"),
            ("[[variants]]\nname = \"a\"\n[[variants]]\nname = \"a\"\n", "duplicate name `a`"),
            ("[[variants]]\nname = \"a\"\nreminders = {packs = []}\n", "unknown option `packs`"),
            ("[[variants]]\nname = \"a\"\nreminders = {placement = \"top\"}\n", "unknown `placement` \"top\""),
            (
                "[[variants]]\nname = \"a\"\n[[variants.overrides]]\nset = {ttl_turns = 0}\n",
                "`ttl_turns` of a reminder",
            ),
            ("[[variants]]\nname = \"a\"\n[[variants.overrides]]\nkey = \"[\"\nset = {}\n", "invalid glob in `key`"),
            (
                "[[tasks]]\nname = \"t\"\nfolder = \"no/such\"\n[[variants]]\nname = \"a\"\n",
                "`no/such` is not a folder",
            ),
        ] {
            let found = parse(text).err().unwrap_or_else(|| panic!("{text}"));
            assert!(found[0].starts_with(message), "{text}: {found:?}");
        }
    }
}
