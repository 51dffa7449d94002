//! The rights of a run.

use lang::builtins::Right;

/// A right that a run may be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// `fs.read`
    FsRead,
    /// `fs.write`
    FsWrite,
    /// `process`
    Process,
    /// `net`
    Net,
    /// `env`
    Env,
    /// `llm`
    Llm,
}

impl Capability {
    /// Returns the name as it is written on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FsRead => "fs.read",
            Self::FsWrite => "fs.write",
            Self::Process => "process",
            Self::Net => "net",
            Self::Env => "env",
            Self::Llm => "llm",
        }
    }

    /// All of them.
    pub const ALL: [Self; 6] = [Self::FsRead, Self::FsWrite, Self::Process, Self::Net, Self::Env, Self::Llm];

    /// Returns the capability as the rows of builtins hold it.
    #[must_use]
    pub const fn right(self) -> Right {
        Right::new(self.name())
    }
}

impl From<Capability> for Right {
    fn from(capability: Capability) -> Self {
        capability.right()
    }
}
