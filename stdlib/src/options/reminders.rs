//! Reminders, and options about them. The core reads them from data.
//!
//! Dicts that the core reads strictly have errors of their own codes, which a lint reports: the checker takes them for any
//! dict.

use base::data::Data;

use crate::fault::of_reminder;
use crate::world::World;
use lang::vm::Raise;
use runtime::capabilities::PlacementPolicy;
use runtime::reminder::bridge::DeliveryMode;
use runtime::reminder::{Priority, Propagate, Refresh, ReminderError, RoleHint};
use runtime::reminder_providers::ReminderOptions;

lang::option_tables! {
    /// A reminder.
    pub(crate) REMINDER_SPEC: "ReminderSpec" (linted) {
        body: "string | dict" = required, "The text that the model reads. Must not be empty.";
        bodies: "dict" = {}, "Texts by pattern of a model name, for models that need another wording.";
        tags: "list<string>" = [], "Tags by which reminders are found and cleared.";
        dedupe_key: "string" = nil, "A newer pending reminder with the same key replaces this one.";
        ttl_turns: "positive" = nil, "Number of prompts in which the reminder is shown. nil: until it is cleared or compacted away.";
        preserve_on_compact: "bool" = false, "Whether compaction keeps the reminder.";
        propagate: (Propagate::TYPE) = "session", "Sub-agents that inherit the reminder: all, direct children only, or none.";
        role_hint: (RoleHint::TYPE) = "system", "Preferred slot of the prompt. The provider decides in the end.";
        priority: (Priority::TYPE) = "normal", "Order in which reminders get room in a budget.";
        cooldown_turns: "positive" = nil, "After a prompt that carried it, this number of prompts do not show it.";
        every: "positive" = nil, "It is due in the first prompt that can show it, and then in each n-th prompt.";
        max_times: "positive" = nil, "It ends after this number of prompts that carried it.";
        escalate: "list<string>" = [], "The texts of the second and later times. The last one stays.";
        refresh: (Refresh::TYPE) = "always", "With `on_change`, it is shown again only if its text has changed or after a compaction.";
        when: "fn(any) -> any" = nil, "It is shown only in prompts before which this function returns true.";
        until: "fn(any) -> any" = nil, "It ends before the first prompt before which this function returns true.";
        expect: "fn(any) -> any | ReminderJudge" = nil, "Function of a turn, or `{judge: \"…\"}`: whether a turn whose prompt carried it followed it.";
    }

    /// A reminder that a child inherits: the keys of a reminder, and what the runtime has recorded about it.
    pub(crate) INHERITED_REMINDER: "InheritedReminder" (linted) extends [&REMINDER_SPEC] {
        id: "string", "The id. Default: a new one.";
        source: "string", "The origin of the reminder.";
        fired_at_turn: "count" = 0, "The turn in which it was made.";
        originating_agent_id: "string", "The agent in whose session it was made.";
    }

    /// The reminders to clear: those that fit all given keys.
    pub(crate) REMINDER_SELECTOR: "ReminderSelector" (linted) {
        id: "string", "Clears the reminder with this id.";
        tag: "string", "Clears the reminders with this tag.";
        dedupe_key: "string", "Clears the reminders with this key.";
    }

    /// A reminder or a message that a host injects.
    pub(crate) BRIDGE_INJECTION: "BridgeInjection" (linted) {
        body: "string", "The text that the model reads.";
        content: "string | list<any>", "Message for the model, in place of a reminder.";
        mode: (DeliveryMode::TYPE) = "finish_step", "Seams at which the reminder is delivered.";
        tags: "list<string>" = [], "Tags by which reminders are found and cleared.";
        dedupe_key: "string" = nil, "A newer pending reminder with the same key replaces this one.";
        ttl_turns: "positive" = nil, "Number of prompts in which the reminder is shown. nil: until it is cleared or compacted away.";
        preserve_on_compact: "bool" = false, "Whether compaction keeps the reminder.";
        propagate: (Propagate::TYPE) = "session", "Sub-agents that inherit the reminder: all, direct children only, or none.";
        role_hint: (RoleHint::TYPE) = "system", "Preferred slot of the prompt. The provider decides in the end.";
    }

    /// The reminder providers of a loop or call, and the placement of reminders.
    pub(crate) LOOP_REMINDERS: "LoopReminders" (linted) {
        enabled: "bool" = true, "Whether providers add reminders.";
        providers: "list<string>", "The providers. `\"-name\"` removes one from the default list.";
        packs: "list<string>" = [], "Files of reminder packs.";
        config: "dict" = {}, "Configuration of providers, by their names.";
        strict: "bool" = false, "Raise an error for an unknown provider or a provider that fails.";
        placement: (PlacementPolicy::TYPE) = "head", "Position of reminders: before the conversation, after it, or by the route's cache.";
        native: "bool", "Whether the vendor's own slot is used. Default: unless the position is `\"head\"`.";
        files: "bool" = false, "Whether the reminder files of the project are used.";
        max_tokens: "positive", "Limit of the tokens of all reminders in a prompt.";
        max_share: "share", "Limit of the reminders in a prompt, as a share of the context window.";
    }

    /// A model that judges whether a turn followed a reminder.
    pub(crate) REMINDER_JUDGE: "ReminderJudge" (linted) {
        judge: "string" = required, "Question about the turn that a model answers with yes or no.";
        provider: "string", "The provider. Default: that of the loop.";
        model: "string", "The model. Default: that of the loop.";
    }

    /// A reminder provider of a script.
    pub(crate) REMINDER_PROVIDER: "ReminderProvider" {
        id: "string" = required, "The name of the provider.";
        subscribes_to: "list<string>" = required, "The events after which it is called.";
        evaluate: "fn(ProviderContext) -> any" = required, "Function that returns a reminder, a list of reminders, or nil.";
        config: "dict" = {}, "The keys of its configuration, with their defaults.";
    }

    /// Options of `agent_reminder_providers_fire`.
    pub(crate) FIRE_OPTIONS: "FireOptions" {
        reminders: "bool | list<string> | LoopReminders" = true, "Reminder providers: `false`, a list of names, or a dict as for `agent_loop`.";
    }
}

/// Reads the option `reminders`, which may be nil. `arg` is the argument of the options.
pub(crate) fn reminder_options(given: &Data, world: &World, arg: usize) -> Result<ReminderOptions, Box<Raise>> {
    let options = read_reminders(given, world);
    let mut options = options.map_err(|e| of_reminder(&e).about(arg, label_of(&e)))?;
    options = world.agents.vary(options);
    options.budget = options.budget.over(world.reminder_budget.get());
    world.agents.bring_packs(&mut options).map_err(|raise| raise.about(arg, "names the pack"))?;
    Ok(options)
}

/// Reads the option `reminders` with the configuration of the canonical providers: a mistake in it is found before anything
/// is asked of a model.
pub(crate) fn read_reminders(data: &Data, world: &World) -> Result<ReminderOptions, ReminderError> {
    let options = ReminderOptions::from_data(data).map_err(|e| e.under("reminders"))?;
    // A script's provider in a canonical one's place has a configuration of its own.
    let config = options.config.as_dict().into_iter().flatten().filter(|(id, _)| !world.agents.providers.is_custom(id));
    for (id, config) in config {
        providers::reminder::check_config(id, config).map_err(|e| e.under("reminders.config"))?;
    }
    Ok(options)
}

/// Returns the label of a reminder's error.
pub(crate) fn label_of(error: &ReminderError) -> String {
    if error.field.is_empty() { String::new() } else { format!("invalid `{}`", error.field) }
}
