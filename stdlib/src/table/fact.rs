//! Facts: typed claims with evidence that outlast a session.
//!
//! They are read and written on the blocking pool ([`crate::disk`]), except by a run whose time does not follow the system's,
//! which must happen again in the same order. What is known and has not changed is recalled without a wait.

use crate::capability::Capability;
use crate::convert::{to_data, to_value};
use crate::fact::{oddity, of_fact};
use crate::here;
use crate::lint;
use crate::world::World;
use base::clock::Clock;
use base::data::Data;
use base::ids::Ids;
use lang::builtins::{Right, args};
use lang::value::Value;
use lang::vm::{Cx, Outcome, Raise, Wait, take_over};
use providers::fact::{
    Appending, Draft, Fact, FactCode, FactError, FactLocation, Oddity, Options, Query, Selector, StoreContents,
};
use providers::fact::{confidence, kinds, recall};
use std::rc::Rc;

const READ: &[Right] = &[Capability::FsRead.right()];
const WRITE: &[Right] = &[Capability::FsWrite.right()];
const BOTH: &[Right] = &[Capability::FsRead.right(), Capability::FsWrite.right()];

lang::builtins! { "" =>
    /// Stores a fact and returns its record: `{_type: "memory_record", id, key, tags, value}`. It
    /// is on disk when the call returns.
    ///
    /// ```harn
    /// let options = {root: "facts"}
    /// store_fact({kind: "claim", claim: "The build needs cargo.", confidence: 0.9}, options).value.kind // => "claim"
    /// ```
    waits "store_fact(fact: Fact, options: FactOptions = nil) -> FactRecord" [caps = WRITE, lint = lint::store_fact] store_fact;
    /// The records that a query means, each with its `score`: those with its words first, then the others, the newest first.
    /// `kind` is one kind or a list; `options` may also hold `limit`.
    ///
    /// ```harn
    /// let options = {root: "facts"}
    /// store_fact({kind: "claim", claim: "The build needs cargo.", confidence: 0.9}, options)._type // => "memory_record"
    /// recall_facts("cargo build", nil, nil, options).map({ fact -> fact.value.claim }) // => ["The build needs cargo."]
    /// ```
    waits "recall_facts(query: string, kind: any = nil, min_confidence: float? = nil, options: RecallOptions = nil) -> list<FactRecord>" [caps = READ, lint = lint::recall_facts] recall_facts;
    /// Invalidates facts, by id, key, record, `{id?, key?, tag?, kind?}` or a list of those: `{forgotten}`, how many there were.
    ///
    /// ```harn
    /// let options = {root: "facts"}
    /// let fact = store_fact({kind: "claim", claim: "The build needs cargo.", confidence: 0.9}, options)
    /// invalidate_facts({id: fact.id}, options) // => {forgotten: 1}
    /// ```
    waits "invalidate_facts(selector: any, options: FactOptions = nil) -> {forgotten: int}" [caps = BOTH, lint = lint::invalidate_facts] invalidate_facts;
}

/// An argument as data.
fn data(args: &[Value], i: usize) -> Result<Data, Box<Raise>> {
    to_data(&args[i]).map_err(|raise| raise.about(i, ""))
}

fn options(args: &[Value], i: usize, recalls: bool) -> Result<Options, Box<Raise>> {
    Options::read(&data(args, i)?, recalls).map_err(|error| about(&error, i))
}

fn about(error: &FactError, argument: usize) -> Box<Raise> {
    let label = if error.field.is_empty() { String::new() } else { format!("invalid `{}`", error.field) };
    of_fact(error).about(argument, label)
}

fn now(options: &Options, world: &World) -> u64 {
    options.now_ms.unwrap_or_else(|| world.clock.now_ms())
}

fn store_fact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let draft = Draft::from_data(&data(args, 0)?).map_err(|error| about(&error, 0))?;
    let options = options(args, 1, false)?;
    let in_store = |error: FactError| about(&error, 1);
    let root = options.root.as_deref().map(|root| world.path_text(root));
    let place = world.services.facts.place(root.as_deref(), options.namespace.as_deref()).map_err(in_store)?;
    let id = world.random.ids.next_text(world.clock.now_ms());
    let fact = Fact::new(id, draft, now(&options, &world));
    let appending = world.services.facts.storing(&place, &fact).map_err(|error| about(&error, 0))?;
    let stored = move |world: &World, torn: Result<Option<Oddity>, FactError>| -> Outcome {
        show(world, torn.map_err(|error| about(&error, 0))?.as_ref());
        Ok(to_value(&fact.to_record()))
    };
    if !world.clock.follows_system() {
        return stored(&world, appending.run()).map(|record| Wait::ready(Ok(record)));
    }
    Ok(Wait::new(async move {
        let torn = append(&world, appending).await;
        stored(&world, torn)
    }))
}

