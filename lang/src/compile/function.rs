//! The function being written: registers, instructions with their spans, jumps.

use super::Compiler;
use super::observe::KeptPart;
use crate::ast::{Name, NodeId};
use crate::declaration::Builtin;
use crate::resolve::BindingId;
use crate::source::Span;
use crate::value::{Flavor, Str, Value};
use crate::vm::{CallSite, FieldSite, Handler, HandlerKind, MethodSite, Op, Proto, op::Distance, op::FAR, op::Reg};
use std::collections::HashMap;
use std::rc::Rc;

/// A function that is not finished.
pub(super) struct FnState {
    pub(super) proto: Proto,
    /// Binding whose body this function is.
    pub(super) own: Option<BindingId>,
    registers: HashMap<BindingId, Reg>,
    pub(super) captured: Vec<BindingId>,
    /// First register that is free.
    pub(super) next: Reg,
    /// First register that is a temporary of the running statement.
    pub(super) floor: Reg,
    /// Temporaries that may share a collection.
    dirty: Option<(Reg, Reg)>,
    pub(super) loops: Vec<Loop>,
    /// Number in the condition that is being compiled which a register holds already.
    pub(super) bound: Option<(NodeId, Reg)>,
    pub(super) catches: Vec<OpenCatch>,
    /// Constructs that a way out of here passes, outermost first.
    pub(super) exits: Vec<ExitStep>,
    /// The `deadline` or `mutex` around this, which no item can be given out of.
    pub(super) closed: Option<&'static str>,
    strings: HashMap<String, u32>,
    /// Numbers of field names and of dict shapes.
    field_numbers: HashMap<Str, usize>,
    shape_numbers: HashMap<Box<[Str]>, usize>,
    /// Parameters, for self tail calls.
    pub(super) arity: Option<u16>,
    /// A call makes an iterator of this kind.
    pub(super) flavor: Option<Flavor>,
    /// Span at which the window became too large.
    full: bool,
    /// The expression in last place, while it is compiled: variables that it alone still reads may be moved out.
    pub(super) last: Option<Span>,
    /// The check of its result, if that must not be nil.
    pub(super) refuses_nil: Option<u16>,
    /// Parts of the `assert` that is being compiled.
    pub(super) kept_parts: Vec<KeptPart>,
}

/// A `catch` whose body is being compiled.
pub(super) struct OpenCatch {
    /// Pattern that it binds.
    pub(super) id: Option<BindingId>,
    /// Register that holds the error itself.
    pub(super) held: Reg,
    /// Its number among the handlers.
    pub(super) handler: usize,
}

/// A loop that `break` and `continue` may leave.
pub(super) struct Loop {
    pub(super) start: usize,
    pub(super) breaks: Vec<usize>,
    /// `exits` outside it.
    pub(super) exits: usize,
}

/// Something that a way out passes.
pub(super) enum ExitStep {
    /// A handler, which is only left.
    Handler,
    /// A `finally` or `defer` block, which runs first.
    Block(ExitBlock),
    /// Such a block itself, which must not leave an interruption behind: the registers with the way that led to it, and
    /// with what was raised.
    CleanUp { chosen: Reg, raised: Reg },
}

/// A block that runs on every way out. It stands once in the code.
pub(super) struct ExitBlock {
    /// The register with the number of the way that was taken.
    pub(super) chosen: Reg,
    /// The register with the value that is returned.
    pub(super) value: Reg,
    /// Jumps to the block.
    pub(super) entries: Vec<usize>,
    /// The ways that lead through it.
    pub(super) ways: Vec<Way>,
}

/// A way out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// With a value.
    Return,
    /// With nil.
    ReturnNil,
    /// Break out of the loop with that number, counted from the outermost.
    Break(usize),
    /// To its next turn.
    Continue(usize),
}

/// Registers that a function may have. The few beyond it keep the numbers behind a last one in range, where what is too large
/// is compiled on to its end.
const FULL: Reg = Reg::MAX - 8;

/// `count` registers from `base` on, or as many as there are: what is too large is reported, and compiled on to its end.
pub(super) fn in_a_row(base: Reg, count: u16) -> std::ops::Range<Reg> {
    base..base.saturating_add(count)
}

impl FnState {
    pub(super) fn new(own: Option<BindingId>, arity: Option<u16>) -> Self {
        Self {
            proto: Proto::default(),
            own,
            registers: HashMap::new(),
            captured: Vec::new(),
            next: 0,
            floor: 0,
            dirty: None,
            loops: Vec::new(),
            bound: None,
            catches: Vec::new(),
            exits: Vec::new(),
            closed: None,
            strings: HashMap::new(),
            field_numbers: HashMap::new(),
            shape_numbers: HashMap::new(),
            arity,
            flavor: None,
            full: false,
            last: None,
            refuses_nil: None,
            kept_parts: Vec::new(),
        }
    }

