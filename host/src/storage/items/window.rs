//! Stretches of a collection, in order.

use anyhow::Result;

use crate::storage::items::{Item, Shown, item, shown};
use crate::storage::sql::{Query, Reader, query};
use crate::tenant::Tenant;

/// Where a page of live items begins: after this sort key and id.
#[derive(Clone, Debug)]
pub struct After {
    pub sort_at: i64,
    pub id: String,
}

/// Which items of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Any,
    Plain,
    Series,
}

/// A stretch of a collection: items that overlap `[from, to)`, in (sort_at, id) order.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    pub parent_id: &'a str,
    pub kind: &'a str,
    pub from: i64,
    pub to: i64,
    /// Only series, only what is none, or both.
    pub shape: Shape,
    pub updated_after: i64,
    pub after: Option<After>,
    pub limit: i64,
}

/// The rows of a `Window`. A moment (start = end) counts when it lies inside.
macro_rules! in_window {
    () => {
        "where organization_id = $1 and application_id = $2 and parent_id = $3 and kind = $4 and deleted_at is null \
           and sort_at < $6 and (until_at > $5 or (until_at = sort_at and sort_at >= $5)) and updated_at >= $7 \
           and (sort_at > $8 or (sort_at = $8 and id > $9)) and ($11 < 0 or is_series = $11) order by sort_at, id limit $10"
    };
}

fn bind_window<'q>(sql: &'static str, tenant: &'q Tenant, window: &'q Window<'_>) -> Query<'q> {
    let after = window.after.as_ref();
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(window.parent_id)
        .bind(window.kind)
        .bind(window.from)
        .bind(window.to)
        .bind(window.updated_after)
        .bind(after.map_or(i64::MIN, |a| a.sort_at))
        .bind(after.map_or("", |a| &a.id))
        .bind(window.limit)
        .bind(match window.shape {
            Shape::Any => -1_i64,
            Shape::Plain => 0,
            Shape::Series => 1,
        })
}

/// Live items of a collection in a window.
pub async fn list_window(reader: &Reader, tenant: &Tenant, window: &Window<'_>) -> Result<Vec<Item>> {
    bind_window(select!(in_window!()), tenant, window).fetch_all(reader, item).await
}

/// What `read` makes of each, where it lies.
pub async fn read_window<T>(
    reader: &Reader,
    tenant: &Tenant,
    window: &Window<'_>,
    with_provider_data: bool,
    mut read: impl FnMut(Shown<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let query = bind_window(concat!(shown_columns!("$12"), in_window!()), tenant, window);
    query.bind(i64::from(with_provider_data)).fetch_all(reader, |row| read(shown(row)?)).await
}
