//! Every instruction in full: what it means, its errors, its limits. [`Fiber::step`] carries out one instruction and saves where
//! the function stands. The loop in `fast` does the common case of the common instructions itself and comes here for all
//! else, so an instruction must be right here and may be missing there.
#![allow(unsafe_code)]

use super::call::{Entered, NO_CLOSURE};
use super::context::LARGE;
use super::fiber::{Exit, Fiber, Frame, Pending};
use super::op::{FAR, IN_LIST, Op, Reg};
use super::{Cx, Failure, Proto, Raise, RunCode, Test, access, operate, pattern, record, type_test, unwind};
use crate::advice;
use crate::ast::BinaryOp;
use crate::value::meter::charge_copy;
use crate::value::{Closure, Dict, Range, Record, Str, Value, brief, display, equal, inspect};
use std::cell::RefCell;
use std::ptr;
use std::rc::Rc;

/// Writes a value that is not on the heap, or a fresh one, over a register.
///
/// # Safety
/// `slot` points to an initialised value of the fiber's stack.
#[inline(always)]
unsafe fn put(slot: *mut Value, value: Value) {
    // SAFETY: by the caller. The new value stands there before the old one goes, whose drop may look at the slot.
    let old = unsafe { ptr::replace(slot, value) };
    if old.on_heap() {
        drop(old);
    } else {
        std::mem::forget(old);
    }
}

