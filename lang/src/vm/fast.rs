//! The loop: the common case of the common instructions. Every instruction in full is in `dispatch`.
//!
//! Here for speed, not for meaning: an instruction without its arm would only be slower. Which ones go straight to
//! `dispatch` is listed by name in the last arm, so that a new instruction is not forgotten.
//!
//! Every choice here was measured. Registers are reached by one raw pointer to the window. Every arm writes its result where
//! it belongs, never through a temporary `Value`. Every uncommon case falls out of the `match` to the one call of
//! [`Fiber::step`] at its end, which carries the instruction out in full: so the arms stay small, and all that the loop
//! needs stays in processor registers. An arm either finishes its instruction and goes on, or has changed nothing.
#![allow(unsafe_code)]

use super::call::NO_CLOSURE;
use super::callback::Returned;
use super::fiber::{Exit, Fiber, Frame};
use super::op::{FAR, IN_LIST, Op};
use super::{ChangedPlace, Place, Test, record};
use crate::value::{Closure, Tag, Value};
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
use std::arch::asm;
use std::hint::cold_path;
use std::rc::Rc;

/// Cost of a call.
const CALL: i64 = 8;

impl Fiber {
    /// Runs the function on top until something makes it stop.
    #[allow(clippy::too_many_lines, clippy::cognitive_complexity)]
    pub(super) fn dispatch(&mut self) -> Exit {
        let mut frame: *mut Frame;
        let mut pc: *const Op;
        let mut base: *mut Value;

        macro_rules! load {
            () => {{
                let Some(top) = self.frames.last_mut() else { return Exit::Done(Value::Nil) };
                frame = top;
                pc = top.pc;
                debug_assert!(top.base <= self.stack.len(), "a window outside of the stack");
                #[allow(unused_unsafe)] // some uses stand in an unsafe block already
                // SAFETY: a window always lies within the stack.
                let window = unsafe { self.stack.as_mut_ptr().add(top.base) };
                base = window;
            }};
        }
        // SAFETY of all uses: the running function is kept by the isolate or by its closure.
        macro_rules! code {
            () => {{
                debug_assert!(!(*frame).proto.is_null(), "a frame without code");
                (&*(*frame).proto)
            }};
        }
        // SAFETY of all uses: the verifier lets no register pass beyond `regs`, and every call made room for `regs`.
        macro_rules! reg {
            ($r:expr) => {{
                let register = usize::from($r);
                debug_assert!(register < usize::from(code!().regs), "register {register}");
                base.add(register)
            }};
        }
        macro_rules! get {
            ($r:expr) => {
                &*reg!($r)
            };
        }
        // An entry of a table of the running function, by a pointer.
        // SAFETY of all uses: the verifier lets no index pass that names no entry, and tables do not change.
        macro_rules! entry {
            ($table:ident, $at:expr) => {{
                let at = $at as usize;
                debug_assert!(at < code!().$table.len(), "{} {at}", stringify!($table));
                code!().$table.as_ptr().add(at)
            }};
        }
        // A capture, by a pointer.
        // SAFETY of all uses: the verifier lets captures pass only in functions that have some, which run as closures; a closure
        // is made with all its captures, and held by the caller's register or the fiber's root while its frame is there.
        macro_rules! capture {
            ($at:expr) => {{
                let at = usize::from($at);
                debug_assert!(
                    !(*frame).closure().is_null(),
                    "capture {at} of a function that runs without its closure"
                );
                let closure: &Closure = &*(*frame).closure();
                debug_assert!(at < closure.captures.len(), "capture {at}");
                closure.captures.as_ptr().add(at)
            }};
        }
        // A global, by a pointer.
        // SAFETY of all uses: the verifier rejects unknown globals, and globals are never removed. One thread, and
        // no reference into the vector outlives an instruction.
        macro_rules! global {
            ($slot:expr) => {{
                let (globals, slot) = (&*self.isolate.globals(), $slot as usize);
                debug_assert!(slot < globals.len(), "global {slot}");
                globals.as_ptr().add(slot)
            }};
        }
        // The code of a function that is called by its number.
        // SAFETY of all uses: the verifier, and whoever fills a cache, let no number pass that there is not. Functions are never
        // removed; one thread, and no reference into the vector outlives an instruction.
        macro_rules! function {
            ($number:expr) => {{
                let (functions, number) = (&*self.isolate.functions(), usize::from($number));
                debug_assert!(number < functions.len(), "function {number}");
                Rc::as_ptr(functions.get_unchecked(number))
            }};
        }
        // SAFETY of all uses: the verifier lets no jump leave the code.
        macro_rules! jump {
            ($next:lifetime, $by:expr) => {{
                pc = pc.offset($by as isize);
                debug_assert!(code!().code.as_ptr_range().contains(&pc), "a jump out of the code");
                break $next;
            }};
        }
        macro_rules! arithmetic {
            ($next:lifetime, $dst:expr, $a:expr, $b:expr, $checked:ident, $float:tt) => {
                match (get!($a), get!($b)) {
                    (Value::Int(x), Value::Int(y)) => {
                        if let Some(z) = x.$checked(*y) {
                            Value::put_int(reg!($dst), z);
                            break $next;
                        }
                    }
                    (Value::Float(x), Value::Float(y)) => {
                        let z = *x $float *y;
                        Value::put_float(reg!($dst), z);
                        break $next;
                    }
                    #[allow(clippy::cast_precision_loss, reason = "as the language defines it")]
                    (Value::Int(x), Value::Float(y)) => {
                        let z = *x as f64 $float *y;
                        Value::put_float(reg!($dst), z);
                        break $next;
                    }
                    #[allow(clippy::cast_precision_loss, reason = "as the language defines it")]
                    (Value::Float(x), Value::Int(y)) => {
                        let z = *x $float *y as f64;
                        Value::put_float(reg!($dst), z);
                        break $next;
                    }
                    _ => {}
                }
            };
        }
        macro_rules! immediate {
            ($next:lifetime, $dst:expr, $a:expr, $imm:expr, $checked:ident, $float:tt) => {
                match get!($a) {
                    Value::Int(x) => {
                        if let Some(z) = x.$checked(i64::from($imm)) {
                            Value::put_int(reg!($dst), z);
                            break $next;
                        }
                    }
                    Value::Float(x) => {
                        let z = *x $float f64::from($imm);
                        Value::put_float(reg!($dst), z);
                        break $next;
                    }
                    _ => {}
                }
            };
        }
        macro_rules! compare {
            ($next:lifetime, $dst:expr, $a:expr, $b:expr, $test:tt) => {
                match (get!($a), get!($b)) {
                    (Value::Int(x), Value::Int(y)) => {
                        let z = x $test y;
                        Value::put_bool(reg!($dst), z);
                        break $next;
                    }
                    (Value::Float(x), Value::Float(y)) => {
                        let z = x $test y;
                        Value::put_bool(reg!($dst), z);
                        break $next;
                    }
                    _ => {}
                }
            };
        }
        macro_rules! unless {
            ($next:lifetime, $holds:expr, $by:expr) => {{
                if $holds {
                    break $next;
                }
                if $by != FAR {
                    jump!($next, $by);
                }
            }};
        }
        macro_rules! unless_compare {
            ($next:lifetime, $a:expr, $b:expr, $by:expr, $test:tt) => {
                match (get!($a), get!($b)) {
                    (Value::Int(x), Value::Int(y)) => unless!($next, x $test y, $by),
                    (Value::Float(x), Value::Float(y)) => unless!($next, x $test y, $by),
                    _ => {}
                }
            };
        }
        macro_rules! unless_int {
            ($next:lifetime, $a:expr, $imm:expr, $by:expr, $test:tt) => {
                match get!($a) {
                    Value::Int(x) => unless!($next, *x $test i64::from($imm), $by),
                    // Sixteen bits are exact as a float.
                    Value::Float(x) => unless!($next, *x $test f64::from($imm), $by),
                    _ => {}
                }
            };
        }
        macro_rules! unless_item {
            ($next:lifetime, $object:expr, $index:expr, $by:expr, $holds:expr) => {
                match (get!($object), get!($index)) {
                    (Value::List(l), Value::Int(i)) if (*i as u64) < l.items.len() as u64 => {
                        // SAFETY: the index is less than the length.
                        #[allow(clippy::cast_possible_truncation)]
                        let item = &*l.items.as_ptr().add(*i as usize);
                        unless!($next, $holds(item), $by);
                    }
                    (Value::Dict(d), Value::Str(key)) => {
                        unless!($next, d.dict.get(key).map_or($holds(&Value::Nil), $holds), $by);
                    }
                    _ => {}
                }
            };
        }
        // The end of a loop is marked as cold: else the compiler computes `pc` from the comparison without a jump, and all that
        // follows would wait for the comparison.
        // SAFETY of all uses: `pc` stays in the code, since the verifier lets only such targets pass, and no last instruction is one.
        macro_rules! loop_compare {
            ($next:lifetime, $by:expr, $target:ident, $test:tt) => {{
                let left = self.ticks + i64::from($by);
                if left >= 0 {
                    self.ticks = left;
                    pc = pc.offset($by as isize);
                    debug_assert!(code!().code.as_ptr_range().contains(&pc), "a jump out of the code");
                    if let Op::$target { a, b, .. } = *pc
                        && let (Value::Int(x), Value::Int(y)) = (get!(a), get!(b))
                        && x $test y
                    {
                        pc = pc.add(1);
                        break $next;
                    }
                    cold_path();
                    break $next;
                }
            }};
        }
        // SAFETY of all uses: an int is at the position, which needs no drop.
        macro_rules! next_int {
            ($next:lifetime, $at:expr, $dst:expr, $position:expr) => {{
                reg!($at + 1).write(Value::Int($position + 1));
                Value::put_int(reg!($dst), $position);
                break $next;
            }};
        }
        // SAFETY of all uses: as above, and the position is less than the length.
        macro_rules! next_element {
            ($next:lifetime, $at:expr, $dst:expr, $position:expr, $list:expr) => {{
                debug_assert!(($position as u64) < $list.items.len() as u64, "element {}", $position);
                reg!($at + 1).write(Value::Int($position + 1));
                #[allow(clippy::cast_possible_truncation)]
                Value::copy(reg!($dst), $list.items.as_ptr().add($position as usize));
                break $next;
            }};
        }
        // A new frame for `proto`, which begins at `entry`, when nothing stands in its way.
        // SAFETY of all uses: the code is kept as for `code!`. The window fits into the stack and the frame below `room`, which
        // is at most what the vector has room for; the frame is written before the vector counts it.
        macro_rules! enter {
            ($next:lifetime, $proto:expr, $entry:expr, $closure:expr, $at:expr, $argc:expr, $dst:expr) => {{
                let (proto, closure) = ($proto, $closure);
                let callee = &*proto;
                let first = (*frame).base + usize::from($at);
                let depth = self.frames.len();
                let left = self.ticks - CALL;
                debug_assert!(callee.verified.get(), "code of `{}` was not verified", callee.title());
                if u16::from($argc) == callee.exact
                    && first + usize::from(callee.regs) < self.stack.len()
                    && depth < self.room
                    && left >= 0
                {
                    self.ticks = left;
                    (*frame).pc = pc;
                    pc = callee.code.as_ptr().add($entry(callee) as usize);
                    debug_assert!(depth < self.frames.capacity(), "no room for the frame of a call");
                    frame = frame.add(1);
                    frame.write(Frame::script(proto, closure, first, $dst, true));
                    self.frames.set_len(depth + 1);
                    base = base.add(usize::from($at));
                    break $next;
                }
            }};
        }

        // Ends the call of a plain frame: `$put` puts its result into `$place`, the caller's register.
        macro_rules! leave {
            ($next:lifetime, $place:ident, $put:expr) => {{
                // SAFETY: only a script's frame enters a plain one, right above itself. Its window lies in the stack, and its
                // register for the result was verified as part of the call.
                let caller = frame.sub(1);
                debug_assert!((*frame).dst < (*(*caller).proto).regs, "register {} of the caller", (*frame).dst);
                // The caller's register may be in the window.
                Value::empty_all(base, usize::from(code!().regs));
                debug_assert!((*caller).base < self.stack.len(), "a window outside of the stack");
                base = self.stack.as_mut_ptr().add((*caller).base);
                let $place = base.add(usize::from((*frame).dst));
                $put;
                self.frames.set_len(self.frames.len() - 1);
                frame = caller;
                pc = (*frame).pc;
                break $next;
            }};
        }
        macro_rules! callback_returned {
            ($next:lifetime, $result:expr) => {
                match self.callback_returned($result) {
                    Returned::Rare => {}
                    Returned::On => {
                        load!();
                        break $next;
                    }
                    Returned::Left(step) => {
                        if let Some(exit) = self.callback_left(step) {
                            return exit;
                        }
                        load!();
                        break $next;
                    }
                }
            };
        }

        // Calls a builtin that answers at once, when nothing stands in its way.
        macro_rules! quick {
            ($next:lifetime, $row:expr, $at:expr, $argc:expr, $dst:expr) => {
                let first = (*frame).base + usize::from($at);
                settle!($next, self.quick($row, first, $argc, (*frame).base + usize::from($dst)));
            };
        }
        // Goes on if it was done, and falls out if it was not.
        macro_rules! settle {
            ($next:lifetime, $done:expr) => {
                match $done {
                    Ok(true) => break $next,
                    Ok(false) => {}
                    Err(raise) => {
                        (*frame).pc = pc;
                        match self.unwind(raise) {
                            Ok(()) => {
                                load!();
                                break $next;
                            }
                            Err(raise) => return Exit::Raised(raise),
                        }
                    }
                }
            };
        }

        // An arm that is done breaks to one of these points, and each point goes on with the next instruction. The compiler copies
        // the jump to the next instruction to the end of an arm only if the jump has at most 16 sources. All arms together have far
        // more, and would share one jump, whose targets the processor predicts worse. So the jump has 13 points as its sources (and
        // three others), and each point has at most 16. A new arm belongs to a point with few.
        macro_rules! with_points {
            ($loop:lifetime: $point:lifetime $($more:lifetime)* { $($body:tt)* }) => {
                $point: {
                    with_points!($loop: $($more)* { $($body)* });
                    continue $loop;
                }
                distinct!($point);
            };
            ($loop:lifetime: { $($body:tt)* }) => {
                $($body)*
            };
        }
        // Comments in the assembly text, which differ so that the points stay apart. Three of them, because a shorter point is
        // copied before the jump is.
        macro_rules! distinct {
            ($point:lifetime) => {
                #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
                // SAFETY: the assembly is empty.
                unsafe {
                    asm!(concat!("/* 1 ", stringify!($point), " */"), options(nomem, nostack, preserves_flags));
                    asm!(concat!("/* 2 ", stringify!($point), " */"), options(nomem, nostack, preserves_flags));
                    asm!(concat!("/* 3 ", stringify!($point), " */"), options(nomem, nostack, preserves_flags));
                }
            };
        }

        load!();
        'run: loop {
            with_points! { 'run: 'copy 'sum 'product 'truth 'jump 'turn 'item 'order 'equality 'int_order 'int_equality 'call 'read 'write {
                // SAFETY: the verifier rejects functions that run past their end and jumps that leave them, so `pc` stands at an
                // instruction. `frame` is the frame on top and `base` its window: both are read again (`load!`) after whatever may
                // move the vectors. All of the stack is initialised. What registers, tables, captures, globals, functions, jumps and
                // frames rest on stands at their macros; what an arm needs besides stands there.
                unsafe {
                    debug_assert!(code!().code.as_ptr_range().contains(&pc), "an instruction outside of the code");
                    let op = pc;
                    pc = pc.add(1);
                    match *op {
                        Op::Move { dst, src } => {
                            Value::copy(reg!(dst), reg!(src));
                            break 'copy;
                        }
                        Op::Take { dst, src } => {
                            Value::take(reg!(dst), reg!(src));
                            break 'copy;
                        }
                        Op::Clear { from, count } => {
                            for r in from..from + count {
                                Value::empty(reg!(r));
                            }
                            break 'copy;
                        }
                        Op::Const { dst, k } => {
                            Value::copy(reg!(dst), entry!(constants, k));
                            break 'copy;
                        }
                        Op::Int { dst, value } => {
                            Value::put_int(reg!(dst), i64::from(value));
                            break 'copy;
                        }
                        Op::Nil { dst } => {
                            Value::put_nil(reg!(dst));
                            break 'copy;
                        }
                        Op::Bool { dst, value } => {
                            Value::put_bool(reg!(dst), value);
                            break 'copy;
                        }
                        Op::GetGlobal { dst, slot } => {
                            let value = global!(slot);
                            if !matches!(*value, Value::Unbound) {
                                Value::copy(reg!(dst), value);
                                break 'copy;
                            }
                        }
                        Op::GetCapture { dst, index } => {
                            Value::copy(reg!(dst), capture!(index));
                            break 'copy;
                        }
                        Op::Add { dst, a, b } => {
                            arithmetic!('sum, dst, a, b, checked_add, +);
                            // The operands are read again there: kept until here, they would take registers of the common case.
                            settle!('write, self.append_in_place(base, *op));
                        }
                        Op::Sub { dst, a, b } => arithmetic!('sum, dst, a, b, checked_sub, -),
                        Op::Mul { dst, a, b } => arithmetic!('product, dst, a, b, checked_mul, *),
                        Op::Div { dst, a, b } => arithmetic!('product, dst, a, b, checked_div, /),
                        Op::Rem { dst, a, b } => {
                            if let (Value::Int(x), Value::Int(y)) = (get!(a), get!(b))
                                && *y != 0
                            {
                                let z = x.wrapping_rem(*y);
                                Value::put_int(reg!(dst), z);
                                break 'product;
                            }
                        }
                        Op::AddInt { dst, a, imm } => immediate!('sum, dst, a, imm, checked_add, +),
                        Op::SubInt { dst, a, imm } => immediate!('sum, dst, a, imm, checked_sub, -),
                        Op::MulInt { dst, a, imm } => immediate!('product, dst, a, imm, checked_mul, *),
                        Op::DivInt { dst, a, imm } => match get!(a) {
                            Value::Int(x) => {
                                if imm != 0
                                    && let Some(z) = x.checked_div(i64::from(imm))
                                {
                                    Value::put_int(reg!(dst), z);
                                    break 'product;
                                }
                            }
                            Value::Float(x) => {
                                let z = *x / f64::from(imm);
                                Value::put_float(reg!(dst), z);
                                break 'product;
                            }
                            _ => {}
                        },
                        Op::RemInt { dst, a, imm } => {
                            if let Value::Int(x) = get!(a)
                                && imm != 0
                            {
                                let z = x.wrapping_rem(i64::from(imm));
                                Value::put_int(reg!(dst), z);
                                break 'product;
                            }
                        }
                        Op::Neg { dst, a } => match get!(a) {
                            Value::Int(x) => {
                                if let Some(z) = x.checked_neg() {
                                    Value::put_int(reg!(dst), z);
                                    break 'sum;
                                }
                            }
                            Value::Float(x) => {
                                let z = -*x;
                                Value::put_float(reg!(dst), z);
                                break 'sum;
                            }
                            _ => {}
                        },
                        Op::Not { dst, a } => {
                            let value = !(get!(a)).truthy();
                            Value::put_bool(reg!(dst), value);
                            break 'write;
                        }
                        Op::Truth { dst, a } => {
                            let value = (get!(a)).truthy();
                            Value::put_bool(reg!(dst), value);
                            break 'write;
                        }
                        Op::Eq { dst, a, b } => compare!('truth, dst, a, b, ==),
                        Op::Ne { dst, a, b } => compare!('truth, dst, a, b, !=),
                        Op::Lt { dst, a, b } => compare!('truth, dst, a, b, <),
                        Op::Le { dst, a, b } => compare!('truth, dst, a, b, <=),
                        Op::Gt { dst, a, b } => compare!('truth, dst, a, b, >),
                        Op::Ge { dst, a, b } => compare!('truth, dst, a, b, >=),

                        Op::Jump { by } => jump!('item, by),
                        Op::Loop { by } => {
                            let left = self.ticks + i64::from(by);
                            if left >= 0 {
                                self.ticks = left;
                                jump!('item, by);
                            }
                        }
                        // The instruction at the target goes first here, in its common case.
                        Op::LoopFor { by } => {
                            let left = self.ticks + i64::from(by);
                            if left >= 0 {
                                self.ticks = left;
                                pc = pc.offset(by as isize);
                                debug_assert!(code!().code.as_ptr_range().contains(&pc), "a jump out of the code");
                                if let Op::ForNext { base: at, dst, .. } = *pc
                                    && let Value::Int(position) = *get!(at + 1)
                                {
                                    match get!(at) {
                                        Value::Int(end) if position < *end => {
                                            pc = pc.add(1);
                                            next_int!('turn, at, dst, position);
                                        }
                                        Value::List(l) if (position as u64) < l.items.len() as u64 => {
                                            pc = pc.add(1);
                                            next_element!('turn, at, dst, position, l);
                                        }
                                        _ => {}
                                    }
                                }
                                break 'turn;
                            }
                        }
                        Op::LoopLt { by } => loop_compare!('turn, by, UnlessLt, <),
                        Op::LoopLe { by } => loop_compare!('turn, by, UnlessLe, <=),
                        Op::LoopLtInt { by } => {
                            let left = self.ticks + i64::from(by);
                            if left >= 0 {
                                self.ticks = left;
                                pc = pc.offset(by as isize);
                                debug_assert!(code!().code.as_ptr_range().contains(&pc), "a jump out of the code");
                                if let Op::UnlessLtInt { a, imm, .. } = *pc
                                    && let Value::Int(x) = *get!(a)
                                    && x < i64::from(imm)
                                {
                                    pc = pc.add(1);
                                    break 'jump;
                                }
                                cold_path();
                                break 'jump;
                            }
                        }
                        Op::JumpIf { a, by } => {
                            if (get!(a)).truthy() {
                                jump!('write, by);
                            }
                            break 'write;
                        }
                        Op::JumpUnless { a, by } => {
                            if (get!(a)).truthy() {
                                break 'jump;
                            }
                            jump!('jump, by);
                        }
                        Op::JumpIfItem { object, index, by } => {
                            unless_item!('jump, object, index, by, |item: &Value| !item.truthy());
                        }
                        Op::JumpUnlessItem { object, index, by } => {
                            unless_item!('jump, object, index, by, Value::truthy);
                        }
                        Op::JumpIfNil { a, by } => {
                            if (get!(a)).is_nil() {
                                jump!('item, by);
                            }
                            break 'item;
                        }
                        Op::JumpIfNotNil { a, by } => {
                            if (get!(a)).is_nil() {
                                break 'item;
                            }
                            jump!('item, by);
                        }
                        Op::UnlessLt { a, b, by } => unless_compare!('order, a, b, by, <),
                        Op::UnlessLe { a, b, by } => unless_compare!('order, a, b, by, <=),
                        Op::UnlessGt { a, b, by } => unless_compare!('order, a, b, by, >),
                        Op::UnlessGe { a, b, by } => unless_compare!('equality, a, b, by, >=),
                        Op::UnlessEq { a, b, by } => unless_compare!('equality, a, b, by, ==),
                        Op::UnlessNe { a, b, by } => unless_compare!('equality, a, b, by, !=),
                        Op::UnlessLtInt { a, imm, by } => unless_int!('int_order, a, imm, by, <),
                        Op::UnlessLeInt { a, imm, by } => unless_int!('int_order, a, imm, by, <=),
                        Op::UnlessGtInt { a, imm, by } => unless_int!('int_order, a, imm, by, >),
                        Op::UnlessGeInt { a, imm, by } => unless_int!('int_equality, a, imm, by, >=),
                        Op::UnlessEqInt { a, imm, by } => unless_int!('int_equality, a, imm, by, ==),
                        Op::UnlessNeInt { a, imm, by } => unless_int!('int_equality, a, imm, by, !=),

                        Op::Call { argc, dst, base: at } => {
                            if let Value::Closure(callee) = get!(at) {
                                enter!('call, Rc::as_ptr(&callee.proto), |code: &super::Proto| code.entry, Rc::as_ptr(callee), at + 1, argc, dst);
                            }
                        }
                        Op::CallFn { argc, dst, base: at, func } => {
                            enter!('call, function!(func), |_: &super::Proto| 0_u32, NO_CLOSURE, at, argc, dst);
                        }
                        Op::CallBuiltin { argc, dst, base: at, builtin } => {
                            let row = *entry!(builtins, builtin);
                            if argc != IN_LIST {
                                quick!('call, row, at, usize::from(argc), dst);
                            }
                        }
                        Op::CallMethod { argc, dst, base: at, site } => {
                            let site = &*entry!(methods, site);
                            if let Some((tag, row)) = site.cache.get()
                                && !matches!(tag, Tag::Dict | Tag::Struct | Tag::Variant | Tag::Host)
                                && argc != IN_LIST
                                && (get!(at)).tag() == tag
                            {
                                quick!('call, row, at, usize::from(argc) + 1, dst);
                            }
                            let shape = record::shape(get!(at));
                            if !shape.is_null() && shape == site.shape.get() && argc != IN_LIST {
                                // The site has its shape and its function together, from a call of that very method.
                                enter!('call, function!(site.function.get()), |_: &super::Proto| 0_u32, NO_CLOSURE, at, argc + 1, dst);
                            }
                        }
                        // `xs = xs.push(v)` of a list that is held here alone and has room.
                        Op::MethodInPlace { argc, base: at, site, place } => {
                            let ChangedPlace { root: place, path, skip } = *entry!(places, place);
                            if path.is_none()
                                && let Place::Register(root) = place
                                && matches!(get!(root), Value::Struct(_) | Value::Variant(_))
                            {
                                // Their methods are functions: the long way, behind.
                                break 'call;
                            }
                            if argc == 1
                                && path.is_none()
                                && (*entry!(methods, site)).push
                                && let Place::Register(root) = place
                                && let Value::List(list) = &mut *reg!(root)
                                && let Some(list) = Rc::get_mut(list)
                            {
                                let len = list.items.len();
                                let bytes = (len + 1) * size_of::<Value>();
                                if len < list.items.capacity() && bytes <= self.isolate.limits().value_bytes {
                                    // SAFETY: the vector has room behind its last item. Nil stands there before the value is
                                    // taken, and the item counts when it is written.
                                    let end = list.items.as_mut_ptr().add(len);
                                    end.write(Value::Nil);
                                    Value::take(end, reg!(at + 1));
                                    list.items.set_len(len + 1);
                                    jump!('call, skip);
                                }
                            }
                        }
                        Op::Return { src } => {
                            if (*frame).plain {
                                let from = reg!(src);
                            // The word stays where it is meanwhile: read together with the tag, both would be one read of sixteen bytes.
                            let tag = Value::take_tag(from);
                            leave!('call, place, Value::put_taken(place, tag, from));
                            }
                            callback_returned!('call, Some(src));
                        }
                        Op::ReturnNil => {
                            if (*frame).plain {
                                leave!('call, place, Value::put_nil(place));
                            }
                            callback_returned!('call, None);
                        }

                        Op::GetField { dst, object, field } => {
                            let site = &*entry!(fields, field);
                            let at = site.hint.get() as usize;
                            match get!(object) {
                                Value::Dict(d) => {
                                    if let Some(value) = d.dict.at_if(at, &site.name) {
                                        Value::copy(reg!(dst), value);
                                        break 'read;
                                    }
                                }
                                Value::Struct(s) if site.shape.get() == Rc::as_ptr(s.def()) => {
                                    // SAFETY: the place was found in a struct of this declaration, all of which have as many values.
                                    debug_assert!(at < s.values().len(), "field {at}");
                                    Value::copy(reg!(dst), s.values().as_ptr().add(at));
                                    break 'read;
                                }
                                _ => {}
                            }
                        }
                        Op::GetIndex { dst, object, index } => {
                            match (get!(object), get!(index)) {
                                (Value::List(l), Value::Int(i)) if (*i as u64) < l.items.len() as u64 => {
                                    // SAFETY: the index is less than the length.
                                    #[allow(clippy::cast_possible_truncation)]
                                    Value::copy(reg!(dst), l.items.as_ptr().add(*i as usize));
                                    break 'read;
                                }
                                (Value::Dict(d), Value::Str(key)) => {
                                    match d.dict.get(key) {
                                        Some(value) => Value::copy(reg!(dst), value),
                                        None => Value::put_nil(reg!(dst)),
                                    }
                                    break 'read;
                                }
                                _ => {}
                            }
                        }
                        Op::ItemField { by, dst, object, index } => {
                            if let (Value::List(l), Value::Int(i)) = (get!(object), get!(index))
                                && (*i as u64) < l.items.len() as u64
                                && let Op::GetField { field, .. } = *op.add(usize::from(by))
                            {
                                // SAFETY: the index is less than the length. The verifier lets no skip pass that leads out of the code.
                                #[allow(clippy::cast_possible_truncation)]
                                let item = &*l.items.as_ptr().add(*i as usize);
                                let site = &*entry!(fields, field);
                                let at = site.hint.get() as usize;
                                match item {
                                    Value::Dict(d) => {
                                        if let Some(value) = d.dict.at_if(at, &site.name) {
                                            Value::copy(reg!(dst), value);
                                            jump!('read, by);
                                        }
                                    }
                                    Value::Struct(s) if site.shape.get() == Rc::as_ptr(s.def()) => {
                                        // SAFETY: as for `GetField`.
                                        debug_assert!(at < s.values().len(), "field {at}");
                                        Value::copy(reg!(dst), s.values().as_ptr().add(at));
                                        jump!('read, by);
                                    }
                                    _ => {}
                                }
                            }
                            break 'read;
                        }
                        Op::SetIndex { object, index, src } => {
                            // SAFETY: the verifier lets only three registers pass.
                            match (&mut *reg!(object), get!(index)) {
                                (Value::List(list), Value::Int(i)) => {
                                    if let Some(list) = Rc::get_mut(list)
                                        && (*i as u64) < list.items.len() as u64
                                    {
                                        // SAFETY: the index is less than the length.
                                        #[allow(clippy::cast_possible_truncation)]
                                        Value::take(list.items.as_mut_ptr().add(*i as usize), reg!(src));
                                        break 'write;
                                    }
                                }
                                (object @ Value::Dict(_), key @ Value::Str(_)) => {
                                    let (object, key, value): (*mut Value, *const Value, _) = (object, key, reg!(src));
                                    // SAFETY: as above; nothing moves the stack meanwhile.
                                    settle!('write, self.set_key(&mut *object, &*key, &mut *value));
                                }
                                _ => {}
                            }
                        }
                        Op::SetIndexConst { object, index, k } => {
                            let value = entry!(constants, k);
                            // SAFETY: the verifier lets only two registers pass.
                            match (&mut *reg!(object), get!(index)) {
                                (Value::List(list), Value::Int(i)) => {
                                    if let Some(list) = Rc::get_mut(list)
                                        && (*i as u64) < list.items.len() as u64
                                    {
                                        // SAFETY: the index is less than the length.
                                        #[allow(clippy::cast_possible_truncation)]
                                        Value::copy(list.items.as_mut_ptr().add(*i as usize), value);
                                        break 'write;
                                    }
                                }
                                (object @ Value::Dict(_), key @ Value::Str(_)) => {
                                    let (object, key): (*mut Value, *const Value) = (object, key);
                                    // SAFETY: as above; nothing moves the stack or the constants meanwhile.
                                    settle!('write, self.set_key_const(&mut *object, &*key, &*value));
                                }
                                _ => {}
                            }
                        }
                        Op::AssignPath { src, path } | Op::UpdatePath { src, path } => {
                            let site = &*entry!(paths, path);
                            // SAFETY: the site is one of the running function.
                            if let Place::Register(root) = site.root
                                && site.assign_in_place(base, root, src)
                            {
                                break 'write;
                            }
                        }
                        Op::UnlessVariant { a, test, by } => {
                            if let (Test::Variant(def, tag), Value::Variant(v)) = (&*entry!(tests, test), get!(a)) {
                                unless!('item, v.tag() == *tag && Rc::ptr_eq(def, v.def()), by);
                            }
                        }
                        Op::Value { dst, src, index } | Op::Part { dst, src, index } => {
                            if let Value::Variant(v) = get!(src)
                                && let Some(value) = v.values().get(usize::from(index))
                            {
                                Value::copy(reg!(dst), value);
                                break 'item;
                            }
                        }
                        Op::Expect { src, plain, .. } => {
                            if get!(src).is_one_of(plain) {
                                break 'item;
                            }
                        }
                        Op::ForNext { base: at, dst, by } => {
                            if let Value::Int(position) = *get!(at + 1) {
                                match get!(at) {
                                    Value::Int(end) => {
                                        if position < *end {
                                            next_int!('item, at, dst, position);
                                        }
                                        if by != FAR {
                                            jump!('item, by);
                                        }
                                    }
                                    Value::List(l) => {
                                        if (position as u64) < l.items.len() as u64 {
                                            next_element!('item, at, dst, position, l);
                                        }
                                        if by != FAR {
                                            jump!('item, by);
                                        }
                                    }
                                    _ => {}
                                }
                            }
                        }
                        // No common case is worth the place here.
                        Op::SetGlobal { .. }
                        | Op::GetCaptureCell { .. }
                        | Op::SetCaptureCell { .. }
                        | Op::NewCell { .. }
                        | Op::EmptyCell { .. }
                        | Op::GetCell { .. }
                        | Op::SetCell { .. }
                        | Op::Closure { .. }
                        | Op::Myself { .. }
                        | Op::Pow { .. }
                        | Op::In { .. }
                        | Op::NotIn { .. }
                        | Op::JumpIfNone { .. }
                        | Op::Generator { .. }
                        | Op::Yield { .. }
                        | Op::Finish { .. }
                        | Op::Drain { .. }
                        | Op::TailSelf { .. }
                        | Op::List { .. }
                        | Op::ListPush { .. }
                        | Op::ListExtend { .. }
                        | Op::DictOf { .. }
                        | Op::DictSet { .. }
                        | Op::DictMerge { .. }
                        | Op::Pair { .. }
                        | Op::Range { .. }
                        | Op::RangeExclusive { .. }
                        | Op::Concat { .. }
                        | Op::StructOf { .. }
                        | Op::StructFrom { .. }
                        | Op::JumpIfSlot { .. }
                        | Op::SetSlot { .. }
                        | Op::VariantOf { .. }
                        | Op::Function { .. }
                        | Op::SetField { .. }
                        | Op::GetIndexOr { .. }
                        | Op::Slice { .. }
                        | Op::ForPrep { .. }
                        | Op::Throw { .. }
                        | Op::ThrowAgain { .. }
                        | Op::Rethrow { .. }
                        | Op::RethrowInterruption { .. }
                        | Op::Ok { .. }
                        | Op::Err { .. }
                        | Op::Unwrap { .. }
                        | Op::TryStar { .. }
                        | Op::IsList { .. }
                        | Op::HasKeys { .. }
                        | Op::IsPair { .. }
                        | Op::IsType { .. }
                        | Op::Item { .. }
                        | Op::ItemsFrom { .. }
                        | Op::Key { .. }
                        | Op::KeysBut { .. }
                        | Op::Fail { .. } => {}
                    }
                    (*frame).pc = pc.sub(1);
                }
                if let Some(exit) = self.uncommon() {
                    return exit;
                }
                load!();
            } }
        }
    }

    /// Carries out an instruction in full. Marked as cold so that the common cases follow each other in the code without jumps.
    #[cold]
    #[inline(never)]
    fn uncommon(&mut self) -> Option<Exit> {
        self.step()
    }
}
