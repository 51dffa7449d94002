//! The log's backend as a person names it.

use std::path::PathBuf;
use std::str::FromStr;

use base::words::nearest;

use super::LogError;

/// The log's backend.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LogBackend {
    /// In memory, until the process ends.
    #[default]
    Memory,
    /// In a SQLite file.
    Sqlite(PathBuf),
}

impl FromStr for LogBackend {
    type Err = LogError;

    fn from_str(written: &str) -> Result<LogBackend, LogError> {
        let refused = |message: String, help: &str| Err(LogError::Home { message, help: help.to_owned() });
        let (scheme, rest) = written.split_once(':').map_or((written, None), |(scheme, rest)| (scheme, Some(rest)));
        match (scheme, rest) {
            ("memory", None) => Ok(LogBackend::Memory),
            ("sqlite", Some(path)) if !path.trim().is_empty() => Ok(LogBackend::Sqlite(PathBuf::from(path))),
            ("sqlite", _) => refused(
                "`sqlite` needs the path of a file".to_owned(),
                "use, for example, `sqlite:events.db`; the file is created if it does not exist",
            ),
            ("memory", Some(_)) => refused("`memory` takes no path".to_owned(), "write `memory`"),
            ("nats", _) => refused(
                "event logs in NATS JetStream are planned but not implemented".to_owned(),
                "use `sqlite:PATH` for a log in a file, which several processes on one machine can share",
            ),
            (unknown, _) => {
                let help = match nearest(unknown, ["memory", "sqlite"]) {
                    Some("sqlite") => "did you mean `sqlite:PATH`?",
                    Some(_) => "did you mean `memory`?",
                    None => "use `memory`, or `sqlite:PATH` for a log in a file",
                };
                refused(format!("unknown event log backend `{unknown}`"), help)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(written: &str) -> String {
        let error = written.parse::<LogBackend>().unwrap_err();
        assert_eq!(error.code().as_str(), "HARN-LOG-001");
        format!("{error}; {}", error.help())
    }

    #[test]
    fn homes_are_memory_and_files() {
        assert_eq!("memory".parse::<LogBackend>().unwrap(), LogBackend::Memory);
        assert_eq!("sqlite:a/b:c.db".parse::<LogBackend>().unwrap(), LogBackend::Sqlite("a/b:c.db".into()));
    }

    #[test]
    fn what_is_no_home_is_refused_with_a_word_about_what_is_one() {
        assert!(help("nats://localhost/events").contains("planned but not implemented"));
        assert!(help("sqlit:x.db").contains("did you mean `sqlite:PATH`?"));
        assert!(help("memry").contains("did you mean `memory`?"));
        assert!(help("postgres://x").contains("use `memory`, or `sqlite:PATH`"));
        assert!(help("sqlite:").contains("needs the path"));
        assert!(help("sqlite").contains("needs the path"));
        assert!(help("memory:x").contains("takes no path"));
        assert!(help("").contains("unknown event log backend"));
    }
}
