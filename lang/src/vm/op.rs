//! The instructions: eight bytes each, operands are register numbers in the running window.
//!
//! Each instruction is defined once, by its row in the table below: name, operands with their [roles](role), effect, and how it
//! prints. The type [`Op`], the walk over the operands that the verifier and the listing share, and the jumps that the compiler
//! fills in come from there. What an instruction does is written twice: in full in `dispatch`, and its common case in `fast`. Neither
//! has a wildcard arm, so a new row does not build until both handle it.

#[macro_use]
mod define;
mod operand;
#[cfg(test)]
mod tests;

pub use operand::{Distance, role};
pub(super) use operand::{Effect, Extent, Operand};

/// A register of the running window.
pub type Reg = u16;

/// Arguments lie in one list instead of registers (calls with `...xs`, and very long ones).
pub const IN_LIST: u8 = u8::MAX;

/// A short jump that does not fit; the distance is in [`super::Proto::far`].
pub const FAR: i16 = i16::MIN;

instructions! {
    /// `dst = src`
    Move { dst: Write, src: Read } goes_on "{dst} = {src}",
    /// `dst = src`, and `src` is nil afterwards: for temporaries.
    Take { dst: Write, src: Taken } goes_on "{dst} = {src}",
    /// Sets `count` registers from `from` on to nil, so that temporaries do not keep collections shared.
    Clear { from: Window[Registers(count)], count: Count } goes_on "{from}",
    /// `dst = constants[k]`
    Const { dst: Write, k: Constant } goes_on "{dst} = {k}",
    /// `dst = value`
    Int { dst: Write, value: Long } goes_on "{dst} = {value}",
    /// `dst = nil`
    Nil { dst: Write } goes_on "{dst} = nil",
    /// `dst = value`
    Bool { dst: Write, value: Truth } goes_on "{dst} = {value}",
    /// `dst = globals[slot]`; raises when it is not bound yet.
    GetGlobal { dst: Write, slot: Global } goes_on "{dst} = {slot}",
    /// `globals[slot] = src`
    SetGlobal { src: Read, slot: Global } goes_on "{slot} = {src}",
    /// `dst = captures[index]`, for what was captured by value.
    GetCapture { dst: Write, index: Capture } goes_on "{dst} = {index}",
    /// `dst = *captures[index]`
    GetCaptureCell { dst: Write, index: Capture } goes_on "{dst} = *{index}",
    /// `*captures[index] = src`
    SetCaptureCell { src: Read, index: Capture } goes_on "*{index} = {src}",
    /// `reg = cell(reg)`
    NewCell { reg: Change } goes_on "{reg} = cell({reg})",
    /// `reg = cell(unbound)`
    EmptyCell { reg: Write } goes_on "{reg} = cell()",
    /// `dst = *cell`
    GetCell { dst: Write, cell: Read } goes_on "{dst} = *{cell}",
    /// `*cell = src`
    SetCell { cell: Read, src: Read } goes_on "*{cell} = {src}",
    /// `dst = closure(protos[proto])` with its captures.
    Closure { dst: Write, proto: Inner } goes_on "{dst} = {proto}",
    /// `dst =` the running closure.
    Myself { dst: Write } goes_on "{dst}",

    /// `dst = a + b`
    Add { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} + {b}",
    /// `dst = a - b`
    Sub { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} - {b}",
    /// `dst = a * b`
    Mul { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} * {b}",
    /// `dst = a / b`
    Div { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} / {b}",
    /// `dst = a % b`
    Rem { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} % {b}",
    /// `dst = a ** b`
    Pow { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} ** {b}",
    /// `dst = a + imm`
    AddInt { dst: Write, a: Read, imm: Short } goes_on "{dst} = {a} + {imm}",
    /// `dst = a - imm`; separate from `AddInt` so that errors name `-`.
    SubInt { dst: Write, a: Read, imm: Short } goes_on "{dst} = {a} - {imm}",
    /// `dst = a * imm`
    MulInt { dst: Write, a: Read, imm: Short } goes_on "{dst} = {a} * {imm}",
    /// `dst = a / imm`
    DivInt { dst: Write, a: Read, imm: Short } goes_on "{dst} = {a} / {imm}",
    /// `dst = a % imm`
    RemInt { dst: Write, a: Read, imm: Short } goes_on "{dst} = {a} % {imm}",
    /// `dst = -a`
    Neg { dst: Write, a: Read } goes_on "{dst} = -{a}",
    /// `dst = !a`
    Not { dst: Write, a: Read } goes_on "{dst} = !{a}",
    /// `dst = a == b`
    Eq { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} == {b}",
    /// `dst = a != b`
    Ne { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} != {b}",
    /// `dst = a < b`
    Lt { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} < {b}",
    /// `dst = a <= b`
    Le { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} <= {b}",
    /// `dst = a > b`
    Gt { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} > {b}",
    /// `dst = a >= b`
    Ge { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} >= {b}",
    /// `dst = a in b`
    In { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} in {b}",
    /// `dst = a not in b`
    NotIn { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} not in {b}",
    /// `dst = bool(a)`
    Truth { dst: Write, a: Read } goes_on "{dst} = {a}",

    /// Jumps forward.
    Jump { by: Forward } jumps "{by}",
    /// Jumps back; fuel, cancellation and time slices are checked here.
    Loop { by: Back } jumps "{by}",
    /// Does what `Loop` does, back to a `ForNext`.
    LoopFor { by: Back } jumps "{by} for",
    /// Does what `Loop` does, back to an `UnlessLt`.
    LoopLt { by: Back } jumps "{by} <",
    /// Does what `Loop` does, back to an `UnlessLe`.
    LoopLe { by: Back } jumps "{by} <=",
    /// Does what `Loop` does, back to an `UnlessLtInt`.
    LoopLtInt { by: Back } jumps "{by} < int",
    /// Jumps when `a` is true.
    JumpIf { a: Read, by: Forward } branches "{a} {by}",
    /// Jumps when `a` is false.
    JumpUnless { a: Read, by: Forward } branches "{a} {by}",
    /// Jumps when `object[index]` is true.
    JumpIfItem { object: Read, index: Read, by: Near } branches "{object}[{index}] {by}",
    /// Jumps when `object[index]` is false.
    JumpUnlessItem { object: Read, index: Read, by: Near } branches "{object}[{index}] {by}",
    /// Jumps when `a` is nil.
    JumpIfNil { a: Read, by: Forward } branches "{a} {by}",
    /// Jumps when `a` is not nil.
    JumpIfNotNil { a: Read, by: Forward } branches "{a} {by}",
    /// Jumps when `a` is nil or an `Err`, to skip the rest of a `?.` chain.
    JumpIfNone { a: Read, by: Forward } branches "{a} {by}",
    /// Jumps unless `a < b`.
    UnlessLt { a: Read, b: Read, by: Near } branches "{a} < {b} {by}",
    /// Jumps unless `a <= b`.
    UnlessLe { a: Read, b: Read, by: Near } branches "{a} <= {b} {by}",
    /// Jumps unless `a > b`.
    UnlessGt { a: Read, b: Read, by: Near } branches "{a} > {b} {by}",
    /// Jumps unless `a >= b`.
    UnlessGe { a: Read, b: Read, by: Near } branches "{a} >= {b} {by}",
    /// Jumps unless `a == b`.
    UnlessEq { a: Read, b: Read, by: Near } branches "{a} == {b} {by}",
    /// Jumps unless `a != b`.
    UnlessNe { a: Read, b: Read, by: Near } branches "{a} != {b} {by}",
    /// Jumps unless `a < imm`.
    UnlessLtInt { a: Read, imm: Short, by: Near } branches "{a} < {imm} {by}",
    /// Jumps unless `a <= imm`.
    UnlessLeInt { a: Read, imm: Short, by: Near } branches "{a} <= {imm} {by}",
    /// Jumps unless `a > imm`.
    UnlessGtInt { a: Read, imm: Short, by: Near } branches "{a} > {imm} {by}",
    /// Jumps unless `a >= imm`.
    UnlessGeInt { a: Read, imm: Short, by: Near } branches "{a} >= {imm} {by}",
    /// Jumps unless `a == imm`.
    UnlessEqInt { a: Read, imm: Short, by: Near } branches "{a} == {imm} {by}",
    /// Jumps unless `a != imm`.
    UnlessNeInt { a: Read, imm: Short, by: Near } branches "{a} != {imm} {by}",

    /// Calls the value in `base` with the arguments behind it.
    Call { argc: Given, dst: Write, base: Window[Callee(argc)] } goes_on "{dst} = {base}",
    /// Calls a function known when compiling; arguments from `base` on.
    CallFn { argc: Given, dst: Write, base: Window[Arguments(argc)], func: Function } goes_on "{dst} = {func}{base}",
    /// Calls a builtin known when compiling; arguments from `base` on.
    CallBuiltin { argc: Given, dst: Write, base: Window[Arguments(argc)], builtin: Builtin } goes_on "{dst} = {builtin}{base}",
    /// Calls a method of the value in `base`; arguments behind it.
    CallMethod { argc: Given, dst: Write, base: Window[Receiver(argc)], site: Method } goes_on "{dst} = {site}{base}",
    /// `x = x.method(…)`: the receiver is taken out of its place and the result put back; arguments from `base + 1` on.
    MethodInPlace { argc: Given, base: Window[InPlace(argc)], site: Method, place: Place } branches "{site}{base} of {place}",
    /// Makes an iterator of the running call and returns it; the instructions behind run when it is asked for an item.
    Generator { flavor: Kind } goes_on "{flavor}",
    /// Passes `src` to the caller that asked the running iterator for an item.
    Yield { src: Taken } goes_on "{src}",
    /// Ends the running iterator. What it returned is `src`.
    Finish { src: Taken } ends "{src}",
    /// Replaces an iterator in `reg` with the list of its items; leaves other values unchanged.
    Drain { reg: Change } goes_on "{reg}",
    /// A self tail call: arguments from `base` on become the parameters.
    TailSelf { argc: Given, base: Window[Parameters(argc)] } ends "{base}",
    /// Returns `src` to the caller.
    Return { src: Taken } ends "{src}",
    /// Returns nil to the caller.
    ReturnNil ends "",

    /// A list of `len` values from `base` on.
    List { dst: Write, base: Window[Registers(len)], len: Count } goes_on "{dst} = list {base}",
    /// Appends `value` to a list that is being made.
    ListPush { list: Change, value: Read } goes_on "{list} push {value}",
    /// Appends the items of `value` to a list that is being made.
    ListExtend { list: Change, value: Read } goes_on "{list} push ...{value}",
    /// A dict with the keys of `shapes[shape]` and the values from `base` on.
    DictOf { dst: Write, base: Window[Keys(shape)], shape: Shape } goes_on "{dst} = {shape} {base}",
    /// Sets a key of a dict that is being made.
    DictSet { dict: Change, key: Read, value: Read } goes_on "{dict}[{key}] = {value}",
    /// Puts the entries of `value` into a dict that is being made.
    DictMerge { dict: Change, value: Read } goes_on "{dict} put ...{value}",
    /// `dst = (a, b)`
    Pair { dst: Write, a: Read, b: Read } goes_on "{dst} = ({a}, {b})",
    /// `dst = a to b`
    Range { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} to {b}",
    /// `dst = a to b exclusive`
    RangeExclusive { dst: Write, a: Read, b: Read } goes_on "{dst} = {a} to {b}",
    /// The texts of `len` values from `base` on, joined.
    Concat { dst: Write, base: Window[Registers(len)], len: Count } goes_on "{dst} = join {base}",
    /// A struct of `structs[def]` with the values from `base` on, one for each field.
    StructOf { dst: Write, base: Window[Fields(def)], def: Struct } goes_on "{dst} = {def} {base}",
    /// A struct made from the value in `base`, with the values behind it for the fields of `rebuilds[site]`.
    StructFrom { dst: Write, base: Window[Spread(site)], site: Rebuild } goes_on "{dst} = {site} {base}",
    /// Jumps when field `index` of a struct that is being made has a value.
    JumpIfSlot { object: Read, index: Number, by: Near } branches "{object}[{index}] {by}",
    /// Field `index` of a struct that is being made.
    SetSlot { object: Change, src: Taken, index: Number } goes_on "{object}[{index}] = {src}",
    /// The variant `variants[site]` with the values from `base` on.
    VariantOf { dst: Write, base: Window[Values(site)], site: Variant } goes_on "{dst} = {site} {base}",
    /// `dst =` the function of that number.
    Function { dst: Write, func: Function } goes_on "{dst} = {func}",

    /// `dst = object.field`
    GetField { dst: Write, object: Read, field: Field } goes_on "{dst} = {object}{field}",
    /// `object.field = src`, where `object` is a variable's register.
    SetField { object: Change, src: Taken, field: Field } goes_on "{object}{field} = {src}",
    /// `dst = object[index]`
    GetIndex { dst: Write, object: Read, index: Read } goes_on "{dst} = {object}[{index}]",
    /// `?[ ]`: nil where an index is out of range.
    GetIndexOr { dst: Write, object: Read, index: Read } goes_on "{dst} = {object}?[{index}]",
    /// From `bounds` to `bounds + 1`.
    Slice { dst: Write, object: Read, bounds: Window[Two] } goes_on "{dst} = {object}{bounds}",
    /// Does what the next `GetIndex` and `GetField` do, and skips them, if `object` is a list and its item has the field at the
    /// index where it was found last time.
    ItemField { by: Skip, dst: Write, object: Read, index: Read } branches "{dst} = {object}[{index}] field {by}",
    /// `object[index] = src`, where `object` is a variable's register.
    SetIndex { object: Change, index: Read, src: Taken } goes_on "{object}[{index}] = {src}",
    /// `object[index] = constants[k]`, where `object` is a variable's register.
    SetIndexConst { object: Change, index: Read, k: ShortConstant } goes_on "{object}[{index}] = {k}",
    /// Assigns to a path.
    AssignPath { src: Taken, path: Path } goes_on "{path} {src}",
    /// A compound assignment to a path.
    UpdatePath { src: Read, path: Path } goes_on "{path} {src}",

    /// Makes the value in `base` ready to be walked; `base + 1` becomes the position.
    ForPrep { base: Window[Two] } goes_on "{base}",
    /// Stores the next item in `dst`, or jumps at the end.
    ForNext { base: Window[Two], dst: Write, by: Near } branches "{dst} of {base} {by}",

    /// Throws `src`.
    Throw { src: Read } ends "{src}",
    /// Throws what a `catch` bound, as the error that waits in `held`.
    ThrowAgain { src: Read, held: Read } ends "{src} as {held}",
    /// Goes on with what a `finally` interrupted.
    Rethrow { src: Read } goes_on "{src}",
    /// Raises the cancellation, deadline or `exit` that a `finally` interrupted, if there is one: it would be lost when
    /// control leaves the `finally` here.
    RethrowInterruption { src: Read } goes_on "{src}",
    /// `dst = Ok(src)`
    Ok { dst: Write, src: Read } goes_on "{dst} = {src}",
    /// `dst = Err(src)`
    Err { dst: Write, src: Read } goes_on "{dst} = {src}",
    /// `e?`: stores the value of an `Ok` and jumps; goes on with the next instruction for an `Err`.
    Unwrap { dst: Write, src: Read, by: Near } branches "{dst} = {src} {by}",
    /// `try* e`: the value of an `Ok`, or its error thrown.
    TryStar { dst: Write, src: Read } goes_on "{dst} = {src}",

    /// Whether `src` is a list of the right length for `tests[test]`.
    IsList { dst: Write, src: Read, test: Test } goes_on "{dst} = {src} is {test}",
    /// Whether `src` has the keys of `tests[test]`.
    HasKeys { dst: Write, src: Read, test: Test } goes_on "{dst} = {src} is {test}",
    /// Jumps unless `a` is the variant of `tests[test]`.
    UnlessVariant { a: Read, test: Test, by: Near } branches "{a} is {test} {by}",
    /// Whether `src` is a pair.
    IsPair { dst: Write, src: Read } goes_on "{dst} = {src} is pair",
    /// Whether `src` has the type `types[ty]`.
    IsType { dst: Write, src: Read, ty: Type } goes_on "{dst} = {src} is {ty}",
    /// Raises unless `src` has the type of `borders[at]`. A value whose tag is one of `plain` has it.
    Expect { src: Read, at: Border, plain: Tags } goes_on "{src} {at}",
    /// An element of a list pattern, nil when there is none.
    Item { dst: Write, src: Read, index: Number } goes_on "{dst} = {src}[{index}]",
    /// Value of `...rest` in a list pattern.
    ItemsFrom { dst: Write, src: Read, index: Number } goes_on "{dst} = {src}[{index}:]",
    /// A key of a dict pattern, nil when it is absent.
    Key { dst: Write, src: Read, field: Field } goes_on "{dst} = {src}{field}",
    /// Value of `...rest` in a dict pattern: all but the keys of `shapes[shape]`.
    KeysBut { dst: Write, src: Read, shape: Shape } goes_on "{dst} = {src} without {shape}",
    /// A value of a variant.
    Value { dst: Write, src: Read, index: Number } goes_on "{dst} = {src}[{index}]",
    /// One side of a pair.
    Part { dst: Write, src: Read, index: Number } goes_on "{dst} = {src}[{index}]",
    /// Raises `failures[kind]`, about the value in `src`.
    Fail { src: Read, kind: Failure } ends "{src} {kind}",
}

const _: () = assert!(size_of::<Op>() == 8);
