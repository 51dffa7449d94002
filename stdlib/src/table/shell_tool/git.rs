//! Git, run so that no configuration of a repository names a program: what can be overridden is, and a repository that names
//! programs in another way is refused.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

use crate::confinement::{Confinement, Reach};
use crate::group::ProcessGroup;

/// Variables of every command, as other programs run git too. The user's own configuration is not read: a root may hold it.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_SSH_COMMAND", "ssh"),
];

/// Keys whose value in a repository has no effect, and the value that they have instead.
const OVERRIDES: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hookspath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askpass", ""),
    ("core.sshcommand", "ssh"),
    ("sequence.editor", "false"),
    // An empty value clears the list of helpers.
    ("credential.helper", ""),
    ("help.autocorrect", "never"),
    ("protocol.ext.allow", "never"),
    // A folder that looks like a repository is none unless it is called `.git`.
    ("safe.barerepository", "explicit"),
    // Git would refuse another user's repository because its configuration may name programs.
    ("safe.directory", "*"),
];

/// Last words of keys whose values are programs.
const PROGRAMS: &[&str] = &[
    "clean",
    "smudge",
    "process",
    "textconv",
    "driver",
    "external",
    "difffilter",
    "gitproxy",
    "uploadpack",
    "receivepack",
    "vcs",
    "tunnel",
    "smtpserver",
    "httpd",
];

/// Options of git's own whose value is a program, in the short form and in the long one.
const SHORT: &[(&str, &str)] = &[("grep", "-O"), ("rebase", "-x"), ("difftool", "-x"), ("clone", "-u")];
const LONG: &[&str] =
    &["open-files-in-pager", "upload-pack", "receive-pack", "exec", "extcmd", "tool", "template", "config", "ext-diff"];

/// Options before the subcommand that change nothing about which repository and which configuration is used.
const HARMLESS: &[&str] = &["--no-pager", "--no-optional-locks", "--literal-pathspecs", "--version", "--help"];

const MOST_REPOSITORIES: usize = 64;
/// The longest configuration that is read, in bytes.
const MOST_CONFIG: u64 = 4 << 20;
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sets the variables that every command gets.
pub(super) fn set_variables(command: &mut Command) {
    command.envs(VARIABLES.iter().copied()).env("GIT_CONFIG_COUNT", OVERRIDES.len().to_string());
    for (at, (key, value)) in OVERRIDES.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
    }
}

/// Whether a command is git.
pub(super) fn is_git(words: &[String]) -> bool {
    words.first().is_some_and(|word| Path::new(word).file_name().is_some_and(|name| name == "git"))
}

/// Checks the arguments of git; the first `allowed` words are the author's.
///
/// # Errors
/// An argument names a program, or another configuration or repository; in words for the model.
pub(super) fn check_words(words: &[String], allowed: usize) -> Result<(), String> {
    let at = subcommand(words);
    for (index, word) in words.iter().enumerate().skip(allowed.max(1)) {
        if word == "--" && index > at {
            return Ok(());
        }
        let refused = |why: &str| Err(format!("`{word}` is refused: {why}"));
        if index < at && !HARMLESS.contains(&word.as_str()) {
            return refused("write the subcommand directly after `git`");
        }
        let short = |(command, option): &(&str, &str)| {
            words.get(at).is_some_and(|it| it == command) && word.starts_with(option)
        };
        let long = word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or_default());
        // Git takes the beginning of an option for the option.
        let is_long = |given: &str| given.len() > 1 && LONG.iter().any(|option| option.starts_with(given));
        if SHORT.iter().any(short) || long.is_some_and(is_long) {
            return refused("it may name a program or another configuration");
        }
    }
    Ok(())
}

/// Returns the index of the subcommand.
fn subcommand(words: &[String]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        // Two options of git's own take the next word.
        at += if ["-C", "-c", "--git-dir", "--work-tree", "--namespace"].contains(&word.as_str()) { 2 } else { 1 };
    }
    at.min(words.len())
}

