//! Files that programs read: made when first wanted, the same on every machine.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// A made file.
#[derive(Clone, Copy)]
pub(crate) enum Input {
    /// A megabyte of JSON.
    Records,
    /// Five megabytes of words.
    Words,
}

impl Input {
    /// Returns the path of the input, and creates the file if it does not exist.
    pub(crate) fn path(self) -> PathBuf {
        match self {
            Self::Records => made("records.json", records),
            Self::Words => made("words.txt", words),
        }
    }
}

/// A file in the build's own folder.
pub(crate) fn made(name: &str, make: impl FnOnce() -> String) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("peers").join(name);
    let text = make();
    // What an older version of this file made must not stay.
    if fs::read_to_string(&path).is_ok_and(|found| found == text) {
        return path;
    }
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        // Two at once: each gets a whole file.
        let part = path.with_extension(std::process::id().to_string());
        fs::write(&part, text).and_then(|()| fs::rename(part, &path))
    });
    written.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path
}

/// Numbers that look random: Park and Miller's.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0 * 16807 % 2_147_483_647;
        self.0 % limit
    }
}

fn records() -> String {
    let mut numbers = RandomNumbers(7);
    let mut text = String::from("{\"records\": [");
    for id in 0.. {
        let (size, parent) = (numbers.below(100_000), numbers.below(1000));
        let _ = write!(
            text,
            "{{\"id\": {id}, \"name\": \"record \\\"{id}\\\"\\n\", \"size\": {size}, \"share\": {}.5, \
             \"active\": {}, \"tags\": [\"red\", \"tag {parent}\", \"\\u0041\"], \
             \"parent\": {{\"id\": {parent}, \"path\": \"src/module_{parent}/mod.rs\"}}}}",
            size % 97,
            size % 2 == 0,
        );
        if text.len() > 1_000_000 {
            break;
        }
        text.push_str(",\n");
    }
    text + "]}\n"
}

fn words() -> String {
    const SYLLABLES: [&str; 12] = ["ba", "co", "di", "fe", "gu", "ha", "lin", "mor", "nes", "rat", "sul", "ten"];
    let mut numbers = RandomNumbers(11);
    let mut text = String::new();
    for place in 1.. {
        // A few words are frequent, most are rare.
        let limit = numbers.below(20_000) + 1;
        let mut word = numbers.below(limit);
        loop {
            text.push_str(SYLLABLES[word as usize % 12]);
            word /= 12;
            if word == 0 {
                break;
            }
        }
        if text.len() > 5_000_000 {
            break;
        }
        text.push(if place % 12 == 0 { '\n' } else { ' ' });
    }
    text + "\n"
}
