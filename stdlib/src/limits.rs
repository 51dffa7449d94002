//! The limits of a run, as they are written on the command line and in `harn.toml`.

use lang::vm::{Limits, Suggestions};
use runtime::budget::{BudgetLimits, BudgetUnit};
use runtime::capabilities::PlacementPolicy;
use runtime::reminder_providers::ReminderBudget;
use std::time::Duration;

/// The default memory limit of a run, in bytes.
pub const DEFAULT_MEMORY: u64 = 4 << 30;

/// The limits of a run; what is left out has its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// Instructions, roughly; without it as many as it wants.
    pub fuel: Option<u64>,
    /// Calls in one another.
    pub depth: Option<u64>,
    /// Bytes; [`DEFAULT_MEMORY`] without it.
    pub memory: Option<u64>,
    /// Bytes of the largest value that one operation may make; the language's own limit without it.
    pub value: Option<u64>,
    /// Wall time; without it as long as it wants.
    pub time: Option<Duration>,
    /// The timeout of one handler or provider.
    pub hook: Option<Duration>,
    /// The largest body of a reminder, in bytes.
    pub max_body: Option<u64>,
    /// The budget of the reminders in a prompt.
    pub reminders: ReminderBudget,
    /// Whether loops use the reminder files of the project.
    pub reminder_files: Option<bool>,
    /// The position of reminders, unless a loop's options or the route set one.
    pub placement: Option<PlacementPolicy>,
    /// Limits of all requests of the run; without it as much as they want.
    pub budget: Option<BudgetLimits>,
}

/// The suggestions of a run's errors: the flags of the command, and the settings of a project.
pub(crate) static SUGGESTIONS: Suggestions = Suggestions {
    depth: "check for infinite recursion, or raise the limit with `--max-depth`",
    fuel: "check for an infinite loop, or raise the limit with `--fuel N`, or `fuel` under `[limits]` in harn.toml",
    memory: "check for a value that keeps growing, or raise the limit with `--max-memory`, or `memory` under \
        `[limits]` in harn.toml",
    time: "raise the limit with `--timeout`, or `timeout` under `[limits]` in harn.toml",
    right: "run without `--deny` for this capability, or remove the call",
};

impl RunLimits {
    /// These, and where they say nothing, those of `below`.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            fuel: self.fuel.or(below.fuel),
            depth: self.depth.or(below.depth),
            memory: self.memory.or(below.memory),
            value: self.value.or(below.value),
            time: self.time.or(below.time),
            hook: self.hook.or(below.hook),
            max_body: self.max_body.or(below.max_body),
            reminders: self.reminders.over(below.reminders),
            reminder_files: self.reminder_files.or(below.reminder_files),
            placement: self.placement.or(below.placement),
            budget: self.budget.or(below.budget),
        }
    }

    /// Returns the limits for the VM.
    #[must_use]
    pub(crate) fn machine(self) -> Limits {
        let defaults = Limits::default();
        let memory = self.memory.unwrap_or(DEFAULT_MEMORY);
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Limits {
            depth: self.depth.map_or(defaults.depth, size),
            fuel: self.fuel,
            value_bytes: self.value.map_or(defaults.value_bytes, size),
            memory: Some(memory),
            time: self.time,
            suggestions: &SUGGESTIONS,
            ..defaults
        }
    }
}

/// Bytes: `512 MiB`, `2g`, `4096`.
///
/// # Errors
/// Returns the problem, as the end of a sentence.
pub fn parse_size(written: &str) -> Result<u64, String> {
    let (number, unit) = split(written);
    let unit: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(format!("`{written}` is not a size; use, for example, `512 MiB`, `2g` or a number of bytes")),
    };
    let size = number.parse().ok().and_then(|number: u64| number.checked_mul(unit)).filter(|size| *size > 0);
    size.ok_or_else(|| format!("`{written}` is not a size; use, for example, `512 MiB`, `2g` or a number of bytes"))
}

/// A duration as scripts write it: `500ms`, `30s`, `5m`, `2h`.
///
/// # Errors
/// Returns the problem, as the end of a sentence.
pub fn parse_time(written: &str) -> Result<Duration, String> {
    let (number, unit) = split(written);
    let unit: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(format!("`{written}` is not a duration; use, for example, `500ms`, `30s` or `5m`")),
    };
    let ms = number.parse().ok().and_then(|number: u64| number.checked_mul(unit)).filter(|ms| *ms > 0);
    ms.map(Duration::from_millis)
        .ok_or_else(|| format!("`{written}` is not a duration; use, for example, `500ms`, `30s` or `5m`"))
}

/// The largest limit of a budget, in US dollars.
pub(crate) const DEAREST_BUDGET: u64 = 1_000_000_000;

