//! Calendars: list, read, create, change, delete.

use std::sync::Arc;

use model::calendar::Calendar;
use model::wire::{CollectionDelete, CollectionWrite, Mutated};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::error::{Code, Error, Result, invalid};
use crate::resources::apply;
use crate::resources::commit::{Change, commit, place};
use crate::resources::{Asker, Expected, Kind, mutate, patch, render};
use crate::storage::connections::{self as connections_table, Connection};
use crate::storage::items::{self, Item};
use crate::sync::{Scope, ensure_fresh, pull, was_just_read};

/// The scope of a calendar's events.
pub fn scope(calendar: &Item) -> Result<Scope> {
    /// All that is needed of the body, on the path of every read.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Body {
        time_zone: Option<String>,
    }
    let body: Body = serde_json::from_str(&calendar.body)?;
    Ok(Scope {
        kind: Kind::Event,
        scope_id: calendar.id.clone(),
        collection: Some(calendar.external_id.clone()),
        time_zone: body.time_zone,
    })
}

/// Sees to it that a calendar's events are fresh enough to be read.
pub async fn freshen(app: &App, asker: &Asker, connection: &Connection, calendar: &Item) -> Result<()> {
    // Its name says whether it was just read; the rest of a scope costs a look into the body.
    let name = Scope { kind: Kind::Event, scope_id: calendar.id.clone(), collection: None, time_zone: None };
    if !asker.no_cache && was_just_read(app, connection, &name) {
        return Ok(());
    }
    // Boxed, as what is rare on the path of a read is here: futures are moved, and a pull's is large.
    Box::pin(ensure_fresh(app, connection, &scope(calendar)?, asker.no_cache)).await
}

