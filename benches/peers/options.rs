//! What is asked for on the command line.

/// A run of the bench.
pub(crate) struct Options {
    /// Runs of each program in each language.
    pub(crate) runs: usize,
    /// Only these rows; all when there are none.
    pub(crate) rows: Vec<String>,
    /// Only these languages beside harn; all when there are none.
    pub(crate) peers: Vec<String>,
}

impl Options {
    /// Reads the arguments; what is wrong, in a sentence.
    pub(crate) fn read(args: &[String]) -> Result<Self, String> {
        let mut options = Self { runs: 11, rows: Vec::new(), peers: Vec::new() };
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
                "--rows" => options.rows = list(value()?),
                "--peers" => options.peers = list(value()?),
                _ => return Err(format!("there is no option `{flag}`")),
            }
        }
        Ok(options)
    }

    /// Whether a row is asked for.
    pub(crate) fn wants_row(&self, name: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| row == name)
    }

    /// Whether a language is asked for, by the beginning of its name.
    pub(crate) fn wants_peer(&self, name: &str) -> bool {
        name == "harn" || self.peers.is_empty() || self.peers.iter().any(|peer| name.starts_with(peer.as_str()))
    }
}
