//! Options of a compaction: those of `transcript_compact` and `agent_session_compact`, and of a
//! loop's own.

use super::OptionReader;
use crate::Capability;
use crate::bind::{ScriptCompactor, ScriptFn};
use lang::diagnostic::nearest;
use lang::value::{Dict, Value, display};
use lang::vm::{Cx, Raise, RunCode};
use runtime::compaction::{AutoCompact, Threshold};
use runtime::seam::Compactor;
use runtime::transcript::compact::{CompactOptions, Strategy};
use std::rc::Rc;
use std::sync::Arc;

/// The settings of a compaction.
pub(crate) struct CompactionSettings {
    pub(crate) options: CompactOptions,
    /// The compactor of the strategy `custom`.
    pub(crate) custom: Option<ScriptCompactor>,
    /// The prompt of the strategy `llm`.
    pub(crate) prompt: Option<Arc<str>>,
    /// The threshold, which only a loop's own compaction has.
    threshold: Option<Threshold>,
}

const KEYS: [&str; 6] = ["strategy", "keep_last", "target_tokens", "summary", "summarize_prompt", "custom_compactor"];

fn wrong(key: &str, expected: &str) -> Box<Raise> {
    Raise::error(lang::check::CheckCode::Type, format!("`{key}` must be {expected}"))
}

impl CompactionSettings {
    /// Reads the options in a dict, on top of `options`.
    ///
    /// # Errors
    /// An option that there is not, or a value of the wrong kind; without a place.
    pub(crate) fn read(cx: &Cx<'_>, dict: Option<&Dict>, options: CompactOptions) -> Result<Self, Box<Raise>> {
        let asked = Self::read_keys(cx, dict, options, false)?;
        asked.check(cx)?;
        Ok(asked)
    }

    fn read_keys(cx: &Cx<'_>, dict: Option<&Dict>, options: CompactOptions, in_loop: bool) -> Result<Self, Box<Raise>> {
        let mut asked = Self { options, custom: None, prompt: None, threshold: None };
        for (key, value) in dict.iter().flat_map(|dict| dict.iter()).filter(|(_, value)| !value.is_nil()) {
            let text = |expected: &str| value.as_str().ok_or_else(|| wrong(key, expected));
            match key.as_str() {
                "strategy" => asked.set_strategy(key, value)?,
                "keep_last" => asked.options.keep_last = Some(count(key, value)?),
                "target_tokens" => asked.options.target_tokens = Some(count(key, value)?),
                "summary" => asked.options.summary = Some(Arc::from(text("a string")?)),
                "summarize_prompt" => asked.prompt = Some(Arc::from(text("a string")?)),
                "custom_compactor" => asked.custom = Some(compactor(cx, key, value)?),
                "threshold" if in_loop => asked.threshold = Some(threshold(key, value)?),
                other => {
                    let raise = Raise::error(lang::check::CheckCode::Key, format!("unknown option `{other}`"));
                    let known = KEYS.into_iter().chain(in_loop.then_some("threshold"));
                    return Err(match nearest(other, known) {
                        Some(near) => raise.help(format!("did you mean `{near}`?")),
                        None => raise,
                    });
                }
            }
        }
        Ok(asked)
    }

    /// Returns the default settings of a loop.
    fn usual() -> Self {
        Self { options: AutoCompact::default().options, custom: None, prompt: None, threshold: None }
    }

    fn into_auto(mut self) -> AutoCompact {
        // Without it everything would be archived each time.
        self.options.keep_last.get_or_insert(12);
        AutoCompact {
            options: self.options,
            threshold: self.threshold.unwrap_or(AutoCompact::default().threshold),
            compactor: self.custom.map(|custom| Rc::new(custom) as Rc<dyn Compactor>),
            summarize_prompt: self.prompt,
        }
    }

    fn set_strategy(&mut self, key: &str, value: &Value) -> Result<(), Box<Raise>> {
        let word = value.as_str().and_then(|s| s.parse::<Strategy>().ok());
        self.options.strategy =
            word.ok_or_else(|| wrong(key, "\"truncate\", \"llm\", \"observation_mask\" or \"custom\""))?;
        Ok(())
    }

    fn check(&self, cx: &Cx<'_>) -> Result<(), Box<Raise>> {
        match self.options.strategy {
            Strategy::Custom if self.custom.is_none() => {
                Err(wrong("custom_compactor", "a function if the strategy is \"custom\""))
            }
            Strategy::Llm if cx.isolate.is_denied(Capability::Llm) => Err(Raise::error(
                RunCode::Denied,
                "the strategy \"llm\" needs the capability `llm`, which this run does not have",
            )
            .help("run without `--deny` for this capability, or choose another strategy")),
            _ => Ok(()),
        }
    }
}

