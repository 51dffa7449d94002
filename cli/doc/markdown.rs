//! Documentation as Markdown.

use super::DocSection;
use std::fmt::Write as _;

/// Returns the page.
pub(super) fn page(title: &str, sections: &[DocSection]) -> String {
    let mut page = format!("# {title}\n");
    for section in sections {
        let _ = writeln!(page, "\n## {}", section.title);
        if !section.intro.is_empty() {
            let _ = writeln!(page, "\n{}", section.intro);
        }
        for entry in &section.entries {
            let _ = writeln!(page, "\n### {}", entry.name);
            if entry.signature.contains('\n') {
                let lines: Vec<String> = entry.signature.lines().map(|line| format!("    {line}")).collect();
                let _ = writeln!(page, "\n{}", lines.join("\n"));
            } else {
                let _ = writeln!(page, "\n`{}`", entry.signature);
            }
            if !entry.doc.is_empty() {
                let _ = writeln!(page, "\n{}", entry.doc);
            }
        }
    }
    page
}
