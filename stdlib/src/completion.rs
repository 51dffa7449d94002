//! Completion of Harn text: what can stand at the cursor. It reads text only, so a terminal and an editor can both use it.
//!
//! The names that a text can use come from a [`NameSource`]; builtins, their options, events and providers are known here.

use crate::engine::Engine;
use crate::table::registry;
use lang::ast::{TypeExpr, TypeKind};
use lang::declaration::Builtin;
use lang::lex::lex;
use lang::lex::token::{KEYWORDS, Token};
use lang::parse::signature;
use lang::source::{Source, Span};
use lang::value::Value;
use providers::model::Provider;
use runtime::hooks::EventKind;
use runtime::reminder::providers::ReminderProviders;

/// Something that can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text that replaces the word at the cursor.
    pub text: String,
    /// A signature or type; may be empty.
    pub detail: String,
    /// A sentence or two; may be empty.
    pub doc: String,
}

impl Completion {
    fn new(text: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { text: text.into(), detail: detail.into(), doc: String::new() }
    }

    fn of(row: &Builtin, text: impl Into<String>) -> Self {
        Self { text: text.into(), detail: row.sig.to_owned(), doc: row.doc.to_owned() }
    }
}

/// The members of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueMembers {
    /// The type whose methods the value has, such as `list`.
    pub type_name: String,
    /// The keys or fields of the value.
    pub keys: Vec<String>,
}

/// The names that a text can use besides builtins.
pub trait NameSource {
    /// The bound names, each with its type or an empty text.
    fn bound(&self) -> Vec<(String, String)>;

    /// The members of what a path of names stands for, such as `answer.usage`.
    fn members(&self, path: &str) -> Option<ValueMembers>;
}

