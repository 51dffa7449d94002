//! Code generated from the table of instructions.

/// Turns rows `Name { operand: Role, … } effect "text"` into the type [`Op`](super::Op) and its visitors of operands. A
/// window's role is followed by how many registers it has; `{operand}` in the text is where that operand is printed.
macro_rules! instructions {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident $({ $($operand:ident: $role:ident $([$extent:ident $(($by:ident))?])?),* })? $effect:ident $text:literal,
    )*) => {
        /// One instruction. Jump distances count from the next instruction.
        #[derive(Clone, Copy, Debug)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the operands' names say it; the variants are documented")]
        pub enum Op {
            $($(#[doc = $doc])* $name $({ $($operand: role::$role),* })?,)*
        }

        impl Op {
            /// Calls `see` with each operand in the order of the table; stops at the first error.
            ///
            /// # Errors
            /// Returns the first error of `see`.
            #[inline]
            pub(super) fn each_operand<E>(
                self,
                mut see: impl FnMut(&'static str, Operand) -> Result<(), E>,
            ) -> Result<(), E> {
                match self {
                    $(Self::$name { $($($operand),*)? } => {
                        $($(see(stringify!($operand), Operand::$role($operand $(, Extent::$extent $(($by))?)?))?;)*)?
                        Ok(())
                    })*
                }
            }

            /// Returns the jump distance in the instruction; `None` if it does not jump.
            pub fn distance(&mut self) -> Option<Distance<'_>> {
                match self {
                    $(Self::$name { $($($operand),*)? } => {
                        let found = None;
                        $($(let found = distance!($role $operand).or(found);)*)?
                        found
                    })*
                }
            }

            /// Code that runs after it.
            pub(super) const fn effect(self) -> Effect {
                match self {
                    $(Self::$name { .. } => effect!($effect),)*
                }
            }

            /// Its name in the table.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name),)*
                }
            }

            /// Returns the format in which it prints: `{operand}` is replaced by an operand.
            pub(super) const fn text(self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $text,)*
                }
            }

            /// One instruction of each kind, whose operands are all zero.
            #[cfg(test)]
            pub(super) fn all() -> Vec<Self> {
                vec![$(Self::$name { $($($operand: zero!($role)),*)? }),*]
            }
        }
    };
}

macro_rules! effect {
    (goes_on) => {
        Effect::GoesOn
    };
    (branches) => {
        Effect::Branches
    };
    (jumps) => {
        Effect::Jumps
    };
    (ends) => {
        Effect::Ends
    };
}

macro_rules! distance {
    (Forward $by:ident) => {
        Some(Distance::Long($by))
    };
    (Back $by:ident) => {
        Some(Distance::Long($by))
    };
    (Near $by:ident) => {
        Some(Distance::Near($by))
    };
    ($role:ident $operand:ident) => {{
        let _ = $operand;
        None
    }};
}

#[cfg(test)]
macro_rules! zero {
    (Kind) => {
        crate::value::Flavor::Iter
    };
    ($role:ident) => {
        role::$role::default()
    };
}
