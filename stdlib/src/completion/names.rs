//! The names that a text can use besides builtins.

use super::{Completion, CompletionKind, path_before};
use crate::engine::Engine;
use lang::query::{MemberKind, MemberView};
use lang::value::Value;

/// The members of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueMembers {
    /// The types whose builtin methods the value may have, such as `list`.
    pub types: Vec<String>,
    /// Its keys, fields and declared functions.
    pub keys: Vec<Completion>,
}

impl ValueMembers {
    /// Makes the members that inference found.
    #[must_use]
    pub fn of(found: Vec<MemberView>) -> Self {
        Self { types: Vec::new(), keys: found.into_iter().map(Completion::of_member).collect() }
    }
}

impl Completion {
    /// Makes the completion of a member.
    #[must_use]
    pub fn of_member(member: MemberView) -> Self {
        let kind = match member.kind {
            MemberKind::Key => CompletionKind::Key,
            MemberKind::Field => CompletionKind::Field,
            MemberKind::Method => CompletionKind::Method,
            MemberKind::Variant => CompletionKind::Variant,
            MemberKind::Builtin(row) => return Self::of(row),
        };
        Self::new(kind, member.name, member.detail)
    }
}

/// The names that a text can use besides builtins.
pub trait NameSource {
    /// Returns the bound names that begin with a text.
    fn bound(&self, written: &str) -> Vec<Completion>;

    /// Returns the members of what a text ends with, which is before the dot at the cursor.
    fn members(&self, receiver: &str) -> Option<ValueMembers>;

    /// Returns the fields of a struct.
    fn fields(&self, _type_name: &str) -> Vec<Completion> {
        Vec::new()
    }

    /// Returns the paths that an import can name, for the beginning of one.
    fn files(&self, _written: &str) -> Vec<Completion> {
        Vec::new()
    }

    /// Returns the names that the import at the cursor can list.
    fn exported(&self) -> Vec<Completion> {
        Vec::new()
    }

    /// Returns whether names are completed where no letter is written yet.
    fn completes_empty(&self) -> bool {
        false
    }

    /// Returns whether builtins are offered for names of other languages, too. The list must then show what replaces the
    /// name.
    fn offers_aliases(&self) -> bool {
        false
    }
}

/// The session of a REPL: types are those of the values.
impl NameSource for Engine {
    fn bound(&self, written: &str) -> Vec<Completion> {
        let completion = |name: String| {
            let value = self.value_of(&name);
            let kind = match &value {
                Some(value) if value.is_callable() => CompletionKind::Function,
                Some(_) => CompletionKind::Variable,
                None => CompletionKind::Type,
            };
            let ty = value.map_or(String::new(), |value| value.type_name().to_owned());
            Completion::new(kind, name, ty)
        };
        self.bound_names().into_iter().filter(|name| name.starts_with(written)).map(completion).collect()
    }

    fn members(&self, receiver: &str) -> Option<ValueMembers> {
        let path = path_before(receiver);
        let is_namespace = crate::table::registry().module(path).next().is_some();
        // `transcript` is a function and a namespace: after its dot, the functions of the namespace are meant.
        let value = self.value_at(path).filter(|value| !(is_namespace && value.is_callable()));
        let Some(value) = value else {
            // Nothing runs for a completion, so the result of a call is known by its type.
            return if is_namespace { None } else { self.members_between(&format!("{receiver}."), "") }
                .map(ValueMembers::of);
        };
        let keys = match &value {
            Value::Dict(dict) => {
                let key = |(key, value): (&lang::value::Str, &Value)| {
                    Completion::new(CompletionKind::Key, key.as_str(), value.type_name())
                };
                dict.dict.iter().map(key).collect()
            }
            _ => Vec::new(),
        };
        Some(ValueMembers { types: vec![value.type_name().to_owned()], keys })
    }
}
