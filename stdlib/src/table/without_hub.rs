//! `hub.…` in a build without the feature `hub`: the names are known, and say what is missing.

use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode};

lang::builtins! { "hub" =>
    /// Not in this build: it was compiled without the feature `hub`.
    plain "connect(url: string, options: any = nil) -> any" missing;
    /// Not in this build: it was compiled without the feature `hub`.
    plain "local(options: any = nil) -> any" missing;
}

fn missing(_: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let message = "this harn was built without hubs; build it with the feature `hub`";
    Err(Raise::error(RunCode::Denied, message))
}
