//! Corrupted bytecode is refused by the verifier, or runs without touching memory that is not its own.
//!
//! Each case loads a script, changes its compiled code in one to four places and verifies it again. What passes runs under
//! small limits; with debug assertions on, the machine checks each register, capture and jump that it follows, and under
//! valgrind each access. `HARN_CASES` says how many cases, `HARN_SEED` which.
#![allow(unsafe_code)]

use super::{GROUPS, closure, driver};
use lang::builtins::Registry;
use lang::script::{Options, load};
use lang::source::Source;
use lang::value::Value;
use lang::vm::verify::{verify, verify_function};
use lang::vm::{Capture, Context, Fiber, Isolate, KeySource, Limits, Op, Place, Proto};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Cases of the ordinary suite.
const CASES: u64 = 3_000;

/// A reproducible source of randomness (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    /// A number near another one, or one at an edge.
    fn near(&mut self, n: u16) -> u16 {
        match self.below(6) {
            0 => n.wrapping_add(1),
            1 => n.wrapping_sub(1),
            2 => 0,
            3 => u16::MAX,
            4 => u16::try_from(self.below(16)).unwrap_or(0),
            _ => u16::try_from(self.next() & 0xffff).unwrap_or(0),
        }
    }
}

/// Scripts that hold every instruction between them.
fn scripts() -> Vec<String> {
    fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                collect(&entry, out);
            } else if entry.extension().is_some_and(|end| end == "harn") {
                out.push(entry);
            }
        }
    }
    let mut paths = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/lang"), &mut paths);
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a script")).collect()
}

/// Changes an operand, whatever it is.
fn change_operand(random: &mut Random, op: &mut Op) {
    // Not every byte is a bool or a flavor.
    if matches!(op, Op::Bool { .. } | Op::Generator { .. }) {
        return;
    }
    let at = [1, 2, 4, 6][random.below(4)];
    // SAFETY: an instruction is eight bytes, the first of which says which it is; all operands of these are integers, for
    // which any bytes will do.
    unsafe {
        let bytes = std::ptr::from_mut(op).cast::<u8>();
        if at == 1 {
            bytes.add(1).write(u8::try_from(random.next() & 0xff).unwrap_or(0));
        } else {
            let value = if random.below(2) == 0 { random.below(32) } else { random.below(1 << 16) };
            bytes.add(at).cast::<u16>().write_unaligned(u16::try_from(value).unwrap_or(0));
        }
    }
}

fn corrupt(random: &mut Random, proto: &mut Proto, spare: &[Op]) {
    let len = proto.code.len().max(1);
    let at = random.below(len);
    let number = u32::try_from(random.below(len + 2)).unwrap_or(0);
    match random.below(24) {
        0..=7 => proto.code.get_mut(at).into_iter().for_each(|op| change_operand(random, op)),
        8..=10 => {
            let mut op = spare[random.below(spare.len())];
            if random.below(2) == 0 {
                change_operand(random, &mut op);
            }
            proto.code.get_mut(at).into_iter().for_each(|slot| *slot = op);
        }
        11 => {
            proto.code.truncate(at);
            proto.spans.truncate(at);
        }
        12 => proto.regs = random.near(proto.regs),
        13 => match random.below(4) {
            0 => proto.params = random.near(proto.params),
            1 => proto.required = random.near(proto.required),
            2 => proto.exact = random.near(proto.exact),
            _ => proto.rest = !proto.rest,
        },
        14 if !proto.handlers.is_empty() => {
            let which = random.below(proto.handlers.len());
            let handler = &mut proto.handlers[which];
            match random.below(4) {
                0 => handler.start = number,
                1 => handler.end = number,
                2 => handler.target = number,
                _ => handler.reg = random.near(handler.reg),
            }
        }
        15 => match random.below(3) {
            0 => proto.captures.clear(),
            1 => proto.captures.push(Capture::Register(random.near(proto.regs))),
            _ => proto.captures.push(Capture::Outer(random.near(0))),
        },
        16 => match random.below(4) {
            0 => proto.constants.clear(),
            1 => drop(proto.constants.pop()),
            2 => proto.constants.push(Value::Unbound),
            _ => proto.spans.truncate(at),
        },
        17 => match random.below(6) {
            0 => proto.fields.truncate(at / 4),
            1 => proto.methods.truncate(at / 4),
            2 => proto.shapes.truncate(at / 4),
            3 => proto.builtins.truncate(at / 4),
            4 => proto.tests.truncate(at / 4),
            _ => proto.protos.truncate(at / 4),
        },
        18 if !proto.places.is_empty() => {
            let which = random.below(proto.places.len());
            let changed = &mut proto.places[which];
            match random.below(4) {
                0 => changed.skip = u8::try_from(random.below(256)).unwrap_or(0),
                1 => changed.path = Some(random.near(4)),
                _ => changed.root = some_place(random),
            }
        }
        19 if !proto.paths.is_empty() => {
            let which = random.below(proto.paths.len());
            let path = &mut proto.paths[which];
            if random.below(2) == 0 {
                let key = random.below(path.keys.len());
                if let Some(key) = path.keys.get_mut(key) {
                    key.source = KeySource::Register(random.near(4));
                }
            } else {
                path.root = some_place(random);
            }
        }
        20 if !proto.variants.is_empty() => {
            let which = random.below(proto.variants.len());
            proto.variants[which].1 = u32::try_from(random.below(5)).unwrap_or(0);
        }
        21 if !proto.rebuilds.is_empty() => {
            let which = random.below(proto.rebuilds.len());
            proto.rebuilds[which].given = (0..random.below(5)).map(|_| random.near(1)).collect();
        }
        22 => proto.far.push((u32::try_from(at).unwrap_or(0), i32::try_from(random.below(64)).unwrap_or(0) - 32)),
        _ => {
            let other = random.below(len);
            if at < proto.code.len() && other < proto.code.len() {
                proto.code.swap(at, other);
            }
        }
    }
}

