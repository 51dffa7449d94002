//! Options of requests over HTTP.

use super::{Headers, Ms};

options! {
    /// Options of `http_get` and `http_post`.
    HttpOptions {
        headers: Headers = {}, "Additional headers.";
        timeout_ms: Ms = 30000, "Timeout of the request, in milliseconds.";
    }
}
