//! The output of `harn doc`: all builtins, for people and for editors.

use crate::harn::{harn, harn_in, scratch};
use rhai::Engine;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())).collect()
}

fn definitions(name: &str) -> BTreeMap<String, String> {
    let folder = scratch(name);
    let found = harn_in(&folder, &["doc", "--rhai", "--out", "definitions"], b"", &[]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""), "{}", found.out);
    files(&folder.join("definitions"))
}

#[test]
fn definitions_hold_every_builtin_with_its_doc() {
    let files = definitions("doc-rhai");
    let transcript = &files["transcript.d.rhai"];
    assert!(
        transcript.contains(
            "/// Adds a pending reminder: `{transcript, reminder_id, deduped_count}`. Pending ones with the same key go.\n\
             fn inject_reminder(transcript: ?, spec: map) -> map;"
        ),
        "{transcript}"
    );
    let all: String = files.values().flat_map(|text| text.lines()).fold(String::new(), |mut all, line| {
        let _ = writeln!(all, "{line}");
        all
    });
    for row in stdlib::builtins().filter(|row| row.module != "<control>") {
        let there =
            [row.name.to_owned(), format!("{}_", row.name)].iter().any(|name| all.contains(&format!("fn {name}(")));
        assert!(there, "{}", row.full_name());
    }
}

/// A definition is a function's head; with a body in place of its types it must be one that Rhai reads.
#[test]
fn rhai_reads_every_name_and_parameter() {
    let engine = Engine::new();
    let mut read = 0;
    for (file, text) in definitions("doc-rhai-parsed").iter().filter(|(file, _)| !file.starts_with("__builtin")) {
        for line in text.lines().filter_map(|line| line.strip_prefix("fn ")) {
            let Some((head, _)) = line.rsplit_once(") -> ") else { panic!("{file}: {line}") };
            // Properties and Rhai's own number type are not functions that a script can call.
            if head.starts_with("get ") || head.starts_with("set ") || head.contains('$') {
                continue;
            }
            let (name, params) = head.split_once('(').unwrap();
            let names: Vec<&str> = params.split(", ").map(|param| param.split(':').next().unwrap().trim()).collect();
            let unnamed = names.contains(&"_");
            let given = if unnamed { String::new() } else { names.join(", ") };
            if let Err(error) = engine.compile(format!("fn {name}({given}) {{}}")) {
                // Rhai itself defines functions by names that it keeps for itself.
                assert!(error.to_string().contains("reserved"), "{file}: {line}: {error}");
                assert!(!stdlib::builtins().any(|row| row.name == name && !row.is_method()), "{file}: {line}: {error}");
                continue;
            }
            read += 1;
        }
    }
    assert!(read > 300, "only {read} were read");
}

#[test]
fn they_are_the_same_in_every_run() {
    assert_eq!(definitions("doc-rhai-1"), definitions("doc-rhai-2"));
}

