//! `/v1/email/sync`

use model::email::EmailMessage;
use model::resource::Written;
use model::sync::{ConnectionSyncReset, ConnectionSyncStart, SyncChanges, SyncState};
use service::app::App;
use service::app::resource_kind::ResourceKind;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::query::RequiredConnectionQuery;
use crate::api::shared::change_feed::{
    ConnectionFeed, changes_whole, parameters, reset_whole, start_whole, status_whole,
};

impl ConnectionFeed for EmailMessage {
    const KIND: ResourceKind = ResourceKind::EmailMessage;
    const CHANGES: &'static str = "email.sync.changes";
}

pub fn routes() -> Routes<App> {
    let changes = Routes::new("Email sync")
        .post("/v1/email/sync/start", "email.read", Mvp, start_whole::<EmailMessage>)
        .summary("Start incremental sync of a mailbox")
        .description("From now on the service keeps its copy of the mailbox of `connectionId` up to date. It reads all messages, newest first. Starting the sync again changes nothing and answers 200.")
        .status(202)
        .body::<ConnectionSyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/email/sync/changes", "email.read", Mvp, changes_whole::<EmailMessage>)
        .summary("Read what changed in a mailbox")
        .description("Without `cursor`, the feed begins with everything in the mailbox. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time. `resourceType` is `email.message`, `email.draft`, `email.folder` or `email.label`. During the first sync of the mailbox (`sync_status` is `initial`), older messages follow.")
        .query::<RequiredConnectionQuery>();
    parameters(changes)
        .returns::<SyncChanges>()
        .post("/v1/email/sync/reset", "email.read", Mvp, reset_whole::<EmailMessage>)
        .summary("Read the mailbox again")
        .description("With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.")
        .status(202)
        .body::<ConnectionSyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/email/sync/status/{connectionId}", "email.read", Mvp, status_whole::<EmailMessage>)
        .summary("Read the state of the sync of a mailbox")
        .description("Returns how far the copy of the mailbox is, when it was last updated, and the last error.")
        .returns::<SyncState>()
}