impl Fiber {
    /// Carries out the instruction at which the frame on top stands; an exit, or nothing when the loop goes on.
    #[inline(never)]
    #[allow(clippy::too_many_lines, clippy::cognitive_complexity)]
    pub(super) fn step(&mut self) -> Option<Exit> {
        let mut pc: *const Op;
        let mut base: *mut Value;
        let code = self.frames.last().map_or(ptr::null(), |f| f.proto);

        macro_rules! load {
            () => {{
                let Some(frame) = self.frames.last() else { return Some(Exit::Done(Value::Nil)) };
                pc = frame.pc;
                debug_assert!(frame.base <= self.stack.len(), "a window outside of the stack");
                // SAFETY: a window always lies within the stack.
                base = unsafe { self.stack.as_mut_ptr().add(frame.base) };
            }};
        }
        macro_rules! save {
            () => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.pc = pc;
                }
            };
        }
        macro_rules! code {
            () => {{
                debug_assert!(!code.is_null(), "a frame without code");
                // SAFETY: the running function is kept by the isolate or by its closure.
                let code: &Proto = unsafe { &*code };
                code
            }};
        }
        // A pointer to a register; what it points to is always an initialised value.
        macro_rules! reg {
            ($r:expr) => {{
                let register = usize::from($r);
                debug_assert!(register < usize::from(code!().regs), "register {register}");
                // SAFETY: the verifier lets no register pass beyond `regs`, and the call made room for `regs` behind `base`.
                unsafe { base.add(register) }
            }};
        }
        macro_rules! get {
            ($r:expr) => {{
                let register = reg!($r);
                // SAFETY: all of the stack is initialised, and nothing changes the register while the value is looked at.
                unsafe { &*register }
            }};
        }
        // The value in a register, to be changed where it is.
        macro_rules! change {
            ($r:expr) => {{
                let register = reg!($r);
                // SAFETY: all of the stack is initialised. No other reference to this register is alive: the verifier lets no
                // instruction pass that changes a value with itself, and what an arm looks at beside it are other registers.
                unsafe { &mut *register }
            }};
        }
        macro_rules! take {
            ($r:expr) => {
                std::mem::take(change!($r))
            };
        }
        macro_rules! set {
            ($r:expr, $v:expr) => {{
                let (value, register) = ($v, reg!($r));
                // SAFETY: all of the stack is initialised.
                unsafe { put(register, value) }
            }};
        }
        // Registers in a row; none of them where the row begins right behind the last register.
        macro_rules! window {
            ($from:expr, $count:expr) => {{
                let (from, count) = (usize::from($from), $count);
                debug_assert!(from + count <= usize::from(code!().regs), "registers {from} to {}", from + count);
                // SAFETY: the verifier lets no window pass that leaves `regs`, all of which is initialised; the slice is the only
                // reference into it.
                unsafe { std::slice::from_raw_parts_mut(base.add(from), count) }
            }};
        }
        // An entry of a table of the running function.
        macro_rules! entry {
            ($table:ident, $at:expr) => {{
                let (table, at) = (&code!().$table, $at as usize);
                debug_assert!(at < table.len(), "{} {at}", stringify!($table));
                // SAFETY: the verifier lets no index pass that names no entry, and tables do not change.
                unsafe { table.get_unchecked(at) }
            }};
        }
        macro_rules! capture {
            ($at:expr) => {{
                let (closure, at) = (self.closure(), usize::from($at));
                debug_assert!(!closure.is_null(), "capture {at} of a function that runs without its closure");
                // SAFETY: the verifier lets captures pass only in functions that have some, which run as closures; the caller's
                // register, or the fiber's root, holds the closure while its frame is there.
                let captures = unsafe { &(*closure).captures };
                debug_assert!(at < captures.len(), "capture {at}");
                // SAFETY: the verifier rejects unknown captures, and a closure is created with all of its captures.
                unsafe { captures.get_unchecked(at) }
            }};
        }
        // A pointer to a global.
        macro_rules! global {
            ($slot:expr) => {{
                let (globals, slot) = (self.isolate.globals(), $slot as usize);
                // SAFETY: one thread, and no other reference into the vector is alive: none outlives an instruction. The verifier
                // rejects unknown globals, and globals are never removed.
                unsafe {
                    debug_assert!(slot < (&*globals).len(), "global {slot}");
                    (&mut *globals).as_mut_ptr().add(slot)
                }
            }};
        }
        macro_rules! raise {
            ($raise:expr) => {{
                let raise = $raise;
                save!();
                return self.unwind(raise).err().map(Exit::Raised);
            }};
        }
        macro_rules! check {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(raise) => raise!(raise),
                }
            };
        }
        macro_rules! jump {
            ($by:expr) => {{
                let by = $by as isize;
                // SAFETY: the verifier lets no jump leave the code.
                pc = unsafe { pc.offset(by) };
                debug_assert!(code!().code.as_ptr_range().contains(&pc), "a jump out of the code");
            }};
        }
        macro_rules! short_jump {
            ($by:expr) => {{
                let by = $by;
                if by == FAR {
                    save!();
                    let at = self.frames.last().map_or(0, |f| f.at(code!()));
                    jump!(code!().far(at));
                } else {
                    jump!(by);
                }
            }};
        }
        // The tick of a call, which is made again after the slice.
        macro_rules! tick_call {
            () => {
                self.ticks -= 8;
                if self.ticks < 0 {
                    match self.slow_tick() {
                        Ok(()) => {
                            // SAFETY: back to the call itself, which `pc` stands behind.
                            pc = unsafe { pc.sub(1) };
                            save!();
                            return Some(Exit::Yield);
                        }
                        Err(raise) => raise!(raise),
                    }
                }
            };
        }
        macro_rules! entered {
            ($entered:expr, $dst:expr) => {
                match $entered {
                    Ok(Entered::Frame) => return None,
                    Ok(Entered::Value(value)) => {
                        load!();
                        set!($dst, value);
                    }
                    Ok(Entered::Wait(wait, pending)) => {
                        // A builtin that calls closures may be what waits; it is resumed through its own frame.
                        self.pending = pending;
                        return Some(Exit::Wait(wait));
                    }
                    Ok(Entered::Pause) => return Some(Exit::Yield),
                    Err(raise) => return self.unwind(raise).err().map(Exit::Raised),
                }
            };
        }
        // The integer and float roads of an operator; `slow` for all else.
        macro_rules! arithmetic {
            ($dst:expr, $a:expr, $b:expr, $op:ident, $checked:ident, $float:tt) => {{
                match (get!($a), get!($b)) {
                    (Value::Int(x), Value::Int(y)) if let Some(z) = x.$checked(*y) => set!($dst, Value::Int(z)),
                    (Value::Float(x), Value::Float(y)) => {
                        let z = *x $float *y;
                        set!($dst, Value::Float(z));
                    }
                    _ => slow!($dst, $a, $b, BinaryOp::$op),
                }
            }};
        }
        macro_rules! slow {
            ($dst:expr, $a:expr, $b:expr, $op:expr) => {{
                // What is changed in place must be held once: the register gives it up if it is the target.
                let left = if $dst == $a && $a != $b { take!($a) } else { get!($a).clone() };
                check!(self.afford($op, &left, get!($b)));
                match operate::binary($op, left, get!($b), self.isolate.limits().value_bytes) {
                    Ok(value) => {
                        set!($dst, value);
                        check!(self.weigh());
                    }
                    Err((left, raise)) => {
                        if $dst == $a && $a != $b {
                            set!($a, left);
                        }
                        raise!(raise)
                    }
                }
            }};
        }
        macro_rules! compare {
            ($dst:expr, $a:expr, $b:expr, $op:ident, $test:tt) => {{
                match (get!($a), get!($b)) {
                    (Value::Int(x), Value::Int(y)) => {
                        let z = x $test y;
                        set!($dst, Value::Bool(z));
                    }
                    (Value::Float(x), Value::Float(y)) => {
                        let z = x $test y;
                        set!($dst, Value::Bool(z));
                    }
                    _ => slow!($dst, $a, $b, BinaryOp::$op),
                }
            }};
        }
        macro_rules! unless {
            ($a:expr, $b:expr, $by:expr, $op:ident, $test:tt) => {{
                let holds = match (get!($a), get!($b)) {
                    (Value::Int(x), Value::Int(y)) => x $test y,
                    (Value::Float(x), Value::Float(y)) => x $test y,
                    (x, y) => {
                        let work = operate::work(BinaryOp::$op, x, y);
                        let result = operate::binary(BinaryOp::$op, x.clone(), y, 0);
                        if work >= LARGE {
                            self.isolate.charge(work);
                        }
                        check!(self.weigh());
                        match result {
                            Ok(value) => value.truthy(),
                            Err((_, raise)) => raise!(raise),
                        }
                    }
                };
                if !holds {
                    short_jump!($by);
                }
            }};
        }
        macro_rules! unless_int {
            ($a:expr, $imm:expr, $by:expr, $op:ident, $test:tt) => {{
                let holds = match get!($a) {
                    Value::Int(x) => *x $test i64::from($imm),
                    x => match operate::binary(BinaryOp::$op, x.clone(), &Value::Int(i64::from($imm)), 0) {
                        Ok(value) => value.truthy(),
                        Err((_, raise)) => raise!(raise),
                    },
                };
                if !holds {
                    short_jump!($by);
                }
            }};
        }

        load!();
        {
            debug_assert!(code!().code.as_ptr_range().contains(&pc), "an instruction outside of the code");
            // SAFETY: the verifier rejects functions that run past their end and jumps that leave them.
            let op = unsafe { *pc };
            // SAFETY: behind an instruction is another one, or the end of the code.
            pc = unsafe { pc.add(1) };
            match op {
                Op::Move { dst, src } => {
                    let value = get!(src).clone();
                    set!(dst, value);
                }
                Op::Take { dst, src } => {
                    let value = take!(src);
                    set!(dst, value);
                }
                Op::Clear { from, count } => {
                    for r in from..from + count {
                        if get!(r).on_heap() {
                            set!(r, Value::Nil);
                        }
                    }
                }
                Op::Const { dst, k } => {
                    let value = entry!(constants, k).clone();
                    set!(dst, value);
                }
                Op::Int { dst, value } => set!(dst, Value::Int(i64::from(value))),
                Op::Nil { dst } => set!(dst, Value::Nil),
                Op::Bool { dst, value } => set!(dst, Value::Bool(value)),
                Op::GetGlobal { dst, slot } => {
                    let place = global!(slot);
                    // SAFETY: globals are initialised.
                    let value = unsafe { (*place).clone() };
                    if matches!(value, Value::Unbound) {
                        raise!(unbound(code!(), pc));
                    }
                    set!(dst, value);
                }
                Op::SetGlobal { src, slot } => {
                    let value = get!(src).clone();
                    let place = global!(slot);
                    // SAFETY: globals are initialised.
                    unsafe { put(place, value) };
                }
                Op::GetCapture { dst, index } => {
                    let value = capture!(index).clone();
                    set!(dst, value);
                }
                Op::GetCaptureCell { dst, index } => {
                    let cell = capture!(index);
                    let value = open_cell(cell);
                    if matches!(value, Value::Unbound) {
                        raise!(unbound(code!(), pc));
                    }
                    set!(dst, value);
                }
                Op::SetCaptureCell { src, index } => {
                    let cell = capture!(index);
                    fill_cell(cell, get!(src).clone());
                }
                Op::NewCell { reg } => {
                    let value = take!(reg);
                    let cell = Rc::new(RefCell::new(value));
                    self.isolate.note_cell(&cell);
                    set!(reg, Value::Cell(cell));
                }
                Op::EmptyCell { reg } => {
                    let cell = Rc::new(RefCell::new(Value::Unbound));
                    self.isolate.note_cell(&cell);
                    set!(reg, Value::Cell(cell));
                }
                Op::GetCell { dst, cell } => {
                    let value = open_cell(get!(cell));
                    if matches!(value, Value::Unbound) {
                        raise!(unbound(code!(), pc));
                    }
                    set!(dst, value);
                }
                Op::SetCell { cell, src } => fill_cell(get!(cell), get!(src).clone()),
                Op::Closure { dst, proto } => {
                    let proto = entry!(protos, proto).clone();
                    let captures = proto
                        .captures
                        .iter()
                        .map(|c| match *c {
                            super::Capture::Register(r) => get!(r).clone(),
                            super::Capture::Outer(i) => capture!(i).clone(),
                        })
                        .collect();
                    set!(dst, Value::Closure(Rc::new(Closure { proto, captures })));
                }
                Op::Myself { dst } => {
                    let closure = self.closure();
                    if closure.is_null() {
                        set!(dst, Value::Nil);
                    } else {
                        // SAFETY: `closure` came from `Rc::as_ptr`, and a register or the fiber's root holds it; one more count for ours.
                        let value = unsafe {
                            Rc::increment_strong_count(closure);
                            Value::Closure(Rc::from_raw(closure))
                        };
                        set!(dst, value);
                    }
                }

                Op::Add { dst, a, b } => arithmetic!(dst, a, b, Add, checked_add, +),
                Op::Sub { dst, a, b } => arithmetic!(dst, a, b, Sub, checked_sub, -),
                Op::Mul { dst, a, b } => arithmetic!(dst, a, b, Mul, checked_mul, *),
                Op::Div { dst, a, b } => arithmetic!(dst, a, b, Div, checked_div, /),
                Op::Rem { dst, a, b } => match (get!(a), get!(b)) {
                    (Value::Int(x), Value::Int(y)) if *y != 0 => {
                        let z = x.wrapping_rem(*y);
                        set!(dst, Value::Int(z));
                    }
                    _ => slow!(dst, a, b, BinaryOp::Rem),
                },
                Op::Pow { dst, a, b } => slow!(dst, a, b, BinaryOp::Pow),
                Op::AddInt { dst, a, imm } => match get!(a) {
                    Value::Int(x) if let Some(z) = x.checked_add(i64::from(imm)) => set!(dst, Value::Int(z)),
                    x => match operate::binary(BinaryOp::Add, x.clone(), &Value::Int(i64::from(imm)), 0) {
                        Ok(value) => set!(dst, value),
                        Err((_, raise)) => raise!(raise),
                    },
                },
                Op::SubInt { dst, a, imm } => match get!(a) {
                    Value::Int(x) if let Some(z) = x.checked_sub(i64::from(imm)) => set!(dst, Value::Int(z)),
                    x => match operate::binary(BinaryOp::Sub, x.clone(), &Value::Int(i64::from(imm)), 0) {
                        Ok(value) => set!(dst, value),
                        Err((_, raise)) => raise!(raise),
                    },
                },
                Op::MulInt { dst, a, imm } => match get!(a) {
                    Value::Int(x) if let Some(z) = x.checked_mul(i64::from(imm)) => set!(dst, Value::Int(z)),
                    x => {
                        let limit = self.isolate.limits().value_bytes;
                        let times = Value::Int(i64::from(imm));
                        check!(self.afford(BinaryOp::Mul, x, &times));
                        match operate::binary(BinaryOp::Mul, x.clone(), &times, limit) {
                            Ok(value) => {
                                set!(dst, value);
                                check!(self.weigh());
                            }
                            Err((_, raise)) => raise!(raise),
                        }
                    }
                },
                Op::DivInt { dst, a, imm } => match get!(a) {
                    Value::Int(x)
                        if imm != 0
                            && let Some(z) = x.checked_div(i64::from(imm)) =>
                    {
                        set!(dst, Value::Int(z));
                    }
                    x => match operate::binary(BinaryOp::Div, x.clone(), &Value::Int(i64::from(imm)), 0) {
                        Ok(value) => set!(dst, value),
                        Err((_, raise)) => raise!(raise),
                    },
                },
                Op::RemInt { dst, a, imm } => match get!(a) {
                    Value::Int(x) if imm != 0 => {
                        let z = x.wrapping_rem(i64::from(imm));
                        set!(dst, Value::Int(z));
                    }
                    x => match operate::binary(BinaryOp::Rem, x.clone(), &Value::Int(i64::from(imm)), 0) {
                        Ok(value) => set!(dst, value),
                        Err((_, raise)) => raise!(raise),
                    },
                },
                Op::Neg { dst, a } => {
                    let value = check!(operate::negate(get!(a)));
                    set!(dst, value);
                }
                Op::Not { dst, a } => {
                    let value = !get!(a).truthy();
                    set!(dst, Value::Bool(value));
                }
                Op::Truth { dst, a } => {
                    let value = get!(a).truthy();
                    set!(dst, Value::Bool(value));
                }
                Op::Eq { dst, a, b } => {
                    let same = equal(get!(a), get!(b));
                    if get!(a).on_heap() {
                        check!(self.weigh());
                    }
                    set!(dst, Value::Bool(same));
                }
                Op::Ne { dst, a, b } => {
                    let same = equal(get!(a), get!(b));
                    if get!(a).on_heap() {
                        check!(self.weigh());
                    }
                    set!(dst, Value::Bool(!same));
                }
                Op::Lt { dst, a, b } => compare!(dst, a, b, Lt, <),
                Op::Le { dst, a, b } => compare!(dst, a, b, Le, <=),
                Op::Gt { dst, a, b } => compare!(dst, a, b, Gt, >),
                Op::Ge { dst, a, b } => compare!(dst, a, b, Ge, >=),
                Op::In { dst, a, b } => slow!(dst, a, b, BinaryOp::In),
                Op::NotIn { dst, a, b } => slow!(dst, a, b, BinaryOp::NotIn),

                Op::Jump { by } => jump!(by),
                Op::Loop { by } | Op::LoopFor { by } | Op::LoopLt { by } | Op::LoopLe { by } | Op::LoopLtInt { by } => {
                    self.ticks += i64::from(by);
                    if self.ticks < 0 {
                        // An error here is the loop's own: it stands where the jump does.
                        save!();
                        check!(self.slow_tick());
                        jump!(by);
                        save!();
                        return Some(Exit::Yield);
                    }
                    jump!(by);
                }
                Op::JumpIf { a, by } => {
                    if get!(a).truthy() {
                        jump!(by);
                    }
                }
                Op::JumpUnless { a, by } => {
                    if !get!(a).truthy() {
                        jump!(by);
                    }
                }
                Op::JumpIfItem { object, index, by } => {
                    let item = check!(access::index(get!(object), get!(index)));
                    let Some(item) = item else { raise!(access::out_of_range(get!(object), get!(index))) };
                    check!(self.weigh());
                    if item.truthy() {
                        short_jump!(by);
                    }
                }
                Op::JumpUnlessItem { object, index, by } => {
                    let item = check!(access::index(get!(object), get!(index)));
                    let Some(item) = item else { raise!(access::out_of_range(get!(object), get!(index))) };
                    check!(self.weigh());
                    if !item.truthy() {
                        short_jump!(by);
                    }
                }
                Op::JumpIfNil { a, by } => {
                    if get!(a).is_nil() {
                        jump!(by);
                    }
                }
                Op::JumpIfNotNil { a, by } => {
                    if !get!(a).is_nil() {
                        jump!(by);
                    }
                }
                Op::JumpIfNone { a, by } => {
                    if get!(a).is_nil() || matches!(get!(a).as_result(), Some(Err(_))) {
                        jump!(by);
                    }
                }
                Op::UnlessLt { a, b, by } => unless!(a, b, by, Lt, <),
                Op::UnlessLe { a, b, by } => unless!(a, b, by, Le, <=),
                Op::UnlessGt { a, b, by } => unless!(a, b, by, Gt, >),
                Op::UnlessGe { a, b, by } => unless!(a, b, by, Ge, >=),
                Op::UnlessEq { a, b, by } => unless!(a, b, by, Eq, ==),
                Op::UnlessNe { a, b, by } => unless!(a, b, by, Ne, !=),
                Op::UnlessLtInt { a, imm, by } => unless_int!(a, imm, by, Lt, <),
                Op::UnlessLeInt { a, imm, by } => unless_int!(a, imm, by, Le, <=),
                Op::UnlessGtInt { a, imm, by } => unless_int!(a, imm, by, Gt, >),
                Op::UnlessGeInt { a, imm, by } => unless_int!(a, imm, by, Ge, >=),
                Op::UnlessEqInt { a, imm, by } => unless_int!(a, imm, by, Eq, ==),
                Op::UnlessNeInt { a, imm, by } => unless_int!(a, imm, by, Ne, !=),

                Op::Call { argc, dst, base: at } => {
                    save!();
                    let first = self.absolute(at) + 1;
                    if argc == IN_LIST {
                        let count = self.unpack_arguments(first);
                        let callee = self.stack[first - 1].clone();
                        entered!(self.enter(&callee, first, count, dst, false), dst);
                    } else {
                        tick_call!();
                        let callee = get!(at).clone();
                        entered!(self.enter(&callee, first, usize::from(argc), dst, false), dst);
                    }
                }
                Op::CallFn { argc, dst, base: at, func } => {
                    save!();
                    let first = self.absolute(at);
                    tick_call!();
                    // SAFETY: one thread, and no reference into the vector outlives an instruction.
                    let functions = unsafe { &*self.isolate.functions() };
                    debug_assert!(usize::from(func) < functions.len(), "function {func}");
                    // SAFETY: the verifier rejects unknown functions, and functions are never removed.
                    let proto = Rc::as_ptr(unsafe { functions.get_unchecked(usize::from(func)) });
                    let argc = if argc == IN_LIST { self.unpack_arguments(first) } else { usize::from(argc) };
                    // Its arguments are checked where they are written.
                    check!(self.enter_script((proto, 0), NO_CLOSURE, first, argc, dst, false));
                    return None;
                }
                Op::CallBuiltin { argc, dst, base: at, builtin } => {
                    save!();
                    let first = self.absolute(at);
                    let row = entry!(builtins, builtin);
                    let argc = if argc == IN_LIST { self.unpack_arguments(first) } else { usize::from(argc) };
                    entered!(self.enter_builtin(row, first, argc, dst, false), dst);
                }
                Op::CallMethod { argc, dst, base: at, site } => {
                    save!();
                    entered!(self.call_method(code!(), at, argc, dst, site), dst);
                }
                Op::MethodInPlace { argc, base: at, site, place } => {
                    save!();
                    match self.method_in_place(code!(), at, argc, site, place) {
                        Ok(skip) => jump!(skip),
                        Err(raise) => raise!(raise),
                    }
                }
                Op::TailSelf { argc, base: at } => {
                    let from = self.absolute(at);
                    save!();
                    check!(self.restart(from, usize::from(argc)));
                    self.ticks -= 8;
                    if self.ticks < 0 {
                        check!(self.slow_tick());
                        return Some(Exit::Yield);
                    }
                    return None;
                }
                Op::Return { src } => {
                    let value = take!(src);
                    return self.leave(value);
                }
                Op::ReturnNil => return self.leave(Value::Nil),

                Op::Generator { flavor } => {
                    save!();
                    let (value, dst) = self.generator(flavor);
                    return self.answer(value, dst);
                }
                Op::Yield { src } => {
                    let value = take!(src);
                    save!();
                    let dst = self.suspend();
                    // Who asks for the next one may be a builtin, which is a loop.
                    self.ticks -= 8;
                    return if self.ticks < 0 { self.pause(value, dst) } else { self.answer(value, dst) };
                }
                Op::Finish { src } => {
                    let value = take!(src);
                    let Some(frame) = self.frames.pop() else { return Some(Exit::Done(value)) };
                    self.clear(frame.base, usize::from(code!().regs));
                    self.finish_iter(frame.base, value);
                    return self.answer(Value::Unbound, frame.dst);
                }
                Op::Drain { reg } => {
                    if matches!(get!(reg), Value::Iter(_)) {
                        save!();
                        let source = self.absolute(reg);
                        entered!(self.drain(source, reg), reg);
                    }
                }

                Op::List { dst, base: at, len } => {
                    let items = (at..at + len).map(|r| take!(r)).collect();
                    set!(dst, Value::list(items));
                }
                Op::ListPush { list, value } => {
                    let value = get!(value).clone();
                    if let Value::List(l) = change!(list) {
                        Rc::make_mut(l).items.push(value);
                    }
                    check!(self.weigh());
                }
                Op::ListExtend { list, value } => {
                    let held = if let Value::List(l) = get!(list) { l.items.len() } else { 0 };
                    let more = match get!(value) {
                        Value::Range(r) => r.len(),
                        Value::List(l) => l.items.len(),
                        _ => 0,
                    };
                    let limit = self.isolate.limits().value_bytes;
                    if held.saturating_add(more).saturating_mul(16) > limit {
                        raise!(operate::too_large(limit));
                    }
                    check!(self.afford_bytes(more.saturating_mul(16)));
                    match (change!(list), get!(value)) {
                        (Value::List(l), Value::List(more)) => {
                            charge_copy(more.items.len());
                            Rc::make_mut(l).items.extend_from_slice(&more.items);
                        }
                        (Value::List(l), value) => {
                            let items = check!(super::elements(value));
                            let items = check!(items.ok_or_else(|| not_spreadable(value)));
                            Rc::make_mut(l).items.extend(items);
                        }
                        _ => {}
                    }
                    check!(self.weigh());
                }
                Op::DictOf { dst, base: at, shape } => {
                    let keys = entry!(shapes, shape);
                    let mut dict = Dict::with_capacity(keys.len());
                    for (i, key) in (at..).zip(keys.iter()) {
                        dict.insert(key.clone(), take!(i));
                    }
                    set!(dst, Value::dict(dict));
                }
                Op::DictSet { dict, key, value } => {
                    let Value::Str(k) = get!(key) else {
                        raise!(Raise::error(
                            RunCode::Type,
                            format!("the keys of a dict must be strings, not {}", inspect(get!(key)))
                        ))
                    };
                    let (k, v) = (k.clone(), get!(value).clone());
                    if let Value::Dict(d) = change!(dict) {
                        Rc::make_mut(d).dict.insert(k, v);
                    }
                }
                Op::DictMerge { dict, value } => {
                    let from = match get!(value) {
                        Value::Host(h) => h.object().to_value().unwrap_or_default(),
                        Value::Struct(s) => Value::dict(s.to_dict()),
                        other => other.clone(),
                    };
                    match (change!(dict), &from) {
                        (Value::Dict(into), Value::Dict(from)) => {
                            charge_copy(from.dict.len());
                            let into = Rc::make_mut(into);
                            for (k, v) in from.dict.iter() {
                                into.dict.insert(k.clone(), v.clone());
                            }
                            check!(self.weigh());
                        }
                        (_, Value::Nil) => {}
                        (_, other) => raise!(Raise::error(
                            RunCode::Type,
                            format!(
                                "expected a dict to spread into a dict, found {}",
                                super::call::with_article(other)
                            )
                        )),
                    }
                }
                Op::Pair { dst, a, b } => {
                    let value = Value::pair(get!(a).clone(), get!(b).clone());
                    set!(dst, value);
                }
                Op::Range { dst, a, b } => {
                    let value = check!(make_range(get!(a), get!(b), false));
                    set!(dst, value);
                }
                Op::RangeExclusive { dst, a, b } => {
                    let value = check!(make_range(get!(a), get!(b), true));
                    set!(dst, value);
                }
                Op::Concat { dst, base: at, len } => {
                    let mut text = Str::with_capacity(usize::from(len) * 16);
                    let limit = self.isolate.limits().value_bytes;
                    for r in at..at + len {
                        if let Value::Str(s) = get!(r)
                            && s.len() + text.len() > limit
                        {
                            raise!(operate::too_large(limit));
                        }
                        match get!(r) {
                            Value::Str(s) => {
                                check!(self.afford_bytes(s.len()));
                                text.push_str(s);
                            }
                            Value::Int(i) => text.push_str(itoa::Buffer::new().format(*i)),
                            other => {
                                let shown = display(other);
                                if shown.len() + text.len() > limit {
                                    raise!(operate::too_large(limit));
                                }
                                text.push_str(&shown);
                            }
                        }
                        set!(r, Value::Nil);
                    }
                    self.isolate.charge(text.len() / 16);
                    set!(dst, Value::Str(text));
                    check!(self.weigh());
                }
                Op::StructOf { dst, base: at, def } => {
                    let def = entry!(structs, def).clone();
                    let values = window!(at, def.fields.len());
                    set!(dst, Value::Struct(Record::take(def, 0, values)));
                }
                Op::StructFrom { dst, base: at, site } => {
                    let site = entry!(rebuilds, site);
                    let values = window!(at, site.given.len() + 1);
                    let value = check!(record::rebuild(site, values));
                    set!(dst, value);
                }
                Op::JumpIfSlot { object, index, by } => {
                    if let Value::Struct(s) = get!(object)
                        && !matches!(s.values().get(usize::from(index)), Some(Value::Unbound))
                    {
                        short_jump!(by);
                    }
                }
                Op::SetSlot { object, src, index } => {
                    let value = take!(src);
                    if let Value::Struct(s) = change!(object)
                        && let Some(slot) = s.values_mut().get_mut(usize::from(index))
                    {
                        *slot = value;
                    }
                }
                Op::VariantOf { dst, base: at, site } => {
                    let (def, tag) = entry!(variants, site);
                    let arity = def.variants.get(*tag as usize).map_or(0, |v| v.arity);
                    let values = window!(at, arity);
                    let value = Value::Variant(Record::take(def.clone(), *tag, values));
                    set!(dst, value);
                }
                Op::Function { dst, func } => {
                    let value = self.isolate.function_value(func);
                    set!(dst, value);
                }

                Op::GetField { dst, object, field } => {
                    let site = entry!(fields, field);
                    if let Value::Dict(d) = get!(object)
                        && let Some(at) = d.dict.position_near(&site.name, site.hint.get() as usize)
                        && let Some(value) = d.dict.at(at)
                    {
                        site.found(ptr::null(), at);
                        let value = value.clone();
                        set!(dst, value);
                    } else if let Value::Struct(s) = get!(object)
                        && let Some(at) = access::slot(s, site)
                        && let Some(value) = s.values().get(at)
                    {
                        let value = value.clone();
                        set!(dst, value);
                    } else {
                        save!();
                        let Self { isolate, context, .. } = self;
                        let value = check!(access::field(&mut Cx { isolate, context }, get!(object), &site.name));
                        set!(dst, value);
                    }
                }
                Op::SetField { object, src, field } => {
                    let site = entry!(fields, field);
                    let slot = match change!(object) {
                        Value::Struct(s) => access::slot(s, site).and_then(|at| s.values_mut().get_mut(at)),
                        Value::Dict(d) => {
                            let d = &mut Rc::make_mut(d).dict;
                            d.position_near(&site.name, site.hint.get() as usize).and_then(|at| {
                                site.found(ptr::null(), at);
                                d.at_mut(at)
                            })
                        }
                        _ => None,
                    };
                    if let Some(slot) = slot {
                        let old = std::mem::replace(slot, take!(src));
                        drop(old);
                    } else {
                        save!();
                        check!(self.set_field(code!(), object, src, field));
                    }
                }
                Op::GetIndex { dst, object, index } => match (get!(object), get!(index)) {
                    (Value::List(l), Value::Int(i)) if (*i as u64) < l.items.len() as u64 => {
                        #[allow(clippy::cast_possible_truncation)]
                        // SAFETY: the index is less than the length.
                        let value = unsafe { l.items.get_unchecked(*i as usize) }.clone();
                        set!(dst, value);
                    }
                    (object, index) => {
                        match check!(access::index(object, index)) {
                            Some(value) => set!(dst, value),
                            None => raise!(access::out_of_range(object, index)),
                        }
                        check!(self.weigh());
                    }
                },
                Op::GetIndexOr { dst, object, index } => {
                    let value = check!(access::index(get!(object), get!(index))).unwrap_or_default();
                    set!(dst, value);
                    check!(self.weigh());
                }
                Op::Slice { dst, object, bounds } => {
                    let value = check!(access::slice(get!(object), get!(bounds), get!(bounds + 1)));
                    set!(dst, value);
                    check!(self.weigh());
                }
                // The long way follows.
                Op::ItemField { .. } => {}
                Op::SetIndex { object, index, src } => {
                    save!();
                    let value = take!(src);
                    check!(self.set_index(object, index, value));
                    check!(self.weigh());
                }
                Op::SetIndexConst { object, index, k } => {
                    save!();
                    let value = entry!(constants, k).clone();
                    check!(self.set_index(object, index, value));
                    check!(self.weigh());
                }
                Op::AssignPath { src, path } => {
                    let value = take!(src);
                    save!();
                    check!(self.assign_path(code!(), path, value));
                    check!(self.weigh());
                }
                Op::UpdatePath { src, path } => {
                    let value = get!(src).clone();
                    save!();
                    check!(self.assign_path(code!(), path, value));
                    check!(self.weigh());
                }

                Op::ForPrep { base: at } => {
                    let value = take!(at);
                    let (value, position) = match value {
                        // A range is walked as two ints: where it ends, and where it is.
                        Value::Range(r) if r.exclusive || r.to < i64::MAX => {
                            (Value::Int(r.to + i64::from(!r.exclusive)), r.from)
                        }
                        other => (check!(access::prepare(other)), 0),
                    };
                    set!(at, value);
                    set!(at + 1, Value::Int(position));
                    check!(self.weigh());
                }
                Op::ForNext { base: at, dst, by } => {
                    let Value::Int(position) = *get!(at + 1) else {
                        // Without a `ForPrep` before it there is nothing to walk.
                        short_jump!(by);
                        save!();
                        return None;
                    };
                    match get!(at) {
                        Value::Int(end) => {
                            if position < *end {
                                set!(dst, Value::Int(position));
                                set!(at + 1, Value::Int(position + 1));
                            } else {
                                short_jump!(by);
                            }
                        }
                        Value::List(l) => match l.items.get(usize::try_from(position).unwrap_or(usize::MAX)) {
                            Some(item) => {
                                let item = item.clone();
                                set!(dst, item);
                                set!(at + 1, Value::Int(position + 1));
                            }
                            None => short_jump!(by),
                        },
                        Value::Range(r) => match r.at(usize::try_from(position).unwrap_or(usize::MAX)) {
                            Some(item) => {
                                set!(dst, Value::Int(item));
                                set!(at + 1, Value::Int(position + 1));
                            }
                            None => short_jump!(by),
                        },
                        Value::Iter(_) => {
                            save!();
                            let source = self.absolute(at);
                            match self.next_item(source, dst) {
                                Ok(Entered::Value(Value::Unbound)) => short_jump!(by),
                                entered => entered!(entered, dst),
                            }
                        }
                        other => {
                            let other = other.clone();
                            save!();
                            let (item, next) = check!(access::item(&other, position));
                            set!(at + 1, Value::Int(next));
                            match item {
                                access::IterItem::Some(value) => set!(dst, value),
                                access::IterItem::End => short_jump!(by),
                                access::IterItem::Wait(wait) => {
                                    self.pending = Pending::Item;
                                    return Some(Exit::Wait(wait));
                                }
                            }
                        }
                    }
                }

                Op::Throw { src } => raise!(self.thrown(get!(src).clone())),
                Op::ThrowAgain { src, held } => raise!(self.thrown_again(get!(src).clone(), get!(held))),
                Op::Rethrow { src } => {
                    if let Some(mut raise) = unwind::held(get!(src)) {
                        raise.told = Some(self.frames.len());
                        raise!(raise);
                    }
                }
                Op::RethrowInterruption { src } => {
                    if let Some(mut raise) = unwind::held_interruption(get!(src)) {
                        raise.told = Some(self.frames.len());
                        raise!(raise);
                    }
                }
                Op::Ok { dst, src } => {
                    let value = Value::ok(get!(src).clone());
                    set!(dst, value);
                }
                Op::Err { dst, src } => {
                    let value = Value::err(get!(src).clone());
                    set!(dst, value);
                }
                Op::Unwrap { dst, src, by } => match get!(src).as_result() {
                    Some(Ok(value)) => {
                        let value = value.clone();
                        set!(dst, value);
                        short_jump!(by);
                    }
                    Some(Err(_)) => {}
                    None => match self.isolate.host().outcome(get!(src)) {
                        Some(Ok(())) => {
                            let value = get!(src).clone();
                            set!(dst, value);
                            short_jump!(by);
                        }
                        Some(Err(raise)) => raise!(raise),
                        None => raise!(not_a_result("?", get!(src))),
                    },
                },
                Op::TryStar { dst, src } => match get!(src).as_result() {
                    Some(Ok(value)) => {
                        let value = value.clone();
                        set!(dst, value);
                    }
                    Some(Err(error)) => raise!(self.thrown(error.clone())),
                    None => {
                        if let Some(Err(raise)) = self.isolate.host().outcome(get!(src)) {
                            raise!(raise);
                        }
                        let value = get!(src).clone();
                        set!(dst, value);
                    }
                },

                Op::UnlessVariant { a, test, by } => {
                    let fits = match (entry!(tests, test), get!(a)) {
                        (Test::Variant(def, tag), Value::Variant(v)) => v.tag() == *tag && Rc::ptr_eq(def, v.def()),
                        _ => false,
                    };
                    if !fits {
                        short_jump!(by);
                    }
                }
                Op::IsList { dst, src, test } | Op::HasKeys { dst, src, test } => {
                    let fits = pattern::fits(&code!().tests[usize::from(test)], get!(src));
                    set!(dst, Value::Bool(fits));
                }
                Op::IsPair { dst, src } => {
                    let fits = matches!(get!(src), Value::Pair(_));
                    set!(dst, Value::Bool(fits));
                }
                Op::IsType { dst, src, ty } => {
                    let fits = type_test::has_type(&code!().types, usize::from(ty), get!(src));
                    set!(dst, Value::Bool(fits));
                }
                Op::Expect { src, at, .. } => {
                    let site = entry!(borders, at);
                    if let Err(raise) = site.check(get!(src)) {
                        save!();
                        let raise = self.refuse(site, raise);
                        return self.unwind(raise).err().map(Exit::Raised);
                    }
                }
                Op::Item { dst, src, index } => {
                    let value = check!(pattern::item(get!(src), usize::from(index)));
                    set!(dst, value);
                }
                Op::ItemsFrom { dst, src, index } => {
                    let value = check!(pattern::items_from(get!(src), usize::from(index)));
                    set!(dst, value);
                    check!(self.weigh());
                }
                Op::Key { dst, src, field } => {
                    let value = check!(pattern::key(get!(src), &code!().fields[usize::from(field)]));
                    set!(dst, value);
                }
                Op::KeysBut { dst, src, shape } => {
                    let value = check!(pattern::keys_but(get!(src), &code!().shapes[usize::from(shape)]));
                    set!(dst, value);
                    check!(self.weigh());
                }
                Op::Value { dst, src, index } => {
                    let value = match get!(src) {
                        Value::Variant(v) => v.values().get(usize::from(index)).cloned().unwrap_or_default(),
                        _ => Value::Nil,
                    };
                    set!(dst, value);
                }
                Op::Part { dst, src, index } => {
                    let value = check!(pattern::part(get!(src), usize::from(index)));
                    set!(dst, value);
                }
                Op::Fail { src, kind } => raise!(failure(&code!().failures[usize::from(kind)], get!(src))),
            }
            save!();
            None
        }
    }

    /// Value that was called; null if the function was called by its number.
    fn closure(&self) -> *const Closure {
        self.frames.last().map_or(NO_CLOSURE, Frame::closure)
    }

    pub(super) fn absolute(&self, reg: Reg) -> usize {
        self.frames.last().map_or(0, |f| f.base) + usize::from(reg)
    }
}

