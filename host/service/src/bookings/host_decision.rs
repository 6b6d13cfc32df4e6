//! A host's right to confirm or decline one pending booking, carried by a signed link in the host's mail. It needs no API key, belongs to
//! one host, and ends when the host leaves the event type or the booking, or the connection is deleted.

use base::error::{Code, Result, not_found, refuse};
use base::keyring::Keyring;
use model::scheduling::booking::Booking;
use model::scheduling::event_type::EventType;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::{applications, event_types};

use crate::app::App;
use crate::bookings::change::{self, LockedBooking};

const KIND: &str = "decide-booking";

/// Addresses of the pages on which a host decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionUrls {
    pub confirm: String,
    pub decline: String,
}

/// The right of a host to decide, and the booking as the host saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRight {
    pub connection_id: String,
    /// Links with another version of the booking are invalid.
    pub manage_version: i64,
    /// The booking's SEQUENCE on the page that the host saw, which identifies the time that was confirmed or declined.
    pub sequence: i64,
}

/// A booking with the host who may decide about it.
pub struct BookingOfHost {
    pub row: BookingRow,
    pub connection_id: String,
}

/// The addresses for one host of a booking.
pub fn urls(app: &App, row: &BookingRow, connection_id: &str) -> DecisionUrls {
    let address = app.config.public_address();
    let page = format!("{address}/book/h/{}", token(&app.keyring, row, connection_id));
    DecisionUrls { confirm: format!("{page}/confirm"), decline: format!("{page}/decline") }
}

fn token(keyring: &Keyring, row: &BookingRow, connection_id: &str) -> String {
    let text =
        storage::json_text(&(KIND, &row.tenant.application_id, &row.id, row.manage_version, connection_id));
    keyring.signed(text.as_bytes())
}

/// Whether this service made the token. The right may have ended.
pub fn is_genuine(keyring: &Keyring, token: &str) -> bool {
    DecisionClaims::read(keyring, token).is_some()
}

/// The booking and host of a token; none if the token is not of this service, or the right has ended.
pub async fn find(app: &App, token: &str) -> Result<Option<BookingOfHost>> {
    let Some(claims) = DecisionClaims::read(&app.keyring, token) else { return Ok(None) };
    let reader = app.db.reader();
    let Some(tenant) = applications::by_id(reader, &claims.application_id).await? else { return Ok(None) };
    let Some(row) = bookings::find(reader, &tenant, &claims.booking_id).await? else { return Ok(None) };
    let event_type = event_types::find(reader, &tenant, &row.event_type_id).await?;
    let event_type: Option<EventType> =
        event_type.map(|stored| serde_json::from_str(&stored.body)).transpose()?;
    let booking: Booking = serde_json::from_str(&row.body)?;
    let is_host = row.manage_version == claims.manage_version
        && is_host_of(&claims.connection_id, &booking, event_type.as_ref());
    if !is_host || storage::connections::find(reader, &tenant, &claims.connection_id).await?.is_none() {
        return Ok(None);
    }
    Ok(Some(BookingOfHost { row, connection_id: claims.connection_id }))
}

impl HostRight {
    /// Fails with `not_found` for a host whose right has ended.
    pub fn ensure_valid(&self, held: &LockedBooking) -> Result<()> {
        change::check_link(&held.seat, Some(self.manage_version))?;
        // A deleted connection cannot be locked.
        let is_connected = held.of.lock_of(&self.connection_id).is_some();
        match is_connected && is_host_of(&self.connection_id, &held.seat.body, held.of.event_type()) {
            true => Ok(()),
            false => Err(not_found("booking")),
        }
    }

    /// Refuses to decide on a time that the host has not seen.
    ///
    /// # Errors
    /// `stale_etag`.
    pub fn ensure_seen(&self, held: &LockedBooking) -> Result<()> {
        match self.sequence == held.seat.body.sequence {
            true => Ok(()),
            false => Err(refuse(Code::StaleEtag, "the booking has another time by now; look at it again")),
        }
    }
}

/// Whether a connection is a host of the booking and of its event type, unless the event type was deleted.
fn is_host_of(connection_id: &str, booking: &Booking, event_type: Option<&EventType>) -> bool {
    let is_assigned = booking.host_ids.iter().any(|id| id == connection_id);
    let is_host =
        |event_type: &EventType| event_type.hosts.iter().any(|host| host.connection_id == connection_id);
    is_assigned && event_type.is_none_or(is_host)
}

/// Contents of a token.
struct DecisionClaims {
    application_id: String,
    booking_id: String,
    manage_version: i64,
    connection_id: String,
}

impl DecisionClaims {
    fn read(keyring: &Keyring, token: &str) -> Option<DecisionClaims> {
        let text = keyring.verified(token)?;
        let (kind, application_id, booking_id, manage_version, connection_id): (
            String,
            String,
            String,
            i64,
            String,
        ) = serde_json::from_slice(&text).ok()?;
        (kind == KIND).then_some(DecisionClaims { application_id, booking_id, manage_version, connection_id })
    }
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;
    use model::scheduling::event_type::Host;

    use super::*;

    #[test]
    fn a_token_is_of_its_kind_alone() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap();
        let good = keyring.signed(br#"["decide-booking","app_1","bk_1",3,"conn_1"]"#);
        let claims = DecisionClaims::read(&keyring, &good).unwrap();
        assert_eq!((claims.booking_id.as_str(), claims.connection_id.as_str()), ("bk_1", "conn_1"));
        assert_eq!((claims.application_id.as_str(), claims.manage_version), ("app_1", 3));
        for other in [
            br#"["read-booking","app_1","bk_1",3]"#.as_slice(),
            br#"["manage-booking","app_1","bk_1",3]"#,
            br#"["slot","app_1","bk_1",3,"conn_1"]"#,
        ] {
            assert!(DecisionClaims::read(&keyring, &keyring.signed(other)).is_none());
        }
        assert!(DecisionClaims::read(&keyring, "bk_1").is_none());
        assert!(is_genuine(&keyring, &good) && !is_genuine(&keyring, &good.replace('.', ".x")));
    }

    #[test]
    fn who_left_the_event_type_or_the_booking_decides_no_more() {
        let booking = Booking { host_ids: vec!["conn_1".to_owned()], ..Booking::default() };
        let of = |id: &str| EventType {
            hosts: vec![Host { connection_id: id.to_owned(), ..Host::default() }],
            ..EventType::default()
        };
        assert!(is_host_of("conn_1", &booking, Some(&of("conn_1"))));
        assert!(is_host_of("conn_1", &booking, None), "the event type was deleted, and the booking was not");
        assert!(!is_host_of("conn_1", &booking, Some(&of("conn_2"))));
        assert!(!is_host_of("conn_2", &booking, Some(&of("conn_2"))));
    }
}
