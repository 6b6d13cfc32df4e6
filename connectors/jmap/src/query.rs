//! A page of messages from new to old (RFC 8621 section 4.4), and how it goes on.
//!
//! The next page is what follows the last message of this one, by its id: positions move when messages come and go, and a message would
//! be left out. If that message is gone by then, the next page is everything as old as it or older, and some messages are reported
//! twice.

use std::collections::HashMap;

use connector_sdk::Outcome;
use io_jmap::rfc8621::email::query::{JmapEmailComparator, JmapEmailFilter};
use serde_json::{Value, json};

use crate::changes::cursor::Last;
use crate::client::{Message, id_of, messages, with};
use crate::message::instant;
use crate::protocol::answers::{GetResponse, QueryResponse};
use crate::protocol::{Answers, Batch, Call, failures};

/// The filter of a search, and the size of its pages.
pub struct Query {
    /// A filter of RFC 8621 section 4.4.1; none for everything.
    pub filter: Option<Value>,
    pub limit: usize,
    /// Arguments of `Email/get` for the messages that were found.
    pub get: Value,
}

/// The beginning of a page.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    Newest,
    /// After this message.
    After(&'a Last),
    /// At the time of this message, which is gone.
    Around(&'a Last),
}

/// The two calls of a query in a batch.
pub struct QueryCalls {
    query: Call,
    get: Call,
}

/// A page of the messages that were found.
pub struct Page {
    /// From new to old.
    pub messages: Vec<Message>,
    /// The position of the next page; none where this was the last one.
    pub next: Option<Last>,
    /// The last one of this page.
    pub last: Option<Last>,
}

impl<'a> Start<'a> {
    /// After the last message of the page before, if there was one.
    pub fn after(last: Option<&'a Last>) -> Self {
        last.map_or(Start::Newest, Start::After)
    }
}

impl Query {
    /// Adds the calls for the page.
    pub fn ask(&self, batch: &mut Batch, start: Start) -> QueryCalls {
        let sort = [JmapEmailComparator::received_at_desc()];
        let args = json!({ "filter": self.filter, "sort": sort, "limit": self.limit });
        let args = match start {
            Start::Newest => args,
            Start::After(last) => with(&with(&args, "anchor", json!(last.id)), "anchorOffset", json!(1)),
            Start::Around(last) => with(&args, "filter", json!(self.older_than(last))),
        };
        let query = batch.call("Email/query", args);
        let get = batch.call("Email/get", with(&self.get, "#ids", query.at("/ids")));
        QueryCalls { query, get }
    }

    /// The filter, and nothing that is later than this message.
    fn older_than(&self, last: &Last) -> Option<Value> {
        let Some(before) = last.just_after() else { return self.filter.clone() };
        let before = Some(before.timestamp().to_string());
        let older = json!(JmapEmailFilter { before, ..JmapEmailFilter::default() });
        Some(match &self.filter {
            Some(filter) => json!({ "operator": "AND", "conditions": [filter, older] }),
            None => older,
        })
    }

    /// The page that was asked for; none where the message to go on after is gone: then it is asked for [`Start::Around`] it.
    pub fn page(&self, answers: &Answers, asked: &QueryCalls) -> Outcome<Option<Page>> {
        match answers.attempt::<QueryResponse>(&asked.query)? {
            Ok(queried) => Ok(Some(self.read(queried, answers.get(&asked.get)?))),
            Err(error) if error.kind == "anchorNotFound" => Ok(None),
            Err(error) => Err(failures::of_method(&error)),
        }
    }

    fn read(&self, queried: QueryResponse, got: GetResponse) -> Page {
        let places: HashMap<&str, usize> =
            queried.ids.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
        let mut messages = messages(got);
        messages.sort_by_key(|message| places.get(id_of(message)).copied().unwrap_or(usize::MAX));
        let times = messages.iter().filter_map(|message| message.as_ref().ok());
        let at_ms = times.filter_map(|email| instant(&email.received_at)).map(|at| at.as_millis()).min();
        let last = queried.ids.last().map(|id| Last { id: id.clone(), at_ms });
        let limit = queried.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let is_full = queried.ids.len() >= self.limit.min(limit);
        Page { messages, next: last.clone().filter(|_| is_full), last }
    }
}
