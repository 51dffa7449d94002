//! Files that import one another, as a host sees them: long chains, hosts that refuse, what is read how often.

use super::driver::Bench;
use super::{GROUPS, finish, show};
use lang::builtins::Registry;
use lang::diagnostic::Diagnostic;
use lang::module::{Loader, Modules, missing};
use lang::script::{Loaded, Options, load};
use lang::source::{Source, SourceRef};
use lang::value::{Closure, Value};
use lang::vm::{Isolate, Limits};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Files in memory, and which were read.
#[derive(Default)]
struct Memory {
    files: HashMap<String, String>,
    read: RefCell<Vec<String>>,
}

impl Loader for Memory {
    fn load(&self, path: &str) -> Result<SourceRef, Box<Diagnostic>> {
        self.read.borrow_mut().push(path.to_owned());
        let text = self.files.get(path).ok_or_else(|| Box::new(missing(path)))?;
        Ok(Source::new(path, text.as_str()))
    }
}

fn memory<'a>(files: impl IntoIterator<Item = (&'a str, String)>) -> Rc<Memory> {
    let files = files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
    Rc::new(Memory { files, ..Memory::default() })
}

fn loaded(loader: Rc<dyn Loader>, script: &str) -> (Rc<Isolate>, Rc<Bench>, Loaded) {
    let host = Rc::new(Bench::default());
    let isolate = Isolate::new(Registry::new(GROUPS), host.clone(), Limits::default(), Vec::new());
    let modules = Modules::new(loader);
    let source = Source::new("main.harn", script);
    let loaded = load(&isolate, &source, Options { modules: Some(&modules), ..Options::default() });
    (isolate, host, loaded)
}

/// Returns the output of a script, or the diagnostics that are found before it runs.
fn run(loader: Rc<dyn Loader>, script: &str) -> String {
    let (isolate, host, loaded) = loaded(loader, script);
    let Some(unit) = loaded.unit else { return loaded.diagnostics.iter().map(show).collect() };
    for proto in unit.before.into_iter().map(|file| file.main).chain([unit.main]) {
        let main = Value::Closure(Rc::new(Closure { proto, captures: Vec::new() }));
        if let Err(raise) = finish(&isolate, main) {
            return show(&raise.to_diagnostic());
        }
    }
    host.out.borrow().clone()
}

/// Files that each import the next one.
fn chain(length: usize) -> Rc<Memory> {
    let mut files = HashMap::new();
    for n in 1..length {
        let text = format!("import {{f{}}} from \"f{}\"\nfn f{n}() {{ return f{}() }}\n", n + 1, n + 1, n + 1);
        files.insert(format!("f{n}.harn"), text);
    }
    files.insert(format!("f{length}.harn"), format!("fn f{length}() {{ return {length} }}\n"));
    Rc::new(Memory { files, ..Memory::default() })
}

#[test]
fn a_long_chain_of_files_costs_the_native_stack_nothing() {
    assert_eq!(run(chain(4000), "import {f1} from \"f1\"\nprintln(f1())"), "4000\n");
}

#[test]
fn a_chain_without_an_end_is_refused_once() {
    let found = run(chain(6000), "import {f1} from \"f1\"\nprintln(f1())");
    assert_eq!(found, "HARN-IMP-008: the script imports more than 4096 files at 1:21\n");
}

#[test]
fn one_file_may_import_many() {
    let many: String = (1..=3000).map(|n| format!("import {{f{n}}} from \"f{n}\"\n")).collect();
    let files = (1..=3000).map(|n| (format!("f{n}.harn"), format!("fn f{n}() {{ return {n} }}\n"))).collect();
    let loader = Rc::new(Memory { files, ..Memory::default() });
    assert_eq!(run(loader, &format!("{many}println(f1() + f3000())")), "3001\n");
}

#[test]
fn a_file_is_read_once_however_it_is_named() {
    let loader = memory([
        ("a.harn", "import {c} from \"lib/c\"\nfn a() { return c }".to_owned()),
        ("b.harn", "import {c} from \"./lib/../lib/c.harn\"\nfn b() { return c }".to_owned()),
        ("lib/c.harn", "println(\"evaluated\")\nlet c = 1".to_owned()),
    ]);
    let printed = run(loader.clone(), "import {a} from \"a\"\nimport {b} from \"b\"\nprintln(a() + b())");
    assert_eq!(printed, "evaluated\n2\n");
    assert_eq!(*loader.read.borrow(), ["a.harn", "lib/c.harn", "b.harn"]);
}

#[test]
fn a_host_without_files_refuses() {
    let (_, _, found) = loaded(Rc::new(lang::module::NoFiles), "import \"lib/a\"\nprintln(1)");
    let shown: String = found.diagnostics.iter().map(show).collect();
    assert_eq!(
        shown,
        "HARN-IMP-009: cannot import `lib/a.harn`: scripts can import only standard modules here at 1:8\n"
    );
}

#[test]
fn every_cycle_is_told_once() {
    let loader = memory([
        ("a.harn", "import \"b\"\nimport \"c\"\nlet a = 1".to_owned()),
        ("b.harn", "import \"a\"\nlet b = 1".to_owned()),
        ("c.harn", "import \"c\"\nimport \"b\"\nlet c = 1".to_owned()),
    ]);
    let found = run(loader, "import \"a\"\nprintln(1)");
    let want = "HARN-IMP-002: import cycle: a.harn → b.harn → a.harn at 1:8\n\
                HARN-IMP-002: `c.harn` imports itself at 1:8\n";
    assert_eq!(found, want);
}

#[test]
fn a_long_cycle_is_shown_in_part() {
    let mut files = chain(1000);
    let files_of = &mut Rc::get_mut(&mut files).expect("nobody else holds it").files;
    files_of.insert("f1000.harn".to_owned(), "import \"f1\"\n".to_owned());
    let found = run(files, "import {f1} from \"f1\"\n");
    let shown = "f1.harn → f2.harn → f3.harn → f4.harn → f5.harn → f6.harn → 994 more → f1.harn at 1:8";
    assert!(found.starts_with("HARN-IMP-002") && found.contains(shown), "{found}");
}

#[test]
fn a_thousand_cycles_end_and_few_are_told() {
    // Each file imports all others.
    let names: Vec<String> = (0..60).map(|n| format!("f{n}")).collect();
    let imports: String = names.iter().map(|name| format!("import \"{name}\"\n")).collect();
    let files = names.iter().map(|name| (format!("{name}.harn"), imports.clone())).collect();
    let found = run(Rc::new(Memory { files, ..Memory::default() }), "import \"f0\"\n");
    assert!(found.lines().count() == 16 && found.lines().all(|line| line.starts_with("HARN-IMP-002")), "{found}");
}
