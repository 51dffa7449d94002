//! The variables that are in scope.

/// A variable.
pub(super) struct Variable {
    pub(super) name: String,
    /// Its name in the language's own tree, if its binding never changes.
    pub(super) constant: Option<String>,
}

/// Blocks in one another, innermost last. A function sees its own only.
#[derive(Default)]
pub(super) struct Scopes {
    functions: Vec<Vec<Vec<Variable>>>,
}

impl Scopes {
    pub(super) fn begin_function(&mut self) {
        self.functions.push(vec![Vec::new()]);
    }

    pub(super) fn end_function(&mut self) {
        self.functions.pop();
    }

    pub(super) fn begin_block(&mut self) {
        if let Some(blocks) = self.functions.last_mut() {
            blocks.push(Vec::new());
        }
    }

    pub(super) fn end_block(&mut self) {
        if let Some(blocks) = self.functions.last_mut() {
            blocks.pop();
        }
    }

    /// Binds a variable in the innermost block.
    pub(super) fn bind(&mut self, name: &str, constant: Option<String>) {
        if let Some(block) = self.functions.last_mut().and_then(|blocks| blocks.last_mut()) {
            block.push(Variable { name: name.to_owned(), constant });
        }
    }

    /// The variable that a name means.
    pub(super) fn find(&self, name: &str) -> Option<&Variable> {
        self.functions.last()?.iter().rev().find_map(|block| block.iter().rev().find(|variable| variable.name == name))
    }
}
