//! The session as a pack sees it: read where it is asked for, never copied whole.

use super::budget::Budget;
use super::data::{PackConverter, PackValueError};
use super::meter::Meter;
use rhai::{Dynamic, Engine, EvalAltResult, ImmutableString};
use runtime::transcript::Transcript;
use std::rc::Rc;

/// A transcript that can be looked at.
#[derive(Clone)]
pub(super) struct Seen(pub(super) Transcript);

impl Seen {
    fn read(&self, key: &str, budget: &Budget) -> Result<Dynamic, PackValueError> {
        PackConverter::new(budget).inward(&self.0.get(key))
    }
}

/// Lets a pack read the entries of a session: `ctx.session.messages`, `ctx.session["id"]`.
pub(super) fn register(engine: &mut Engine, meter: &Rc<Meter>) {
    engine.register_type_with_name::<Seen>("transcript");
    let budget = meter.clone();
    engine.register_indexer_get(move |seen: &mut Seen, key: &str| -> Result<Dynamic, Box<EvalAltResult>> {
        seen.read(key, budget.budget()).map_err(|stuck| over(&stuck, &budget))
    });
    engine.register_fn("keys", |seen: &mut Seen| -> rhai::Array {
        seen.0.keys().into_iter().map(Dynamic::from).collect()
    });
    engine.register_fn("contains", |seen: &mut Seen, key: &str| seen.0.keys().contains(&key));
    engine.register_fn("to_string", |seen: &mut Seen| name(seen));
    engine.register_fn("to_debug", |seen: &mut Seen| name(seen));
}

fn name(seen: &Seen) -> ImmutableString {
    format!("transcript({})", seen.0.id()).into()
}

/// A value that does not fit ends the evaluation, whatever the pack would like to catch.
fn over(stuck: &PackValueError, meter: &Meter) -> Box<EvalAltResult> {
    match stuck {
        PackValueError::Over(limit) => {
            meter.end(*limit);
            EvalAltResult::ErrorTerminated(Dynamic::UNIT, rhai::Position::NONE).into()
        }
        PackValueError::NoData(_) | PackValueError::TooDeep => "this entry cannot be read".into(),
    }
}
