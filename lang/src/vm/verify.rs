//! Checks compiled functions before they run.
//!
//! The machine reaches registers, constants, captures, globals, functions and instructions without a look at their bounds.
//! These checks run once for each function, whatever compiled it, and establish the assumptions of the machine:
//!
//! - every register and every window of registers lies within `regs`, and so do the parameters;
//! - every index into a table of the function, the globals and the functions of the run names an entry;
//! - every jump and every handler leads to an instruction, and the last instruction leads nowhere;
//! - captures are read only by functions that run as closures, and closures are made from what their maker has;
//! - jumps lead forward, except for those that look at limits;
//! - an iterator gives items only after it was made;
//! - a value is never moved into itself, and inline caches are empty.
//!
//! Checks of operands by their role. The table of instructions ([`super::op`]) defines the role of each operand, and each
//! role has its check here: an operand that is not checked does not compile. The few rules about two operands at once are
//! written by hand.

use super::op::{Effect, FAR, Op, Operand, Reg};
use super::{Capture, HandlerKind, Isolate, PathSite, Place, Proto};
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
    /// Rule that it breaks.
    pub rule: Rule,
}

/// Rules for a function.
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
            Rule::Register => "register out of range",
            Rule::Index => "table index out of range",
            Rule::Global => "unknown global",
            Rule::Function => "unknown function",
            Rule::Capture => "unknown capture",
            Rule::Jump => "invalid jump target, or backward jump without a limit check",
            Rule::End => "code does not end with a return or a jump",
            Rule::Parameters => "invalid parameters",
            Rule::Spans => "missing span of an instruction",
            Rule::Iterator => "item produced outside of an iterator",
            Rule::Itself => "value moved to its own register",
            Rule::Cache => "inline cache is not empty",
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
/// Does what [`verify`] does for a function that has captured nothing.
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

    /// Rules that are not about one instruction.
    fn head(&self) -> Check {
        let proto = self.proto;
        let (params, rest) = (usize::from(proto.params), usize::from(proto.rest));
        let exact = if proto.rest { u16::MAX } else { proto.params };
        require(params + rest <= usize::from(proto.regs), Rule::Parameters)?;
        require(proto.required <= proto.params && proto.exact == exact, Rule::Parameters)?;
        require(proto.spans.len() == proto.code.len(), Rule::Spans)?;
        require((proto.entry as usize) < proto.code.len(), Rule::Jump)?;
        require(proto.code.last().is_some_and(|op| matches!(op.effect(), Effect::Jumps | Effect::Ends)), Rule::End)?;
        let len = proto.code.len();
        for handler in &proto.handlers {
            let (start, end, target) = (handler.start as usize, handler.end as usize, handler.target as usize);
            // An error must not lead back: it would do so for ever without a look at limits.
            require(start <= end && end <= target && target < len, Rule::Jump)?;
            let held = usize::from(handler.kind == HandlerKind::CatchAndHold);
            self.window(handler.reg, 1 + held)?;
        }
        for changed in &proto.places {
            self.place(changed.root)?;
            changed.path.map_or(Ok(()), |path| index(path, &proto.paths))?;
        }
        for path in &proto.paths {
            self.place(path.root)?;
            path.registers().try_for_each(|reg| self.reg(reg))?;
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

    fn op(&self, op: Op) -> Check {
        op.each_operand(|_, operand| self.operand(operand))?;
        // What the roles of the operands do not say.
        match op {
            Op::ListExtend { list, value } => require(list != value, Rule::Itself),
            Op::SetField { object, src, .. } => require(object != src, Rule::Itself),
            Op::MethodInPlace { argc, base, place, .. } => {
                let changed = self.proto.places[usize::from(place)];
                let count = usize::from(argc) + 1;
                apart(changed.root, base, count)?;
                let path = changed.path.map(|path| &self.proto.paths[usize::from(path)]);
                path.into_iter().flat_map(PathSite::registers).try_for_each(|key| {
                    apart(changed.root, key, 1)?;
                    apart(Place::Register(key), base, count)
                })
            }
            Op::SetIndex { object, index, src } => {
                require(object != index && object != src && index != src, Rule::Itself)
            }
            Op::SetIndexConst { object, index, .. } => require(object != index, Rule::Itself),
            Op::AssignPath { src, path } => self.assigned(src, path, true),
            Op::UpdatePath { src, path } => self.assigned(src, path, false),
            Op::LoopFor { by } => self.back_to(by, |op| matches!(op, Op::ForNext { .. })),
            Op::LoopLt { by } => self.back_to(by, |op| matches!(op, Op::UnlessLt { .. })),
            Op::LoopLe { by } => self.back_to(by, |op| matches!(op, Op::UnlessLe { .. })),
            Op::LoopLtInt { by } => self.back_to(by, |op| matches!(op, Op::UnlessLtInt { .. })),
            Op::ItemField { by, .. } => {
                let last = self.proto.code.get(self.at + usize::from(by));
                require(by > 0 && matches!(last, Some(Op::GetField { .. })), Rule::Index)
            }
            _ => Ok(()),
        }
    }

    /// The target of a loop is the instruction that it goes on with.
    fn back_to(&self, by: i32, fits: impl Fn(&Op) -> bool) -> Check {
        let to = isize::try_from(by).ok().and_then(|by| (self.at + 1).checked_add_signed(by));
        require(to.and_then(|to| self.proto.code.get(to)).is_some_and(fits), Rule::Jump)
    }

    /// Checks that neither the assigned value nor a key is in the variable's register, and that a value that is taken is not in the
    /// register of a key.
    fn assigned(&self, src: Reg, path: u16, taken: bool) -> Check {
        let path = &self.proto.paths[usize::from(path)];
        require(taken == path.op.is_none(), Rule::Index)?;
        apart(path.root, src, 1)?;
        path.registers().try_for_each(|key| {
            apart(path.root, key, 1)?;
            require(!taken || key != src, Rule::Itself)
        })
    }

    fn operand(&self, operand: Operand) -> Check {
        let proto = self.proto;
        match operand {
            Operand::Read(reg) | Operand::Taken(reg) | Operand::Write(reg) | Operand::Change(reg) => self.reg(reg),
            Operand::Window(base, extent) => self.window(base, extent.registers(proto).ok_or(Rule::Index)?),
            Operand::Count(_)
            | Operand::Given(_)
            | Operand::Long(_)
            | Operand::Short(_)
            | Operand::Number(_)
            | Operand::Truth(_)
            | Operand::Tags(_)
            | Operand::Kind(_) => Ok(()),
            Operand::Forward(by) => self.forward(by),
            Operand::Back(by) => {
                require(by < 0, Rule::Jump)?;
                self.target(by)
            }
            Operand::Skip(by) => self.forward(by.into()),
            Operand::Near(by) => self.forward(if by == FAR { proto.far(self.at) } else { i32::from(by) }),
            Operand::Global(slot) => self.global(slot),
            Operand::Function(number) => self.function(number),
            Operand::Capture(index) => self.capture(index),
            Operand::Constant(at) => index(at, &proto.constants),
            Operand::ShortConstant(at) => index(at, &proto.constants),
            Operand::Inner(at) => {
                index(at, &proto.protos)?;
                proto.protos[at as usize].captures.iter().try_for_each(|capture| match *capture {
                    Capture::Register(reg) => self.reg(reg),
                    Capture::Outer(index) => self.capture(index),
                })
            }
            Operand::Builtin(at) => index(at, &proto.builtins),
            Operand::Method(at) => index(at, &proto.methods),
            Operand::Place(at) => {
                index(at, &proto.places)?;
                self.forward(i32::from(proto.places[usize::from(at)].skip))
            }
            Operand::Shape(at) => index(at, &proto.shapes),
            Operand::Struct(at) => index(at, &proto.structs),
            Operand::Rebuild(at) => index(at, &proto.rebuilds),
            Operand::Variant(at) => index(at, &proto.variants),
            Operand::Field(at) => index(at, &proto.fields),
            Operand::Path(at) => index(at, &proto.paths),
            Operand::Test(at) => index(at, &proto.tests),
            Operand::Type(at) => index(at, &proto.types),
            Operand::Border(at) => index(at, &proto.borders),
            Operand::Failure(at) => index(at, &proto.failures),
        }
    }

    fn reg(&self, reg: Reg) -> Check {
        require(reg < self.proto.regs, Rule::Register)
    }

    /// `count` registers in a row.
    fn window(&self, from: Reg, count: usize) -> Check {
        require(usize::from(from) + count <= usize::from(self.proto.regs), Rule::Register)
    }

    fn global(&self, slot: u32) -> Check {
        require((slot as usize) < self.isolate.global_count(), Rule::Global)
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
            Place::Global(slot) => self.global(slot),
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
        // Checks of arguments are behind the body and run before it.
        let entry = if self.proto.entry == 0 { code.len() } else { self.proto.entry as usize };
        require(entry > made && code[entry - 1].effect() == Effect::Ends, Rule::Iterator)?;
        let before = |at: usize| at <= made || at >= entry;
        for (at, op) in code.iter().enumerate() {
            let of_function = matches!(op, Op::Return { .. } | Op::ReturnNil | Op::TailSelf { .. });
            let of_iterator = matches!(op, Op::Yield { .. } | Op::Finish { .. });
            require(!(of_function && !before(at) || of_iterator && before(at)), Rule::Iterator)?;
        }
        require(self.jumps.borrow().iter().all(|(at, to)| before(*at) == before(*to)), Rule::Iterator)?;
        let apart = |at: u32| before(at as usize);
        let end_apart = |at: u32| at as usize <= made || at as usize > entry;
        let inside = |h: &super::Handler| apart(h.start) == apart(h.target) && apart(h.start) == end_apart(h.end);
        require(self.proto.handlers.iter().all(inside), Rule::Iterator)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::Registry;
    use crate::source::Span;
    use crate::vm::{Limits, NoHost};
    use std::rc::Rc;

    fn refused(regs: u16, code: &[Op]) -> Option<(Option<usize>, Rule)> {
        let isolate = Isolate::new(Registry::new(&[]), Rc::new(NoHost), Limits::default(), Vec::new());
        let spans = vec![Span::default(); code.len()];
        let proto = Proto { regs, code: code.to_vec(), spans, ..Proto::default() };
        verify(&isolate, &BTreeSet::new(), &proto).err().map(|refused| (refused.at, refused.rule))
    }

    /// All operands are zero: the first register, the first entry.
    #[test]
    fn a_function_without_registers_and_tables_holds_no_instruction_that_needs_them() {
        let mut needed = 0;
        for op in Op::all() {
            let needs = op.each_operand(|_, operand| match operand {
                Operand::Count(_)
                | Operand::Given(_)
                | Operand::Long(_)
                | Operand::Short(_)
                | Operand::Number(_)
                | Operand::Truth(_)
                | Operand::Tags(_)
                | Operand::Kind(_)
                | Operand::Forward(_)
                | Operand::Near(_)
                | Operand::Skip(_) => Ok(()),
                Operand::Window(_, extent) if extent.registers(&Proto::default()) == Some(0) => Ok(()),
                _ => Err(()),
            });
            let found = refused(0, &[op, Op::ReturnNil]);
            if needs.is_err() {
                needed += 1;
                assert_eq!(found.map(|(at, _)| at), Some(Some(0)), "{}", op.name());
            }
        }
        assert!(needed > 100, "{needed}");
    }

    #[test]
    fn a_value_is_not_moved_into_itself() {
        let itself = Some((Some(0), Rule::Itself));
        assert_eq!(refused(2, &[Op::ListExtend { list: 0, value: 0 }, Op::ReturnNil]), itself);
        assert_eq!(refused(2, &[Op::ListExtend { list: 0, value: 1 }, Op::ReturnNil]), None);
    }

    #[test]
    fn jumps_lead_forward_and_loops_back() {
        let outside = Some((Some(0), Rule::Jump));
        for by in [-1, 1, i32::MAX, i32::MIN] {
            assert_eq!(refused(1, &[Op::Jump { by }, Op::ReturnNil]), outside, "{by}");
        }
        assert_eq!(refused(1, &[Op::Jump { by: 0 }, Op::ReturnNil]), None);
        assert_eq!(refused(1, &[Op::Loop { by: -1 }, Op::ReturnNil]), None);
        for by in [0, -2] {
            assert_eq!(refused(1, &[Op::Loop { by }, Op::ReturnNil]), outside, "{by}");
        }
        assert_eq!(refused(1, &[Op::JumpIf { a: 0, by: 0 }]), Some((None, Rule::End)));
    }
}
