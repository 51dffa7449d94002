//! [`Window`]: the entries of a feed that one of its readers may still need. All readers share it, so their number costs
//! no memory; each has a position. Entries that do not fit are dropped, oldest first, and a reader that had not read them
//! has lagged. The feed itself never waits.

use std::collections::VecDeque;

/// The limits of what a reader may have to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowBounds {
    /// The number of entries.
    pub(crate) entries: usize,
    /// The size of entries in bytes.
    pub(crate) bytes: usize,
}

/// An entry of a window.
pub(crate) trait WindowEntry {
    /// Returns the size that counts, in bytes.
    fn bytes(&self) -> usize;

    /// Returns the length of what can be read in parts: an entry that grows is read again from where a reader was.
    fn length(&self) -> usize {
        0
    }
}

/// A position: everything up to an entry, and this much of what it can be read in parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WindowPosition {
    number: u64,
    length: usize,
}

/// A reader of a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowReader {
    position: WindowPosition,
    /// The number of changes when it had read everything.
    caught_up: u64,
}

/// The next thing that a reader gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WindowNext<T> {
    /// The result of reading an entry.
    Entry(T),
    /// Nothing that it has not read.
    Nothing,
    /// Entries were dropped that it had not read.
    Lagged,
}

/// The entries that a reader may still need.
pub(crate) struct Window<E> {
    bounds: WindowBounds,
    /// The entries in the order of their numbers, of which some may be missing.
    entries: VecDeque<(u64, E)>,
    /// The number of the newest entry, from 1.
    newest: u64,
    /// The end of the newest entry that was dropped.
    forgotten: WindowPosition,
    bytes: usize,
    /// The number of changes so far.
    changes: u64,
    readers: usize,
    /// The number of readers that have not read everything.
    behind: usize,
}

impl<E: WindowEntry> Window<E> {
    /// The number of entries whose capacity is kept while none is pending.
    const AT_REST: usize = 16;

    pub(crate) fn new(bounds: WindowBounds) -> Window<E> {
        let (entries, forgotten) = Default::default();
        Window { bounds, entries, newest: 0, forgotten, bytes: 0, changes: 0, readers: 0, behind: 0 }
    }

    /// Adds a reader, for the entries from now on.
    pub(crate) fn enter(&mut self) -> WindowReader {
        self.readers += 1;
        let everything = WindowPosition { number: self.newest, length: usize::MAX };
        let position = self.entries.back().map_or(everything, end);
        WindowReader { position, caught_up: self.changes }
    }

    /// Removes a reader.
    pub(crate) fn leave(&mut self, reader: WindowReader) {
        self.readers -= 1;
        if reader.caught_up != self.changes {
            self.behind -= 1;
        }
        self.tidy();
    }

    /// Returns whether there are readers. Without any, nothing needs to be added.
    pub(crate) fn is_read(&self) -> bool {
        self.readers > 0
    }

    /// Adds an entry, and returns its number.
    pub(crate) fn push(&mut self, entry: E) -> u64 {
        self.newest += 1;
        self.bytes += entry.bytes();
        self.entries.push_back((self.newest, entry));
        self.changed();
        self.newest
    }

    /// Changes the newest entry, unless `change` returns `None`. Returns what it returns.
    pub(crate) fn extend<T>(&mut self, change: impl FnOnce(&mut E) -> Option<T>) -> Option<T> {
        let (_, newest) = self.entries.back_mut()?;
        let (bytes, length) = (newest.bytes(), newest.length());
        let changed = change(newest)?;
        self.bytes = self.bytes - bytes + newest.bytes();
        // A change that adds nothing is not one for the readers.
        if newest.length() != length {
            self.changed();
        }
        Some(changed)
    }

