//! The files of a run, each parsed once as long as it does not change.
//!
//! Disk access is described by data that can be sent to another thread: [`Loading`] and
//! [`Appending`].

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;
use std::{fmt, fs};

use super::line::{self, StoreLine};
use super::terms::Terms;
use super::{Draft, Fact, FactError, FactLocation, Selector, file};

/// The facts that a run may reach.
#[derive(Debug)]
pub struct Facts {
    root: PathBuf,
    parsed: RefCell<BTreeMap<PathBuf, (Stamp, Rc<StoreContents>)>>,
}

/// The file attributes that reveal a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

/// The content of a file.
#[derive(Debug, Default)]
pub struct StoreContents {
    /// The facts that were not invalidated, oldest first.
    pub(super) facts: Vec<Rc<IndexedFact>>,
    /// The lines that say nothing, as one warning.
    pub oddity: Option<Oddity>,
}

/// A fact with what recalling it needs.
#[derive(Debug)]
pub(super) struct IndexedFact {
    pub(super) fact: Fact,
    pub(super) terms: Terms,
}

/// Lines of a file that were skipped or cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 for one that is there no more. The first of several.
    pub line: usize,
    /// The problem with it.
    pub why: String,
    /// The next lines that are not records, and what is wrong with them.
    pub others: Vec<(usize, String)>,
    /// The number of further such lines.
    pub more: usize,
}

/// Lines of a file that are named in its warning: the file can be all garbage.
const NAMED: usize = 5;
/// Characters of what is wrong with each.
const WHY: usize = 160;

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.display(), self.line, &self.why) {
            (file, 0, why) => write!(f, "`{file}`: {why}"),
            (file, line, why) if self.others.is_empty() => {
                write!(f, "line {line} of `{file}` is not a record and was skipped: {why}")
            }
            (file, line, why) => {
                let count = 1 + self.others.len() + self.more;
                write!(f, "{count} lines of `{file}` are not records and were skipped: line {line}: {why}")?;
                self.others.iter().try_for_each(|(line, why)| write!(f, "; line {line}: {why}"))?;
                if self.more > 0 { write!(f, "; and {} more", self.more) } else { Ok(()) }
            }
        }
    }
}

impl Facts {
    /// Creates the store of facts below this root, if a call does not name another; relative to the
    /// working directory.
    #[must_use]
    pub fn new(root: Option<PathBuf>) -> Facts {
        Facts { root: root.unwrap_or_else(|| FactLocation::ROOT.into()), parsed: RefCell::default() }
    }

    /// The place that is meant by a root and a namespace, each of which may be left out.
    ///
    /// # Errors
    /// A namespace that cannot be one.
    pub fn place(&self, root: Option<&str>, namespace: Option<&str>) -> Result<FactLocation, FactError> {
        let root = root.map_or_else(|| self.root.clone(), PathBuf::from);
        FactLocation::new(root, namespace.unwrap_or(FactLocation::NAMESPACE))
    }

    /// Returns the content of a location; empty if its file does not exist yet.
    ///
    /// # Errors
    /// A file that cannot be read, a link on the way.
    pub fn read(&self, place: &FactLocation) -> Result<Rc<StoreContents>, FactError> {
        let (loading, known) = self.loading(place);
        Ok(self.loaded(loading.run()?, known))
    }

    /// Returns the task that reads a location, and the content read before.
    #[must_use]
    pub fn loading(&self, place: &FactLocation) -> (Loading, Option<Rc<StoreContents>>) {
        let (known, contents) = self.parsed.borrow().get(&place.file()).cloned().unzip();
        (Loading { place: place.clone(), known }, contents)
    }

    /// Takes the result of reading, and returns the content. `known` is the content read before.
    #[must_use]
    pub fn loaded(&self, loaded: Loaded, known: Option<Rc<StoreContents>>) -> Rc<StoreContents> {
        let Loaded { path, stamp, bytes } = loaded;
        let bytes = match (bytes, known) {
            (None, Some(contents)) => return contents,
            (bytes, _) => bytes.unwrap_or_default(),
        };
        let contents = Rc::new(parse(&path, &bytes));
        if let Some(stamp) = stamp {
            self.parsed.borrow_mut().insert(path, (stamp, contents.clone()));
        }
        contents
    }

    /// Returns the content of a location if it is known, and cached metadata of the operating
    /// system shows that its file exists and has not changed.
    #[must_use]
    pub fn known(&self, place: &FactLocation) -> Option<Rc<StoreContents>> {
        let path = place.file();
        let (known, contents) = self.parsed.borrow().get(&path).cloned()?;
        let unchanged = base::files::exists_cached(&path) && place.check_links().is_ok() && stamp(&path) == Some(known);
        unchanged.then_some(contents)
    }

    /// Stores a fact; what was cut off on the way.
    ///
    /// # Errors
    /// A record that is too large, a file that cannot be written, a link on the way.
    pub fn store(
        &self,
        place: &FactLocation,
        id: Arc<str>,
        draft: Draft,
        now_ms: u64,
    ) -> Result<(Fact, Option<Oddity>), FactError> {
        let fact = Fact::new(id, draft, now_ms);
        let torn = self.storing(place, &fact)?.run()?;
        Ok((fact, torn))
    }

    /// Returns the task that stores a fact.
    ///
    /// # Errors
    /// A record that is too large.
    pub fn storing(&self, place: &FactLocation, fact: &Fact) -> Result<Appending, FactError> {
        Ok(Appending { place: place.clone(), lines: vec![line::stored(fact)?] })
    }

