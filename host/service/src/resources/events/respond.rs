//! Responds to invitations, and requests conferences.

use base::error::{Code, Result, invalid, refuse};
use model::bounds::event::MAX_COMMENT;
use model::calendar::{ConferenceProvider, Event, ResponseStatus};
use model::wire::calendar::{EventConference, EventRespond, EventTarget, RecurrenceScope};
use serde_json::Value;
use storage::items::Item;

use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, call_provider};
use crate::connections::write_context::WriteContext;
use crate::resources::events::open::{EventPath, EventToWrite};
use crate::resources::events::target::{find_series, is_lone, lone_scope};
use crate::writes::etag::ExpectedEtag;
use crate::writes::item_response::answer;
use crate::writes::open_collection::OpenCollection;
use crate::writes::reconcile::reconcile;
use crate::writes::response::{ItemView, ResponseChange};

/// A client's response to an invitation.
pub struct InvitationResponse {
    pub status: ResponseStatus,
    pub comment: Option<String>,
    pub notify_organizer: bool,
    /// Refuses a `notify_organizer` that the provider cannot do.
    pub strict: bool,
    pub scope: Option<RecurrenceScope>,
    pub expected: ExpectedEtag,
    /// Warnings about the request, to be returned with the answer.
    pub warnings: Vec<Value>,
}

/// Sets the account's response: accepted, declined or tentative.
pub async fn respond(
    cx: &WriteContext,
    path: EventPath<'_>,
    response: InvitationResponse,
) -> Result<StoredResponse> {
    if response.comment.as_ref().is_some_and(|c| c.chars().count() > MAX_COMMENT) {
        let message = format!("comment may have at most {MAX_COMMENT} characters");
        return Err(invalid(Code::InvalidParameter, "comment", message));
    }
    let (opened, item, event) = open_event(cx, path).await?;
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
        target: target(cx, &item, &event, response.scope, &response.expected).await?,
        response: response.status,
        comment: response.comment,
        notify_organizer: response.notify_organizer,
        strict: response.strict,
    };
    let call = ProviderChange::new(opened.kind.surface(), "events.respond", &args);
    let mut done = call_provider(cx, &opened.account, call).await?;
    let change = ResponseChange { status: 200, metadata: None, warnings: response.warnings };
    let view = ItemView::new(&mut done, change)?;
    reconcile(cx, opened.location(), done, view).await
}

/// Asks the provider for a conference; an event that has one keeps it.
pub async fn conference(
    cx: &WriteContext,
    path: EventPath<'_>,
    provider: Option<ConferenceProvider>,
    warnings: Vec<Value>,
) -> Result<StoredResponse> {
    let (opened, item, event) = open_event(cx, path).await?;
    if event.conference.is_some() {
        return Ok(answer(200, &item, &warnings));
    }
    let args = EventConference {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        target: target(cx, &item, &event, None, &ExpectedEtag::Anything).await?,
        provider,
    };
    let call = ProviderChange::new(opened.kind.surface(), "events.conference", &args);
    let mut done = call_provider(cx, &opened.account, call).await?;
    let change = ResponseChange { status: 200, metadata: None, warnings };
    let view = ItemView::new(&mut done, change)?;
    reconcile(cx, opened.location(), done, view).await
}

async fn open_event(cx: &WriteContext, path: EventPath<'_>) -> Result<(OpenCollection, Item, Event)> {
    let mut target = EventToWrite::open(cx, path).await?;
    let item = target.current(cx).await?.into_item();
    let event = serde_json::from_str(&item.body)?;
    Ok((target.opened, item, event))
}

async fn target(
    cx: &WriteContext,
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
    let series = find_series(&cx.app, &cx.request, item, scope).await?;
    let changed = series.as_ref().unwrap_or(item);
    Ok(EventTarget {
        source: Some(changed.source_id.clone()),
        recurrence_id: event.recurrence_id.clone().filter(|_| of_instance),
        original_start: event.original_start.filter(|_| of_instance),
        scope,
        if_match: expected.provider_etag(changed),
    })
}
