//! The table of all operations, and the lookup of a request's row.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use http::Method;

use crate::api::operation::{Operation, Routes};

/// The table of operations, cheap to clone.
#[derive(Clone)]
pub struct Operations(Arc<Table>);

struct Table {
    rows: Vec<Arc<Operation>>,
    by_path: HashMap<&'static str, Vec<Arc<Operation>>>,
}

impl Operations {
    pub fn new(rows: Vec<Operation>) -> Self {
        let rows: Vec<Arc<Operation>> = rows.into_iter().map(Arc::new).collect();
        let mut by_path: HashMap<_, Vec<_>> = HashMap::new();
        for row in &rows {
            by_path.entry(row.path).or_default().push(row.clone());
        }
        Operations(Arc::new(Table { rows, by_path }))
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.0.rows.iter().map(|o| &**o)
    }

    /// The row of a method and a path with its `{parameters}`. HEAD is answered by GET's row.
    pub fn find(&self, method: &Method, path: &str) -> Option<Arc<Operation>> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.0.by_path.get(path)?.iter().find(|o| o.method == *method).cloned()
    }

    /// The methods of a path with its `{parameters}`, including HEAD for GET. None: there is no such path.
    pub fn methods(&self, path: &str) -> Option<Vec<Method>> {
        let rows = self.0.by_path.get(path)?.iter();
        let with_head = |method: &Method| [method.clone()].into_iter().chain(head_of(method));
        Some(rows.flat_map(|row| with_head(&row.method)).collect())
    }

    /// The row of a request that the router has matched; none for a fallback.
    pub fn find_matched(&self, request: &Request) -> Option<Arc<Operation>> {
        let path = request.extensions().get::<MatchedPath>()?;
        self.find(request.method(), path.as_str())
    }
}

fn head_of(method: &Method) -> Option<Method> {
    (*method == Method::GET).then_some(Method::HEAD)
}

/// Returns the router of these rows, and the table that finds the row of a request. Panics if two rows have the same method and path.
pub fn router<S: Clone + Send + Sync + 'static>(routes: Routes<S>) -> (Router<S>, Operations) {
    let table = Operations::new(routes.operations());
    let router = routes.rows.into_iter().fold(Router::new(), |r, (o, route)| r.route(o.path, route));
    (router, table)
}
