//! The lifetimes of reminders that are written as literals, in a few words: editors show them beside the text.

use lang::ast::visit::{Visit, walk_expr, walk_module};
use lang::ast::{DictItem, Expr, ExprKind, ListItem, Module};
use lang::builtins::Builtin;
use lang::resolve::{Resolution, Target};
use lang::source::Span;
use runtime::reminder::ReminderSpec;
use std::collections::BTreeSet;

/// The lifetime of a reminder that is written as a dict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderLifetime {
    /// Span of the dict.
    pub span: Span,
    /// Its lifetime, such as `in 2 prompts · survives compaction · for direct sub-agents`.
    pub text: String,
}

/// Builtins that take a reminder, and the argument that it is.
const TAKERS: &[(&str, &str, usize)] =
    &[("transcript", "inject_reminder", 1), ("", "agent_session_inject_reminder", 1), ("a2a", "inject_reminder", 2)];

/// Returns the lifetimes of the reminders of a module, in the order of the text.
#[must_use]
pub fn reminder_lifetimes(module: &Module, names: &Resolution) -> Vec<ReminderLifetime> {
    let mut visit = LifetimeVisit { names, certain: BTreeSet::new(), found: Vec::new() };
    walk_module(&mut visit, module);
    visit.found.sort_by_key(|lifetime| lifetime.span);
    visit.found
}

struct LifetimeVisit<'a> {
    names: &'a Resolution,
    /// The dicts that are reminders whatever they hold.
    certain: BTreeSet<Span>,
    found: Vec<ReminderLifetime>,
}

impl LifetimeVisit<'_> {
    fn called(&self, callee: &Expr) -> Option<&'static Builtin> {
        match &callee.kind {
            ExprKind::Field { name, .. } => self.names.namespaced.get(&name.id).copied(),
            ExprKind::Name(_) => match self.names.used(callee.id)? {
                Target::Builtin(row) => Some(row),
                Target::Binding(_) => None,
            },
            _ => None,
        }
    }

    fn call(&mut self, callee: &Expr, args: &[ListItem]) {
        let Some(row) = self.called(callee) else { return };
        let taker = TAKERS.iter().find(|(module, name, _)| row.module == *module && row.name == *name);
        let Some((_, _, argument)) = taker else { return };
        if args.iter().take(argument + 1).all(|arg| !arg.spread)
            && let Some(arg) = args.get(*argument)
        {
            self.certain.insert(arg.value.span);
        }
    }
}

impl<'a> Visit<'a> for LifetimeVisit<'_> {
    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Dict(items) => {
                for item in items {
                    if let DictItem::Entry { key, value } = item
                        && key.text == "reminder"
                    {
                        self.certain.insert(value.span);
                    }
                }
                if self.certain.contains(&e.span) || is_spec(items) {
                    let text = lifetime(items);
                    self.found.extend(text.map(|text| ReminderLifetime { span: e.span, text }));
                }
            }
            _ => {}
        }
        walk_expr(self, e);
    }
}

fn entry<'a>(items: &'a [DictItem], key: &str) -> Option<&'a Expr> {
    items.iter().rev().find_map(|item| match item {
        DictItem::Entry { key: name, value } if name.text == key => Some(value),
        _ => None,
    })
}

/// Whether a dict has a body and other keys of reminders, and no key of anything else.
fn is_spec(items: &[DictItem]) -> bool {
    let keys: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            DictItem::Entry { key, .. } => Some(key.text.as_str()),
            _ => None,
        })
        .collect();
    keys.contains(&"body") && keys.len() > 1 && keys.iter().all(|key| ReminderSpec::KEYS.contains(key))
}

/// Describes the lifetime; `None` if it is invalid or unknown.
fn lifetime(items: &[DictItem]) -> Option<String> {
    let is_whole = items.iter().all(|item| matches!(item, DictItem::Entry { .. }));
    let mut parts: Vec<String> = Vec::new();
    let literal = |key: &str| entry(items, key).map(|e| &e.kind);
    match literal("ttl_turns") {
        Some(ExprKind::Int(1)) => parts.push("in 1 prompt".to_owned()),
        Some(ExprKind::Int(turns)) if *turns > 1 => parts.push(format!("in {turns} prompts")),
        Some(ExprKind::Int(_) | ExprKind::Str(_) | ExprKind::Bool(_) | ExprKind::Float(_)) => return None,
        found if is_nil(found, is_whole) => parts.push("until cleared".to_owned()),
        _ => {}
    }
    match literal("preserve_on_compact") {
        Some(ExprKind::Bool(true)) => parts.push("survives compaction".to_owned()),
        Some(ExprKind::Bool(false)) => parts.push("discarded at compaction".to_owned()),
        found if is_nil(found, is_whole) => parts.push("discarded at compaction".to_owned()),
        _ => {}
    }
    let propagate = entry(items, "propagate");
    let for_whom = match propagate.and_then(Expr::plain_text) {
        Some("all") => "for all sub-agents",
        Some("none") => "not for sub-agents",
        Some("session") => "for direct sub-agents",
        None if is_nil(propagate.map(|e| &e.kind), is_whole) => "for direct sub-agents",
        _ => "",
    };
    parts.extend((!for_whom.is_empty()).then(|| for_whom.to_owned()));
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Whether a value is certainly nil: written so, or missing in a dict whose keys are all known.
fn is_nil(value: Option<&ExprKind>, is_whole: bool) -> bool {
    match value {
        Some(kind) => matches!(kind, ExprKind::Nil),
        None => is_whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::ast::NodeMap;
    use lang::parse::parse;
    use lang::resolve::{Role, Surroundings, resolve};
    use lang::source::Source;

    fn lifetimes(text: &str) -> Vec<String> {
        let source = Source::new("t", text);
        let module = parse(&source).module;
        let around = Surroundings { outer: &[], links: NodeMap::default(), role: Role::Script };
        let (names, _) = resolve(&source, &module, crate::table::registry(), &around);
        reminder_lifetimes(&module, &names).into_iter().map(|lifetime| lifetime.text).collect()
    }

    #[test]
    fn a_reminder_says_how_long_it_lives() {
        assert_eq!(
            lifetimes(
                "transcript.inject_reminder(transcript(), {body: \"a\", ttl_turns: 2, preserve_on_compact: true, propagate: \"none\"})"
            ),
            ["in 2 prompts · survives compaction · not for sub-agents"]
        );
        assert_eq!(
            lifetimes("agent_session_inject_reminder(\"s\", {body: \"a\"})"),
            ["until cleared · discarded at compaction · for direct sub-agents"]
        );
        assert_eq!(
            lifetimes("register_session_hook(\"post_turn\", { e -> {reminder: {body: \"a\", ttl_turns: 1}} })"),
            ["in 1 prompt · discarded at compaction · for direct sub-agents"]
        );
        assert_eq!(
            lifetimes("let spec = {body: \"a\", propagate: \"all\", ttl_turns: n()}"),
            ["discarded at compaction · for all sub-agents"]
        );
        assert_eq!(lifetimes("let spec = {...base, body: \"a\", ttl_turns: 3}"), ["in 3 prompts"]);
        assert!(lifetimes("let mail = {body: \"a\", to: \"b\"}").is_empty());
        assert!(lifetimes("let mail = {body: \"a\"}").is_empty());
        assert!(lifetimes("transcript.inject_reminder(t, {body: \"a\", ttl_turns: 0})").is_empty());
    }
}
