//! Policy from above: reminders that a project or an administrator forces, forbids, limits by their source, or marks as
//! untrusted.
//!
//! The policy is set before anything runs. Each run follows the one of its thread, and hosts on other threads follow the
//! last one that the process has set: a process that serves clients has one project.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use base::codes::Severity;
use base::words::words;
use globset::GlobMatcher;

use crate::note::Note;

use super::{Reminder, ReminderRules, ReminderSource, ReminderSpec, RoleHint};

words! {
    /// The source of a reminder, as a policy names it.
    pub enum PolicySource {
        /// A client of the Agent Client Protocol, or a script that acts as one.
        Host = "host",
        /// An agent or a client of A2A.
        Peer = "peer",
        /// A server of the Model Context Protocol: a reminder of a host with a tag `mcp:NAME`.
        Mcp = "mcp",
        /// A provider of a pack.
        Pack = "pack",
        /// Another provider.
        Provider = "provider",
        /// A hook.
        Hook = "hook",
        /// A script.
        Pipeline = "pipeline",
    }
}

impl PolicySource {
    /// Returns whether its texts come from outside of the script.
    #[must_use]
    pub fn is_untrusted(self) -> bool {
        matches!(self, PolicySource::Host | PolicySource::Peer | PolicySource::Mcp | PolicySource::Pack)
    }
}

/// The limits of the reminders of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLimits {
    /// Maximum size of a body, in bytes.
    pub max_body: Option<u64>,
    /// The slots that its reminders may request; all of them if it is empty.
    pub role_hints: Vec<RoleHint>,
}

/// A pattern, as written and compiled.
#[derive(Debug, Clone)]
pub struct PolicyPattern {
    /// The pattern as written.
    pub text: Arc<str>,
    /// The compiled pattern.
    pub glob: GlobMatcher,
}

/// A policy about reminders.
#[derive(Debug, Clone, Default)]
pub struct ReminderPolicy {
    /// Reminders in every prompt of a loop.
    pub force: Vec<ReminderSpec>,
    /// Ids of providers, names of hooks, and dedupe keys that are refused.
    pub forbid_ids: Vec<PolicyPattern>,
    /// Tags that are refused.
    pub forbid_tags: Vec<PolicyPattern>,
    /// Sources that are refused.
    pub forbid_sources: Vec<PolicySource>,
    /// Whether prompts mark the reminders of untrusted sources; `None` if the policy does not say.
    pub mark_untrusted: Option<bool>,
    /// Limits by source, at most one entry for each.
    pub sources: Vec<(PolicySource, SourceLimits)>,
}

/// The reason why a policy refuses a reminder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("refused by policy: {0}")]
pub struct PolicyRefusal(pub Arc<str>);

impl PolicyRefusal {
    /// Returns the warning about a reminder that another process, or another agent, has created.
    #[must_use]
    pub fn note_of_earlier(&self) -> Note {
        let message = format!("an earlier reminder was {self}");
        Note { code: None, severity: Severity::Warning, message, about: None, fault: None }
    }

    /// Returns the warning for the author of the provider or hook.
    #[must_use]
    pub fn note(&self, about: &str) -> Note {
        let message = format!("a reminder from `{about}` was {self}");
        Note { code: None, severity: Severity::Warning, message, about: Some(about.into()), fault: None }
    }
}

/// The parts of a reminder that a policy is about.
struct CheckedText<'a> {
    body: &'a Arc<str>,
    tags: &'a [Arc<str>],
    dedupe_key: Option<&'a Arc<str>>,
    role_hint: RoleHint,
    rules: Option<&'a ReminderRules>,
}

impl<'a> From<&'a ReminderSpec> for CheckedText<'a> {
    fn from(spec: &'a ReminderSpec) -> CheckedText<'a> {
        let ReminderSpec { body, tags, dedupe_key, role_hint, rules, .. } = spec;
        let (dedupe_key, rules) = (dedupe_key.as_ref(), rules.as_deref());
        CheckedText { body, tags, dedupe_key, role_hint: *role_hint, rules }
    }
}

