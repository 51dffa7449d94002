//! Transitions as a property: random commands on one task against a small model, and the replay of their changes.

use hub::broker::{BrokerOptions, Command, ErrorKind};
use hub::proto::a2a::TaskState;
use hub::proto::worker::RejectionReason;
use proptest::prelude::*;

use crate::common::{Bench, message};

#[derive(Debug, Clone, Copy)]
enum Step {
    Report(TaskState),
    Reject,
    Cancel,
    Claim,
    Expire,
}

/// The table of the reference, and no more.
#[derive(Debug)]
struct Model {
    state: TaskState,
    held: bool,
    leased: bool,
    attempt: u32,
}

impl Model {
    fn is_final(&self) -> bool {
        use TaskState::{Cancelled, Completed, Failed, Rejected};
        [Completed, Failed, Cancelled, Rejected].contains(&self.state)
    }

    /// Returns whether the step is allowed, after it.
    fn take(&mut self, step: Step) -> bool {
        use TaskState::{AuthRequired, Cancelled, Completed, Failed, InputRequired, Rejected, Submitted, Working};
        match step {
            Step::Report(to) => {
                let allowed: &[TaskState] = match self.state {
                    Submitted => &[Working, Rejected],
                    Working => &[Working, Completed, Failed, Cancelled, InputRequired, AuthRequired],
                    InputRequired | AuthRequired => &[Working, Failed, Cancelled],
                    _ => &[],
                };
                if !allowed.contains(&to) {
                    return false;
                }
                if self.state == Submitted && to == Working && !self.held {
                    (self.held, self.leased) = (true, false);
                    self.attempt += 1;
                }
                self.state = to;
            }
            Step::Reject if self.state == Submitted => self.state = Rejected,
            Step::Cancel if !self.is_final() => self.state = Cancelled,
            Step::Claim if self.state == Submitted && !self.held => {
                (self.held, self.leased) = (true, true);
                self.attempt += 1;
            }
            Step::Expire => {
                let has_timer = self.leased && [Submitted, Working].contains(&self.state);
                if self.held && has_timer && !self.is_final() {
                    (self.held, self.leased) = (false, false);
                    self.state = if self.attempt >= 3 { Failed } else { Submitted };
                }
            }
            _ => return false,
        }
        if self.is_final() {
            (self.held, self.leased) = (false, false);
        }
        true
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let state = (1..=8).prop_map(|number| TaskState::try_from(number).unwrap());
    let step = prop_oneof![
        8 => state.prop_map(Step::Report),
        1 => Just(Step::Reject),
        1 => Just(Step::Cancel),
        4 => Just(Step::Claim),
        2 => Just(Step::Expire),
    ];
    proptest::collection::vec(step, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn transitions_follow_the_model(steps in steps()) {
        let mut bench = Bench::new(BrokerOptions::default());
        bench.register("w", &[]);
        bench.send("t", "w");
        let mut model = Model { state: TaskState::Submitted, held: false, leased: false, attempt: 0 };
        for step in steps {
            let before = model.state;
            let allowed = model.take(step);
            match step {
                Step::Report(to) => {
                    let result = bench.status("w", "t", to);
                    prop_assert_eq!(result.is_ok(), allowed, "{:?} from {:?}: {:?}", step, before, result);
                    if let Err(error) = result {
                        prop_assert_eq!(error.kind, ErrorKind::FailedPrecondition);
                        for state in [before, to] {
                            let name = state.as_str_name().trim_start_matches("TASK_STATE_").to_owned();
                            prop_assert!(error.message.contains(&name), "{} lacks {}", error.message, name);
                        }
                    }
                }
                Step::Reject => {
                    let result = bench.reject("w", "t", RejectionReason::CapacityExceeded);
                    prop_assert_eq!(result.is_ok(), allowed);
                }
                Step::Cancel => {
                    let result = bench.run(Command::Cancel { task_id: "t".to_owned(), reason: String::new() });
                    prop_assert_eq!(result.is_ok(), allowed);
                }
                Step::Claim => prop_assert_eq!(bench.claim("w", "").is_some(), allowed),
                Step::Expire => bench.advance(30_000),
            }
            let entry = bench.broker.task("t").unwrap();
            prop_assert_eq!((entry.state(), entry.worker.is_some(), entry.attempt), (model.state, model.held, model.attempt));
        }
        same(&bench);
    }

    #[test]
    fn a_replay_results_in_the_same_state(choices in proptest::collection::vec((0_u8..12, 0_u8..4, 0_u8..4), 1..120)) {
        let mut bench = Bench::new(BrokerOptions { max_finished: 3, ..BrokerOptions::default() });
        for (choice, agent, task) in choices {
            let (agent, task) = (format!("w{agent}"), format!("t{task}"));
            // Refused commands are part of the test.
            match choice {
                0 => bench.register(&agent, &["q"]),
                1 => { bench.run(Command::Unregister { agent_id: agent }).ok(); }
                2 => { bench.publish(message(&task, "boss", &agent)).ok(); }
                3 => { bench.publish(crate::common::PublishExt::with(message(&task, "boss", ""), "queue", "q")).ok(); }
                4 => { bench.publish(message(&task, "boss", "")).ok(); }
                5 => { bench.try_claim(&agent, "q").ok(); }
                6 => { bench.try_claim(&agent, "").ok(); }
                7 => { bench.status(&agent, &task, TaskState::Working).ok(); }
                8 => { bench.status(&agent, &task, TaskState::Completed).ok(); }
                9 => { bench.reject(&agent, &task, RejectionReason::CapacityExceeded).ok(); }
                10 => { bench.run(Command::Cancel { task_id: task, reason: String::new() }).ok(); }
                _ => bench.advance(10_000),
            }
        }
        same(&bench);
    }
}

fn same(bench: &Bench) {
    let replayed = bench.replayed();
    let tasks = |broker: &hub::broker::Broker| broker.tasks().map(|entry| format!("{entry:?}")).collect::<Vec<_>>();
    // The times of redelivery depend on open subscriptions; without any they move by ticks.
    let without_timers = |texts: Vec<String>| {
        texts.into_iter().map(|text| text.split("timers:").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(without_timers(tasks(&replayed)), without_timers(tasks(&bench.broker)));
    assert!(replayed.agents().eq(bench.broker.agents()));
    assert_eq!(replayed.last_number(), bench.broker.last_number());
    let (after, before) = (replayed.stats(), bench.broker.stats());
    // The counts are kept up to date; they must be those of the tasks.
    let mut counted = [0; 9];
    bench.broker.tasks().for_each(|entry| counted[entry.state() as usize] += 1);
    assert_eq!(before.tasks, counted);
    assert_eq!(after.tasks, counted);
    assert_eq!(before.held, bench.broker.tasks().filter(|entry| entry.worker.is_some()).count());
    assert_eq!(before.leases, bench.broker.tasks().filter(|entry| entry.lease_until_ms.is_some()).count());
    assert_eq!((after.queues, after.receipts, after.held), (before.queues, before.receipts, before.held));
}
