//! The people whom the server notifies of a write, and the warning or failure where it cannot notify just those whom the caller named.
//!
//! A server that schedules (RFC 6638) notifies everybody whom it schedules of each change that it finds significant. It does not notify a
//! person whom the client was to notify from the start (SCHEDULE-AGENT), nor the organizer of an attendee's own deletion where
//! `Schedule-Reply: F` says so (section 8.1), and some servers send no notification for any write that asks for none. Changing
//! SCHEDULE-AGENT later does not silence the server: then the server sends a cancellation (section 3.2.1.2).

use connector_sdk::{Failure, Outcome, code};
use model::wire::Warning;
use model::wire::calendar::Notify;
use serde_json::{Value, json};
use url::Url;

use crate::calendar::CalendarSession;
use crate::collection::has_class;
use crate::collection::objects::When;
use crate::ical::people::NotifiedParties;
use crate::ical::resource;
use crate::ical::series::Editor;

/// The setting that says that the server sends no notifications for a request with `Scheduling-Enabled: F`.
pub const KEEPS_SILENCE: &str = "keepsSilence";

/// A resource as it is at the provider: its text and its version.
type Current = (String, Option<String>);

/// The caller's request for notifications of a write.
#[derive(Clone, Copy, Debug)]
pub struct NotifyOptions {
    pub notify: Notify,
    /// A request that the server cannot fulfill is refused.
    pub strict: bool,
}

/// The effect of a write on the people who may be notified.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// The account is an attendee: the server may take the write for an answer to the organizer.
    pub answers: bool,
    /// The account organizes: the change concerns its attendees.
    pub is_news: bool,
}

/// Whether a server sends no notifications for a request that asks for it, by the name that it gives itself: Cyrus IMAP, which looks at
/// `Scheduling-Enabled` on every PUT and DELETE.
pub fn keeps_silence(server: &str) -> bool {
    let version = server.split_whitespace().find_map(|product| product.strip_prefix("Cyrus-HTTP/"));
    let mut numbers = version.unwrap_or_default().split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (3, 2))
}

