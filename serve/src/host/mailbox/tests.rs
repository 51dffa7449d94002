//! Explores all interleavings of clients and a worker, and checks that waiting tasks are woken.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};

use super::state::{MailboxState, QuestionFate};
use super::{Mailbox, Prompt};

/// A state of a session, and the fates of its prompts so far.
#[derive(Clone, Debug, Default)]
struct MailboxWorld {
    state: MailboxState<usize>,
    worker: WorkerStep,
    prompts: Vec<PromptFate>,
    /// Whether the waiting question was cancelled.
    question_cancelled: bool,
    cancels: usize,
    asks: usize,
    closed: bool,
}

#[derive(Clone, Debug, Default)]
struct PromptFate {
    /// Whether it is an answer that never begins a new prompt.
    is_reply: bool,
    /// Whether it was cancelled before its run ended.
    cancelled: bool,
    ended: Option<RunEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunEnd {
    Done,
    Asked,
    Cancelled,
}

/// The steps of [`super::super::session`], split where another thread may run in between.
#[derive(Clone, Debug, Default)]
enum WorkerStep {
    #[default]
    Free,
    /// The pipeline runs; `told` is whether it knows that it must stop.
    Running {
        prompt: Option<usize>,
        told: bool,
    },
    /// The pipeline has asked a question.
    Asks {
        prompt: Option<usize>,
        told: bool,
    },
    /// The question was sent and is being recorded.
    Settling {
        prompt: Option<usize>,
    },
    /// The pipeline waits for the answer.
    Waiting {
        told: bool,
    },
    /// The pipeline has ended.
    Finishing {
        prompt: Option<usize>,
        end: RunEnd,
    },
    Over,
}

impl MailboxWorld {
    /// Returns all possible next states.
    fn next(&self) -> Vec<MailboxWorld> {
        let mut all = Vec::new();
        self.others(&mut all);
        match self.worker.clone() {
            WorkerStep::Free => self.free(&mut all),
            WorkerStep::Running { prompt, told } => self.running(&mut all, prompt, told),
            WorkerStep::Asks { prompt, told } => all.push(self.then(|world| {
                world.worker = match world.state.fate() {
                    QuestionFate::Asked => WorkerStep::Settling { prompt },
                    QuestionFate::Withdrawn | QuestionFate::Unanswered => WorkerStep::Running { prompt, told },
                };
            })),
            WorkerStep::Settling { prompt } => all.push(self.then(|world| match world.state.asked() {
                QuestionFate::Asked => {
                    world.ended(prompt, RunEnd::Asked);
                    world.question_cancelled = false;
                    world.worker = WorkerStep::Waiting { told: false };
                }
                QuestionFate::Withdrawn | QuestionFate::Unanswered => {
                    world.worker = WorkerStep::Running { prompt, told: false }
                }
            })),
            WorkerStep::Waiting { told } => self.waiting(&mut all, told),
            WorkerStep::Finishing { prompt, end } => all.push(self.then(|world| {
                let late = world.state.ended();
                assert!(prompt.is_none() || late.is_none(), "an answer to what was answered: {world:?}");
                world.ended(prompt.or(late), end);
                world.worker = WorkerStep::Free;
            })),
            WorkerStep::Over => {}
        }
        all
    }

    fn then(&self, change: impl FnOnce(&mut MailboxWorld)) -> MailboxWorld {
        let mut next = self.clone();
        change(&mut next);
        next
    }

