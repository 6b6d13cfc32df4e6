//! Operations of the contract that are not built yet. Each answers 501 `not_implemented` and is already described in full. The
//! list only shrinks: a row moves to the file of its path when it is built (`tests/api/contract/operations.rs` counts them).

use axum::handler::Handler;
use model::connection::{Authorization, AuthorizationResult, NewAuthorization, Token, TokenRequest};
use model::email::draft::Draft;
use model::email::folders::{Folder, Label};
use model::email::send::{DraftPatch, MessagePatch, NewDraft, NewMessage, SendMessage};
use model::email::tracking::TrackingRecord;
use model::email::{Attachment, EmailMessage, EmailThread};
use model::resource::{New, Patch, Resource};
use model::scheduling::booking::{Booking, NewBooking};
use model::scheduling::event_type::EventType;
use model::scheduling::slots::{BookingLink, SlotAnswer, SlotQuery};
use model::sync::{SyncChanges, SyncReset, SyncStart, SyncState};
use model::webhook::WebhookSubscription;

use crate::api::operation::Priority::{Common, Mvp};
use crate::api::operation::{ANY_KEY, Routes};

/// The rows, all with this handler.
pub fn routes<S, H, T>(handler: H) -> Routes<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S>,
    T: 'static,
{
    let h = || handler.clone();
    let email = messages(h()).merge(drafts(h())).merge(email_sync(h()));
    let scheduling = event_types(h()).merge(bookings(h()));
    authorization(h()).merge(webhooks(h())).merge(email).merge(scheduling).not_built()
}

fn authorization<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    Routes::new("Authorization")
        .post("/v1/auth/connectors/{provider}/authorize", "connections.write", Mvp, h.clone())
        .summary("Start connecting an account")
        .description("Send the user to `authorizationUrl`; it works for ten minutes and once.")
        .body::<NewAuthorization>()
        .returns::<Authorization>()
        .status(201)
        // Contract, Endpoints: every operation needs a key. A browser that comes back from the provider has none, so the
        // single-use `state` that the authorization made stands for it.
        .get("/v1/auth/connectors/{provider}/callback", ANY_KEY, Mvp, h.clone())
        .summary("Where the provider sends the user back")
        .description("Redirects to the caller's `redirect_uri` with `connection_id`, `status` and `state`, or with `error`. Authenticated by `state`.")
        .param("code", "string", "Of the provider")
        .param("state", "string", "From the authorization")
        .param("error", "string", "Of the provider, where it refused")
        .returns::<AuthorizationResult>()
        .public()
        .post("/v1/oauth/token", ANY_KEY, Common, h)
        .summary("Token endpoint (RFC 6749)")
        .description("Answers and errors have the shapes of RFC 6749, not the envelope.")
        .body::<TokenRequest>()
        .body_type("application/x-www-form-urlencoded")
        .returns::<Token>()
}

fn webhooks<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    Routes::new("Webhooks")
        .post("/v1/webhooks", "webhooks.write", Mvp, h.clone())
        .summary("Subscribe to notifications")
        .description("The answer holds `secret`, which is not shown again.")
        .body::<New<WebhookSubscription>>()
        .returns::<Resource<WebhookSubscription>>()
        .get("/v1/webhooks", "webhooks.read", Mvp, h.clone())
        .summary("List subscriptions")
        .lists::<Resource<WebhookSubscription>>()
        .get("/v1/webhooks/{webhookId}", "webhooks.read", Mvp, h.clone())
        .summary("Read a subscription")
        .returns::<Resource<WebhookSubscription>>()
        .patch("/v1/webhooks/{webhookId}", "webhooks.write", Mvp, h.clone())
        .summary("Change, pause or resume a subscription, or rotate its secret")
        .body::<Patch<WebhookSubscription>>()
        .returns::<Resource<WebhookSubscription>>()
        .delete("/v1/webhooks/{webhookId}", "webhooks.write", Mvp, h)
        .summary("Delete a subscription")
}

fn messages<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    let routes = Routes::new("Email")
        .get("/v1/email/messages", "email.read", Mvp, h.clone())
        .summary("Search and list messages, newest first");
    message_filters(routes)
        .lists::<Resource<EmailMessage>>()
        .post("/v1/email/messages", "email.write", Mvp, h.clone())
        .summary("Put a message into a folder, without sending it")
        .body::<NewMessage>()
        .returns::<Resource<EmailMessage>>()
        .get("/v1/email/messages/{messageId}", "email.read", Mvp, h.clone())
        .summary("Read a message")
        .param("fields", "string", "`summary`, `headers` or `full` (default)")
        .param("images", "string", "`allow` leaves remote images in `safeHtml`")
        .returns::<Resource<EmailMessage>>()
        .patch("/v1/email/messages/{messageId}", "email.write", Mvp, h.clone())
        .summary("Change flags, folders and labels of a message")
        .body::<MessagePatch>()
        .returns::<Resource<EmailMessage>>()
        .delete("/v1/email/messages/{messageId}", "email.write", Mvp, h.clone())
        .summary("Move a message to the trash, or destroy it")
        .description("A message that is in the trash already is destroyed.")
        .param("permanent", "boolean", "Destroy it at once")
        .get("/v1/email/messages/{messageId}/attachments/{attachmentId}", "email.read", Mvp, h.clone())
        .summary("Fetch an attachment")
        .description("JSON with `contentBase64` up to 10 MiB; the bytes of any size with `Accept: application/octet-stream` or `format=raw`, where `Range` works.")
        .param("format", "string", "`json` (default) or `raw`")
        .header("Range", "Raw bytes only: part of them")
        .returns::<Attachment>()
        .return_type("application/octet-stream")
        .get("/v1/email/threads/{threadId}", "email.read", Mvp, h.clone())
        .summary("Read a thread")
        .returns::<Resource<EmailThread>>()
        .get("/v1/email/folders", "email.read", Mvp, h.clone())
        .summary("List folders")
        .param("connection_id", "string", "The connected account")
        .lists::<Resource<Folder>>()
        .get("/v1/email/labels", "email.read", Mvp, h)
        .summary("List labels")
        .param("connection_id", "string", "The connected account")
        .lists::<Resource<Label>>()
}

