//! Checks compiled functions before they run.
//!
//! The machine reaches registers, constants, captures, globals, functions and instructions without a look at their bounds.
//! What it takes for granted is established here, for each function once, whatever compiled it:
//!
//! - every register and every window of registers lies within `regs`, and so do the parameters;
//! - every index into a table of the function, the globals and the functions of the run names an entry;
//! - every jump and every handler leads to an instruction, and the last instruction leads nowhere;
//! - captures are read only by functions that run as closures, and closures are made from what their maker has;
//! - jumps lead forward, except for those that look at limits;
//! - an iterator gives items only after it was made;
//! - a value is never moved into itself, and inline caches are empty.
//!
//! The `match` over the instructions has no wildcard arm: an instruction that is not checked does not compile.

use super::op::{FAR, IN_LIST, Op, Reg};
use super::{Capture, HandlerKind, Isolate, Place, Proto};
use crate::value::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

/// Why a function may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The function.
    pub function: String,
    /// The instruction, counted from 0; `None` where it is not about one.
    pub at: Option<usize>,
    /// What it breaks.
    pub rule: Rule,
}

/// What a function must keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Registers lie within the window.
    Register,
    /// Indexes name entries of the function's tables.
    Index,
    /// Globals exist.
    Global,
    /// Functions called by their number exist and capture nothing.
    Function,
    /// Captures exist.
    Capture,
    /// Jumps and handlers lead to instructions; back only where limits are looked at.
    Jump,
    /// The last instruction leads nowhere.
    End,
    /// Parameters fit into the window and are counted as they are.
    Parameters,
    /// Each instruction has a span.
    Spans,
    /// Items are given by iterators.
    Iterator,
    /// A changed place is none of the registers whose values are moved into it.
    Itself,
    /// Inline caches are empty before the first run.
    Cache,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.rule {
            Rule::Register => "a register outside of the window",
            Rule::Index => "an index outside of a table",
            Rule::Global => "an unknown global",
            Rule::Function => "an unknown function",
            Rule::Capture => "an unknown capture",
            Rule::Jump => "a jump to nowhere, or back without a look at limits",
            Rule::End => "code without an end",
            Rule::Parameters => "parameters that do not fit",
            Rule::Spans => "an instruction without a span",
            Rule::Iterator => "an item given outside of an iterator",
            Rule::Itself => "a value moved into itself",
            Rule::Cache => "a filled inline cache",
        };
        match self.at {
            Some(at) => write!(f, "{rule}, in `{}` at instruction {at}", self.function),
            None => write!(f, "{rule}, in `{}`", self.function),
        }
    }
}

/// Checks a function and those inside it. `made` are the numbers of functions that are checked together with it, and put in their
/// places once all of them have passed.
///
/// # Errors
/// The first rule that is broken.
pub fn verify(isolate: &Isolate, made: &BTreeSet<usize>, proto: &Proto) -> Result<(), Refused> {
    if proto.verified.get() {
        return Ok(());
    }
    let refuse = |(at, rule)| Refused { function: proto.title(), at, rule };
    Checked { isolate, made, proto, at: 0, jumps: RefCell::default() }.run().map_err(refuse)?;
    // Set first: a function's constants may hold a closure of itself.
    proto.verified.set(true);
    let inside = proto.protos.iter().map(|proto| &**proto);
    let closures = proto.constants.iter().filter_map(|value| match value {
        Value::Closure(closure) => Some(&*closure.proto),
        _ => None,
    });
    let result = inside.chain(closures).try_for_each(|proto| verify(isolate, made, proto));
    if result.is_err() {
        proto.verified.set(false);
    }
    result
}

/// Checks a function that is called by its number.
///
/// # Errors
/// As [`verify`]; such a function has captured nothing.
pub fn verify_function(isolate: &Isolate, made: &BTreeSet<usize>, proto: &Proto) -> Result<(), Refused> {
    if !proto.captures.is_empty() {
        return Err(Refused { function: proto.title(), at: None, rule: Rule::Function });
    }
    verify(isolate, made, proto)
}

type Check = Result<(), Rule>;

