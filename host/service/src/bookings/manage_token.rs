//! The invitee's right to a booking: a signed token that names it. Its holder may read, cancel and reschedule this one booking as far as
//! its event type allows, without an API key. Hosts have another token, which only allows reading.

use base::error::{Result, not_found};
use base::keyring::Keyring;
use base::tenant::Tenant;
use storage::scheduling::applications;
use storage::scheduling::bookings::{self, BookingRow};

use crate::app::App;

const KIND: &str = "manage-booking";
/// The kind of hosts' tokens, which are read-only.
const HOST_KIND: &str = "read-booking";

/// The token of a booking. It is valid until the booking's `manage_version` changes.
pub fn token(keyring: &Keyring, row: &BookingRow) -> String {
    sign_token(keyring, KIND, row)
}

/// The address of the page that shows hosts what the invitee wrote. It is valid as long as the invitee's token.
pub fn host_url(app: &App, row: &BookingRow) -> String {
    format!("{}/book/h/{}", app.config.public_address(), sign_token(&app.keyring, HOST_KIND, row))
}

fn sign_token(keyring: &Keyring, kind: &str, row: &BookingRow) -> String {
    let text = storage::json_text(&(kind, &row.tenant.application_id, &row.id, row.manage_version));
    keyring.signed(text.as_bytes())
}

/// The booking of a token, in any application; none if the token is not of this service, or no longer valid.
pub async fn find(app: &App, token: &str) -> Result<Option<BookingRow>> {
    find_of(app, KIND, token).await
}

/// As `find`, for a token in `host_url`.
pub async fn find_for_hosts(app: &App, token: &str) -> Result<Option<BookingRow>> {
    find_of(app, HOST_KIND, token).await
}

async fn find_of(app: &App, kind: &str, token: &str) -> Result<Option<BookingRow>> {
    let Some(named) = ManageTokenClaims::read(&app.keyring, kind, token) else { return Ok(None) };
    let Some(tenant) = applications::by_id(app.db.reader(), &named.application_id).await? else {
        return Ok(None);
    };
    named.booking(app, &tenant).await
}

/// The booking of the tenant with this id, if the token names it; `not_found` otherwise.
pub async fn load(app: &App, tenant: &Tenant, id: &str, token: &str) -> Result<BookingRow> {
    let none = || not_found("booking");
    let named = ManageTokenClaims::read(&app.keyring, KIND, token).ok_or_else(none)?;
    if named.booking_id != id || named.application_id != tenant.application_id {
        return Err(none());
    }
    named.booking(app, tenant).await?.ok_or_else(none)
}

/// The claims of a token.
struct ManageTokenClaims {
    application_id: String,
    booking_id: String,
    version: i64,
}

impl ManageTokenClaims {
    fn read(keyring: &Keyring, kind: &str, token: &str) -> Option<ManageTokenClaims> {
        let text = keyring.verified(token)?;
        let (found, application_id, booking_id, version): (String, String, String, i64) =
            serde_json::from_slice(&text).ok()?;
        (found == kind).then_some(ManageTokenClaims { application_id, booking_id, version })
    }

    async fn booking(&self, app: &App, tenant: &Tenant) -> Result<Option<BookingRow>> {
        let found = bookings::find(app.db.reader(), tenant, &self.booking_id).await?;
        Ok(found.filter(|row| row.manage_version == self.version))
    }
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;

    use super::*;

    #[test]
    fn a_token_names_one_booking_and_nothing_else_is_one() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap();
        let row = BookingRow {
            id: "bk_1".to_owned(),
            tenant: Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() },
            event_type_id: "et_1".to_owned(),
            meeting_id: "mtg_1".to_owned(),
            status: "confirmed".to_owned(),
            start_at: 0,
            end_at: 1,
            invitee_email: String::new(),
            body: "{}".to_owned(),
            metadata: "{}".to_owned(),
            etag: String::new(),
            version: 1,
            confirm_by: None,
            manage_version: 3,
            clock_hours: None,
            decided_at: None,
            decided_by: None,
            created_at: 0,
            updated_at: 0,
        };
        let named = ManageTokenClaims::read(&keyring, KIND, &token(&keyring, &row)).unwrap();
        assert_eq!((named.application_id.as_str(), named.booking_id.as_str()), ("app_1", "bk_1"));
        assert_eq!(named.version, 3);
        let other = keyring.signed(br#"["slot","app_1","bk_1",3]"#);
        let of_hosts = sign_token(&keyring, HOST_KIND, &row);
        for none in [other.as_str(), "bk_1", of_hosts.as_str()] {
            assert!(ManageTokenClaims::read(&keyring, KIND, none).is_none(), "{none}");
        }
        assert!(ManageTokenClaims::read(&keyring, HOST_KIND, &of_hosts).is_some());
        assert!(ManageTokenClaims::read(&keyring, HOST_KIND, &token(&keyring, &row)).is_none());
    }
}
