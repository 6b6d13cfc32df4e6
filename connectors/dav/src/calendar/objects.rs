//! Calendar object resources on the server: reading many at once, writing one under a condition.

use connector_sdk::{Failure, Outcome, code, http};
use model::wire::{ItemError, Source};
use serde_json::json;
use url::Url;

use crate::calendar::Session;
use crate::webdav::multistatus::{Member, Multistatus};
use crate::webdav::xml::{CALDAV, DAV, escape};
use crate::webdav::{conditions, prop, request};

/// Resources in one calendar-multiget.
const BATCH: usize = 50;
/// Requests in flight at once.
const CONCURRENT: u8 = 2;

/// A resource as the server has it.
#[derive(Clone, Debug)]
pub struct Object {
    /// External id.
    pub id: String,
    pub etag: Option<String>,
    pub data: Data,
}

#[derive(Clone, Debug)]
pub enum Data {
    /// The iCalendar text.
    Text(String),
    Gone,
    /// It is there, but the server does not hand it out: the status.
    Refused(u16),
}

/// On which condition a resource is written (RFC 9110 section 13).
#[derive(Clone, Copy, Debug)]
pub enum When<'a> {
    /// There is nothing yet.
    New,
    /// It is still this version; none where the provider has no versions.
    Still(Option<&'a str>),
}

