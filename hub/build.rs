//! Generates the types and services of `proto/`. The compiler is a crate, so no build needs `protoc`.

use std::error::Error;

const PROTOS: &[&str] = &["a2a.proto", "agenthub.proto", "worker.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(PROTOS, ["proto"])?;
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}
