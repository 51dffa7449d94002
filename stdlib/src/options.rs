//! Options of builtins: one row for each, in one table for each dict.
//!
//! A table makes the type that `check` uses, what completion, hover and `harn doc` show, and, for the options that this
//! crate reads, a struct and its reader. What other crates read from data (reminders, facts, replies of the mock model) has
//! tables too; tests compare them with the readers.
//!
//! - `define`: the macros. [`kind`]: what values of options are, and how they are read.
//! - one file for each group of builtins, with its tables.

#[macro_use]
mod define;

mod a2a;
mod budget;
mod channels;
pub(crate) mod compaction;
pub(crate) mod daemon;
mod facts;
mod formats;
mod hooks;
#[cfg(feature = "hub")]
mod hub;
mod kind;
mod loops;
mod mcp;
mod mock;
mod models;
mod payloads;
mod reminders;
mod system;
mod tasks;
mod testing;
#[cfg(test)]
mod tests;
mod tools;
mod web;

pub(crate) use a2a::*;
use base::data::Data;
pub(crate) use budget::BudgetOptions;
pub(crate) use channels::*;
pub(crate) use compaction::CompactionOptions;
pub(crate) use facts::*;
pub(crate) use formats::*;
pub(crate) use hooks::*;
#[cfg(feature = "hub")]
pub(crate) use hub::*;
pub(crate) use kind::*;
pub(crate) use loops::*;
pub(crate) use mcp::*;
pub(crate) use mock::*;
pub(crate) use models::*;
pub(crate) use payloads::PAYLOADS;
pub(crate) use reminders::*;
pub(crate) use system::*;
pub(crate) use tasks::*;
pub(crate) use testing::*;
pub(crate) use tools::*;
pub(crate) use web::*;

use crate::arguments::take_transcript;
use crate::convert::to_data_lossy;
use crate::world::World;
use kind::path;
use lang::builtins::{OptionTable, args};
use lang::check::CheckCode;
use lang::diagnostic::nearest;
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise, RunCode};
use runtime::scope::Scope;
use runtime::transcript::Transcript;