impl CalendarSession<'_> {
    /// Whether the server notifies people by itself.
    pub fn schedules(&self) -> bool {
        has_class(self.cx(), "calendar-auto-schedule")
    }

    /// Whether the server can be asked not to.
    pub fn can_be_silent(&self) -> bool {
        self.cx().connection.settings.get(KEEPS_SILENCE) == Some(&Value::Bool(true))
    }

    /// Returns the people whom the server would notify of a write that leads from the first of these texts to the others.
    pub fn notified_parties<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> NotifiedParties {
        let mut told = NotifiedParties::default();
        for text in texts {
            let Ok(calendar) = resource::parse(text) else { continue };
            for event in resource::events(&calendar) {
                told.add(event, &self.reader.selves);
            }
        }
        told
    }

    /// Returns the warning for a write whose people are these; a failure where the caller is strict.
    pub fn check_notify(
        &self,
        asked: NotifyOptions,
        told: NotifiedParties,
        effect: Effect,
    ) -> Outcome<Option<Warning>> {
        let is_loud = self.schedules() && !self.can_be_silent();
        let told_by_server = self.schedules() && told.attendees;
        let message = match asked.notify {
            Notify::None if is_loud && told.attendees => {
                "the provider tells the attendees by itself and cannot be asked not to"
            }
            Notify::None if is_loud && told.organizer && effect.answers => {
                "the provider notifies the organizer by itself, which cannot be turned off"
            }
            Notify::ExternalOnly if told_by_server => {
                "the provider tells every attendee, not only external ones"
            }
            Notify::All | Notify::ExternalOnly if told.guests && effect.is_news && !told_by_server => {
                "the provider does not tell the attendees of this event"
            }
            _ => return Ok(None),
        };
        warn_or_refuse(asked.strict, "notify", ("notify_not_supported", message))
    }

    /// Deletes a resource, and returns the warning. The resource is read before only where its content can matter.
    pub fn delete_heeded(
        &self,
        collection: &Url,
        (id, if_match): (&str, Option<&str>),
        asked: NotifyOptions,
    ) -> Outcome<Vec<Warning>> {
        let is_quiet = asked.notify == Notify::None;
        let matters = match asked.notify {
            Notify::None => self.schedules() && !self.can_be_silent(),
            Notify::ExternalOnly => true,
            Notify::All => asked.strict || self.schedules(),
        };
        // An unreadable one names no people; whether it can be deleted, the deletion shows.
        let current = if matters { self.object(collection, id).ok() } else { None };
        let is_meant = |(_, etag): &Current| if_match.is_none() || etag.as_deref() == if_match;
        let Some(current) = current.filter(is_meant) else {
            self.delete(id, if_match, is_quiet)?;
            return Ok(Vec::new());
        };
        // A warning says that no attendee is notified, if the caller asked for it.
        let effect = Effect { answers: false, is_news: asked.strict || asked.notify != Notify::All };
        let mut warnings: Vec<Warning> = self
            .check_notify(asked, self.notified_parties([current.0.as_str()]), effect)?
            .into_iter()
            .collect();
        let (text, etag) = (current.0.as_str(), current.1.as_deref());
        let (quieter, said) = self.without_comments(collection, id, (text, etag), asked)?;
        warnings.extend(said);
        // Who did not name a version deletes whichever there is.
        let version = if_match.and(quieter.as_ref().map_or(etag, |(_, etag)| etag.as_deref()));
        self.delete(id, version, is_quiet)?;
        Ok(warnings)
    }

    /// Removes the comments of the account's earlier answers from a resource that will be deleted, wholly or in part: to the server such
    /// a deletion is an answer (RFC 6638 section 3.2.2.4), and the comment would be sent with it once more. The removal is a write of
    /// its own, without notifications. Returns the resource afterwards, None where nothing was written, and the warning.
    pub fn without_comments(
        &self,
        collection: &Url,
        id: &str,
        (text, etag): (&str, Option<&str>),
        asked: NotifyOptions,
    ) -> Outcome<(Option<Current>, Option<Warning>)> {
        let is_told =
            asked.notify != Notify::None && self.schedules() && self.notified_parties([text]).organizer;
        let Some(calendar) = resource::parse(text).ok().filter(|_| is_told) else { return Ok((None, None)) };
        let server_tells = Some(false);
        let editor = Editor { reader: &self.reader, original: &calendar, now: self.now(), server_tells };
        let Some(quieter) = editor.without_comments() else { return Ok((None, None)) };
        let response = self.put(id, &quieter, When::Still(etag), true)?;
        match response.status {
            200..=299 => {
                let stored = response.header("etag").map(str::to_owned);
                let current = self.object(collection, id)?;
                // Another client wrote the object between the two requests.
                if stored.is_some() && stored != current.1 {
                    return Err(self.stale());
                }
                Ok((Some(current), None))
            }
            // It is gone: the deletion reports that.
            404 | 410 => Ok((None, None)),
            412 => Err(self.write_failure(&response)),
            // The caller requested the deletion.
            _ => {
                let message = "the provider sends the organizer the comment of an earlier answer once more";
                Ok((None, warn_or_refuse(asked.strict, "notify", ("comment_repeated", message))?))
            }
        }
    }

    /// Returns the warning for an answer to an invitation whose people are these.
    pub fn check_answer_notify(
        &self,
        (tell, strict): (bool, bool),
        told: NotifiedParties,
    ) -> Outcome<Option<Warning>> {
        match (tell, self.schedules() && told.organizer) {
            (true, false) => {
                let message = "the provider does not send this answer; the organizer is not notified";
                warn_or_refuse(strict, "notifyOrganizer", ("organizer_not_notified", message))
            }
            (false, true) if !self.can_be_silent() => {
                let message = "the provider notifies the organizer by itself, which cannot be turned off";
                warn_or_refuse(strict, "notifyOrganizer", ("notify_not_supported", message))
            }
            _ => Ok(None),
        }
    }
}

fn warn_or_refuse(strict: bool, field: &str, (name, message): (&str, &str)) -> Outcome<Option<Warning>> {
    if strict {
        let failure = Failure::new(code::UNSUPPORTED, message);
        return Err(failure.with_detail(json!({ "field": field })));
    }
    Ok(Some(Warning { code: name.into(), message: message.into(), target: Some(field.into()) }))
}

#[cfg(test)]
mod tests {
    use super::keeps_silence;

    #[test]
    fn a_server_is_known_by_its_name_and_version() {
        let debian = "Cyrus-HTTP/3.6.1-Debian-3.6.1-4+deb12u5 Cyrus-SASL/2.1.28 Lib/XML2.9.14";
        for silent in [debian, "Cyrus-HTTP/3.2.0", "Cyrus-HTTP/4.0-alpha0", "x/1 Cyrus-HTTP/3.10.0-beta2"] {
            assert!(keeps_silence(silent), "{silent}");
        }
        for other in ["", "Cyrus-HTTP/", "Cyrus-HTTP/3", "Cyrus-HTTP/3.0.17", "Cyrus-HTTP/2.5.10", "nginx"] {
            assert!(!keeps_silence(other), "{other}");
        }
    }
}
