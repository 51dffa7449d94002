//! A command as a model writes it: split into words and checked against the rules.
//!
//! No shell runs the words, so the grammar of a shell has nothing to protect here: whatever only a shell would understand is refused
//! before the words are split. `shell-words` splits by POSIX rules and has no dependency; `tree-sitter-bash` would bring a
//! generated parser in C.

use std::path::{Component, Path, PathBuf};

use super::git;

/// The allowed commands and folders.
pub(super) struct Rules {
    /// The folder, without links.
    pub(super) root: PathBuf,
    /// Other folders that arguments may name, without links.
    pub(super) also: Vec<PathBuf>,
    /// Each a program, or a program with its first arguments.
    pub(super) allow: Vec<Vec<String>>,
}

impl Rules {
    /// The words of a command that may be run; otherwise why it may not.
    pub(super) fn read(&self, command: &str) -> Result<Vec<String>, String> {
        if let Some(sign) = shell_sign(command) {
            return Err(format!(
                "the command is not run by a shell, so {sign} has no meaning; run one program at a time, and quote \
                literal text"
            ));
        }
        let words = shell_words::split(command).map_err(|_| "missing closing quotation mark".to_owned())?;
        if words.is_empty() {
            return Err("the command is empty".to_owned());
        }
        let allowed = self.allow.iter().filter(|allowed| words.starts_with(allowed)).map(Vec::len).max();
        let Some(allowed) = allowed else {
            return Err(format!("`{}` is not allowed. Allowed commands: {}", shown(&words), self.listed()));
        };
        if git::is_git(&words) {
            git::check_words(&words, allowed)?;
        }
        for word in words.iter().skip(1) {
            self.stays_inside(word)?;
        }
        Ok(words)
    }

    /// Returns the allowed commands, in words.
    pub(super) fn listed(&self) -> String {
        self.allow.iter().map(|words| format!("`{}`", words.join(" "))).collect::<Vec<_>>().join(", ")
    }

    /// Refuses an argument that names a place outside of the root and of the folders that are open besides. What an option means
    /// is known to its program only, so each end of an option is taken for a path.
    fn stays_inside(&self, word: &str) -> Result<(), String> {
        let refused = |why: &str| Err(format!("`{}` is refused: {why}", shown(&[word.to_owned()])));
        if word.contains('\0') {
            return refused("it contains a NUL character");
        }
        let is_short = word.starts_with('+') || (word.starts_with('-') && !word.starts_with("--"));
        if is_short && word.len() > LONGEST_OPTION {
            return refused("the option is too long");
        }
        if word.split(['/', '\\', '=', ':', ',', ' ']).any(|part| part == "..") {
            return refused("`..` points outside of the root");
        }
        for start in absolute_paths(word) {
            if !self.is_open(Path::new(&word[start..])) {
                return refused("it points outside of the root; use a path relative to the root");
            }
        }
        let after_sign = word.match_indices(['=', ':', ',', '@', '+']).map(|(at, sign)| at + sign.len());
        for start in std::iter::once(0).chain(after_sign) {
            self.path_stays_inside(&word[start..]).or_else(refused)?;
        }
        // `-oFILE`, and combined as `-rfFILE`.
        for (start, _) in word.char_indices().skip(2).filter(|_| is_short) {
            let end = &word[start..];
            if end.starts_with('/') && !self.is_open(Path::new(end)) && exists_at_top(end) {
                return refused(
                    "it may point outside of the root; pass the option and the path as separate \
                    arguments",
                );
            }
            self.path_stays_inside(end).or_else(refused)?;
        }
        Ok(())
    }

    /// Refuses a text that, taken for a path relative to the root, leads out of it.
    fn path_stays_inside(&self, text: &str) -> Result<(), &'static str> {
        if text == "~" || text.starts_with("~/") {
            return Err("it points outside of the root");
        }
        let path = Path::new(text);
        if path.components().any(|part| part == Component::ParentDir) {
            return Err("`..` points outside of the root");
        }
        // Absolute paths are looked for in the whole argument.
        if path.is_absolute() || text.len() > LONGEST_OPTION {
            return Ok(());
        }
        // Links are followed as far as there is something: the rest may be made by the program.
        for part in path.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            let part = self.root.join(part);
            match std::fs::canonicalize(&part) {
                Ok(real) if self.is_open(&real) => return Ok(()),
                Ok(_) => return Err("it is a link that points outside of the root"),
                Err(_) if part.is_symlink() => return Err("it is a broken link"),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Whether an absolute path is in the root or in one of the other folders.
    fn is_open(&self, path: &Path) -> bool {
        let is_inside = |folder: &PathBuf| path.starts_with(folder);
        (is_inside(&self.root) || self.also.iter().any(is_inside))
            && !path.components().any(|part| part == Component::ParentDir)
    }
}

/// The longest option, in bytes, that may hold a path.
const LONGEST_OPTION: usize = 4096;

/// Whether the first folder of an absolute path exists: the end of `-Isrc/include` is none then.
fn exists_at_top(path: &str) -> bool {
    let top = path.split('/').find(|name| !name.is_empty());
    top.is_none_or(|top| Path::new("/").join(top).symlink_metadata().is_ok())
}

/// Returns the positions of absolute paths in an argument. Addresses of servers are excluded.
fn absolute_paths(word: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = word.as_bytes();
    let joins = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-.*?]}/+%~".contains(&byte);
    bytes.iter().enumerate().filter_map(move |(at, byte)| {
        let begins = match at {
            0 => true,
            // `-I/usr/include`
            2 if bytes[0] == b'-' => true,
            _ => !joins(bytes[at - 1]),
        };
        // Bytes: the place may be inside of a character.
        let of_server = [&b"http:"[..], b"https:", b"ssh:"].iter().any(|scheme| bytes[..at].ends_with(scheme));
        (*byte == b'/' && begins && !of_server).then_some(at)
    })
}