fn some_place(random: &mut Random) -> Place {
    let number = random.near(4);
    match random.below(4) {
        0 => Place::Register(number),
        1 => Place::Cell(number),
        2 => Place::CaptureCell(number),
        _ => Place::Global(u32::from(number)),
    }
}

/// A copy of `root` in which one function, itself or one inside it, is corrupted.
fn corrupted(random: &mut Random, root: &Proto, spare: &[Op]) -> Rc<Proto> {
    let mut copy = root.clone();
    copy.verified.set(false);
    if !copy.protos.is_empty() && random.below(2) == 0 {
        let at = random.below(copy.protos.len());
        copy.protos[at] = corrupted(random, &copy.protos[at], spare);
    } else {
        for _ in 0..=random.below(4) {
            corrupt(random, &mut copy, spare);
        }
    }
    Rc::new(copy)
}

/// Whether it was accepted, and so ran.
fn case(seed: u64, texts: &[String], spare: &[Op]) -> Option<bool> {
    let mut random = Random(seed);
    let limits = Limits { fuel: Some(20_000), depth: 200, value_bytes: 1 << 16, ..Limits::default() };
    let host = Rc::new(driver::Bench::default());
    let isolate = Isolate::new(Registry::new(GROUPS), host, limits, Vec::new());
    let text = &texts[random.below(texts.len())];
    let unit = load(&isolate, &Source::new("test.harn", text.as_str()), Options::default()).unit?;
    let functions = isolate.function_count();
    let number = random.below(functions + 1);
    let mut main = unit.main.clone();
    let accepted = if number < functions {
        let whole = isolate.function(number)?;
        let function = corrupted(&mut random, &whole, spare);
        let accepted = verify_function(&isolate, &BTreeSet::new(), &function).is_ok();
        isolate.set_function(number, function);
        accepted
    } else {
        main = corrupted(&mut random, &main, spare);
        verify(&isolate, &BTreeSet::new(), &main).is_ok() && main.captures.is_empty()
    };
    if accepted {
        if std::env::var_os("HARN_SHOW_CODE").is_some() {
            eprintln!("function {number} of {functions}\n{text}");
            show_code(&main);
            (0..functions).filter_map(|n| isolate.function(n)).for_each(|f| show_code(&f));
        }
        let entry = unit.pipelines.first().and_then(|entry| isolate.function(entry.function));
        for proto in [Some(main), entry].into_iter().flatten() {
            let context = Rc::new(Context::default());
            if let Ok(fiber) = Fiber::new(&isolate, &context, closure(&proto), []) {
                // What it prints, returns or raises is of no interest.
                let _ = driver::block_on(lang::vm::run(&isolate, &context.task, lang::vm::drive(fiber)));
                driver::block_on(lang::vm::close(&isolate, &context.task));
            }
        }
    }
    Some(accepted)
}

fn show_code(proto: &Proto) {
    eprintln!("== {} ({} registers)", proto.title(), proto.regs);
    proto.code.iter().enumerate().for_each(|(at, op)| eprintln!("{at:4} {op:?}"));
    proto.protos.iter().for_each(|inside| show_code(inside));
}

/// All instructions of a function and of those inside it.
fn instructions(proto: &Proto, out: &mut Vec<Op>) {
    out.extend_from_slice(&proto.code);
    proto.protos.iter().for_each(|inside| instructions(inside, out));
}

#[test]
fn corrupted_code_is_refused_or_harmless() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (cases, first) = (number("HARN_CASES").unwrap_or(CASES), number("HARN_SEED").unwrap_or(1));
    let mut texts = scripts();
    let mut spare = Vec::new();
    texts.retain(|text| {
        let isolate =
            Isolate::new(Registry::new(GROUPS), Rc::new(driver::Bench::default()), Limits::default(), Vec::new());
        let loaded = load(&isolate, &Source::new("test.harn", text.as_str()), Options::default());
        // What is refused unchanged is a mistake of the compiler or of the verifier.
        assert!(
            loaded.diagnostics.iter().all(|d| d.code.as_str() != "HARN-CMP-004"),
            "{:?}\n{text}",
            loaded.diagnostics
        );
        let Some(unit) = loaded.unit else { return false };
        instructions(&unit.main, &mut spare);
        (0..isolate.function_count()).filter_map(|n| isolate.function(n)).for_each(|f| instructions(&f, &mut spare));
        true
    });
    let kinds: std::collections::HashSet<_> = spare.iter().map(std::mem::discriminant).collect();
    assert!(kinds.len() > 90, "the scripts have only {} kinds of instructions", kinds.len());
    let (mut accepted, mut refused) = (0, 0);
    for seed in first..first + cases {
        // Printed before it runs: a crash of the process must name its case.
        if std::env::var_os("HARN_SHOW_SEEDS").is_some() {
            eprintln!("seed {seed}");
        }
        let outcome = std::panic::catch_unwind(|| case(seed, &texts, &spare));
        match outcome.unwrap_or_else(|_| panic!("seed {seed}")) {
            Some(true) => accepted += 1,
            Some(false) => refused += 1,
            None => {}
        }
    }
    println!("{refused} refused, {accepted} ran");
    assert!(refused > cases / 10 && accepted > cases / 10, "{refused} refused, {accepted} ran");
}
