//! A page of messages from new to old (RFC 8621 section 4.4), and how it goes on.
//!
//! The next page is what follows the last message of this one, by its id: positions move when messages come and go, and a message would
//! be left out. Where that message is gone meanwhile, the next page is everything as old as it or older: some are told twice then.

use connector_sdk::Outcome;
use io_jmap::rfc8620::filter::JmapFilter;
use io_jmap::rfc8621::email::query::{JmapEmailComparator, JmapEmailFilter};
use serde_json::{Value, json};

use crate::changes::cursor::Last;
use crate::client::{Client, Message, id_of, messages, with};
use crate::message::instant;
use crate::protocol::answers::{Got, Queried};
use crate::protocol::{Answers, Batch, Call};

/// What is looked for, and how much of it at a time.
pub struct Query {
    /// A filter of RFC 8621 section 4.4.1; none for everything.
    pub filter: Option<Value>,
    pub limit: usize,
    /// Arguments of `Email/get` for what was found.
    pub get: Value,
}

/// The two calls of a query in a batch.
pub struct Asked {
    query: Call,
    get: Call,
}

/// What was found.
pub struct Page {
    /// From new to old.
    pub messages: Vec<Message>,
    /// Where the next page begins; none where this was the last one.
    pub next: Option<Last>,
    /// The last one of this page.
    pub last: Option<Last>,
}

impl Query {
    /// Adds the calls for the page after `last`, or the first one.
    pub fn ask(&self, batch: &mut Batch, last: Option<&Last>) -> Asked {
        let mut args = self.args();
        if let Some(last) = last {
            args = with(&with(&args, "anchor", json!(last.id)), "anchorOffset", json!(1));
        }
        self.calls(batch, args)
    }

    fn args(&self) -> Value {
        let sort = [JmapEmailComparator::received_at_desc()];
        json!({ "filter": self.filter, "sort": sort, "limit": self.limit })
    }

    fn calls(&self, batch: &mut Batch, args: Value) -> Asked {
        let query = batch.call("Email/query", args);
        let get = batch.call("Email/get", with(&self.get, "#ids", query.at("/ids")));
        Asked { query, get }
    }

    /// The page that was asked for. Where `last` is gone, asks again in another request.
    pub fn page(
        &self,
        client: &Client,
        answers: &Answers,
        asked: &Asked,
        last: Option<&Last>,
    ) -> Outcome<Page> {
        let queried = match (answers.attempt::<Queried>(&asked.query)?, last) {
            (Ok(queried), _) => queried,
            (Err(error), Some(last)) if error.kind == "anchorNotFound" => {
                return self.page_around(client, last);
            }
            (Err(error), _) => return Err(crate::protocol::failures::of_method(&error)),
        };
        Ok(self.read(queried, answers.get(&asked.get)?))
    }

    /// Everything as old as `last` or older, from the newest of it on.
    fn page_around(&self, client: &Client, last: &Last) -> Outcome<Page> {
        let mut args = self.args();
        if let Some(before) = last.just_after() {
            let older = JmapFilter::Condition(JmapEmailFilter {
                before: Some(before.timestamp().to_string()),
                ..JmapEmailFilter::default()
            });
            let older = json!(older);
            let filter = match &self.filter {
                Some(filter) => json!({ "operator": "AND", "conditions": [filter, older] }),
                None => older,
            };
            args = with(&args, "filter", filter);
        }
        let mut batch = client.batch();
        let asked = self.calls(&mut batch, args);
        let answers = client.run(batch, "reading messages")?;
        Ok(self.read(answers.get(&asked.query)?, answers.get(&asked.get)?))
    }

    fn read(&self, queried: Queried, got: Got) -> Page {
        let places: std::collections::HashMap<&str, usize> =
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