/// Git's folders outside of the root: those of a repository whose work tree holds the root, and those that a `.git` file names
/// and that belong to this work tree.
pub(super) fn reach(root: &Path) -> Reach {
    let mut reach = Reach::default();
    let Some((folder, meta)) = root.ancestors().find_map(|folder| {
        let meta = folder.join(".git").symlink_metadata().ok()?;
        Some((folder, meta))
    }) else {
        return reach;
    };
    if folder != root {
        reach.readable.push(folder.to_owned());
    }
    let dot_git = folder.join(".git");
    if meta.is_dir() {
        reach.writable.push(dot_git);
    } else if meta.is_file() && meta.len() < 4096 {
        reach.writable.extend(linked(folder, &dot_git).unwrap_or_default());
    }
    reach
}

/// Returns the folders that a `.git` file refers to.
fn linked(folder: &Path, dot_git: &Path) -> Option<Vec<PathBuf>> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let written = read(dot_git)?;
    let own = folder.join(written.strip_prefix("gitdir: ")?.trim_end()).canonicalize().ok()?;
    // The repository must know of the work tree, or hold it as a submodule: anybody can write a `.git` file.
    let is_known = read(&own.join("gitdir")).is_some_and(|back| Path::new(back.trim_end()) == dot_git);
    let is_module = folder.ancestors().skip(1).any(|above| own.starts_with(above.join(".git")));
    if !is_known && !is_module {
        return None;
    }
    let common = read(&own.join("commondir")).and_then(|common| own.join(common.trim_end()).canonicalize().ok());
    let common = common.filter(|common| own.starts_with(common));
    Some(std::iter::once(own).chain(common).collect())
}

/// Makes a command of words, to be run in a folder.
type Prepare<'a> = dyn Fn(&[String], &Path) -> std::io::Result<(Command, Option<Confinement>)> + 'a;

/// Refuses a repository whose configuration names programs, and those of its submodules.
///
/// # Errors
/// It does, or it cannot be read; in words for the model.
pub(super) async fn check_repository(root: &Path, words: &[String], prepare: &Prepare<'_>) -> Result<(), String> {
    let at = subcommand(words);
    let alias = words.get(at).map(|name| format!("alias.{}", name.to_lowercase()));
    let own =
        |more: &[&str]| words[..at].iter().cloned().chain(more.iter().map(|&word| word.to_owned())).collect::<Vec<_>>();
    let mut open = vec![(root.to_owned(), own(&[]))];
    let mut seen = 0;
    while let Some((folder, git)) = open.pop() {
        seen += 1;
        if seen > MOST_REPOSITORIES {
            return Err(format!("`git` is refused: the repository has more than {MOST_REPOSITORIES} submodules"));
        }
        let with =
            |more: &[&str]| git.iter().cloned().chain(more.iter().map(|&word| word.to_owned())).collect::<Vec<_>>();
        let settings = settings(prepare(&with(&["config", "--list", "-z"]), &folder)).await?;
        for entry in settings.split('\0') {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
            if names_program(key, value) || alias.as_deref().is_some_and(|alias| key.to_lowercase() == alias) {
                return Err(format!(
                    "`git` is refused: the configuration of the repository names a program (`{}`). A person must \
                    remove it",
                    key.escape_debug()
                ));
            }
        }
        for module in modules(prepare(&with(&["ls-files", "-s", "-z"]), &folder)).await? {
            let inner = folder.join(module);
            if inner.join(".git").symlink_metadata().is_ok()
                && inner.canonicalize().is_ok_and(|real| real.starts_with(root))
            {
                open.push((inner, vec![words[0].clone()]));
            }
        }
    }
    Ok(())
}

