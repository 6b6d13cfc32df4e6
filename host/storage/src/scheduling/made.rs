//! Creation times of bookings, by the addresses that get messages about them. Table: `migrations/0085_booking_addresses.sql`.

use anyhow::Result;
use base::tenant::Tenant;
use serde::Serialize;

use crate::Tx;
use crate::dialect::{each_of, each_text_of};
use crate::json_text;
use crate::sql::{On, query};

/// An address that gets messages about a booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BookingAddress<'a> {
    /// Folded: the same text for all its spellings.
    pub address: &'a str,
    /// The same without its tag: bookings are counted by mailbox.
    pub mailbox: &'a str,
}

/// Records that a booking, created `now`, sends messages to these addresses, each of which occurs once.
pub async fn insert(
    tx: &mut Tx,
    tenant: &Tenant,
    booking_id: &str,
    addresses: &[BookingAddress<'_>],
    now: i64,
) -> Result<()> {
    let sql = each_of!(
        tx,
        "insert into booking_addresses (booking_id, address, mailbox, organization_id, application_id, created_at) \
         select $2, value ->> 'address', value ->> 'mailbox', $3, $4, $5",
        "$1",
        ""
    );
    query(sql)
        .bind(json_text(addresses))
        .bind(booking_id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// When the newest booking but `newer` of each of these mailboxes was made in the application, in milliseconds since 1970;
/// without mailboxes that have no such booking. Bookings of any status count.
pub async fn newest_but(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    mailboxes: &[&str],
    newer: i64,
) -> Result<Vec<(String, i64)>> {
    let on = on.into();
    let sql = each_text_of!(
        on,
        "select value as mailbox, (select b.created_at from booking_addresses b where b.application_id = $2 and b.mailbox = value \
         order by b.created_at desc limit 1 offset $3) as made_at",
        "$1",
        ""
    );
    let of = query(sql).bind(json_text(mailboxes)).bind(&tenant.application_id).bind(newer);
    let found =
        of.fetch_all(on, |row| Ok((row.get::<String>("mailbox")?, row.get::<Option<i64>>("made_at")?)));
    Ok(found.await?.into_iter().filter_map(|(mailbox, made_at)| Some((mailbox, made_at?))).collect())
}

/// Deletes at most `limit` addresses of bookings that were made before `before`. Returns how many.
pub async fn forget(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from booking_addresses where (booking_id, address) in \
               (select booking_id, address from booking_addresses where created_at < $1 order by created_at limit $2)";
    let gone = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(gone).unwrap_or(i64::MAX))
}