    pub(super) fn register_of(&self, id: BindingId) -> Option<Reg> {
        self.registers.get(&id).copied()
    }

    pub(super) fn bind_register(&mut self, id: BindingId, reg: Reg) {
        self.registers.insert(id, reg);
    }

    pub(super) fn here(&self) -> usize {
        self.proto.code.len()
    }
}

impl<'a> Compiler<'a> {
    pub(super) fn fn_ref(&self) -> &FnState {
        // `module` pushes the first and takes it last.
        &self.fns[self.fns.len() - 1]
    }

    pub(super) fn fn_mut(&mut self) -> &mut FnState {
        let last = self.fns.len() - 1;
        &mut self.fns[last]
    }

    // Instructions

    pub(super) fn emit(&mut self, op: Op, span: Span) -> usize {
        let state = self.fn_mut();
        state.proto.code.push(op);
        state.proto.spans.push(span);
        state.proto.code.len() - 1
    }

    pub(super) fn here(&self) -> usize {
        self.fn_ref().here()
    }

    /// Makes the jump at `at` go to `to`.
    pub(super) fn patch(&mut self, at: usize, to: usize) {
        let distance = to as i64 - at as i64 - 1;
        let proto = &mut self.fn_mut().proto;
        match proto.code[at].distance() {
            Some(Distance::Long(by)) => *by = i32::try_from(distance).unwrap_or(i32::MAX),
            Some(Distance::Near(by)) => match i16::try_from(distance) {
                Ok(near) if near != FAR => *by = near,
                _ => {
                    *by = FAR;
                    let at = u32::try_from(at).unwrap_or(u32::MAX);
                    let slot = proto.far.partition_point(|f| f.0 < at);
                    proto.far.insert(slot, (at, i32::try_from(distance).unwrap_or(i32::MAX)));
                }
            },
            None => debug_assert!(false, "instruction {at} does not jump"),
        }
    }

    /// Makes jumps go to the next instruction.
    pub(super) fn patch_here(&mut self, jumps: &[usize]) {
        let here = self.here();
        for jump in jumps {
            self.patch(*jump, here);
        }
    }

    pub(super) fn jump(&mut self, span: Span) -> usize {
        self.emit(Op::Jump { by: 0 }, span)
    }

    pub(super) fn jump_back(&mut self, to: usize, span: Span) {
        let op = match self.fn_ref().proto.code.get(to) {
            Some(Op::ForNext { .. }) => Op::LoopFor { by: 0 },
            Some(Op::UnlessLt { .. }) => Op::LoopLt { by: 0 },
            Some(Op::UnlessLe { .. }) => Op::LoopLe { by: 0 },
            Some(Op::UnlessLtInt { .. }) => Op::LoopLtInt { by: 0 },
            _ => Op::Loop { by: 0 },
        };
        let at = self.emit(op, span);
        self.patch(at, to);
    }

    /// Notes where the parts of the call that comes next stand.
    pub(super) fn note_call(&mut self, callee: Option<Span>, args: Vec<Span>) {
        let pc = u32::try_from(self.here()).unwrap_or(u32::MAX);
        self.fn_mut().proto.calls.push(CallSite { pc, args, callee });
    }

    // Registers

    pub(super) fn temp(&mut self) -> Reg {
        self.temps(1)
    }

    /// `count` registers in a row.
    pub(super) fn temps(&mut self, count: u16) -> Reg {
        let state = self.fn_mut();
        let first = state.next;
        match first.checked_add(count).filter(|top| *top < FULL) {
            Some(top) => {
                state.next = top;
                state.proto.regs = state.proto.regs.max(top);
            }
            None if !state.full => {
                state.full = true;
                let span = state.proto.spans.last().copied().unwrap_or_default();
                self.too_large(span, "variables and temporary values");
            }
            None => {}
        }
        first
    }

    /// Frees the registers from `reg` on.
    pub(super) fn free_to(&mut self, reg: Reg) {
        self.fn_mut().next = reg.min(FULL);
    }

    pub(super) fn is_temp(&self, reg: Reg) -> bool {
        reg >= self.fn_ref().floor
    }

    /// A temporary now shares what a variable holds; it must be emptied when the statement is over, or the variable's
    /// next change in place would copy.
    pub(super) fn shares(&mut self, reg: Reg) {
        if self.is_temp(reg) {
            let dirty = &mut self.fn_mut().dirty;
            *dirty = Some(dirty.map_or((reg, reg), |(a, b)| (a.min(reg), b.max(reg))));
        }
    }

