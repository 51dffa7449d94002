//! Behaviour seen by what others have made: needs Node with npm and Python with pip, which install it when it is first wanted.
//!
//! - [`aimock`]: the quick start against a model server from npm.
//! - [`vendor_types`]: requests and answers against the types of the vendors' own SDKs.
//! - [`a2a`]: agents that talk to each other.
//! - [`channels`]: remote channels that share the sessions of one process.
//! - [`editors`]: the tree-sitter grammar beside the parser, and the extension for Visual Studio Code.
//! - [`hub`]: agents in Python at a hub.
//! - [`junit`]: results of tests as a reader of JUnit documents finds them.
//! - [`kills`]: servers that are killed at any moment.
//! - [`load`]: six servers under load.
//! - [`lsp`]: the language server as a client library sees it.
//! - [`mcp`]: MCP servers, official and hostile, as scripts use them.
//! - [`otel`]: traces as a collector gets them.
//! - [`packaging`]: the packages for npm and archives, and the workflows of a release.
//! - [`progress`]: the line of progress in a pseudo-terminal.
//! - [`repl`]: the REPL in a pseudo-terminal.
//! - [`sarif`]: diagnostics against the schema of their format.
//! - [`tls`]: every server with a certificate.
//! - [`acp`]: editors that serve themselves of the built command over the client protocol.
//!
//! [`packages`] installs what comes from PyPI and npm, [`sdk_cases`] runs what is written for it, [`harn`] starts the command, [`servers`] servers,
//! [`markdown`] takes pages apart, [`diff`] shows how two texts differ.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod a2a;
mod acp;
mod aimock;
mod channels;
#[path = "../support/diff.rs"]
mod diff;
mod editors;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/harn.rs"]
mod harn;
mod hub;
mod junit;
mod kills;
mod load;
mod lsp;
#[path = "../support/markdown.rs"]
mod markdown;
mod mcp;
mod otel;
mod packages;
mod packaging;
mod progress;
mod repl;
mod sarif;
mod sdk_cases;
mod servers;
mod tls;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/tokio_wait.rs"]
mod tokio_wait;
mod vendor_types;
#[allow(unreachable_pub, dead_code, reason = "the other test targets use more of it")]
#[path = "../support/vendors/mod.rs"]
mod vendors;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/wait.rs"]
mod wait;
