//! `yield` and `emit`: which functions stop in the middle, and where none can.

use super::ResolveCode;
use super::walk::Walk;
use crate::ast::*;
use crate::builtin_type::Flavor;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// What the statements being walked are the body of.
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
    /// What runs as a task of its own.
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
                format!("`{word}` stands in a block that runs on the way out"),
            )
            .label(self.source, span, "cannot stop here")
            .help("a `finally` or `defer` runs to its end: keep the items before it"),
            ("emit", BodyOf::Stream) => return,
            ("yield", BodyOf::Function) => {
                self.out.iterators.insert(self.body.id, Flavor::Generator);
                return;
            }
            ("yield", BodyOf::Stream) => {
                Diagnostic::new(ResolveCode::YieldInStream, "`yield` stands in a `gen fn`, which emits")
                    .label(self.source, span, "write `emit`")
                    .help("a `fn` that yields gives a generator, a `gen fn` that emits gives a stream")
                    .fix(span, "emit")
            }
            ("emit", of) => Diagnostic::new(ResolveCode::Emit, "`emit` stands outside a `gen fn`")
                .label(self.source, span, outside(of))
                .help(if of == BodyOf::Function {
                    "declare the function as `gen fn`, or give its items with `yield`"
                } else {
                    "move it into a `gen fn`: calling that gives a stream"
                }),
            (_, of) => Diagnostic::new(ResolveCode::Yield, "`yield` stands outside a function")
                .label(self.source, span, outside(of))
                .help("move it into a `fn`: calling that gives a generator"),
        };
        self.found.push(d);
    }
}

fn outside(of: BodyOf) -> &'static str {
    match of {
        BodyOf::File => "no function around this",
        BodyOf::Parameter => "a default is no part of the body",
        BodyOf::Pipeline => "a pipeline gives one result",
        BodyOf::Tool => "a tool gives one result",
        BodyOf::Task => "a task gives one result; send items through a channel",
        BodyOf::Function => "this function is no `gen fn`",
        BodyOf::Stream => "",
    }
}