impl Session<'_> {
    /// Reads these resources of a collection and hands over every one that was asked for, in the same order. A few requests at a
    /// time: a call's memory does not hold a whole calendar as text.
    pub fn multiget(&self, collection: &Url, ids: &[String], each: &mut dyn FnMut(Object)) -> Outcome<()> {
        let body = |ids: &[String]| {
            let hrefs: String = ids.iter().map(|id| format!("<D:href>{}</D:href>", escape(id))).collect();
            let names = prop(&[(DAV, "getetag"), (CALDAV, "calendar-data")]);
            format!("<C:calendar-multiget>{names}{hrefs}</C:calendar-multiget>")
        };
        for wave in ids.chunks(BATCH * usize::from(CONCURRENT)) {
            let batches: Vec<&[String]> = wave.chunks(BATCH).collect();
            let requests = batches.iter().map(|ids| request("REPORT", collection, "1", &body(ids))).collect();
            for (asked, response) in batches.into_iter().zip(self.cx().send_many(requests, CONCURRENT)) {
                let response = response?;
                if response.truncated {
                    // Large attachments inside events: half as many at a time fit.
                    match asked {
                        [alone] => each(Object { id: alone.clone(), etag: None, data: Data::Refused(413) }),
                        _ => {
                            let (first, second) = asked.split_at(asked.len() / 2);
                            self.multiget(collection, first, each)?;
                            self.multiget(collection, second, each)?;
                        }
                    }
                    continue;
                }
                if response.status != 207 {
                    return Err(self.client.failure(&response, "reading events"));
                }
                let answer = Multistatus::read(&response, "reading events")?;
                drop(response);
                self.arranged(collection, asked, answer).into_iter().for_each(&mut *each);
            }
        }
        Ok(())
    }

    fn arranged(&self, collection: &Url, asked: &[String], answer: Multistatus) -> Vec<Object> {
        let mut found: Vec<Option<Member>> = asked.iter().map(|_| None).collect();
        for member in answer.responses {
            let id = self.client.id_of(collection, &member.href);
            if let Some(at) = id.and_then(|id| asked.iter().position(|asked| *asked == id)) {
                found[at] = Some(member);
            }
        }
        asked.iter().zip(found).map(|(id, member)| object(id, member)).collect()
    }

    /// One resource; gone is a failure "not-found".
    pub fn object(&self, collection: &Url, id: &str) -> Outcome<(String, Option<String>)> {
        let mut found = None;
        self.multiget(collection, std::slice::from_ref(&id.to_owned()), &mut |object| found = Some(object))?;
        match found.map(|object| (object.data, object.etag)) {
            Some((Data::Text(text), etag)) => Ok((text, etag)),
            Some((Data::Refused(status), _)) if status != 404 => Err(Failure::unavailable(format!(
                "the provider does not hand out this event (status {status})"
            ))),
            _ => Err(Failure::not_found("the event is no longer at the provider")),
        }
    }

    /// What the host stores of a resource.
    pub fn source(&self, object: Object) -> Source {
        let base = Source { external_id: object.id, etag: object.etag, ..Source::default() };
        match object.data {
            Data::Gone => Source { deleted: true, etag: None, ..base },
            Data::Refused(status) => {
                let message = format!("the provider does not hand out this event (status {status})");
                Source { error: Some(ItemError { code: "refused".into(), message }), ..base }
            }
            Data::Text(text) => match self.reader.items(&base.external_id, &text) {
                Ok(items) => Source { items, ..base },
                Err(error) => Source { error: Some(error), ..base },
            },
        }
    }

    /// The source as it is after a write: read back, because servers may change what they store (RFC 4791 section 5.3.4). Where
    /// reading fails the write has still happened, so what was sent stands for it.
    pub fn after_write(&self, collection: &Url, id: &str, text: &str, response: &http::Response) -> Source {
        let read = self.object(collection, id);
        let (text, etag) =
            read.unwrap_or_else(|_| (text.to_owned(), response.header("etag").map(str::to_owned)));
        self.source(Object { id: id.to_owned(), etag, data: Data::Text(text) })
    }

    /// Writes a resource. `quiet`: the server shall not send a reply for it (RFC 6638 section 8.1).
    pub fn put(&self, id: &str, text: &str, when: When, quiet: bool) -> Outcome<http::Response> {
        let url = self.client.url(id)?;
        let request = http::Request::put(url.as_str()).body("text/calendar; charset=utf-8", text);
        let request = match when {
            When::New => request.header("if-none-match", "*"),
            When::Still(etag) => request.if_match(etag),
        };
        self.cx().send(if quiet { request.header("schedule-reply", "F") } else { request })
    }

    /// [`Session::put`] that insists on success.
    pub fn put_ok(&self, id: &str, text: &str, when: When, quiet: bool) -> Outcome<http::Response> {
        let response = self.put(id, text, when, quiet)?;
        if response.is_success() { Ok(response) } else { Err(self.write_failure(&response)) }
    }

    /// Deletes a resource; one that is gone already is deleted, too.
    pub fn delete(&self, id: &str, etag: Option<&str>, quiet: bool) -> Outcome<()> {
        let request = http::Request::delete(self.client.url(id)?.as_str()).if_match(etag);
        let response = self.cx().send(if quiet { request.header("schedule-reply", "F") } else { request })?;
        match response.status {
            200..=299 | 404 | 410 => Ok(()),
            _ => Err(self.write_failure(&response)),
        }
    }

    /// Why a write was refused. A failed condition of RFC 4791 section 5.3.2.1 is the content's fault, whatever the status.
    pub fn write_failure(&self, response: &http::Response) -> Failure {
        let failure = self.client.failure(response, "this change");
        let conditions = conditions(response);
        let content = conditions.iter().find(|name| {
            name.starts_with("valid-calendar")
                || name.starts_with("supported-")
                || name.starts_with("max-")
                || name.starts_with("min-")
                || name.as_str() == "same-organizer-in-all-components"
                || name.starts_with("allowed-")
        });
        match (response.status, content) {
            (412, _) => Failure { message: "the event was changed at the provider".into(), ..failure },
            (_, Some(condition)) => {
                let message = format!("the provider does not accept the event: {condition}");
                Failure { code: code::INVALID.into(), message, ..failure }
            }
            _ => failure,
        }
    }
}

fn object(id: &str, member: Option<Member>) -> Object {
    let id = id.to_owned();
    let Some(mut member) = member else {
        // Neither there nor gone: a server that leaves out what it does not want to show.
        return Object { id, etag: None, data: Data::Refused(404) };
    };
    let etag = member.text(DAV, "getetag").map(str::to_owned);
    let at = member.properties.iter().position(|property| property.is(CALDAV, "calendar-data"));
    let data = match (member.status, at) {
        (Some(404 | 410), _) => Data::Gone,
        (_, Some(at)) => Data::Text(std::mem::take(&mut member.properties[at].text)),
        (Some(status), None) => Data::Refused(status),
        (None, None) => match member.refused.iter().map(|(_, _, status)| *status).max() {
            Some(404) => Data::Gone,
            status => Data::Refused(status.unwrap_or(404)),
        },
    };
    Object { id, etag, data }
}

/// A failure for a conflict that was seen before anything was written.
pub fn stale() -> Failure {
    Failure::conflict("the event was changed at the provider").with_detail(json!({ "reason": "etag" }))
}