    /// Invalidates the facts that a selector means; how many there were.
    ///
    /// # Errors
    /// Fails like [`Facts::read`] and [`Facts::store`].
    pub fn invalidate(
        &self,
        place: &FactLocation,
        selector: &Selector,
        now_ms: u64,
    ) -> Result<(usize, Option<Oddity>), FactError> {
        let (count, appending) = self.invalidating(place, &*self.read(place)?, selector, now_ms)?;
        Ok((count, appending.run()?))
    }

    /// Returns the task that invalidates the selected facts of `contents` and those that are equal to them, and the
    /// number of different facts.
    ///
    /// # Errors
    /// A line that is too large.
    pub fn invalidating(
        &self,
        place: &FactLocation,
        contents: &StoreContents,
        selector: &Selector,
        now_ms: u64,
    ) -> Result<(usize, Appending), FactError> {
        /// Ids of one line: it must stay below the longest that is written.
        const MOST: usize = 1_000;
        let facts = || contents.facts.iter().map(|kept| &kept.fact);
        let meant: HashSet<_> = facts().filter(|fact| selector.means(fact)).map(Fact::content).collect();
        let ids: Vec<&Arc<str>> = facts().filter(|fact| meant.contains(&fact.content())).map(|fact| &fact.id).collect();
        let lines = ids.chunks(MOST).map(|ids| line::forgotten(ids.iter().copied(), now_ms));
        Ok((meant.len(), Appending { place: place.clone(), lines: lines.collect::<Result<_, _>>()? }))
    }
}

/// A file to be read, unless it is as it was.
#[derive(Debug)]
pub struct Loading {
    place: FactLocation,
    known: Option<Stamp>,
}

/// A file that was read, or that is as it was.
#[derive(Debug)]
pub struct Loaded {
    path: PathBuf,
    /// Taken before reading: what was appended since is read the next time.
    stamp: Option<Stamp>,
    /// `None` if it is as it was.
    bytes: Option<Vec<u8>>,
}

impl Loading {
    /// Reads it. Waits for the disk, and for other processes that write there.
    ///
    /// # Errors
    /// A file that cannot be read, a link on the way.
    pub fn run(&self) -> Result<Loaded, FactError> {
        self.place.check_links()?;
        let path = self.place.file();
        let stamp = stamp(&path);
        let unchanged = stamp.is_some() && stamp == self.known;
        let bytes = if unchanged { None } else { Some(file::read(&path)?) };
        Ok(Loaded { path, stamp, bytes })
    }
}

impl Loaded {
    /// The bytes that were read.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.as_ref().map_or(0, Vec::capacity)
    }
}

/// Lines to be appended to a file.
#[derive(Debug)]
pub struct Appending {
    place: FactLocation,
    lines: Vec<String>,
}

impl Appending {
    /// Appends them; what was cut off on the way. Waits until they are on disk.
    ///
    /// # Errors
    /// A file that cannot be written, a link on the way.
    pub fn run(&self) -> Result<Option<Oddity>, FactError> {
        self.place.check_links()?;
        let mut torn = None;
        for line in &self.lines {
            torn = append(&self.place, line)?.or(torn);
        }
        Ok(torn)
    }
}

fn append(place: &FactLocation, line: &str) -> Result<Option<Oddity>, FactError> {
    let path = place.file();
    let torn = file::append(&path, line)?;
    let why = || {
        format!(
            "the last line was incomplete ({torn} bytes) and was removed; a process probably ended while it \
            was writing"
        )
    };
    Ok((torn > 0).then(|| Oddity { file: path.clone(), line: 0, why: why(), others: Vec::new(), more: 0 }))
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some(Stamp { length: found.len(), modified: found.modified().ok() })
}

fn parse(path: &Path, bytes: &[u8]) -> StoreContents {
    let mut facts: Vec<Rc<IndexedFact>> = Vec::new();
    let mut oddity: Option<Oddity> = None;
    let mut forgotten: HashSet<Arc<str>> = HashSet::new();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for (i, text) in lines.iter().enumerate() {
        if text.trim_ascii().is_empty() {
            continue;
        }
        match line::read(text) {
            Ok(StoreLine::Stored(fact)) => {
                let terms = Terms::of_fact(&fact);
                facts.push(Rc::new(IndexedFact { fact: *fact, terms }));
            }
            Ok(StoreLine::Forgotten(ids)) => forgotten.extend(ids),
            Ok(StoreLine::Foreign) => {}
            // The last line has no line break: the writer was interrupted.
            Err(_) if i + 1 == lines.len() => {}
            Err(why) => note(&mut oddity, path, i + 1, &why),
        }
    }
    facts.retain(|kept| !forgotten.contains(&kept.fact.id));
    StoreContents { facts, oddity }
}

/// Adds a line to the one warning of a file.
fn note(oddity: &mut Option<Oddity>, path: &Path, line: usize, why: &str) {
    let cut = || {
        let mut text: String = why.chars().take(WHY).collect();
        if text.len() < why.len() {
            text.push('…');
        }
        text
    };
    match oddity {
        None => {
            *oddity = Some(Oddity { file: path.to_owned(), line, why: cut(), others: Vec::new(), more: 0 });
        }
        Some(oddity) if oddity.others.len() + 1 < NAMED => oddity.others.push((line, cut())),
        Some(oddity) => oddity.more += 1,
    }
}

#[cfg(test)]
mod tests;
