//! Options of a compaction: those of `transcript_compact` and `agent_session_compact`, and of a
//! loop's own.

use super::{Callback, Count, Fullness, SharedLoopOptions, Switch, Text, Word};
use crate::bind::{ScriptCompactor, ScriptFn};
use crate::capability::Capability;
use lang::check::CheckCode;
use lang::vm::{Cx, Raise, RunCode};
use runtime::compaction::{AutoCompact, Threshold};
use runtime::lifecycle::archive::{CompactOptions, Strategy};
use runtime::seam::Compactor;
use std::rc::Rc;
use std::sync::Arc;

options! {
    /// Options of a compaction.
    CompactionOptions = "CompactOptions" {
        strategy: Word<Strategy> = (shown "\"truncate\""), "Treatment of the messages that are not kept.";
        keep_last: Count<usize> = (shown "12"), "Number of messages to keep.";
        target_tokens: Count<usize>, "Number of tokens to keep.";
        summary: Text, "Text that replaces the archived messages.";
        summarize_prompt: Text, "Prompt of the strategy `\"llm\"`.";
        custom_compactor: Callback as "fn(list<Message>, list<Reminder>) -> any", "Compactor of the strategy `\"custom\"`: gets messages and reminders.";
    }

    /// The compaction of a loop.
    LoopCompaction(settings: CompactionOptions) {
        threshold: Fullness = (shown "0.8"), "Share of the context window, or number of tokens, from which on the transcript is compacted.";
    }
}

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

impl CompactionSettings {
    /// Puts the options that are given over `options`.
    ///
    /// # Errors
    /// The strategy cannot be used; without a place.
    pub(crate) fn read(cx: &Cx<'_>, given: &CompactionOptions, options: CompactOptions) -> Result<Self, Box<Raise>> {
        let asked = Self::over(given, options);
        asked.check(cx)?;
        Ok(asked)
    }

    fn over(given: &CompactionOptions, mut options: CompactOptions) -> Self {
        if let Some(strategy) = given.strategy {
            options.strategy = strategy;
        }
        options.keep_last = given.keep_last.or(options.keep_last);
        options.target_tokens = given.target_tokens.or(options.target_tokens);
        options.summary = given.summary.clone().or(options.summary);
        let custom = given.custom_compactor.clone().map(compactor);
        Self { options, custom, prompt: given.summarize_prompt.clone(), threshold: None }
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

    fn check(&self, cx: &Cx<'_>) -> Result<(), Box<Raise>> {
        match self.options.strategy {
            Strategy::Custom if self.custom.is_none() => Err(Raise::error(
                CheckCode::Type,
                "`custom_compactor` must be a function if the strategy is \"custom\"",
            )),
            Strategy::Llm if cx.isolate.is_denied(Capability::Llm) => Err(Raise::error(
                RunCode::Denied,
                "the strategy \"llm\" needs the capability `llm`, which this run does not have",
            )
            .help("run without `--deny` for this capability, or choose another strategy")),
            _ => Ok(()),
        }
    }
}

fn compactor(function: ScriptFn) -> ScriptCompactor {
    ScriptCompactor { function }
}

/// Returns the loop's own compaction: `compaction` (a bool, or a dict as for `transcript_compact` with a `threshold`), and the
/// options `auto_compact` and `compact_…` that say the same one by one. `arg` is the argument of the options.
pub(crate) fn auto(cx: &Cx<'_>, given: &SharedLoopOptions, arg: usize) -> Result<Option<AutoCompact>, Box<Raise>> {
    let usual = AutoCompact::default().options;
    let dict = match &given.compaction {
        Some(Switch::Options(dict)) => Some(dict),
        _ => None,
    };
    let mut asked = match dict {
        Some(dict) => {
            CompactionSettings { threshold: dict.threshold, ..CompactionSettings::over(&dict.settings, usual) }
        }
        None => CompactionSettings::usual(),
    };
    let is_named = given.compact_threshold.is_some()
        || given.compact_keep_last.is_some()
        || given.compact_strategy.is_some()
        || given.compact_callback.is_some();
    asked.threshold = given.compact_threshold.or(asked.threshold);
    asked.options.keep_last = given.compact_keep_last.or(asked.options.keep_last);
    if let Some(strategy) = given.compact_strategy {
        asked.options.strategy = strategy;
    }
    if let Some(function) = &given.compact_callback {
        asked.custom = Some(compactor(function.clone()));
    }
    let says_how = given.compact_strategy.is_some() || dict.is_some_and(|dict| dict.settings.strategy.is_some());
    // Who hands a function over wants it to be called.
    if asked.custom.is_some() && !says_how {
        asked.options.strategy = Strategy::Custom;
    }
    let by_compaction = match &given.compaction {
        Some(Switch::Flag(flag)) => Some(*flag),
        Some(Switch::Options(_)) => Some(true),
        None => None,
    };
    if !given.auto_compact.or(by_compaction).unwrap_or(is_named) {
        return Ok(None);
    }
    asked.check(cx).map_err(|raise| raise.about(arg, "invalid `compaction`"))?;
    Ok(Some(asked.into_auto()))
}

/// Returns a daemon's compaction while it is idle: `consolidate_on_idle`, a bool or a dict as for
/// `transcript_compact`. `true` means the settings of the loop's own compaction, whether it is on
/// or not.
pub(crate) fn on_idle(
    cx: &Cx<'_>,
    given: &SharedLoopOptions,
    arg: usize,
    own: Option<&AutoCompact>,
) -> Result<Option<AutoCompact>, Box<Raise>> {
    match &given.consolidate_on_idle {
        None | Some(Switch::Flag(false)) => Ok(None),
        Some(Switch::Flag(true)) => Ok(Some(own.cloned().unwrap_or_else(|| CompactionSettings::usual().into_auto()))),
        Some(Switch::Options(dict)) => {
            let mut asked = CompactionSettings::over(dict, AutoCompact::default().options);
            if asked.custom.is_some() && dict.strategy.is_none() {
                asked.options.strategy = Strategy::Custom;
            }
            asked.check(cx).map_err(|raise| raise.about(arg, "invalid `consolidate_on_idle`"))?;
            Ok(Some(asked.into_auto()))
        }
    }
}
