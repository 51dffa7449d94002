//! Names for people: ids cut to what tells them apart, text without anything that a terminal would obey.

use runtime::lifecycle::rebuild::Rebuilt;
use std::collections::HashSet;
pub(crate) use stdlib::is_obeyed;

/// The length of a UUID as text.
const UUID: usize = 36;

/// The shortest end of an id that is shown.
const SHORTEST: usize = 4;

/// Cuts ids to their ends, all to the same length, so that no two that the log names look alike.
pub(crate) struct ShortNames {
    length: usize,
}

impl ShortNames {
    pub(crate) fn of(log: &Rebuilt) -> ShortNames {
        let mut ids: HashSet<&str> = HashSet::new();
        for session in log.sessions() {
            ids.insert(&session.id);
            ids.extend(session.queue_ends.iter().map(|end| end.id.as_ref()));
            ids.extend(session.reminders.iter().map(|life| life.reminder.id.as_ref()));
        }
        let ends = |length: usize| ids.iter().filter(|id| is_uuid(id)).map(move |id| &id[UUID - length..]);
        let all = ends(UUID).count();
        let tells_apart = |length: &usize| ends(*length).collect::<HashSet<_>>().len() == all;
        // The last group of a UUID has twelve digits.
        ShortNames { length: (SHORTEST..=12).find(tells_apart).unwrap_or(UUID) }
    }

    /// The short name of a reminder or session: `#` and the end of a UUID, any other id as it is.
    pub(crate) fn short(&self, id: &str) -> String {
        if is_uuid(id) { format!("#{}", &id[UUID - self.length..]) } else { clean(id) }
    }
}

fn is_uuid(id: &str) -> bool {
    id.len() == UUID
        && id.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns text for one line of a terminal: control characters and changes of direction are
/// escaped.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// The first line that says anything.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Cuts a text to so many columns, an ellipsis at the end where something is missing.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let kept = text.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used < columns
    });
    kept.collect::<String>().trim_end().to_owned() + "…"
}

/// `1 reminder`, `2 reminders`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(clean("a\u{1b}[2Jb\u{202e}c é\n"), "a\\u{1b}[2Jb\\u{202e}c é\\n");
    }

    #[test]
    fn a_cut_text_says_so_and_fits() {
        assert_eq!([fit("abcdef", 6), fit("abcdefg", 6), fit("日本語", 4)], ["abcdef", "abcde…", "日…"]);
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([grouped(7), grouped(1_000), grouped(1_234_567)], ["7", "1,000", "1,234,567"]);
    }
}
