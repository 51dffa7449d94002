//! [`SearchedTools`]: tools that a request has only after the model has searched for them.
//!
//! A loop with many tools pays for their descriptions in each request. Those that are deferred are left out; the model finds them
//! with the tool `tool_search`, and has them from the next turn on, after those that it had before.

use base::call::{Answer, LocalFuture, Outcome};
use base::data::Data;
use globset::{Glob, GlobMatcher};
use lang::vm::{Raise, RunCode};
use runtime::agent_loop::{LoadedTools, ToolSource};
use runtime::message::{ToolCall, ToolSpec};
use runtime::scope::Scope;
use runtime::seam::{Output, Tool, Turn};
use runtime::session::Session;
use std::any::Any;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// The tool that searches.
const TOOL: &str = "tool_search";

/// The annotation of a tool that is deferred.
const ANNOTATION: &str = "defer_loading";

/// Tools that a search finds at most, unless the model asks for fewer.
const MOST_FOUND: usize = 8;

/// Characters of a description in the result of a search.
const SHOWN: usize = 300;

/// The tools that are deferred.
#[derive(Clone)]
pub(crate) enum Deferral {
    /// Tools that say so.
    Annotated,
    /// None.
    Off,
    /// All.
    All,
    /// Tools whose names match, and tools that say so.
    Named(Vec<GlobMatcher>),
}

impl Deferral {
    /// Returns the deferral of tools by globs of their names.
    pub(crate) fn named(globs: &[Arc<str>]) -> Result<Self, Box<Raise>> {
        let matcher = |glob: &Arc<str>| match Glob::new(glob) {
            Ok(glob) => Ok(glob.compile_matcher()),
            Err(error) => Err(Raise::error(RunCode::Value, format!("invalid glob `{glob}`: {}", error.kind()))),
        };
        globs.iter().map(matcher).collect::<Result<_, _>>().map(Self::Named)
    }

    fn defers(&self, spec: &ToolSpec) -> bool {
        let is_annotated = || spec.annotations.get(ANNOTATION).truthy();
        match self {
            Self::Off => false,
            Self::All => true,
            Self::Annotated => is_annotated(),
            Self::Named(globs) => globs.iter().any(|glob| glob.is_match(&*spec.name)) || is_annotated(),
        }
    }
}

/// The tools of a loop, some of them deferred.
pub(crate) struct SearchedTools {
    /// The tools that do not change, if there is no source of others.
    own: Vec<Rc<dyn Tool>>,
    source: Option<Rc<dyn ToolSource>>,
    deferral: Deferral,
    search: Rc<SearchTool>,
}

impl SearchedTools {
    /// Creates the source, if tools are or may be deferred.
    pub(crate) fn of_loop(
        own: &[Rc<dyn Tool>],
        source: Option<Rc<dyn ToolSource>>,
        deferral: Deferral,
    ) -> Option<Rc<dyn ToolSource>> {
        let may_defer = own.iter().any(|tool| deferral.defers(tool.spec()))
            || (source.is_some() && matches!(deferral, Deferral::All | Deferral::Named(_)));
        if !may_defer {
            return None;
        }
        let search = Rc::new(SearchTool { spec: spec(), state: RefCell::default() });
        Some(Rc::new(Self { own: own.to_vec(), source, deferral, search }))
    }
}

impl ToolSource for SearchedTools {
    fn used_by(&self, session: &Rc<Session>) -> Box<dyn Any> {
        // A conversation that goes on has the tools that it has called.
        session.with(|state| {
            let messages = state.transcript.messages();
            let called = messages.iter().flat_map(|message| message.tool_calls.iter().map(|call| call.name.clone()));
            self.search.state.borrow_mut().add_found(called);
        });
        match &self.source {
            Some(source) => source.used_by(session),
            None => Box::new(()),
        }
    }

    fn revision(&self) -> u64 {
        let found = self.search.state.borrow().found.len() as u64;
        self.source.as_ref().map_or(0, |source| source.revision()) + found
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> LocalFuture<'a, Outcome<LoadedTools>> {
        Box::pin(async move {
            let LoadedTools { tools, revision } = match &self.source {
                Some(source) => source.load(scope).await?,
                None => LoadedTools { tools: self.own.clone(), revision: 0 },
            };
            let (deferred, mut offered): (Vec<_>, Vec<_>) =
                tools.into_iter().partition(|tool| self.deferral.defers(tool.spec()));
            let mut state = self.search.state.borrow_mut();
            if !deferred.is_empty() {
                offered.push(self.search.clone());
            }
            let known = |name: &Arc<str>| deferred.iter().rfind(|tool| tool.spec().name == *name).cloned();
            offered.extend(state.found.iter().filter_map(known));
            state.deferred = deferred;
            Ok(LoadedTools { tools: offered, revision: revision + state.found.len() as u64 })
        })
    }
}

