//! The programs of the peers' bench: harn prints what the bench expects of every language.

#[path = "../../benches/peers/inputs.rs"]
mod inputs;
#[path = "../../benches/peers/provider/mod.rs"]
mod provider;
#[path = "../../benches/peers/rows.rs"]
mod rows;

use crate::harn::harn;

#[test]
fn every_program_gives_the_answer_that_the_bench_expects() {
    for row in rows::ROWS {
        let program = format!("benches/peers/programs/{}.harn", row.file);
        let input = row.input.map(|input| input.path().display().to_string());
        let args: Vec<String> = ["run".to_owned(), program, "--".to_owned()].into_iter().chain(input).collect();
        let outcome = harn(&args);
        assert_eq!((outcome.code, outcome.out.trim()), (Some(0), row.check), "{}: {}", row.title, outcome.err);
    }
}

#[test]
fn a_provider_gives_the_same_reminder_in_each_language() {
    let wanted = provider::GivenReminder {
        body: "The context is 87 % full; often called: read_file grep run_tests git_diff.".into(),
        tags: vec!["pressure".into()],
        ttl_turns: 1,
        dedupe_key: "pressure-session-17".into(),
    };
    let half = provider::Context { tokens: 100_000, ..provider::Context::full() };
    for provider in provider::providers(&provider::Context::full()).unwrap() {
        // Again and again, as the bench does.
        for _ in 0..3 {
            assert_eq!(provider.evaluate().unwrap().as_ref(), Some(&wanted), "{}", provider.name());
        }
    }
    for provider in provider::providers(&half).unwrap() {
        assert_eq!(provider.evaluate().unwrap(), None, "{}", provider.name());
    }
}
