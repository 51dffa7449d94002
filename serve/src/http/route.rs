//! [`RouteTable`]: the paths and methods of a server. Statuses 404 and 405 follow from it.

use axum::http::Method;

use crate::probe::{HEALTH, METRICS, READY};

/// The methods of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteMethods {
    /// `GET` and `HEAD`.
    Read,
    Get,
    Post,
    Delete,
    /// All methods: the endpoint checks them.
    Any,
}

impl RouteMethods {
    fn has(self, method: &Method) -> bool {
        match self {
            RouteMethods::Read => matches!(*method, Method::GET | Method::HEAD),
            RouteMethods::Get => *method == Method::GET,
            RouteMethods::Post => *method == Method::POST,
            RouteMethods::Delete => *method == Method::DELETE,
            RouteMethods::Any => true,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            RouteMethods::Read => "GET, HEAD",
            RouteMethods::Get => "GET",
            RouteMethods::Post => "POST",
            RouteMethods::Delete => "DELETE",
            RouteMethods::Any => "*",
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route<E> {
    /// The path. One that ends with `/*` stands for all paths below it.
    path: &'static str,
    methods: RouteMethods,
    /// Whether callers need not be known.
    pub(super) is_public: bool,
    pub(super) endpoint: E,
}

impl<E> Route<E> {
    /// Creates a row for known callers.
    pub(crate) const fn new(path: &'static str, methods: RouteMethods, endpoint: E) -> Route<E> {
        Route { path, methods, is_public: false, endpoint }
    }

    /// Creates a row for all callers, or for an endpoint that checks them itself.
    pub(crate) const fn public(path: &'static str, methods: RouteMethods, endpoint: E) -> Route<E> {
        Route { path, methods, is_public: true, endpoint }
    }

    fn is_at(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(above) => path.starts_with(above),
            None => path == self.path,
        }
    }
}

/// An endpoint of a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum RouteTarget<E> {
    Health,
    Ready,
    Metrics,
    /// One of the protocol.
    Own(E),
}

/// The paths and methods of a server, with those for operators.
pub(super) struct RouteTable<E> {
    /// The rows, with the numbers of their labels.
    rows: Vec<(Route<RouteTarget<E>>, usize)>,
    /// The paths, each once.
    labels: Vec<&'static str>,
}

/// The row of a request.
pub(super) enum RouteMatch<'a, E> {
    Found(&'a Route<RouteTarget<E>>),
    /// The path has other methods.
    Method(String),
    Unknown,
}

impl<E: Copy> RouteTable<E> {
    pub(super) fn new(own: &[Route<E>]) -> RouteTable<E> {
        let own = own.iter().map(|&Route { path, methods, is_public, endpoint }| {
            let endpoint = RouteTarget::Own(endpoint);
            Route { path, methods, is_public, endpoint }
        });
        let of_operators = [
            Route::public(HEALTH, RouteMethods::Read, RouteTarget::Health),
            Route::public(READY, RouteMethods::Read, RouteTarget::Ready),
            Route::new(METRICS, RouteMethods::Read, RouteTarget::Metrics),
        ];
        let mut table = RouteTable { rows: Vec::new(), labels: Vec::new() };
        for row in own.chain(of_operators) {
            let known = table.labels.iter().position(|label| *label == row.path);
            let label = known.unwrap_or_else(|| {
                table.labels.push(row.path);
                table.labels.len() - 1
            });
            table.rows.push((row, label));
        }
        table
    }

    /// Returns the row of a request, and the number of its label.
    pub(super) fn find(&self, path: &str, method: &Method) -> (RouteMatch<'_, E>, usize) {
        let Some(&(_, label)) = self.rows.iter().find(|(row, _)| row.is_at(path)) else {
            return (RouteMatch::Unknown, self.labels.len());
        };
        let at_path = || self.rows.iter().filter(|(_, own)| *own == label).map(|(row, _)| row);
        if let Some(row) = at_path().find(|row| row.methods.has(method)) {
            return (RouteMatch::Found(row), label);
        }
        let allowed = at_path().map(|row| row.methods.as_str()).collect::<Vec<_>>().join(", ");
        (RouteMatch::Method(allowed), label)
    }

    /// Returns the labels: all paths. Other paths have the number after the last one.
    pub(super) fn labels(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.labels.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_its_methods_and_other_methods_learn_them() {
        let table = RouteTable::new(&[
            Route::new("/", RouteMethods::Post, 1),
            Route::new("/", RouteMethods::Delete, 2),
            Route::public("/tasks/*", RouteMethods::Any, 3),
        ]);
        let labels: Vec<_> = table.labels().chain(["other"]).collect();
        let find = |method: Method, path: &str| match table.find(path, &method) {
            (RouteMatch::Found(Route { endpoint: RouteTarget::Own(number), .. }), at) => {
                format!("{number} {}", labels[at])
            }
            (RouteMatch::Found(row), at) => format!("{:?} {}", row.endpoint, labels[at]),
            (RouteMatch::Method(allowed), at) => format!("405 {allowed} {}", labels[at]),
            (RouteMatch::Unknown, at) => format!("404 {}", labels[at]),
        };
        assert_eq!(find(Method::POST, "/"), "1 /");
        assert_eq!(find(Method::DELETE, "/"), "2 /");
        assert_eq!(find(Method::GET, "/"), "405 POST, DELETE /");
        assert_eq!(find(Method::PUT, "/tasks/a/b"), "3 /tasks/*");
        assert_eq!(find(Method::GET, "/tasks"), "404 other");
        assert_eq!(find(Method::HEAD, "/metrics"), "Metrics /metrics");
        assert_eq!(find(Method::POST, "/readyz"), "405 GET, HEAD /readyz");
    }
}
