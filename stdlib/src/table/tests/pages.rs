//! The pages of the reference that are made of the rows: one for each namespace, with the methods of a type of the same name.

use crate::completion::describe;
use crate::table::registry;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Returns the pages by their names.
fn pages() -> BTreeMap<String, String> {
    let mut rows: Vec<_> = registry().all().filter(|row| row.module != "<control>").collect();
    rows.sort_by_key(|row| (row.module.trim_matches(['<', '>']), row.is_method(), row.name));
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let mut module = None;
    for row in rows {
        let name = row.module.trim_matches(['<', '>']);
        let page = pages.entry(if name.is_empty() { "global".to_owned() } else { name.to_owned() }).or_default();
        if module.replace(row.module) != Some(row.module) {
            let title = match (row.module.is_empty(), row.is_method()) {
                (true, _) => "Global functions".to_owned(),
                (false, true) => format!("Methods of `{name}`"),
                (false, false) => format!("Functions of `{name}`"),
            };
            let between = if page.is_empty() { "" } else { "\n" };
            let _ = writeln!(page, "{between}# {title}");
        }
        let _ = writeln!(page, "\n## {}\n\n`{}`\n\n{}", row.name, row.sig, describe(row).trim());
    }
    let list: String = pages.keys().map(|name| format!("- [{name}]({name}.md)\n")).collect();
    let readme = format!(
        "# Builtins\n\nA page for each namespace and each type, with the signature, the capabilities and an example of \
         builtins. A\ncomment `// =>` in an example shows the value of its line. `harn doc NAME` prints the same.\n\n{list}"
    );
    pages.insert("README".to_owned(), readme);
    pages
}

#[test]
fn the_reference_has_the_rows_of_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/builtins");
    let wanted = pages();
    if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, page) in &wanted {
            fs::write(folder.join(format!("{name}.md")), page).unwrap();
        }
        return;
    }
    let written = |name: &str| fs::read_to_string(folder.join(format!("{name}.md"))).unwrap_or_default();
    let old: Vec<&String> =
        wanted.iter().filter(|(name, page)| written(name) != **page).map(|(name, _)| name).collect();
    assert!(old.is_empty(), "{old:?} differ: `UPDATE=1 cargo test -p stdlib --lib the_reference_has` writes them");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), wanted.len(), "a page has no namespace");
}
