//! Recordings: a run that is replayed from a mutant.

use crate::command;
use crate::corpus::paths;
use crate::data;
use crate::harn::{harn, root, scratch};
use crate::random::Random;
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;
use serde_json::Value;
use std::fs;
use std::path::{Component, Path};

const LONGEST: usize = 60_000;

pub(crate) const TAPES: Subject = Subject { name: "tapes", cases: 700, balance: 40, mutator, target };

/// A recording: its script, and its files by their path within the folder.
struct Tape {
    script: String,
    names: Vec<String>,
    files: Vec<Vec<u8>>,
}

fn mutator() -> Mutator {
    let mut tapes = vec![tape("examples/watcher/watch.harn", &root().join("examples/watcher/recordings/watch"))];
    let folder = scratch("mutants-recorded");
    for script in paths("tests/agents/recording", "harn") {
        let (name, recorded) = (script.file_stem().unwrap(), script.to_str().unwrap());
        let into = folder.join(name);
        harn(&["run", "--seed", "1", "--record", into.to_str().unwrap(), recorded]);
        tapes.push(tape(recorded, &into));
    }
    Box::new(move |random| {
        let tape = random.one_of(&tapes).expect("at least one");
        mutant(random, tape, &tapes)
    })
}

/// Reads a recording.
fn tape(script: &str, folder: &Path) -> Tape {
    let found = paths(folder.to_str().unwrap(), "json");
    Tape {
        script: root().join(script).to_str().unwrap().to_owned(),
        names: found.iter().map(|path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned()).collect(),
        files: found.iter().map(|path| fs::read(path).unwrap()).collect(),
    }
}

/// Changes the structure of files, their text, or which there are. The pieces are the script, and each file after its name.
fn mutant(random: &mut Random, tape: &Tape, tapes: &[Tape]) -> Mutant {
    let donors = &random.one_of(tapes).expect("at least one").files;
    let mut files: Vec<(&String, Vec<u8>)> = tape.names.iter().zip(tape.files.iter().cloned()).collect();
    for _ in 0..=random.below(2) {
        if files.is_empty() {
            break;
        }
        let at = random.below(files.len());
        let donor = random.one_of(donors).map_or(&b""[..], Vec::as_slice);
        match random.below(10) {
            0 => drop(files.remove(at)),
            1 => files[at].1 = donor.to_vec(),
            2..=6 => {
                let read: Option<Value> = serde_json::from_slice(&files[at].1).ok();
                let Some(mut value) = read else { continue };
                data::changed(random, &mut value, &serde_json::from_slice(donor).unwrap_or_default());
                files[at].1 = value.to_string().into_bytes();
            }
            _ => files[at].1 = text::mutant(random, &files[at].1, donors, LONGEST),
        }
    }
    let files = files.into_iter().map(|(name, text)| [name.as_bytes(), b"\n", &text].concat());
    Mutant { pieces: std::iter::once(tape.script.clone().into_bytes()).chain(files).collect() }
}

fn target() -> Box<dyn Target> {
    Box::new(Tapes)
}

struct Tapes;

impl Target for Tapes {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        let folder = Path::new("tape");
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("calls")).map_err(|error| error.to_string())?;
        let Some((script, files)) = mutant.pieces.split_first() else { return Ok(Verdict::Rejected) };
        for file in files {
            let end = file.iter().position(|&byte| byte == b'\n').unwrap_or(file.len());
            let name = Path::new(std::str::from_utf8(&file[..end]).unwrap_or_default());
            if name.components().all(|part| matches!(part, Component::Normal(_))) && name.extension().is_some() {
                fs::write(folder.join(name), &file[(end + 1).min(file.len())..]).map_err(|error| error.to_string())?;
            }
        }
        let script = std::str::from_utf8(script).unwrap_or_default();
        command::harn(&["run", "--fuel", "1000000", "--timeout", "60s", "--replay", "tape", script])
    }
}
