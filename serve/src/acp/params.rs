//! [`Params`]: reads parameters, and names the path of an invalid field. Unknown keys are ignored, as the protocol
//! requires.

use std::path::Path;

use base::words::nearest;
use serde_json::{Map, Value};

use super::error::ErrorResponse;
use super::transport::kind;

/// An object in the parameters of a message.
#[derive(Debug, Clone)]
pub(crate) struct Params<'a> {
    object: &'a Map<String, Value>,
    /// The path of the object: empty for the parameters themselves.
    path: String,
}

/// Converts a value of the expected type.
type Converter<'a, T> = fn(&'a Value) -> Option<T>;

impl<'a> Params<'a> {
    /// Reads the parameters of a message.
    ///
    /// # Errors
    /// They are not an object.
    pub(crate) fn of(params: &'a Value) -> Result<Params<'a>, ErrorResponse> {
        Params::at(params, String::new())
    }

    fn at(value: &'a Value, path: String) -> Result<Params<'a>, ErrorResponse> {
        match value {
            Value::Object(object) => Ok(Params { object, path }),
            other if path.is_empty() => {
                Err(ErrorResponse::params("params", format!("`params` must be an object, not {}", kind(other))))
            }
            other => Err(wrong(&path, "an object", other)),
        }
    }

    /// Returns the path of a field of this object.
    pub(crate) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Returns a field's value, or `None` if it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// Returns the absolute path in a field: both sides share no other base folder.
    ///
    /// # Errors
    /// It is missing or relative.
    pub(crate) fn absolute(&self, key: &str) -> Result<&'a Path, ErrorResponse> {
        let path = Path::new(self.str(key)?);
        if path.is_absolute() { Ok(path) } else { Err(self.refuse(key, "must be an absolute path")) }
    }

    /// Returns the object itself.
    pub(crate) fn object(&self) -> &'a Map<String, Value> {
        self.object
    }

    fn optional<T>(&self, key: &str, wanted: &str, take: Converter<'a, T>) -> Result<Option<T>, ErrorResponse> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => take(value).map(Some).ok_or_else(|| wrong(&self.path(key), wanted, value)),
        }
    }

    fn required<T>(&self, key: &str, wanted: &str, take: Converter<'a, T>) -> Result<T, ErrorResponse> {
        self.optional(key, wanted, take)?.ok_or_else(|| self.missing(key, wanted))
    }

    fn missing(&self, key: &str, wanted: &str) -> ErrorResponse {
        let path = self.path(key);
        // A key similar to the missing one was probably meant for it.
        let near = self.object.keys().find(|name| *name != key && nearest(name, [key]).is_some());
        let message = match near {
            Some(near) => format!("`{path}` is missing; it must be {wanted}, and `{near}` is not a known field"),
            None => format!("`{path}` is missing; it must be {wanted}"),
        };
        let refusal = ErrorResponse::params(&path, message);
        if near.is_some() { refusal.with("suggestion", key) } else { refusal }
    }

    /// Reads a required text.
    pub(crate) fn str(&self, key: &str) -> Result<&'a str, ErrorResponse> {
        self.required(key, "a string", Value::as_str)
    }

    /// Reads an optional text.
    pub(crate) fn optional_str(&self, key: &str) -> Result<Option<&'a str>, ErrorResponse> {
        self.optional(key, "a string", Value::as_str)
    }

    /// Reads an optional object.
    pub(crate) fn optional_object(&self, key: &str) -> Result<Option<Params<'a>>, ErrorResponse> {
        self.get(key).map(|value| Params::at(value, self.path(key))).transpose()
    }

    /// Reads a required object.
    pub(crate) fn object_at(&self, key: &str) -> Result<Params<'a>, ErrorResponse> {
        self.optional_object(key)?.ok_or_else(|| self.missing(key, "an object"))
    }

    /// Reads a required list of objects.
    pub(crate) fn objects(&self, key: &str) -> Result<Vec<Params<'a>>, ErrorResponse> {
        let items = self.required(key, "a list of objects", Value::as_array)?;
        items.iter().enumerate().map(|(i, item)| Params::at(item, format!("{}[{i}]", self.path(key)))).collect()
    }

    /// Reads an optional list of texts.
    pub(crate) fn strs(&self, key: &str) -> Result<Vec<&'a str>, ErrorResponse> {
        let items = self.optional(key, "a list of strings", Value::as_array)?.map_or(&[][..], Vec::as_slice);
        let item = |(i, item): (usize, &'a Value)| {
            item.as_str().ok_or_else(|| wrong(&format!("{}[{i}]", self.path(key)), "a string", item))
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Reads a required integer of at least 0.
    pub(crate) fn number(&self, key: &str) -> Result<u64, ErrorResponse> {
        self.required(key, "an integer of at least 0", Value::as_u64)
    }

    /// Refuses a field that is present and has the right type.
    pub(crate) fn refuse(&self, key: &str, problem: &str) -> ErrorResponse {
        let path = self.path(key);
        ErrorResponse::params(&path, format!("`{path}` {problem}"))
    }
}

fn wrong(path: &str, wanted: &str, got: &Value) -> ErrorResponse {
    ErrorResponse::params(path, format!("`{path}` must be {wanted}, not {}", kind(got)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(refusal: ErrorResponse) -> (String, Value) {
        let error = refusal.into_json();
        assert_eq!((error["code"].clone(), error["data"]["code"].clone()), (json!(-32602), json!("HARN-ACP-006")));
        (error["message"].as_str().unwrap().to_owned(), error["data"]["field"].clone())
    }

    #[test]
    fn what_is_wrong_is_named_with_its_path() {
        let value = json!({"prompt": [{"type": "text", "text": 7}, 3], "cwd": null, "deep": {"a": []}});
        let params = Params::of(&value).unwrap();
        let (message, field) = told(params.objects("prompt").unwrap_err());
        assert_eq!((&*message, field), ("`prompt[1]` must be an object, not a number", json!("prompt[1]")));
        let (message, field) = told(params.str("cwd").unwrap_err());
        assert_eq!((&*message, field), ("`cwd` is missing; it must be a string", json!("cwd")));
        let (message, field) = told(params.object_at("deep").unwrap().str("a").unwrap_err());
        assert_eq!((&*message, field), ("`deep.a` must be a string, not a list", json!("deep.a")));
        let (message, _) = told(Params::of(&json!([1])).unwrap_err());
        assert_eq!(message, "`params` must be an object, not a list");
    }

    #[test]
    fn a_name_that_is_nearly_right_is_told() {
        let value = json!({"sesionId": "a"});
        let refusal = Params::of(&value).unwrap().str("sessionId").unwrap_err().into_json();
        assert_eq!(refusal["data"]["suggestion"], "sessionId");
        assert_eq!(
            refusal["message"],
            "`sessionId` is missing; it must be a string, and `sesionId` is not a known field"
        );
    }
}
