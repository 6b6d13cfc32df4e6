//! Subscribes to the calendars of hosts whose event types were saved by a version that did not subscribe, have more calendars than saving
//! subscribes to at once, or were reactivated: in the background, once for each event type. Reads only the local copy.

use std::collections::BTreeMap;

use base::error::Result;
use base::tenant::Tenant;
use model::calendar::Calendar;
use model::scheduling::event_type::EventType;
use storage::items::{self, Item};
use storage::scheduling::event_types as table;
use storage::scheduling::event_types::EventTypeRow;
use storage::{Tx, connections as connection_table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::bookings::hosts;
use crate::connections;
use crate::sync::subscribe::{NewSubscription, Subscriptions};

/// Event types that are processed in one run.
const AT_A_TIME: i64 = 50;
/// Most calendars that one run subscribes to; the rest of an event type's are left to the next run.
const MAX_BEGUN: usize = 200;
/// Most calendars of all hosts of one event type that are read. Those of other hosts are read when slots are requested.
const MAX_CALENDARS: i64 = 5_000;
/// Time until an event type that failed is retried, ms.
const FAILED_MS: i64 = 24 * 3_600_000;

/// Subscribes to calendars that are due, in steps of bounded size. Returns false if there are more.
pub async fn catch_up(app: &App) -> Result<bool> {
    let due = table::calendars_due(app.db.reader(), app.now(), AT_A_TIME).await?;
    let mut is_over = i64::try_from(due.len()).is_ok_and(|count| count < AT_A_TIME);
    let mut left = MAX_BEGUN;
    for row in due {
        match one(app, &row, left).await {
            Ok(begun) => left = left.saturating_sub(begun),
            Err(e) => {
                tracing::warn!(event_type = %row.id, error = %e, "the calendars of its hosts cannot be followed");
                let again_at = app.now() + FAILED_MS;
                put_off(app, row.id, again_at).await?;
            }
        }
        if left == 0 {
            is_over = false;
            break;
        }
    }
    Ok(is_over)
}

/// Subscribes to a calendar with the event of a meeting, unless it is already subscribed.
pub async fn begin(app: &App, tenant: &Tenant, connection_id: &str, calendar_id: &str) -> Result<()> {
    let reader = app.db.reader();
    let connection = connection_table::find(reader, tenant, connection_id).await?;
    let calendar = items::find(reader, tenant, ResourceKind::Calendar.as_str(), calendar_id).await?;
    let Some((connection, calendar)) = connection.zip(calendar) else { return Ok(()) };
    let scope = crate::sync::scope::scope(&calendar)?;
    let Some(beginning) = NewSubscription::for_scope(app, &connection, scope).await? else { return Ok(()) };
    let (held, tenant, beginnings) = (app.clone(), tenant.clone(), [beginning.by_system()]);
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let following = Subscriptions::lock(tx, &tenant, &beginnings).await?;
                following.write(tx, &held, &tenant).await
            })
        })
        .await
}

async fn put_off(app: &App, id: String, again_at: i64) -> Result<()> {
    app.db
        .write(move |tx| {
            Box::pin(async move { Ok(table::set_calendars_due(tx, &id, Some(again_at)).await?) })
        })
        .await
}

/// Subscribes to at most `most` calendars of one event type's hosts. Returns their number.
async fn one(app: &App, row: &EventTypeRow, most: usize) -> Result<usize> {
    let body: EventType = serde_json::from_str(&row.body)?;
    // When it is active again it becomes due again.
    let beginnings = if body.active { beginnings(app, row, &body, most).await? } else { Vec::new() };
    let begun = beginnings.len();
    let (held, row) = (app.clone(), row.clone());
    let is_all = begun < most;
    app.db
        .write(move |tx| Box::pin(async move { write(tx, &held, &row, &beginnings, is_all).await }))
        .await?;
    Ok(begun)
}

/// Returns at most `most` missing subscriptions to the hosts' calendars.
async fn beginnings(
    app: &App,
    row: &EventTypeRow,
    body: &EventType,
    most: usize,
) -> Result<Vec<NewSubscription>> {
    let reader = app.db.reader();
    let ids: Vec<String> = body.hosts.iter().map(|host| host.connection_id.clone()).collect();
    let accounts = connection_table::of_ids(reader, &row.tenant, &ids).await?;
    let mut calendars: BTreeMap<String, Vec<(Item, Calendar)>> = BTreeMap::new();
    for item in items::unfollowed_calendars(reader, &row.tenant, &ids, MAX_CALENDARS).await? {
        let calendar = serde_json::from_str(&item.body)?;
        calendars.entry(item.connection_id.clone()).or_default().push((item, calendar));
    }
    let mut found = Vec::new();
    for host in &body.hosts {
        let account = accounts.iter().find(|account| account.id == host.connection_id);
        let account = account.filter(|account| connections::granted(account, "calendar.write").is_ok());
        let Some((account, calendars)) = account.zip(calendars.get(&host.connection_id)) else { continue };
        for item in hosts::to_follow(host, calendars) {
            if found.len() == most {
                return Ok(found);
            }
            let beginning =
                NewSubscription::for_scope(app, account, crate::sync::scope::scope(item)?).await?;
            found.extend(beginning.map(NewSubscription::by_system));
        }
    }
    Ok(found)
}

/// Writes the subscriptions; nothing if the event type was changed in the meantime, so that it stays due.
async fn write(
    tx: &mut Tx,
    app: &App,
    row: &EventTypeRow,
    beginnings: &[NewSubscription],
    is_all: bool,
) -> Result<()> {
    let found = table::lock(tx, &row.tenant, &row.id).await?;
    if found.is_none_or(|found| found.version != row.version) {
        return Ok(());
    }
    let following = Subscriptions::lock(tx, &row.tenant, beginnings).await?;
    if is_all {
        table::set_calendars_due(tx, &row.id, None).await?;
    }
    following.write(tx, app, &row.tenant).await
}
