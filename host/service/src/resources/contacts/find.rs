//! Lists of contacts and groups, by name.

use base::error::{Code, Result};
use base::input::validate::fault;
use serde::Serialize;
use storage::items::{List, Within};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::contact::{email_key, group_key, phone_key};
use crate::local_copy::search_text::words;
use crate::resources::collection_items::{self, ListPosition};
use crate::resources::collections::{self, freshen_all, open_to_read};
use crate::sync::collection_set;

/// Filters and options of a list of contacts. The serialized part is bound to the cursor.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ContactQuery {
    pub connection_id: Option<String>,
    pub book_id: Option<String>,
    pub group_id: Option<String>,
    pub q: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub updated_after: Option<i64>,
    /// Whether provider data is returned too. Not part of the filter: a cursor is valid with or without it.
    #[serde(skip)]
    pub with_provider_data: bool,
}

/// Refreshes the books of the query if they are stale. Fails if they may not be read.
pub async fn freshen(app: &App, asker: &RequestContext, query: &ContactQuery) -> Result<()> {
    let kind = ResourceKind::ContactBook;
    if let Some(id) = &query.connection_id {
        let connection = asker.connection(app, id, kind.read_scope()).await?;
        if query.book_id.is_none() {
            asker.reading.note(collection_set::refresh_all(app, &connection, kind, asker.no_cache).await?);
        }
    }
    if let Some(id) = &query.book_id {
        let opened = open_to_read(app, asker, kind, id).await;
        let opened = opened.map_err(|e| match e.code() {
            Some(Code::NotFound) => fault("book_id", "names no contact book"),
            _ => e,
        })?;
        collections::freshen(app, asker, &opened.0, &opened.1).await?;
    }
    if query.connection_id.is_none() && query.book_id.is_none() {
        freshen_all(app, asker, kind, true).await?;
    }
    if let Some(id) = &query.group_id {
        let found = asker.item(app, ResourceKind::ContactGroup, id).await;
        found.map_err(|e| match e.code() {
            Some(Code::NotFound) => fault("group_id", "names no contact group"),
            _ => e,
        })?;
    }
    Ok(())
}

/// A page of contacts or groups that were already refreshed.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
    query: &ContactQuery,
    after: Option<ListPosition>,
    limit: i64,
) -> Result<(Vec<String>, Option<ListPosition>)> {
    let words = words(query.q.as_deref())?;
    let keys: Vec<_> = [
        query.group_id.as_deref().map(group_key),
        query.email.as_deref().map(email_key),
        query.phone.as_deref().map(|number| phone_key(number, None)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let within = match (&query.book_id, &query.connection_id) {
        (Some(id), _) => Within::Collection(id),
        (None, Some(id)) => Within::Connection(id),
        (None, None) => Within::Application,
    };
    let list = List {
        within,
        kind: kind.as_str(),
        updated_after: query.updated_after.unwrap_or(i64::MIN),
        words: &words,
        keys: &keys,
        after: ("", ""),
        limit,
    };
    let connection = query.connection_id.as_deref();
    let admits = |row: &storage::items::ItemColumns<'_>| {
        // A book of another connection than the given one holds no match.
        let is_asked = connection.is_none_or(|c| c == row.connection_id);
        Ok(is_asked && !asker.reading.withholds(row.connection_id))
    };
    collection_items::list(app, asker, &list, after, query.with_provider_data, admits).await
}

/// Refreshes the book of a contact or a group if it is stale.
pub async fn freshen_one(app: &App, asker: &RequestContext, kind: ResourceKind, id: &str) -> Result<()> {
    let item = asker.item(app, kind, id).await?;
    let opened = open_to_read(app, asker, ResourceKind::ContactBook, &item.parent_id).await?;
    collections::freshen(app, asker, &opened.0, &opened.1).await
}
