//! Costs of reminders: the tokens that they add to the prompts, by source, and the tokens of a history that a prompt
//! cache could not serve because reminders before it had changed.

use base::data::Data;

use super::ReminderSource;

/// Estimated tokens that reminders added to prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct ReminderTokens {
    /// Tokens that a prompt cache can serve.
    pub cached: u64,
    /// All other tokens.
    pub uncached: u64,
}

/// The costs of the reminders in one or more prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct ReminderCosts {
    /// Tokens by source, in the order of [`ReminderSource::ALL`].
    by_source: [ReminderTokens; ReminderSource::ALL.len()],
    /// Tokens of histories that were billed again because reminders before them had changed.
    pub rebilled_tokens: u64,
    /// Number of prompts in which that happened.
    pub rebilled_prompts: u32,
}

impl ReminderCosts {
    /// Returns whether no prompt has carried a reminder.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == ReminderCosts::default()
    }

    /// Adds the tokens of a reminder.
    pub fn carry(&mut self, source: ReminderSource, tokens: u64, is_cached: bool) {
        let sum = &mut self.by_source[source as usize];
        *(if is_cached { &mut sum.cached } else { &mut sum.uncached }) += tokens;
    }

    /// Adds the history of a prompt that was billed again.
    pub fn rebill(&mut self, tokens: u64) {
        if tokens > 0 {
            self.rebilled_tokens += tokens;
            self.rebilled_prompts += 1;
        }
    }

    /// Adds other prompts.
    pub fn add(&mut self, other: &ReminderCosts) {
        for (sum, more) in self.by_source.iter_mut().zip(&other.by_source) {
            sum.cached += more.cached;
            sum.uncached += more.uncached;
        }
        self.rebilled_tokens += other.rebilled_tokens;
        self.rebilled_prompts += other.rebilled_prompts;
    }

    /// Returns the sources whose reminders prompts have carried, with their tokens.
    pub fn by_source(&self) -> impl Iterator<Item = (ReminderSource, ReminderTokens)> {
        let all = ReminderSource::ALL.iter().copied().zip(self.by_source);
        all.filter(|(_, tokens)| *tokens != ReminderTokens::default())
    }

    /// Returns the tokens of all sources.
    #[must_use]
    pub fn total(&self) -> ReminderTokens {
        let add = |sum: ReminderTokens, (_, more): (_, ReminderTokens)| ReminderTokens {
            cached: sum.cached + more.cached,
            uncached: sum.uncached + more.uncached,
        };
        self.by_source().fold(ReminderTokens::default(), add)
    }

    /// Returns what another placement would have saved; `None` if nothing was billed again.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let (tokens, prompts) = (self.rebilled_tokens, self.rebilled_prompts);
        (tokens > 0).then(|| {
            let prompts = if prompts == 1 { "1 request".to_owned() } else { format!("{prompts} requests") };
            format!(
                "changing reminders before the conversation made {prompts} send about {tokens} tokens of history \
                again that a cache could have served; `placement: \"auto\"` avoids this"
            )
        })
    }

    /// Converts the costs to the dict that scripts and traces show.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let tokens = |tokens: ReminderTokens| {
            [("cached_tokens", Data::from(tokens.cached)), ("uncached_tokens", tokens.uncached.into())]
        };
        let by_source = self.by_source().map(|(source, sum)| (source.as_str(), Data::dict(tokens(sum))));
        let mut data = Data::dict(tokens(self.total()));
        data.set("by_source", Data::dict(by_source));
        data.set("rebilled_tokens", self.rebilled_tokens.into());
        if let Some(advice) = self.advice() {
            data.set("note", advice.into());
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_summed_by_source() {
        let mut costs = ReminderCosts::default();
        assert!(costs.is_empty() && costs.advice().is_none());
        costs.carry(ReminderSource::Hook, 10, false);
        let mut more = ReminderCosts::default();
        more.carry(ReminderSource::Hook, 10, true);
        more.carry(ReminderSource::Bridge, 5, true);
        more.rebill(0);
        more.rebill(700);
        costs.add(&more);
        assert_eq!(costs.total(), ReminderTokens { cached: 15, uncached: 10 });
        assert_eq!(
            costs.to_data().to_json(),
            r#"{"by_source":{"bridge":{"cached_tokens":5,"uncached_tokens":0},"hook":{"cached_tokens":10,"uncached_tokens":10}},"cached_tokens":15,"note":"changing reminders before the conversation made 1 request send about 700 tokens of history again that a cache could have served; `placement: \"auto\"` avoids this","rebilled_tokens":700,"uncached_tokens":10}"#
        );
    }
}
