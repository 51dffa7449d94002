//! Compiled functions.

use super::border::BorderSite;
use super::op::Op;
use super::type_test::TypeTest;
use crate::declaration::Builtin;
use crate::source::{SourceRef, Span};
use crate::value::{EnumDef, Str, StructDef, Tag, Value};
use std::cell::Cell;
use std::rc::Rc;

/// A compiled function: code, what it refers to, and where each instruction came from.
#[derive(Clone, Default)]
pub struct Proto {
    /// Name given by its author; empty for a closure.
    pub name: Str0,
    /// The file.
    pub source: Option<SourceRef>,
    /// Positional parameters, the rest parameter not counted.
    pub params: u16,
    /// Number of required parameters.
    pub required: u16,
    /// A rest parameter follows.
    pub rest: bool,
    /// The first parameter is `self`.
    pub method: bool,
    /// Number of arguments that are passed unchanged: `params`, unless there is a rest parameter.
    pub exact: u16,
    /// The window's size.
    pub regs: u16,
    /// The instructions.
    pub code: Vec<Op>,
    /// One span per instruction.
    pub spans: Vec<Span>,
    /// Constants.
    pub constants: Vec<Value>,
    /// Functions inside.
    pub protos: Vec<Rc<Proto>>,
    /// Sources of the captures, for when a closure of this function is made.
    pub captures: Vec<Capture>,
    /// Builtins called.
    pub builtins: Vec<&'static Builtin>,
    /// Fields read, with the position found last.
    pub fields: Vec<FieldSite>,
    /// Methods called.
    pub methods: Vec<MethodSite>,
    /// Key lists of dict literals and patterns.
    pub shapes: Vec<Box<[Str]>>,
    /// Structs made.
    pub structs: Vec<Rc<StructDef>>,
    /// Structs made from other values.
    pub rebuilds: Vec<Rebuild>,
    /// Variants made.
    pub variants: Vec<(Rc<EnumDef>, u32)>,
    /// Types asked for.
    pub types: Vec<TypeTest>,
    /// Values that are checked when they enter.
    pub borders: Vec<BorderSite>,
    /// Instruction at which a call with unchecked arguments begins; its checks lead to the first instruction.
    pub entry: u32,
    /// Assigned paths.
    pub paths: Vec<PathSite>,
    /// Places changed by `x = x.method(…)` and `x.y = x.y.method(…)`.
    pub places: Vec<ChangedPlace>,
    /// Tests that patterns make.
    pub tests: Vec<Test>,
    /// Reason of a `Fail`.
    pub failures: Vec<Failure>,
    /// Handlers, innermost first.
    pub handlers: Vec<Handler>,
    /// Calls, by instruction, for error messages.
    pub calls: Vec<CallSite>,
    /// Distances of short jumps that did not fit, by instruction.
    pub far: Vec<(u32, i32)>,
    /// The whole function, for messages.
    pub span: Span,
    /// [`verify`](super::verify::verify) has found nothing wrong with it.
    pub verified: Cell<bool>,
}

/// A shared name that may be empty.
pub type Str0 = Option<Str>;

/// Source of a capture.
#[derive(Clone, Copy, Debug)]
pub enum Capture {
    /// A register of the enclosing function.
    Register(u16),
    /// A capture of the enclosing function.
    Outer(u16),
}

/// A field read.
#[derive(Clone)]
pub struct FieldSite {
    /// Its name.
    pub name: Str,
    /// Index at which it was found last time.
    pub hint: Cell<u32>,
    /// In which struct; only compared, never followed.
    pub shape: Cell<*const StructDef>,
}

impl FieldSite {
    /// A field of that name, not read yet.
    #[must_use]
    pub fn new(name: Str) -> Self {
        Self { name, hint: Cell::new(0), shape: Cell::new(std::ptr::null()) }
    }

    /// Remembers where the field lies in structs of that shape; in a dict, when there is none.
    pub(super) fn found(&self, shape: *const StructDef, at: usize) {
        // The place is good for this shape only: both are set, always.
        self.shape.set(shape);
        self.hint.set(u32::try_from(at).unwrap_or(u32::MAX));
    }
}

/// A method call.
#[derive(Clone)]
pub struct MethodSite {
    /// Its name.
    pub name: Str,
    /// It is `push`.
    pub push: bool,
    /// Last result, and its type.
    pub cache: Cell<Option<(Tag, &'static Builtin)>>,
    /// The struct or enum whose own method it was last time; only compared, never followed.
    pub shape: Cell<*const ()>,
    /// Function of that method, which takes the arguments unchanged.
    pub function: Cell<u16>,
    /// The arguments of a method that a declaration gives were checked where they are written.
    pub checked: bool,
}

impl MethodSite {
    /// A method of that name, not called yet.
    #[must_use]
    pub fn new(name: Str, checked: bool) -> Self {
        let push = name.as_str() == "push";
        let (cache, shape) = (Cell::new(None), Cell::new(std::ptr::null()));
        Self { name, push, cache, shape, function: Cell::new(0), checked }
    }
}

/// A struct literal with a spread.
#[derive(Clone)]
pub struct Rebuild {
    /// The struct.
    pub def: Rc<StructDef>,
    /// The fields that the literal names.
    pub given: Box<[u16]>,
}

/// Place in which an assignable variable lives.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// A register.
    Register(u16),
    /// A cell in a register.
    Cell(u16),
    /// A captured cell.
    CaptureCell(u16),
    /// A global.
    Global(u32),
}

