//! The changes of collections that have a delta (contacts, their folders, task lists and tasks), and the rounds of those deltas.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::errors::GraphError;
use crate::graph::facts;
use crate::traps::Traps;

/// Traps with the spelling of an expired token that each brings.
const EXPIRED: [(&str, u16, &str); 6] = [
    ("delta_410_sync_state_not_found", 410, "SyncStateNotFound"),
    ("delta_404_sync_state_not_found", 404, "SyncStateNotFound"),
    ("delta_400_sync_state_invalid", 400, "SyncStateInvalid"),
    ("delta_410_resync_required", 410, "resyncRequired"),
    ("delta_400_invalid_sync_state_data", 400, "InvalidSyncStateData"),
    ("delta_400_id_malformed", 400, "ErrorInvalidIdMalformed"),
];

/// The changes of the collections of one mailbox, the oldest first.
#[derive(Default)]
pub struct ChangeLog {
    records: Vec<ChangeRecord>,
    rounds: BTreeMap<u64, ChangeRound>,
    /// The number of the latest change.
    sequence: u64,
}

/// An item of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeItem {
    pub collection: String,
    pub key: String,
    /// See `ids::mutable`.
    pub place: u64,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Arrival,
    Update,
    Departure,
}

struct ChangeRecord {
    number: u64,
    item: ChangeItem,
    kind: ChangeKind,
}

/// A first call and all pages up to its delta link.
struct ChangeRound {
    collection: String,
    query: ChangeQuery,
    entries: Vec<ChangeEntry>,
    /// Changes up to this one are in the round.
    upto: u64,
    /// The beginning of the page of each generation that is kept.
    kept: BTreeMap<u64, usize>,
}

/// The parameters of a round's first call, which hold for all of its pages and for the rounds behind it.
#[derive(Clone, Debug)]
pub struct ChangeQuery {
    select: Option<String>,
    pub expand: Option<String>,
}

/// An entry of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEntry {
    /// The key of an item that is in the collection.
    Item(String),
    Removal {
        key: String,
        place: u64,
    },
}

/// A page of a round, with the token of the page or round that follows.
#[derive(Debug)]
pub struct ChangePage {
    pub entries: Vec<ChangeEntry>,
    pub query: ChangeQuery,
    /// `$skiptoken` or `$deltatoken`.
    link: &'static str,
    token: String,
}

/// The round that a token names, and the generation of its page; no generation in the token of a delta link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChangeToken {
    round: u64,
    generation: Option<u64>,
}

impl ChangeToken {
    fn to_text(self) -> String {
        let generation = self.generation.map(|generation| generation.to_string()).unwrap_or_default();
        BASE64_URL_SAFE_NO_PAD.encode(format!("changes:{}:{generation}", self.round))
    }

    fn parse(text: &str) -> Result<ChangeToken, GraphError> {
        let decoded =
            BASE64_URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let numbers = decoded.as_deref().and_then(|text| text.strip_prefix("changes:")?.split_once(':'));
        let (round, generation) = numbers.ok_or_else(state_invalid)?;
        let round = round.parse().map_err(|_| state_invalid())?;
        Ok(ChangeToken { round, generation: generation.parse().ok() })
    }
}

fn state_invalid() -> GraphError {
    GraphError::new(400, "SyncStateInvalid", "The sync state is not valid.")
}

fn state_not_found() -> GraphError {
    GraphError::new(410, "SyncStateNotFound", "The sync state generation is not found.")
}

/// Refuses a call with a token where a trap says so.
///
/// # Errors
/// The token counts as expired, in the spelling of the trap.
pub fn check_token(traps: &mut Traps, call: &GraphCall) -> Result<(), GraphError> {
    if token_of(call).is_none() {
        return Ok(());
    }
    for (trap, status, code) in EXPIRED {
        if traps.fires(trap) {
            return Err(GraphError::new(status, code, "The sync state is not valid any more."));
        }
    }
    Ok(())
}

fn token_of(call: &GraphCall) -> Option<&str> {
    call.parameter("$skiptoken").or_else(|| call.parameter("$deltatoken"))
}