/// Returns the start of the word at a position, and what can replace it, sorted.
#[must_use]
pub fn complete(text: &str, at: usize, names: &dyn NameSource) -> (usize, Vec<Completion>) {
    let Some(before) = text.get(..at) else { return (at, Vec::new()) };
    let place = Place::of(before);
    let word = place.string.unwrap_or_else(|| word_start(before));
    let written = before.get(word..).unwrap_or("");
    let mut found = if place.string.is_some() {
        place.words()
    } else if let Some(receiver) = before[..word].strip_suffix("?.").or_else(|| before[..word].strip_suffix('.')) {
        members(receiver, names)
    } else if let Some(options) = place.options() {
        options
    } else if written.is_empty() {
        Vec::new()
    } else {
        all_names(names)
    };
    found.retain(|completion| completion.text.starts_with(written));
    found.sort_by(|a, b| a.text.cmp(&b.text));
    found.dedup_by(|a, b| a.text == b.text);
    (word, found)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn word_start(before: &str) -> usize {
    before.trim_end_matches(is_word).len()
}

fn all_names(names: &dyn NameSource) -> Vec<Completion> {
    let registry = registry();
    let bound = names.bound().into_iter().map(|(name, detail)| Completion::new(name, detail));
    let global = registry.all().filter(|row| row.module.is_empty()).map(|row| Completion::of(row, row.name));
    let of_namespace = registry.all().filter(|row| !row.module.is_empty() && !row.is_method());
    let namespaces = of_namespace.map(|row| Completion::new(row.module, "namespace"));
    let keywords = KEYWORDS.iter().map(|word| Completion::new(*word, "keyword"));
    bound.chain(global).chain(namespaces).chain(keywords).collect()
}

/// The members of what is before a dot.
fn members(receiver: &str, names: &dyn NameSource) -> Vec<Completion> {
    let path = &receiver[receiver.trim_end_matches(|c| is_word(c) || c == '.').len()..];
    let known = match receiver.chars().next_back() {
        Some('"') => Some(ValueMembers { type_name: "string".to_owned(), keys: Vec::new() }),
        Some(']') => Some(ValueMembers { type_name: "list".to_owned(), keys: Vec::new() }),
        Some('}') => Some(ValueMembers { type_name: "dict".to_owned(), keys: Vec::new() }),
        _ => names.members(path),
    };
    let registry = registry();
    let Some(known) = known else {
        return registry.module(path).map(|row| Completion::of(row, row.name)).collect();
    };
    let module = format!("<{}>", known.type_name);
    let keys = known.keys.into_iter().map(|key| Completion::new(key, "key"));
    keys.chain(registry.module(&module).map(|row| Completion::of(row, row.name))).collect()
}

/// The surroundings of the cursor.
struct Place {
    /// Start of the text of the string that the cursor is in.
    string: Option<usize>,
    /// The builtin whose call the cursor is in, and the number of the argument.
    call: Option<(&'static Builtin, usize)>,
    /// Whether the cursor is directly in a dict that is this argument, where a key begins.
    at_key: bool,
    /// The key whose value the cursor is in.
    key: Option<String>,
}

impl Place {
    fn of(before: &str) -> Self {
        let source = Source::new("<completion>", before);
        let lexed = lex(&source);
        // The lexer closes what is open with empty tokens.
        let written = |(_, span): &&(Token<'_>, Span)| span.start < span.end;
        let tokens: Vec<(Token<'_>, Span)> = lexed.tokens.iter().filter(written).copied().collect();
        let mut open: Vec<usize> = Vec::new();
        for (index, (token, _)) in tokens.iter().enumerate() {
            if token.opens() || matches!(token, Token::StrStart(_)) {
                open.push(index);
            } else if token.closes() || *token == Token::StrEnd {
                open.pop();
            }
        }
        let mut place = Self { string: None, call: None, at_key: false, key: None };
        if let Some(index) = open.last().filter(|index| matches!(tokens[**index].0, Token::StrStart(_))).copied() {
            place.string = Some(tokens[index].1.range().end);
            place.key = key_before(&tokens[..index]);
            open.pop();
        }
        let braces = open.iter().rev().take_while(|index| tokens[**index].0 != Token::LParen).count();
        let Some(paren) = open.iter().rev().find(|index| tokens[**index].0 == Token::LParen).copied() else {
            return place;
        };
        place.call = callee(&tokens[..paren]).map(|row| (row, argument(&tokens[paren + 1..])));
        let last = tokens.iter().rev().find(|(token, span)| !is_partial_word(*token, *span, before.len()));
        place.at_key = braces == 1
            && place.string.is_none()
            && matches!(last, Some((Token::LDict | Token::LBody | Token::LClosure | Token::Comma, _)));
        place
    }

    /// The keys of the options that the argument takes, if a key begins here.
    fn options(&self) -> Option<Vec<Completion>> {
        let (row, argument) = self.call.filter(|_| self.at_key)?;
        let decl = signature(row.sig)?;
        let fields = fields(decl.params.get(argument)?.ty.as_deref()?);
        Some(fields.into_iter().map(|(key, ty)| Completion::new(format!("{key}: "), ty)).collect())
    }

    /// Words that the string may hold.
    fn words(&self) -> Vec<Completion> {
        let all = |words: &[&str], what: &str| words.iter().map(|word| Completion::new(*word, what)).collect();
        match self.key.as_deref() {
            Some("provider") => return all(&Provider::ALL.map(Provider::as_str), "provider"),
            Some("providers" | "reminders") => return all(ReminderProviders::CANONICAL, "reminder provider"),
            Some("subscribes_to") => return events(|_| true),
            Some(key) => return self.literals(key),
            None => {}
        }
        match self.call {
            Some((row, 0)) if row.name.starts_with("register_") && row.name.ends_with("_hook") => {
                let tool = row.name == "register_tool_hook";
                if tool { Vec::new() } else { events(|_| true) }
            }
            _ => Vec::new(),
        }
    }

    /// The texts that the type of an option allows.
    fn literals(&self, key: &str) -> Vec<Completion> {
        let fields = || {
            let (row, argument) = self.call?;
            let decl = signature(row.sig)?;
            let fields = fields(decl.params.get(argument)?.ty.as_deref()?);
            fields.into_iter().find(|(name, _)| name == key).map(|(_, ty)| ty)
        };
        let ty = fields().unwrap_or_default();
        ty.split('"').skip(1).step_by(2).map(|word| Completion::new(word, key)).collect()
    }
}

fn events(fits: impl Fn(EventKind) -> bool) -> Vec<Completion> {
    EventKind::ALL.iter().filter(|kind| fits(**kind)).map(|kind| Completion::new(kind.as_str(), "event")).collect()
}

/// Whether a token is the word that is being written.
fn is_partial_word(token: Token<'_>, span: Span, end: usize) -> bool {
    span.range().end == end && matches!(token, Token::Ident(_) | Token::Kw(_))
}

/// The key before a value, also within a list: `providers: ["a", "`.
fn key_before(tokens: &[(Token<'_>, Span)]) -> Option<String> {
    let mut depth = 0usize;
    for (index, (token, _)) in tokens.iter().enumerate().rev() {
        match token {
            Token::Colon if depth == 0 => {
                let (Token::Ident(key), _) = tokens.get(index.checked_sub(1)?)? else { return None };
                return Some((*key).to_owned());
            }
            Token::LBracket if depth == 0 => {}
            token if token.closes() => depth += 1,
            token if token.opens() => depth = depth.checked_sub(1)?,
            Token::Comma if depth == 0 && !in_list(&tokens[..index]) => return None,
            _ => {}
        }
    }
    None
}

/// Whether the innermost bracket that is open at the end is one of a list.
fn in_list(tokens: &[(Token<'_>, Span)]) -> bool {
    let mut depth = 0usize;
    for (token, _) in tokens.iter().rev() {
        if token.closes() {
            depth += 1;
        } else if token.opens() {
            if depth == 0 {
                return *token == Token::LBracket;
            }
            depth -= 1;
        }
    }
    false
}

/// The builtin whose name is before a parenthesis.
fn callee(tokens: &[(Token<'_>, Span)]) -> Option<&'static Builtin> {
    let (Token::Ident(name), _) = tokens.last()? else { return None };
    let module = match tokens {
        [.., (Token::Ident(module), _), (Token::Dot, _), _] => module,
        _ => "",
    };
    registry().find(module, name)
}

/// The number of the argument at the end of the tokens after a `(`.
fn argument(tokens: &[(Token<'_>, Span)]) -> usize {
    let (mut depth, mut commas) = (0usize, 0);
    for (token, _) in tokens {
        match token {
            token if token.opens() => depth += 1,
            token if token.closes() => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => commas += 1,
            _ => {}
        }
    }
    commas
}

/// The keys of a dict type, each with its type.
fn fields(ty: &TypeExpr) -> Vec<(String, String)> {
    match &ty.kind {
        TypeKind::Shape { fields, .. } => {
            fields.iter().map(|(name, _, ty)| (name.text.to_string(), written(ty))).collect()
        }
        TypeKind::Optional(inner) => fields(inner),
        TypeKind::Union(members) => members.iter().flat_map(fields).collect(),
        TypeKind::Name { name, .. } => {
            let shape = registry().shape(name).and_then(|(_, text)| signature(&format!("shape() -> {text}")));
            shape.and_then(|decl| decl.returns).map_or_else(Vec::new, |ty| fields(&ty))
        }
        _ => Vec::new(),
    }
}

/// A type as a signature writes it.
fn written(ty: &TypeExpr) -> String {
    let list = |types: &[TypeExpr], between: &str| types.iter().map(written).collect::<Vec<_>>().join(between);
    match &ty.kind {
        TypeKind::Name { name, args } if args.is_empty() => name.to_string(),
        TypeKind::Name { name, args } => format!("{name}<{}>", list(args, ", ")),
        TypeKind::Fn { params, returns } => format!("fn({}) -> {}", list(params, ", "), written(returns)),
        TypeKind::Shape { fields, .. } => {
            let fields: Vec<String> = fields.iter().map(|(name, _, _)| name.text.to_string()).collect();
            format!("{{{}}}", fields.join(", "))
        }
        TypeKind::Literal(text) => format!("\"{text}\""),
        TypeKind::Union(members) => list(members, " | "),
        TypeKind::Optional(inner) => format!("{}?", written(inner)),
        TypeKind::Error => String::new(),
    }
}

/// The session of a REPL: types are those of the values.
impl NameSource for Engine {
    fn bound(&self) -> Vec<(String, String)> {
        let detail = |name: String| {
            let ty = self.value_of(&name).map_or(String::new(), |value| value.type_name().to_owned());
            (name, ty)
        };
        self.bound_names().into_iter().map(detail).collect()
    }

    fn members(&self, path: &str) -> Option<ValueMembers> {
        let value = self.value_at(path)?;
        let keys = match &value {
            Value::Dict(dict) => dict.dict.iter().map(|(key, _)| key.as_str().to_owned()).collect(),
            _ => Vec::new(),
        };
        Some(ValueMembers { type_name: value.type_name().to_owned(), keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TwoNames;

    impl NameSource for TwoNames {
        fn bound(&self) -> Vec<(String, String)> {
            vec![("answer".to_owned(), "dict".to_owned())]
        }

        fn members(&self, path: &str) -> Option<ValueMembers> {
            let keys = vec!["usage".to_owned()];
            (path == "answer").then(|| ValueMembers { type_name: "dict".to_owned(), keys })
        }
    }

    fn texts(text: &str) -> Vec<String> {
        complete(text, text.len(), &TwoNames).1.into_iter().map(|completion| completion.text).collect()
    }

    #[test]
    fn names_and_members_are_completed() {
        assert_eq!(texts("let x = ans"), ["answer"]);
        assert_eq!(texts("println"), ["println"]);
        assert_eq!(texts("answer.us"), ["usage"]);
        assert_eq!(texts("transcript.inject_r"), ["inject_reminder"]);
        assert_eq!(texts("\"abc\".upp"), ["upper", "uppercase"]);
        assert_eq!(texts("[1, 2].enumer"), ["enumerate"]);
        assert_eq!(texts("retur"), ["return"]);
        assert!(texts("").is_empty());
        assert_eq!(complete("let x = ans", 11, &TwoNames).1[0].detail, "dict");
    }

    #[test]
    fn keys_of_options_have_their_types() {
        let (start, found) = complete("agent_loop(\"go\", nil, {max_it", 29, &TwoNames);
        assert_eq!((start, found[0].text.as_str()), (23, "max_iterations: "));
        assert!(found[0].detail.contains("int"), "{found:?}");
        assert_eq!(texts("shared_cell({key: \"a\", ini"), ["initial: "]);
        // The value of a key is an expression.
        assert_eq!(texts("shared_cell({key: ans"), ["answer"]);
    }

    #[test]
    fn strings_that_are_words_are_completed() {
        assert_eq!(texts("register_session_hook(\"session_st"), ["session_start"]);
        assert_eq!(texts("agent_loop(\"go\", nil, {provider: \"anth"), ["anthropic"]);
        assert_eq!(texts("agent_loop(\"go\", nil, {reminders: {providers: [\"idle"), ["idle_nudge"]);
        assert!(texts("println(\"hel").is_empty());
    }
}