/// A budget: `usd=0.50,tokens=200000,turns=20`, each of them optional.
///
/// # Errors
/// Returns the problem, as the end of a sentence.
pub fn parse_budget(written: &str) -> Result<BudgetLimits, String> {
    let mut limits = BudgetLimits::default();
    for part in written.split(',') {
        let (key, amount) = part.split_once('=').unwrap_or((part, ""));
        let (key, amount) = (key.trim(), amount.trim().replace('_', ""));
        let unit = BudgetUnit::ALL.into_iter().find(|unit| unit.key() == key);
        let (slot, read) = match unit {
            Some(BudgetUnit::Usd) => (&mut limits.nano_usd, parse_usd(&amount)),
            Some(BudgetUnit::Tokens) => (&mut limits.tokens, parse_count(&amount)),
            Some(BudgetUnit::Turns) => (&mut limits.turns, parse_count(&amount)),
            None => {
                return Err(format!("`{part}` is not a limit; use, for example, `usd=0.50,tokens=200000,turns=20`"));
            }
        };
        let Some(read) = read else {
            let expected = match unit {
                Some(BudgetUnit::Usd) => format!("US dollars up to {DEAREST_BUDGET}, with at most nine decimals"),
                _ => "a number".to_owned(),
            };
            return Err(format!("`{key}` must be {expected}, found `{amount}`"));
        };
        if slot.replace(read).is_some() {
            return Err(format!("`{key}` is set twice"));
        }
    }
    Ok(limits)
}

fn parse_count(written: &str) -> Option<u64> {
    written.bytes().all(|byte| byte.is_ascii_digit()).then(|| written.parse().ok()).flatten()
}

/// Parses dollars as nano-dollars.
fn parse_usd(written: &str) -> Option<u64> {
    let (whole, part) = written.split_once('.').unwrap_or((written, "0"));
    if part.is_empty() || part.len() > 9 {
        return None;
    }
    let whole = parse_count(whole).filter(|whole| *whole <= DEAREST_BUDGET)?;
    let part = parse_count(&format!("{part:0<9}"))?;
    Some(whole * 1_000_000_000 + part)
}

/// The digits, and what is behind them.
fn split(written: &str) -> (String, &str) {
    let written = written.trim();
    let end = written.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(written.len());
    (written[..end].replace('_', ""), written[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (written, bytes) in
            [("4096", 4096), ("1_000", 1000), ("512 MiB", 512 << 20), ("2g", 2 << 30), ("3KB", 3000), (" 1 k ", 1024)]
        {
            assert_eq!(parse_size(written), Ok(bytes), "{written}");
        }
        for written in ["", "g", "-1", "0", "1.5g", "12 parsecs", "99999999999g"] {
            assert!(parse_size(written).is_err(), "{written}");
        }
    }

    #[test]
    fn times() {
        for (written, ms) in [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("2 h", 7_200_000), ("1d", 86_400_000)]
        {
            assert_eq!(parse_time(written), Ok(Duration::from_millis(ms)), "{written}");
        }
        for written in ["", "30", "0s", "-1s", "5min", "s", "99999999999999999999s"] {
            assert!(parse_time(written).is_err(), "{written}");
        }
    }

    #[test]
    fn budgets() {
        let limits = |nano_usd, tokens, turns| BudgetLimits { nano_usd, tokens, turns };
        for (written, expected) in [
            ("usd=0.50,tokens=200000,turns=20", limits(Some(500_000_000), Some(200_000), Some(20))),
            ("turns=0", limits(None, None, Some(0))),
            (" usd = 3 , tokens = 200_000 ", limits(Some(3_000_000_000), Some(200_000), None)),
            ("usd=0.000000001", limits(Some(1), None, None)),
            ("usd=1000000000.999999999", limits(Some(1_000_000_000_999_999_999), None, None)),
        ] {
            assert_eq!(parse_budget(written), Ok(expected), "{written}");
        }
        for (written, part) in [
            ("", "`` is not a limit"),
            ("5", "`5` is not a limit"),
            ("dollars=5", "`dollars=5` is not a limit"),
            ("usd", "`usd` must be US dollars"),
            ("usd=-1", "found `-1`"),
            ("usd=nan", "found `nan`"),
            ("usd=1e3", "found `1e3`"),
            ("usd=1.", "found `1.`"),
            ("usd=.5", "found `.5`"),
            ("usd=0.0000000001", "at most nine decimals"),
            ("usd=1000000001", "up to 1000000000"),
            ("tokens=1.5", "`tokens` must be a number"),
            ("tokens=99999999999999999999", "`tokens` must be a number"),
            ("turns=+3", "found `+3`"),
            ("turns=3,turns=4", "`turns` is set twice"),
            ("turns=3,", "`` is not a limit"),
        ] {
            let error = parse_budget(written).unwrap_err();
            assert!(error.contains(part), "{written}: {error}");
        }
    }

    #[test]
    fn what_is_said_wins_and_the_rest_is_kept() {
        let above = RunLimits { fuel: Some(1), ..RunLimits::default() };
        let below = RunLimits { fuel: Some(2), depth: Some(3), ..RunLimits::default() };
        assert_eq!(above.over(below), RunLimits { fuel: Some(1), depth: Some(3), ..RunLimits::default() });
    }
}
