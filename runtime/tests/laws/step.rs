//! The commands.

use proptest::prelude::*;
use runtime::lifecycle::ConditionVerdict;
use runtime::lifecycle::archive::Strategy as How;
use runtime::reminder::bridge::{DeliveryMode, Seam};
use runtime::reminder::{Priority, Propagate, Refresh, ReminderRules, ReminderSource, RoleHint};

use crate::world::MARK;

/// A command and the index of its session, modulo the number of sessions.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) session: u8,
    pub(crate) what: What,
}

/// An operation of a test sequence.
#[derive(Debug, Clone)]
pub(crate) enum What {
    Inject(Wish, ReminderSource),
    /// A pending event is injected again, as a script may do with an event it has read.
    InjectAgain(u8),
    /// A body that no route can show, admitted by the lenient reader.
    InjectBlank(u8),
    ClearId(u8),
    ClearTag(u8),
    ClearKey(u8),
    ClearTagAndKey(u8, u8),
    /// A turn begins; the route may have no slot at all. A handler may add one between rendering and sending, and then
    /// charge all manually.
    Prompt {
        slots: bool,
        late: Option<Wish>,
        by_hand: bool,
        choice: Choice,
    },
    /// A provider makes one of its pending reminders again.
    ProviderAgain(u8),
    /// The turn is judged: each reminder of its prompt may be heeded, ignored, or neither.
    Judge(Vec<Option<bool>>),
    /// The last prompt is voided.
    Void,
    /// A bare call.
    Bare,
    /// The turn ends.
    Pass,
    PassByHand(u8),
    Compact {
        how: How,
        keep_last: Option<u8>,
        target: Option<u16>,
        all: bool,
        veto: bool,
        messages: Option<u8>,
    },
    Fork,
    ForkAt(u8),
    /// A child is started.
    Inherit,
    /// Another session inherits the pending reminders.
    HandOver(u8),
    Push(Wish, DeliveryMode),
    PushMessage(DeliveryMode),
    Drain(Seam),
    Revoke(u8),
    Audit,
    Message,
    /// An assistant's tool call and its long result.
    ToolCall,
    Trim(u8),
    Reset,
    Close,
    /// Exported and imported as another session; all keys may be made equal on the way.
    Import {
        one_key: bool,
    },
    Clock(i32),
}

/// The input for the selection of a prompt's reminders: the budget, and results of conditions of the n-th pending
/// ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    pub(crate) budget: Option<u64>,
    pub(crate) verdicts: Vec<(u8, ConditionVerdict)>,
}

/// The properties of a requested reminder.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    /// Whether its body is the same as that of others.
    pub(crate) same: bool,
    /// Number of bytes by which its body is longer.
    pub(crate) length: u8,
    pub(crate) rules: ReminderRules,
    pub(crate) key: Option<u8>,
    pub(crate) tag: u8,
    pub(crate) ttl: Option<u32>,
    pub(crate) preserve: bool,
    pub(crate) propagate: Propagate,
    pub(crate) hint: RoleHint,
}

fn wish() -> impl Strategy<Value = Wish> {
    let key = prop::option::of(0_u8..4);
    let ttl = prop_oneof![2 => Just(None), 6 => (1_u32..5).prop_map(Some), 1 => Just(Some(u32::MAX))];
    let words = (prop::sample::select(Propagate::ALL), prop::sample::select(RoleHint::ALL));
    let body = (any::<bool>(), 0_u8..60);
    (key, 0_u8..3, ttl, any::<bool>(), words, body, rules()).prop_map(
        |(key, tag, ttl, preserve, (propagate, hint), (same, length), rules)| Wish {
            same,
            length,
            rules,
            key,
            tag,
            ttl,
            preserve,
            propagate,
            hint,
        },
    )
}

