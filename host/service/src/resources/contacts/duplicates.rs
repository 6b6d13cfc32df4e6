//! Merge suggestions: the contacts of a query are read once, row by row, into `merging`, which keeps little of each; the full
//! contacts are read again for the suggestions of one page alone.

use std::sync::Arc;

use base::error::{Code, Error, Result, invalid, refuse};
use base::input::validate::{self, fault};
use merging::{Engine, Filter, Position, Ranking, suggestion};
use model::bounds::contact::MAX_NAMED;
use model::contacts::{Contact, MergeSuggestionQuery};
use model::resource::Resource;
use storage::items::{self, ItemColumns, List, VisitedItem, Within};
use storage::log;

use crate::app::App;
use crate::app::page_cache::PageBudget;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::render;
use crate::resources::collection_items::ListPosition;
use crate::resources::contacts::find;

/// Most contacts that one query reads.
const MAX_CONTACTS: usize = 250_000;
/// Rows read at a time; other tasks run in between.
const ROWS: i64 = 500;

/// Checks a query before anything is read.
pub fn valid(query: &MergeSuggestionQuery) -> Result<()> {
    if !(0.0..=1.0).contains(&query.min_score) {
        return Err(fault("minScore", "must be from 0 to 1"));
    }
    validate::length("bookIds", query.book_ids.len(), MAX_NAMED)?;
    validate::length("contactIds", query.contact_ids.len(), MAX_NAMED)
}

/// A page of rendered suggestions, and the position of the next one.
pub async fn page(
    app: &App,
    asker: &RequestContext,
    query: &MergeSuggestionQuery,
    after: Option<Position>,
    limit: usize,
) -> Result<(Vec<String>, Option<Position>)> {
    refresh_if_stale(app, asker, query).await?;
    let ranking = ranking(app, asker, query).await?;
    let ranked = ranking.page(after.as_ref(), limit + 1);
    let mut room = PageBudget::new(limit);
    let mut found = Vec::new();
    let mut last = None;
    for (number, one) in ranked.iter().enumerate() {
        if number == limit {
            return Ok((found, last));
        }
        let mut members = Vec::with_capacity(one.contact_ids.len());
        for id in &one.contact_ids {
            members.extend(contact(app, asker, id).await?);
        }
        // A suggestion is left out once one of its members was deleted.
        if let Some(suggestion) = suggestion(one, &members, None) {
            let text = serde_json::to_string(&suggestion)?;
            if !room.take(text.len()) {
                return Ok((found, last));
            }
            found.push(text);
        }
        last = Some(one.position());
    }
    Ok((found, None))
}

async fn refresh_if_stale(app: &App, asker: &RequestContext, query: &MergeSuggestionQuery) -> Result<()> {
    let at = |connection_id: Option<String>, book_id: Option<String>| find::ContactQuery {
        connection_id,
        book_id,
        ..find::ContactQuery::default()
    };
    for (i, id) in query.book_ids.iter().enumerate() {
        let of_book = at(query.connection_id.clone(), Some(id.clone()));
        find::freshen(app, asker, &of_book)
            .await
            .map_err(|e| with_field(e, "book_id", &format!("bookIds[{i}]")))?;
    }
    if query.book_ids.is_empty() {
        find::freshen(app, asker, &at(query.connection_id.clone(), None)).await?;
    }
    for (i, id) in query.contact_ids.iter().enumerate() {
        asker.item(app, ResourceKind::Contact, id).await.map_err(|e| match e.code() {
            Some(Code::NotFound) => fault(&format!("contactIds[{i}]"), "names no contact"),
            _ => e,
        })?;
    }
    Ok(())
}

/// Maps an error of a list parameter to the field of this query.
fn with_field(e: Error, parameter: &str, field: &str) -> Error {
    match e {
        Error::Refused(r) if r.param.as_deref() == Some(parameter) => {
            let message = r.message.replacen(parameter, field, 1);
            invalid(r.code, field.to_owned(), message)
        }
        other => other,
    }
}

/// All suggestions of a query, cached for paging as long as nothing changes.
async fn ranking(app: &App, asker: &RequestContext, query: &MergeSuggestionQuery) -> Result<Arc<Ranking>> {
    let sequence = log::last_sequence(app.db.resources(), &asker.tenant).await?;
    let asked =
        (&query.connection_id, &query.book_ids, &query.contact_ids, query.min_score, asker.bound_to());
    let name = format!("{}/{sequence}/{}", asker.tenant.application_id, serde_json::to_string(&asked)?);
    if let Some(known) = app.rankings.get(&name, app.now()) {
        return Ok(known);
    }
    let _place = app.merging.place(&asker.tenant.application_id).await;
    if let Some(known) = app.rankings.get(&name, app.now()) {
        return Ok(known);
    }
    let mut engine = Engine::new(None);
    match (&query.book_ids[..], &query.connection_id) {
        ([], Some(id)) => read(app, asker, Within::Connection(id), &mut engine).await?,
        ([], None) => read(app, asker, Within::Application, &mut engine).await?,
        (books, _) => {
            for id in books {
                read(app, asker, Within::Collection(id), &mut engine).await?;
            }
        }
    }
    let (min_score, contact_ids) = (query.min_score, query.contact_ids.clone());
    let ranked =
        tokio::task::spawn_blocking(move || engine.rank(&Filter { min_score, contact_ids: &contact_ids }));
    let ranking = Arc::new(ranked.await.map_err(|e| anyhow::anyhow!(e))?);
    app.rankings.put(name, ranking.clone(), app.now());
    Ok(ranking)
}

/// Reads contacts into the engine.
async fn read(app: &App, asker: &RequestContext, within: Within<'_>, engine: &mut Engine) -> Result<()> {
    let mut after = ListPosition::default();
    loop {
        let list = List {
            within,
            kind: ResourceKind::Contact.as_str(),
            updated_after: i64::MIN,
            words: &[],
            keys: &[],
            after: (&after.sort_text, &after.id),
            limit: ROWS,
        };
        let take = |row: VisitedItem<'_>| {
            let shown = row.shown.filter(|shown| asker.may_use(shown.connection_id));
            let contact = shown.map(|shown| serde_json::from_str::<Contact>(shown.body)).transpose()?;
            Ok((ListPosition { sort_text: row.sort_text.to_owned(), id: row.id.to_owned() }, contact))
        };
        let chunk = items::read_list(app.db.resources(), &asker.tenant, &list, false, take).await?;
        for (place, contact) in &chunk.rows {
            if let Some(contact) = contact {
                engine.add(&place.id, contact);
            }
        }
        if engine.len() > MAX_CONTACTS {
            let message = format!("more than {MAX_CONTACTS} contacts; name a connection or books");
            return Err(refuse(Code::RangeTooLarge, message));
        }
        let is_last = chunk.is_last;
        match chunk.rows.into_iter().next_back() {
            Some((last, _)) if !is_last => after = last,
            _ => return Ok(()),
        }
        tokio::task::yield_now().await;
    }
}

/// A contact as the API shows it.
async fn contact(app: &App, asker: &RequestContext, id: &str) -> Result<Option<Resource<Contact>>> {
    let read = |row: ItemColumns<'_>| render::item_columns(&row, &[], false);
    let row = (ResourceKind::Contact.as_str(), id);
    let text = items::read(app.db.resources(), &asker.tenant, row, false, read).await?;
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}
