//! Pipelines that extend others.

use super::run;

#[test]
fn functions_of_a_base_are_available_before_its_first_statement() {
    let base = "pipeline base(task) {\n  fn helper() { \"h\" }\n  println(helper())\n}\n";
    let direct = format!("pipeline default(task) extends base {{ println(\"own ${{helper()}}\") }}\n{base}");
    assert_eq!(run(&direct), "own h\nh\n");
    let closure =
        format!("pipeline default(task) extends base {{\n  let f = {{ -> helper() }}\n  println(f())\n}}\n{base}");
    assert_eq!(run(&closure), "h\nh\n");
}

#[test]
fn a_second_default_pipeline_is_refused() {
    let shown = run("pipeline default() { println(1) }\npipeline default() { println(2) }\n");
    assert!(shown.contains("duplicate pipeline `default` at 2:10"), "{shown}");
}

#[test]
fn functions_of_all_levels_capture_parameters_and_one_another() {
    let script = "pipeline base(task) {\n  fn helper() { \"h\" }\n  fn with_task() { \"${helper()} ${task}\" }\n  println(helper())\n}\n\
                  pipeline middle(task) extends base {\n  fn twice() { helper() + helper() }\n  println(\"${twice()} ${with_task()}\")\n}\n\
                  pipeline default() extends middle {\n  println(\"${twice()} ${helper()}\")\n}\n\
                  middle(\"t\")\n";
    // The call at the top, then the first pipeline.
    assert_eq!(run(script), "hh h t\nh\nh\n");
}
