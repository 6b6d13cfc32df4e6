//! Busy times: of own calendars by free-busy-query (RFC 4791 section 7.10), of others by the scheduling outbox (RFC 6638).

use connector_sdk::{Context, Failure, Outcome, code, http};
use model::Instant;
use model::calendar::BusyInterval;
use model::wire::calendar::{FreeBusyAnswer, FreeBusyRequest};

use crate::calendar::CalendarSession;
use crate::collection::stable_id;
use crate::ical::freebusy::{busy, request as question};
use crate::ical::time::utc;
use crate::webdav::request;
use crate::webdav::xml::{CALDAV, DAV, Element};

/// Requests in flight at once.
const CONCURRENT: u8 = 4;

pub fn query(cx: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
    if args.end <= args.start {
        return Err(Failure::invalid("end must be after start"));
    }
    let session = CalendarSession::new(cx, None)?;
    let mut all = Vec::new();
    if let Some(email) = &args.email {
        all.extend(session.busy_of(email, args.start, args.end)?);
    }
    let range = format!("<C:time-range start=\"{}\" end=\"{}\"/>", utc(args.start), utc(args.end));
    let body = format!("<C:free-busy-query>{range}</C:free-busy-query>");
    let mut requests = Vec::new();
    for id in &args.collections {
        requests.push(request("REPORT", &session.client.url(id)?, "1", &body));
    }
    for response in cx.send_many(requests, CONCURRENT) {
        all.extend(session.busy_in(&response?)?);
    }
    Ok(FreeBusyAnswer { busy: all })
}

impl CalendarSession<'_> {
    fn busy_in(&self, response: &http::Response) -> Outcome<Vec<BusyInterval>> {
        match response.status {
            200 => busy(&response.text())
                .map_err(|reason| Failure::unavailable(format!("the provider's busy times: {reason}"))),
            // A server without the report says so in one of these; the caller can compute from events instead.
            400 | 403 | 405 | 415 | 422 | 501 => {
                let failure = self.client.failure(response, "a query of busy times");
                Err(failure.with_code(code::UNSUPPORTED))
            }
            _ => Err(self.client.failure(response, "a query of busy times")),
        }
    }

    /// Reads the busy times of another user from the server.
    fn busy_of(&self, email: &str, start: Instant, end: Instant) -> Outcome<Vec<BusyInterval>> {
        let outbox = self.cx().setting("scheduleOutboxUrl");
        let outbox =
            outbox.ok_or_else(|| Failure::unsupported("busy times of other people at this provider"))?;
        let organizer = self
            .reader
            .selves
            .mail()
            .ok_or_else(|| Failure::invalid("the account has no address to ask with"))?;
        let uid = stable_id(self.cx(), &format!("freebusy {email} {start}"));
        let body = question(&uid, organizer, email, (start, end), self.now());
        let request = http::Request::post(self.client.url(outbox)?.as_str())
            .header("originator", format!("mailto:{organizer}"))
            .header("recipient", format!("mailto:{email}"))
            .body("text/calendar; charset=utf-8", body);
        let response = self.cx().send(request)?;
        if response.status != 200 {
            return Err(self.client.failure(&response, "a query of a person's busy times"));
        }
        let root = Element::parse(&response.body).map_err(|reason| {
            Failure::unavailable(format!("the provider's busy times cannot be read: {reason}"))
        })?;
        let mut all = Vec::new();
        for answer in root.all(CALDAV, "response") {
            let status =
                answer.child(CALDAV, "request-status").and_then(Element::trimmed).unwrap_or_default();
            let data = answer.child(CALDAV, "calendar-data").map(|data| data.text.as_str());
            match (status.as_bytes().first(), data) {
                // RFC 5546 section 3.6: 2.x is success.
                (Some(b'2'), Some(data)) => {
                    all.extend(busy(data).map_err(|reason| {
                        Failure::unavailable(format!("the provider's busy times: {reason}"))
                    })?);
                }
                _ => return Err(nobody(status)),
            }
        }
        if root.child(CALDAV, "response").is_none() && !root.is(DAV, "multistatus") {
            return Err(nobody(""));
        }
        Ok(all)
    }
}

/// The provider knows no such person, or does not show the busy times.
fn nobody(status: &str) -> Failure {
    let failure = match status.get(..3) {
        Some("3.8") => Failure::new(code::FORBIDDEN, "the provider does not show this person's busy times"),
        _ => Failure::not_found("the provider has no busy times for this address"),
    };
    failure.with_detail(serde_json::json!({ "requestStatus": status }))
}
