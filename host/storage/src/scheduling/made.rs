//! When bookings were made.

use anyhow::Result;
use base::tenant::Tenant;

use crate::sql::{On, query};

/// When the newest bookings of an address, which is in lower case, were made in the application, the newest first and at most `limit` of them.
/// What became of them does not matter. Times are milliseconds since 1970.
pub async fn latest(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    invitee_email: &str,
    limit: i64,
) -> Result<Vec<i64>> {
    let sql = "select created_at from bookings where application_id = $1 and invitee_email = $2 \
               order by created_at desc limit $3";
    let of = query(sql).bind(&tenant.application_id).bind(invitee_email).bind(limit);
    of.fetch_all(on, |row| row.get("created_at")).await
}