impl<'a> From<&'a Reminder> for CheckedText<'a> {
    fn from(reminder: &'a Reminder) -> CheckedText<'a> {
        let Reminder { body, tags, dedupe_key, role_hint, rules, .. } = reminder;
        let (dedupe_key, rules) = (dedupe_key.as_ref(), rules.as_deref());
        CheckedText { body, tags, dedupe_key, role_hint: *role_hint, rules }
    }
}

/// The beginning of a producer's name that marks its reminders as untrusted.
const UNTRUSTED: &str = "untrusted:";

static IS_SET: AtomicBool = AtomicBool::new(false);
static POLICY: RwLock<Option<Arc<ReminderPolicy>>> = RwLock::new(None);

thread_local! {
    /// The policy of the run on this thread.
    static OWN: RefCell<Option<Arc<ReminderPolicy>>> = const { RefCell::new(None) };
}

/// Sets the policy of the run on this thread, and of hosts on other threads.
pub fn set(policy: Arc<ReminderPolicy>) {
    if !policy.is_empty() {
        IS_SET.store(true, Ordering::Release);
    }
    OWN.with(|own| *own.borrow_mut() = Some(policy.clone()));
    *POLICY.write().unwrap_or_else(PoisonError::into_inner) = Some(policy);
}

/// Returns the policy that this thread follows, if it says anything.
#[must_use]
pub fn current() -> Option<Arc<ReminderPolicy>> {
    // Most processes have none, and every reminder asks.
    if !IS_SET.load(Ordering::Acquire) {
        return None;
    }
    let own = OWN.with(|own| own.borrow().clone());
    let policy = own.or_else(|| POLICY.read().unwrap_or_else(PoisonError::into_inner).clone());
    policy.filter(|policy| !policy.is_empty())
}

/// Checks a reminder against the current policy. Returns the producer to record for it.
///
/// # Errors
/// Returns the reason why the policy refuses it.
pub fn check(
    spec: &ReminderSpec,
    source: PolicySource,
    producer: Option<Arc<str>>,
) -> Result<Option<Arc<str>>, PolicyRefusal> {
    match current() {
        Some(policy) => policy.check(spec, source, producer),
        None => Ok(producer),
    }
}

/// Returns whether the current policy forces a reminder: it is as the policy writes it. Limits of projects and scripts
/// are not for those.
#[must_use]
pub fn is_forced(reminder: &Reminder) -> bool {
    // The producer first: the check of a prompt's reminders asks for no policy.
    reminder.producer.as_deref() == Some(ReminderPolicy::PRODUCER)
        && current().is_some_and(|policy| policy.forces(reminder))
}

/// Checks a reminder that was created elsewhere: in an event or a dict of a script, in another process, or by another
/// agent. `sources` are those that it can have; it is refused if the policy refuses it as each of them. Returns it with
/// the producer to record for it.
///
/// # Errors
/// Returns the reason why the policy refuses it.
pub fn check_made(reminder: Arc<Reminder>, sources: &[PolicySource]) -> Result<Arc<Reminder>, PolicyRefusal> {
    match current() {
        Some(policy) => policy.check_made(reminder, sources),
        None => Ok(reminder),
    }
}

/// Checks a reminder like [`check_made`], with the sources that are possible for the one that it names.
///
/// # Errors
/// Returns the reason why the policy refuses it.
pub fn check_named(reminder: Arc<Reminder>) -> Result<Arc<Reminder>, PolicyRefusal> {
    let Some(policy) = current() else { return Ok(reminder) };
    let marked = untrusted_source(reminder.producer.as_deref()).and_then(|source| source.parse().ok());
    match (marked, reminder.source) {
        (Some(source), _) => policy.check_made(reminder, &[source]),
        (None, ReminderSource::StdlibProvider) => {
            policy.check_made(reminder, &[PolicySource::Provider, PolicySource::Pack])
        }
        (None, ReminderSource::Hook) => policy.check_made(reminder, &[PolicySource::Hook]),
        (None, ReminderSource::Bridge) => policy.check_made(reminder, &[PolicySource::Host, PolicySource::Peer]),
        (None, ReminderSource::InPipeline | ReminderSource::Inherited) => {
            policy.check_made(reminder, &[PolicySource::Pipeline])
        }
    }
}

