//! The statements of functions and closures. Rhai's visitor yields them without their owner; their
//! positions identify it.

use rhai::{AST, ASTNode, Position, Stmt};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The function's name and how many parameters it has.
type FunctionKey = (String, usize);

/// Bodies by function.
pub(super) struct Bodies(BTreeMap<FunctionKey, Rc<[Stmt]>>);

impl Bodies {
    pub(super) fn of(ast: &AST) -> Self {
        let functions: Vec<(FunctionKey, Position, Position)> = ast
            .iter_fn_def()
            .map(|def| ((def.name.to_string(), def.params.len()), def.body.start_position(), def.body.end_position()))
            .collect();
        let mut skipped = ast.statements().len();
        let mut found: BTreeMap<FunctionKey, Vec<Stmt>> = BTreeMap::new();
        ast.walk(&mut |path: &[ASTNode<'_>]| {
            let [ASTNode::Stmt(stmt)] = path else { return true };
            if skipped > 0 {
                skipped -= 1;
                return true;
            }
            let at = stmt.position();
            // A body without braces is one statement, and begins with it.
            let holds =
                |start: Position, end: Position| if end.is_none() { start == at } else { start <= at && at <= end };
            let around = functions.iter().filter(|(_, start, end)| holds(*start, *end));
            if let Some((key, ..)) = around.max_by_key(|(_, start, end)| (*start, end.is_none())) {
                found.entry(key.clone()).or_default().push((*stmt).clone());
            }
            true
        });
        Self(found.into_iter().map(|(key, stmts)| (key, stmts.into())).collect())
    }

    /// The statements of a function.
    pub(super) fn get(&self, name: &str, params: usize) -> Rc<[Stmt]> {
        self.0.get(&(name.to_owned(), params)).cloned().unwrap_or_default()
    }
}
