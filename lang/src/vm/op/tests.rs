use super::*;

/// The operands of an instruction, by name.
fn operands(op: Op) -> Vec<(&'static str, Operand)> {
    let mut found = Vec::new();
    let _ = op.each_operand::<()>(|name, operand| {
        found.push((name, operand));
        Ok(())
    });
    found
}

/// Counts stand in the window whose length they are.
#[test]
fn the_text_of_an_instruction_shows_each_of_its_operands() {
    for op in Op::all() {
        let found = operands(op);
        for (name, operand) in &found {
            // Counts are seen at their registers, and tags follow from the type of the place.
            let is_hidden = matches!(operand, Operand::Count(_) | Operand::Given(_) | Operand::Tags(_));
            assert_eq!(op.text().contains(&format!("{{{name}}}")), !is_hidden, "{name} of {}", op.name());
        }
        for written in op.text().split('{').skip(1) {
            let name = written.split_once('}').expect("a closing brace").0;
            assert!(found.iter().any(|(known, _)| *known == name), "{} shows {name}", op.name());
        }
    }
}

#[test]
fn what_jumps_says_so_and_how_far() {
    for mut op in Op::all() {
        let jumps = |operand: &Operand| matches!(operand, Operand::Forward(_) | Operand::Back(_) | Operand::Near(_));
        let (in_itself, in_a_table) = operands(op).iter().fold((0, 0), |(a, b), (_, o)| {
            (a + usize::from(jumps(o)), b + usize::from(matches!(o, Operand::Place(_) | Operand::Skip(_))))
        });
        let expected = matches!(op.effect(), Effect::Branches | Effect::Jumps);
        assert_eq!(in_itself + in_a_table, usize::from(expected), "{}", op.name());
        assert_eq!(op.distance().is_some(), in_itself == 1, "{}", op.name());
    }
}

#[test]
fn a_distance_is_changed_where_it_stands() {
    let mut op = Op::UnlessLt { a: 1, b: 2, by: 0 };
    match op.distance() {
        Some(Distance::Near(by)) => *by = 7,
        _ => panic!("a short jump"),
    }
    assert!(matches!(op, Op::UnlessLt { a: 1, b: 2, by: 7 }));
    let mut op = Op::Loop { by: 0 };
    match op.distance() {
        Some(Distance::Long(by)) => *by = -70_000,
        _ => panic!("a long jump"),
    }
    assert!(matches!(op, Op::Loop { by: -70_000 }));
}