/// The tables of this crate.
pub(crate) static OPTIONS: &[&OptionTable] = &[
    ModelOptions::TABLE,
    LlmOptions::TABLE,
    &TOOL_CHOICE,
    &PROMPT_MESSAGE,
    SharedLoopOptions::TABLE,
    AgentLoopOptions::TABLE,
    WorkerBehaviour::TABLE,
    DelegationOptions::TABLE,
    SubAgentOptions::TABLE,
    WorkerSpec::TABLE,
    HandoffOptions::TABLE,
    PermissionOptions::TABLE,
    SuspendOptions::TABLE,
    LifecycleToolOptions::TABLE,
    CompactionOptions::TABLE,
    compaction::LoopCompaction::TABLE,
    BudgetOptions::TABLE,
    &REMINDER_SPEC,
    &INHERITED_REMINDER,
    &REMINDER_SELECTOR,
    &BRIDGE_INJECTION,
    &LOOP_REMINDERS,
    &REMINDER_JUDGE,
    &REMINDER_PROVIDER,
    &FIRE_OPTIONS,
    ToolHookOptions::TABLE,
    SessionOptions::TABLE,
    LogFilter::TABLE,
    &TOOL_REGISTRY,
    &TOOL_ENTRY,
    &TOOL_DEFINITION,
    &TOOL_ANNOTATIONS,
    ShellToolOptions::TABLE,
    &MCP_SERVER,
    &MCP_OAUTH,
    &MCP_REMINDERS,
    &MOCK_REPLY,
    &MOCK_TOOL_CALL,
    &MOCK_ERROR,
    &PLAN_ENTRY,
    ArtifactContents::TABLE,
    ArtifactOptions::TABLE,
    #[cfg(feature = "hub")]
    HubArtifactOptions::TABLE,
    &MESSAGE_PART,
    &FILE_PART,
    &PEER_MESSAGE,
    &PARTIAL_RESULT,
    &FACT_OPTIONS,
    &RECALL_OPTIONS,
    &FACT,
    &FACT_EVIDENCE,
    HttpBaseOptions::TABLE,
    HttpOptions::TABLE,
    HttpPageOptions::TABLE,
    FormFile::TABLE,
    HttpMockReply::TABLE,
    CsvReadOptions::TABLE,
    CsvWriteOptions::TABLE,
    DiffOptions::TABLE,
    TemplateOptions::TABLE,
    UrlParts::TABLE,
    GlobOptions::TABLE,
    WalkOptions::TABLE,
    RemoveOptions::TABLE,
    WatchOptions::TABLE,
    ExecOptions::TABLE,
    PeerAccess::TABLE,
    A2aOptions::TABLE,
    PeerMessageOptions::TABLE,
    A2aSendOptions::TABLE,
    A2aStreamOptions::TABLE,
    A2aSubscribeOptions::TABLE,
    A2aGetOptions::TABLE,
    A2aInjectOptions::TABLE,
    #[cfg(feature = "hub")]
    HubConnectOptions::TABLE,
    #[cfg(feature = "hub")]
    HubCardOptions::TABLE,
    #[cfg(feature = "hub")]
    HubSkill::TABLE,
    #[cfg(feature = "hub")]
    HubRegisterOptions::TABLE,
    #[cfg(feature = "hub")]
    HubMessageOptions::TABLE,
    #[cfg(feature = "hub")]
    HubPublishOptions::TABLE,
    #[cfg(feature = "hub")]
    HubRequestOptions::TABLE,
    #[cfg(feature = "hub")]
    HubWaitOptions::TABLE,
    #[cfg(feature = "hub")]
    HubGetOptions::TABLE,
    #[cfg(feature = "hub")]
    HubLeaseOptions::TABLE,
    #[cfg(feature = "hub")]
    HubClaimOptions::TABLE,
    #[cfg(feature = "hub")]
    HubTasksOptions::TABLE,
    #[cfg(feature = "hub")]
    HubEventsOptions::TABLE,
    #[cfg(feature = "hub")]
    HubListOptions::TABLE,
    #[cfg(feature = "hub")]
    HubDeadLetterOptions::TABLE,
    #[cfg(feature = "hub")]
    HubProgressOptions::TABLE,
    ChannelOptions::TABLE,
    ChannelActionOptions::TABLE,
    ChannelEventsOptions::TABLE,
    ChannelPageOptions::TABLE,
    ExpectedReminder::TABLE,
    ExpectedCall::TABLE,
    ExpectedRequest::TABLE,
];

/// Names of options that people know from vendors and other libraries, each with an option that does the same.
pub(crate) static ELSEWHERE: &[(&str, &str)] = &[
    ("response_format", "output_schema"),
    ("response_schema", "output_schema"),
    ("json_schema", "output_schema"),
    ("output_validation", "schema_retries"),
    ("output_validation", "output_schema"),
    ("max_turns", "max_iterations"),
    ("max_steps", "max_iterations"),
    ("stop_sequences", "stop"),
    ("mcp", "mcp_servers"),
    ("params", "query"),
    ("data", "form"),
    ("files", "multipart"),
    ("body", "json"),
    ("max_retries", "retries"),
    ("max_retries", "llm_retries"),
];

/// Options that this crate reads from a dict.
pub(crate) trait OptionSet: Sized {
    /// The table of the rows.
    const TABLE: &'static OptionTable;

    /// Reads the values.
    fn of(cx: &Cx<'_>, reader: &OptionReader<'_>) -> Result<Self, Box<Raise>>;

    /// Reads the options in argument `arg`; every key must have a row.
    fn read(cx: &Cx<'_>, args: &[Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(cx, &OptionReader::new::<Self>(args, arg)?)
    }
}

/// A dict of options whose keys are known.
#[derive(Clone)]
pub(crate) struct OptionReader<'a> {
    dict: Option<&'a Dict>,
    /// The index of the argument.
    arg: usize,
    /// The option that the dict is the value of; empty for the argument itself.
    within: String,
}

