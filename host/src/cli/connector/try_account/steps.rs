//! The steps that read an account: its description by the connector, and for each kind of data its features, collections, records and
//! changes.

use std::collections::BTreeMap;

use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{Account, ChangesRequest, Item, Source, SourceRef, Sources};
use runtime::{LoadedConnector, Surface, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use service::app::resource_kind::ResourceKind;
use service::connections;
use service::connections::call::{Op, Reply};
use service::sync::scope::CollectionHead;

use crate::cli::connector::try_account::calls::{CallFigures, TrialAccount};
use crate::cli::connector::try_account::failure::StepFailure;
use crate::cli::connector::try_account::report::{StepOutcome, StepReport, SurfaceReport};

/// Most collections of a kind of data that are read.
const COLLECTIONS: usize = 3;
/// Most bytes of a message's body that are requested.
const MAX_BODY_BYTES: u32 = 65_536;
/// Most characters of a connector's word that are shown.
const WORD: usize = 40;

/// Runs all steps; a failure does not affect other kinds of data and collections. `pages`: pages of each collection.
pub async fn run(account: &TrialAccount<'_>, connector: &LoadedConnector, pages: u32) -> Vec<SurfaceReport> {
    let mut reports = Vec::new();
    if connector.surfaces.contains(&Surface::Lifecycle) {
        let mut trial = SurfaceTrial::new(account, Surface::Lifecycle, pages);
        trial.check().await;
        reports.push(trial.report());
    }
    let surfaces = account.connection.surfaces.iter().filter_map(|name| Surface::parse(name));
    for surface in surfaces.filter(|surface| surface.has_data()) {
        let mut trial = SurfaceTrial::new(account, surface, pages);
        trial.read().await;
        reports.push(trial.report());
    }
    reports
}

/// One step that calls the connector.
struct StepCall<'a, A> {
    step: &'static str,
    /// The number of the collection in its list, from 1.
    collection: Option<usize>,
    verb: Verb,
    op: &'static str,
    args: &'a A,
    cursor: Option<String>,
}

/// A collection of the account, or its mailbox.
struct TrialCollection {
    number: Option<usize>,
    /// None: the mailbox.
    external_id: Option<String>,
    time_zone: Option<String>,
    kind: ResourceKind,
}

/// The steps of one kind of data.
struct SurfaceTrial<'a> {
    account: &'a TrialAccount<'a>,
    surface: Surface,
    pages: u32,
    steps: Vec<StepReport>,
}

impl<'a> SurfaceTrial<'a> {
    fn new(account: &'a TrialAccount<'a>, surface: Surface, pages: u32) -> Self {
        SurfaceTrial { account, surface, pages, steps: Vec::new() }
    }

    fn report(self) -> SurfaceReport {
        SurfaceReport { surface: self.surface, steps: self.steps }
    }

    /// Requests the account's identity, as when it is connected.
    async fn check(&mut self) {
        let call = StepCall {
            step: "check",
            collection: None,
            verb: Verb::Check,
            op: "check",
            args: &json!({}),
            cursor: None,
        };
        self.take(call, |reply: &Reply<Account>| account_facts(&reply.body)).await;
    }

    async fn read(&mut self) {
        let scope = format!("{}.read", self.surface);
        if connections::granted(self.account.connection, &scope).is_err() {
            self.skip("capabilities", None, format!("the account was not granted {scope}"));
            return;
        }
        self.capabilities().await;
        let (collections, contents) = match self.surface {
            Surface::Calendar => (ResourceKind::Calendar, ResourceKind::Event),
            Surface::Contacts => (ResourceKind::ContactBook, ResourceKind::Contact),
            Surface::Tasks => (ResourceKind::TaskList, ResourceKind::Task),
            Surface::Email => {
                let kind = ResourceKind::EmailMessage;
                let mailbox = TrialCollection { number: None, external_id: None, time_zone: None, kind };
                return self.collection(&mailbox).await;
            }
            Surface::Lifecycle | Surface::Watch => return,
        };
        for collection in self.list(collections, contents).await {
            self.collection(&collection).await;
        }
    }

    async fn capabilities(&mut self) {
        let call = StepCall {
            step: "capabilities",
            collection: None,
            verb: Verb::Fetch,
            op: "capabilities",
            args: &json!({}),
            cursor: None,
        };
        self.take(call, |reply: &Reply<Value>| features(&reply.body)).await;
    }