/// Returns the first shell metacharacter outside of quotation marks.
fn shell_sign(command: &str) -> Option<String> {
    let mut quote = None;
    let mut characters = command.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                characters.next();
            }
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '&' | ';' | '<' | '>') => return Some(format!("`{c}`")),
            (None, '\n') => return Some("a line break".to_owned()),
            (None | Some('"'), '`') => return Some("a backtick".to_owned()),
            (None | Some('"'), '$')
                if characters.peek().is_some_and(|next| next.is_alphabetic() || "({_".contains(*next)) =>
            {
                return Some("`$`".to_owned());
            }
            _ => {}
        }
    }
    None
}

/// The first words of a command, shortened.
fn shown(words: &[String]) -> String {
    let text = words.join(" ");
    if text.chars().count() <= 60 { text } else { text.chars().take(60).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        let allow = [&["cargo"][..], &["git", "status"], &["ls"]];
        let root = std::env::temp_dir().canonicalize().unwrap();
        Rules {
            root,
            also: Vec::new(),
            allow: allow.map(|words| words.iter().map(|&word| word.to_owned()).collect()).to_vec(),
        }
    }

    #[test]
    fn what_is_allowed_is_read_into_words() {
        let rules = rules();
        assert_eq!(rules.read("cargo test 'a b' \"c|d\" e\\;f").unwrap(), ["cargo", "test", "a b", "c|d", "e;f"]);
        for command in
            ["git status -s", "ls src/lib.rs", "cargo add x --git https://a.b/c", "ls --color=never", "cargo run -- 5$"]
        {
            assert!(rules.read(command).is_ok(), "{command}: {:?}", rules.read(command));
        }
        let inside = rules.root.join("x");
        assert!(rules.read(&format!("ls {}", inside.display())).is_ok());
    }

    #[test]
    fn what_is_not_allowed_says_why() {
        let rules = rules();
        for (command, why) in [
            ("", "empty"),
            ("rm -r x", "not allowed"),
            ("git push", "not allowed"),
            ("./cargo x", "not allowed"),
            ("/bin/ls", "not allowed"),
            ("LS", "not allowed"),
            ("ls 'a", "missing closing"),
            ("ls | cat", "not run by a shell"),
            ("ls; rm x", "not run by a shell"),
            ("ls > x", "not run by a shell"),
            ("ls && ls", "not run by a shell"),
            ("ls $(cat x)", "not run by a shell"),
            ("ls \"$HOME\"", "not run by a shell"),
            ("ls `x`", "not run by a shell"),
            ("ls\nrm x", "not run by a shell"),
        ] {
            let refused = rules.read(command).unwrap_err();
            assert!(refused.contains(why), "{command}: {refused}");
        }
    }

    #[test]
    fn no_argument_names_a_place_outside() {
        let rules = rules();
        for word in [
            "/etc/passwd",
            "..",
            "../x",
            "a/../../x",
            "--file=/etc/passwd",
            "--file=../x",
            "-I/usr",
            "a:/etc",
            "x,/etc",
            "~",
            "~/x",
            "--x=~/y",
            "'cat /etc/passwd'",
            "file:///etc/passwd",
            "@/etc/passwd",
            "'..\\x'",
            "{/etc,x}",
            "-o../pwn",
            "-rf../outside.txt",
            "-rf..",
            "-rf/etc/passwd",
            "-rf~/x",
            "--output=../x",
            "--output=a/../../x",
            "+../x",
        ] {
            assert!(rules.read(&format!("ls {word}")).is_err(), "{word}");
        }
        for word in ["-la", "-Isrc/none", "-ofile", "--range=a..b", "a..b", "-n1,2", "-", "--", "-9", "-é"] {
            assert_eq!(rules.read(&format!("ls {word}")).map(drop), Ok(()), "{word}");
        }
    }

    #[test]
    fn links_are_followed_wherever_a_path_may_be() {
        let folder = std::env::temp_dir().canonicalize().unwrap().join(format!("harn-line-{}", std::process::id()));
        let root = folder.join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::os::unix::fs::symlink(&folder, root.join("up")).unwrap();
        std::os::unix::fs::symlink(folder.join("none"), root.join("dangling")).unwrap();
        std::os::unix::fs::symlink("sub", root.join("inner")).unwrap();
        let mut rules = Rules { root: root.clone(), ..rules() };
        for word in
            ["up", "up/new.txt", "dangling", "-oup/new.txt", "-rfup", "-odangling", "of=up/x", "--output=up/x", "@up"]
        {
            assert!(rules.read(&format!("ls {word}")).is_err(), "{word}");
        }
        for word in ["sub", "inner/new.txt", "-oinner/new.txt", "of=sub/x", "new/a/b"] {
            assert_eq!(rules.read(&format!("ls {word}")).map(drop), Ok(()), "{word}");
        }
        rules.also.push(folder.clone());
        assert!(rules.read(&format!("ls up {}", folder.join("x").display())).is_ok());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