/// Whether a setting starts a program that nothing in [`OVERRIDES`] prevents.
fn names_program(key: &str, value: &str) -> bool {
    let key = key.to_lowercase();
    let (section, name) = (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
    let is_settled = OVERRIDES.iter().any(|(known, _)| *known == key)
        || section == "pager"
        || section == "alias"
        || (section == "credential" && name == "helper");
    if value.is_empty() || is_settled {
        return false;
    }
    let is_path = name == "path" && ["browser", "difftool", "man", "mergetool"].contains(&section);
    let ends = ["cmd", "command", "program", "hook", "editor"].iter().any(|end| name.ends_with(end));
    value.starts_with('!') || is_path || ends || PROGRAMS.contains(&name)
}

/// The output of git, as a process that has been started.
fn started(prepared: std::io::Result<(Command, Option<Confinement>)>) -> Result<ProcessGroup, String> {
    let unreadable = |error: std::io::Error| format!("cannot run `git`: {}", crate::system::reason(&error, "program"));
    let (mut command, confinement) = prepared.map_err(unreadable)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    ProcessGroup::start(&mut command, confinement).map_err(unreadable)
}

async fn settings(prepared: std::io::Result<(Command, Option<Confinement>)>) -> Result<String, String> {
    let mut group = started(prepared)?;
    let mut bytes = Vec::new();
    let all = async {
        if let Some(out) = group.child.stdout.take() {
            out.take(MOST_CONFIG).read_to_end(&mut bytes).await?;
        }
        group.child.wait().await
    };
    let ended = tokio::time::timeout(TIMEOUT, all).await;
    match ended {
        Ok(Ok(status)) if status.success() && (bytes.len() as u64) < MOST_CONFIG => {
            group.release();
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => Err("`git` is refused: the configuration of the repository cannot be read".to_owned()),
    }
}

/// The submodules that the index names.
async fn modules(prepared: std::io::Result<(Command, Option<Confinement>)>) -> Result<Vec<String>, String> {
    let mut group = started(prepared)?;
    let mut found = Vec::new();
    let all = async {
        let Some(out) = group.child.stdout.take() else { return Ok(()) };
        let mut lines = BufReader::new(out).split(0);
        while let Some(line) = lines.next_segment().await? {
            // `160000 OBJECT STAGE\tPATH`
            let line = String::from_utf8_lossy(&line);
            if let Some((_, path)) = line.strip_prefix("160000 ").and_then(|rest| rest.split_once('\t')) {
                found.push(path.to_owned());
            }
        }
        // Outside of a repository it fails, and there is nothing to be found.
        group.child.wait().await.map(drop)
    };
    let ended = tokio::time::timeout(TIMEOUT, all).await;
    match ended {
        Ok(Ok(())) => {
            group.release();
            Ok(found)
        }
        _ => Err("`git` is refused: the index of the repository cannot be read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn settings_that_start_programs_are_known() {
        for (key, value) in [
            ("filter.x.clean", "evil"),
            ("filter.a.b.process", "evil"),
            ("diff.external", "evil"),
            ("diff.x.textconv", "evil"),
            ("diff.x.command", "evil"),
            ("merge.x.driver", "evil"),
            ("gpg.program", "evil"),
            ("gpg.ssh.program", "evil"),
            ("gpg.ssh.defaultKeyCommand", "evil"),
            ("gpg.ssh.defaultkeycommand", "evil"),
            ("core.gitproxy", "evil"),
            ("core.alternaterefscommand", "evil"),
            ("remote.origin.uploadpack", "evil"),
            ("submodule.x.update", "!evil"),
            ("trailer.x.cmd", "evil"),
            ("tar.tgz.command", "evil"),
            ("interactive.difffilter", "evil"),
            ("mergetool.x.path", "evil"),
            ("uploadpack.packobjectshook", "evil"),
        ] {
            assert!(names_program(key, value), "{key}");
        }
        for (key, value) in [
            ("core.fsmonitor", "evil"),
            ("core.hookspath", ".husky"),
            ("core.bare", "false"),
            ("remote.origin.url", "https://example.com/x.git"),
            ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
            ("branch.main.merge", "refs/heads/main"),
            ("submodule.x.update", "checkout"),
            ("user.name", "A"),
            ("filter.x.clean", ""),
            ("filter.x.required", "true"),
            ("pager.status", "evil"),
            ("credential.https://example.com.helper", "!evil"),
        ] {
            assert!(!names_program(key, value), "{key}");
        }
    }

    #[test]
    fn arguments_that_name_programs_are_refused() {
        for command in [
            "git -c core.fsmonitor=x status",
            "git -C sub status",
            "git --exec-path=x status",
            "git grep -Oevil x",
            "git grep --open=evil x",
            "git fetch --upload-pack=evil x",
            "git rebase -x evil",
            "git rebase --exec evil",
            "git clone --config=core.fsmonitor=x y",
            "git diff --ext-diff",
        ] {
            assert!(check_words(&words(command), 1).is_err(), "{command}");
        }
        for command in ["git", "git status -s", "git --no-pager log -x", "git grep x -- -Oevil", "git diff --stat HEAD"]
        {
            assert_eq!(check_words(&words(command), 1), Ok(()), "{command}");
        }
        assert_eq!(check_words(&words("git -C sub status"), 3), Ok(()), "the author's own words");
    }
}
