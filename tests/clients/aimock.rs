//! Against a model server that was not written here: npm `@copilotkit/aimock`.
//!
//! - [`quickstart`]: the quick start passes, and every reminder arrives where it belongs.
//! - [`routes`]: every route gives the same answers, whole and in pieces, and tells of each way in which a server fails.

mod quickstart;
mod routes;
mod server;