/// The deferred tools, and those that were found.
#[derive(Default)]
struct SearchState {
    deferred: Vec<Rc<dyn Tool>>,
    /// The names, in the order in which they were found.
    found: Vec<Arc<str>>,
}

impl SearchState {
    fn add_found(&mut self, names: impl Iterator<Item = Arc<str>>) {
        for name in names {
            let is_deferred = self.deferred.iter().any(|tool| tool.spec().name == name);
            if is_deferred && !self.found.contains(&name) {
                self.found.push(name);
            }
        }
    }
}

/// The tool that searches.
struct SearchTool {
    spec: ToolSpec,
    state: RefCell<SearchState>,
}

fn spec() -> ToolSpec {
    let property = |kind: &str, text: &str| Data::dict([("type", Data::from(kind)), ("description", text.into())]);
    let properties = Data::dict([
        ("query", property("string", "Words for what the tool should do, or its name.")),
        ("limit", property("integer", "The largest number of tools to find. Default: 8.")),
    ]);
    let parameters = Data::dict([
        ("type", Data::from("object")),
        ("properties", properties),
        ("required", Data::list([Data::from("query")])),
    ]);
    let description = "Finds further tools by words in their names and descriptions. Tools that it finds can be called from \
                       the next turn on. Use it if no other tool fits.";
    let mut spec = ToolSpec::new(TOOL, description, parameters);
    spec.annotations = Data::dict([("kind", Data::from("search")), ("read_only", true.into())]);
    spec
}

/// Returns the words of a text in small letters; `readFile_2` is read, file and 2.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_alphanumeric() {
            let is_start = !before.is_alphanumeric()
                || (c.is_uppercase() && before.is_lowercase())
                || (c.is_numeric() != before.is_numeric());
            if is_start {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

/// Returns how well a tool fits words: words of the name count most, and whole words more than beginnings.
fn score(spec: &ToolSpec, query: &str, wanted: &[String]) -> u32 {
    if spec.name.eq_ignore_ascii_case(query.trim()) {
        return u32::MAX;
    }
    let (name, description) = (words(&spec.name), words(&spec.description));
    let best = |words: &[String], wanted: &str| {
        let fit = |word: &String| match word.strip_prefix(wanted) {
            Some("") => 2,
            Some(_) if wanted.len() > 2 => 1,
            _ => 0,
        };
        words.iter().map(fit).max().unwrap_or(0)
    };
    wanted.iter().map(|wanted| best(&name, wanted) * 4 + best(&description, wanted)).sum()
}

fn shown(description: &str) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

impl SearchTool {
    fn search(&self, arguments: &Data) -> Result<String, String> {
        let query = arguments.get("query").as_str().unwrap_or_default();
        let wanted = words(query);
        if wanted.is_empty() {
            return Err("`query` is blank; write words for what the tool should do".to_owned());
        }
        let limit = arguments.get("limit").as_int().and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(MOST_FOUND).clamp(1, MOST_FOUND);
        let mut state = self.state.borrow_mut();
        let mut ranked: Vec<(u32, ToolSpec)> = state
            .deferred
            .iter()
            .map(|tool| (score(tool.spec(), query, &wanted), tool.spec().clone()))
            .filter(|(score, _)| *score > 0)
            .collect();
        ranked.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.name.cmp(&b.name)));
        ranked.truncate(limit);
        if ranked.is_empty() {
            return Ok(format!(
                "No tool fits. {} tools can be searched; try other words, such as a verb and a noun.",
                state.deferred.len()
            ));
        }
        let mut text = "These tools can be called from the next turn on:".to_owned();
        for (_, spec) in &ranked {
            let _ = write!(text, "\n- {}: {}", spec.name, shown(&spec.description));
        }
        state.add_found(ranked.into_iter().map(|(_, spec)| spec.name));
        Ok(text)
    }
}

impl Tool for SearchTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::Now(Ok(match self.search(&call.arguments) {
            Ok(text) => Output::of(text.into()),
            Err(why) => Output::error(why),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names_and_texts() {
        for (text, wanted) in [
            ("readFile_2", &["read", "file", "2"][..]),
            ("Creates a pull-request.", &["creates", "a", "pull", "request"]),
            ("", &[]),
            ("HTTPServer", &["httpserver"]),
        ] {
            assert_eq!(words(text), wanted, "{text}");
        }
    }

    #[test]
    fn names_count_more_than_descriptions_and_words_more_than_beginnings() {
        let tool = |name: &str, description: &str| ToolSpec::new(name, description, Data::Nil);
        let of = |spec: &ToolSpec, query: &str| score(spec, query, &words(query));
        let (create, list) = (tool("create_issue", "Makes an issue."), tool("list_issues", "Lists them; create none."));
        assert!(of(&create, "create issue") > of(&list, "create issue"));
        assert!(of(&list, "list_issues") == u32::MAX);
        assert!(of(&list, "issue") > 0 && of(&list, "weather") == 0);
    }
}
