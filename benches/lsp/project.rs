//! Scripts that are generated: each imports the one before it, and uses a name of the first.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of scripts.
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) texts: Vec<String>,
}

impl Project {
    /// Writes scripts of about so many lines.
    pub(crate) fn of_files(name: &str, files: usize, lines: usize) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join(".git")).unwrap();
        let texts: Vec<String> = (0..files).map(|number| script(number, lines)).collect();
        for (number, text) in texts.iter().enumerate() {
            fs::write(folder.join(format!("step_{number}.harn")), text).unwrap();
        }
        Self { folder: folder.canonicalize().unwrap(), texts }
    }

    pub(crate) fn uri(&self, file: usize) -> String {
        format!("file://{}/step_{file}.harn", self.folder.display())
    }

    /// Returns the line in the middle of a script where a name is typed, and the column.
    pub(crate) fn middle_of(&self, file: usize) -> (usize, usize) {
        let lines: Vec<&str> = self.texts[file].lines().collect();
        let is_place = |line: &usize| lines[*line].starts_with("  let typed = ");
        let line = (lines.len() / 2..lines.len()).find(is_place).unwrap();
        (line, lines[line].len())
    }

    /// Returns the position of the name in the first script that all others import.
    pub(crate) fn shared_name(&self) -> (usize, usize) {
        let line = self.texts[0].lines().position(|line| line.starts_with("pub fn shared")).unwrap();
        (line, "pub fn sh".len())
    }
}

fn script(number: usize, lines: usize) -> String {
    let mut text = String::new();
    if number == 0 {
        text.push_str("/// Used by all.\npub fn shared(x: int) -> int {\n  return x + 1\n}\n");
    } else {
        writeln!(text, "import {{shared}} from \"step_0\"").unwrap();
        // Chains of ten files.
        if number % 10 != 1 {
            writeln!(text, "import {{first_{0}}} from \"step_{0}\"", number - 1).unwrap();
        }
    }
    let before = if number == 0 || number % 10 == 1 { String::new() } else { format!("first_{}", number - 1) };
    let called = if before.is_empty() { "shared".to_owned() } else { before };
    writeln!(text, "pub fn first_{number}(x: int) -> int {{\n  return shared({called}(x))\n}}").unwrap();
    let mut part = 0;
    while text.lines().count() < lines {
        part += 1;
        write!(
            text,
            "\n/// Part {part} of this file.\nstruct Part{part} {{\n  name: string,\n  size: int = {part},\n}}\n\nfn part_{part}(items: list<int>, \
             limit: int = 10) {{\n  let typed = limit\n  var sum = 0\n  for item in items {{\n    if item > limit {{\n      sum += item * {part}\n    \
             }} else {{\n      sum -= shared(item)\n    }}\n  }}\n  let whole = Part{part} {{name: \"part ${{sum}}\", size: sum}}\n  return \
             [whole.name, to_string(whole.size + typed)].join(\", \")\n}}\n"
        )
        .unwrap();
    }
    text
}
