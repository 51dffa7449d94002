//! Against a model server that was not written here: npm `@copilotkit/aimock`.
//!
//! - [`quickstart`]: the quick start passes, and every reminder arrives where it belongs.
//! - [`routes`]: every route returns the same answers, complete and streamed, and reports each way
//!   in which a server fails.

mod quickstart;
mod routes;
mod server;
