//! Conversions from and to ordinary Rust values.

use std::sync::Arc;

use super::{Data, Entries};

impl From<bool> for Data {
    fn from(value: bool) -> Data {
        Data::Bool(value)
    }
}

impl From<i64> for Data {
    fn from(value: i64) -> Data {
        Data::Int(value)
    }
}

impl From<i32> for Data {
    fn from(value: i32) -> Data {
        Data::Int(value.into())
    }
}

impl From<u32> for Data {
    fn from(value: u32) -> Data {
        Data::Int(value.into())
    }
}

impl From<u64> for Data {
    /// Numbers beyond the range of an `i64` saturate; no counter or clock of this crate reaches them.
    fn from(value: u64) -> Data {
        Data::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Data {
    fn from(value: usize) -> Data {
        Data::from(value as u64)
    }
}

impl From<f64> for Data {
    fn from(value: f64) -> Data {
        Data::Float(value)
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Data {
        Data::Str(text.into())
    }
}

impl From<String> for Data {
    fn from(text: String) -> Data {
        Data::Str(text.into())
    }
}

impl From<Arc<str>> for Data {
    fn from(text: Arc<str>) -> Data {
        Data::Str(text)
    }
}

impl From<&Arc<str>> for Data {
    fn from(text: &Arc<str>) -> Data {
        Data::Str(text.clone())
    }
}

impl From<Vec<Data>> for Data {
    fn from(items: Vec<Data>) -> Data {
        Data::List(Arc::new(items))
    }
}

impl From<Entries> for Data {
    fn from(entries: Entries) -> Data {
        Data::Dict(Arc::new(entries))
    }
}

impl<T: Into<Data>> From<Option<T>> for Data {
    fn from(value: Option<T>) -> Data {
        value.map_or(Data::Nil, Into::into)
    }
}

impl FromIterator<Data> for Data {
    fn from_iter<I: IntoIterator<Item = Data>>(items: I) -> Data {
        Data::list(items)
    }
}