/// A page of calendars in id order. Without a connection: of every usable connection that the key may see.
pub async fn list(
    app: &App,
    asker: &Asker,
    connection_id: Option<&str>,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    if let Some(id) = connection_id {
        let connection = asker.connection(app, id, "calendar.read").await?;
        ensure_fresh(app, &connection, &Scope::calendars(), asker.no_cache).await?;
    } else if after_id.is_empty() {
        freshen_all(app, asker).await?;
    }
    let mut found: Vec<Item> = Vec::new();
    let mut after = after_id.to_owned();
    // Keys that are bound to some connections see fewer rows than the query finds.
    while (found.len() as i64) < limit {
        let rows = items::list_top(
            app.db.reader(),
            &asker.tenant,
            connection_id,
            Kind::Calendar.as_str(),
            &after,
            limit,
        )
        .await?;
        let is_last = (rows.len() as i64) < limit;
        after = rows.last().map_or(after, |i| i.id.clone());
        found.extend(rows.into_iter().filter(|i| asker.may_use(&i.connection_id)));
        if is_last {
            break;
        }
    }
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// One account that does not answer must not hide the calendars of the others: what was read of it earlier is shown.
async fn freshen_all(app: &App, asker: &Asker) -> Result<()> {
    let mut after = String::new();
    loop {
        let page = connections_table::list(app.db.reader(), &asker.tenant, ("", ""), &after, 100).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after.clone_from(&last.id);
        for connection in page.iter().filter(|c| asker.may_use(&c.id) && is_readable(c)) {
            if let Err(e) = ensure_fresh(app, connection, &Scope::calendars(), asker.no_cache).await {
                tracing::warn!(connection = %connection.id, error = %e, "its calendars could not be read");
            }
        }
    }
}

fn is_readable(connection: &Connection) -> bool {
    crate::connections::usable(connection).is_ok()
        && crate::connections::granted(connection, "calendar.read").is_ok()
}

/// A calendar and its connection, for whoever has this scope.
pub async fn open(app: &App, asker: &Asker, calendar_id: &str, scope: &str) -> Result<(Connection, Item)> {
    let item = asker.item(app, Kind::Calendar, calendar_id).await?;
    let connection = asker.connection(app, &item.connection_id, scope).await?;
    Ok((connection, item))
}

/// The same for reads, out of a cache that forgets within a second: a read of one event is then one query.
pub async fn open_to_read(app: &App, asker: &Asker, calendar_id: &str) -> Result<Arc<(Connection, Item)>> {
    let name = format!("{}/{calendar_id}", asker.tenant.application_id);
    let now = app.now();
    if let Some(found) = app.opened.get(&name, now).filter(|f| asker.may_use(&f.0.id)) {
        return Ok(found);
    }
    let opened = Arc::new(Box::pin(open(app, asker, calendar_id, "calendar.read")).await?);
    app.opened.put(name, opened.clone(), now);
    Ok(opened)
}

/// Reads one, fresh.
pub async fn get(app: &App, asker: &Asker, calendar_id: &str) -> Result<Item> {
    let (connection, _) = open(app, asker, calendar_id, "calendar.read").await?;
    ensure_fresh(app, &connection, &Scope::calendars(), asker.no_cache).await?;
    asker.item(app, Kind::Calendar, calendar_id).await
}

/// Makes a calendar at the provider.
pub async fn create(
    app: &App,
    asker: &Asker,
    mut input: Map<String, Value>,
    strict: bool,
    attempt: &Attempt,
) -> Result<Answer> {
    let connection_id = match input.remove("connectionId") {
        Some(Value::String(id)) => id,
        _ => return Err(invalid(Code::MissingField, "connectionId", "connectionId is required")),
    };
    let connection = asker.connection(app, &connection_id, "calendar.write").await?;
    let write = patch::over(&Calendar::default(), &Value::Null, input, &[])?;
    check(&write.body)?;
    let warnings = patch::warnings(&write.unknown, strict)?;
    let args = CollectionWrite { body: write.body, changed: write.changed, ..CollectionWrite::default() };
    let mutated: Mutated = mutate(app, &connection, asker, attempt, "calendars.create", &args).await?;
    let change = Change { status: 201, metadata: write.metadata, warnings };
    store(app, &connection, mutated, change, attempt).await
}

fn check(calendar: &Calendar) -> Result<()> {
    let name = calendar.name.trim();
    if name.is_empty() || name.chars().count() > 255 {
        let code = if name.is_empty() { Code::MissingField } else { Code::InvalidParameter };
        return Err(invalid(code, "name", "name is required and has at most 255 characters"));
    }
    if let Some(zone) = &calendar.time_zone {
        crate::resources::events::times::zone("timeZone", zone)?;
    }
    if let Some(color) = &calendar.color {
        crate::resources::events::input::color(color)?;
    }
    Ok(())
}

/// Changes a calendar.
pub async fn update(
    app: &App,
    asker: &Asker,
    calendar_id: &str,
    (input, expected): (Map<String, Value>, Expected),
    strict: bool,
    attempt: &Attempt,
) -> Result<Answer> {
    let _one = app.locks.lock(&format!("item:{calendar_id}")).await;
    let (connection, item) = open(app, asker, calendar_id, "calendar.write").await?;
    let current: Calendar = serde_json::from_str(&item.body)?;
    let printed: Value = serde_json::from_str(&render::item(&item, &[], false))?;
    let write = patch::over(&current, &printed, input, &[])?;
    check(&write.body)?;
    let warnings = patch::warnings(&write.unknown, strict)?;
    if !(attempt.resumed && write.changed.is_empty()) {
        expected.check(&item.etag)?;
    }
    let change = Change { status: 200, metadata: write.metadata, warnings };
    if write.changed.is_empty() {
        let mutated = Mutated { item: Some(item.external_id.clone()), ..Mutated::default() };
        return store(app, &connection, mutated, change, attempt).await;
    }
    let args = CollectionWrite {
        source: Some(item.source_id.clone()),
        body: write.body,
        changed: write.changed,
        if_match: expected.provider_etag(&item),
    };
    let mutated: Mutated = mutate(app, &connection, asker, attempt, "calendars.update", &args).await?;
    store(app, &connection, mutated, change, attempt).await
}

/// Stores it, and forgets what was read of calendars a moment ago.
async fn store(
    app: &App,
    connection: &Connection,
    mutated: Mutated,
    change: Change,
    attempt: &Attempt,
) -> Result<Answer> {
    let stored = commit(app, place(connection, Kind::Calendar, ""), mutated, change, attempt).await;
    app.opened.clear();
    stored
}

/// Deletes a calendar with everything in it.
pub async fn delete(
    app: &App,
    asker: &Asker,
    calendar_id: &str,
    expected: Expected,
    attempt: &Attempt,
) -> Result<Answer> {
    let _one = app.locks.lock(&format!("item:{calendar_id}")).await;
    let opened = open(app, asker, calendar_id, "calendar.write").await;
    let (connection, item) = match opened {
        // An earlier attempt got as far as this.
        Err(e) if attempt.resumed && e.code() == Some(Code::NotFound) => return Ok(Answer::no_content()),
        other => other?,
    };
    expected.check(&item.etag)?;
    let args = CollectionDelete {
        source: item.source_id.clone(),
        if_match: expected.provider_etag(&item),
        force: true,
    };
    let gone: Result<Mutated> = mutate(app, &connection, asker, attempt, "calendars.delete", &args).await;
    match gone {
        Ok(_) => {}
        Err(e) if e.code() == Some(Code::NotFound) && attempt.resumed => {}
        Err(e) => return Err(e),
    }
    let place = place(&connection, Kind::Calendar, "");
    let (app, attempt, answer, held) = (app.clone(), attempt.clone(), Answer::no_content(), app.clone());
    let kept = answer.clone();
    held.db
        .write(move |tx| {
            Box::pin(async move {
                pull::remove_collection(tx, &app, &place, &item.id).await?;
                let source = std::slice::from_ref(&item.source_id);
                apply::remove_sources(tx, &app, &place, source, i64::MAX).await?;
                attempt.store(tx, &app.keyring, &kept, app.now()).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    held.opened.clear();
    Ok(answer)
}
