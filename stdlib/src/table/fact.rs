//! Facts: typed claims with evidence that outlast a session.

use crate::Capability;
use crate::convert::{to_data, to_value};
use crate::fact::{oddity, of_fact};
use crate::here;
use crate::lint;
use crate::world::World;
use lang::builtins::{Right, args};
use lang::value::Value;
use lang::vm::{Cx, Raise};
use providers::fact::{Draft, FactError, Options, Query, Selector, confidence, kinds, recall};
use runtime::clock::Clock;
use runtime::data::Data;
use runtime::ids::Ids;

const READ: &[Right] = &[Capability::FsRead.right()];
const WRITE: &[Right] = &[Capability::FsWrite.right()];
const BOTH: &[Right] = &[Capability::FsRead.right(), Capability::FsWrite.right()];

lang::builtins! { "" =>
    /// Stores a fact and gives its record: `{_type: "memory_record", id, key, tags, value}`. It is on disk when the call returns.
    plain "store_fact(fact: Fact, options: FactOptions = nil) -> FactRecord" [caps = WRITE, lint = lint::store_fact] store_fact;
    /// The records that a query means, each with its `score`: those with its words first, then the others, the newest first.
    /// `kind` is one kind or a list; `options` may also hold `limit`.
    plain "recall_facts(query: string, kind: any = nil, min_confidence: float? = nil, options: RecallOptions = nil) -> list<FactRecord>" [caps = READ, lint = lint::recall_facts] recall_facts;
    /// Invalidates facts, by id, key, record, `{id?, key?, tag?, kind?}` or a list of those: `{forgotten}`, how many there were.
    plain "invalidate_facts(selector: any, options: FactOptions = nil) -> {forgotten: int}" [caps = BOTH, lint = lint::invalidate_facts] invalidate_facts;
}

/// An argument as data.
fn data(args: &[Value], i: usize) -> Result<Data, Box<Raise>> {
    to_data(&args[i]).map_err(|raise| raise.about(i, ""))
}

fn options(args: &[Value], i: usize, recalls: bool) -> Result<Options, Box<Raise>> {
    Options::read(&data(args, i)?, recalls).map_err(|error| about(&error, i))
}

fn about(error: &FactError, argument: usize) -> Box<Raise> {
    let label = if error.field.is_empty() { String::new() } else { format!("`{}` is at fault", error.field) };
    of_fact(error).about(argument, label)
}

fn now(options: &Options, world: &World) -> u64 {
    options.now_ms.unwrap_or_else(|| world.clock.now_ms())
}

fn store_fact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let draft = Draft::from_data(&data(args, 0)?).map_err(|error| about(&error, 0))?;
    let options = options(args, 1, false)?;
    let in_store = |error: FactError| about(&error, 1);
    let place = world.facts.place(options.root.as_deref(), options.namespace.as_deref()).map_err(in_store)?;
    let id = world.ids.next_text(world.clock.now_ms());
    let (fact, torn) = world.facts.store(&place, id, draft, now(&options, &world)).map_err(|error| about(&error, 0))?;
    torn.iter().for_each(|torn| world.show(&oddity(torn)));
    Ok(to_value(&fact.to_record()))
}

fn recall_facts(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let kinds = kinds(&data(args, 1)?, "kind").map_err(|error| about(&error, 1))?;
    let min_confidence = match data(args, 2)? {
        Data::Nil => 0.0,
        number => confidence(&number, "min_confidence").map_err(|error| about(&error, 2))?,
    };
    let options = options(args, 3, true)?;
    let in_store = |error: FactError| about(&error, 3);
    let place = world.facts.place(options.root.as_deref(), options.namespace.as_deref()).map_err(in_store)?;
    let contents = world.facts.read(&place).map_err(in_store)?;
    contents.oddity.iter().for_each(|odd| world.show(&oddity(odd)));
    let text = args::str(args, 0)?.to_string();
    let query = Query { text, kinds, min_confidence, limit: options.limit, now_ms: now(&options, &world) };
    Ok(Value::list(recall(&contents, &query).iter().map(|found| to_value(&found.to_data())).collect()))
}

fn invalidate_facts(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let selector = Selector::from_data(&data(args, 0)?).map_err(|error| about(&error, 0))?;
    let options = options(args, 1, false)?;
    let in_store = |error: FactError| about(&error, 1);
    let place = world.facts.place(options.root.as_deref(), options.namespace.as_deref()).map_err(in_store)?;
    let (forgotten, torn) = world.facts.invalidate(&place, &selector, now(&options, &world)).map_err(in_store)?;
    torn.iter().for_each(|torn| world.show(&oddity(torn)));
    Ok(Value::record([("forgotten", Value::from(forgotten))]))
}
