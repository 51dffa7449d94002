//! Scripts that ask the user, and refuse.

use crate::host::testing::{block_on_runtime, host, host_of, named, says, served};
use crate::host::{HostError, PromptOutcome, SessionEvent};

#[test]
fn the_next_prompt_is_the_answer_and_goes_on_in_the_same_call() {
    let text = "var calls = 0\n\
                pipeline default(task) {\n\
                calls = calls + 1\n\
                let name = task.ask(\"Who?\")\n\
                let again = task.ask(\"Sure, ${name}?\")\n\
                return \"${calls} ${name} ${again}\" }";
    let text = text.replace("default(task)", "default()");
    let (host, watcher) = host(&text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked("Who?".into()));
        assert!(!session.is_busy());
        assert_eq!(session.prompt(says("me")).await.unwrap().stop, PromptOutcome::Asked("Sure, me?".into()));
        assert_eq!(session.prompt(says("yes")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "1 me yes");
        let asked = watcher.all().into_iter().filter(|(_, event)| matches!(event, SessionEvent::Question { .. }));
        assert_eq!(asked.count(), 2);
    });
}

#[test]
fn a_question_that_waits_can_be_cancelled_and_the_next_prompt_is_one_of_its_own() {
    let text = "var ended = 0\n\
                pipeline default() { try { task.ask(\"Well?\") } finally { ended = ended + 1 }; return \"${ended}\" }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked("Well?".into()));
        assert!(session.cancel("never mind"));
        while session.cancel("never mind") {
            tokio::task::yield_now().await;
        }
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked("Well?".into()));
        assert_eq!(session.prompt(says("fine")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "2");
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked("Well?".into()));
        host.close("s").await.unwrap();
    });
}

#[test]
fn a_prompt_right_behind_a_cancelled_question_is_no_answer_to_it() {
    let text = "fn well() { return \"<\" + task.ask(\"Well?\") + \">\" }\n\
                pipeline default(task) { if task == \"ask\" { return well() }; return task }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        for n in 0..20 {
            assert_eq!(session.prompt(says("ask")).await.unwrap().stop, PromptOutcome::Asked("Well?".into()));
            assert!(session.cancel("never mind"));
            let stop = session.prompt(says(&format!("{n} "))).await.unwrap().stop;
            assert_eq!(stop, PromptOutcome::Done, "{n}");
        }
        assert_eq!(watcher.text("s"), (0..20).map(|n| format!("{n} ")).collect::<String>());
        assert!(!session.cancel("nothing is at hand"));
    });
}

#[test]
fn what_is_asked_while_a_cancelled_question_is_cleaned_up_nobody_answers() {
    let text = "var said = []\n\
                fn ask(question) { return task.ask(question) ?? \"nobody\" }\n\
                pipeline default(task) {\n\
                if task == \"said\" { return said.join(\" \") }\n\
                try { ask(\"Well?\") } finally { said = said + [ask(\"Really?\")] } }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked("Well?".into()));
        assert!(session.cancel("never mind"));
        session.idle().await;
        assert!(!session.cancel("nothing is at hand"));
        assert_eq!(session.prompt(says("said")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "nobody");
    });
}

#[test]
fn what_only_asks_while_it_cleans_up_is_given_up_after_the_grace() {
    let text = "fn ask(question) { return task.ask(question) }\n\
                pipeline default(task) { if task == \"on\" { return task }\n\
                try { ask(\"Well?\") } finally { while true { ask(\"Really?\") } } }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked("Well?".into()));
        assert!(session.cancel("never mind"));
        assert_eq!(session.prompt(says("on")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "on");
    });
}

#[test]
fn questions_side_by_side_are_asked_one_after_the_other() {
    let text = "pipeline default() { return (parallel each [\"a\", \"b\"] { x -> x + task.ask(x) }).join(\" \") }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked("a".into()));
        assert_eq!(session.prompt(says("1")).await.unwrap().stop, PromptOutcome::Asked("b".into()));
        assert_eq!(session.prompt(says("2")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "a1 b2");
    });
}

#[test]
fn who_refuses_ends_the_prompt_past_every_catch() {
    let text = "pipeline default() { try { task.reject(\"not my field\") } catch e { return \"caught\" } }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        for _ in 0..2 {
            assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Refused("not my field".into()));
        }
        assert_eq!(watcher.text("s"), "");
    });
}

#[test]
fn the_time_that_the_user_thinks_is_not_the_prompts() {
    let mut served = served("a.harn", "pipeline default() { task.ask(\"Well?\"); return \"ok\" }", 1, None);
    served.run = std::sync::Arc::new(|| stdlib::RunOptions {
        limits: stdlib::limits::RunLimits { time: Some(std::time::Duration::from_secs(1)), ..Default::default() },
        ..Default::default()
    });
    let (host, _) = host_of(served);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        session.prompt(says("go")).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(1_200)).await;
        assert_eq!(session.prompt(says("fine")).await.unwrap().stop, PromptOutcome::Done);
    });
}

#[test]
fn a_question_that_is_answered_too_late_is_no_prompt() {
    let (host, watcher) = host("pipeline default(task) { task.ask(\"which?\"); return \"never\" }", 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert!(matches!(session.answer(says("early")).await, Err(HostError::NotAsking(_))));
        assert!(matches!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked(_)));
        assert!(session.cancel("enough"));
        assert_eq!(session.unheard().await.unwrap().stop, PromptOutcome::Cancelled);
        assert!(matches!(session.answer(says("late")).await, Err(HostError::NotAsking(_))));
        assert_eq!(watcher.text("s"), "");
        // The next prompt works as usual, and its question is answered.
        assert!(matches!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Asked(_)));
        assert_eq!(session.answer(says("this")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "never");
    });
}
