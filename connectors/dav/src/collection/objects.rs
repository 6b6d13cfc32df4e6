//! Reads many resources at once, and writes one under a precondition.

use std::collections::HashMap;

use connector_sdk::{Failure, Outcome, code, http};
use model::wire::{ItemError, Source, Sources, SourcesGet};
use serde_json::json;
use url::Url;

use crate::collection::{Content, ServiceKind, Session};
use crate::webdav::multistatus::{Member, Multistatus};
use crate::webdav::xml::{DAV, escape};
use crate::webdav::{Name, conditions, qualified, request};

/// The number of resources in a multiget.
const BATCH: usize = 200;
/// The maximum number of concurrent requests.
const CONCURRENT: u8 = 2;

/// A resource as the server has it.
#[derive(Clone, Debug)]
pub struct Object {
    /// The external id.
    pub id: String,
    pub etag: Option<String>,
    pub data: Data,
}

#[derive(Clone, Debug)]
pub enum Data {
    /// The iCalendar or vCard text.
    Text(String),
    Gone,
    /// The resource exists, but the server refuses to return it, with this status.
    Refused(u16),
}

/// The precondition of a write (RFC 9110 section 13).
#[derive(Clone, Copy, Debug)]
pub enum When<'a> {
    /// The resource does not exist yet.
    New,
    /// The resource is still this version; none if the provider has no versions.
    Still(Option<&'a str>),
}

