//! `workspace/symbol`: the declarations of all scripts below the folders of the client.

use super::document_symbol::{Declaration, declarations};
use crate::error::LspError;
use crate::workspace::Snapshot;
use lsp_types::{Location, OneOf, WorkspaceSymbol, WorkspaceSymbolParams, WorkspaceSymbolResponse};

/// The most symbols of an answer. The client asks again with more letters.
const MOST: usize = 1000;

pub(super) fn workspace_symbols(
    snapshot: &Snapshot<'_>,
    params: &WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>, LspError> {
    let mut found = Vec::new();
    for id in snapshot.scripts() {
        let Some(file) = snapshot.tree(id) else { continue };
        let mut add = |declaration: &Declaration, container: Option<&str>| {
            if let Some(rank) = rank(&params.query, &declaration.name) {
                let location = Location { uri: file.uri.clone(), range: file.text.range(declaration.name_span) };
                let symbol = WorkspaceSymbol {
                    name: declaration.name.clone(),
                    kind: declaration.kind,
                    tags: None,
                    container_name: container.map(str::to_owned),
                    location: OneOf::Left(location),
                    data: None,
                };
                found.push((rank, symbol));
            }
        };
        for declaration in declarations(&file.parsed.module) {
            add(&declaration, None);
            // Members and variants; what is inside of functions is not searched.
            declaration.children.iter().for_each(|child| add(child, Some(&declaration.name)));
        }
    }
    // The order of files and of the text stays among symbols that fit as well.
    found.sort_by_key(|(rank, _)| *rank);
    found.truncate(MOST);
    Ok(Some(WorkspaceSymbolResponse::Nested(found.into_iter().map(|(_, symbol)| symbol).collect())))
}

/// The fit of a name: it is the query, begins with it, or contains its letters in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Same,
    Prefix,
    Contains,
    Letters,
}

fn rank(query: &str, name: &str) -> Option<Rank> {
    let (query, name) = (query.to_lowercase(), name.to_lowercase());
    let mut letters = name.chars();
    if name == query {
        Some(Rank::Same)
    } else if name.starts_with(&query) {
        Some(Rank::Prefix)
    } else if name.contains(&query) {
        Some(Rank::Contains)
    } else {
        query.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(Rank::Letters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_by_their_letters() {
        assert_eq!(rank("area", "Area"), Some(Rank::Same));
        assert_eq!(rank("ar", "area"), Some(Rank::Prefix));
        assert_eq!(rank("area", "total_area"), Some(Rank::Contains));
        assert_eq!(rank("tar", "total_area"), Some(Rank::Letters));
        assert_eq!(rank("", "x"), Some(Rank::Prefix));
        assert_eq!(rank("aera", "area"), None);
    }
}
