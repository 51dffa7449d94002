//! Searching files for lines.

mod ignored;

use super::GivenUp;
use super::read::{LARGEST, entries, joined};
use crate::confined_folder::Root;
use base::data::Data;
use globset::{GlobBuilder, GlobMatcher};
use grep_matcher::{Match, Matcher, NoCaptures, NoError};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use ignored::Ignored;
use regex::bytes::{Regex, RegexBuilder};
use std::fmt::Write;
use std::io::{self, Read};

/// The default and the maximum number of returned lines.
const LINES: usize = 100;
const MOST_LINES: usize = 1_000;
/// The maximum number of files that are searched, and of characters shown of a line.
const MOST_FILES: usize = 20_000;
const LINE_CHARS: usize = 300;
const DEEPEST: usize = 32;

/// Returns the matching lines as `path:line: text`, and whether there are more.
///
/// The folders are visited here and not by `ignore::WalkBuilder`, which opens by path: nothing may lead out of the root.
pub(super) fn files(root: &Root, path: &str, arguments: &Data, given_up: &GivenUp) -> Result<(String, bool), String> {
    let wanted = pattern(arguments)?;
    let glob = arguments.get("glob").as_str().map(glob).transpose()?;
    let most = arguments.get("max").as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(LINES).min(MOST_LINES);
    let obeys_ignore = !arguments.get("ignored").truthy();
    let mut searcher = searcher();
    let mut lines = Lines { text: String::new(), count: 0, most, is_cut: false };
    let mut searched = 0;
    let start = joined(path, "");
    let ignored = if obeys_ignore { Ignored::above(root, &start) } else { None };
    let mut open = vec![(start, 0, ignored)];
    while let Some((folder, depth, ignored)) = open.pop() {
        let mut inner = Vec::new();
        let listed = match entries(root, if folder.is_empty() { "." } else { &folder }) {
            Ok(listed) => listed,
            // A folder that cannot be read does not end the search.
            Err(_) if depth > 0 => continue,
            Err(why) => return Err(why),
        };
        let ignored = if obeys_ignore { Ignored::below(root, &folder, &listed, ignored) } else { None };
        for (name, is_folder) in listed {
            given_up.check()?;
            let at = joined(&folder, &name);
            if Ignored::is_match(ignored.as_ref(), &at, is_folder) {
                continue;
            }
            if is_folder {
                // The data of version control is not text of the project.
                if depth < DEEPEST && name != ".git" {
                    inner.push((at, depth + 1, ignored.clone()));
                }
                continue;
            }
            if glob.as_ref().is_some_and(|glob| !glob.is_match(&at)) {
                continue;
            }
            searched += 1;
            if searched > MOST_FILES {
                let _ = write!(lines.text, "[stopped after {MOST_FILES} files; search a subfolder, or set `glob`]");
                return Ok((lines.text, true));
            }
            file(root, &at, &wanted, &mut searcher, &mut lines, given_up);
            given_up.check()?;
            if lines.is_cut {
                let _ = write!(lines.text, "[stopped after {most} lines; use a narrower search]");
                return Ok((lines.text, true));
            }
        }
        open.extend(inner.into_iter().rev());
    }
    if lines.count == 0 {
        lines.text = format!("no match in {searched} files");
    }
    Ok((lines.text, false))
}

/// Adds the matching lines of one file. Links, devices, large files and files that are not text are skipped.
fn file(root: &Root, path: &str, wanted: &LineMatcher, searcher: &mut Searcher, lines: &mut Lines, given_up: &GivenUp) {
    let Ok((file, stat)) = root.place(path, false).and_then(|place| place.open(path)) else { return };
    if u64::try_from(stat.st_size).unwrap_or(0) > LARGEST {
        return;
    }
    let (length, count) = (lines.text.len(), lines.count);
    let mut sink = FileLines { lines, path, is_binary: false };
    // It may grow while it is read.
    let reader = Interruptible { reader: file.take(LARGEST), given_up };
    let searched = searcher.search_reader(wanted, reader, &mut sink);
    if searched.is_err() || sink.is_binary {
        lines.text.truncate(length);
        (lines.count, lines.is_cut) = (count, false);
    }
}

/// The lines found so far.
struct Lines {
    text: String,
    count: usize,
    most: usize,
    is_cut: bool,
}

/// Takes the lines of one file.
struct FileLines<'a> {
    lines: &'a mut Lines,
    path: &'a str,
    is_binary: bool,
}

impl Sink for FileLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let lines = &mut *self.lines;
        if lines.count == lines.most {
            lines.is_cut = true;
            return Ok(false);
        }
        lines.count += 1;
        let bytes = without_end(found.bytes());
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * (LINE_CHARS + 1))]);
        let shown: String = shown.chars().take(LINE_CHARS).collect();
        let _ = writeln!(lines.text, "{}:{}: {shown}", self.path, found.line_number().unwrap_or_default());
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

/// A reader that fails once the search was given up.
struct Interruptible<'a, R> {
    reader: R,
    given_up: &'a GivenUp,
}

impl<R: Read> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.given_up.check().map_err(io::Error::other)?;
        self.reader.read(buffer)
    }
}

fn searcher() -> Searcher {
    let mut builder = SearcherBuilder::new();
    builder.binary_detection(BinaryDetection::quit(0));
    // A line can be as long as its file.
    builder.heap_limit(usize::try_from(2 * LARGEST).ok()).build()
}

/// Matches one line at a time.
///
/// `grep-regex` would search many lines at once, but it enables every feature of `regex-automata`, and then each glob of the process
/// is compiled to a dense automaton: 22 of the 132 million instructions of a first turn in a debug build.
struct LineMatcher(Regex);

