//! The agents of `examples/a2a` print what the guide shows, and leave nothing behind.

use crate::diff::diff;
use crate::harn::{root, scratch};
use crate::markdown::blocks;
use std::fs;
use std::process::Command;

#[test]
fn the_guides_agents_print_what_its_page_shows() {
    let page = fs::read_to_string(root().join("docs/guide/peers.md")).unwrap();
    let blocks = blocks(&page);
    let shown = blocks.windows(2).find_map(|pair| match pair {
        [("sh", "examples/a2a/run.sh\n"), ("text", shown)] => Some(*shown),
        _ => None,
    });
    let temp = scratch("a2a-example");
    let mut command = Command::new("timeout");
    command.args(["120", "sh", "examples/a2a/run.sh"]).current_dir(root()).env_clear().env("TMPDIR", &temp);
    command.env("HARN", env!("CARGO_BIN_EXE_harn")).env("PATH", std::env::var_os("PATH").unwrap());
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), err.as_str()), (Some(0), ""), "{out}");
    assert_eq!(diff(shown.expect("the page shows what `examples/a2a/run.sh` prints"), &out), None);
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "its folder is gone");
}
