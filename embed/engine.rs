//! An engine that belongs to a Rust program.

use crate::builder::EngineBuilder;
use crate::convert::{FromValue, IntoArgs, IntoValue};
use crate::error::Error;
use crate::function::{self, Function};
use lang::value::Value;
use lang::vm::{Raise, Why};
use std::path::{Path, PathBuf};
use stdlib::{Diagnostic, Evaluated, RunOptions, Source, SourceRef};

/// Runs scripts and calls their functions.
///
/// Names that a script binds at its top level are known to the scripts after it. An engine belongs
/// to one thread and blocks it while a script runs or waits; programs that want several engines
/// give each a thread.
///
/// ```
/// let engine = harn::Engine::new();
/// engine.set("limit", 3)?;
/// assert!(engine.run("[1, 2, 3].sum() > limit")?.truthy());
/// # Ok::<(), harn::Error>(())
/// ```
pub struct Engine {
    inner: stdlib::Engine,
    /// The name of a text in diagnostics, if imports are allowed.
    name: Option<PathBuf>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// Makes an engine with all capabilities, no imports, and output to the terminal.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Starts to build an engine with limits, an output of its own, and the like.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    pub(crate) fn with(options: RunOptions, name: Option<PathBuf>) -> Self {
        Self { inner: stdlib::Engine::new(options), name }
    }

    /// Lets scripts call a closure by `name`.
    ///
    /// An argument that does not fit its parameter's type, and an `Err` that the closure returns, are errors that the script
    /// can catch.
    ///
    /// ```
    /// let engine = harn::Engine::new();
    /// engine.register("port", |text: String| text.parse::<u16>())?;
    /// let ports: Vec<u16> = engine.call("port", ("8080",)).map(|port| vec![port])?;
    /// assert_eq!(ports, [8080]);
    /// let caught: String = harn::from_value(&engine.run("try { port(\"x\") } catch (e) { e.message }")?)?;
    /// assert_eq!(caught, "`port` failed: invalid digit found in string");
    /// # Ok::<(), harn::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidName`].
    pub fn register<Args: 'static, F: Function<Args>>(&self, name: &str, function: F) -> Result<(), Error> {
        self.bind(name, function::value(name, function))
    }

    /// Binds a value to a name that scripts can read.
    ///
    /// # Errors
    /// [`Error::InvalidName`].
    pub fn set(&self, name: &str, value: impl IntoValue) -> Result<(), Error> {
        self.bind(name, value.into_value())
    }

    fn bind(&self, name: &str, value: Value) -> Result<(), Error> {
        if !lang::lex::is_identifier(name) || self.inner.is_builtin(name) {
            return Err(Error::InvalidName(name.to_owned()));
        }
        self.inner.bind(name, value);
        Ok(())
    }

    /// Finds what is wrong with a script without running it: errors and warnings.
    #[must_use]
    pub fn check(&self, script: &str) -> Vec<Diagnostic> {
        self.inner.check(&self.source(script))
    }

    /// Checks and runs a script and returns the value of its last expression.
    ///
    /// # Errors
    /// [`Error::Check`] if the script has errors, and then nothing ran; [`Error::Runtime`] if it raised an error; [`Error::Exit`].
    pub fn run(&self, script: &str) -> Result<Value, Error> {
        self.evaluate(&self.source(script))
    }

    /// Reads a file and runs it as [`Self::run`] does.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run`], and [`Error::Check`] if the file cannot be read.
    pub fn run_file(&self, path: impl AsRef<Path>) -> Result<Value, Error> {
        let source = stdlib::read_source(path.as_ref()).map_err(|error| Error::Check(vec![error]))?;
        self.evaluate(&source)
    }

    /// Calls a function that a script or [`Self::register`] has bound, or a builtin by its full name (`event_log.read`).
    ///
    /// ```
    /// let engine = harn::Engine::new();
    /// engine.run("fn greet(name) { return \"Hello, ${name}\" }")?;
    /// let text: String = engine.call("greet", ("Ada",))?;
    /// assert_eq!(text, "Hello, Ada");
    /// # Ok::<(), harn::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownFunction`], [`Error::Conversion`] if the result has another type than `T`, and those of
    /// [`Self::run`].
    pub fn call<T: FromValue>(&self, name: &str, args: impl IntoArgs) -> Result<T, Error> {
        let function = self.inner.value_of(name).ok_or_else(|| Error::UnknownFunction(name.to_owned()))?;
        let value = self.ended(self.inner.call_function(function, args.into_args()))?;
        Ok(T::from_value(&value)?)
    }

    fn source(&self, text: &str) -> SourceRef {
        let name = self.name.as_ref().map_or("<script>".into(), |name| name.to_string_lossy());
        Source::new(name.into_owned(), text)
    }

    fn evaluate(&self, source: &SourceRef) -> Result<Value, Error> {
        match self.inner.evaluate(source) {
            Evaluated::Invalid { diagnostics, .. } => Err(Error::Check(diagnostics)),
            Evaluated::Ran { result, .. } => self.ended(result),
        }
    }

    /// A failure of an agent loop that the script ignored is an error, too.
    fn ended(&self, result: Result<Value, Box<Raise>>) -> Result<Value, Error> {
        let unhandled = self.inner.take_unhandled_failures();
        match result {
            Ok(value) if unhandled.is_empty() => Ok(value),
            Ok(_) => Err(Error::Runtime(unhandled)),
            Err(raise) => match raise.why {
                Why::Exit(code) => Err(Error::Exit(code)),
                _ => Err(Error::Runtime(std::iter::once(raise.to_diagnostic()).chain(unhandled).collect())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

    use super::*;
    use crate::convert::from_value;
    use serde_json::json;
    use std::time::Duration;

    fn code(error: &Error) -> &'static str {
        error.code().unwrap_or_else(|| panic!("{error:?} has no code"))
    }

    #[test]
    fn names_stay_from_run_to_run_and_functions_see_them() {
        let engine = Engine::new();
        engine.run("var count = 1\nfn next() { count = count + 1\n return count }").unwrap();
        assert_eq!(engine.call::<i64>("next", ()).unwrap(), 2);
        engine.run("count = 10").unwrap();
        assert_eq!(engine.call::<i64>("next", ()).unwrap(), 11);
        engine.set("limit", 1).unwrap();
        engine.set("limit", 2).unwrap();
        assert_eq!(engine.run("limit").unwrap().as_int(), Some(2));
    }

    #[test]
    fn only_identifiers_that_are_not_taken_are_bound() {
        let engine = Engine::new();
        for name in ["", "a b", "1a", "let", "println", "a.b", "\"a\"", "a\n", "größe"] {
            let error = engine.set(name, 1).unwrap_err();
            assert!(matches!(&error, Error::InvalidName(refused) if refused == name), "{name}: {error:?}");
        }
    }

    #[test]
    fn arguments_that_do_not_fit_are_errors_of_the_script() {
        let engine = Engine::new();
        engine.register("half", |n: i64| n / 2).unwrap();
        engine.register("fails", || Err::<(), _>("no disk")).unwrap();
        for (script, expected) in [
            ("half(\"x\")", "`half`: argument 1: expected int, found string"),
            ("half()", "`half`: argument 1: expected int, found nil"),
            ("half(1, 2)", "`half` takes at most 1 arguments, found 2"),
            ("fails()", "`fails` failed: no disk"),
        ] {
            let error = engine.run(script).unwrap_err();
            let found = error.diagnostics().first().map(|found| found.message.clone());
            assert_eq!(found.as_deref(), Some(expected), "{script}");
            assert!(error.render(false).contains(script), "{}", error.render(false));
            let caught = engine.run(&format!("try {{ {script} }} catch (e) {{ e.message }}")).unwrap();
            assert_eq!(caught.as_str(), Some(expected), "{script}");
        }
        assert_eq!(engine.run("[2, 4].map(half)").and_then(|v| Ok(from_value::<Vec<i64>>(&v)?)).unwrap(), [1, 2]);
    }

    #[test]
    fn each_kind_of_failure_has_its_error() {
        let engine = Engine::new();
        assert!(matches!(engine.run("let = 1"), Err(Error::Check(_))));
        assert_eq!(code(&engine.run("println(unknown_name)").unwrap_err()), "HARN-NAM-001");
        assert!(matches!(engine.run("throw \"x\""), Err(Error::Runtime(_))));
        assert!(matches!(engine.run("exit(4)"), Err(Error::Exit(4))));
        assert!(matches!(engine.call::<i64>("absent", ()), Err(Error::UnknownFunction(_))));
        engine.run("fn text() { return \"x\" }").unwrap();
        let error = engine.call::<i64>("text", ()).unwrap_err();
        assert_eq!(error.to_string(), "expected int, found string");
        assert!(matches!(engine.run_file("no/such/file.harn"), Err(Error::Check(_))));
        // It can still be used.
        assert_eq!(engine.run("1 + 1").unwrap().as_int(), Some(2));
    }

    #[test]
    fn limits_hold_for_each_run_and_leave_the_engine_usable() {
        let engine = Engine::builder().time_limit(Duration::from_millis(50)).build();
        for script in ["while true {}", "sleep(60000)"] {
            assert_eq!(code(&engine.run(script).unwrap_err()), "HARN-LIM-002", "{script}");
            assert_eq!(engine.run("1 + 1").unwrap().as_int(), Some(2), "{script}");
        }
        engine.run("fn spin() { while true {} }").unwrap();
        assert_eq!(code(&engine.call::<()>("spin", ()).unwrap_err()), "HARN-LIM-002");
        assert_eq!(engine.run("2 + 2").unwrap().as_int(), Some(4));
        let engine = Engine::builder().fuel(10_000).build();
        assert_eq!(code(&engine.run("while true {}").unwrap_err()), "HARN-RUN-011");
    }

    #[test]
    fn a_failed_loop_that_the_script_ignores_is_an_error() {
        let engine = Engine::new();
        engine.register("broken", |_: Value| Err::<String, _>("down")).unwrap();
        let error = engine.run("let r = agent_loop(\"a\", \"b\", {llm_caller: broken})\nr.text").unwrap_err();
        assert!(matches!(error, Error::Runtime(_)), "{error:?}");
        let status = engine.run("agent_loop(\"a\", \"b\", {llm_caller: broken}).status");
        assert!(matches!(status, Err(Error::Runtime(_))), "{status:?}");
        let reason = engine.run("agent_loop(\"a\", \"b\", {llm_caller: broken}).stop_reason").unwrap();
        assert_eq!(reason.as_str(), Some("error"));
    }

    #[test]
    fn values_go_both_ways() {
        let engine = Engine::new();
        let all = json!({"a": [1, 2.5, null, true, "x"], "b": {"c": []}});
        engine.set("all", all.clone()).unwrap();
        assert_eq!(from_value::<serde_json::Value>(&engine.run("all").unwrap()).unwrap(), all);
        assert!(from_value::<i64>(&engine.run("{ x -> x }").unwrap()).is_err());
        engine.run("fn same(x) { return x }").unwrap();
        assert_eq!(engine.call::<Option<i64>>("same", (None::<i64>,)).unwrap(), None);
        assert_eq!(engine.call::<Vec<String>>("same", (vec!["a", "b"],)).unwrap(), ["a", "b"]);
        let error = engine.call::<u8>("same", (300,)).unwrap_err();
        assert_eq!(error.to_string(), "300 does not fit in u8");
        let error = engine.call::<Vec<i64>>("same", (json!([1, "x"]),)).unwrap_err();
        assert_eq!(error.to_string(), "item 1: expected int, found string");
    }
}
