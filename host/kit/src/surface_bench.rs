//! Operations on collections and items that the cases of calendars, contacts and mail share.

use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{ChangesRequest, Item, Mutated, Source, Sources};
use runtime::{Code, Error, Surface, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, Verdict, body, failed, must};
use crate::caller::Page;

const ONE_SOURCE: &str = "a read by id answers with one source: the one of that id, with its item";
const WRITTEN: &str =
    "Mutated.sources holds the written item, as changes would report it; Mutated.item is its id";

/// The items of a surface, and the operations on them.
pub struct ItemKind {
    pub surface: Surface,
    /// The name of an item in findings: `event`.
    pub item: &'static str,
    /// The name of a collection of items in findings: `calendar`.
    pub collection: &'static str,
    /// Empty for mail, whose folders come with the messages.
    pub list_op: &'static str,
    pub changes_op: &'static str,
    pub get_op: &'static str,
    pub create_op: &'static str,
    pub update_op: &'static str,
    pub delete_op: &'static str,
    /// The field with an item's name.
    pub name: &'static str,
    /// Another field with a text.
    pub other: &'static str,
    /// The fields of a new item with this name.
    pub body: fn(&str) -> Value,
    /// The arguments of a creation or a change.
    pub write: fn(&Collection, ItemChange) -> Value,
    /// The arguments of a deletion.
    pub delete: fn(&Collection, &str) -> Value,
}

/// A calendar, an address book, or the folder that messages are put into.
pub struct Collection {
    pub id: String,
    /// The model's resource.
    pub body: Value,
}

/// A write to an item.
#[derive(Clone, Debug, Default)]
pub struct ItemChange {
    /// The external id of the source; none: a new one.
    pub source: Option<String>,
    /// The item after the write.
    pub body: Value,
    /// The fields that the caller names.
    pub changed: Vec<String>,
    pub if_match: Option<String>,
}

impl ItemChange {
    /// A new item with these fields.
    pub fn create(fields: Value) -> Self {
        ItemChange { changed: names_of(&fields), body: fields, ..ItemChange::default() }
    }

    /// Other values in these fields of the main item of `source`.
    pub fn update(source: &Source, fields: &Value) -> Self {
        ItemChange {
            source: Some(source.external_id.clone()),
            body: merged(&body::<Value>(source).unwrap_or_default(), fields),
            changed: names_of(fields),
            if_match: None,
        }
    }
}

/// The names of an object's fields.
fn names_of(fields: &Value) -> Vec<String> {
    fields.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect()
}

/// Returns the arguments of a call with all fields of their type, as hosts send them.
pub fn whole_args<T: Serialize + DeserializeOwned>(args: Value) -> Value {
    let typed = serde_json::from_value::<T>(args.clone());
    typed.and_then(serde_json::to_value).unwrap_or(args)
}

/// A resource with other values in these fields.
pub fn merged(resource: &Value, fields: &Value) -> Value {
    let mut merged = resource.as_object().cloned().unwrap_or_default();
    for (name, value) in fields.as_object().into_iter().flatten() {
        merged.insert(name.clone(), value.clone());
    }
    Value::Object(merged)
}

impl ItemKind {
    /// The name of an item that a case makes.
    pub fn label(&self, of: &str) -> String {
        format!("swkit-{}-{of}", self.surface)
    }

    /// The idempotency key of a write in a case.
    pub fn key(&self, of: &str) -> String {
        format!("kit-{}-{of}", self.surface)
    }

    /// The names of the items in these pages, as often as they come.
    pub fn names(&self, pages: &[Page]) -> Vec<String> {
        let sources = pages.iter().flat_map(|page| &page.sources.sources);
        sources.filter_map(|source| self.name_of(source)).collect()
    }

    /// The name of a source's main item.
    pub fn name_of(&self, source: &Source) -> Option<String> {
        body::<Value>(source).and_then(|item| item[self.name].as_str().map(str::to_owned))
    }

    /// Another name, as the fields of a change.
    pub fn renamed(&self, name: &str) -> Value {
        json!({ (self.name): name })
    }

    /// Returns whether a source is a record of the collection. Changes of mail have folders and labels too.
    pub fn is_record(&self, source: &Source) -> bool {
        self.surface != Surface::Email || source.items.iter().all(|item| item.kind.is_none())
    }

    /// Returns whether the answer to a read by id says that the item does not exist. Mail leaves out unknown messages.
    pub fn is_gone(&self, sources: &Sources) -> bool {
        (self.surface == Surface::Email || !sources.sources.is_empty())
            && sources.sources.iter().all(|source| source.deleted)
    }

