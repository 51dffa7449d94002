//! Facts. The signatures are here so that scripts check; storing and recalling comes with the provider `project_facts`.

use lang::value::Value;
use lang::vm::{Cx, Raise, codes};

lang::builtins! { "" =>
    /// Stores a fact. Not supported yet: raises.
    plain "store_fact(fact: Fact, options: dict? = nil) -> dict" not_yet;
    /// Recalls facts by lexical match. Not supported yet: raises.
    plain "recall_facts(query: string, kind: any = nil, min_confidence: float? = nil, options: dict? = nil) -> list" not_yet;
    /// Invalidates facts. Not supported yet: raises.
    plain "invalidate_facts(selector: any, options: dict? = nil) -> dict" not_yet;
}

fn not_yet(_: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Err(Raise::error(codes::OUTSIDE, "facts are not supported yet"))
}
