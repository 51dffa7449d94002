//! Finding the handler of a raise, and writing down who called whom.
#![allow(unsafe_code)]

use super::border::BorderSite;
use super::fiber::Fiber;
use super::{About, HandlerKind, Raise, RunCode, Why};
use crate::advice;
use crate::diagnostic::{Label, TraceFrame};
use crate::value::{HostBox, HostObject, Tag, Value};
use std::any::Any;
use std::cell::RefCell;

/// Frames of a stack trace that are kept: the innermost ones tell the story.
pub(super) const KEPT_FRAMES: usize = 24;

/// A raise that a `finally` interrupted, in a register until the block is over.
pub(super) struct Held(RefCell<Option<Box<Raise>>>);

impl HostObject for Held {
    fn type_name(&self) -> &'static str {
        "error"
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Takes the raise out of the register where [`Fiber::unwind`] put it.
pub(crate) fn held(value: &Value) -> Option<Box<Raise>> {
    value.as_host::<Held>()?.0.borrow_mut().take()
}

/// Does what [`held`] does, if it is an interruption.
pub(super) fn held_interruption(value: &Value) -> Option<Box<Raise>> {
    let held = value.as_host::<Held>()?;
    held.0.borrow_mut().take_if(|raise| raise.why.interrupts())
}

/// Why the raise in that register was made.
pub(crate) fn held_why(value: &Value) -> Option<Why> {
    value.as_host::<Held>()?.0.borrow().as_ref().map(|raise| raise.why)
}

impl Fiber {
    /// An argument that a function refuses: the call is to blame, if a script made it.
    pub(super) fn refuse(&mut self, site: &BorderSite, raise: Box<Raise>) -> Box<Raise> {
        let (Some((_, argument)), Some(frame)) = (&site.parameter, self.frames.last()) else { return raise };
        if !frame.plain || frame.owned {
            return raise;
        }
        // SAFETY: a frame's code is kept as long as the frame.
        let (base, registers) = (frame.base, usize::from(unsafe { (*frame.proto).regs }));
        self.frames.pop();
        self.clear(base, registers);
        let label = raise.label.clone();
        raise.about(usize::from(*argument), label)
    }