impl<'a> OptionReader<'a> {
    /// Takes the dict in argument `arg`; every key must have a row.
    pub(crate) fn new<T: OptionSet>(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        let reader = Self { dict: args::opt_dict(args, arg)?, arg, within: String::new() };
        reader.check_keys(T::TABLE)?;
        Ok(reader)
    }

    /// Takes the dict that is the value of an option.
    fn inside(dict: &'a Dict, arg: usize, within: String, table: &OptionTable) -> Result<Self, Box<Raise>> {
        let reader = Self { dict: Some(dict), arg, within };
        reader.check_keys(table)?;
        Ok(reader)
    }

    fn check_keys(&self, table: &OptionTable) -> Result<(), Box<Raise>> {
        let Some((key, _)) = self.entries().find(|(key, _)| !table.has(key)) else { return Ok(()) };
        let message = match self.within.as_str() {
            "" => format!("unknown option `{key}`"),
            within => format!("unknown key `{key}` of `{within}`"),
        };
        let mut raise = Raise::error(CheckCode::Key, message);
        let elsewhere = ELSEWHERE.iter().find(|(known, ours)| *known == key.as_str() && table.has(ours));
        if let Some((_, ours)) = elsewhere {
            raise = raise.help(format!("use `{ours}`"));
        } else if let Some(near) = nearest(key, table.keys()) {
            raise = raise.help(format!("did you mean `{near}`?"));
        }
        Err(raise.about(self.arg, format!("has `{}`", path(&self.within, key))))
    }

    /// Returns the entries as they were written.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a Str, &'a Value)> {
        self.dict.into_iter().flat_map(Dict::iter)
    }

    /// Returns the index of the argument, from 0.
    pub(crate) fn arg(&self) -> usize {
        self.arg
    }

    /// Returns whether an option is given, and not nil.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.dict.and_then(|dict| dict.get_str(key)).is_some_and(|value| !value.is_nil())
    }

    /// Reads an option; `None` if it is missing or nil.
    pub(crate) fn get<K: OptionKind>(&self, cx: &Cx<'_>, key: &str) -> Result<Option<K::Out>, Box<Raise>> {
        let Some(value) = self.dict.and_then(|dict| dict.get_str(key)).filter(|value| !value.is_nil()) else {
            return Ok(None);
        };
        K::read(&OptionPlace { cx, arg: self.arg, within: &self.within, key }, value).map(Some)
    }

    /// Reads an option that must be given.
    fn required<K: OptionKind>(&self, cx: &Cx<'_>, key: &str) -> Result<K::Out, Box<Raise>> {
        self.get::<K>(cx, key)?.ok_or_else(|| {
            let path = path(&self.within, key);
            Raise::error(CheckCode::Missing, format!("`{path}` is missing"))
                .about(self.arg, format!("missing `{path}`"))
        })
    }

    /// Returns the options as data without closures, for handlers.
    pub(crate) fn written(&self) -> Data {
        self.dict.map_or(Data::Nil, |dict| to_data_lossy(&Value::dict(dict.clone())))
    }

    /// Reads the transcript to continue. It holds the conversation, so options that name another one are refused.
    pub(crate) fn transcript(
        &self,
        given: Option<&Value>,
        world: &World,
        scope: &Scope,
    ) -> Result<Option<Transcript>, Box<Raise>> {
        let Some(given) = given else { return Ok(None) };
        let others = ["session_id", "messages", "resume_path"];
        if let Some(other) = others.into_iter().find(|key| self.has(key)) {
            let message = format!("`transcript` and `{other}` cannot be used together");
            return Err(Raise::error(RunCode::Value, message)
                .about(self.arg, format!("both `transcript` and `{other}`"))
                .help(format!("remove `{other}`, or remove `transcript`")));
        }
        let read = take_transcript(std::slice::from_ref(given), 0, world, scope);
        read.map(Some).map_err(|raise| raise.about(self.arg, "`transcript` is not a transcript"))
    }
}