fn message_filters<S: Clone + Send + Sync + 'static>(routes: Routes<S>) -> Routes<S> {
    routes
        .param("connection_id", "string", "The connected account")
        .param("folder_id", "string", "In this folder")
        .param("label_id", "string", "With this label")
        .param("thread_id", "string", "Of this thread")
        .param("q", "string", "Free text")
        .param("from", "string", "Sender")
        .param("to", "string", "Recipient in To")
        .param("cc", "string", "Recipient in Cc")
        .param("bcc", "string", "Recipient in Bcc")
        .param("any_email", "string", "Sender or any recipient")
        .param("subject", "string", "Words of the subject")
        .param("unread", "boolean", "Only unread, or only read")
        .param("starred", "boolean", "Only starred, or only others")
        .param("has_attachment", "boolean", "Only with attachments, or only without")
        .param("received_after", "string", "Instant, included")
        .param("received_before", "string", "Instant, not included")
        .param("native_query", "string", "The provider's own search language, if it has one")
        .param("fields", "string", "`summary` (default), `headers` or `full`")
}

fn drafts<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    Routes::new("Email")
        .post("/v1/email/drafts", "email.write", Mvp, h.clone())
        .summary("Create a draft")
        .body::<NewDraft>()
        .returns::<Resource<Draft>>()
        .get("/v1/email/drafts/{draftId}", "email.read", Mvp, h.clone())
        .summary("Read a draft")
        .returns::<Resource<Draft>>()
        .patch("/v1/email/drafts/{draftId}", "email.write", Mvp, h.clone())
        .summary("Change a draft")
        .description("Needs the etag: editors that save by themselves race.")
        .body::<DraftPatch>()
        .returns::<Resource<Draft>>()
        .post("/v1/email/drafts/{draftId}/send", "email.send", Mvp, h.clone())
        .summary("Send a draft")
        .description("Once: a second call gives 409 `draft_already_sent`.")
        .returns::<Resource<EmailMessage>>()
        .post("/v1/email/send", "email.send", Mvp, h.clone())
        .summary("Send a message")
        .body::<SendMessage>()
        .returns::<Resource<EmailMessage>>()
        .get("/v1/email/tracking/{trackingId}", "email.track", Mvp, h)
        .summary("Read a tracking record")
        .returns::<TrackingRecord>()
}

fn email_sync<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    let routes = Routes::new("Email sync")
        .post("/v1/email/sync/start", "email.read", Mvp, h.clone())
        .summary("Start incremental sync of a mailbox")
        .body::<SyncStart>()
        .returns::<SyncState>()
        .get("/v1/email/sync/changes", "email.read", Mvp, h.clone())
        .summary("Read changes of a mailbox")
        .param("connection_id", "string", "The connected account")
        .required();
    changes(routes)
        .post("/v1/email/sync/reset", "email.read", Mvp, h.clone())
        .summary("Compare a mailbox anew")
        .body::<SyncReset>()
        .returns::<SyncState>()
        .get("/v1/email/sync/status/{connectionId}", "email.read", Mvp, h)
        .summary("Read the sync state of a mailbox")
        .returns::<SyncState>()
}

/// What all change feeds have.
fn changes<S: Clone + Send + Sync + 'static>(routes: Routes<S>) -> Routes<S> {
    routes
        .description("Without a cursor it begins with everything there is. Store `sync_cursor` and pass it as `cursor` next time; `next_cursor` is null when caught up.")
        .param("include", "string", "`resource` (default) or `none`")
        .paged()
        .returns::<SyncChanges>()
}

fn event_types<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/event-types", "scheduling.read", Mvp, h.clone())
        .summary("List event types")
        .lists::<Resource<EventType>>()
        .post("/v1/scheduling/event-types", "scheduling.write", Mvp, h.clone())
        .summary("Create an event type")
        .body::<New<EventType>>()
        .returns::<Resource<EventType>>()
        .get("/v1/scheduling/event-types/{eventTypeId}", "scheduling.read", Mvp, h.clone())
        .summary("Read an event type")
        .returns::<Resource<EventType>>()
        .patch("/v1/scheduling/event-types/{eventTypeId}", "scheduling.write", Mvp, h.clone())
        .summary("Change an event type")
        .body::<Patch<EventType>>()
        .returns::<Resource<EventType>>()
        .delete("/v1/scheduling/event-types/{eventTypeId}", "scheduling.write", Mvp, h)
        .summary("Delete an event type; its bookings stay")
}

fn bookings<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/booking-links/{slug}", "scheduling.book", Mvp, h.clone())
        .summary("What a booking page shows")
        .returns::<BookingLink>()
        .post("/v1/scheduling/availability/query", "scheduling.book", Mvp, h.clone())
        .summary("Find slots")
        .body::<SlotQuery>()
        .returns::<SlotAnswer>()
        .post("/v1/scheduling/bookings", "scheduling.book", Mvp, h)
        .summary("Book a slot")
        .description("Exactly one of several requests for the same slot succeeds; the others get 409 `slot_unavailable`.")
        .body::<NewBooking>()
        .returns::<Resource<Booking>>()
}