fn open_cell(cell: &Value) -> Value {
    if let Value::Cell(cell) = cell { cell.borrow().clone() } else { cell.clone() }
}

fn fill_cell(cell: &Value, value: Value) {
    if let Value::Cell(cell) = cell {
        let old = cell.replace(value);
        drop(old);
    }
}

#[cold]
fn unbound(code: &Proto, pc: *const Op) -> Box<Raise> {
    let pcs = code.code.as_ptr_range();
    debug_assert!(pcs.contains(&pc) || pc == pcs.end, "a frame outside of its code");
    // SAFETY: `pc` is behind an instruction of this code, so both point into one vector or to its end.
    let at = usize::try_from(unsafe { pc.offset_from(code.code.as_ptr()) }).unwrap_or(1) - 1;
    let name = code.source.as_ref().zip(code.spans.get(at)).map_or("", |(source, span)| source.slice(*span));
    Raise::error(RunCode::Unbound, format!("`{name}` is read before it is bound"))
        .labelled("not bound yet")
        .help("call the function only after the binding")
}

#[cold]
fn not_spreadable(value: &Value) -> Box<Raise> {
    Raise::error(
        RunCode::Type,
        format!("expected a list, set or range to spread, found {}", super::call::with_article(value)),
    )
    .help_by_some(advice::argument(value.into(), "list"))
}

