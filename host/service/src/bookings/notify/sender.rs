//! The account that messages about a booking are sent from.

use base::error::Result;
use base::tenant::Tenant;
use model::email::EmailAddress;
use model::scheduling::event_type::{EventType, HostRole};
use storage::connections::{self as table, Connection};

use crate::app::App;
use crate::connections;

/// Most hosts that are checked for one who can send.
const MAX_HOSTS_LOOKED_AT: usize = 8;

/// An account that may send, and its sender address.
#[derive(Clone)]
pub struct Sender {
    pub connection: Connection,
    pub from: EmailAddress,
}

/// The account that sends messages about a booking: the organizer's, else the one that the event type names. None: neither may send, so no
/// mail is sent.
pub async fn find_sender(
    app: &App,
    tenant: &Tenant,
    organizer: Option<&str>,
    event_type: &EventType,
) -> Result<Option<Sender>> {
    let mut found: Option<Sender> = None;
    for id in [organizer, event_type.notifications.connection_id.as_deref()].into_iter().flatten() {
        let Some(sender) = that_sends(app, tenant, id, event_type).await? else { continue };
        if connections::usable(&sender.connection).is_ok() {
            return Ok(Some(sender));
        }
        // In the outbox a message waits a day for an account to be reconnected.
        found = found.or(Some(sender));
    }
    Ok(found)
}

/// Whether messages about a new booking can be sent: by the account that the event type names, or by one of its hosts.
// Contract silent: which host of a pool the organizer will be is not known before the booking is made. That one of the first hosts may
// send is taken for all.
pub async fn is_there_one(app: &App, tenant: &Tenant, event_type: &EventType) -> Result<bool> {
    let hosts = event_type.hosts.iter().filter(|host| host.role != HostRole::Optional);
    let hosts = hosts.take(MAX_HOSTS_LOOKED_AT).map(|host| host.connection_id.as_str());
    let ids: Vec<&str> = event_type.notifications.connection_id.as_deref().into_iter().chain(hosts).collect();
    for id in ids {
        if that_sends(app, tenant, id, event_type).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An account by its id, if it may send and its address is known.
pub async fn that_sends(
    app: &App,
    tenant: &Tenant,
    id: &str,
    event_type: &EventType,
) -> Result<Option<Sender>> {
    let found = table::find(app.db.reader(), tenant, id).await?;
    let Some(connection) = found.filter(|connection| connections::granted(connection, "email.send").is_ok())
    else {
        return Ok(None);
    };
    let from = address_of(&connection, event_type);
    Ok(from.map(|from| Sender { connection, from }))
}

/// The address of an account, with its name for invitees. None: it has no valid address.
pub fn address_of(connection: &Connection, event_type: &EventType) -> Option<EmailAddress> {
    let email = connection.email.as_ref().or(connection.addresses.first())?;
    ::mail::check::email(email).ok()?;
    let host = event_type.hosts.iter().find(|host| host.connection_id == connection.id);
    let shown = host.and_then(|host| host.display_name.clone()).filter(|name| !name.trim().is_empty());
    let name = shown.or_else(|| connection.display_name.clone());
    Some(::mail::foreign::address(&EmailAddress { name, email: email.clone() }))
}
