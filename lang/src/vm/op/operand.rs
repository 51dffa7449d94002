//! Roles of operands.

use super::{IN_LIST, Reg};
use crate::value::Flavor;
use crate::vm::Proto;

/// The roles of operands, as the table of instructions names them: each is the type in which the operand is written down.
pub mod role {
    use super::{Flavor, Reg};

    /// A register that is read.
    pub type Read = Reg;
    /// A register that is read, and nil afterwards.
    pub type Taken = Reg;
    /// A register that is written.
    pub type Write = Reg;
    /// A register that is read and written.
    pub type Change = Reg;
    /// The first of some registers in a row.
    pub type Window = Reg;
    /// Number of registers of a window.
    pub type Count = u16;
    /// Number of arguments of a call; [`IN_LIST`](super::IN_LIST) if they are in a list.
    pub type Given = u8;
    /// A number.
    pub type Long = i32;
    /// A small number.
    pub type Short = i16;
    /// A position among the items, fields or values of a value.
    pub type Number = u16;
    /// True or false.
    pub type Truth = bool;
    /// Kind of the iterator.
    pub type Kind = Flavor;
    /// A jump forward.
    pub type Forward = i32;
    /// A jump back.
    pub type Back = i32;
    /// A jump forward that may be [`FAR`](super::super::FAR).
    pub type Near = i16;
    /// A jump forward over a few instructions.
    pub type Skip = u8;
    /// A global.
    pub type Global = u32;
    /// A function that is called by its number.
    pub type Function = u16;
    /// A capture of the running closure.
    pub type Capture = u16;
    /// An index into `constants`.
    pub type Constant = u32;
    /// An index into `constants` in sixteen bits.
    pub type ShortConstant = u16;
    /// An index into `protos`.
    pub type Inner = u32;
    /// An index into `builtins`.
    pub type Builtin = u16;
    /// An index into `methods`.
    pub type Method = u16;
    /// An index into `places`.
    pub type Place = u16;
    /// An index into `shapes`.
    pub type Shape = u16;
    /// An index into `structs`.
    pub type Struct = u16;
    /// An index into `rebuilds`.
    pub type Rebuild = u16;
    /// An index into `variants`.
    pub type Variant = u16;
    /// An index into `fields`.
    pub type Field = u16;
    /// An index into `paths`.
    pub type Path = u16;
    /// An index into `tests`.
    pub type Test = u16;
    /// An index into `types`.
    pub type Type = u16;
    /// An index into `borders`.
    pub type Border = u16;
    /// Variants of values, a bit each.
    pub type Tags = u16;
    /// An index into `failures`.
    pub type Failure = u16;
}

/// An operand with its role.
#[derive(Clone, Copy, Debug)]
pub(in crate::vm) enum Operand {
    Read(role::Read),
    Taken(role::Taken),
    Write(role::Write),
    Change(role::Change),
    Window(role::Window, Extent),
    Count(role::Count),
    Given(role::Given),
    Long(role::Long),
    Short(role::Short),
    Number(role::Number),
    Truth(role::Truth),
    Kind(role::Kind),
    Forward(role::Forward),
    Back(role::Back),
    Near(role::Near),
    Skip(role::Skip),
    Global(role::Global),
    Function(role::Function),
    Capture(role::Capture),
    Constant(role::Constant),
    ShortConstant(role::ShortConstant),
    Inner(role::Inner),
    Builtin(role::Builtin),
    Method(role::Method),
    Place(role::Place),
    Shape(role::Shape),
    Struct(role::Struct),
    Rebuild(role::Rebuild),
    Variant(role::Variant),
    Field(role::Field),
    Path(role::Path),
    Test(role::Test),
    Type(role::Type),
    Border(role::Border),
    Tags(role::Tags),
    Failure(role::Failure),
}

/// Number of registers that an operand covers in a window.
#[derive(Clone, Copy, Debug)]
pub(in crate::vm) enum Extent {
    /// This many.
    Registers(u16),
    /// Two.
    Two,
    /// The arguments of a call.
    Arguments(u8),
    /// Callee and arguments.
    Callee(u8),
    /// The receiver, and the arguments.
    Receiver(u8),
    /// Room for the receiver, and the arguments, which never lie in a list.
    InPlace(u8),
    /// Arguments that become the parameters, and never lie in a list.
    Parameters(u8),
    /// A value for each key of a shape.
    Keys(u16),
    /// A value for each field of a struct.
    Fields(u16),
    /// Value that is spread into a struct, and a value for each given field.
    Spread(u16),
    /// The values of a variant.
    Values(u16),
}

impl Extent {
    /// Returns the number of registers; `None` if it depends on a table entry that the function does not have.
    pub(in crate::vm) fn registers(self, proto: &Proto) -> Option<usize> {
        let given = |argc: u8| if argc == IN_LIST { 1 } else { usize::from(argc) };
        Some(match self {
            Self::Registers(count) => usize::from(count),
            Self::Two => 2,
            Self::Arguments(argc) => given(argc),
            Self::Callee(argc) | Self::Receiver(argc) => 1 + given(argc),
            Self::InPlace(argc) => 1 + usize::from(argc),
            Self::Parameters(argc) => usize::from(argc),
            Self::Keys(shape) => proto.shapes.get(usize::from(shape))?.len(),
            Self::Fields(def) => proto.structs.get(usize::from(def))?.fields.len(),
            Self::Spread(site) => 1 + proto.rebuilds.get(usize::from(site))?.given.len(),
            Self::Values(site) => {
                let (def, tag) = proto.variants.get(usize::from(site))?;
                def.variants.get(*tag as usize)?.arity
            }
        })
    }
}

/// Instructions that can follow one that does not raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::vm) enum Effect {
    /// The next one.
    GoesOn,
    /// The next one, or the one to which it jumps.
    Branches,
    /// The one to which it jumps.
    Jumps,
    /// None that follows it.
    Ends,
}

/// The place of a jump's distance in its instruction.
pub enum Distance<'a> {
    /// Any distance.
    Long(&'a mut i32),
    /// A short one, or [`FAR`](super::FAR).
    Near(&'a mut i16),
}
