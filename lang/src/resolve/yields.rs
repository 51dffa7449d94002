//! `yield` and `emit`: which functions stop in the middle, and where none can.

use super::messages;
use super::resolver::Resolver;
use crate::ast::*;
use crate::builtin_type::Flavor;
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
pub(super) struct FunctionBody {
    pub(super) of: BodyOf,
    /// Its body.
    pub(super) id: NodeId,
    /// Blocks around that run on the way out.
    pub(super) guards: u32,
    /// The name of a declared `fn`.
    pub(super) name: Option<Span>,
}

impl Resolver<'_> {
    /// Begins the body of the innermost function.
    pub(super) fn begin_body(&mut self, of: BodyOf, body: &Block) {
        self.body = FunctionBody { of, id: body.id, guards: 0, name: None };
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
            ("emit", BodyOf::Stream) | ("yield", BodyOf::Function) if self.body.guards > 0 => {
                messages::yield_in_exit(self.source, span, word)
            }
            ("emit", BodyOf::Stream) => return,
            ("yield", BodyOf::Function) => {
                self.out.iterators.insert(self.body.id, Flavor::Generator);
                return;
            }
            ("yield", BodyOf::Stream) => messages::yield_in_stream(self.source, span),
            ("emit", of) => messages::emit_outside(self.source, span, of, self.body.name),
            (_, of) => messages::yield_outside(self.source, span, of),
        };
        self.found.push(d);
    }
}
