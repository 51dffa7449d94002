//! [`Pages`]: the pages of a list, and the end of a list whose server does not end it.

use std::collections::HashSet;
use std::sync::Arc;

use base::data::Data;

/// The pages of a list so far.
#[derive(Default)]
pub(crate) struct Pages {
    entries: Vec<Data>,
    /// The pages and the entries that were seen, as JSON. Empty until there is a second page.
    seen: HashSet<String>,
    cursors: HashSet<Arc<str>>,
    count: usize,
}

/// The next step after a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextPage {
    /// Request the page with this cursor.
    Cursor(Arc<str>),
    /// The list is complete.
    End,
    /// The server repeats itself; the list has what came before. The reason, as a phrase.
    Repeated(&'static str),
}

impl Pages {
    /// Takes a page and the cursor that comes with it. An empty cursor is a cursor like any other.
    pub(crate) fn take(&mut self, items: &[Data], next: &Data) -> NextPage {
        let next = next.as_shared_str();
        self.count += 1;
        if self.count > 1 || next.is_some() {
            let page = Data::list(items.iter().cloned()).to_json();
            if !items.is_empty() && !self.seen.insert(page) {
                return NextPage::Repeated("the same page");
            }
            let is_new = |item: &&Data| self.seen.insert(item.to_json());
            self.entries.extend(items.iter().filter(is_new).cloned());
        } else {
            self.entries = items.to_vec();
        }
        match next {
            None => NextPage::End,
            Some(cursor) if self.cursors.insert(cursor.clone()) => NextPage::Cursor(cursor),
            Some(_) => NextPage::Repeated("the same cursor"),
        }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries, each once.
    pub(crate) fn into_entries(self) -> Vec<Data> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of a list whose server answers the cursors by `page`, and the last step.
    fn read(page: impl Fn(Option<&str>) -> (&'static [&'static str], Option<&'static str>)) -> (Vec<String>, NextPage) {
        let (mut pages, mut cursor) = (Pages::default(), None::<Arc<str>>);
        for _ in 0..9 {
            let (items, next) = page(cursor.as_deref());
            let items: Vec<Data> = items.iter().map(|item| Data::from(*item)).collect();
            match pages.take(&items, &Data::from(next)) {
                NextPage::Cursor(next) => cursor = Some(next),
                last => return (pages.into_entries().iter().map(|entry| entry.to_text().to_string()).collect(), last),
            }
        }
        panic!("no end")
    }

    #[test]
    fn a_list_ends_without_a_cursor_and_an_empty_one_is_a_cursor() {
        assert_eq!(read(|_| (&["a"], None)), (vec!["a".into()], NextPage::End));
        let empty = read(|cursor| if cursor.is_none() { (&["a"], Some("")) } else { (&["b"], None) });
        assert_eq!(empty, (vec!["a".into(), "b".into()], NextPage::End));
        let blank = read(|cursor| match cursor {
            None => (&[], Some("1")),
            Some("1") => (&[], Some("2")),
            _ => (&["a"], None),
        });
        assert_eq!(blank, (vec!["a".into()], NextPage::End));
    }

    #[test]
    fn a_server_that_repeats_itself_ends_the_list() {
        let both: &[&str] = &["a", "b"];
        for (last, reason) in [("", "the same page"), ("x", "the same page")] {
            assert_eq!(read(|_| (both, Some(last))), (vec!["a".into(), "b".into()], NextPage::Repeated(reason)));
        }
        let ring = read(|cursor| match cursor {
            Some("p1") => (&["b", "a"], Some("p2")),
            Some(_) => (&["c"], Some("p1")),
            None => (&["a"], Some("p1")),
        });
        assert_eq!(ring, (vec!["a".into(), "b".into(), "c".into()], NextPage::Repeated("the same cursor")));
        let stays = read(|cursor| if cursor.is_none() { (&["a"], Some("p")) } else { (&[], Some("p")) });
        assert_eq!(stays, (vec!["a".into()], NextPage::Repeated("the same cursor")));
    }
}
