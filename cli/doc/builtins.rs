//! Sections of the builtins: one for each namespace and each type that has methods.

use super::{DocEntry, DocSection};
use stdlib::{Builtin, builtins, describe};

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
    sections
}

fn title(module: &str) -> String {
    match module.strip_prefix('<').and_then(|module| module.strip_suffix('>')) {
        Some(of) => format!("Methods: {of}"),
        None if module.is_empty() => "Global".to_owned(),
        None => module.to_owned(),
    }
}