/// Returns the untrusted source that the producer of a reminder names.
#[must_use]
pub fn untrusted_source(producer: Option<&str>) -> Option<&str> {
    let named = producer?.strip_prefix(UNTRUSTED)?;
    Some(named.split(':').next().unwrap_or(named))
}

impl ReminderPolicy {
    /// The producer of the reminders that a policy forces.
    pub const PRODUCER: &'static str = "policy";

    /// Returns whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let ReminderPolicy { force, forbid_ids, forbid_tags, forbid_sources, mark_untrusted, sources } = self;
        let allows_all = forbid_ids.is_empty() && forbid_tags.is_empty() && forbid_sources.is_empty();
        force.is_empty() && allows_all && mark_untrusted.is_none() && sources.is_empty()
    }

    /// Returns both policies as one. What this one forbids stays forbidden, and where both set the same value or force a
    /// reminder with the same key, this one wins. Forced reminders without a key get one.
    #[must_use]
    pub fn over(mut self, below: ReminderPolicy) -> ReminderPolicy {
        let is_new = |spec: &ReminderSpec| spec.dedupe_key.is_none() || !self.forces_key(spec.dedupe_key.as_deref());
        let more: Vec<ReminderSpec> = below.force.into_iter().filter(is_new).collect();
        self.force.extend(more);
        self.number();
        self.forbid_ids.extend(below.forbid_ids);
        self.forbid_tags.extend(below.forbid_tags);
        self.forbid_sources.extend(below.forbid_sources);
        self.mark_untrusted = self.mark_untrusted.or(below.mark_untrusted);
        for (source, limits) in below.sources {
            match self.sources.iter_mut().find(|(known, _)| *known == source) {
                Some((_, own)) => {
                    own.max_body = own.max_body.or(limits.max_body);
                    if own.role_hints.is_empty() {
                        own.role_hints = limits.role_hints;
                    }
                }
                None => self.sources.push((source, limits)),
            }
        }
        self
    }

    /// Returns whether this policy has made a reminder, and forces it.
    fn forces(&self, reminder: &Reminder) -> bool {
        let is_own = reminder.producer.as_deref() == Some(Self::PRODUCER);
        is_own && self.force.iter().any(|spec| reminder.is_of_spec(spec))
    }

    fn forces_key(&self, key: Option<&str>) -> bool {
        self.force.iter().any(|spec| spec.dedupe_key.as_deref() == key)
    }

    /// Names the forced reminders without a key by their positions. Two of one key would replace each other.
    fn number(&mut self) {
        for index in 0..self.force.len() {
            if self.force[index].dedupe_key.is_none() {
                let mut names = (index + 1..).map(|number| format!("{}:{number}", Self::PRODUCER));
                let name = names.find(|name| !self.forces_key(Some(name)));
                self.force[index].dedupe_key = name.map(Into::into);
            }
        }
    }

    /// Checks a reminder. Returns the producer to record for it, which names an untrusted source if prompts mark it.
    ///
    /// # Errors
    /// Returns the reason why it is refused.
    pub fn check(
        &self,
        spec: &ReminderSpec,
        source: PolicySource,
        producer: Option<Arc<str>>,
    ) -> Result<Option<Arc<str>>, PolicyRefusal> {
        self.check_text(&CheckedText::from(spec), source, producer)
    }

    fn check_made(&self, reminder: Arc<Reminder>, sources: &[PolicySource]) -> Result<Arc<Reminder>, PolicyRefusal> {
        if self.forces(&reminder) {
            return Ok(reminder);
        }
        // The id of its own producer follows the mark.
        let marked = reminder.producer.as_deref().and_then(|name| name.strip_prefix(UNTRUSTED));
        let id = match marked {
            Some(marked) => marked.split_once(':').map(|(_, id)| id.into()),
            None => reminder.producer.clone(),
        };
        let text = CheckedText::from(reminder.as_ref());
        let mut refusal = None;
        for source in sources {
            match self.check_text(&text, *source, id.clone()) {
                Ok(_) if marked.is_some() => return Ok(reminder),
                Ok(producer) if producer == reminder.producer => return Ok(reminder),
                Ok(producer) => return Ok(Arc::new(Reminder { producer, ..reminder.as_ref().clone() })),
                Err(refused) => _ = refusal.get_or_insert(refused),
            }
        }
        refusal.map_or(Ok(reminder), Err)
    }

    fn check_text(
        &self,
        spec: &CheckedText<'_>,
        source: PolicySource,
        producer: Option<Arc<str>>,
    ) -> Result<Option<Arc<str>>, PolicyRefusal> {
        let source = match source {
            PolicySource::Host | PolicySource::Peer if spec.tags.iter().any(|tag| tag.starts_with("mcp:")) => {
                PolicySource::Mcp
            }
            other => other,
        };
        let refuse = |reason: String| Err(PolicyRefusal(reason.into()));
        if self.forbid_sources.contains(&source) {
            return refuse(format!("reminders of the source `{source}` are forbidden"));
        }
        for id in producer.iter().chain(spec.dedupe_key) {
            if let Some(pattern) = self.forbid_ids.iter().find(|pattern| pattern.glob.is_match(id.as_ref())) {
                return refuse(format!("the id `{id}` is forbidden (`{}`)", pattern.text));
            }
        }
        for tag in spec.tags {
            if let Some(pattern) = self.forbid_tags.iter().find(|pattern| pattern.glob.is_match(tag.as_ref())) {
                return refuse(format!("the tag `{tag}` is forbidden (`{}`)", pattern.text));
            }
        }
        if let Some((_, limits)) = self.sources.iter().find(|(known, _)| *known == source) {
            limits.check(spec, source)?;
        }
        if self.mark_untrusted != Some(true) || !source.is_untrusted() {
            return Ok(producer);
        }
        let id = producer.map(|id| format!(":{id}")).unwrap_or_default();
        Ok(Some(format!("{UNTRUSTED}{source}{id}").into()))
    }
}