/// A place that a method changes.
#[derive(Clone, Copy)]
pub struct ChangedPlace {
    /// The variable.
    pub root: Place,
    /// Index of the path to the value, which begins at the variable; `None` if the variable holds the value itself.
    pub path: Option<u16>,
    /// Number of instructions that do the same the long way.
    pub skip: u8,
}

/// An assigned path.
#[derive(Clone)]
pub struct PathSite {
    /// The variable at its start.
    pub root: Place,
    /// The keys.
    pub keys: Box<[PathKey]>,
    /// The operator of a compound assignment.
    pub op: Option<crate::ast::BinaryOp>,
    /// Span of each key, and of the whole path.
    pub spans: Vec<Span>,
}

/// A key of an assigned path.
#[derive(Clone)]
pub struct PathKey {
    /// The register or the name.
    pub source: KeySource,
    /// Index at which it was found last time.
    pub hint: Cell<usize>,
}

/// Source of a key.
#[derive(Clone)]
pub enum KeySource {
    /// A register.
    Register(u16),
    /// The name of a field, as a string.
    Name(Value),
}

impl PathSite {
    /// A path from `root` through `keys`, not assigned yet.
    #[must_use]
    pub fn new(root: Place, keys: Vec<KeySource>, op: Option<crate::ast::BinaryOp>, spans: Vec<Span>) -> Self {
        let keys = keys.into_iter().map(|source| PathKey { source, hint: Cell::new(0) });
        Self { root, keys: keys.collect(), op, spans }
    }

    /// The registers with keys.
    pub(super) fn registers(&self) -> impl Iterator<Item = u16> {
        self.keys.iter().filter_map(|key| if let KeySource::Register(reg) = key.source { Some(reg) } else { None })
    }
}

/// Test that a pattern makes.
#[derive(Clone)]
pub enum Test {
    /// A list of `len` elements, or of at least so many.
    List {
        /// Number of elements.
        len: usize,
        /// There may be more.
        rest: bool,
    },
    /// Something that reads like a dict and has these keys.
    Keys(Vec<Str>),
    /// Instance of that struct.
    Struct(Rc<StructDef>),
    /// A variant of that enum.
    Variant(Rc<EnumDef>, u32),
}

/// Reason that `Fail` gives about a value.
#[derive(Clone)]
pub enum Failure {
    /// `match` without a fitting arm.
    NoArm,
    /// A pattern that binds, given a value that it cannot take apart.
    Unfit,
    /// `require` that does not hold; the value is the message or nil.
    Require,
}

/// Instructions `start..end` are under this handler.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// First instruction.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// Instruction at which it continues.
    pub target: u32,
    /// Register that gets the error.
    pub reg: u16,
    /// Parameters.
    pub kind: HandlerKind,
}

/// Raises that a handler catches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind {
    /// Errors and thrown values, as values.
    Catch,
    /// Errors and thrown values, as values, with the error itself in the next register, to be thrown again.
    CatchAndHold,
    /// Everything, to go on with it afterwards.
    Finally,
    /// Errors and thrown values, to go on with the last of them.
    Retry,
    /// Nothing: it stands over the block of a `finally`, and `reg` is where the raise waits that the block runs after. An
    /// interruption there goes on in place of what the block itself raises.
    CleanUp,
}

/// A call, for messages.
#[derive(Clone)]
pub struct CallSite {
    /// The instruction.
    pub pc: u32,
    /// Each argument, the receiver first for a method.
    pub args: Vec<Span>,
    /// Callee, if it is a value.
    pub callee: Option<Span>,
}

impl Proto {
    /// Its name for stack traces.
    #[must_use]
    pub fn title(&self) -> String {
        self.name.as_ref().map_or_else(|| "<closure>".to_owned(), |n| n.as_str().to_owned())
    }

    /// The call at an instruction.
    #[must_use]
    pub fn call_at(&self, pc: usize) -> Option<&CallSite> {
        let pc = u32::try_from(pc).ok()?;
        self.calls.binary_search_by_key(&pc, |c| c.pc).ok().map(|i| &self.calls[i])
    }

    /// Returns the builtin that the instruction at `pc` called last, if scripts can name it.
    pub(super) fn builtin_at(&self, pc: usize) -> Option<&'static Builtin> {
        match *self.code.get(pc)? {
            Op::CallBuiltin { builtin, .. } => {
                self.builtins.get(usize::from(builtin)).copied().filter(|row| !row.is_method())
            }
            Op::CallMethod { site, .. } | Op::MethodInPlace { site, .. } => {
                self.methods.get(usize::from(site))?.cache.get().map(|(_, row)| row)
            }
            _ => None,
        }
    }

    /// The distance of a short jump that did not fit.
    pub(super) fn far(&self, pc: usize) -> i32 {
        let pc = u32::try_from(pc).unwrap_or(u32::MAX);
        self.far.binary_search_by_key(&pc, |f| f.0).map_or(0, |i| self.far[i].1)
    }
}