    /// The first collections of the account; empty if they cannot be listed.
    async fn list(&mut self, kind: ResourceKind, contents: ResourceKind) -> Vec<TrialCollection> {
        let (verb, op) = kind.ops().pull;
        let args = ChangesRequest { limit: self.account.app.config.pull_page, ..ChangesRequest::default() };
        let call = StepCall { step: "list", collection: None, verb, op, args: &args, cursor: None };
        let Some(reply) = self.take(call, |reply: &Reply<Sources>| counts(reply, kind)).await else {
            return Vec::new();
        };
        let readable = reply.body.sources.iter().filter_map(first_item);
        let collection = |(at, (source, item)): (usize, (&Source, &Item))| TrialCollection {
            number: Some(at + 1),
            external_id: Some(source.external_id.clone()),
            time_zone: item.body.read::<CollectionHead>().unwrap_or_default().time_zone,
            kind: contents,
        };
        readable.take(COLLECTIONS).enumerate().map(collection).collect()
    }

    /// Reads some pages from the beginning, one record of them, and the page at the last cursor: the changes, if everything was read.
    async fn collection(&mut self, of: &TrialCollection) {
        let mut cursor = None;
        let (mut has_more, mut has_record) = (true, false);
        for number in 0..self.pages {
            let step = if number == 0 { "page" } else { "next page" };
            let Some(reply) = self.changes(step, of, cursor.take()).await else { return };
            if !has_record {
                has_record = self.get(of, &reply.body).await;
            }
            (cursor, has_more) = (reply.cursor, reply.more);
            if !has_more {
                break;
            }
        }
        if !has_record {
            self.skip("get", of.number, "no page has a record".to_owned());
        }
        let step = if has_more { "next page" } else { "changes" };
        match cursor {
            Some(cursor) => {
                self.changes(step, of, Some(cursor)).await;
            }
            None => self.skip(step, of.number, "the last page has no cursor".to_owned()),
        }
    }

    async fn changes(
        &mut self,
        step: &'static str,
        of: &TrialCollection,
        cursor: Option<String>,
    ) -> Option<Reply<Sources>> {
        let (verb, op) = of.kind.ops().pull;
        let args = ChangesRequest {
            collection: of.external_id.clone(),
            time_zone: of.time_zone.clone(),
            limit: self.account.app.config.pull_page,
            ..ChangesRequest::default()
        };
        let call = StepCall { step, collection: of.number, verb, op, args: &args, cursor };
        self.take(call, |reply: &Reply<Sources>| counts(reply, of.kind)).await
    }

    /// Reads a single record of the page. False: the page has none.
    async fn get(&mut self, of: &TrialCollection, page: &Sources) -> bool {
        let is_wanted = |(_, item): &(&Source, &Item)| !of.kind.is_mail() || is_message(item);
        let Some((source, item)) = page.sources.iter().filter_map(first_item).find(is_wanted) else {
            return false;
        };
        let (step, collection, op) = ("get", of.number, of.kind.ops().get);
        let external_id = source.external_id.clone();
        match &of.external_id {
            None => {
                let message = MessageRef { source: external_id, hint: item.hint.clone() };
                let args = MessagesGet {
                    messages: vec![message],
                    headers: true,
                    body: true,
                    max_body_bytes: MAX_BODY_BYTES,
                };
                let call = StepCall { step, collection, verb: Verb::Fetch, op, args: &args, cursor: None };
                self.take(call, |reply: &Reply<Sources>| counts(reply, of.kind)).await;
            }
            Some(parent) => {
                let time_zone = of.time_zone.clone();
                let args = SourceRef { collection: parent.clone(), source: external_id, time_zone };
                let call = StepCall { step, collection, verb: Verb::Fetch, op, args: &args, cursor: None };
                self.take(call, |reply: &Reply<Sources>| counts(reply, of.kind)).await;
            }
        }
        true
    }

    /// Runs a step. None: it failed, and the report has the failure.
    async fn take<A, R>(
        &mut self,
        call: StepCall<'_, A>,
        describe: impl FnOnce(&Reply<R>) -> Map<String, Value>,
    ) -> Option<Reply<R>>
    where
        A: Serialize + Sync,
        R: DeserializeOwned + Send,
    {
        let op = Op { surface: self.surface, verb: call.verb, name: call.op };
        let (figures, outcome) = self.account.call(op, call.args, call.cursor).await;
        let (result, reply) = match outcome {
            Ok(reply) => (StepOutcome::Ok { result: describe(&reply) }, Some(reply)),
            Err(e) => (StepOutcome::Failed { failure: StepFailure::new(&e) }, None),
        };
        let (step, collection, op) = (call.step, call.collection, Some(call.op));
        self.steps.push(StepReport { step, collection, op, figures, result });
        reply
    }

