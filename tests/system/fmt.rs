//! `harn fmt`: what the command does with files, and that our own scripts and pages are formatted by it. The style itself is
//! tested in the crate `fmt`.

use crate::diff::diff;
use crate::harn::{harn_in, harn_with_input, root, scratch};
use crate::oracle::generate::program;
use crate::properties::scripts;
use crate::walkthroughs::{WalkthroughPart, parts};
use lang::source::Source;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use stdlib::{Engine, Files, RunOptions};

const UNFORMATTED: &str = "let x=1\n";
const FORMATTED: &str = "let x = 1\n";

#[test]
fn files_and_folders_are_formatted_and_nothing_else_is_touched() {
    let folder = scratch("fmt-folder");
    fs::create_dir(folder.join("sub")).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    fs::write(folder.join(".gitignore"), "out/\n").unwrap();
    for name in ["a.harn", "sub/b.harn", "out/c.harn", "d.txt", "e.rhai"] {
        fs::write(folder.join(name), UNFORMATTED).unwrap();
    }
    fs::write(folder.join("good.harn"), FORMATTED).unwrap();
    fs::set_permissions(folder.join("a.harn"), fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(folder.join("good.harn")).unwrap().modified().unwrap();

    let listed = harn_in(&folder, &["fmt", "--check", "."], b"", &[]);
    assert_eq!((listed.code, listed.out.as_str()), (Some(1), "./a.harn\n./sub/b.harn\n"), "{}", listed.err);
    assert_eq!(listed.err, "2 files not formatted, 1 file already formatted\n");
    let shown = harn_in(&folder, &["fmt", "--diff", "a.harn"], b"", &[]);
    assert_eq!(
        (shown.code, shown.out.as_str()),
        (Some(1), "--- a.harn\n+++ a.harn\n@@ -1 +1 @@\n-let x=1\n+let x = 1\n")
    );
    assert_eq!(fs::read_to_string(folder.join("a.harn")).unwrap(), UNFORMATTED, "written by --check or --diff");

    let done = harn_in(&folder, &["fmt", "."], b"", &[]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), ""), "{}", done.err);
    assert_eq!(done.err, "2 files formatted, 1 file already formatted\n");
    for name in ["a.harn", "sub/b.harn"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), FORMATTED, "{name}");
    }
    for name in ["out/c.harn", "d.txt", "e.rhai"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), UNFORMATTED, "{name}");
    }
    assert_eq!(fs::metadata(folder.join("a.harn")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::metadata(folder.join("good.harn")).unwrap().modified().unwrap(), before);
    assert_eq!(harn_in(&folder, &["fmt", "--check", "."], b"", &[]).code, Some(0));
    let rhai = harn_in(&folder, &["fmt", "e.rhai"], b"", &[]);
    assert_eq!((rhai.code, rhai.err.as_str()), (Some(0), "skipped e.rhai: scripts in Rhai are not formatted\n"));
}

#[test]
fn a_link_stays_a_link() {
    let folder = scratch("fmt-link");
    fs::write(folder.join("real.harn"), UNFORMATTED).unwrap();
    symlink("real.harn", folder.join("link.harn")).unwrap();
    assert_eq!(harn_in(&folder, &["fmt", "link.harn"], b"", &[]).code, Some(0));
    assert!(fs::symlink_metadata(folder.join("link.harn")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(folder.join("real.harn")).unwrap(), FORMATTED);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "a draft was left behind");
}

#[test]
fn standard_input_is_printed() {
    let done = harn_with_input(&["fmt", "-"], UNFORMATTED.as_bytes(), &[]);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (Some(0), FORMATTED, ""));
    let good = harn_with_input(&["fmt", "-"], FORMATTED.as_bytes(), &[]);
    assert_eq!((good.code, good.out.as_str()), (Some(0), FORMATTED));
    let checked = harn_with_input(&["fmt", "--check", "-"], UNFORMATTED.as_bytes(), &[]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(1), "<stdin>\n"));
    let broken = harn_with_input(&["fmt", "-"], b"let = 1\n", &[]);
    assert_eq!((broken.code, broken.out.as_str(), broken.drawn("error")), (Some(1), "", 1), "{}", broken.err);
}

