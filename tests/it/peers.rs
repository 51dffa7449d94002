//! The programs of the peers' bench: harn prints what the bench expects of every language.

#[path = "../../benches/peers/inputs.rs"]
mod inputs;
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
