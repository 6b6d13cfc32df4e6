//! Operations as a tree of namespaces, after the words of their ids.

use std::collections::BTreeMap;

use crate::clients::document::ClientOperation;
use crate::clients::names::pascal;

/// A namespace: a class in the clients.
#[derive(Debug)]
pub struct Namespace<'a> {
    /// The words of the ids of its operations, without the last.
    pub words: Vec<String>,
    pub operations: Vec<&'a ClientOperation>,
    pub children: Vec<Namespace<'a>>,
}

impl<'a> Namespace<'a> {
    /// The root of all operations, whose children are in the order of their names.
    pub fn root(operations: &'a [ClientOperation]) -> Namespace<'a> {
        let all: Vec<&ClientOperation> = operations.iter().collect();
        Namespace::gather(Vec::new(), &all)
    }

    fn gather(words: Vec<String>, all: &[&'a ClientOperation]) -> Namespace<'a> {
        let depth = words.len();
        let mut own = Vec::new();
        let mut inner: BTreeMap<&str, Vec<&'a ClientOperation>> = BTreeMap::new();
        for operation in all {
            match operation.namespace().get(depth) {
                Some(word) => inner.entry(word).or_default().push(*operation),
                None => own.push(*operation),
            }
        }
        let children = inner.into_iter().map(|(word, operations)| {
            let words = words.iter().cloned().chain([word.to_owned()]).collect();
            Namespace::gather(words, &operations)
        });
        Namespace { children: children.collect(), operations: own, words }
    }

    /// The name of its class.
    pub fn class(&self) -> String {
        pascal(&self.words)
    }

    /// The name of its field in the namespace above.
    pub fn field(&self) -> &str {
        self.words.last().map_or("", String::as_str)
    }

    /// All namespaces below this one, each before its children.
    pub fn descendants(&self) -> Vec<&Namespace<'a>> {
        self.children.iter().flat_map(|child| std::iter::once(child).chain(child.descendants())).collect()
    }

    /// The operation of this name.
    pub fn operation(&self, name: &str) -> Option<&'a ClientOperation> {
        self.operations.iter().find(|operation| operation.name() == name).copied()
    }

    /// `get` and `update` of one resource whose changes can depend on its version.
    pub fn versioned(&self) -> Option<(&'a ClientOperation, &'a ClientOperation)> {
        let (get, update) = self.operation("get").zip(self.operation("update"))?;
        (get.path == update.path && update.takes_etag && !get.needs_query() && !update.needs_query())
            .then_some((get, update))
    }
}
