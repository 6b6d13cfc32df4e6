//! The rows of watches, their changes, and their log entries.

use base::ids;
use model::Instant;
use model::wire::watch::Watching;
use storage::connections::Connection;
use storage::watches::{Status, Watch};

use crate::app::App;
use crate::app::event_log::{NewLogEntry, Origin};
use crate::app::resource_kind::ResourceKind;
use crate::connections::watch_expiry::renew_at;
use crate::connections::watch_reach;

/// Returns the row of a watch that is about to be requested from the provider.
pub fn starting(app: &App, connection: &Connection, surface: &str, scope_id: &str) -> Watch {
    let id = app.new_id(ids::Kind::Watch);
    Watch {
        tenant: connection.tenant.clone(),
        connection_id: connection.id.clone(),
        provider: connection.provider.clone(),
        surface: surface.to_owned(),
        scope_id: scope_id.to_owned(),
        external_id: None,
        resource: None,
        account: account(app, connection, surface),
        token_hash: app.keyring.watch_token_hash(&app.keyring.watch_token(&id)),
        status: Status::Starting,
        expires_at: None,
        renewed_at: None,
        due_at: None,
        last_notified_at: None,
        created_at: app.now(),
        updated_at: app.now(),
        id,
    }
}

/// Returns the account's address in lower case, if notifications of watches of this surface name only that.
fn account(app: &App, connection: &Connection, surface: &str) -> Option<String> {
    let push = watch_reach::push_of(app, &connection.provider, surface)?;
    push.account.and(connection.email.as_ref()).map(|email| email.to_lowercase())
}

/// Returns the row of a watch that the provider has started or renewed. Fails if it has already expired.
pub fn active(
    app: &App,
    connection: &Connection,
    watch: &Watch,
    watching: Watching,
) -> Result<Watch, runtime::Error> {
    let (now, expires_at) = (app.now(), watching.expires_at.as_millis());
    if expires_at <= now {
        let detail = "expiresAt is over: the provider has ended the watch already";
        return Err(runtime::Error::bad_output(detail));
    }
    let [random] = app.entropy.bytes::<1>();
    Ok(Watch {
        external_id: Some(watching.external_id),
        resource: watching.resource,
        // Since the watch began the account's address may have changed, and so may the fields of the connector's notifications.
        account: account(app, connection, &watch.surface),
        status: Status::Active,
        expires_at: Some(expires_at),
        renewed_at: Some(now),
        due_at: Some(renew_at(now, expires_at, random)),
        updated_at: now,
        ..watch.clone()
    })
}

/// Returns the log entry for a watch that is about to expire, or has expired. None for watches of other resources than calendars.
pub fn status_entry(watch: &Watch) -> Option<NewLogEntry> {
    if watch.surface != ResourceKind::Calendar.surface().as_str() || watch.scope_id.is_empty() {
        return None;
    }
    let at = |ms: Option<i64>| ms.map(Instant::from_millis);
    let resource = serde_json::json!({
        "calendarId": watch.scope_id,
        "status": watch.status.as_str(),
        "expiresAt": at(watch.expires_at),
        "lastNotificationAt": at(watch.last_notified_at),
    });
    Some(NewLogEntry {
        connection_id: Some(watch.connection_id.clone()),
        account_ids: None,
        entry_type: format!("calendar.watch.{}", watch.status.as_str()),
        change_type: "state",
        resource_type: "calendar.watch",
        resource_id: watch.scope_id.clone(),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: Origin::System,
        resource: Some(resource.to_string()),
    })
}
