//! Options of requests over HTTP.

use super::{Count, Headers, Ms, Raw};

options! {
    /// Options of `http_get`, `http_post` and the other methods.
    HttpOptions {
        headers: Headers = {}, "Additional headers.";
        timeout_ms: Ms = 30000, "Timeout of the request, in milliseconds.";
        query: Raw as "dict", "Values that are added to the query of the URL.";
        form: Raw as "dict", "Values that are sent as a form.";
        json: Raw, "A value that is sent as JSON, also if it is a string.";
        retries: Count<u32> = 0, "Number of further attempts after a lost connection, a timeout, or a status of 429, 502, 503 or 504.";
    }
}