/// Half of the reminders have rules.
fn rules() -> impl Strategy<Value = ReminderRules> {
    let few = || prop::option::weighted(0.3, 1_u32..4);
    let words = (prop::sample::select(Priority::ALL), prop::bool::weighted(0.3));
    let escalate = prop_oneof![2 => Just(0_usize), 1 => 1_usize..4];
    let some = (few(), few(), few(), words, escalate).prop_map(
        |(cooldown_turns, every, max_times, (priority, on_change), escalate)| {
            let refresh = if on_change { Refresh::OnChange } else { Refresh::Always };
            let escalate = (0..escalate).map(|nth| louder(nth).into()).collect();
            ReminderRules { priority, cooldown_turns, every, max_times, refresh, escalate, ..ReminderRules::default() }
        },
    );
    prop_oneof![1 => Just(ReminderRules::default()), 1 => some]
}

/// Returns the n-th body of an escalation. The last one is long, so that it changes what a budget has room for.
pub(crate) fn louder(nth: usize) -> String {
    format!("{MARK} louder {nth}{}", "!".repeat(nth * 40))
}

fn choice() -> impl Strategy<Value = Choice> {
    use ConditionVerdict as V;
    let verdict = prop_oneof![3 => Just(V::Shown), 6 => Just(V::Hidden), 1 => Just(V::Over), 1 => Just(V::Lost)];
    let verdicts = prop::collection::vec((any::<u8>(), verdict), 0..3);
    (prop::option::of(0_u64..80), verdicts).prop_map(|(budget, verdicts)| Choice { budget, verdicts })
}

fn compact() -> impl Strategy<Value = What> {
    let sizes = (prop::option::of(0_u8..4), prop::option::of(0_u16..200), prop::option::of(0_u8..3));
    (prop::sample::select(How::ALL), sizes, any::<bool>(), prop::bool::weighted(0.2)).prop_map(
        |(how, (keep_last, target, messages), all, veto)| What::Compact { how, keep_last, target, all, veto, messages },
    )
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let mode = || prop::sample::select(DeliveryMode::ALL);
    let what = prop_oneof![
        12 => (wish(), prop::sample::select(ReminderSource::ALL)).prop_map(|(wish, source)| What::Inject(wish, source)),
        1 => any::<u8>().prop_map(What::InjectAgain),
        1 => (0_u8..4).prop_map(What::InjectBlank),
        2 => any::<u8>().prop_map(What::ClearId),
        1 => (0_u8..3).prop_map(What::ClearTag),
        2 => (0_u8..4).prop_map(What::ClearKey),
        1 => (0_u8..3, 0_u8..4).prop_map(|(tag, key)| What::ClearTagAndKey(tag, key)),
        10 => (prop::bool::weighted(0.95), prop::option::weighted(0.1, wish()), prop::bool::weighted(0.3), choice())
            .prop_map(|(slots, late, by_hand, choice)| What::Prompt { slots, late, by_hand, choice }),
        2 => any::<u8>().prop_map(What::ProviderAgain),
        4 => prop::collection::vec(prop::option::of(any::<bool>()), 1..4).prop_map(What::Judge),
        2 => Just(What::Void),
        1 => Just(What::Bare),
        8 => Just(What::Pass),
        1 => (0_u8..6).prop_map(What::PassByHand),
        3 => compact(),
        2 => Just(What::Fork),
        1 => (0_u8..5).prop_map(What::ForkAt),
        3 => Just(What::Inherit),
        1 => any::<u8>().prop_map(What::HandOver),
        4 => (wish(), mode()).prop_map(|(wish, mode)| What::Push(wish, mode)),
        1 => mode().prop_map(What::PushMessage),
        6 => prop::sample::select(Seam::ALL).prop_map(What::Drain),
        2 => any::<u8>().prop_map(What::Revoke),
        1 => Just(What::Audit),
        4 => Just(What::Message),
        1 => Just(What::ToolCall),
        1 => (0_u8..4).prop_map(What::Trim),
        1 => Just(What::Reset),
        1 => Just(What::Close),
        2 => any::<bool>().prop_map(|one_key| What::Import { one_key }),
        1 => (-5_000_i32..5_000).prop_map(What::Clock),
    ];
    (any::<u8>(), what).prop_map(|(session, what)| Step { session, what })
}
