//! [`RequestedVersion`]: the protocol version that a request names.

use crate::a2a::A2aCode;
use a2a::Version;

use crate::a2a::error::{RpcError, code, shortened};

/// The protocol version that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestedVersion {
    /// None.
    Nothing,
    /// A supported version.
    Known(Version),
    /// Another version.
    Unknown(String),
}

impl RequestedVersion {
    /// Reads the value of `A2A-Version`; an empty one counts as none.
    pub(crate) fn of(value: Option<&str>) -> RequestedVersion {
        match value.map(str::trim).filter(|value| !value.is_empty()) {
            None => RequestedVersion::Nothing,
            Some(value) => Version::of_header(value)
                .map_or_else(|| RequestedVersion::Unknown(value.to_owned()), RequestedVersion::Known),
        }
    }

    /// Returns the version for refusals before the method is known.
    pub(crate) fn nearest(&self) -> Version {
        match self {
            RequestedVersion::Nothing => Version::V0_3,
            RequestedVersion::Known(version) => *version,
            // Clients of later versions read the errors of 1.0 more likely than those of earlier ones.
            RequestedVersion::Unknown(value) if value.starts_with("0.") => Version::V0_3,
            RequestedVersion::Unknown(_) => Version::V1_0,
        }
    }

    /// Returns the version that is named, if any.
    ///
    /// # Errors
    /// The version is not supported.
    pub(crate) fn known(&self) -> Result<Option<Version>, RpcError> {
        match self {
            RequestedVersion::Nothing => Ok(None),
            RequestedVersion::Known(version) => Ok(Some(*version)),
            RequestedVersion::Unknown(value) => {
                let message =
                    format!("unsupported protocol version `{}`; `A2A-Version` can be 1.0 or 0.3", shortened(value));
                let fault = RpcError::new(code::VERSION, A2aCode::Version, message).field("A2A-Version");
                Err(fault.with("supported", "1.0, 0.3"))
            }
        }
    }
}
