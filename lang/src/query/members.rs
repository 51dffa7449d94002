//! Names that can follow a dot.

use super::named_type::NamedTypes;
use crate::ast::visit::{Visit, walk_expr, walk_module};
use crate::ast::{Expr, ExprKind, Module, NodeId, TypeExpr};
use crate::check::{ExportedTypes, ImportedTypes, SessionTypes, TypeView, types};
use crate::declaration::{Builtin, MethodDecl, Registry, Signature, TypeDecl};
use crate::parse::parse;
use crate::resolve::{Resolution, Surroundings, resolve};
use crate::source::{Source, SourceRef, Span};

/// A name that can follow a dot.
#[derive(Clone)]
pub struct MemberView {
    /// Its name.
    pub name: String,
    /// Kind of the member.
    pub kind: MemberKind,
    /// Its type or head, as a script writes it; may be empty.
    pub detail: String,
    /// Place of its declaration, if a script declares it.
    pub site: Option<(SourceRef, Span)>,
}

/// Kinds of members.
#[derive(Clone, Copy)]
pub enum MemberKind {
    /// A key of a dict.
    Key,
    /// A field of a struct.
    Field,
    /// A function that an `impl` or interface declares.
    Method,
    /// A variant of an enum.
    Variant,
    /// A builtin method.
    Builtin(&'static Builtin),
}

/// The name that stands for the one that is being written.
const WRITTEN: &str = "harn__written";

/// Returns the members of what is before the dot at the end of `before`. `after` is the text after the word at the cursor. The text
/// need not parse: the parser recovers around the mistakes. `around` returns the surroundings of the tree, and `imports` are the types
/// of its imports, `session` those of the earlier pieces of its session. `None` if nothing is known of the receiver.
#[must_use]
pub fn members_between<'a, 'e>(
    name: &str,
    before: &str,
    after: &str,
    registry: Registry,
    around: impl FnOnce(&Module) -> Surroundings<'a>,
    (imports, session): (impl IntoIterator<Item = &'e ExportedTypes>, Option<&'e SessionTypes>),
) -> Option<Vec<MemberView>> {
    // A condition that is being written has no body yet.
    let (source, module) = ["", " {}"].into_iter().find_map(|body| {
        let source = Source::new(name, [before, WRITTEN, body, after].concat());
        let module = parse(&source).module;
        Receiver::of(&module).is_some().then_some((source, module))
    })?;
    let (object, member) = Receiver::of(&module)?;
    let (mut names, _) = resolve(&source, &module, registry, &around(&module));
    if let Some(def) = names.owner_of(member) {
        return Some(static_members(&def));
    }
    let imported = ImportedTypes::of(&mut names, imports, session);
    let types = types(&source, &module, &names, registry, &imported);
    let ty = types.expression(object.id).filter(|ty| ty.is_known());
    let found = ty.map(|ty| members(ty, &names, registry)).unwrap_or_default();
    if !found.is_empty() {
        return Some(found);
    }
    let declared = NamedTypes::of(&module, &names).get(object);
    let def = declared.and_then(|id| names.binding(id).def.clone())?;
    Some(of_values(&def.resolved()))
}

/// Finds the member access that is being written: its receiver and the id of its name.
struct Receiver<'a>(Option<(&'a Expr, NodeId)>);

impl<'a> Receiver<'a> {
    fn of(module: &'a Module) -> Option<(&'a Expr, NodeId)> {
        let mut receiver = Self(None);
        walk_module(&mut receiver, module);
        receiver.0
    }
}

impl<'a> Visit<'a> for Receiver<'a> {
    fn expr(&mut self, e: &'a Expr) {
        if let ExprKind::Field { object, name, .. } = &e.kind
            && name.text == WRITTEN
        {
            self.0 = Some((object, name.id));
        }
        walk_expr(self, e);
    }
}

/// Returns the members of the values of a type: keys and fields, then declared functions, then builtin methods.
#[must_use]
pub fn members(ty: TypeView<'_>, names: &Resolution, registry: Registry) -> Vec<MemberView> {
    let mut found = Vec::new();
    for ty in ty.alternatives() {
        found.extend(ty.keys().into_iter().map(|key| {
            let mark = if key.optional { "?" } else { "" };
            let detail = format!("{}{mark}", key.ty);
            MemberView { name: key.name, kind: MemberKind::Key, detail, site: None }
        }));
        if let Some(def) = ty.declared().and_then(|id| names.binding(id).def.as_ref()) {
            found.extend(of_values(&def.resolved()));
        }
        if let Some(module) = ty.methods() {
            found.extend(registry.module(module).map(|row| MemberView {
                name: row.name.to_owned(),
                kind: MemberKind::Builtin(row),
                detail: row.sig.to_owned(),
                site: None,
            }));
        }
    }
    found
}

/// Returns the members of the values of a declared type.
fn of_values(def: &TypeDecl) -> Vec<MemberView> {
    let mut found = Vec::new();
    match def {
        TypeDecl::Struct(def) => {
            let source = &def.site.source;
            found.extend(def.fields.iter().map(|field| MemberView {
                name: field.name.to_string(),
                kind: MemberKind::Field,
                detail: written(source, field.ty.as_ref()),
                site: Some((source.clone(), field.span)),
            }));
        }
        TypeDecl::Interface(def) => {
            found.extend(def.methods.iter().map(|method| of_signature(&def.site.source, method)));
        }
        TypeDecl::Enum(_) | TypeDecl::Alias(_) => {}
    }
    found.extend(functions(def, true));
    found
}

/// Returns what can follow the dot after the name of a type: variants, and functions without `self`.
#[must_use]
pub fn static_members(def: &TypeDecl) -> Vec<MemberView> {
    let mut found = Vec::new();
    if let TypeDecl::Enum(def) = def {
        let source = def.site.as_ref().map(|site| &site.source);
        found.extend(def.variants.iter().map(|variant| {
            let types = variant.types.iter().map(|ty| source.map_or("", |source| source.slice(ty.span)));
            let types = types.collect::<Vec<_>>().join(", ");
            let values = if types.is_empty() { types } else { format!("({types})") };
            MemberView {
                name: variant.name.to_string(),
                kind: MemberKind::Variant,
                detail: format!("{}.{}{values}", def.name, variant.name),
                site: source.map(|source| (source.clone(), variant.span)),
            }
        }));
    }
    found.extend(functions(def, false));
    found
}

fn functions(def: &TypeDecl, of_values: bool) -> Vec<MemberView> {
    let all = def.methods().map(crate::declaration::Methods::all).unwrap_or_default();
    let wanted = all.iter().filter(|method: &&std::rc::Rc<MethodDecl>| method.signature.takes_self == of_values);
    wanted.map(|method| of_signature(&method.source, &method.signature)).collect()
}

fn of_signature(source: &SourceRef, signature: &Signature) -> MemberView {
    let params = signature.params.iter().map(|ty| ty.as_ref().map_or("any", |ty| source.slice(ty.span)));
    let returns = written(source, signature.returns.as_ref());
    let arrow = if returns.is_empty() { "" } else { " -> " };
    MemberView {
        name: signature.name.to_string(),
        kind: MemberKind::Method,
        detail: format!("{}({}){arrow}{returns}", signature.name, params.collect::<Vec<_>>().join(", ")),
        site: Some((source.clone(), signature.span)),
    }
}

fn written(source: &SourceRef, ty: Option<&TypeExpr>) -> String {
    ty.map_or(String::new(), |ty| source.slice(ty.span).to_owned())
}
