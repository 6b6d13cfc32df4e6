//! Answering invitations, and asking for a conference.

use base::error::{Code, Result, invalid, refuse};
use model::calendar::{ConferenceProvider, Event, ResponseStatus};
use model::wire::calendar::{EventConference, EventRespond, EventTarget, RecurrenceScope};
use serde_json::Value;
use storage::items::Item;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::request_context::RequestContext;
use crate::resources::collections::open_to_write;
use crate::resources::events::instance::EventIdTarget;
use crate::resources::events::named;
use crate::resources::events::target::{is_lone, lone_scope};
use crate::sync::ensure_fresh;
use crate::writes::etag::ExpectedEtag;
use crate::writes::item_response::answer;
use crate::writes::open_collection::OpenCollection;
use crate::writes::reconcile::{commit, done};
use crate::writes::response::ResponseChange;

/// What a client answers.
pub struct InvitationResponse {
    pub status: ResponseStatus,
    pub comment: Option<String>,
    pub notify_organizer: bool,
    /// Refused where the provider cannot do as `notify_organizer` says.
    pub strict: bool,
    pub scope: Option<RecurrenceScope>,
    pub expected: ExpectedEtag,
    /// What was wrong with the request.
    pub warnings: Vec<Value>,
}

/// Accepts, declines, or perhaps.
pub async fn respond(
    app: &App,
    asker: &RequestContext,
    (calendar_id, event_id): (&str, &str),
    response: InvitationResponse,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    if response.comment.as_ref().is_some_and(|c| c.chars().count() > 2_000) {
        return Err(invalid(Code::InvalidParameter, "comment", "comment may have at most 2000 characters"));
    }
    let (opened, item, event) = opened(app, asker, calendar_id, event_id, attempt.resumed).await?;
    if event.organizer.as_ref().is_some_and(|o| o.is_self) {
        return Err(refuse(Code::OrganizerCannotRsvp, "the connected account organises this event"));
    }
    if !event.attendees.iter().any(|a| a.is_self) {
        return Err(refuse(Code::NotAnAttendee, "the connected account is not invited to this event"));
    }
    response.expected.check(&item.etag)?;
    let args = EventRespond {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: target(&item, &event, response.scope, &response.expected)?,
        response: response.status,
        comment: response.comment,
        notify_organizer: response.notify_organizer,
        strict: response.strict,
    };
    let done = done(app, &opened, asker, attempt, "events.respond", &args).await?;
    let change = ResponseChange { status: 200, metadata: None, warnings: response.warnings };
    commit(app, &opened, asker, done, change, attempt).await
}

/// Asks the provider for a conference; an event that has one keeps it.
pub async fn conference(
    app: &App,
    asker: &RequestContext,
    (calendar_id, event_id): (&str, &str),
    (provider, warnings): (Option<ConferenceProvider>, Vec<Value>),
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let (opened, item, event) = opened(app, asker, calendar_id, event_id, attempt.resumed).await?;
    if event.conference.is_some() {
        return Ok(answer(200, &item, &warnings));
    }
    let args = EventConference {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: target(&item, &event, None, &ExpectedEtag::Anything)?,
        provider,
    };
    let done = done(app, &opened, asker, attempt, "events.conference", &args).await?;
    let change = ResponseChange { status: 200, metadata: None, warnings };
    commit(app, &opened, asker, done, change, attempt).await
}

async fn opened(
    app: &App,
    asker: &RequestContext,
    calendar_id: &str,
    event_id: &str,
    look: bool,
) -> Result<(OpenCollection, Item, Event)> {
    let opened = open_to_write(app, asker, (ResourceKind::Calendar, calendar_id)).await?;
    ensure_fresh(app, &opened.connection, &crate::sync::scope::scope(&opened.collection)?, look).await?;
    let named: EventIdTarget = named(app, asker, calendar_id, event_id).await?;
    let item = named.item();
    let event = serde_json::from_str(&item.body)?;
    Ok((opened, item, event))
}

fn target(
    item: &Item,
    event: &Event,
    scope: Option<RecurrenceScope>,
    expected: &ExpectedEtag,
) -> Result<EventTarget> {
    let is_lone = is_lone(item, event);
    let is_instance = item.series_id.is_some() || is_lone;
    let scope = match (scope, is_instance) {
        (Some(RecurrenceScope::ThisAndFollowing), _) => {
            let message = "an invitation is answered for one instance (this) or for all";
            return Err(invalid(Code::InvalidParameter, "recurrenceScope", message));
        }
        (scope, _) if is_lone => lone_scope(scope)?,
        (Some(scope), true) => scope,
        (None, true) => RecurrenceScope::This,
        _ => RecurrenceScope::All,
    };
    let of_instance = is_instance && scope == RecurrenceScope::This;
    Ok(EventTarget {
        source: Some(item.source_id.clone()),
        recurrence_id: event.recurrence_id.clone().filter(|_| of_instance),
        original_start: event.original_start.filter(|_| of_instance),
        scope,
        if_match: expected.provider_etag(item),
    })
}
