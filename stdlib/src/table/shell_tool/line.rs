//! A command as a model writes it: read into words, and held against what is allowed.

use std::path::{Component, Path, PathBuf};

/// What may be run, and where.
pub(super) struct Rules {
    /// The folder, without links.
    pub(super) root: PathBuf,
    /// Each a program, or a program with its first arguments.
    pub(super) allow: Vec<Vec<String>>,
}

impl Rules {
    /// The words of a command that may be run; otherwise why it may not.
    pub(super) fn read(&self, command: &str) -> Result<Vec<String>, String> {
        if let Some(sign) = shell_sign(command) {
            return Err(format!(
                "no shell reads the command, so {sign} means nothing in it; run one program at a time, and quote what is meant \
                 as text"
            ));
        }
        let words = shell_words::split(command).map_err(|_| "a quotation mark is not closed".to_owned())?;
        if words.is_empty() {
            return Err("the command is empty".to_owned());
        }
        if !self.allow.iter().any(|allowed| words.starts_with(allowed)) {
            return Err(format!("`{}` is not allowed; allowed are {}", shown(&words), self.listed()));
        }
        for word in words.iter().skip(1) {
            self.stays_inside(word)?;
        }
        Ok(words)
    }

    /// What is allowed, in words.
    pub(super) fn listed(&self) -> String {
        self.allow.iter().map(|words| format!("`{}`", words.join(" "))).collect::<Vec<_>>().join(", ")
    }

    /// Refuses an argument that names a place outside of the root. It is a guard against slips: what an allowed program does
    /// by itself it cannot see.
    fn stays_inside(&self, word: &str) -> Result<(), String> {
        let refused = |why: &str| Err(format!("`{}` is refused: {why}", shown(&[word.to_owned()])));
        if word.contains('\0') {
            return refused("it holds a NUL character");
        }
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        if value == "~" || value.starts_with("~/") {
            return refused("it leads out of the root");
        }
        if word.split(['/', '\\', '=', ':', ',', ' ']).any(|part| part == "..") {
            return refused("`..` leads out of the root");
        }
        for start in absolute_paths(word) {
            let path = Path::new(&word[start..]);
            if !path.starts_with(&self.root) || path.components().any(|part| part == Component::ParentDir) {
                return refused("it names a place outside of the root; give a path relative to it");
            }
        }
        for part in [word, value] {
            // Links are followed, so that one that leads out is refused.
            if std::fs::canonicalize(self.root.join(part)).is_ok_and(|real| !real.starts_with(&self.root)) {
                return refused("it is a link that leads out of the root");
            }
        }
        Ok(())
    }
}

/// Where absolute paths begin in an argument. Addresses of servers are none.
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
        let of_server = word[..at].ends_with("http:") || word[..at].ends_with("https:") || word[..at].ends_with("ssh:");
        (*byte == b'/' && begins && !of_server).then_some(at)
    })
}

/// The first sign of a shell that stands outside of quotation marks.
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
        Rules { root, allow: allow.map(|words| words.iter().map(|&word| word.to_owned()).collect()).to_vec() }
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
            ("ls 'a", "not closed"),
            ("ls | cat", "no shell"),
            ("ls; rm x", "no shell"),
            ("ls > x", "no shell"),
            ("ls && ls", "no shell"),
            ("ls $(cat x)", "no shell"),
            ("ls \"$HOME\"", "no shell"),
            ("ls `x`", "no shell"),
            ("ls\nrm x", "no shell"),
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
        ] {
            assert!(rules.read(&format!("ls {word}")).is_err(), "{word}");
        }
    }
}