    /// Goes to the innermost handler, or gives the raise back when there is none.
    pub(super) fn unwind(&mut self, raise: Box<Raise>) -> Result<(), Box<Raise>> {
        let mut raise = self.as_memory(raise);
        loop {
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else { return Err(raise) };
            // Down to there the trace was written when the error was raised first.
            let told = raise.told.is_some_and(|told| depth >= told);
            if let Some(builtin) = frame.builtin() {
                let (base, window, owned) = (frame.base, frame.window(), frame.owned);
                if !told {
                    push_trace(&mut raise, TraceFrame::new(builtin.full_name(), None));
                }
                self.frames.pop();
                self.clear(base, window);
                if owned {
                    self.finish_iter(base, Value::Nil);
                }
                continue;
            }
            // SAFETY: a frame's code is kept as long as the frame.
            let code = unsafe { &*frame.proto };
            let at = frame.at(code);
            let span = code.spans.get(at).copied().unwrap_or_default();
            let main = match raise.about {
                About::Argument(i) if !raise.located => {
                    code.call_at(at).and_then(|c| c.args.get(i)).copied().unwrap_or(span)
                }
                About::Callee if !raise.located => code.call_at(at).and_then(|c| c.callee).unwrap_or(span),
                _ => span,
            };
            if needs_signature(&raise)
                && let Some(builtin) = code.builtin_at(at)
            {
                raise.notes.push(advice::signature(builtin.sig));
            }
            if let Some(source) = &code.source {
                let is_method = |name: &str| self.isolate.registry().find(Tag::Dict.module(), name).is_some();
                if raise.of_nil
                    && !raise.located
                    && let Some(help) = advice::uncalled_in(source.slice(main), is_method)
                {
                    raise.help.insert(0, help);
                }
                raise.locate(source, main);
                if let Some(call) = code.call_at(at) {
                    raise.locate_parts(source, &call.args);
                }
                if !told {
                    push_trace(&mut raise, TraceFrame::new(code.title(), Some((source.clone(), span))));
                }
            }
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let base = frame.base;
            let mut handler = None;
            for h in code.handlers.iter().filter(|h| h.start <= at && at < h.end) {
                if h.kind == HandlerKind::CleanUp {
                    raise = outranked(raise, &self.stack[base + usize::from(h.reg)], depth);
                } else if takes(h.kind, raise.why) {
                    handler = Some(h);
                    break;
                }
            }
            if let Some(handler) = handler {
                debug_assert!((handler.target as usize) < code.code.len(), "a handler outside of the code");
                // SAFETY: the verifier lets no handler pass whose target lies outside of the code.
                frame.pc = unsafe { code.code.as_ptr().add(handler.target as usize) };
                let slot = frame.base + usize::from(handler.reg);
                match handler.kind {
                    HandlerKind::Catch => self.stack[slot] = self.caught(raise),
                    HandlerKind::CatchAndHold => match raise.to_value() {
                        Value::Dict(_) => self.stack[slot] = self.caught(raise),
                        value => {
                            self.stack[slot] = value;
                            self.stack[slot + 1] = hold(raise);
                        }
                    },
                    HandlerKind::Finally | HandlerKind::Retry => self.stack[slot] = hold(raise),
                    HandlerKind::CleanUp => {}
                }
                return Ok(());
            }
            let (base, size, owned) = (frame.base, usize::from(code.regs), frame.owned);
            self.frames.pop();
            self.clear(base, size);
            if owned {
                self.finish_iter(base, Value::Nil);
            }
        }
    }
}

/// Returns whether a raise is about the type of an argument of the call at hand, not of a call that a builtin made, and says
/// nothing more about it.
fn needs_signature(raise: &Raise) -> bool {
    let is_type = raise.code == RunCode::Type.code() && matches!(raise.about, About::Argument(_));
    let is_of_call = !raise.located && raise.trace.is_empty();
    is_type && is_of_call && raise.help.is_empty() && raise.notes.is_empty()
}

/// Whether a handler takes a raise.
fn takes(kind: HandlerKind, why: Why) -> bool {
    match why {
        Why::Thrown | Why::Error => kind != HandlerKind::CleanUp,
        Why::Cancelled | Why::Deadline(_) | Why::Exit(_) => kind == HandlerKind::Finally,
        Why::Exhausted | Why::Abandoned => false,
    }
}

/// Returns the error that continues after a clean-up raised: the interruption that it cleaned up after, if there is one,
/// with the raise as a note. A later cancellation or deadline comes from further out and takes precedence; only the first
/// `exit` counts.
fn outranked(raise: Box<Raise>, beside: &Value, depth: usize) -> Box<Raise> {
    let Some(first) = held_why(beside).filter(|why| why.interrupts()) else { return raise };
    let goes_first = match raise.why {
        Why::Thrown | Why::Error | Why::Exit(_) => false,
        Why::Cancelled | Why::Deadline(_) => !matches!(first, Why::Exit(_)),
        Why::Exhausted | Why::Abandoned => true,
    };
    if goes_first {
        return raise;
    }
    let Some(mut first) = held(beside) else { return raise };
    first.told = Some(depth);
    if let Why::Exit(code) = raise.why {
        first.notes.push(format!("`exit({code})` during the clean-up was ignored"));
        return first;
    }
    first.notes.push(format!("the clean-up failed: {} ({})", raise.message, raise.code));
    if let Some(at) = raise.labels.first() {
        first.labels.push(Label { text: "the clean-up failed here".to_owned(), ..at.clone() });
    }
    first.clean_up.get_or_insert(raise);
    first
}

fn hold(raise: Box<Raise>) -> Value {
    HostBox::value(Held(RefCell::new(Some(raise))))
}

fn push_trace(raise: &mut Raise, frame: TraceFrame) {
    let room = raise.trace.len() < KEPT_FRAMES;
    match raise.trace.last_mut() {
        Some(last) if last.repeats(&frame) => last.times = last.times.saturating_add(1),
        _ if room => raise.trace.push(frame),
        _ => {}
    }
}
