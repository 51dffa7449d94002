//! Resolution of the path of an import to a file.

/// The ending that the path of an import may leave out.
const ENDING: &str = ".harn";

/// Whether a path names a standard module.
#[must_use]
pub fn is_standard(written: &str) -> bool {
    written == "std" || written.starts_with("std/")
}

/// The file that `written` means in the file `from`: relative to its folder, `.harn` added where it is missing.
#[must_use]
pub fn target(from: &str, written: &str) -> String {
    target_with(from, written, ENDING)
}

/// Returns the file that `written` means like [`target`], with another file ending.
#[must_use]
pub fn target_with(from: &str, written: &str, ending: &str) -> String {
    let folder = from.rsplit_once('/').map_or(if from.starts_with('/') { "/" } else { "" }, |(folder, _)| folder);
    let whole = if written.starts_with('/') { written.to_owned() } else { format!("{folder}/{written}") };
    let rooted = written.starts_with('/') || from.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&"..") | None if !rooted => parts.push(part),
                _ => {
                    parts.pop();
                }
            },
            part => parts.push(part),
        }
    }
    let mut path = if rooted { "/".to_owned() } else { String::new() };
    path.push_str(&parts.join("/"));
    if !path.ends_with(ending) {
        path.push_str(ending);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_importing_file() {
        for (from, written, want) in [
            ("main.harn", "util", "util.harn"),
            ("main.harn", "./util.harn", "util.harn"),
            ("a/main.harn", "lib/util", "a/lib/util.harn"),
            ("a/b/main.harn", "../util", "a/util.harn"),
            ("a/main.harn", "../../util", "../util.harn"),
            ("../main.harn", "../util", "../../util.harn"),
            ("/x/main.harn", "util", "/x/util.harn"),
            ("/main.harn", "util", "/util.harn"),
            ("/main.harn", "../util", "/util.harn"),
            ("a/main.harn", "/lib/util", "/lib/util.harn"),
            ("repl[1]", "util", "util.harn"),
            ("main.harn", "v1.2/util", "v1.2/util.harn"),
        ] {
            assert_eq!(target(from, written), want, "{written} in {from}");
        }
    }

    #[test]
    fn standard_modules_have_a_root_of_their_own() {
        assert!(is_standard("std/testing") && is_standard("std"));
        assert!(!is_standard("stdlib/x") && !is_standard("./std/x"));
    }
}