impl Matcher for LineMatcher {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, line: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        let line = without_end(line);
        let found = if at <= line.len() { self.0.find_at(line, at) } else { None };
        Ok(found.map(|found| Match::new(found.start(), found.end())))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }
}

/// Returns a line without its terminator.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The longest pattern, in bytes. Parsing one needs about a hundred times its length in memory.
const LONGEST: usize = 64 << 10;

fn pattern(arguments: &Data) -> Result<LineMatcher, String> {
    let text = arguments.get("pattern").as_str().unwrap_or_default();
    if text.len() > LONGEST {
        return Err(format!("`pattern` is longer than {LONGEST} bytes"));
    }
    let escaped = arguments.get("literal").truthy().then(|| regex::escape(text));
    let built = RegexBuilder::new(escaped.as_deref().unwrap_or(text)).size_limit(1 << 20).build();
    built.map(LineMatcher).map_err(|e| {
        format!(
            "`pattern` is not a regular expression: {}; set `literal` to search for plain text",
            last_line(&e.to_string())
        )
    })
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|e| format!("invalid `glob`: {e}"))
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &[u8])]) -> Folder {
            let path = std::env::temp_dir().join(format!("harn-search-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            for (name, bytes) in files {
                let at = path.join(name);
                fs::create_dir_all(at.parent().unwrap()).unwrap();
                fs::write(at, bytes).unwrap();
            }
            Folder(path)
        }

        fn search(&self, path: &str, arguments: &[(&'static str, Data)]) -> String {
            let root = Root::open(&self.0).unwrap();
            files(&root, path, &Data::dict(arguments.iter().cloned()), &GivenUp::default()).unwrap().0
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_pattern_that_is_too_long_is_refused() {
        let of_length = |bytes| pattern(&Data::dict([("pattern", Data::from("x".repeat(bytes).as_str()))]));
        assert!(of_length(LONGEST + 1).is_err_and(|why| why.contains("longer than")));
        assert!(of_length(100).is_ok());
    }

    #[test]
    fn a_line_is_matched_alone_whatever_ends_it() {
        let folder = Folder::new(
            "lines",
            &[
                ("dos", b"one\r\ntwo\r\n"),
                ("last", b"no end: one"),
                ("latin", b"caf\xe9 one\n"),
                ("wide", b"\xff\xfeo\0n\0e\0"),
            ],
        );
        let search = |pattern: &str| folder.search(".", &[("pattern", pattern.into())]);
        assert_eq!(search("one$"), "dos:1: one\nlast:1: no end: one\nlatin:1: caf\u{fffd} one\nwide:1: one\n");
        assert_eq!(search("^two$"), "dos:2: two\n");
        assert_eq!(search(r"\Atwo\z"), "dos:2: two\n");
        assert_eq!(search(r"one\s+two"), "no match in 4 files");
    }

    #[test]
    fn files_that_are_not_text_or_too_large_are_skipped() {
        let late = [&b"needle\n"[..], &b"hay\n".repeat(80_000), b"\0"].concat();
        let large = vec![b'x'; usize::try_from(LARGEST).unwrap() + 1];
        let folder = Folder::new(
            "binary",
            &[("early", b"\0needle\n"), ("late", &late), ("large", &large), ("text", b"needle\n")],
        );
        assert_eq!(folder.search(".", &[("pattern", "needle|x".into())]), "text:1: needle\n");
    }

    #[test]
    fn long_lines_are_shortened_and_many_are_counted() {
        let folder = Folder::new("long", &[("a", &b"y".repeat(1 << 20)), ("b", &b"y\n".repeat(2_000))]);
        let found = folder.search(".", &[("pattern", "y".into()), ("max", 5_000.into())]);
        assert_eq!(found.lines().next().unwrap().len(), "a:1: ".len() + LINE_CHARS);
        assert_eq!(found.lines().count(), MOST_LINES + 1);
        assert!(found.ends_with("[stopped after 1000 lines; use a narrower search]"), "{found}");
    }

    #[test]
    fn ignored_files_are_searched_on_demand_only() {
        let folder = Folder::new(
            "ignored",
            &[
                (".gitignore", b"/target/\n*.log\n!keep.log\n\xff\n"),
                ("a.log", b"hit\n"),
                ("keep.log", b"hit\n"),
                ("src/.gitignore", b"gen\n!loud.log\n"),
                ("src/gen/x", b"hit\n"),
                ("src/loud.log", b"hit\n"),
                ("src/quiet.log", b"hit\n"),
                ("src/target/x", b"hit\n"),
                ("target/x", b"hit\n"),
            ],
        );
        let hit = [("pattern", Data::from("hit"))];
        let some = folder.search(".", &hit);
        assert_eq!(some, "keep.log:1: hit\nsrc/loud.log:1: hit\nsrc/target/x:1: hit\n");
        assert_eq!(folder.search("src", &hit), "src/loud.log:1: hit\nsrc/target/x:1: hit\n");
        assert_eq!(folder.search("target", &hit), "target/x:1: hit\n", "it was asked for by name");
        assert_eq!(folder.search(".", &[hit[0].clone(), ("ignored", true.into())]).lines().count(), 7);
    }

    #[test]
    fn a_search_that_was_given_up_ends_in_the_middle_of_a_file() {
        let folder = Folder::new("given-up", &[("a", b"hit\n")]);
        let given_up = GivenUp::default();
        given_up.0.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut reader = Interruptible { reader: &b"hit"[..], given_up: &given_up };
        assert!(reader.read(&mut [0; 8]).is_err());
        let root = Root::open(&folder.0).unwrap();
        let arguments = Data::dict([("pattern", Data::from("hit"))]);
        assert_eq!(files(&root, ".", &arguments, &given_up), Err(super::super::INTERRUPTED.to_owned()));
    }
}
