//! Public names of event types.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::sql::{On, Reader, Row, query};

/// A link that has not ended. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRow {
    /// Unique within the application.
    pub slug: String,
    pub tenant: Tenant,
    pub event_type_id: String,
    /// Whether it is the event type's own slug.
    pub is_primary: bool,
    /// Bookings that can still be made with it; none: any number.
    pub uses_left: Option<i64>,
    pub expires_at: Option<i64>,
    pub created_at: i64,
}

fn link(row: &Row<'_>) -> Result<LinkRow> {
    Ok(LinkRow {
        slug: row.get("slug")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        event_type_id: row.get("event_type_id")?,
        is_primary: row.get::<i64>("is_primary")? != 0,
        uses_left: row.get("uses_left")?,
        expires_at: row.get("expires_at")?,
        created_at: row.get("created_at")?,
    })
}

/// A link of the tenant.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, slug: &str) -> Result<Option<LinkRow>> {
    let sql = "select * from booking_links where application_id = $1 and slug = $2 and organization_id = $3 and ended_at is null";
    query(sql)
        .bind(&tenant.application_id)
        .bind(slug)
        .bind(&tenant.organization_id)
        .fetch_optional(on, link)
        .await
}

/// Links of an event type in the order of their slugs, after a slug.
pub async fn list(reader: &Reader, event_type_id: &str, after: &str, limit: i64) -> Result<Vec<LinkRow>> {
    let sql = "select * from booking_links where event_type_id = $1 and slug > $2 and ended_at is null order by slug limit $3";
    query(sql).bind(event_type_id).bind(after).bind(limit).fetch_all(reader, link).await
}

/// Uses a link of an event type for one booking; false: it is used up, expired or missing.
pub async fn take_use(tx: &mut Tx, used: &LinkRow, now: i64) -> Result<bool> {
    let sql = "update booking_links set uses_left = uses_left - 1, updated_at = $5 where application_id = $1 and slug = $2 \
               and organization_id = $3 and event_type_id = $4 and ended_at is null and (uses_left is null or uses_left > 0) \
               and (expires_at is null or expires_at > $5)";
    let changed = query(sql)
        .bind(&used.tenant.application_id)
        .bind(&used.slug)
        .bind(&used.tenant.organization_id)
        .bind(&used.event_type_id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(changed == 1)
}

/// Writes a new link; false: the application has one with this slug.
pub async fn insert(tx: &mut Tx, link: &LinkRow) -> Result<bool> {
    let sql = "insert into booking_links (application_id, slug, organization_id, event_type_id, is_primary, uses_left, \
               expires_at, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $8) on conflict do nothing";
    let inserted = query(sql)
        .bind(&link.tenant.application_id)
        .bind(&link.slug)
        .bind(&link.tenant.organization_id)
        .bind(&link.event_type_id)
        .bind(i64::from(link.is_primary))
        .bind(link.uses_left)
        .bind(link.expires_at)
        .bind(link.created_at)
        .execute(tx)
        .await?;
    Ok(inserted == 1)
}

/// Removes an event type's own slug, which is free then.
pub async fn delete_primary(tx: &mut Tx, event_type_id: &str) -> Result<()> {
    let sql = "delete from booking_links where event_type_id = $1 and is_primary = 1";
    query(sql).bind(event_type_id).execute(tx).await?;
    Ok(())
}

/// Removes a link.
pub async fn delete(tx: &mut Tx, ended: &LinkRow) -> Result<()> {
    let sql = "delete from booking_links where application_id = $1 and slug = $2 and event_type_id = $3";
    query(sql)
        .bind(&ended.tenant.application_id)
        .bind(&ended.slug)
        .bind(&ended.event_type_id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Removes all links of an event type.
pub async fn delete_all(tx: &mut Tx, event_type_id: &str) -> Result<()> {
    query("delete from booking_links where event_type_id = $1").bind(event_type_id).execute(tx).await?;
    Ok(())
}

/// Deletes at most `most` links that expired, or were used for the last time, before then. Returns how many; none when nothing is
/// left.
pub async fn forget(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let expired = "delete from booking_links where (application_id, slug) in \
                   (select application_id, slug from booking_links where expires_at < $1 order by expires_at limit $2)";
    let used_up = "delete from booking_links where (application_id, slug) in \
                   (select application_id, slug from booking_links where uses_left <= 0 and updated_at < $1 \
                   order by updated_at limit $2)";
    let mut done = query(expired).bind(before).bind(most).execute(&mut *tx).await?;
    if done == 0 {
        done = query(used_up).bind(before).bind(most).execute(tx).await?;
    }
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