#[test]
fn a_file_with_errors_is_left_as_it_is() {
    let folder = scratch("fmt-errors");
    fs::write(folder.join("bad.harn"), "let x=1\nlet = 2\n").unwrap();
    fs::write(folder.join("text.harn"), b"let x=\xff\n").unwrap();
    fs::write(folder.join("good.harn"), UNFORMATTED).unwrap();
    let done = harn_in(&folder, &["fmt", "."], b"", &[]);
    assert_eq!((done.code, done.drawn("error")), (Some(1), 2), "{}", done.err);
    assert!(done.err.ends_with("1 file formatted, 2 files left unchanged because of errors\n"), "{}", done.err);
    assert_eq!(fs::read_to_string(folder.join("bad.harn")).unwrap(), "let x=1\nlet = 2\n");
    assert_eq!(fs::read_to_string(folder.join("good.harn")).unwrap(), FORMATTED);
    let missing = harn_in(&folder, &["fmt", "none.harn", "good.harn"], b"", &[]);
    assert_eq!((missing.code, missing.drawn("error")), (Some(1), 1), "{}", missing.err);
}

#[test]
fn a_file_that_cannot_be_written_is_reported() {
    let folder = scratch("fmt-unwritable");
    fs::write(folder.join("a.harn"), UNFORMATTED).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let writable = fs::write(folder.join("probe"), "").is_ok();
    let done = harn_in(&folder, &["fmt", "a.harn"], b"", &[]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    // Root may write anywhere.
    if !writable {
        assert_eq!(done.code, Some(1));
        assert!(done.err.starts_with("error: cannot write a.harn: "), "{}", done.err);
        assert_eq!(fs::read_to_string(folder.join("a.harn")).unwrap(), UNFORMATTED);
    }
}

#[test]
fn a_project_sets_the_width() {
    let folder = scratch("fmt-width");
    fs::write(folder.join("harn.toml"), "[fmt]\nwidth = 20\n").unwrap();
    let call = "call(first, second, third)\n";
    fs::write(folder.join("a.harn"), call).unwrap();
    assert_eq!(harn_in(&folder, &["fmt", "a.harn"], b"", &[]).code, Some(0));
    assert_eq!(fs::read_to_string(folder.join("a.harn")).unwrap(), "call(\n  first,\n  second,\n  third,\n)\n");
    for wrong in ["width = 5", "width = \"wide\"", "widht = 80"] {
        fs::write(folder.join("harn.toml"), format!("[fmt]\n{wrong}\n")).unwrap();
        let done = harn_in(&folder, &["fmt", "a.harn"], b"", &[]);
        assert_eq!((done.code, done.drawn("error")), (Some(1), 1), "{wrong}: {}", done.err);
    }
}

/// Returns the instructions that a program is compiled to, without line numbers.
fn compiled(path: &Path, text: &str) -> Option<String> {
    let options = RunOptions { loader: std::rc::Rc::new(Files::of(path)), ..RunOptions::default() };
    let listing = Engine::new(options).disassemble(&Source::new(path.display().to_string(), text)).ok()?;
    let line = |line: &str| match line.strip_prefix("  0") {
        // `  0000   19  Closure …`
        Some(_) => format!("{} {}", &line[..8], line.get(13..).unwrap_or_default()),
        None => line.rsplit_once(':').filter(|_| !line.starts_with(' ')).map_or(line, |(head, _)| head).to_owned(),
    };
    Some(listing.lines().map(|text| line(text) + "\n").collect())
}

fn assert_same_code(path: &Path, text: &str) -> bool {
    let Some(before) = compiled(path, text) else { return false };
    let after = fmt::format(&Source::new("test.harn", text), fmt::WIDTH).unwrap();
    let difference = compiled(path, &after).map_or(Some("no code".to_owned()), |code| diff(&before, &code));
    assert!(difference.is_none(), "{}:\n{}", path.display(), difference.unwrap());
    true
}

#[test]
fn every_script_is_compiled_to_the_same_code() {
    let mut paths = Vec::new();
    scripts(&root().join("tests"), &mut paths);
    scripts(&root().join("examples"), &mut paths);
    let same = |path: &&PathBuf| fs::read_to_string(path).is_ok_and(|text| assert_same_code(path, &text));
    let compared = paths.iter().filter(same).count();
    assert!(compared > 900, "only {compared} of {} scripts were compared", paths.len());
}

#[test]
fn generated_programs_are_compiled_to_the_same_code() {
    let mut state = 1u64;
    let mut compared = 0;
    for _ in 0..2_000 {
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let length = usize::from(byte());
        let choices: Vec<u8> = (0..length).map(|_| byte()).collect();
        let text = program(&choices);
        let once = fmt::format(&Source::new("test.harn", text.as_str()), fmt::WIDTH).unwrap();
        assert_eq!(fmt::format(&Source::new("test.harn", once.as_str()), fmt::WIDTH).unwrap(), once, "{text}");
        compared += usize::from(assert_same_code(Path::new("generated.harn"), &text));
    }
    assert!(compared > 1_000, "only {compared} programs were compiled");
}

/// Scripts that are about layout, are broken on purpose, hold blocks of the specification to the letter, or belong to files that
/// were written by earlier versions.
const LEFT_ALONE: &[&str] = &[
    "tests/lang/text",
    "tests/diagnostics",
    "tests/guide",
    "tests/fixtures",
    // About parentheses that change nothing.
    "tests/lang/bindings/patterns-of-shared-values.harn",
    "tests/lang/operators/prefixes.harn",
    "tests/lang/statements/if.harn",
    "tests/lang/values/pairs.harn",
    "tests/lang/values/smallest-int.harn",
];

fn update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|set| set == "1")
}

