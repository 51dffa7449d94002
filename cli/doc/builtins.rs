//! Sections of the builtins: one for each namespace and each type that has methods.

use super::{DocEntry, DocSection};
use stdlib::{Builtin, builtins};

pub(super) fn sections() -> Vec<DocSection> {
    let mut rows: Vec<&Builtin> = builtins().collect();
    rows.sort_by_key(|row| (row.module, row.name));
    let mut sections: Vec<DocSection> = Vec::new();
    let mut module = None;
    for row in rows {
        if module.replace(row.module) != Some(row.module) {
            sections.push(DocSection { title: title(row.module), intro: String::new(), entries: Vec::new() });
        }
        let entry = DocEntry { name: row.name.to_owned(), signature: row.sig.to_owned(), doc: doc(row) };
        if let Some(section) = sections.last_mut() {
            section.entries.push(entry);
        }
    }
    sections
}

fn title(module: &str) -> String {
    match module.strip_prefix('<').and_then(|module| module.strip_suffix('>')) {
        Some(of) => format!("Methods: {of}"),
        None if module.is_empty() => "Global".to_owned(),
        None => module.to_owned(),
    }
}

/// Returns a row's documentation and the capabilities that it needs.
fn doc(row: &Builtin) -> String {
    let mut text = row.doc.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    if !row.caps.is_empty() {
        let capabilities: Vec<String> = row.caps.iter().map(|right| format!("`{}`", right.name())).collect();
        text.push_str(&format!("\nRequires the capability {}.", capabilities.join(", ")));
    }
    text
}
