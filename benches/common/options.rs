//! The options of a bench on the command line.

#![allow(dead_code, reason = "no bench takes every option")]

/// A run of a bench.
pub(crate) struct Options {
    /// Runs of each row.
    pub(crate) runs: usize,
    /// The selected parts; empty means all.
    only: Vec<String>,
    /// The words of which a row's title must have one; empty means all rows.
    pub(crate) rows: Vec<String>,
    /// The selected peers; empty means all.
    peers: Vec<String>,
    /// Whether instructions are counted.
    pub(crate) count: bool,
}

impl Options {
    /// Reads the arguments; what is wrong, in a sentence.
    pub(crate) fn read(args: &[String]) -> Result<Self, String> {
        let mut options = Self { runs: 11, only: Vec::new(), rows: Vec::new(), peers: Vec::new(), count: true };
        // Cargo passes `--bench`.
        let mut args = args.iter().filter(|arg| *arg != "--bench");
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{flag}` needs a value"));
            let list = |text: &String| text.split(',').map(str::to_owned).collect();
            match flag.as_str() {
                "--runs" => {
                    let runs = value()?;
                    let positive = runs.parse().ok().filter(|n| *n > 0);
                    options.runs = positive.ok_or_else(|| format!("`--runs` needs a number, found `{runs}`"))?;
                }
                "--only" => options.only = list(value()?),
                "--rows" => options.rows = list(value()?),
                "--peers" => options.peers = list(value()?),
                "--no-count" => options.count = false,
                _ => return Err(format!("there is no option `{flag}`")),
            }
        }
        Ok(options)
    }

    /// Whether a part is asked for.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == part)
    }

    /// Whether a row is asked for.
    pub(crate) fn wants_row(&self, title: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|word| title.contains(word.as_str()))
    }

    /// Whether a peer is asked for, by the beginning of its name.
    pub(crate) fn wants_peer(&self, name: &str) -> bool {
        name.starts_with("harn")
            || self.peers.is_empty()
            || self.peers.iter().any(|peer| name.starts_with(peer.as_str()))
    }
}
