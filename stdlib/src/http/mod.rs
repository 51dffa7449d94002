//! Requests of scripts over HTTP.
//!
//! - [`HttpRequest`]: a request with its attempts. [`HttpHead`]: an answer whose body is still to be read.
//! - [`HttpMock`]: answers in place of servers, for tests.
//! - `body`: bodies of requests. `pages`: the items of an answer in several pages. `reading`: bodies that are read as they come.
//! - `query`: queries of URLs.

mod body;
mod mock;
mod pages;
mod query;
mod reading;
mod request;

pub(crate) use body::body_of;
pub(crate) use mock::{HttpMock, MockRoute, method_of};
pub(crate) use pages::Pages;
pub(crate) use query::{append_query, query_of, query_pairs, shown_name};
pub(crate) use reading::{BodyLines, BodyPieces};
pub(crate) use request::{HttpHead, HttpRequest, response, text_or_bytes};