impl SourceLimits {
    fn check(&self, spec: &CheckedText<'_>, source: PolicySource) -> Result<(), PolicyRefusal> {
        let bodies = spec.rules.iter().flat_map(|rules| rules.escalate.iter().chain(rules.bodies.bodies()));
        let longest = bodies.chain([spec.body]).map(|body| body.len() as u64).max().unwrap_or(0);
        if let Some(most) = self.max_body.filter(|most| longest > *most) {
            let reason = format!("the body has {longest} bytes; the source `{source}` may use at most {most}");
            return Err(PolicyRefusal(reason.into()));
        }
        if !self.role_hints.is_empty() && !self.role_hints.contains(&spec.role_hint) {
            let allowed = self.role_hints.iter().map(|hint| format!("`{hint}`")).collect::<Vec<_>>().join(", ");
            let hint = spec.role_hint;
            let reason = format!("the source `{source}` may not use the role_hint `{hint}`, only {allowed}");
            return Err(PolicyRefusal(reason.into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use globset::Glob;

    use super::*;

    fn pattern(text: &str) -> PolicyPattern {
        PolicyPattern { text: text.into(), glob: Glob::new(text).unwrap().compile_matcher() }
    }

    fn refusal(policy: &ReminderPolicy, spec: &ReminderSpec, source: PolicySource) -> Option<String> {
        policy.check(spec, source, None).err().map(|refusal| refusal.to_string())
    }

    #[test]
    fn each_rule_refuses_with_its_reason() {
        let limits = SourceLimits { max_body: Some(4), role_hints: vec![RoleHint::UserBlock] };
        let policy = ReminderPolicy {
            forbid_ids: vec![pattern("idle_*")],
            forbid_tags: vec![pattern("ads*")],
            forbid_sources: vec![PolicySource::Mcp],
            sources: vec![(PolicySource::Peer, limits)],
            ..ReminderPolicy::default()
        };
        let spec = |body: &str| ReminderSpec::new(body);
        assert_eq!(refusal(&policy, &spec("whatever is long"), PolicySource::Hook), None);
        let long = refusal(&policy, &spec("hello"), PolicySource::Peer).unwrap();
        assert_eq!(long, "refused by policy: the body has 5 bytes; the source `peer` may use at most 4");
        let hinted = refusal(&policy, &spec("hey"), PolicySource::Peer).unwrap();
        assert!(hinted.ends_with("may not use the role_hint `system`, only `user_block`"), "{hinted}");
        let tagged = |tag: &str| ReminderSpec { tags: vec![tag.into()], ..spec("hey") };
        assert!(refusal(&policy, &tagged("ads_today"), PolicySource::Hook).unwrap().contains("`ads_today`"));
        assert!(refusal(&policy, &tagged("mcp:files"), PolicySource::Host).unwrap().contains("source `mcp`"));
        let keyed = ReminderSpec { dedupe_key: Some("idle_nudge".into()), ..spec("hey") };
        assert!(refusal(&policy, &keyed, PolicySource::Provider).unwrap().contains("`idle_nudge` is forbidden"));
        let by_provider = policy.check(&spec("hey"), PolicySource::Provider, Some("idle_nudge".into()));
        assert!(by_provider.is_err());
    }

    #[test]
    fn the_policy_above_wins_and_what_either_forbids_is_forbidden() {
        let limit = |max_body| vec![(PolicySource::Host, SourceLimits { max_body, role_hints: Vec::new() })];
        let above =
            ReminderPolicy { sources: limit(Some(10)), mark_untrusted: Some(true), ..ReminderPolicy::default() };
        let below = ReminderPolicy {
            sources: limit(Some(1_000)),
            mark_untrusted: Some(false),
            forbid_tags: vec![pattern("x")],
            ..ReminderPolicy::default()
        };
        let forced =
            |body: &str, key: Option<&str>| ReminderSpec { dedupe_key: key.map(Into::into), ..ReminderSpec::new(body) };
        let above = ReminderPolicy { force: vec![forced("a", None), forced("b", Some("k"))], ..above };
        let force = vec![forced("c", Some("k")), forced("d", None), forced("e", Some("policy:3")), forced("f", None)];
        let both = above.over(ReminderPolicy { force, ..below });
        let keyed = both.force.iter().map(|spec| (spec.body.as_ref(), spec.dedupe_key.as_deref().unwrap()));
        let wanted = [("a", "policy:1"), ("b", "k"), ("d", "policy:4"), ("e", "policy:3"), ("f", "policy:5")];
        assert_eq!(keyed.collect::<Vec<_>>(), wanted);
        assert_eq!(both.sources, limit(Some(10)));
        assert_eq!((both.mark_untrusted, both.forbid_tags.len()), (Some(true), 1));
        let spec = ReminderSpec::new("hey");
        let producer = both.check(&spec, PolicySource::Pack, Some("guard".into())).unwrap();
        assert_eq!(producer.as_deref(), Some("untrusted:pack:guard"));
        assert_eq!(untrusted_source(producer.as_deref()), Some("pack"));
        assert_eq!(both.check(&spec, PolicySource::Hook, None), Ok(None));
    }
}
