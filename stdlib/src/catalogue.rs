//! Every diagnostic code of harn, in one list.

use lang::diagnostic::Severity;
use lang::diagnostic::code::Code;
use runtime::codes::CODES as REMINDERS;
use runtime::event_log::codes::CODES as LOGS;
use std::sync::OnceLock;

/// All codes, sorted. Each crate has a table of its own; here they are joined.
#[must_use]
pub fn catalogue() -> Vec<&'static Code> {
    static CORE_CODES: OnceLock<Vec<Code>> = OnceLock::new();
    let of_core = CORE_CODES.get_or_init(|| REMINDERS.iter().chain(LOGS).map(of_core).collect());
    let own = [
        crate::a2a::client::codes::CODES,
        crate::read::CODES,
        crate::rhai_voice::CODES,
        crate::fact::CODES,
        crate::fault::CODES,
        crate::hosting::CODES,
        crate::project::CODES,
        crate::rhai_voice::packs::CODES,
        crate::schema::CODES,
        crate::system::CODES,
        crate::tape::CODES,
    ]
    .into_iter()
    .flatten();
    let mut all: Vec<&Code> = lang::CODES.iter().copied().flatten().chain(of_core).chain(own).collect();
    all.sort_by_key(|code| code.code);
    all
}

/// The row of a code.
#[must_use]
pub fn find(code: &str) -> Option<&'static Code> {
    catalogue().into_iter().find(|row| row.code == code)
}

/// The core knows nothing of the language, so its rows are of a type of their own.
fn of_core(row: &runtime::codes::Code) -> Code {
    Code {
        code: row.code,
        severity: match row.severity {
            runtime::note::Severity::Error => Severity::Error,
            runtime::note::Severity::Warning => Severity::Warning,
            runtime::note::Severity::Info => Severity::Info,
        },
        title: row.title,
        meaning: row.meaning,
        fails: row.fails,
        mended: row.mended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_means_one_thing() {
        for pair in catalogue().windows(2) {
            assert!(
                pair[0].code < pair[1].code,
                "{} stands twice: {:?} and {:?}",
                pair[0].code,
                pair[0].title,
                pair[1].title
            );
        }
    }
}