    /// Returns whether a temporary may share what a variable holds.
    pub(super) fn is_shared(&self, reg: Reg) -> bool {
        self.fn_ref().dirty.is_some_and(|(from, to)| (from..=to).contains(&reg))
    }

    /// Empties the temporaries that share something, from `keep` on.
    pub(super) fn clean(&mut self, keep: Reg, span: Span) {
        if let Some((from, to)) = self.fn_mut().dirty.take() {
            let from = from.max(keep);
            if from <= to {
                let at = self.here();
                self.emit(Op::Clear { from, count: to - from + 1 }, span);
                if from == to {
                    self.skip_clear(at, from);
                }
            }
        }
    }

    /// Lets a change in place go on after the `Clear` that was made at `at`, if only the long way uses the register.
    fn skip_clear(&mut self, at: usize, reg: Reg) {
        let proto = &mut self.fn_mut().proto;
        let places = proto.places.len();
        let Some(changed) = proto.places.last_mut() else { return };
        let before = at.checked_sub(usize::from(changed.skip) + 1).and_then(|before| proto.code.get(before));
        if let Some(Op::MethodInPlace { base, place: index, .. }) = before
            && *base == reg
            && usize::from(*index) + 1 == places
        {
            changed.skip += 1;
        }
    }

    // Tables of the function

    pub(super) fn constant(&mut self, value: Value) -> u32 {
        let state = self.fn_mut();
        state.proto.constants.push(value);
        u32::try_from(state.proto.constants.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn string_constant(&mut self, text: &str) -> u32 {
        if let Some(k) = self.fn_ref().strings.get(text) {
            return *k;
        }
        let k = self.constant(Value::Str(self.name_value(text)));
        self.fn_mut().strings.insert(text.to_owned(), k);
        k
    }

    /// One block per distinct name, so that keys written in one place are found by pointer in another.
    pub(super) fn name_value(&self, text: &str) -> Str {
        self.isolate.intern(text)
    }

    pub(super) fn field_site(&mut self, name: &str, span: Span) -> u16 {
        let name = self.name_value(name);
        let state = self.fn_mut();
        let i = *state.field_numbers.entry(name.clone()).or_insert_with(|| {
            state.proto.fields.push(FieldSite::new(name));
            state.proto.fields.len() - 1
        });
        self.index(i, span, "field names")
    }

    pub(super) fn method_site(&mut self, name: &Name) -> u16 {
        let (checked, span) = (self.borders.checks_arguments(name.id), name.span);
        let name = self.name_value(&name.text);
        let methods = &mut self.fn_mut().proto.methods;
        methods.push(MethodSite::new(name, checked));
        let i = methods.len() - 1;
        self.index(i, span, "method calls")
    }

    pub(super) fn builtin_site(&mut self, row: &'static Builtin, span: Span) -> u16 {
        let builtins = &mut self.fn_mut().proto.builtins;
        let i = builtins.iter().position(|b| std::ptr::eq(*b, row)).unwrap_or_else(|| {
            builtins.push(row);
            builtins.len() - 1
        });
        self.index(i, span, "builtins")
    }

    pub(super) fn shape(&mut self, keys: Vec<Str>, span: Span) -> u16 {
        let state = self.fn_mut();
        let keys: Box<[Str]> = keys.into();
        let i = *state.shape_numbers.entry(keys.clone()).or_insert_with(|| {
            state.proto.shapes.push(keys);
            state.proto.shapes.len() - 1
        });
        self.index(i, span, "dict shapes")
    }

    pub(super) fn index(&mut self, i: usize, span: Span, what: &str) -> u16 {
        u16::try_from(i).unwrap_or_else(|_| {
            self.too_large(span, what);
            0
        })
    }

    pub(super) fn add_handler(&mut self, start: usize, end: usize, target: usize, reg: Reg, kind: HandlerKind) {
        let as_u32 = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let handler = Handler { start: as_u32(start), end: as_u32(end), target: as_u32(target), reg, kind };
        self.fn_mut().proto.handlers.push(handler);
    }

    pub(super) fn finish_fn(&mut self) -> Rc<Proto> {
        let Some(mut state) = self.fns.pop() else { return Rc::default() };
        // Calls write one register beyond the window when they pad arguments.
        state.proto.regs = state.proto.regs.saturating_add(1);
        state.proto.exact = if state.proto.rest { u16::MAX } else { state.proto.params };
        Rc::new(state.proto)
    }
}