    /// Removes entries that are obsolete; a reader does not miss them.
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(u64, &E) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|(number, entry)| {
            let stays = stays(*number, entry);
            if !stays {
                *bytes -= entry.bytes();
            }
            stays
        });
    }

    /// Reads the next entry: `read` gets it, and how much of it the reader has read before.
    pub(crate) fn next<T>(&mut self, reader: &mut WindowReader, read: impl FnOnce(&E, usize) -> T) -> WindowNext<T> {
        if self.has_lagged(reader) {
            return WindowNext::Lagged;
        }
        let at = self.entries.partition_point(|entry| end(entry) <= reader.position);
        let Some((number, entry)) = self.entries.get(at) else { return WindowNext::Nothing };
        let from = if *number == reader.position.number { reader.position.length } else { 0 };
        let next = read(entry, from);
        reader.position = WindowPosition { number: *number, length: entry.length() };
        if at + 1 == self.entries.len() && reader.caught_up != self.changes {
            reader.caught_up = self.changes;
            self.behind -= 1;
            self.tidy();
        }
        WindowNext::Entry(next)
    }

    /// Returns whether a reader has missed entries.
    pub(crate) fn has_lagged(&self, reader: &WindowReader) -> bool {
        reader.position < self.forgotten
    }

    /// Records that no reader has read the newest entry, and drops the oldest until the rest fits. The newest stays,
    /// whatever its size.
    fn changed(&mut self) {
        self.changes += 1;
        self.behind = self.readers;
        while self.entries.len() > 1 && (self.entries.len() > self.bounds.entries || self.bytes > self.bounds.bytes) {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.bytes -= oldest.1.bytes();
            self.forgotten = end(&oldest);
        }
    }

    /// Drops the entries that all readers have read.
    fn tidy(&mut self) {
        if self.behind == 0 {
            self.entries.clear();
            self.entries.shrink_to(Self::AT_REST);
            self.bytes = 0;
        }
    }

    /// Returns the number of entries, and their size in bytes.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.bytes)
    }
}

/// Returns the position of the end of an entry.
fn end<E: WindowEntry>((number, entry): &(u64, E)) -> WindowPosition {
    WindowPosition { number: *number, length: entry.length() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that grows, or a whole one.
    struct Piece(String, bool);

    impl WindowEntry for Piece {
        fn bytes(&self) -> usize {
            self.0.len()
        }

        fn length(&self) -> usize {
            if self.1 { self.0.len() } else { 0 }
        }
    }

    fn window() -> Window<Piece> {
        Window::new(WindowBounds { entries: 3, bytes: 10 })
    }

    fn whole(window: &mut Window<Piece>, text: &str) {
        window.push(Piece(text.to_owned(), false));
    }

    fn read(window: &mut Window<Piece>, reader: &mut WindowReader) -> WindowNext<String> {
        window.next(reader, |piece, from| piece.0[from..].to_owned())
    }

    fn entry(text: &str) -> WindowNext<String> {
        WindowNext::Entry(text.to_owned())
    }

    #[test]
    fn each_reader_gets_what_comes_after_it_once() {
        let mut window = window();
        let mut early = window.enter();
        whole(&mut window, "a");
        let mut late = window.enter();
        whole(&mut window, "b");
        let all = [(); 3].map(|()| read(&mut window, &mut early));
        assert_eq!(all, [entry("a"), entry("b"), WindowNext::Nothing]);
        assert_eq!(window.size(), (2, 2), "the late reader needs one of them");
        assert_eq!([(); 2].map(|()| read(&mut window, &mut late)), [entry("b"), WindowNext::Nothing]);
        assert_eq!(window.size(), (0, 0));
        window.leave(early);
        whole(&mut window, "c");
        window.leave(late);
        assert_eq!((window.size(), window.is_read()), ((0, 0), false));
    }

    #[test]
    fn entries_are_bounded_by_number_and_size_and_a_slow_reader_learns_of_it() {
        for (texts, kept) in
            [(&["a", "b", "c", "d"][..], (3, 3)), (&["123456", "789012"], (1, 6)), (&["12345678901"], (1, 11))]
        {
            let mut window = window();
            let mut slow = window.enter();
            texts.iter().for_each(|text| whole(&mut window, text));
            assert_eq!(window.size(), kept);
            let lags = kept.0 < texts.len();
            assert_eq!(window.has_lagged(&slow), lags);
            assert_eq!(read(&mut window, &mut slow) == WindowNext::Lagged, lags);
        }
    }

    #[test]
    fn an_entry_that_grows_is_read_from_where_a_reader_was() {
        let mut window = window();
        let (mut fast, mut slow) = (window.enter(), window.enter());
        window.push(Piece("one".to_owned(), true));
        assert_eq!(read(&mut window, &mut fast), entry("one"));
        let grow = |piece: &mut Piece| (piece.1).then(|| piece.0.push_str(" two"));
        assert_eq!(window.extend(grow), Some(()));
        assert_eq!((read(&mut window, &mut fast), read(&mut window, &mut slow)), (entry(" two"), entry("one two")));
        whole(&mut window, "x");
        assert_eq!(window.extend(grow), None);
    }

    #[test]
    fn no_reader_misses_what_is_obsolete() {
        let mut window = window();
        let mut reader = window.enter();
        ["a", "b", "c"].iter().for_each(|text| whole(&mut window, text));
        window.retain(|number, piece| number != 1 && piece.0 != "b");
        assert_eq!(window.size(), (1, 1));
        assert_eq!([(); 2].map(|()| read(&mut window, &mut reader)), [entry("c"), WindowNext::Nothing]);
    }
}
