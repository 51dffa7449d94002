//! Loading a pack: its text is looked at, its top level runs once, and what it registers are its providers.

use super::budget::PackSpec;
use super::error::{PackSubject, span_at, unreadable};
use super::meter::Meter;
use super::provider::{PackEnvironment, PackProvider, guarded};
use super::sandbox::{LONGEST_PACK, Printed, engine};
use super::shape::{self, REGISTER};
use crate::capability::Capability;
use crate::codes::PackCode;
use crate::table::event_of;
use lang::diagnostic::{Diagnostic, nearest};
use lang::source::{SourceRef, Span};
use lang::vm::Raise;
use rhai::{AST, Dynamic, Engine, EvalAltResult, FnPtr, Map, NativeCallContext, Position, Scope};
use runtime::events::EventSet;
use runtime::reminder_providers::ReminderProviders;
use std::cell::RefCell;
use std::rc::Rc;

/// A pack that has been loaded.
pub(super) struct Pack {
    pub(super) source: SourceRef,
    pub(super) engine: Engine,
    pub(super) ast: AST,
    pub(super) meter: Rc<Meter>,
    pub(super) printed: Rc<Printed>,
}

/// A provider as the pack describes it.
struct Registered {
    id: String,
    events: EventSet,
    evaluate: FnPtr,
    at: Span,
}

/// The receiver of the top level's registrations; `None` once it has run.
type Arriving = Rc<RefCell<Option<Vec<Registered>>>>;

/// The keys of a provider.
const KEYS: [&str; 3] = ["id", "subscribes_to", "evaluate"];

/// Loads a pack.
///
/// # Errors
/// Returns the errors that keep it from being used.
pub(super) fn load(
    source: &SourceRef,
    spec: &PackSpec,
    asked: &PackEnvironment,
) -> Result<Vec<Rc<PackProvider>>, Vec<Diagnostic>> {
    if source.text().len() > LONGEST_PACK {
        let message = format!("the pack `{}` is longer than {} KiB", source.name(), LONGEST_PACK >> 10);
        return Err(vec![Diagnostic::new(PackCode::Load, message).label(source, Span::default(), "this pack")]);
    }
    let granted: Vec<Capability> = spec.allow.iter().copied().filter(|right| !asked.denied.contains(right)).collect();
    let meter = Rc::new(Meter::new(spec.budget.clone()));
    let printed = Rc::<Printed>::default();
    let arriving = Arriving::default();
    *arriving.borrow_mut() = Some(Vec::new());
    let whose = PackSubject { source, provider: None, place: Span::default(), meter: &meter };
    let loaded = guarded(&meter, || {
        let mut engine = engine(&meter, &printed, &granted);
        offer_registration(&mut engine, source, &arriving);
        let ast = engine.compile(source.text()).map_err(|error| vec![unreadable(&error, source).to_diagnostic()])?;
        let refused = shape::check(&ast, source);
        if !refused.is_empty() {
            return Err(refused);
        }
        let run = engine.run_ast_with_scope(&mut Scope::new(), &ast);
        run.map_err(|error| vec![whose.error(*error).to_diagnostic()])?;
        Ok((engine, ast))
    });
    let (engine, ast) = loaded.unwrap_or_else(|| Err(vec![whose.panicked().to_diagnostic()]))?;
    asked.say(source, &printed);
    let registered = arriving.take().unwrap_or_default();
    if registered.is_empty() {
        let message = format!("the pack `{}` registers no provider", source.name());
        return Err(vec![Diagnostic::new(PackCode::Load, message).label(source, Span::default(), "this pack").help(
            "call `register_reminder_provider(#{id: …, subscribes_to: […], evaluate: |ctx| …})` at its top level",
        )]);
    }
    let pack = Rc::new(Pack { source: source.clone(), engine, ast, meter, printed });
    let provider = |new: Registered| Rc::new(PackProvider::new(&pack, asked, new.id, new.events, new.evaluate, new.at));
    Ok(registered.into_iter().map(provider).collect())
}

fn offer_registration(engine: &mut Engine, source: &SourceRef, arriving: &Arriving) {
    let (source, arriving) = (source.clone(), arriving.clone());
    engine.register_fn(REGISTER, move |context: NativeCallContext, spec: Map| -> Result<(), Box<EvalAltResult>> {
        let place = span_at(&source, context.call_position()).unwrap_or_default();
        let new = read(spec, place).map_err(|why| thrown(&why))?;
        let mut arriving = arriving.borrow_mut();
        let Some(known) = arriving.as_mut() else {
            return Err(thrown(&Raise::error(
                PackCode::Refused,
                "a pack can register providers only while it is loaded",
            )));
        };
        if known.iter().any(|other| other.id == new.id) {
            return Err(thrown(&Raise::error(
                PackCode::Load,
                format!("the pack registers the provider `{}` twice", new.id),
            )));
        }
        known.push(new);
        Ok(())
    });
}

fn thrown(raise: &Raise) -> Box<EvalAltResult> {
    let mut map = Map::new();
    map.insert("code".into(), raise.code.as_str().into());
    let help = raise.help.first().map_or_else(String::new, |help| format!("; {help}"));
    map.insert("message".into(), format!("{}{help}", raise.message).into());
    EvalAltResult::ErrorRuntime(map.into(), Position::NONE).into()
}

fn read(mut spec: Map, at: Span) -> Result<Registered, Box<Raise>> {
    let wrong =
        |key: &str, expected: &str| Raise::error(PackCode::Load, format!("`{key}` of a provider must be {expected}"));
    if let Some(key) = spec.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let raise = Raise::error(PackCode::Load, format!("unknown provider option `{key}`"));
        return Err(match nearest(key, KEYS) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise,
        });
    }
    let id = spec.get("id").and_then(|id| id.clone().into_string().ok());
    let id = id.filter(|id| !id.trim().is_empty() && !id.starts_with('-') && id.len() <= 200);
    let id = id.ok_or_else(|| wrong("id", "a name that does not start with `-`"))?;
    if ReminderProviders::CANONICAL.contains(&id.as_str()) {
        let message = format!("`{id}` is a built-in provider and cannot be replaced by a pack");
        return Err(Raise::error(PackCode::Refused, message).help("give the provider another id"));
    }
    let names = spec.get("subscribes_to").and_then(|names| names.clone().into_typed_array::<String>().ok());
    let names =
        names.filter(|names| !names.is_empty()).ok_or_else(|| wrong("subscribes_to", "a list of event names"))?;
    let event = |name: &String| {
        event_of(name, 0).map_err(|mut raise| {
            raise.code = PackCode::Load.into();
            raise
        })
    };
    let events = names.iter().map(event).collect::<Result<Vec<_>, _>>()?.into_iter().collect();
    let evaluate = spec.remove("evaluate").and_then(Dynamic::try_cast::<FnPtr>);
    let evaluate = evaluate.ok_or_else(|| wrong("evaluate", "a closure that takes `ctx`"))?;
    Ok(Registered { id, events, evaluate, at })
}