fn count(key: &str, value: &Value) -> Result<usize, Box<Raise>> {
    value.as_int().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| wrong(key, "a number of at least 0"))
}

fn compactor(cx: &Cx<'_>, key: &str, value: &Value) -> Result<ScriptCompactor, Box<Raise>> {
    ScriptFn::of(cx, value).map(|function| ScriptCompactor { function }).ok_or_else(|| wrong(key, "a function"))
}

/// Up to 1 a share of the context window, above it tokens.
fn threshold(key: &str, value: &Value) -> Result<Threshold, Box<Raise>> {
    let expected = "a share of the context window such as 0.8, or a number of tokens";
    let wrong = || match value {
        // The type is right and the number is not.
        Value::Int(_) | Value::Float(_) => {
            Raise::error(RunCode::Value, format!("`{key}` must be {expected}, found {}", display(value)))
        }
        _ => wrong(key, expected),
    };
    match value.as_number() {
        Some(share) if share > 0.0 && share <= 1.0 => Ok(Threshold::Share(share)),
        _ => value
            .as_int()
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| *n > 1)
            .map(Threshold::Tokens)
            .ok_or_else(wrong),
    }
}

/// The loop's own compaction: `compaction` (a bool, or a dict as for `transcript_compact` with a `threshold`), and the options
/// `auto_compact` and `compact_…` that say the same one by one.
pub(crate) fn auto(cx: &Cx<'_>, reader: &OptionReader<'_>) -> Result<Option<AutoCompact>, Box<Raise>> {
    let at = |raise: Box<Raise>, key: &str| raise.about(reader.arg, format!("invalid `{key}`"));
    let usual = AutoCompact::default();
    let whole = reader.value("compaction");
    let dict = match &whole {
        Value::Nil | Value::Bool(_) => None,
        Value::Dict(dict) => Some(&dict.dict),
        _ => return Err(at(wrong("compaction", "a bool or a dict"), "compaction")),
    };
    let mut asked = CompactionSettings::read_keys(cx, dict, usual.options.clone(), true)
        .map_err(|raise| at(raise, "compaction"))?;
    let mut named = dict.is_some() || matches!(whole, Value::Bool(true));
    for key in ["compact_threshold", "compact_keep_last", "compact_strategy", "compact_callback"] {
        let value = reader.value(key);
        if value.is_nil() {
            continue;
        }
        named = true;
        let read = match key {
            "compact_threshold" => threshold(key, &value).map(|found| asked.threshold = Some(found)),
            "compact_keep_last" => count(key, &value).map(|found| asked.options.keep_last = Some(found)),
            "compact_strategy" => asked.set_strategy(key, &value),
            _ => compactor(cx, key, &value).map(|found| asked.custom = Some(found)),
        };
        read.map_err(|raise| at(raise, key))?;
    }
    let says_how = !reader.value("compact_strategy").is_nil() || dict.is_some_and(|d| d.get_str("strategy").is_some());
    // Who hands a function over wants it to be called.
    if asked.custom.is_some() && !says_how {
        asked.options.strategy = Strategy::Custom;
    }
    let wanted = reader.flag("auto_compact")?.unwrap_or(named && !matches!(whole, Value::Bool(false)));
    if !wanted {
        return Ok(None);
    }
    asked.check(cx).map_err(|raise| at(raise, "compaction"))?;
    Ok(Some(asked.into_auto()))
}

/// Reads a daemon's compaction while it is idle: `consolidate_on_idle`, a bool or a dict as for
/// `transcript_compact`. `true` means the settings of the loop's own compaction, whether it is on
/// or not.
pub(crate) fn on_idle(
    cx: &Cx<'_>,
    reader: &OptionReader<'_>,
    own: Option<&AutoCompact>,
) -> Result<Option<AutoCompact>, Box<Raise>> {
    let key = "consolidate_on_idle";
    let at = |raise: Box<Raise>| raise.about(reader.arg, format!("invalid `{key}`"));
    match &reader.value(key) {
        Value::Nil | Value::Bool(false) => Ok(None),
        Value::Bool(true) => Ok(Some(own.cloned().unwrap_or_else(|| CompactionSettings::usual().into_auto()))),
        Value::Dict(dict) => {
            let mut asked = CompactionSettings::read_keys(cx, Some(&dict.dict), AutoCompact::default().options, false)
                .map_err(at)?;
            if asked.custom.is_some() && dict.dict.get_str("strategy").is_none() {
                asked.options.strategy = Strategy::Custom;
            }
            asked.check(cx).map_err(at)?;
            Ok(Some(asked.into_auto()))
        }
        _ => Err(at(wrong(key, "a bool or a dict"))),
    }
}
