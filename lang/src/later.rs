//! Types that an early stage stores and a later stage defines.
//!
//! A function is a value, and its code holds values; a row of a builtin holds a function that takes values. So the data of early
//! stages contains types of later ones. An early stage names such a type by a trait in this module, and the later stage says by an
//! `impl` which type it is. The early stage passes these types on and does not look into them.

/// Types that the machine adds to values and to the rows of builtins.
pub trait Machine {
    /// The code of a function.
    type Proto;
    /// The function of a builtin.
    type Run: Copy;
    /// A host value as a function.
    type Callable<'a>: ?Sized;
    /// A step of an iteration over a host value.
    type Next;

    /// Charges steps of a walk over values. Returns whether the walk must stop.
    fn charge_walk(steps: u64) -> bool;

    /// Returns whether a walk must stop because the memory of the run has no room for so many bytes.
    fn lacks_room(bytes: usize) -> bool;
}

/// Types that the checker adds to the rows of builtins.
pub trait CheckTypes {
    /// A check on the syntax of a call.
    type Lint: Copy;
    /// The types of what a file exports.
    type Exported;
}

/// This crate, for which the later stages implement the traits of this module.
#[derive(Debug)]
pub enum ThisCrate {}