impl ChangeLog {
    /// The number of a new change that no delta tells.
    pub fn next_change(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Records a change. Returns its number.
    pub fn record(&mut self, kind: ChangeKind, item: ChangeItem) -> u64 {
        let number = self.next_change();
        self.records.push(ChangeRecord { number, item, kind });
        number
    }

    /// Forgets all rounds: tokens that were handed out so far have expired.
    pub fn expire_tokens(&mut self) {
        self.rounds.clear();
    }

    /// Reads the page that a call's token names, or the first one of a collection.
    ///
    /// # Errors
    /// The token is none, is of another collection, or is forgotten: 400, 410.
    pub fn read_page(
        &mut self,
        call: &GraphCall,
        collection: &str,
        sizes: PageSizes,
    ) -> Result<ChangePage, GraphError> {
        let size = call.delta_page(sizes.usual, sizes.most);
        let token = token_of(call).map(ChangeToken::parse).transpose()?;
        let (round, generation) = match token {
            None => {
                let own = |name: &str| call.parameter(name).map(str::to_owned);
                let query = ChangeQuery { select: own("$select"), expand: own("$expand") };
                (self.begin_round(collection, query, 0), 0)
            }
            Some(token) => {
                let known = self.rounds.get(&token.round).ok_or_else(state_not_found)?;
                if known.collection != collection {
                    return Err(state_invalid());
                }
                match token.generation {
                    Some(generation) => (token.round, generation),
                    None => {
                        let (query, upto) = (known.query.clone(), known.upto);
                        (self.begin_round(collection, query, upto), 0)
                    }
                }
            }
        };
        self.read_round(round, generation, size)
    }

    /// Begins a round with the changes behind `since`; behind 0 it has all items. Returns its number.
    fn begin_round(&mut self, collection: &str, query: ChangeQuery, since: u64) -> u64 {
        let entries = self.entries(collection, since);
        let upto = self.sequence;
        let number = self.next_change();
        let kept = BTreeMap::from([(0, 0)]);
        let round = ChangeRound { collection: collection.to_owned(), query, entries, upto, kept };
        self.rounds.insert(number, round);
        number
    }

    /// The items that changed behind `since`, in the order of their last change.
    fn entries(&self, collection: &str, since: u64) -> Vec<ChangeEntry> {
        let records = self.records.iter();
        let records = records.filter(|record| record.number > since && record.item.collection == collection);
        let mut of_item: Vec<(&str, Vec<&ChangeRecord>)> = Vec::new();
        for record in records {
            let at = of_item.iter().position(|(key, _)| *key == record.item.key);
            let mut all = at.map(|at| of_item.remove(at).1).unwrap_or_default();
            all.push(record);
            of_item.push((record.item.key.as_str(), all));
        }
        let entry = |(key, records): (&str, Vec<&ChangeRecord>)| {
            // An item that came and went in between was never reported.
            let is_unknown = records.first().is_some_and(|first| first.kind == ChangeKind::Arrival);
            let last = records.last()?;
            match last.kind {
                ChangeKind::Departure if is_unknown => None,
                ChangeKind::Departure => {
                    Some(ChangeEntry::Removal { key: key.to_owned(), place: last.item.place })
                }
                ChangeKind::Arrival | ChangeKind::Update => Some(ChangeEntry::Item(key.to_owned())),
            }
        };
        of_item.into_iter().filter_map(entry).collect()
    }

    /// Reads a page of a round. The pages of the newest generations can be read.
    fn read_round(&mut self, round: u64, generation: u64, size: usize) -> Result<ChangePage, GraphError> {
        let of = self.rounds.get_mut(&round).ok_or_else(state_not_found)?;
        let begin = *of.kept.get(&generation).ok_or_else(state_not_found)?;
        let end = begin.saturating_add(size).min(of.entries.len());
        let entries = of.entries.get(begin..end).unwrap_or_default().to_vec();
        let is_last = end == of.entries.len();
        let next = if is_last { None } else { Some(generation + 1) };
        if let Some(next) = next {
            of.kept.insert(next, end);
            while of.kept.len() > facts::number("mail_delta", "generations") {
                of.kept.pop_first();
            }
        }
        Ok(ChangePage {
            entries,
            query: of.query.clone(),
            link: if is_last { "$deltatoken" } else { "$skiptoken" },
            token: ChangeToken { round, generation: next }.to_text(),
        })
    }
}

impl ChangePage {
    /// The answer with these items. `of` is the collection as contexts name it.
    pub fn to_reply(&self, call: &GraphCall, of: &str, items: Vec<Value>) -> Reply {
        let value: Vec<Value> = items.into_iter().map(|item| self.select(item)).collect();
        let mut body = json!({ "@odata.context": call.context(&format!("{of}/$delta")), "value": value });
        let name = if self.link == "$deltatoken" { "@odata.deltaLink" } else { "@odata.nextLink" };
        body[name] = call.token_link(self.link, &self.token).into();
        json_reply(200, &body)
    }