    /// Returns whether the answer to a read by an unknown id has no item. A message may have an error: hosts keep what they have of it.
    pub fn is_unknown(&self, sources: &Sources) -> bool {
        let has_no_item =
            |source: &Source| source.deleted || source.error.is_some() && source.items.is_empty();
        self.is_gone(sources) || self.surface == Surface::Email && sources.sources.iter().all(has_no_item)
    }

    /// The arguments of a page of changes. The changes of a mailbox are those of all its folders.
    pub fn changes(&self, collection: &Collection, limit: u32) -> ChangesRequest {
        match self.surface {
            Surface::Email => ChangesRequest { limit, ..ChangesRequest::default() },
            _ => collection.changes(limit),
        }
    }

    /// The arguments of a read of one source.
    pub fn reference(&self, collection: &Collection, id: &str) -> Value {
        let messages = vec![MessageRef { source: id.to_owned(), hint: None }];
        match self.surface {
            Surface::Email => json!(MessagesGet { messages, ..MessagesGet::default() }),
            _ => collection.reference(id),
        }
    }
}

/// Returns the result of an operation that a connector may not have: `unsupported` ends the case as not applicable.
pub fn supported<T>(done: Result<T, Error>, operation: &str) -> Outcome<T> {
    match done {
        Err(error) if error.code == Code::Unsupported => {
            Err(Verdict::NotApplicable(format!("{operation} is unsupported")))
        }
        done => must(done, operation),
    }
}

/// Returns the result of an operation; none if the connector does not have the operation.
pub fn optional<T>(done: Result<T, Error>, operation: &str) -> Outcome<Option<T>> {
    match done {
        Err(error) if error.code == Code::Unsupported => Ok(None),
        done => must(done, operation).map(Some),
    }
}

/// The source that a write was about.
pub fn written_source(mutated: &Mutated) -> Outcome<Source> {
    let named = mutated.item.as_deref();
    let found = mutated.sources.iter().find(|source| Some(source.external_id.as_str()) == named);
    match found.or(mutated.sources.first()) {
        Some(source) => Ok(source.clone()),
        None => failed("the answer of a write has no source", WRITTEN),
    }
}

/// The main item of a source: the one with the source's own id.
pub fn main_item(source: &Source) -> Option<&Item> {
    source.items.iter().find(|item| item.external_id == source.external_id).or(source.items.first())
}

impl Bench {
    /// Ends the case unless the connector has the surface.
    pub fn needs_surface(&self, kind: &ItemKind) -> Outcome {
        match self.surfaces.contains(&kind.surface) {
            true => Ok(()),
            false => Err(Verdict::NotApplicable(format!("the connector has no {}", kind.surface))),
        }
    }

    /// Ends the case unless the connector claims this feature.
    pub async fn needs_feature(&mut self, kind: &ItemKind, feature: &str) -> Outcome {
        let features = self.features(kind).await?;
        match features[feature] == true {
            true => Ok(()),
            false => Err(Verdict::NotApplicable(format!("the connector does not claim {feature}"))),
        }
    }

    /// The features of the surface, as the connector claims them.
    pub async fn features(&mut self, kind: &ItemKind) -> Outcome<Value> {
        self.needs_surface(kind)?;
        let features: Result<Value, Error> = self.calls.fetch(kind.surface, "capabilities", &json!({})).await;
        supported(features, "capabilities")
    }

    /// The pages of all collections.
    pub async fn collections(&mut self, kind: &ItemKind) -> Outcome<Vec<Page>> {
        self.needs_surface(kind)?;
        self.walk((kind.surface, Verb::Fetch, kind.list_op), &ChangesRequest::default(), None).await
    }

    /// The collection whose content the cases change.
    pub async fn collection(&mut self, kind: &ItemKind) -> Outcome<Collection> {
        if kind.surface == Surface::Email {
            return self.mail_folder(kind).await;
        }
        let pages = self.collections(kind).await?;
        let mut sources = pages.iter().flat_map(|page| &page.sources.sources);
        let fits = |source: &&Source| {
            let collection = body::<Value>(source).unwrap_or_default();
            match &self.wanted {
                Some(wanted) => collection["name"] == wanted.as_str() || source.external_id == *wanted,
                None => collection.is_object() && collection["readOnly"] != true,
            }
        };
        let Some(source) = sources.find(fits) else {
            return Err(Verdict::NotApplicable(match &self.wanted {
                Some(wanted) => {
                    format!("there is no {} \"{wanted}\", which project.toml names", kind.collection)
                }
                None => format!("the account has no {} that can be changed", kind.collection),
            }));
        };
        let body = body::<Value>(source).unwrap_or_default();
        Ok(Collection { id: source.external_id.clone(), body })
    }

