//! The limit of bookings of an email address per hour for clients that can enter any address: booking pages, and keys that are embedded in
//! pages. An address counts as invitee and as guest, because both get mail, and without its tag: most servers deliver `ada+x@example.org`
//! to the mailbox of `ada@example.org` (RFC 5233). Counted in the database, so that it is the same for all hosts.

use std::collections::BTreeSet;

use base::error::{Code, Refusal, Result};
use base::tenant::Tenant;
use model::scheduling::booking::Booking;
use storage::Tx;
use storage::scheduling::made::{self, BookingAddress};

const HOUR_MS: i64 = 3_600_000;

/// Most bookings of an email address in one application within an hour.
// Contract silent: whether bookings count that keys of servers make. They do, but these are not refused: their keys have budgets of their
// own, and know who asks.
pub const MAX_BOOKINGS_PER_INVITEE: u32 = 3;

/// An address to which a booking's messages are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MailedAddress {
    /// The first field of the request that names it.
    field: String,
    /// The address, case-folded.
    folded: String,
    /// The address without its tag.
    mailbox: String,
}

/// The addresses to which a booking's messages are sent, without duplicates, the invitee's first.
#[derive(Clone, Debug)]
pub struct MailedAddresses(Vec<MailedAddress>);

impl MailedAddresses {
    /// The addresses of a booking.
    pub fn from_booking(booking: &Booking) -> MailedAddresses {
        let invitee = ("inviteeEmail".to_owned(), &booking.invitee.email);
        let guests = booking.guests.iter().enumerate();
        let guests = guests.map(|(n, guest)| (format!("guests[{n}].email"), &guest.email));
        let mut known = BTreeSet::new();
        let mut addresses = Vec::new();
        for (field, email) in std::iter::once(invitee).chain(guests) {
            let folded = ::mail::address::folded(email);
            if known.insert(folded.clone()) {
                addresses.push(MailedAddress { field, folded, mailbox: ::mail::address::mailbox(email) });
            }
        }
        MailedAddresses(addresses)
    }

    /// The invitee's address, case-folded.
    pub fn invitee(&self) -> &str {
        self.0.first().map(|address| address.folded.as_str()).unwrap_or_default()
    }

    /// Counts the booking with this id for each of them.
    pub async fn count(&self, tx: &mut Tx, tenant: &Tenant, booking_id: &str, now: i64) -> Result<()> {
        let addresses = self.0.iter();
        let rows = addresses.map(|one| BookingAddress { address: &one.folded, mailbox: &one.mailbox });
        let rows: Vec<BookingAddress<'_>> = rows.collect();
        Ok(made::insert(tx, tenant, booking_id, &rows, now).await?)
    }

    /// Refuses the booking that this transaction counted if it exceeds `most` bookings of an address in the application within an hour.
    /// Call it after the booking's log entries: they lock the application, so that concurrent transactions see each other's bookings.
    ///
    /// # Errors
    /// 429 `rate_limited` for the address's field, with the time until the next booking is possible.
    pub async fn ensure_within(&self, tx: &mut Tx, tenant: &Tenant, most: u32, now: i64) -> Result<()> {
        let mailboxes: BTreeSet<&str> = self.0.iter().map(|address| address.mailbox.as_str()).collect();
        let mailboxes: Vec<&str> = mailboxes.into_iter().collect();
        let found = made::newest_but(&mut *tx, tenant, &mailboxes, i64::from(most)).await?;
        for address in &self.0 {
            let one_more = found.iter().find(|(mailbox, _)| *mailbox == address.mailbox);
            let free_at = one_more.map(|(_, made_at)| made_at + HOUR_MS);
            if let Some(free_at) = free_at.filter(|free_at| *free_at > now) {
                return Err(too_many(&address.field, most, free_at - now));
            }
        }
        Ok(())
    }
}

fn too_many(field: &str, most: u32, wait_ms: i64) -> base::error::Error {
    let wait_s = u64::try_from(wait_ms).unwrap_or(1).div_ceil(1_000);
    let message =
        format!("{field}: this address already got {most} bookings within an hour; try again later");
    Refusal::new(Code::RateLimited, message).param(field).retry_after_s(wait_s).into()
}

#[cfg(test)]
mod tests {
    use model::scheduling::booking::{Guest, Invitee};

    use super::*;

    #[test]
    fn an_address_counts_once_and_is_named_by_its_first_field() {
        let guest = |email: &str| Guest { email: email.to_owned(), name: None };
        let booking = Booking {
            invitee: Invitee { email: "Ada@Example.org".to_owned(), ..Invitee::default() },
            guests: [
                "ada@example\u{3002}org",
                "Bob@\u{17f}andbox.test",
                "bob@sandbox.test",
                "bob+x@sandbox.test",
            ]
            .map(guest)
            .to_vec(),
            ..Booking::default()
        };
        let addresses = MailedAddresses::from_booking(&booking);
        assert_eq!(addresses.invitee(), "ada@example.org");
        let [_, bob, tagged] = &addresses.0[..] else { panic!("{addresses:?}") };
        assert_eq!((bob.field.as_str(), bob.mailbox.as_str()), ("guests[1].email", "bob@sandbox.test"));
        assert_eq!(tagged.folded, "bob+x@sandbox.test", "each is written to");
        assert_eq!((tagged.field.as_str(), &tagged.mailbox), ("guests[3].email", &bob.mailbox));
    }
}