impl<R: Content> Session<'_, R> {
    /// Reads many resources as sources. Deleted ones are reported as deleted.
    pub fn many(&self, args: &SourcesGet) -> Outcome<Sources> {
        let collection = self.client.url(&args.collection)?;
        let mut sources = Vec::with_capacity(args.sources.len());
        self.multiget(&collection, &args.sources, &mut |object| sources.push(self.source(object)))?;
        Ok(Sources { sources, ..Sources::default() })
    }

    /// Reads these resources of a collection and passes each to `each`, in the same order unless the server truncates its answers. Only a
    /// few requests run at a time, because the text of a whole calendar does not fit the memory of a call.
    pub fn multiget(&self, collection: &Url, ids: &[String], each: &mut dyn FnMut(Object)) -> Outcome<()> {
        let body = |ids: &[String]| {
            let hrefs: String = ids.iter().map(|id| format!("<D:href>{}</D:href>", escape(id))).collect();
            multiget_body(R::KIND, &[(DAV, "getetag")], self.reader.data_attributes(), &hrefs)
        };
        let doing = format!("reading {}", R::KIND.items);
        for wave in ids.chunks(BATCH * usize::from(CONCURRENT)) {
            let batches: Vec<&[String]> = wave.chunks(BATCH).collect();
            let requests = batches.iter().map(|ids| request("REPORT", collection, "1", &body(ids))).collect();
            for (asked, response) in batches.into_iter().zip(self.cx().send_many(requests, CONCURRENT)) {
                let response = response?;
                if response.truncated || response.status == 507 {
                    // The answer is too large, for example with large attachments or pictures: request half as many at a time.
                    let status = if response.truncated { 413 } else { 507 };
                    drop(response);
                    self.halves(collection, asked, status, each)?;
                    continue;
                }
                if response.status != 207 {
                    return Err(self.client.failure(&response, &doing));
                }
                let answer = Multistatus::read(&response, &doing)?;
                drop(response);
                let left = self.report_answered(collection, asked, answer, each);
                if left.len() < asked.len() {
                    self.multiget(collection, &left, each)?;
                } else {
                    self.halves(collection, asked, 507, each)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the resources in two requests. A single resource that is too long is reported with `status`.
    fn halves(
        &self,
        collection: &Url,
        asked: &[String],
        status: u16,
        each: &mut dyn FnMut(Object),
    ) -> Outcome<()> {
        if let [alone] = asked {
            each(Object { id: alone.clone(), etag: None, data: Data::Refused(status) });
            return Ok(());
        }
        let (first, second) = asked.split_at(asked.len() / 2);
        self.multiget(collection, first, each)?;
        self.multiget(collection, second, each)
    }

    /// Passes on the resources in the answer, and returns the truncated ones; a server reports truncation as status 507 of the collection.
    fn report_answered(
        &self,
        collection: &Url,
        asked: &[String],
        answer: Multistatus,
        each: &mut dyn FnMut(Object),
    ) -> Vec<String> {
        let mut found: HashMap<String, Member> = HashMap::with_capacity(asked.len());
        let mut is_cut = false;
        let own = self.client.id(collection);
        for member in answer.responses {
            let Some(id) = self.client.id_of(collection, &member.href) else { continue };
            is_cut |= member.status == Some(507) && id.trim_end_matches('/') == own.trim_end_matches('/');
            found.insert(id, member);
        }
        let mut left = Vec::new();
        for id in asked {
            match found.remove(id) {
                None if is_cut => left.push(id.clone()),
                member => each(object(id, member, R::KIND.data)),
            }
        }
        left
    }

    /// Reads one resource. Fails with `not-found` if it does not exist.
    pub fn object(&self, collection: &Url, id: &str) -> Outcome<(String, Option<String>)> {
        let mut found = None;
        self.multiget(collection, std::slice::from_ref(&id.to_owned()), &mut |object| found = Some(object))?;
        self.text_of(found.unwrap_or_else(|| object(id, None, R::KIND.data)))
    }

    /// The text and etag of a resource. Fails with `not-found` if it does not exist.
    pub fn text_of(&self, object: Object) -> Outcome<(String, Option<String>)> {
        match object.data {
            Data::Text(text) => Ok((text, object.etag)),
            Data::Refused(status) if status != 404 => Err(Failure::unavailable(format!(
                "the provider does not hand out this {} (status {status})",
                R::KIND.item
            ))),
            _ => Err(Failure::not_found(format!("the {} is no longer at the provider", R::KIND.item))),
        }
    }

    /// Returns the source that the host stores for a resource.
    pub fn source(&self, object: Object) -> Source {
        let base = Source { external_id: object.id, etag: object.etag, ..Source::default() };
        match object.data {
            Data::Gone => Source { deleted: true, etag: None, ..base },
            Data::Refused(status) => {
                let message =
                    format!("the provider does not hand out this {} (status {status})", R::KIND.item);
                Source { error: Some(ItemError { code: "refused".into(), message }), ..base }
            }
            Data::Text(text) => match self.reader.items(&base.external_id, &text) {
                Ok(items) => Source { items, ..base },
                Err(error) => Source { error: Some(error), ..base },
            },
        }
    }

    /// Parses the text of a resource into a source.
    pub fn read_source(&self, id: &str, text: String, etag: Option<String>) -> Source {
        self.source(Object { id: id.to_owned(), etag, data: Data::Text(text) })
    }

    /// Reads the current resource. Fails with `conflict` if it is not the version that the change is based on.
    pub fn current(
        &self,
        collection: &Url,
        id: &str,
        if_match: Option<&str>,
    ) -> Outcome<(String, Option<String>)> {
        let (text, etag) = self.object(collection, id)?;
        if if_match.is_some() && etag.as_deref() != if_match {
            return Err(self.stale());
        }
        Ok((text, etag))
    }

    /// The id of a new resource in this collection.
    pub fn resource_id(&self, collection: &Url, name: &str) -> Outcome<String> {
        let mut folder = collection.clone();
        if !folder.path().ends_with('/') {
            folder.set_path(&format!("{}/", collection.path()));
        }
        let url = folder
            .join(&format!("{name}.{}", R::KIND.suffix))
            .map_err(|_| Failure::invalid(format!("collection is not the id of {}", R::KIND.a_collection)))?;
        Ok(self.client.id(&url))
    }

    /// The source after a write: the written text if the answer confirms it (see [`crate::collection::ServiceKind::trusts_etag`]), else the
    /// text read back, because servers may change what they store. If reading fails, the write has still happened, so the written text is
    /// returned.
    pub fn after_write(&self, collection: &Url, id: &str, text: String, response: &http::Response) -> Source {
        let told = response.header("etag").map(str::to_owned);
        let is_strong = told.as_ref().is_some_and(|etag| etag.starts_with('"'));
        if R::KIND.trusts_etag && is_strong {
            return self.read_source(id, text, told);
        }
        let (text, etag) = self.object(collection, id).unwrap_or((text, told));
        self.read_source(id, text, etag)
    }

    /// Returns the result of a create: none if this attempt stored the resource, the source if an earlier attempt did.
    pub fn settle_create(
        &self,
        collection: &Url,
        id: &str,
        uid: &str,
        response: &http::Response,
    ) -> Outcome<Option<Source>> {
        if response.is_success() {
            return Ok(None);
        }
        // 412: the name is taken. 403 or 409: the UID is taken, which servers report in two ways (RFC 4791 section 5.3.2.1 and RFC 6352
        // section 6.3.2.1, RFC 6638 section 3.2.4.1) or not at all.
        let found = matches!(response.status, 403 | 409 | 412).then(|| self.object(collection, id));
        let nothing_there = matches!(&found, Some(Err(failure)) if failure.code == code::NOT_FOUND);
        if let Some(Ok((text, etag))) = found
            && self.reader.uid(&text).as_deref() == Some(uid)
        {
            return Ok(Some(self.read_source(id, text, etag)));
        }
        let taken = ["no-uid-conflict", "unique-scheduling-object-resource"];
        let conditions = conditions(response);
        let conflict = conditions.iter().any(|condition| taken.contains(&condition.as_str()));
        if response.status == 412 && nothing_there && !conflict {
            return Err(self.not_accepted(response));
        }
        if conflict || matches!(response.status, 409 | 412) {
            let (collection, item) = (R::KIND.collection, R::KIND.an_item);
            let message = format!("the {collection} has {item} with this {} already", R::KIND.uid);
            let failure = Failure::new(code::ALREADY_EXISTS, message);
            return Err(Failure { http_status: Some(response.status), ..failure });
        }
        Err(self.write_failure(response))
    }

    /// Writes a resource. `quiet`: attendees are not notified, if the server can suppress that.
    pub fn put(&self, id: &str, text: &str, when: When, quiet: bool) -> Outcome<http::Response> {
        let url = self.client.url(id)?;
        let request = http::Request::put(url.as_str()).body(R::KIND.media_type, text);
        let request = match when {
            When::New => request.header("if-none-match", "*"),
            When::Still(etag) => request.if_match(etag),
        };
        self.client.write(if quiet { quietly(request) } else { request })
    }

    /// Writes a resource over the version `etag`.
    pub fn replace(
        &self,
        collection: &Url,
        (id, etag): (&str, Option<&str>),
        text: &str,
        quiet: bool,
    ) -> Outcome<http::Response> {
        let response = self.put(id, text, When::Still(etag), quiet)?;
        if response.is_success() {
            return Ok(response);
        }
        // 412 means another version. If the version is unchanged, the server refuses the content.
        let is_the_content = response.status == 412
            && self.object(collection, id).is_ok_and(|(_, now)| now.as_deref() == etag);
        Err(if is_the_content { self.not_accepted(&response) } else { self.write_failure(&response) })
    }

    /// Deletes a resource. Succeeds if it no longer exists.
    pub fn delete(&self, id: &str, etag: Option<&str>, quiet: bool) -> Outcome<()> {
        let request = http::Request::delete(self.client.url(id)?.as_str()).if_match(etag);
        let response = self.client.write(if quiet { quietly(request) } else { request })?;
        match response.status {
            200..=299 | 404 | 410 => Ok(()),
            _ => Err(self.write_failure(&response)),
        }
    }

    /// The failure for a conflict that was detected before writing.
    pub fn stale(&self) -> Failure {
        Failure::conflict(self.changed_message()).with_detail(json!({ "reason": "etag" }))
    }

    fn changed_message(&self) -> String {
        format!("the {} was changed at the provider", R::KIND.item)
    }

    /// The failure for content that the server refuses with "precondition failed", as Radicale does for too large resources and rules with
    /// too many occurrences.
    fn not_accepted(&self, response: &http::Response) -> Failure {
        let failure = Failure::invalid(format!("the provider does not accept the {}", R::KIND.item));
        Failure { http_status: Some(response.status), ..failure }
    }

    /// The failure for a refused write. A violated precondition of RFC 4791 section 5.3.2.1 or RFC 6352 section 6.3.2.1 means invalid
    /// content, whatever the status.
    pub fn write_failure(&self, response: &http::Response) -> Failure {
        let failure = self.client.failure(response, "this change");
        let conditions = conditions(response);
        let content = conditions.iter().find(|name| {
            name.starts_with("valid-")
                || name.starts_with("supported-")
                || name.starts_with("max-")
                || name.starts_with("min-")
                || name.as_str() == "same-organizer-in-all-components"
                || name.starts_with("allowed-")
        });
        match (response.status, content) {
            (412, _) => Failure { message: self.changed_message(), ..failure },
            (_, Some(condition)) => {
                let message = format!("the provider does not accept the {}: {condition}", R::KIND.item);
                Failure { code: code::INVALID.into(), message, ..failure }
            }
            _ => failure,
        }
    }
}

/// Adds the headers that keep servers from notifying people: `Schedule-Reply` for an attendee's DELETE (RFC 6638 section 8.1), and Cyrus's
/// `Scheduling-Enabled` for every write. Other servers ignore them.
fn quietly(request: http::Request) -> http::Request {
    request.header("schedule-reply", "F").header("scheduling-enabled", "F")
}

/// The body of the report that reads these properties and the text of resources.
pub fn multiget_body(kind: ServiceKind, names: &[Name], attributes: &str, hrefs: &str) -> String {
    let (report, data) = (qualified(kind.multiget), qualified(kind.data));
    let names: String = names.iter().map(|name| format!("<{}/>", qualified(*name))).collect();
    format!("<{report}><D:prop>{names}<{data}{attributes}/></D:prop>{hrefs}</{report}>")
}

/// Returns the resource that a multistatus describes.
pub fn object(id: &str, member: Option<Member>, (namespace, name): Name) -> Object {
    let id = id.to_owned();
    let Some(mut member) = member else {
        // The server neither returns the resource nor reports it as deleted: it does not want to show it.
        return Object { id, etag: None, data: Data::Refused(404) };
    };
    let etag = member.text(DAV, "getetag").map(str::to_owned);
    let at = member.properties.iter().position(|property| property.is(namespace, name));
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