#[cold]
fn not_a_result(what: &str, value: &Value) -> Box<Raise> {
    Raise::error(RunCode::Type, format!("`{what}` requires a Result, found {}", super::call::with_article(value)))
        .help(advice::RESULTS)
}

fn make_range(a: &Value, b: &Value, exclusive: bool) -> Result<Value, Box<Raise>> {
    match (a, b) {
        (Value::Int(from), Value::Int(to)) => Ok(Value::Range(Rc::new(Range { from: *from, to: *to, exclusive }))),
        _ => Err(Raise::error(
            RunCode::Type,
            format!(
                "the bounds of a range must be ints, found {} and {}",
                super::call::with_article(a),
                super::call::with_article(b)
            ),
        )),
    }
}

#[cold]
fn failure(kind: &Failure, value: &Value) -> Box<Raise> {
    match kind {
        Failure::NoArm => Raise::error(RunCode::NoArm, format!("no arm of this `match` matches {}", inspect(value)))
            .labelled("no arm matches")
            .help(advice::OTHER_ARM),
        Failure::Unfit => Raise::error(RunCode::Type, format!("pattern does not match {}", inspect(value)))
            .labelled("this pattern expects a different value")
            .help("use `match` to try several patterns"),
        Failure::Require => {
            let message = match value {
                Value::Str(s) if !s.as_str().trim().is_empty() => s.as_str().to_owned(),
                Value::Nil | Value::Str(_) => "requirement failed".to_owned(),
                other => brief(other),
            };
            Raise::error(RunCode::Require, message).labelled("this is false")
        }
    }
}
