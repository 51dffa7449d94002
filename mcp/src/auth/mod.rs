//! Authorization of servers behind a URL, by OAuth 2.1 as the protocol prescribes it.
//!
//! - [`Authorizer`] (`authorizer`): the token of each request; renews it, and says when the user has to log in.
//! - `login`: the login of a user in the browser. `loopback`: the address to which the browser returns.
//! - `challenge`: the header `WWW-Authenticate`. `discovery`: the metadata of the server (RFC 9728) and of its authorization
//!   server (RFC 8414, OpenID Connect). `registration`: the client id. `grant`: requests for tokens. `secret`: random texts.
//! - [`TokenStore`] (`store`): tokens in files that only their owner can read.
//! - `fetch`: requests of all these, limited in size and time.
//!
//! A token is bound to the URL of the server that it was issued for: it is stored under that URL, and sent to no other.

mod authorizer;
mod challenge;
mod discovery;
mod fetch;
mod grant;
mod login;
mod loopback;
mod registration;
mod secret;
mod store;

pub use authorizer::{AuthSettings, Authorizer};
pub use store::TokenStore;
