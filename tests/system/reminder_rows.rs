//! Every row of the guide's tables, as the references of reminders and of their providers have them, names the script that holds it, says what the script says, and
//! says what the code says.

use crate::harn::root;
use base::data::Data;
use runtime::events::EventKind;
use runtime::lifecycle::DropReason;
use runtime::reminder::bridge::{DeliveryMode, Seam};
use runtime::reminder::{ExpireReason, Propagate, ReminderCode, ReminderSource, ReminderSpec, RoleHint};
use runtime::reminder_providers::ReminderProviders;
use std::collections::BTreeMap;
use std::fs;

/// A row: the name of its script, and the cells behind the first.
struct Row {
    name: String,
    cells: Vec<String>,
}

const SCRIPTS: &str = "tests/reminders/guide";

/// Returns the rows of the pages by table, in their order.
fn tables() -> BTreeMap<String, Vec<Row>> {
    let page = |name: &str| fs::read_to_string(root().join("docs/reference").join(name)).unwrap();
    let page = page("reminders.md") + page("reminder-providers.md").as_str();
    let mut tables: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| [")) {
        let (_, rest) =
            line.split_once("](../../tests/reminders/guide/").unwrap_or_else(|| panic!("no script: {line}"));
        let (path, rest) = rest.split_once(".harn) | ").unwrap();
        let (table, name) = path.split_once('/').unwrap();
        let cells = rest.trim_end_matches(" |").split(" | ").map(str::to_owned).collect();
        tables.entry(table.to_owned()).or_default().push(Row { name: name.to_owned(), cells });
    }
    tables
}

/// A row as one line of plain words, however it is marked up.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '`' | '"' | '|'))
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn names(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.name.as_str()).collect()
}

/// The comment at the top of a row's script: the row itself.
fn claim(table: &str, row: &Row) -> String {
    let path = root().join(SCRIPTS).join(table).join(format!("{}.harn", row.name));
    let script = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let comment = script.lines().find(|line| line.starts_with("// ") && line.contains(" | "));
    let (_, said) =
        comment.unwrap_or_else(|| panic!("{} does not quote its row", path.display())).split_once(" | ").unwrap();
    plain(said)
}

#[test]
fn every_row_has_a_script_that_quotes_it() {
    for (table, rows) in tables() {
        for row in &rows {
            assert_eq!(claim(&table, row), plain(&row.cells.join(" | ")), "{table}/{}", row.name);
        }
    }
}

#[test]
fn every_script_belongs_to_a_row_and_is_compared_with_something() {
    let tables = tables();
    let counts: Vec<_> = tables.iter().map(|(table, rows)| (table.as_str(), rows.len())).collect();
    let guide =
        [("codes", 8), ("events", 7), ("fields", 11), ("modes", 3), ("propagate", 3), ("providers", 8), ("slots", 5)];
    assert_eq!(counts, guide, "the guide's tables have so many rows");
    for (table, rows) in &tables {
        for entry in fs::read_dir(root().join(SCRIPTS).join(table)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(names(rows).contains(&name.as_str()), "{} belongs to no row", path.display());
            let compared = ["out", "err"].iter().any(|kind| path.with_extension(kind).exists());
            assert!(compared, "{} prints nothing that could be compared", path.display());
        }
    }
}

#[test]
fn the_words_are_those_of_the_code() {
    let tables = tables();
    let words = |row: &Row, cell: usize| -> Vec<String> {
        let quoted = row.cells[cell].split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect()
    };
    let field = |name: &str| tables["fields"].iter().find(|row| row.name == name).unwrap();
    assert_eq!(words(field("propagate"), 0), Propagate::WORDS);
    assert_eq!(words(field("role_hint"), 0), RoleHint::WORDS);
    assert_eq!(words(field("source"), 0), ReminderSource::WORDS);
    assert_eq!(names(&tables["propagate"]), Propagate::WORDS);
    assert_eq!(names(&tables["codes"]), ReminderCode::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>());
    assert_eq!(names(&tables["modes"]), DeliveryMode::WORDS);
    assert_eq!(names(&tables["providers"]), ReminderProviders::CANONICAL);
    for (row, mode) in tables["modes"].iter().zip(DeliveryMode::ALL) {
        let seams: Vec<_> = Seam::ALL.iter().filter(|seam| seam.drains(*mode)).map(|seam| seam.as_str()).collect();
        assert_eq!(words(row, 0), seams, "{mode}");
    }
    let event = |name: &str| tables["events"].iter().find(|row| row.name == name).unwrap().cells[1].clone();
    assert!(event("expired").contains(&format!(
        "({}, {}, or {})",
        ExpireReason::WORDS[0],
        ExpireReason::WORDS[1],
        ExpireReason::WORDS[2]
    )));
    assert_eq!(
        plain(&event("dropped")),
        format!("reminder_id, reason ({} or {})", DropReason::WORDS[0], DropReason::WORDS[1])
    );
}

#[test]
fn fields_and_defaults_are_those_of_a_bare_spec() {
    let reminder = ReminderSpec::new("x").into_reminder("id".into(), ReminderSource::InPipeline, 0);
    let data = reminder.to_data(None);
    let tables = tables();
    let fields = &tables["fields"];
    for key in data.as_dict().unwrap().keys() {
        assert!(names(fields).contains(&key.as_ref()), "{key} has no row");
    }
    for row in fields {
        let found = match data.get(&row.name) {
            Data::Nil => "nil".to_owned(),
            other => other.to_text().to_string(),
        };
        match plain(&row.cells[1]).as_str() {
            "required" | "producer-specific" | "generated" => {}
            default => assert_eq!(found, default, "{}", row.name),
        }
    }
}

#[test]
fn a_provider_is_documented_by_its_own_row() {
    for row in &tables()["providers"] {
        let file = fs::read_to_string(root().join(format!("providers/src/reminder/{}.rs", row.name)));
        let file = file
            .or_else(|_| fs::read_to_string(root().join(format!("providers/src/reminder/{}/mod.rs", row.name))))
            .unwrap();
        let own = file.lines().find_map(|line| line.strip_prefix(&format!("//! | `{}` | ", row.name)));
        let own = own.unwrap_or_else(|| panic!("{} does not quote its row", row.name));
        assert_eq!(plain(own), plain(&row.cells.join(" | ")), "{}", row.name);
        let events: Vec<_> = row.cells[0].split('`').skip(1).step_by(2).collect();
        let provider =
            providers::reminder::canonical(None).into_iter().find(|provider| provider.id() == row.name).unwrap();
        let listens =
            EventKind::ALL.iter().filter(|kind| provider.subscribes_to().contains(**kind)).map(|kind| kind.as_str());
        let mut listens: Vec<_> = listens.collect();
        listens.sort_by_key(|kind| events.iter().position(|event| event == kind));
        assert_eq!(listens, events, "{}", row.name);
    }
}
