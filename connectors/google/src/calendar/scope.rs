//! The event that a call is for, and requests for it.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::calendar::{EventTarget, Notify, RecurrenceScope};
use recurrence::Suffix;
use serde_json::value::RawValue;

use crate::api::ask;
use crate::calendar::instance::{instance_id, original_start, split_id};
use crate::calendar::native;
use crate::fields::EVENT_VERSION;
use crate::roots;

/// Pages of events with one UID that are read.
const MAX_PAGES: usize = 8;

/// Returns the parameter for the people whom Google notifies; without it there are none.
pub fn send_updates(notify: Notify) -> (&'static str, &'static str) {
    let guests = match notify {
        Notify::All => "all",
        Notify::ExternalOnly => "externalOnly",
        Notify::None => "none",
    };
    ("sendUpdates", guests)
}

/// Returns the parameters of a request that writes an event. Without the last two its attachments and its conference would be lost.
pub fn write_query(notify: Notify) -> [(&'static str, &'static str); 3] {
    [send_updates(notify), ("supportsAttachments", "true"), ("conferenceDataVersion", "1")]
}

/// The event that a call is for, in Google's terms.
pub struct EventScope<'a> {
    pub calendar: &'a str,
    /// The id of a single event, a series, or a changed instance.
    pub source: &'a str,
    /// The instance; none: the source as a whole.
    pub original: Option<Suffix>,
    /// The call is for that instance and all later ones.
    pub is_following: bool,
    if_match: Option<&'a str>,
}

impl<'a> EventScope<'a> {
    pub fn new(calendar: &'a str, target: &'a EventTarget) -> Outcome<Self> {
        let source = target.source.as_deref().filter(|source| !source.is_empty());
        let source = source.ok_or_else(|| Failure::invalid("source is missing: name the event"))?;
        let names_instance = target.recurrence_id.is_some() || target.original_start.is_some();
        let is_part = names_instance && target.scope != RecurrenceScope::All;
        let original = is_part.then(|| original_start(target)).transpose()?;
        let is_following = is_part && target.scope == RecurrenceScope::ThisAndFollowing;
        Ok(EventScope { calendar, source, original, is_following, if_match: target.if_match.as_deref() })
    }

    /// Whether the event is a separate record: a single event, a series, or an instance that was changed already.
    pub fn is_record(&self) -> bool {
        self.original.is_none() || self.is_instance_record()
    }

    pub fn is_instance_record(&self) -> bool {
        split_id(self.source).1.is_some()
    }

    /// The version that a request for the event insists on.
    pub fn precondition(&self) -> Option<&'a str> {
        self.if_match.filter(|_| self.is_record())
    }

    /// Fails with `conflict` where the caller insists on another version than this one.
    pub fn ensure_version(&self, etag: Option<&str>) -> Outcome<()> {
        match self.if_match {
            Some(wanted) if etag != Some(wanted) => {
                Err(Failure::conflict("the event has changed since it was read"))
            }
            _ => Ok(()),
        }
    }

    /// Runs requests for the event, given its id. The id of an instance follows from its original start; where that is not one, it is
    /// looked up. An instance without a record has the version of its series, which Google does not compare with: it is read first.
    pub fn with_id<T>(&self, context: &Context, run: impl Fn(&str) -> Outcome<T>) -> Outcome<T> {
        let Some(original) = self.original.filter(|_| !self.is_record()) else { return run(self.source) };
        if self.if_match.is_some() {
            let url = roots::events(self.calendar, &[self.source], &[("fields", EVENT_VERSION)])?;
            let series: native::EventName = ask(context, Request::get(url), "reading the series")?;
            self.ensure_version(series.etag.as_deref())?;
        }
        let id = instance_id(self.source, original);
        match run(&id) {
            Err(failure) if failure.code == code::NOT_FOUND => match self.look_up(context, original)? {
                Some(found) if found != id => run(&found),
                _ => Err(failure),
            },
            done => done,
        }
    }

    fn look_up(&self, context: &Context, original: Suffix) -> Outcome<Option<String>> {
        let at = match original {
            Suffix::Instant(at) => at.to_string(),
            Suffix::Date(day) => day.to_string(),
        };
        let query = [("originalStart", at.as_str()), ("showDeleted", "true"), ("maxResults", "1")];
        let url = roots::events(self.calendar, &[self.source, "instances"], &query)?;
        let page: native::EventPage = ask(context, Request::get(url), "looking for the instance")?;
        let found = page.items.first().and_then(|record| serde_json::from_str(record.get()).ok());
        Ok(found.map(|name: native::EventName| name.id))
    }
}

/// Reads an event.
pub fn read(context: &Context, calendar: &str, id: &str) -> Outcome<native::Event> {
    ask(context, Request::get(roots::events(calendar, &[id], &[])?), "reading the event")
}

/// Returns the records of the events with this UID, deleted ones too: a single event, or a series and its exceptions. A page without events
/// may have the token of another one.
pub fn read_by_uid(context: &Context, calendar: &str, uid: &str) -> Outcome<Vec<Box<RawValue>>> {
    let mut records = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("iCalUID", uid), ("showDeleted", "true"), ("maxResults", "250")];
        query.extend(token.as_deref().map(|token| ("pageToken", token)));
        let request = Request::get(roots::events(calendar, &[], &query)?);
        let page: native::EventPage = ask(context, request, "looking for the event")?;
        records.extend(page.items);
        match page.next_page_token {
            Some(next) => token = Some(next),
            None => return Ok(records),
        }
    }
    Err(Failure::unavailable("the provider has too many events with one UID"))
}