    fn skip(&mut self, step: &'static str, collection: Option<usize>, reason: String) {
        let (figures, result) = (CallFigures::default(), StepOutcome::Skipped { reason });
        self.steps.push(StepReport { step, collection, op: None, figures, result });
    }
}

/// A readable record, with the first item in it.
fn first_item(source: &Source) -> Option<(&Source, &Item)> {
    let item = source.items.first().filter(|_| !source.deleted && source.error.is_none())?;
    Some((source, item))
}

fn is_message(item: &Item) -> bool {
    !item.partial && item.kind.as_deref().is_none_or(|kind| kind == ResourceKind::EmailMessage.as_str())
}

/// The counts of a page, without any content of its records. `kind` is that of items without one.
fn counts(reply: &Reply<Sources>, kind: ResourceKind) -> Map<String, Value> {
    let page = &reply.body;
    let mut items: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unreadable: BTreeMap<String, usize> = BTreeMap::new();
    for source in &page.sources {
        for item in &source.items {
            let name = item.kind.as_deref().map_or(Some(kind), ResourceKind::parse);
            *items.entry(name.map_or("other", ResourceKind::as_str)).or_default() += 1;
        }
        if let Some(error) = &source.error {
            *unreadable.entry(word(&error.code)).or_default() += 1;
        }
    }
    let deleted = page.sources.iter().filter(|source| source.deleted).count();
    let mut counts = Map::new();
    counts.insert("records".to_owned(), json!(page.sources.len()));
    counts.insert("items".to_owned(), json!(items));
    let some = [("deleted", deleted), ("named", page.named.len())];
    counts.extend(some.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| (name.to_owned(), json!(n))));
    if !unreadable.is_empty() {
        counts.insert("unreadable".to_owned(), json!(unreadable));
    }
    if reply.failed_requests > 0 {
        counts.insert("failedRequests".to_owned(), json!(reply.failed_requests));
    }
    counts.insert("enumeration".to_owned(), json!(page.enumeration));
    counts.insert("more".to_owned(), json!(reply.more));
    counts
}

/// The account without its identity.
fn account_facts(account: &Account) -> Map<String, Value> {
    let known = account.surfaces.iter().filter_map(|name| Surface::parse(name)).map(Surface::as_str);
    let facts = [
        ("surfaces", json!(known.collect::<Vec<_>>())),
        ("aliases", json!(account.aliases.len())),
        ("providerScopes", json!(account.provider_scopes.len())),
        ("discoveredOrigins", json!(account.discovered_origins.len())),
        ("hasTimeZone", json!(account.time_zone.is_some())),
    ];
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Features that are numbers, Booleans or words; of a list its length, since aliases are addresses.
fn features(features: &Value) -> Map<String, Value> {
    let shown = |value: &Value| match value {
        Value::Array(list) => Some(json!(list.len())),
        Value::String(text) => Some(json!(word(text))),
        Value::Bool(_) | Value::Number(_) => Some(value.clone()),
        Value::Null | Value::Object(_) => None,
    };
    let members = features.as_object().into_iter().flatten();
    members.filter_map(|(name, value)| Some((word(name), shown(value)?))).collect()
}

/// A word from a connector, or `other` for any other text.
fn word(text: &str) -> String {
    let is_word = text.len() <= WORD && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if is_word { text.to_owned() } else { "other".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_account_is_in_its_facts() {
        let account = Account {
            external_account_id: "ada".to_owned(),
            email: Some("ada@example.com".to_owned()),
            aliases: vec!["countess@example.com".to_owned()],
            surfaces: vec!["email".to_owned(), "ada".to_owned()],
            ..Account::default()
        };
        let facts = Value::Object(account_facts(&account)).to_string();
        assert!(!facts.contains("ada") && !facts.contains("countess"), "{facts}");
        let told = json!({ "aliases": [{ "email": "ada@example.com" }], "send": true, "threads": "provider", "note": "of Ada" });
        let expected = json!({ "aliases": 1, "send": true, "threads": "provider", "note": "other" });
        assert_eq!(Value::Object(features(&told)), expected);
    }
}
