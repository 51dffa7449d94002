//! Errors of the broker as gRPC status codes.

use tonic::metadata::MetadataValue;
use tonic::{Code, Status};

use crate::SubscriptionEnd;
use crate::broker::{BrokerError, ErrorKind};

/// The metadata with a cursor: in a request to subscribe, where to continue; in the status `RESOURCE_EXHAUSTED`, where
/// the next subscription can continue.
pub const CURSOR: &str = "hub-cursor";

/// The metadata with the order of a subscription: `priority`, the default, or `sequence`, the order in which the events
/// happened. In the latter, the id of an event is a cursor too.
pub const ORDER: &str = "hub-order";

/// Returns the status of an error.
pub(super) fn refusal(error: BrokerError) -> Status {
    Status::new(code(error.kind), error.message)
}

fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::InvalidArgument => Code::InvalidArgument,
        ErrorKind::FailedPrecondition | ErrorKind::DeadlineImpossible => Code::FailedPrecondition,
        ErrorKind::AlreadyExists => Code::AlreadyExists,
        ErrorKind::Aborted => Code::Aborted,
        ErrorKind::PermissionDenied => Code::PermissionDenied,
        ErrorKind::ResourceExhausted => Code::ResourceExhausted,
        ErrorKind::OutOfRange => Code::OutOfRange,
        ErrorKind::Unavailable => Code::Unavailable,
    }
}

/// Returns the status of a request without a required field.
pub(super) fn missing(field: &str) -> Status {
    Status::invalid_argument(format!("missing field `{field}`"))
}

/// Returns the status with which a subscription ends.
pub(super) fn ended(end: SubscriptionEnd) -> Status {
    match end {
        SubscriptionEnd::Overflow { cursor } => {
            let message =
                format!("the subscription was not read fast enough; subscribe again with the metadata `{CURSOR}`");
            let mut status = Status::resource_exhausted(message);
            if let Ok(cursor) = MetadataValue::try_from(cursor) {
                status.metadata_mut().insert(CURSOR, cursor);
            }
            status
        }
        SubscriptionEnd::Failed(error) => refusal(error),
        SubscriptionEnd::Closed => Status::unavailable("the hub is shutting down; subscribe again later"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_the_wire_is_the_one_that_the_kind_names() {
        use ErrorKind as Kind;
        for (kind, code) in [
            (Kind::NotFound, Code::NotFound),
            (Kind::InvalidArgument, Code::InvalidArgument),
            (Kind::FailedPrecondition, Code::FailedPrecondition),
            (Kind::DeadlineImpossible, Code::FailedPrecondition),
            (Kind::AlreadyExists, Code::AlreadyExists),
            (Kind::Aborted, Code::Aborted),
            (Kind::PermissionDenied, Code::PermissionDenied),
            (Kind::ResourceExhausted, Code::ResourceExhausted),
            (Kind::OutOfRange, Code::OutOfRange),
            (Kind::Unavailable, Code::Unavailable),
        ] {
            assert_eq!(refusal(BrokerError::new(kind, "why")).code(), code);
        }
    }

    #[test]
    fn an_overflow_carries_its_cursor() {
        let status = ended(SubscriptionEnd::Overflow { cursor: "c42".to_owned() });
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert_eq!(status.metadata().get(CURSOR).unwrap(), "c42");
        assert_eq!(ended(SubscriptionEnd::Closed).code(), Code::Unavailable);
    }
}