#[test]
fn our_scripts_are_formatted() {
    let mut paths = Vec::new();
    for folder in ["tests", "examples", "docs"] {
        scripts(&root().join(folder), &mut paths);
    }
    let mut unformatted = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root()).unwrap();
        let text = fs::read_to_string(&path).unwrap_or_default();
        if LEFT_ALONE.iter().any(|left| name.starts_with(left)) {
            continue;
        }
        // What has errors is a test of them.
        match fmt::format(&Source::new("test.harn", text.as_str()), fmt::WIDTH) {
            Ok(formatted) if formatted != text && update() => fs::write(&path, formatted).unwrap(),
            Ok(formatted) if formatted != text => unformatted.push(name.display().to_string()),
            _ => {}
        }
    }
    assert!(unformatted.is_empty(), "run `harn fmt {}`", unformatted.join(" "));
}

#[test]
fn the_scripts_of_our_pages_are_formatted() {
    let mut unformatted = Vec::new();
    let mut blocks = 0;
    // Examples of builtins are lines of a session, whose comments show values.
    for page in crate::docs::pages().into_iter().filter(|page| !page.starts_with("docs/reference/builtins")) {
        let path = root().join(&page);
        let text = fs::read_to_string(&path).unwrap();
        let mut made = String::new();
        for part in parts(&text) {
            match part {
                WalkthroughPart::Prose(prose) => made.push_str(prose),
                WalkthroughPart::Block(info, block) => {
                    let is_harn = info.split(' ').next() == Some("harn");
                    let formatted = fmt::format(&Source::new("test.harn", block), fmt::WIDTH).ok();
                    let shown = formatted.filter(|_| is_harn);
                    blocks += usize::from(shown.is_some());
                    made.push_str(&format!("```{info}\n{}```\n", shown.as_deref().unwrap_or(block)));
                }
            }
        }
        if made.trim_end() != text.trim_end() {
            if update() {
                fs::write(&path, made.trim_end().to_owned() + "\n").unwrap();
            } else {
                unformatted.push(format!("{}:\n{}", page.display(), diff(&text, &made).unwrap_or_default()));
            }
        }
    }
    assert!(
        unformatted.is_empty(),
        "{}\n`UPDATE=1 cargo test --test system fmt::` formats them",
        unformatted.join("\n")
    );
    assert!(blocks > 50, "only {blocks} blocks were found");
}