    /// Everything in the collection from `cursor`, in pages of about `limit`.
    pub async fn items(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        limit: u32,
        cursor: Option<String>,
    ) -> Outcome<Vec<Page>> {
        let args = kind.changes(collection, limit);
        self.walk((kind.surface, Verb::Changes, kind.changes_op), &args, cursor).await
    }

    /// One page of the collection's changes, its failure for the case to judge.
    pub async fn page_of(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<Page, Error> {
        let args = kind.changes(collection, limit);
        self.calls.page((kind.surface, Verb::Changes, kind.changes_op), &args, cursor).await
    }

    /// Writes an item, its failure for the case to judge.
    pub async fn try_write_item(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        change: ItemChange,
        key: &str,
    ) -> Result<Mutated, Error> {
        let op = if change.source.is_some() { kind.update_op } else { kind.create_op };
        self.calls.mutate(kind.surface, op, &(kind.write)(collection, change), key).await
    }

    /// Makes an item with these fields; a connector that cannot ends the case. Its source, and the fields that a warning names.
    pub async fn create_item(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        fields: Value,
        key: &str,
    ) -> Outcome<(Source, Vec<String>)> {
        let made = self.try_write_item(kind, collection, ItemChange::create(fields), key).await;
        let made = supported(made, kind.create_op)?;
        let warned = made.warnings.iter().filter_map(|warning| warning.target.clone()).collect();
        Ok((written_source(&made)?, warned))
    }

    /// Makes the usual item with this name.
    pub async fn create_named(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        of: &str,
    ) -> Outcome<Source> {
        let fields = (kind.body)(&kind.label(of));
        Ok(self.create_item(kind, collection, fields, &kind.key(of)).await?.0)
    }

    /// Changes these fields of an item; a connector that cannot ends the case.
    pub async fn update_item(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        source: &Source,
        fields: &Value,
        key: &str,
    ) -> Outcome<Source> {
        let change = ItemChange::update(source, fields);
        let changed = self.try_write_item(kind, collection, change, key).await;
        written_source(&supported(changed, kind.update_op)?)
    }

    /// Deletes an item, its failure for the case to judge.
    pub async fn try_delete_item(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        id: &str,
        key: &str,
    ) -> Result<Mutated, Error> {
        self.calls.mutate(kind.surface, kind.delete_op, &(kind.delete)(collection, id), key).await
    }

    /// A collection with at least this many items in it, of this case's own making.
    pub async fn fill(&mut self, kind: &ItemKind, case: &str, count: usize) -> Outcome<Collection> {
        let collection = self.collection(kind).await?;
        for n in 0..count {
            self.create_named(kind, &collection, &format!("{case}-{n}")).await?;
        }
        Ok(collection)
    }

    /// Reads the item with this id. Returns the connector's error as it is: the case judges it.
    pub async fn get_item(
        &mut self,
        kind: &ItemKind,
        collection: &Collection,
        id: &str,
    ) -> Result<Sources, Error> {
        self.calls.fetch(kind.surface, kind.get_op, &kind.reference(collection, id)).await
    }

    /// The source of this id.
    pub async fn read_item(&mut self, kind: &ItemKind, collection: &Collection, id: &str) -> Outcome<Source> {
        let read = must(self.get_item(kind, collection, id).await, kind.get_op)?;
        match read.sources.into_iter().next() {
            Some(source) if !source.deleted && !source.items.is_empty() => Ok(source),
            _ => failed(format!("{} of \"{id}\" answers without an item", kind.get_op), ONE_SOURCE),
        }
    }

    /// The main item of the source of this id, as the model has it.
    pub async fn read_body(&mut self, kind: &ItemKind, collection: &Collection, id: &str) -> Outcome<Value> {
        let source = self.read_item(kind, collection, id).await?;
        match body::<Value>(&source) {
            Some(item) if item.is_object() => Ok(item),
            _ => failed(format!("the {} \"{id}\" cannot be read", kind.item), ONE_SOURCE),
        }
    }
}

impl Collection {
    /// The arguments of a read of one source.
    fn reference(&self, id: &str) -> Value {
        json!({ "collection": self.id, "source": id, "timeZone": self.body["timeZone"] })
    }

    /// The arguments of a page of changes.
    fn changes(&self, limit: u32) -> ChangesRequest {
        ChangesRequest {
            collection: Some(self.id.clone()),
            time_zone: self.body["timeZone"].as_str().map(str::to_owned),
            limit,
            ..ChangesRequest::default()
        }
    }
}