    /// Adds the steps of clients.
    fn others(&self, all: &mut Vec<MailboxWorld>) {
        if self.prompts.len() < 3 {
            let mut world = self.clone();
            let put = world.state.put(&"s".into(), self.prompts.len());
            assert_eq!(put.is_ok(), !self.closed && self.at_hand().is_none(), "{self:?}");
            if put.is_ok() {
                world.prompts.push(PromptFate::default());
                all.push(world);
            }
        }
        if self.prompts.len() < 3 {
            let mut world = self.clone();
            let put = world.state.reply(&"s".into(), self.prompts.len());
            let asks = matches!(self.worker, WorkerStep::Waiting { .. } | WorkerStep::Finishing { prompt: None, .. });
            let may = asks && !self.question_cancelled && !self.closed && self.at_hand().is_none();
            assert_eq!(put.is_ok(), may, "{self:?}");
            if put.is_ok() {
                world.prompts.push(PromptFate { is_reply: true, ..PromptFate::default() });
                all.push(world);
            }
        }
        if self.cancels < 3 {
            let mut world = self.clone();
            world.cancels += 1;
            let at_hand = world.at_hand();
            let did = world.state.cancel("enough".into());
            match (at_hand, &world.worker) {
                // The answer came too late.
                (Some(_), WorkerStep::Finishing { prompt, .. }) if at_hand == *prompt => {}
                (Some(at_hand), WorkerStep::Finishing { .. }) if world.prompts[at_hand].is_reply => {}
                (Some(at_hand), _) => world.prompts[at_hand].cancelled = true,
                (None, WorkerStep::Waiting { .. } | WorkerStep::Finishing { .. }) => world.question_cancelled = true,
                (None, _) => {}
            }
            assert_eq!(
                did,
                at_hand.is_some() || !matches!(world.worker, WorkerStep::Free | WorkerStep::Over),
                "{self:?}"
            );
            all.push(world);
        }
        if !self.closed {
            all.push(self.then(|world| {
                world.state.close();
                world.closed = true;
            }));
        }
    }

    fn free(&self, all: &mut Vec<MailboxWorld>) {
        let mut world = self.clone();
        match world.state.take() {
            Some(Some(prompt)) => {
                assert!(!world.prompts[prompt].is_reply, "an answer has become a prompt: {self:?}");
                world.worker = WorkerStep::Running { prompt: Some(prompt), told: false };
            }
            Some(None) => world.worker = WorkerStep::Over,
            None => return self.may_wait(),
        }
        all.push(world);
    }

    fn running(&self, all: &mut Vec<MailboxWorld>, prompt: Option<usize>, told: bool) {
        let mut world = self.clone();
        let told = told || world.state.hear().is_some();
        let end = if told { RunEnd::Cancelled } else { RunEnd::Done };
        all.push(world.then(|world| world.worker = WorkerStep::Finishing { prompt, end }));
        if world.asks < 3 {
            world.asks += 1;
            world.worker = WorkerStep::Asks { prompt, told };
            all.push(world);
        }
    }

    fn waiting(&self, all: &mut Vec<MailboxWorld>, told: bool) {
        let mut world = self.clone();
        let told = told || world.state.hear().is_some();
        world.worker = WorkerStep::Waiting { told };
        // The script has dropped the question, or cleaned up.
        let end = if told { RunEnd::Cancelled } else { RunEnd::Done };
        all.push(world.then(|world| world.worker = WorkerStep::Finishing { prompt: None, end }));
        match world.state.answer() {
            Some(Some(prompt)) => {
                assert!(!world.question_cancelled, "a prompt answers a question that was cancelled: {self:?}");
                world.worker = WorkerStep::Running { prompt: Some(prompt), told };
            }
            Some(None) => world.worker = WorkerStep::Running { prompt: None, told },
            None => {
                assert!(!told, "nothing wakes what is to stop: {self:?}");
                return self.may_wait();
            }
        }
        all.push(world);
    }

    /// Returns the prompt that is not over.
    fn at_hand(&self) -> Option<usize> {
        self.prompts.iter().position(|fate| fate.ended.is_none())
    }

    fn may_wait(&self) {
        assert!(self.at_hand().is_none() && !self.closed, "it waits for nothing that will come: {self:?}");
    }