/// A function that is being checked.
struct Checked<'a> {
    isolate: &'a Isolate,
    /// Numbers of functions that are checked together with this one.
    made: &'a BTreeSet<usize>,
    proto: &'a Proto,
    /// The instruction.
    at: usize,
    /// From where to where the instructions so far jump.
    jumps: RefCell<Vec<(usize, usize)>>,
}

impl Checked<'_> {
    fn run(mut self) -> Result<(), (Option<usize>, Rule)> {
        self.head().map_err(|rule| (None, rule))?;
        for (at, op) in self.proto.code.iter().enumerate() {
            self.at = at;
            self.op(*op).map_err(|rule| (Some(at), rule))?;
        }
        self.iterator().map_err(|rule| (None, rule))
    }

    /// What is not about one instruction.
    fn head(&self) -> Check {
        let proto = self.proto;
        let (params, rest) = (usize::from(proto.params), usize::from(proto.rest));
        let exact = if proto.rest { u16::MAX } else { proto.params };
        require(params + rest <= usize::from(proto.regs), Rule::Parameters)?;
        require(proto.required <= proto.params && proto.exact == exact, Rule::Parameters)?;
        require(proto.spans.len() == proto.code.len(), Rule::Spans)?;
        require(proto.code.last().is_some_and(|op| ends(*op)), Rule::End)?;
        let len = proto.code.len();
        for handler in &proto.handlers {
            let (start, end, target) = (handler.start as usize, handler.end as usize, handler.target as usize);
            // An error must not lead back: it would do so for ever without a look at limits.
            require(start <= end && end <= target && target < len, Rule::Jump)?;
            let held = usize::from(handler.kind == HandlerKind::CatchAndHold);
            self.window(handler.reg, 1 + held)?;
        }
        for (place, _) in &proto.places {
            self.place(*place)?;
        }
        for path in &proto.paths {
            self.place(path.root)?;
        }
        let filled = proto.fields.iter().any(|site| !site.shape.get().is_null())
            || proto.methods.iter().any(|site| site.cache.get().is_some() || !site.shape.get().is_null());
        require(!filled, Rule::Cache)?;
        for closure in &proto.constants {
            if let Value::Closure(closure) = closure {
                require(closure.captures.len() == closure.proto.captures.len(), Rule::Capture)?;
            }
        }
        for rebuild in &proto.rebuilds {
            let fields = rebuild.def.fields.len();
            require(rebuild.given.iter().all(|at| usize::from(*at) < fields), Rule::Index)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_lines, clippy::match_same_arms, reason = "one arm for each shape of operands")]
    fn op(&self, op: Op) -> Check {
        let proto = self.proto;
        match op {
            Op::Move { dst, src } | Op::Take { dst, src } => self.regs([dst, src]),
            Op::Clear { from, count } => self.window(from, usize::from(count)),
            Op::Const { dst, k } => {
                index(k, &proto.constants)?;
                self.reg(dst)
            }
            Op::Int { dst, value: _ } | Op::Nil { dst } | Op::Bool { dst, value: _ } | Op::Myself { dst } => {
                self.reg(dst)
            }
            Op::GetGlobal { dst: reg, slot } | Op::SetGlobal { src: reg, slot } => {
                require((slot as usize) < self.isolate.global_count(), Rule::Global)?;
                self.reg(reg)
            }
            Op::GetCapture { dst: reg, index }
            | Op::GetCaptureCell { dst: reg, index }
            | Op::SetCaptureCell { src: reg, index } => {
                self.capture(index)?;
                self.reg(reg)
            }
            Op::NewCell { reg } | Op::EmptyCell { reg } | Op::Drain { reg } => self.reg(reg),
            Op::GetCell { dst: reg, cell } | Op::SetCell { cell, src: reg } => self.regs([reg, cell]),
            Op::Closure { dst, proto: inside } => {
                index(inside, &proto.protos)?;
                for capture in &proto.protos[inside as usize].captures {
                    match *capture {
                        Capture::Register(reg) => self.reg(reg)?,
                        Capture::Outer(index) => self.capture(index)?,
                    }
                }
                self.reg(dst)
            }

            Op::Add { dst, a, b }
            | Op::Sub { dst, a, b }
            | Op::Mul { dst, a, b }
            | Op::Div { dst, a, b }
            | Op::Rem { dst, a, b }
            | Op::Pow { dst, a, b }
            | Op::Eq { dst, a, b }
            | Op::Ne { dst, a, b }
            | Op::Lt { dst, a, b }
            | Op::Le { dst, a, b }
            | Op::Gt { dst, a, b }
            | Op::Ge { dst, a, b }
            | Op::In { dst, a, b }
            | Op::NotIn { dst, a, b }
            | Op::Pair { dst, a, b }
            | Op::Range { dst, a, b }
            | Op::RangeExclusive { dst, a, b } => self.regs([dst, a, b]),
            Op::AddInt { dst, a, imm: _ }
            | Op::SubInt { dst, a, imm: _ }
            | Op::MulInt { dst, a, imm: _ }
            | Op::RemInt { dst, a, imm: _ }
            | Op::Neg { dst, a }
            | Op::Not { dst, a }
            | Op::Truth { dst, a } => self.regs([dst, a]),

            Op::Jump { by } => self.forward(by),
            Op::Loop { by } => {
                require(by < 0, Rule::Jump)?;
                self.target(by)
            }
            Op::JumpIf { a, by }
            | Op::JumpUnless { a, by }
            | Op::JumpIfNil { a, by }
            | Op::JumpIfNotNil { a, by }
            | Op::JumpIfNone { a, by } => {
                self.reg(a)?;
                self.forward(by)
            }
            Op::UnlessLt { a, b, by }
            | Op::UnlessLe { a, b, by }
            | Op::UnlessGt { a, b, by }
            | Op::UnlessGe { a, b, by }
            | Op::UnlessEq { a, b, by }
            | Op::UnlessNe { a, b, by } => {
                self.regs([a, b])?;
                self.short(by)
            }
            Op::UnlessLtInt { a, imm: _, by }
            | Op::UnlessLeInt { a, imm: _, by }
            | Op::UnlessGtInt { a, imm: _, by }
            | Op::UnlessGeInt { a, imm: _, by }
            | Op::UnlessEqInt { a, imm: _, by }
            | Op::UnlessNeInt { a, imm: _, by } => {
                self.reg(a)?;
                self.short(by)
            }

            Op::Call { argc, dst, base } => {
                self.reg(dst)?;
                self.arguments(base, argc, 1)
            }
            Op::CallFn { argc, dst, base, func } => {
                self.function(func)?;
                self.reg(dst)?;
                self.arguments(base, argc, 0)
            }
            Op::CallBuiltin { argc, dst, base, builtin } => {
                index(builtin, &proto.builtins)?;
                self.reg(dst)?;
                self.arguments(base, argc, 0)
            }
            Op::CallMethod { argc, dst, base, site } => {
                index(site, &proto.methods)?;
                self.reg(dst)?;
                self.arguments(base, argc, 1)
            }
            Op::MethodInPlace { argc, base, site, place } => {
                index(site, &proto.methods)?;
                index(place, &proto.places)?;
                let (place, skip) = proto.places[usize::from(place)];
                self.forward(i32::from(skip))?;
                apart(place, base, usize::from(argc) + 1)?;
                self.window(base, usize::from(argc) + 1)
            }
            Op::Generator { flavor: _ } | Op::ReturnNil => Ok(()),
            Op::Yield { src }
            | Op::Finish { src }
            | Op::Return { src }
            | Op::Throw { src }
            | Op::Rethrow { src }
            | Op::RethrowInterruption { src } => self.reg(src),
            Op::TailSelf { argc, base } => self.window(base, usize::from(argc)),

            Op::List { dst, base, len } | Op::Concat { dst, base, len } => {
                self.reg(dst)?;
                self.window(base, usize::from(len))
            }
            Op::ListPush { list: into, value } | Op::DictMerge { dict: into, value } => self.regs([into, value]),
            Op::ListExtend { list, value } => {
                require(list != value, Rule::Itself)?;
                self.regs([list, value])
            }
            Op::DictOf { dst, base, shape } => {
                index(shape, &proto.shapes)?;
                self.reg(dst)?;
                self.window(base, proto.shapes[usize::from(shape)].len())
            }
            Op::DictSet { dict, key, value } => self.regs([dict, key, value]),
            Op::StructOf { dst, base, def } => {
                index(def, &proto.structs)?;
                self.reg(dst)?;
                self.window(base, proto.structs[usize::from(def)].fields.len())
            }
            Op::StructFrom { dst, base, site } => {
                index(site, &proto.rebuilds)?;
                self.reg(dst)?;
                self.window(base, proto.rebuilds[usize::from(site)].given.len() + 1)
            }
            Op::JumpIfSlot { object, index: _, by } => {
                self.reg(object)?;
                self.short(by)
            }
            Op::SetSlot { object, src, index: _ } => self.regs([object, src]),
            Op::VariantOf { dst, base, site } => {
                index(site, &proto.variants)?;
                let (def, tag) = &proto.variants[usize::from(site)];
                let variant = def.variants.get(*tag as usize).ok_or(Rule::Index)?;
                self.reg(dst)?;
                self.window(base, variant.arity)
            }
            Op::Function { dst, func } => {
                self.function(func)?;
                self.reg(dst)
            }

            Op::GetField { dst, object, field } => {
                index(field, &proto.fields)?;
                self.regs([dst, object])
            }
            Op::SetField { object, src, field } => {
                index(field, &proto.fields)?;
                require(object != src, Rule::Itself)?;
                self.regs([src, object])
            }
            Op::GetIndex { dst, object, index } | Op::GetIndexOr { dst, object, index } => {
                self.regs([dst, object, index])
            }
            Op::Slice { dst, object, bounds } => {
                self.regs([dst, object])?;
                self.window(bounds, 2)
            }
            Op::AssignPath { base, path } => {
                index(path, &proto.paths)?;
                let path = &proto.paths[usize::from(path)];
                apart(path.root, base, usize::from(path.keys) + 1)?;
                self.window(base, usize::from(path.keys) + 1)
            }

            Op::ForPrep { base } => self.window(base, 2),
            Op::ForNext { base, dst, by } => {
                self.window(base, 2)?;
                self.reg(dst)?;
                self.short(by)
            }

            Op::ThrowAgain { src, held } => self.regs([src, held]),
            Op::Ok { dst, src } | Op::Err { dst, src } | Op::TryStar { dst, src } | Op::IsPair { dst, src } => {
                self.regs([dst, src])
            }
            Op::Unwrap { dst, src, by } => {
                self.regs([dst, src])?;
                self.short(by)
            }

            Op::IsList { dst, src, test } | Op::HasKeys { dst, src, test } => {
                index(test, &proto.tests)?;
                self.regs([dst, src])
            }
            Op::UnlessVariant { a, test, by } => {
                index(test, &proto.tests)?;
                self.reg(a)?;
                self.short(by)
            }
            Op::IsType { dst, src, ty } => {
                index(ty, &proto.types)?;
                self.regs([dst, src])
            }
            Op::Item { dst, src, index: _ }
            | Op::ItemsFrom { dst, src, index: _ }
            | Op::Value { dst, src, index: _ }
            | Op::Part { dst, src, index: _ } => self.regs([dst, src]),
            Op::Key { dst, src, field } => {
                index(field, &proto.fields)?;
                self.regs([dst, src])
            }
            Op::KeysBut { dst, src, shape } => {
                index(shape, &proto.shapes)?;
                self.regs([dst, src])
            }
            Op::Fail { src, kind } => {
                index(kind, &proto.failures)?;
                self.reg(src)
            }
        }
    }

    fn reg(&self, reg: Reg) -> Check {
        require(reg < self.proto.regs, Rule::Register)
    }

    fn regs<const N: usize>(&self, regs: [Reg; N]) -> Check {
        require(regs.iter().all(|reg| *reg < self.proto.regs), Rule::Register)
    }

    /// `count` registers in a row.
    fn window(&self, from: Reg, count: usize) -> Check {
        require(usize::from(from) + count <= usize::from(self.proto.regs), Rule::Register)
    }

    /// The arguments of a call, with what stands before them.
    fn arguments(&self, base: Reg, argc: u8, before: usize) -> Check {
        let given = if argc == IN_LIST { 1 } else { usize::from(argc) };
        self.window(base, before + given)
    }

    fn capture(&self, index: u16) -> Check {
        require(usize::from(index) < self.proto.captures.len(), Rule::Capture)
    }

    fn function(&self, number: u16) -> Check {
        let number = usize::from(number);
        let found = self.isolate.function(number).ok_or(Rule::Function)?;
        if self.made.contains(&number) {
            // What takes this place has captured nothing, or is refused itself.
            return Ok(());
        }
        // A place that was made for a function, and never filled, has no code.
        require(found.captures.is_empty() && !found.code.is_empty(), Rule::Function)
    }

    fn place(&self, place: Place) -> Check {
        match place {
            Place::Register(reg) | Place::Cell(reg) => self.reg(reg),
            Place::CaptureCell(index) => self.capture(index),
            Place::Global(slot) => require((slot as usize) < self.isolate.global_count(), Rule::Global),
        }
    }

    /// An instruction of the function, counted from the one behind this.
    fn target(&self, by: i32) -> Check {
        let by = isize::try_from(by).map_err(|_| Rule::Jump)?;
        let to = (self.at + 1).checked_add_signed(by).ok_or(Rule::Jump)?;
        self.jumps.borrow_mut().push((self.at, to));
        require(to < self.proto.code.len(), Rule::Jump)
    }

    fn forward(&self, by: i32) -> Check {
        require(by >= 0, Rule::Jump)?;
        self.target(by)
    }

    fn short(&self, by: i16) -> Check {
        self.forward(self.distance(by))
    }

    fn distance(&self, by: i16) -> i32 {
        if by == FAR { self.proto.far(self.at) } else { i32::from(by) }
    }

    /// A function that gives items becomes an iterator first, and from there on it is one: the frame of an iterator is taken
    /// off the stack in another way than that of a function.
    fn iterator(&self) -> Check {
        let is_made = |op: &Op| matches!(op, Op::Generator { .. });
        let code = &self.proto.code;
        let Some(made) = code.iter().position(is_made) else {
            let gives = |op: &Op| matches!(op, Op::Yield { .. } | Op::Finish { .. });
            return require(!code.iter().any(gives), Rule::Iterator);
        };
        require(code.iter().filter(|op| is_made(op)).count() == 1, Rule::Iterator)?;
        for (at, op) in code.iter().enumerate() {
            let of_function = matches!(op, Op::Return { .. } | Op::ReturnNil | Op::TailSelf { .. });
            let of_iterator = matches!(op, Op::Yield { .. } | Op::Finish { .. });
            require(!(of_function && at > made || of_iterator && at < made), Rule::Iterator)?;
        }
        require(self.jumps.borrow().iter().all(|(at, to)| (*at <= made) == (*to <= made)), Rule::Iterator)?;
        let apart = |at: u32| at as usize <= made;
        let inside = |h: &super::Handler| apart(h.start) == apart(h.target) && apart(h.start) == apart(h.end);
        require(self.proto.handlers.iter().all(inside), Rule::Iterator)
    }
}

/// Whether nothing runs behind an instruction.
fn ends(op: Op) -> bool {
    matches!(
        op,
        Op::Return { .. }
            | Op::ReturnNil
            | Op::Finish { .. }
            | Op::TailSelf { .. }
            | Op::Jump { .. }
            | Op::Loop { .. }
            | Op::Throw { .. }
            | Op::ThrowAgain { .. }
            | Op::Fail { .. }
    )
}

fn index<T>(at: impl Into<u32>, table: &[T]) -> Check {
    require((at.into() as usize) < table.len(), Rule::Index)
}

/// A place that is none of `count` registers in a row. A list that held itself would be shown and dropped without an end.
fn apart(place: Place, from: Reg, count: usize) -> Check {
    let Place::Register(root) = place else { return Ok(()) };
    require(root < from || usize::from(root - from) >= count, Rule::Itself)
}

const fn require(holds: bool, rule: Rule) -> Check {
    if holds { Ok(()) } else { Err(rule) }
}
