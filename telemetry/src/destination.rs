//! [`Destination`]: where spans go, by the command line and the variables of OpenTelemetry.

use std::fmt;

/// The destination of spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A URL, whole.
    Url(String),
    /// The endpoint in OpenTelemetry's environment variables, else a collector on this machine.
    OfEnvironment,
}

/// The variables that name a collector.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// The path of traces below the URL of a collector.
const PATH: &str = "/v1/traces";

/// Default endpoint of a collector.
const USUAL: &str = "http://localhost:4318";

/// An invalid URL of a collector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a URL that begins with http:// or https://")]
pub struct NotAUrl;

impl Destination {
    /// Reads what `--otel` was given; nothing but the flag means the environment's.
    ///
    /// # Errors
    /// It is not the URL of a collector.
    pub fn read(written: &str) -> Result<Destination, NotAUrl> {
        if written.is_empty() {
            return Ok(Destination::OfEnvironment);
        }
        let rest = written.strip_prefix("http://").or_else(|| written.strip_prefix("https://")).ok_or(NotAUrl)?;
        if rest.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(NotAUrl);
        }
        // A URL without a path is that of the collector; the path of traces is below it.
        let has_path = rest.split_once('/').is_some_and(|(_, path)| !path.is_empty());
        let whole = if has_path { written.to_owned() } else { format!("{}{PATH}", written.trim_end_matches('/')) };
        Ok(Destination::Url(whole))
    }

    /// The destination that the environment names by itself: an endpoint, or the exporter `otlp`.
    #[must_use]
    pub fn of_environment(read: impl Fn(&str) -> Option<String>) -> Option<Destination> {
        let is = |name: &str, value: &str| read(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value));
        if is_disabled(&read) {
            return None;
        }
        let named = ENDPOINTS.iter().any(|name| read(name).is_some_and(|found| !found.trim().is_empty()));
        (named || is("OTEL_TRACES_EXPORTER", "otlp")).then_some(Destination::OfEnvironment)
    }

    /// The URL that requests go to.
    #[must_use]
    pub fn url(&self, read: impl Fn(&str) -> Option<String>) -> String {
        let set = |name: &str| read(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        match self {
            Destination::Url(url) => url.clone(),
            // Only the variable for traces holds a whole URL.
            Destination::OfEnvironment => set(ENDPOINTS[0]).unwrap_or_else(|| {
                let base = set(ENDPOINTS[1]).unwrap_or_else(|| USUAL.to_owned());
                format!("{}{PATH}", base.trim_end_matches('/'))
            }),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Url(url) => f.write_str(url),
            Destination::OfEnvironment => f.write_str("the collector of the environment"),
        }
    }
}

/// Whether the environment turns exporting off.
fn is_disabled(read: &impl Fn(&str) -> Option<String>) -> bool {
    let is = |name: &str, value: &str| read(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value));
    is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none")
}

/// Whether texts may leave the process: answers, arguments, results, bodies of reminders.
#[must_use]
pub fn captures_content(read: impl Fn(&str) -> Option<String>) -> bool {
    let found = read("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
    found.is_some_and(|found| found.trim().eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_url_without_a_path_gets_that_of_traces() {
        let url = |written: &str| Destination::read(written).map(|it| it.url(environment(&[])));
        assert_eq!(url("http://127.0.0.1:4318").as_deref(), Ok("http://127.0.0.1:4318/v1/traces"));
        assert_eq!(url("https://a.example/").as_deref(), Ok("https://a.example/v1/traces"));
        assert_eq!(url("https://a.example/otlp/v1/traces").as_deref(), Ok("https://a.example/otlp/v1/traces"));
        assert_eq!(url("").as_deref(), Ok("http://localhost:4318/v1/traces"));
        for wrong in ["localhost:4318", "http://", "ftp://a", "http://a b"] {
            assert_eq!(url(wrong), Err(NotAUrl), "{wrong}");
        }
    }

    #[test]
    fn the_environment_turns_exporting_on_and_off() {
        let at =
            |set: &[(&str, &str)]| Destination::of_environment(environment(set)).map(|it| it.url(environment(set)));
        assert_eq!(at(&[]), None);
        assert_eq!(at(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1/")]).as_deref(), Some("http://c:1/v1/traces"));
        assert_eq!(at(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c:1/t")]).as_deref(), Some("http://c:1/t"));
        assert_eq!(at(&[("OTEL_TRACES_EXPORTER", "otlp")]).as_deref(), Some("http://localhost:4318/v1/traces"));
        for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
            assert_eq!(at(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"), off]), None, "{off:?}");
        }
    }
}
