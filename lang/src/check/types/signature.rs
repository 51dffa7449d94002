//! Signatures of builtins, read from their rows.
//!
//! The rows write them in the language's own syntax, and a test holds them to it; but a grammar is built for every text
//! that is parsed, and a script that calls ten builtins should not wait for ten grammars. So this reads what signatures
//! are made of, and nothing else: names, `<…>`, `fn(…) -> …`, shapes, texts, `|` and `?`.

use super::read::{builtin, union};
use super::{Field, FnType, Shape, Type};
use crate::builtins::{Builtin, Registry};
use smol_str::SmolStr;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A builtin's parameters and result; single capital letters are type parameters.
#[derive(Debug, PartialEq)]
pub(in crate::check) struct Signature {
    /// Name, type, and whether nil stands for a default. The receiver of a method comes first.
    pub(in crate::check) params: Vec<Param>,
    pub(in crate::check) returns: Type,
}

/// A parameter of a builtin.
#[derive(Debug, PartialEq)]
pub(in crate::check) struct Param {
    pub(in crate::check) name: SmolStr,
    pub(in crate::check) ty: Type,
    pub(in crate::check) optional: bool,
    pub(in crate::check) rest: bool,
    /// Its type has the parameter `E`, which stands for the payload of an event.
    pub(in crate::check) mentions_event: bool,
}

/// The signatures read so far, each once.
pub(in crate::check) struct Signatures {
    registry: Registry,
    read: RefCell<HashMap<*const u8, Rc<Signature>>>,
    shapes: RefCell<HashMap<&'static str, Type>>,
}

impl Signatures {
    pub(in crate::check) fn new(registry: Registry) -> Self {
        Self { registry, read: RefCell::default(), shapes: RefCell::default() }
    }

    pub(in crate::check) fn of(&self, row: &'static Builtin) -> Rc<Signature> {
        // Rows that share their text share their signature.
        let key = row.sig.as_ptr();
        if let Some(known) = self.read.borrow().get(&key) {
            return known.clone();
        }
        let signature = Rc::new(Text { rest: row.sig, signatures: self }.signature());
        self.read.borrow_mut().insert(key, signature.clone());
        signature
    }

    /// A named type of the registry.
    pub(in crate::check) fn shape(&self, name: &str) -> Option<Type> {
        if let Some(known) = self.shapes.borrow().get(name) {
            return Some(known.clone());
        }
        let (name, text) = self.registry.shape(name)?;
        // A shape that mentions itself is unknown there.
        self.shapes.borrow_mut().insert(name, Type::Any);
        let ty = Text { rest: text, signatures: self }.ty();
        self.shapes.borrow_mut().insert(name, ty.clone());
        Some(ty)
    }
}

/// What is left of a signature's text.
struct Text<'s> {
    rest: &'static str,
    signatures: &'s Signatures,
}

impl Text<'_> {
    fn signature(&mut self) -> Signature {
        self.word();
        self.take("(");
        let mut params = Vec::new();
        while !self.take(")") && !self.rest.is_empty() {
            params.push(self.param());
            self.take(",");
        }
        let returns = if self.take("->") { self.ty() } else { Type::Any };
        Signature { params, returns }
    }

    fn param(&mut self) -> Param {
        let rest = self.take("...");
        let name = self.word();
        let before = self.rest;
        let ty = if self.take(":") { self.ty() } else { Type::Any };
        let mentions_event = before[..before.len() - self.rest.len()].contains("fn(E)");
        let optional = self.take("=");
        if optional {
            self.skip_default();
        }
        Param { name: name.into(), ty, optional, rest, mentions_event }
    }

    /// Up to the comma or parenthesis that ends the parameter.
    fn skip_default(&mut self) {
        let (mut depth, mut quoted) = (0u32, false);
        let end = self.rest.find(|c| {
            match c {
                '"' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => depth += 1,
                ')' | ']' | '}' if !quoted && depth > 0 => depth -= 1,
                ',' | ')' if !quoted && depth == 0 => return true,
                _ => {}
            }
            false
        });
        self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
    }

    fn ty(&mut self) -> Type {
        let mut parts = vec![self.optional()];
        while self.take("|") {
            parts.push(self.optional());
        }
        union(parts)
    }

    fn optional(&mut self) -> Type {
        let mut ty = self.primary();
        while self.take("?") {
            ty = ty.optional();
        }
        ty
    }

    fn primary(&mut self) -> Type {
        self.space();
        if self.take("{") {
            return self.shape();
        }
        if self.take("(") {
            let ty = self.ty();
            self.take(")");
            return ty;
        }
        if self.take("\"") {
            let (text, rest) = self.rest.split_once('"').unwrap_or((self.rest, ""));
            self.rest = rest;
            return Type::Text(text.into());
        }
        let name = self.word();
        if name == "fn" && self.take("(") {
            return self.function();
        }
        let mut args = Vec::new();
        if self.take("<") {
            while !self.take(">") && !self.rest.is_empty() {
                args.push(self.ty());
                self.take(",");
            }
        }
        if name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Type::Param(name.into());
        }
        builtin(name, &mut args.into_iter()).or_else(|| self.signatures.shape(name)).unwrap_or(Type::Any)
    }

    fn function(&mut self) -> Type {
        let mut params = Vec::new();
        while !self.take(")") && !self.rest.is_empty() {
            params.push(self.ty());
            self.take(",");
        }
        let returns = if self.take("->") { self.ty() } else { Type::Any };
        let min = params.len();
        Type::Fn(Rc::new(FnType { params, min, rest: false, returns }))
    }

    fn shape(&mut self) -> Type {
        let (mut fields, mut open) = (Vec::new(), false);
        while !self.take("}") && !self.rest.is_empty() {
            if self.take("...") {
                open = true;
            } else {
                let name = self.word();
                let optional = self.take("?");
                self.take(":");
                fields.push(Field { name: name.into(), ty: self.ty(), optional, at: None });
            }
            self.take(",");
        }
        Type::Shape(Rc::new(Shape { fields, open, literal: false, told: open }))
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes `what` if it comes next. Never stands still: what fits nothing is passed over by [`Self::word`].
    fn take(&mut self, what: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(what) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'static str {
        self.space();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        // A character that begins nothing is passed over, so that every loop ends.
        let next = if end == 0 { self.rest.chars().next().map_or(0, char::len_utf8) } else { end };
        let word = &self.rest[..end];
        self.rest = &self.rest[next..];
        word
    }
}