    /// The item with the members alone that `$select` of the round's first call names.
    fn select(&self, mut item: Value) -> Value {
        if let (Some(select), Some(members)) = (self.query.select.as_deref(), item.as_object_mut()) {
            let expand = self.query.expand.as_deref().unwrap_or_default();
            let names = select.split(',').chain(expand.split(','));
            let is_wanted = |name: &str| names.clone().any(|one| one.trim().eq_ignore_ascii_case(name));
            members.retain(|name, _| name == "id" || name.contains('@') || is_wanted(name));
        }
        item
    }
}

/// The entry of an item that is in the collection no longer, as in `removal("contact", id)`.
pub fn removal(kind: &str, id: &str) -> Value {
    json!({
        "@odata.type": format!("#microsoft.graph.{kind}"), "id": id, "@removed": { "reason": "deleted" },
    })
}

#[cfg(test)]
mod tests {
    use super::{ChangeEntry, ChangeItem, ChangeKind, ChangeLog, ChangePage, ChangeQuery, ChangeToken};

    fn record(log: &mut ChangeLog, kind: ChangeKind, key: &str) {
        log.record(kind, ChangeItem { collection: "a".to_owned(), key: key.to_owned(), place: 1 });
    }

    fn read(log: &mut ChangeLog, round: u64, generation: u64) -> Result<ChangePage, String> {
        log.read_round(round, generation, 2).map_err(|error| error.code)
    }

    #[test]
    fn a_round_has_each_item_once_in_its_last_state() {
        let mut log = ChangeLog::default();
        for key in ["1", "2", "3"] {
            record(&mut log, ChangeKind::Arrival, key);
        }
        record(&mut log, ChangeKind::Departure, "2");
        let item = |key: &str| ChangeEntry::Item(key.to_owned());
        assert_eq!(log.entries("a", 0), [item("1"), item("3")]);
        assert!(log.entries("b", 0).is_empty());
        let since = log.sequence;
        record(&mut log, ChangeKind::Departure, "3");
        record(&mut log, ChangeKind::Arrival, "3");
        record(&mut log, ChangeKind::Departure, "1");
        record(&mut log, ChangeKind::Arrival, "4");
        record(&mut log, ChangeKind::Departure, "4");
        let removed = ChangeEntry::Removal { key: "1".to_owned(), place: 1 };
        assert_eq!(log.entries("a", since), [item("3"), removed]);
    }

    #[test]
    fn an_older_next_link_dies_while_one_reads_on() {
        let mut log = ChangeLog::default();
        for number in 0..20 {
            record(&mut log, ChangeKind::Arrival, &number.to_string());
        }
        let round = log.begin_round("a", ChangeQuery { select: None, expand: None }, 0);
        for generation in 0..6 {
            let page = read(&mut log, round, generation).expect("a page");
            assert_eq!((page.entries.len(), page.link), (2, "$skiptoken"));
            let next = ChangeToken::parse(&page.token).expect("a token");
            assert_eq!(next, ChangeToken { round, generation: Some(generation + 1) });
        }
        assert_eq!(read(&mut log, round, 0).expect_err("forgotten"), "SyncStateNotFound");
        assert!(read(&mut log, round, 2).is_ok());
        log.expire_tokens();
        assert_eq!(read(&mut log, round, 2).expect_err("expired"), "SyncStateNotFound");
        assert_eq!(ChangeToken::parse("no token").expect_err("none").code, "SyncStateInvalid");
    }
}
