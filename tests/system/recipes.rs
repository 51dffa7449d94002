//! The recipes of `examples/recipes`: each is a program in both languages, and both print what the one file beside them says.
//!
//! `UPDATE=1 cargo test --test system recipes` writes what the Harn half prints into that file. Read it before you commit.

use crate::diff::diff;
use crate::harn::{Outcome, harn_with_input, root};
use std::collections::BTreeSet;
use std::fs;

const FOLDER: &str = "examples/recipes";
/// Extensions of the two halves. The first one's output is what `UPDATE=1` writes.
const LANGUAGES: &[&str] = &["harn", "rhai"];

/// The names of the files of a folder with this extension, without it. Files of tests do not count.
fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let chosen = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    let names = chosen.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| !name.ends_with("_test")).collect()
}

/// Returns the extensions of the files of a recipe.
fn extensions() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().copied().chain(["out"])
}

/// The recipes: all names that some half or an expected output has.
fn recipes() -> BTreeSet<String> {
    extensions().flat_map(|extension| stems(FOLDER, extension)).collect()
}

/// Returns the names of the guide's blocks, without the number of their position.
fn blocks() -> BTreeSet<String> {
    let all = stems("tests/guide/blocks", "txt").into_iter().chain(stems("tests/guide/json", "json"));
    all.map(|name| name.split_once('-').unwrap().1.to_owned()).collect()
}

/// Runs the command as a person would, who has no key and no settings.
fn command(word: &str, recipe: &str, language: &str) -> Outcome {
    harn_with_input(&[word, &format!("{FOLDER}/{recipe}.{language}")], b"", &[("HARN_LLM_PROVIDER", "")])
}

#[test]
fn there_is_a_recipe_for_each_block_of_the_guide() {
    assert_eq!(blocks().len(), 16, "thirteen blocks of script and three of JSON");
    let missing: Vec<_> = blocks().difference(&recipes()).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn each_recipe_has_tests() {
    let folder = root().join(FOLDER);
    let missing: Vec<_> =
        recipes().into_iter().filter(|name| !folder.join(format!("{name}_test.harn")).exists()).collect();
    assert!(missing.is_empty(), "{FOLDER} has no tests of {missing:?}");
}

#[test]
fn each_recipe_is_written_in_both_languages() {
    for extension in extensions() {
        let missing: Vec<_> = recipes().difference(&stems(FOLDER, extension)).cloned().collect();
        assert!(missing.is_empty(), "{FOLDER} has no .{extension} of {missing:?}");
    }
}

#[test]
fn both_halves_print_what_the_file_beside_them_says() {
    for recipe in recipes() {
        let expected = root().join(FOLDER).join(format!("{recipe}.out"));
        for &language in LANGUAGES {
            let outcome = command("run", &recipe, language);
            // Few recipes show a warning.
            let warned = fs::read_to_string(expected.with_extension("err")).unwrap_or_default();
            assert_eq!((outcome.code, &outcome.err), (Some(0), &warned), "{recipe}.{language}:\n{}", outcome.out);
            if language == LANGUAGES[0] && std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
                fs::write(&expected, &outcome.out).unwrap();
            }
            let wanted = fs::read_to_string(&expected).unwrap();
            assert_eq!(diff(&wanted, &outcome.out), None, "{recipe}.{language} (-expected, +found)");
        }
    }
}

#[test]
fn both_halves_check_clean() {
    for recipe in recipes() {
        for &language in LANGUAGES {
            let outcome = command("check", &recipe, language);
            let said = (outcome.code, outcome.out.as_str(), outcome.err.as_str());
            assert_eq!(said, (Some(0), "", ""), "{recipe}.{language}");
        }
    }
}

#[test]
fn both_halves_say_the_same_about_themselves() {
    for recipe in recipes() {
        let mut first = BTreeSet::new();
        for language in LANGUAGES {
            let text = fs::read_to_string(root().join(FOLDER).join(format!("{recipe}.{language}"))).unwrap();
            let own = format!("//   harn run {FOLDER}/{recipe}.{language}\n");
            assert!(text.contains(&own), "{recipe}.{language} does not say how it is run");
            assert!(text.starts_with("// "), "{recipe}.{language} does not begin with what it shows");
            first.insert(text.lines().next().unwrap().to_owned());
        }
        assert_eq!(first.len(), 1, "{recipe}: {first:?}");
    }
}

#[test]
fn the_table_has_a_row_for_each_half() {
    let page = fs::read_to_string(root().join(FOLDER).join("README.md")).unwrap();
    let rows: BTreeSet<_> = page.lines().filter_map(|line| line.strip_prefix("| [")?.split(']').next()).collect();
    assert_eq!(rows, recipes().iter().map(String::as_str).collect());
    for recipe in recipes() {
        for language in LANGUAGES {
            assert!(page.contains(&format!("({recipe}.{language})")), "no link to {recipe}.{language}");
        }
    }
}
