//! The instructions: eight bytes each, operands are register numbers in the running window.

use crate::value::Flavor;

/// A register of the running window.
pub type Reg = u16;

/// Arguments lie in one list instead of registers (calls with `...xs`, and very long ones).
pub const IN_LIST: u8 = u8::MAX;

/// A short jump that does not fit; the distance is in [`super::Proto::far`].
pub const FAR: i16 = i16::MIN;

/// One instruction. Jump distances count from the instruction behind.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
#[allow(missing_docs)] // The operands' names say it; the variants are documented.
pub enum Op {
    /// `dst = src`
    Move {
        dst: Reg,
        src: Reg,
    },
    /// `dst = src`, and `src` is nil afterwards: for temporaries.
    Take {
        dst: Reg,
        src: Reg,
    },
    /// Nil in `count` registers from `from` on, so that temporaries do not keep collections shared.
    Clear {
        from: Reg,
        count: u16,
    },
    /// `dst = constants[k]`
    Const {
        dst: Reg,
        k: u32,
    },
    /// `dst = value`
    Int {
        dst: Reg,
        value: i32,
    },
    /// `dst = nil`
    Nil {
        dst: Reg,
    },
    /// `dst = value`
    Bool {
        dst: Reg,
        value: bool,
    },
    /// `dst = globals[slot]`; raises when it is not bound yet.
    GetGlobal {
        dst: Reg,
        slot: u32,
    },
    /// `globals[slot] = src`
    SetGlobal {
        src: Reg,
        slot: u32,
    },
    /// `dst = captures[index]`, for what was captured by value.
    GetCapture {
        dst: Reg,
        index: u16,
    },
    /// `dst = *captures[index]`
    GetCaptureCell {
        dst: Reg,
        index: u16,
    },
    /// `*captures[index] = src`
    SetCaptureCell {
        src: Reg,
        index: u16,
    },
    /// `reg = cell(reg)`
    NewCell {
        reg: Reg,
    },
    /// `reg = cell(unbound)`
    EmptyCell {
        reg: Reg,
    },
    /// `dst = *cell`
    GetCell {
        dst: Reg,
        cell: Reg,
    },
    /// `*cell = src`
    SetCell {
        cell: Reg,
        src: Reg,
    },
    /// `dst = closure(protos[proto])` with its captures.
    Closure {
        dst: Reg,
        proto: u32,
    },
    /// `dst =` the running closure.
    Myself {
        dst: Reg,
    },

