//! Sections of the builtins: one for each namespace and each type that has methods, and one for the types of options and results.

use super::lookup::head;
use super::{DocEntry, DocSection};
use lang::builtins::OptionTable;
use stdlib::{Builtin, builtins, describe, registry};

pub(super) fn sections() -> Vec<DocSection> {
    let mut rows: Vec<&Builtin> = builtins().collect();
    rows.sort_by_key(|row| (row.module, row.name));
    let mut sections: Vec<DocSection> = Vec::new();
    let mut module = None;
    for row in rows {
        if module.replace(row.module) != Some(row.module) {
            sections.push(DocSection { title: title(row.module), intro: String::new(), entries: Vec::new() });
        }
        let entry = DocEntry { name: row.name.to_owned(), signature: row.sig.to_owned(), doc: describe(row) };
        if let Some(section) = sections.last_mut() {
            section.entries.push(entry);
        }
    }
    let intro = "Dicts of options and results. A `?` marks a key that can be missing.".to_owned();
    let mut tables: Vec<&OptionTable> = registry().tables().collect();
    tables.sort_by_key(|table| table.name);
    sections.push(DocSection {
        title: "Types of dicts".to_owned(),
        intro,
        entries: tables.iter().map(entry).collect(),
    });
    sections
}

/// Returns the entry of a type.
fn entry(table: &&OptionTable) -> DocEntry {
    let rows = table.all();
    let rows = rows.iter().map(|row| format!("- `{}`: {}", head(row), row.doc)).collect::<Vec<_>>();
    let more = if table.open { "\n\nFurther keys are possible." } else { "" };
    let doc = format!("{}\n\n{}{more}", table.doc, rows.join("\n"));
    DocEntry { name: table.name.to_owned(), signature: format!("type {}", table.name), doc }
}

fn title(module: &str) -> String {
    match module.strip_prefix('<').and_then(|module| module.strip_suffix('>')) {
        Some(of) => format!("Methods: {of}"),
        None if module.is_empty() => "Global".to_owned(),
        None => module.to_owned(),
    }
}