    fn ended(&mut self, prompt: Option<usize>, end: RunEnd) {
        let Some(prompt) = prompt else { return };
        let fate = &mut self.prompts[prompt];
        assert_eq!(fate.ended, None, "it ends twice");
        fate.ended = Some(end);
        let (is_cancelled, was) = (end == RunEnd::Cancelled, fate.cancelled);
        assert!(is_cancelled || !was, "a cancellation was lost: {self:?}");
        assert!(!is_cancelled || was || self.closed, "somebody else's cancellation: {self:?}");
    }
}

#[test]
fn in_every_order_each_prompt_ends_once_and_by_its_own_cancellation() {
    let mut seen = HashSet::new();
    let mut open = vec![MailboxWorld::default()];
    while let Some(world) = open.pop() {
        for next in world.next() {
            if seen.insert(format!("{next:?}")) {
                open.push(next);
            }
        }
    }
    assert!(seen.len() > 5_000, "{}", seen.len());
}

#[test]
fn one_that_is_over_refuses_and_leaves_nothing_behind() {
    let mut state = MailboxState::default();
    let id: Arc<str> = "s".into();
    state.put(&id, 1).unwrap();
    assert_eq!(state.over(crate::host::HostError::Closed(id.clone())), Some(1));
    assert!(state.is_idle());
    assert!(state.put(&id, 2).is_err());
}

/// Counts its wakes.
#[derive(Default)]
struct CountingWaker(AtomicUsize);

impl Wake for CountingWaker {
    fn wake(self: Arc<CountingWaker>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Checks that a change of the mailbox wakes a waiting future and makes it ready.
fn wakes<T>(waits: impl Future<Output = T>, change: impl FnOnce()) -> T {
    let count = Arc::<CountingWaker>::default();
    let waker = count.clone().into();
    let mut cx = Context::from_waker(&waker);
    let mut waits = pin!(waits);
    assert!(waits.as_mut().poll(&mut cx).is_pending());
    change();
    assert_eq!(count.0.load(Ordering::Relaxed), 1, "it is not woken");
    let Poll::Ready(found) = waits.as_mut().poll(&mut cx) else { panic!("it is woken for nothing") };
    found
}

#[test]
fn whoever_waits_is_woken_by_what_it_waits_for() {
    let mailbox = Mailbox::new("s".into());
    let ask = || drop(mailbox.ask(Prompt::default()).unwrap());
    let cancel = || assert!(mailbox.cancel("enough".into()));

    assert!(wakes(mailbox.next(), ask).is_some());
    assert_eq!(&*wakes(mailbox.stopped(), cancel), "enough");
    wakes(mailbox.turn_over(), || drop(mailbox.ended()));
    ask();
    let mut next = pin!(mailbox.next());
    assert!(next.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready());
    assert_eq!(mailbox.asked(), QuestionFate::Asked);
    assert!(wakes(mailbox.answer(), ask).is_some());
    assert_eq!(mailbox.asked(), QuestionFate::Asked);
    assert!(wakes(mailbox.answer(), cancel).is_none());
    wakes(mailbox.idle(), || drop(mailbox.ended()));
    assert!(wakes(mailbox.next(), || mailbox.close()).is_none());
    wakes(mailbox.is_over(), || mailbox.over(crate::host::HostError::Stopping));
}

#[test]
fn who_does_not_wait_any_more_for_what_is_handed_over_is_forgotten() {
    let mailbox = Mailbox::new("s".into());
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut stays = pin!(mailbox.hand_over());
    assert!(stays.as_mut().poll(&mut cx).is_pending());
    for _ in 0..100 {
        assert!(pin!(mailbox.hand_over()).poll(&mut cx).is_pending());
    }
    assert!(mailbox.lock().successors.len() <= 2, "the one who stays, and the last");
    let mut many: Vec<_> = (0..2 * super::SUCCESSORS).map(|_| Box::pin(mailbox.hand_over())).collect();
    let refused = many.iter_mut().filter_map(|asks| match asks.as_mut().poll(&mut cx) {
        Poll::Ready(inherited) => Some(inherited.len()),
        Poll::Pending => None,
    });
    assert_eq!(
        refused.collect::<Vec<_>>(),
        vec![0; super::SUCCESSORS + 1],
        "all beyond the bound, with the one who stays"
    );
}