fn recall_facts(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let kinds = kinds(&data(args, 1)?, "kind").map_err(|error| about(&error, 1))?;
    let min_confidence = match data(args, 2)? {
        Data::Nil => 0.0,
        number => confidence(&number, "min_confidence").map_err(|error| about(&error, 2))?,
    };
    let options = options(args, 3, true)?;
    let in_store = |error: FactError| about(&error, 3);
    let root = options.root.as_deref().map(|root| world.path_text(root));
    let place = world.services.facts.place(root.as_deref(), options.namespace.as_deref()).map_err(in_store)?;
    let text = args::str(args, 0)?.to_string();
    let query = Query { text, kinds, min_confidence, limit: options.limit, now_ms: now(&options, &world) };
    let found = move |world: &World, contents: &StoreContents| {
        show(world, contents.oddity.as_ref());
        Value::list(recall(contents, &query).iter().map(|found| to_value(&found.to_data())).collect())
    };
    if !world.clock.follows_system() {
        let contents = world.services.facts.read(&place).map_err(in_store)?;
        return Ok(Wait::ready(Ok(found(&world, &contents))));
    }
    if world.services.disk.is_quiet()
        && let Some(contents) = world.services.facts.known(&place)
    {
        return Ok(Wait::ready(Ok(found(&world, &contents))));
    }
    Ok(Wait::new(async move {
        let contents = read(&world, &place).await.map_err(in_store)?;
        Ok(found(&world, &contents))
    }))
}

fn invalidate_facts(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let selector = Selector::from_data(&data(args, 0)?).map_err(|error| about(&error, 0))?;
    let options = options(args, 1, false)?;
    let in_store = |error: FactError| about(&error, 1);
    let root = options.root.as_deref().map(|root| world.path_text(root));
    let place = world.services.facts.place(root.as_deref(), options.namespace.as_deref()).map_err(in_store)?;
    let now_ms = now(&options, &world);
    let answer = |world: &World, forgotten: usize, torn: Option<Oddity>| {
        show(world, torn.as_ref());
        Value::record([("forgotten", Value::from(forgotten))])
    };
    if !world.clock.follows_system() {
        let (forgotten, torn) = world.services.facts.invalidate(&place, &selector, now_ms).map_err(in_store)?;
        return Ok(Wait::ready(Ok(answer(&world, forgotten, torn))));
    }
    Ok(Wait::new(async move {
        let contents = read(&world, &place).await.map_err(in_store)?;
        let invalidating = world.services.facts.invalidating(&place, &contents, &selector, now_ms);
        let (forgotten, appending) = invalidating.map_err(in_store)?;
        let torn = append(&world, appending).await.map_err(in_store)?;
        Ok(answer(&world, forgotten, torn))
    }))
}

fn show(world: &World, odd: Option<&Oddity>) {
    odd.iter().for_each(|odd| world.console.show(&oddity(odd)));
}

/// Reads a place on the blocking pool.
async fn read(world: &World, place: &FactLocation) -> Result<Rc<StoreContents>, FactError> {
    let (loading, known) = world.services.facts.loading(place);
    let mut turn = world.services.disk.turn(false).await;
    let (_, loaded) = turn.run(loading, |loading| Ok(loading.run())).await.map_err(|error| no_thread(&error))?;
    let loaded = loaded?;
    take_over(loaded.size());
    Ok(world.services.facts.loaded(loaded, known))
}

/// Appends on the blocking pool.
async fn append(world: &World, appending: Appending) -> Result<Option<Oddity>, FactError> {
    let mut turn = world.services.disk.turn(true).await;
    turn.run(appending, |appending| Ok(appending.run())).await.map_err(|error| no_thread(&error))?.1
}

fn no_thread(error: &std::io::Error) -> FactError {
    FactError {
        code: FactCode::Store,
        field: "root".to_owned(),
        message: format!("could not start a thread for the facts: {error}"),
        suggestion: None,
        help: None,
    }
}