#[test]
fn without_an_option_it_is_a_page_of_all_builtins() {
    let found = harn(&["doc"]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    for wanted in [
        "# Builtins\n",
        "\n## transcript\n",
        "\n### inject_reminder\n",
        "\n## Methods: list\n",
        "Requires the capability `fs.read`.",
    ] {
        assert!(found.out.contains(wanted), "{wanted}");
    }
    for row in stdlib::builtins() {
        assert!(found.out.contains(&format!("\n`{}`\n", row.sig)), "{}", row.full_name());
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_said() {
    let folder = scratch("doc-refused");
    fs::write(folder.join("file"), "").unwrap();
    let found = harn_in(&folder, &["doc", "--rhai", "--out", "file/inside"], b"", &[]);
    assert_eq!(found.code, Some(1), "{}", found.out);
    assert!(found.err.contains("cannot write `file/inside`") && found.err.contains("--out"), "{}", found.err);
}

const PROJECT: &str = r#"#!/usr/bin/env harn
// Shapes & their <areas>.
// Two lines.

/// A shape.
pub struct Square { side: float }

impl Square {
  /// Returns the area: `side` times `side`.
  fn area(self) { return self.side * self.side }
}

/// Doubles `n`.
///
/// ```
/// twice(<2>)
/// ```
@deprecated("no")
pub fn twice(n: int,
  by: int = 2) -> int { return n * by }

// Not offered.
fn hidden() { return 1 }

/// The longest side.
/// In metres.
pub const longest: float = 1000.0

// Not a doc comment.
pub let {units, factors} = {
  units: ["m", "km"],
  factors: [1, 1000],
}

/// Not offered either.
let secret = 1

/** Reads a <script>alert(1)</script>. */
tool look(path: string) -> string {
  description "Looks."
  path
}

pipeline main(task) { return nil }
"#;

fn project(name: &str) -> std::path::PathBuf {
    let folder = scratch(name);
    fs::create_dir(folder.join("lib")).unwrap();
    fs::write(folder.join("lib/shapes.harn"), PROJECT).unwrap();
    fs::write(folder.join("lib/shapes_test.harn"), "fn of_a_test() { return 1 }\n").unwrap();
    fs::write(
        folder.join("private.harn"),
        "/// All are offered.\nfn all() { return 1 }\n\nlet none = 1\n\n/// Kept.\nvar kept = 2\n",
    )
    .unwrap();
    fs::write(folder.join("empty.harn"), "println(1)\n").unwrap();
    folder
}

#[test]
fn doc_comments_of_a_project_become_markdown() {
    let folder = project("doc-project");
    let found = harn_in(&folder, &["doc", "."], b"", &[]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""));
    let wanted = r#"# Documentation

## lib/shapes.harn

Shapes & their <areas>.
Two lines.

### Square

`pub struct Square { side: float }`

A shape.

### Square.area

`fn area(self)`

Returns the area: `side` times `side`.

### twice

`pub fn twice(n: int, by: int = 2) -> int`

Doubles `n`.

```
twice(<2>)
```

### longest

`pub const longest: float = 1000.0`

The longest side.
In metres.

### units

`pub let {units, factors}`

### factors

`pub let {units, factors}`

### look

`tool look(path: string) -> string`

Reads a <script>alert(1)</script>.

### main

`pipeline main(task)`

## private.harn

### all

`fn all()`

All are offered.

### kept

`var kept = 2`

Kept.
"#;
    assert_eq!(found.out, wanted);
    let with = harn_in(&folder, &["doc", "--builtins", "private.harn"], b"", &[]).out;
    assert!(with.contains("### all\n") && with.contains("### agent_loop\n"), "{with}");
    let written = harn_in(&folder, &["doc", "--out", "site", "--format", "html", "."], b"", &[]);
    assert_eq!((written.code, written.out.as_str()), (Some(0), "1 file in site\n"), "{}", written.err);
}

#[test]
fn the_page_of_html_loads_nothing_and_shows_texts_as_text() {
    let folder = project("doc-html");
    for line in [&["doc", "--format", "html", "."][..], &["doc", "--format", "html"]] {
        let page = harn_in(&folder, line, b"", &[]).out;
        assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"), "{page}");
        assert_eq!(page.matches("<script").count(), 1, "only the search");
        for outside in ["http://", "https://", "src=", "url(", "@import", "onclick", "innerHTML", "eval("] {
            // A signature or a text may name one, but not as markup.
            let markup: String =
                page.split("<main>").next().unwrap().to_owned() + page.split("</main>").last().unwrap();
            assert!(!markup.contains(outside), "{outside}");
        }
        assert!(page.contains("<input id=\"search\"") && page.ends_with("</body>\n</html>\n"));
    }
    let page = harn_in(&folder, &["doc", "--format", "html", "."], b"", &[]).out;
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<areas>"), "{page}");
    assert!(page.contains("<code>twice(&lt;2&gt;)</code>"), "{page}");
    for tag in ["section", "article", "main", "p", "pre", "code"] {
        let (opened, closed) = (page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count());
        assert!(opened >= closed && closed > 0, "{tag}");
    }
}

/// The search of the page, run by Node on a document of the elements that it uses.
#[test]
fn the_search_of_the_page_hides_what_does_not_match() {
    let script = r#"
const element = (text) => ({ textContent: text, hidden: false });
const articles = [element("first_name Returns a name"), element("second Returns a list")];
const section = (own) => ({ hidden: false, querySelector: () => own.find((one) => !one.hidden) ?? null });
const sections = [section([articles[0]]), section([articles[1]])];
let listener;
const field = { value: "", addEventListener: (_, call) => { listener = call; } };
const found = { textContent: "" };
globalThis.document = {
  getElementById: (id) => (id === "search" ? field : found),
  querySelectorAll: (what) => (what === "article" ? articles : sections),
};
SEARCH
const hidden = () => [...articles, ...sections].map((one) => one.hidden);
for (const value of ["NAME returns", "returns", "nothing", ""]) {
  field.value = value;
  listener();
  console.log(JSON.stringify([value, hidden(), found.textContent]));
}
"#;
    let page = harn(&["doc", "--format", "html"]).out;
    let search = page.split_once("<script nonce=\"page\">").unwrap().1.split_once("</script>").unwrap().0;
    let path = scratch("doc-search").join("search.mjs");
    fs::write(&path, script.replace("SEARCH", &format!("{{{search}}}"))).unwrap();
    let ran = std::process::Command::new("node")
        .arg(&path)
        .output()
        .expect("`node` is missing: install Node 20 or later and run the test again");
    let wanted = "[\"NAME returns\",[false,true,false,true],\"1 of 2\"]\n\
                  [\"returns\",[false,false,false,false],\"2 of 2\"]\n\
                  [\"nothing\",[true,true,true,true],\"0 of 2\"]\n\
                  [\"\",[false,false,false,false],\"\"]\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), wanted, "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn what_cannot_be_documented_is_an_error() {
    let folder = project("doc-errors");
    let found = harn_in(&folder, &["doc", "empty.harn"], b"", &[]);
    assert!(found.code == Some(1) && found.err.contains("nothing to document"), "{}", found.err);
    let found = harn_in(&folder, &["doc", "missing.harn"], b"", &[]);
    assert!(found.code == Some(1) && found.err.contains("HARN-SRC-001"), "{}", found.err);
    fs::write(folder.join("broken.harn"), "fn (\n").unwrap();
    let found = harn_in(&folder, &["doc", "."], b"", &[]);
    assert!(found.code == Some(1) && found.out.is_empty() && found.err.contains("broken.harn"), "{}", found.err);
    assert_eq!(harn_in(&folder, &["doc", "--rhai", "private.harn"], b"", &[]).code, Some(2));
}
