//! Counts of tokens as servers write them.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A count; 0 where it is none. An answer that was paid for is not thrown away because its server counts in floats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count(pub(super) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Count, D::Error> {
        let value = Value::deserialize(from)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // `as` saturates, and makes 0 of what is below
        let of_float = || value.as_f64().map(|count| count as u64);
        Ok(Count(value.as_u64().or_else(of_float).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_count_is_none() {
        let read = |value: Value| serde_json::from_value::<Count>(value).unwrap().0;
        assert_eq!((read(json!(12)), read(json!(12.0)), read(json!(u64::MAX))), (12, 12, u64::MAX));
        for odd in [json!(-1), json!(null), json!("12"), json!([]), json!(-0.5)] {
            assert_eq!(read(odd.clone()), 0, "{odd}");
        }
    }
}
