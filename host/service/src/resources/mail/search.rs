//! Search at the provider, which also covers message bodies. Its results are stored as a pull's are, and returned in its order.

use base::error::{Code, Result, invalid, refuse};
use model::wire::Sources;
use model::wire::email::MessageSearch;
use runtime::{self, Surface, Verb};
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::resource_kind::ResourceKind;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::connections::provider_call::failed;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::normalize::MessageSideData;
use crate::local_copy::render;
use crate::resources::mail::filter::{FoldedFilter, MailQuery, MessageFields, bits, is_in};
use crate::resources::mail::list::local;
use crate::resources::mail::list_place::{MailAccounts, MailListPosition, MailRow};
use crate::sync::backfill;
use crate::writes::provider_records::MessageToFetch;

/// A page of the provider's results. Falls back to the local copy if the provider cannot search; the copy refuses the cursor of a search
/// that another connector began.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    query: &MailQuery,
    opened: &MailAccounts,
    after: Option<MailListPosition>,
    limit: i64,
) -> Result<(Vec<MailRow>, Option<MailListPosition>)> {
    check(query)?;
    let [connection] = opened.connections.as_slice() else {
        // Contract silent: `q` over several mailboxes. What the copies hold is searched: subjects, people, snippets, files.
        return match query.native_query {
            None => local(app, asker, query, opened, after, limit).await,
            Some(_) => {
                let message = "native_query needs connection_id: each provider has a language of its own";
                Err(invalid(Code::MissingField, "connection_id", message))
            }
        };
    };
    // The page to request: the one that was begun, with its own limit rather than this request's.
    let (cursor, last_shown, most) = match after.clone() {
        // The cursor belongs to a list of the local copy.
        Some(MailListPosition::Before(..)) => return local(app, asker, query, opened, after, limit).await,
        Some(MailListPosition::Search(cursor)) => (Some(cursor), None, limit),
        Some(MailListPosition::Within { cursor, id, at, limit }) => (cursor, Some((id, at)), limit),
        None => (None, None, limit),
    };
    // Folders first: the results refer to them.
    backfill::ensure(app, connection, false).await?;
    let args = arguments(app, asker, query, most).await?;
    let as_of = crate::writes::store_read::now(app, asker).await?;
    let reply = match ask(app, asker, connection, &args, cursor.clone()).await {
        Err(e) if e.code == runtime::Code::Unsupported && query.native_query.is_none() => {
            return local(app, asker, query, opened, after, limit).await;
        }
        Err(e) => return Err(failed(app, connection, &e).await),
        Ok(reply) => reply,
    };
    let names: Vec<String> = reply.body.sources.iter().map(|s| s.external_id.clone()).collect();
    let found = match crate::writes::store_read::store(app, connection, reply.body.sources, as_of).await? {
        Some(kept) => kept,
        None => items::of_sources(app.db.reader(), &asker.tenant, &connection.id, &names).await?,
    };
    let narrow = FoldedFilter::from_query(query);
    let (mask, flags) = bits(query);
    let mut rows = Vec::new();
    for item in found {
        let is_listed =
            item.flags & mask == flags && is_in(query, &item.body)? && narrow.admits(&item.body)?;
        let is_kind = !query.drafts || item.kind == ResourceKind::EmailDraft.as_str();
        if is_listed && is_kind {
            let (cursor, id, at) = (cursor.clone(), item.id.clone(), rows.len());
            let place = MailListPosition::Within { cursor, id, at, limit: most };
            rows.push(row(&item, place, query));
        }
    }
    if let Some((id, at)) = last_shown {
        // If the last message shown was deleted, the one after it has taken its place.
        let start = rows.iter().position(|row| row.id == id).map_or(at, |at| at + 1);
        rows.drain(..start.min(rows.len()));
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        if rows.len() > wanted {
            rows.truncate(wanted);
            let place = rows.last().map(|row| row.place.clone());
            return Ok((rows, place));
        }
    }
    let next = reply.cursor.filter(|next| reply.more && Some(next) != cursor.as_ref());
    Ok((rows, next.map(MailListPosition::Search)))
}

fn check(query: &MailQuery) -> Result<()> {
    if query.native_query.is_some() && query.q.is_some() {
        let message = "q and native_query are two ways to ask: use one";
        return Err(invalid(Code::ConflictingFields, "native_query", message));
    }
    Ok(())
}

async fn ask(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    args: &MessageSearch,
    cursor: Option<String>,
) -> Result<Reply<Sources>, runtime::Error> {
    let op = Op { surface: Surface::Email, verb: Verb::Fetch, name: "messages.search" };
    let options = CallOptions { cursor, request_id: asker.request_id.clone(), ..CallOptions::default() };
    let target = CallTarget::for_connection(app, connection)
        .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
    let asked = app.now();
    let reply = call::run(app, &target, op, args, options).await?;
    asker.reading.note(DataAge::provider(Some(asked)));
    Ok(reply)
}

/// The query for the connector, with the provider's ids.
async fn arguments(
    app: &App,
    asker: &RequestContext,
    query: &MailQuery,
    limit: i64,
) -> Result<MessageSearch> {
    let mut args = MessageSearch {
        text: query.q.clone(),
        native_query: query.native_query.clone(),
        received_after: query.received_after.map(model::Instant::from_millis),
        received_before: query.received_before.map(model::Instant::from_millis),
        unread: query.unread,
        starred: query.starred,
        limit: u32::try_from(limit).unwrap_or(200),
        ..MessageSearch::default()
    };
    if args.text.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err(refuse(Code::InvalidParameter, "q must have at least one word"));
    }
    for (kind, id, into) in [
        (ResourceKind::EmailFolder, &query.folder_id, &mut args.folder),
        (ResourceKind::EmailLabel, &query.label_id, &mut args.label),
    ] {
        if let Some(id) = id {
            *into = Some(asker.item(app, kind, id).await?.external_id);
        }
    }
    Ok(args)
}

fn row(item: &Item, place: MailListPosition, query: &MailQuery) -> MailRow {
    MailRow {
        place,
        id: item.id.clone(),
        at: item.sort_at,
        text: render::item(item, &[], query.with_provider_data),
        wanted: (query.fields != MessageFields::Summary).then(|| MessageToFetch {
            id: item.id.clone(),
            connection_id: item.connection_id.clone(),
            source_id: item.source_id.clone(),
            hint: MessageSideData::from_text(item.aside.as_deref()).hint,
        }),
    }
}
