//! [`Said`]: which version a request says that it speaks.

use crate::a2a::A2aCode;
use a2a::Version;

use crate::a2a::error::{Fault, code, shortened};

/// Which version a request says that it speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::a2a) enum Said {
    /// None.
    Nothing,
    /// One that is spoken here.
    Known(Version),
    /// Another one.
    Unknown(String),
}

impl Said {
    /// What the value of `A2A-Version` says; an empty one says nothing.
    pub(in crate::a2a) fn of(value: Option<&str>) -> Said {
        match value.map(str::trim).filter(|value| !value.is_empty()) {
            None => Said::Nothing,
            Some(value) => Version::of_header(value).map_or_else(|| Said::Unknown(value.to_owned()), Said::Known),
        }
    }

    /// The version in which whatever is refused before a method is known is answered.
    pub(in crate::a2a) fn nearest(&self) -> Version {
        match self {
            Said::Nothing => Version::V0_3,
            Said::Known(version) => *version,
            // What comes after 1.0 reads its errors sooner than those before it.
            Said::Unknown(value) if value.starts_with("0.") => Version::V0_3,
            Said::Unknown(_) => Version::V1_0,
        }
    }

    /// The version that is said, if one is.
    ///
    /// # Errors
    /// It is not spoken here.
    pub(super) fn known(&self) -> Result<Option<Version>, Fault> {
        match self {
            Said::Nothing => Ok(None),
            Said::Known(version) => Ok(Some(*version)),
            Said::Unknown(value) => {
                let message =
                    format!("unsupported protocol version `{}`; `A2A-Version` can be 1.0 or 0.3", shortened(value));
                let fault = Fault::new(code::VERSION, A2aCode::Version, message).field("A2A-Version");
                Err(fault.with("supported", "1.0, 0.3"))
            }
        }
    }
}
