//! Ids.
use base::clock::Clock;
use base::ids::Ids;

use crate::here;
use lang::value::Value;
use lang::vm::{Cx, Raise};

lang::builtins! { "" =>
    /// Returns a random UUID.
    ///
    /// ```harn
    /// uuid().count // => 36
    /// ```
    plain "uuid() -> string" uuid;
    /// Returns a UUID that sorts by time.
    ///
    /// ```harn
    /// uuid_v7() < uuid_v7() // => true
    /// ```
    plain "uuid_v7() -> string" uuid_v7;
}

fn uuid(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let host = cx.isolate.host();
    let bits = (u128::from(host.random()) << 64) | u128::from(host.random());
    Ok(Value::from(uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid().to_string()))
}

fn uuid_v7(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    Ok(Value::str(&world.random.ids.next_text(world.clock.now_ms())))
}
