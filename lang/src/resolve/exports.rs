//! Exports of a resolved file.

use super::Resolution;
use crate::module::{Export, Exports, FileId, Origin, Private};
use crate::source::SourceRef;
use std::collections::BTreeMap;

impl Resolution {
    /// Returns what the file offers: its `pub` names, or all that it binds itself where none is `pub`.
    #[must_use]
    pub(crate) fn exports(&self, file: FileId, source: &SourceRef, incomplete: bool) -> Exports {
        let top = || (0_u32..).zip(&self.bindings).filter(|(_, b)| b.top && b.slot.is_none());
        let chosen = top().any(|(_, b)| b.public);
        let (offered, private) = (BTreeMap::new(), BTreeMap::new());
        let mut exports = Exports { source: source.clone(), names: offered, private, incomplete };
        for (id, binding) in top() {
            let name = binding.name.clone();
            if if chosen { binding.public } else { !binding.imported() } {
                let origin = binding.origin.unwrap_or(Origin { file, binding: id });
                let (kind, builtin, def) = (binding.kind, binding.builtin, binding.def.clone());
                let takes = binding.takes.clone();
                exports.names.insert(name, Export { origin, kind, builtin, def, takes });
            } else {
                exports.private.insert(name, Private { span: binding.span, kind: binding.kind });
            }
        }
        exports
    }
}
