//! The operations of a surface, each called while a fault is injected into every request of the connector.

use model::wire::{ChangesRequest, Mutated, Source, Sources};
use runtime::{Code, Error, Verb};

use crate::bench::{Bench, Outcome};
use crate::caller::{Caller, Page};
use crate::line::{Exchange, Fault};
use crate::surface_bench::{Collection, ItemChange, ItemKind, optional, written_source};

/// An operation that asks the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Changes,
    Collections,
    Get,
    Create,
    Update,
    Delete,
}

impl Operation {
    /// All of them; the deletion comes last.
    pub const ALL: [Operation; 6] = [
        Operation::Changes,
        Operation::Collections,
        Operation::Get,
        Operation::Create,
        Operation::Update,
        Operation::Delete,
    ];

    /// The operation as the surface names it.
    pub fn name(self, kind: &ItemKind) -> &'static str {
        match self {
            Operation::Changes => kind.changes_op,
            Operation::Collections => kind.list_op,
            Operation::Get => kind.get_op,
            Operation::Create => kind.create_op,
            Operation::Update => kind.update_op,
            Operation::Delete => kind.delete_op,
        }
    }
}

/// The collection and the item that the operations of a case are about.
pub struct Stage {
    pub kind: &'static ItemKind,
    pub case: &'static str,
    pub collection: Collection,
    /// None: the connector cannot make items, and none exist.
    pub source: Option<Source>,
}

/// The end of an operation whose requests met a fault.
pub struct FaultReply {
    pub operation: Operation,
    pub result: Result<Vec<Source>, Error>,
    /// The name that the operation wrote.
    pub label: String,
    pub exchanges: Vec<Exchange>,
}

impl Stage {
    /// The label of a trial of this case.
    pub fn label(&self, trial: &str) -> String {
        self.kind.label(&format!("{}-{trial}", self.case))
    }

    /// Calls an operation, and returns the sources of its answer; none if there is no item for it.
    pub async fn call(
        &self,
        calls: &mut Caller,
        operation: Operation,
        trial: &str,
    ) -> Option<Result<Vec<Source>, Error>> {
        let (kind, collection, label) = (self.kind, &self.collection, self.label(trial));
        let key = kind.key(&format!("{}-{trial}-{}", self.case, operation.name(kind)));
        let of_page = |page: Page| page.sources.sources;
        let of_write = |mutated: Mutated| mutated.sources;
        Some(match (operation, &self.source) {
            (Operation::Changes, _) => {
                let of = (kind.surface, Verb::Changes, kind.changes_op);
                calls.page(of, &kind.changes(collection, 0), None).await.map(of_page)
            }
            (Operation::Collections, _) if kind.list_op.is_empty() => return None,
            (Operation::Collections, _) => {
                let of = (kind.surface, Verb::Fetch, kind.list_op);
                calls.page(of, &ChangesRequest::default(), None).await.map(of_page)
            }
            (Operation::Create, _) => {
                let args = (kind.write)(collection, ItemChange::create((kind.body)(&label)));
                calls.mutate(kind.surface, kind.create_op, &args, &key).await.map(of_write)
            }
            (Operation::Get, Some(source)) => {
                let args = kind.reference(collection, &source.external_id);
                let read: Result<Sources, Error> = calls.fetch(kind.surface, kind.get_op, &args).await;
                read.map(|read| read.sources)
            }
            (Operation::Update, Some(source)) => {
                let args = (kind.write)(collection, ItemChange::update(source, &kind.renamed(&label)));
                calls.mutate(kind.surface, kind.update_op, &args, &key).await.map(of_write)
            }
            (Operation::Delete, Some(source)) => {
                let args = (kind.delete)(collection, &source.external_id);
                calls.mutate(kind.surface, kind.delete_op, &args, &key).await.map(of_write)
            }
            (Operation::Get | Operation::Update | Operation::Delete, None) => return None,
        })
    }
}

impl Bench {
    /// Returns a collection with an item for the operations of a case: a new item, else an existing one.
    pub async fn stage(&mut self, kind: &'static ItemKind, case: &'static str) -> Outcome<Stage> {
        let collection = self.collection(kind).await?;
        let new = ItemChange::create((kind.body)(&kind.label(case)));
        let made = self.try_write_item(kind, &collection, new, &kind.key(case)).await;
        let source = match optional(made, kind.create_op)? {
            Some(made) => Some(written_source(&made)?),
            None => {
                let pages = self.items(kind, &collection, 0, None).await?;
                let mut sources = pages.into_iter().flat_map(|page| page.sources.sources);
                sources.find(|source| !source.deleted && source.error.is_none() && kind.is_record(source))
            }
        };
        Ok(Stage { kind, case, collection, source })
    }

    /// Calls an operation while this fault is injected into every request. None if the connector does not have the operation, has no
    /// item for it, or answers without an HTTP request.
    pub async fn under(
        &mut self,
        stage: &Stage,
        operation: Operation,
        fault: &Fault,
        trial: &str,
    ) -> Option<FaultReply> {
        self.line.take_exchanges();
        self.line.spoil_all(fault.clone());
        let result = stage.call(&mut self.calls, operation, trial).await;
        self.line.mend();
        let exchanges = self.line.take_exchanges();
        let result = result.filter(|_| !exchanges.is_empty())?;
        Some(FaultReply { operation, result, label: stage.label(trial), exchanges })
            .filter(FaultReply::is_supported)
    }
}

impl FaultReply {
    /// Returns whether the connector has the operation.
    pub fn is_supported(&self) -> bool {
        !self.result.as_ref().is_err_and(|error| error.code == Code::Unsupported)
    }
}