    Add {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Sub {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Mul {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Div {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Rem {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Pow {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// `dst = a + imm`; subtraction is the same with `-imm`.
    AddInt {
        dst: Reg,
        a: Reg,
        imm: i16,
    },
    /// As `AddInt`, written as a subtraction: errors name `-`.
    SubInt {
        dst: Reg,
        a: Reg,
        imm: i16,
    },
    MulInt {
        dst: Reg,
        a: Reg,
        imm: i16,
    },
    RemInt {
        dst: Reg,
        a: Reg,
        imm: i16,
    },
    Neg {
        dst: Reg,
        a: Reg,
    },
    Not {
        dst: Reg,
        a: Reg,
    },
    Eq {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Ne {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Lt {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Le {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Gt {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Ge {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    In {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    NotIn {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// `dst = bool(a)`
    Truth {
        dst: Reg,
        a: Reg,
    },

    Jump {
        by: i32,
    },
    /// A jump back: fuel, cancellation and time slices are looked at here.
    Loop {
        by: i32,
    },
    JumpIf {
        a: Reg,
        by: i32,
    },
    JumpUnless {
        a: Reg,
        by: i32,
    },
    JumpIfNil {
        a: Reg,
        by: i32,
    },
    JumpIfNotNil {
        a: Reg,
        by: i32,
    },
    /// Nil or `Err`: the rest of a `?.` chain is skipped.
    JumpIfNone {
        a: Reg,
        by: i32,
    },
    UnlessLt {
        a: Reg,
        b: Reg,
        by: i16,
    },
    UnlessLe {
        a: Reg,
        b: Reg,
        by: i16,
    },
    UnlessGt {
        a: Reg,
        b: Reg,
        by: i16,
    },
    UnlessGe {
        a: Reg,
        b: Reg,
        by: i16,
    },
    UnlessEq {
        a: Reg,
        b: Reg,
        by: i16,
    },
    UnlessNe {
        a: Reg,
        b: Reg,
        by: i16,
    },
    UnlessLtInt {
        a: Reg,
        imm: i16,
        by: i16,
    },
    UnlessLeInt {
        a: Reg,
        imm: i16,
        by: i16,
    },
    UnlessGtInt {
        a: Reg,
        imm: i16,
        by: i16,
    },
    UnlessGeInt {
        a: Reg,
        imm: i16,
        by: i16,
    },
    UnlessEqInt {
        a: Reg,
        imm: i16,
        by: i16,
    },
    UnlessNeInt {
        a: Reg,
        imm: i16,
        by: i16,
    },

    /// Calls the value in `base` with the arguments behind it.
    Call {
        argc: u8,
        dst: Reg,
        base: Reg,
    },
    /// Calls a function known when compiling; arguments from `base` on.
    CallFn {
        argc: u8,
        dst: Reg,
        base: Reg,
        func: u16,
    },
    /// Calls a builtin known when compiling; arguments from `base` on.
    CallBuiltin {
        argc: u8,
        dst: Reg,
        base: Reg,
        builtin: u16,
    },
    /// Calls a method of the value in `base`; arguments behind it.
    CallMethod {
        argc: u8,
        dst: Reg,
        base: Reg,
        site: u16,
    },
    /// `x = x.method(…)`: the receiver is taken out of its place and the result put back; arguments from `base + 1` on.
    MethodInPlace {
        argc: u8,
        base: Reg,
        site: u16,
        place: u16,
    },
    /// Makes an iterator of the running call and returns it; the instructions behind run when it is asked for an item.
    Generator {
        flavor: Flavor,
    },
    /// Gives `src` to whoever asked the running iterator for an item.
    Yield {
        src: Reg,
    },
    /// Ends the running iterator. What it returned is `src`.
    Finish {
        src: Reg,
    },
    /// An iterator in `reg` becomes the list of its items; nothing else changes.
    Drain {
        reg: Reg,
    },
    /// A self tail call: arguments from `base` on become the parameters.
    TailSelf {
        argc: u8,
        base: Reg,
    },
    Return {
        src: Reg,
    },
    ReturnNil,

    List {
        dst: Reg,
        base: Reg,
        len: u16,
    },
    ListPush {
        list: Reg,
        value: Reg,
    },
    ListExtend {
        list: Reg,
        value: Reg,
    },
    /// A dict with the keys of `shapes[shape]` and the values from `base` on.
    DictOf {
        dst: Reg,
        base: Reg,
        shape: u16,
    },
    DictSet {
        dict: Reg,
        key: Reg,
        value: Reg,
    },
    DictMerge {
        dict: Reg,
        value: Reg,
    },
    Pair {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Range {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    RangeExclusive {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// The texts of `len` values from `base` on, joined.
    Concat {
        dst: Reg,
        base: Reg,
        len: u16,
    },
    /// A struct of `structs[def]` with the values from `base` on, one for each field.
    StructOf {
        dst: Reg,
        base: Reg,
        def: u16,
    },
    /// A struct made from the value in `base`, with the values behind it for the fields of `rebuilds[site]`.
    StructFrom {
        dst: Reg,
        base: Reg,
        site: u16,
    },
    /// Jumps when field `index` of a struct that is being made has a value.
    JumpIfSlot {
        object: Reg,
        index: u16,
        by: i16,
    },
    /// Field `index` of a struct that is being made.
    SetSlot {
        object: Reg,
        src: Reg,
        index: u16,
    },
    /// The variant `variants[site]` with the values from `base` on.
    VariantOf {
        dst: Reg,
        base: Reg,
        site: u16,
    },
    /// `dst =` the function of that number.
    Function {
        dst: Reg,
        func: u16,
    },

    GetField {
        dst: Reg,
        object: Reg,
        field: u16,
    },
    /// `object.field = src`, where `object` is a variable's register.
    SetField {
        object: Reg,
        src: Reg,
        field: u16,
    },
    GetIndex {
        dst: Reg,
        object: Reg,
        index: Reg,
    },
    /// `?[ ]`: nil where an index is out of range.
    GetIndexOr {
        dst: Reg,
        object: Reg,
        index: Reg,
    },
    /// From `bounds` to `bounds + 1`.
    Slice {
        dst: Reg,
        object: Reg,
        bounds: Reg,
    },
    /// An assignment to a path; keys from `base` on, the value behind them.
    AssignPath {
        base: Reg,
        path: u16,
    },

    /// Makes the value in `base` ready to be walked; `base + 1` becomes the position.
    ForPrep {
        base: Reg,
    },
    /// The next item in `dst`, or a jump at the end.
    ForNext {
        base: Reg,
        dst: Reg,
        by: i16,
    },

    Throw {
        src: Reg,
    },
    /// Throws what a `catch` bound, as the error that waits in `held`.
    ThrowAgain {
        src: Reg,
        held: Reg,
    },
    /// Goes on with what a `finally` interrupted.
    Rethrow {
        src: Reg,
    },
    /// Goes on with the cancellation, deadline or `exit` that a `finally` interrupted and would be left behind now; there may
    /// be none.
    RethrowInterruption {
        src: Reg,
    },
    Ok {
        dst: Reg,
        src: Reg,
    },
    Err {
        dst: Reg,
        src: Reg,
    },
    /// `e?`: the value of an `Ok` and a jump, or on with the `Err`.
    Unwrap {
        dst: Reg,
        src: Reg,
        by: i16,
    },
    /// `try* e`: the value of an `Ok`, or its error thrown.
    TryStar {
        dst: Reg,
        src: Reg,
    },

    /// Whether `src` is a list of the right length for `tests[test]`.
    IsList {
        dst: Reg,
        src: Reg,
        test: u16,
    },
    /// Whether `src` has the keys of `tests[test]`.
    HasKeys {
        dst: Reg,
        src: Reg,
        test: u16,
    },
    /// Jumps unless `a` is the variant of `tests[test]`.
    UnlessVariant {
        a: Reg,
        test: u16,
        by: i16,
    },
    /// Whether `src` is a pair.
    IsPair {
        dst: Reg,
        src: Reg,
    },
    /// Whether `src` has the type `types[ty]`.
    IsType {
        dst: Reg,
        src: Reg,
        ty: u16,
    },
    /// An element of a list pattern, nil when there is none.
    Item {
        dst: Reg,
        src: Reg,
        index: u16,
    },
    /// What a list pattern's `...rest` holds.
    ItemsFrom {
        dst: Reg,
        src: Reg,
        index: u16,
    },
    /// A key of a dict pattern, nil when it is absent.
    Key {
        dst: Reg,
        src: Reg,
        field: u16,
    },
    /// What a dict pattern's `...rest` holds: all but the keys of `shapes[shape]`.
    KeysBut {
        dst: Reg,
        src: Reg,
        shape: u16,
    },
    /// A value of a variant.
    Value {
        dst: Reg,
        src: Reg,
        index: u16,
    },
    /// One side of a pair.
    Part {
        dst: Reg,
        src: Reg,
        index: u16,
    },
    /// Raises `failures[kind]`, about the value in `src`.
    Fail {
        src: Reg,
        kind: u16,
    },
}

const _: () = assert!(size_of::<Op>() == 8);
