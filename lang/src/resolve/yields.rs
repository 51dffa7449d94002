//! `yield` and `emit`: which functions stop in the middle, and where none can.

use super::ResolveCode;
use super::walk::Walk;
use crate::ast::*;
use crate::builtin_type::Flavor;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Owner of the body that is being visited.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum BodyOf {
    /// The file.
    #[default]
    File,
    /// A parameter's default.
    Parameter,
    /// A pipeline.
    Pipeline,
    /// A tool.
    Tool,
    /// Body that runs as a task of its own.
    Task,
    /// A function or closure.
    Function,
    /// A `gen fn`.
    Stream,
}

/// The function being walked.
#[derive(Clone, Copy, Default)]
pub(super) struct Body {
    pub(super) of: BodyOf,
    /// Its body.
    pub(super) id: NodeId,
    /// Blocks around that run on the way out.
    pub(super) guards: u32,
}

impl Walk<'_> {
    /// What follows is the body of the innermost function.
    pub(super) fn begin_body(&mut self, of: BodyOf, body: &Block) {
        self.body = Body { of, id: body.id, guards: 0 };
        if of == BodyOf::Stream {
            self.out.iterators.insert(body.id, Flavor::Stream);
        }
    }

    /// A `finally` or `defer` block.
    pub(super) fn guard_block(&mut self, block: &Block) {
        self.body.guards += 1;
        self.block(block);
        self.body.guards -= 1;
    }

    /// A `yield`, or an `emit`.
    pub(super) fn yields(&mut self, e: &Expr) {
        let word = if matches!(e.kind, ExprKind::Emit(_)) { "emit" } else { "yield" };
        // The expression may begin with a parenthesis.
        let before = self.source.slice(e.span).find(word).unwrap_or(0);
        let start = e.span.start + u32::try_from(before).unwrap_or(0);
        let span = Span::new(start, start + u32::try_from(word.len()).unwrap_or(0));
        let d = match (word, self.body.of) {
            ("emit", BodyOf::Stream) | ("yield", BodyOf::Function) if self.body.guards > 0 => Diagnostic::new(
                ResolveCode::YieldInExit,
                format!("`{word}` in a `finally` or `defer` block"),
            )
            .label(self.source, span, "cannot be suspended here")
            .help(format!("move the `{word}` before the block, which must run to its end")),
            ("emit", BodyOf::Stream) => return,
            ("yield", BodyOf::Function) => {
                self.out.iterators.insert(self.body.id, Flavor::Generator);
                return;
            }
            ("yield", BodyOf::Stream) => {
                Diagnostic::new(ResolveCode::YieldInStream, "`yield` in a `gen fn`")
                    .label(self.source, span, "write `emit`")
                    .help("use `emit` in a `gen fn`, which returns a stream; use `yield` in a `fn`, which then returns a generator")
                    .fix(span, "emit")
            }
            ("emit", of) => Diagnostic::new(ResolveCode::Emit, "`emit` outside of a `gen fn`")
                .label(self.source, span, outside(of))
                .help(if of == BodyOf::Function {
                    "declare the function as `gen fn`, or use `yield`"
                } else {
                    "move it into a `gen fn`, which returns a stream"
                }),
            (_, of) => Diagnostic::new(ResolveCode::Yield, "`yield` outside of a function")
                .label(self.source, span, outside(of))
                .help("move it into a `fn`, which then returns a generator"),
        };
        self.found.push(d);
    }
}

fn outside(of: BodyOf) -> &'static str {
    match of {
        BodyOf::File => "not inside a function",
        BodyOf::Parameter => "a default value is not part of the function's body",
        BodyOf::Pipeline => "a pipeline returns one result",
        BodyOf::Tool => "a tool returns one result",
        BodyOf::Task => "a task returns one result; send items through a channel",
        BodyOf::Function => "this function is not a `gen fn`",
        BodyOf::Stream => "",
    }
}
