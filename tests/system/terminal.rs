//! The command on a terminal: pages in a pager, and lines that are typed ahead.

use crate::harn::{environment, scratch};
use crate::wait::LIMIT;
use nix::pty::{Winsize, openpty};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

/// The command on a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// Everything shown so far.
    shown: String,
}

impl Terminal {
    fn start(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let size = Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let inside = || File::from(pty.slave.try_clone().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(args).current_dir(folder).env_clear().envs(environment());
        command.env("TERM", "xterm-256color").env("NO_COLOR", "1").env("XDG_STATE_HOME", folder);
        command.envs(env.iter().copied()).stdin(inside()).stdout(inside()).stderr(inside());
        let child = command.spawn().unwrap();
        drop((command, pty.slave));
        let (sender, screen) = channel();
        let mut outside = File::from(pty.master.try_clone().unwrap());
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The last process that has the terminal open makes the end of it an error.
            while let Ok(count @ 1..) = outside.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keyboard: File::from(pty.master), screen, shown: String::new() }
    }

    fn typed(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until a text is shown, and forgets everything up to it.
    fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            let rest = LIMIT.saturating_sub(start.elapsed());
            match self.screen.recv_timeout(rest) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("`{text}` was not shown; the screen:\n{}", self.shown),
            }
        }
    }

    /// Waits until the command has ended. Returns its exit code and what was still shown.
    fn end(mut self) -> (Option<i32>, String) {
        loop {
            match self.screen.recv_timeout(LIMIT) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the command did not end; the screen:\n{}", self.shown),
            }
        }
        (self.child.wait().unwrap().code(), std::mem::take(&mut self.shown))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn lines_that_are_pasted_at_once_are_all_run() {
    let folder = scratch("terminal-paste");
    let mut terminal = Terminal::start(&folder, &["repl"], &[]);
    terminal.wait_for("harn> ");
    terminal.typed(
        "let a = 1\rlet b = 2\rprintln(\"sum\", a + b)\rfn twice(n) {\rreturn n * 2\r}\rprintln(\"twice\", twice(b))\r",
    );
    terminal.wait_for("sum 3");
    terminal.wait_for("twice 4");
    // Between two statements, the terminal would take Ctrl-D for itself.
    terminal.wait_for("harn> ");
    terminal.typed("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn lines_that_are_typed_while_a_statement_runs_are_run_after_it() {
    let folder = scratch("terminal-ahead");
    let mut terminal = Terminal::start(&folder, &["repl"], &[]);
    terminal.wait_for("harn> ");
    terminal
        .typed("println(\"run\" + \"ning\"); while !file_exists(\"go\") { sleep(1ms) }; println(\"en\" + \"ded\")\r");
    terminal.wait_for("running");
    terminal.typed("var n = 1\nn += 1\nprintln(\"n is\", n)\nprintln(\"at last\", n + 1)\n");
    fs::write(folder.join("go"), "").unwrap();
    for text in ["ended", "n is 2", "at last 3"] {
        terminal.wait_for(text);
    }
    terminal.wait_for("harn> ");
    terminal.typed("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn a_manual_page_is_text_in_the_pager_of_the_user() {
    let folder = scratch("terminal-man");
    let pager = "cat > page.txt; echo pag\"\"ed";
    for env in [&[("PAGER", pager)][..], &[("HARN_PAGER", pager), ("PAGER", "exit 1")]] {
        let (code, shown) = Terminal::start(&folder, &["man", "run"], env).end();
        assert_eq!((code, shown.trim()), (Some(0), "paged"));
        let page = fs::read_to_string(folder.join("page.txt")).unwrap();
        assert!(page.starts_with("NAME\n       harn-run - Run a script\n"), "{page}");
        assert!(page.contains("\n       --seed <N>\n              Use fixed ids"), "{page}");
        assert!(page.lines().all(|line| !line.starts_with('.') && line.chars().count() <= 100), "{page}");
        fs::remove_file(folder.join("page.txt")).unwrap();
    }
}

#[test]
fn a_manual_page_is_printed_without_a_pager() {
    let folder = scratch("terminal-man-printed");
    for (pager, warns) in [("", false), ("cat", false), ("no-such-pager --fast", true)] {
        let (code, shown) = Terminal::start(&folder, &["man", "run"], &[("HARN_PAGER", pager)]).end();
        assert!(code == Some(0) && shown.contains("OPTIONS") && shown.contains("--seed <N>"), "{pager}: {shown}");
        assert_eq!(shown.contains("warning: cannot start the pager `no-such-pager --fast`"), warns, "{shown}");
    }
}
