//! `/v1/contacts/sync`

use model::contacts::ContactBook;
use model::resource::Written;
use model::sync::{ConnectionSyncReset, ConnectionSyncStart, SyncChanges, SyncState};
use service::app::App;
use service::app::resource_kind::ResourceKind;

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::request::query::RequiredConnectionQuery;
use crate::api::shared::change_feed::{
    ConnectionFeed, changes_whole, parameters, reset_whole, start_whole, status_whole,
};

impl ConnectionFeed for ContactBook {
    const KIND: ResourceKind = ResourceKind::ContactBook;
    const CHANGES: &'static str = "contacts.sync.changes";
}

pub fn routes() -> Routes<App> {
    let changes = Routes::new("Contact sync")
        .post("/v1/contacts/sync/start", "contacts.read", Mvp, start_whole::<ContactBook>)
        .summary("Start incremental sync of contacts")
        .description("From now on the service keeps its copy of all contact books of `connectionId` up to date. Starting the sync again changes nothing and answers 200.")
        .status(202)
        .body::<ConnectionSyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/contacts/sync/changes", "contacts.read", Mvp, changes_whole::<ContactBook>)
        .summary("Read what changed in contacts, groups and books")
        .description("Without `cursor`, the feed begins with everything that exists. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time. `resourceType` is `contact`, `contact_group` or `contact_book`.")
        .query::<RequiredConnectionQuery>();
    parameters(changes)
        .returns::<SyncChanges>()
        .post("/v1/contacts/sync/reset", "contacts.read", Additive, reset_whole::<ContactBook>)
        .summary("Read everything again")
        .description("With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.")
        .status(202)
        .body::<ConnectionSyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/contacts/sync/status/{connectionId}", "contacts.read", Additive, status_whole::<ContactBook>)
        .summary("Read the state of the sync")
        .returns::<SyncState>()
}
