//! Events of a time range, in order.
//!
//! An event is found by its start, and one that began long before the range may overlap it. To avoid reading all of history for
//! those, each event has a class by its length (`span_of`), and each class is read from as long before the range as its longest
//! event lasts. The classes are merged in the order of the list.

use anyhow::Result;
use base::tenant::Tenant;

use crate::items::row::{Item, ItemColumns, item, read_columns};
use crate::sql::{Chunk, Query, Reader, query};

/// The position after which a page of live items begins: sort key and id of the last item before it.
#[derive(Clone, Debug)]
pub struct After {
    pub sort_at: i64,
    pub id: String,
}

/// A filter by the kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Any,
    /// Events that are not a series; includes exceptions of series.
    Plain,
    Series,
    Exceptions,
}

/// A time range of a calendar: events that overlap `[from, to)`, in (sort_at, id) order.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    pub parent_id: &'a str,
    /// None: from the first one on.
    pub from: Option<i64>,
    pub to: i64,
    /// Only series, only events that are none, or both.
    pub shape: Shape,
    pub after: Option<After>,
    pub limit: i64,
}

const DAY_MS: i64 = 86_400_000;
/// The maximum lengths of the classes 0 to 4; class 5 has all longer events.
const PLAIN: [i64; 5] = [2 * DAY_MS, 8 * DAY_MS, 32 * DAY_MS, 128 * DAY_MS, 1024 * DAY_MS];
/// The same of series, from their first start to their last end: the classes 8 to 11, and 12.
const SERIES: [i64; 4] = [32 * DAY_MS, 128 * DAY_MS, 512 * DAY_MS, 2048 * DAY_MS];
const FIRST_OF_SERIES: i64 = 8;

/// The class of an event's length, as stored in `items.span`.
pub fn span_of(is_series: bool, sort_at: i64, until_at: i64) -> i64 {
    let length = until_at.saturating_sub(sort_at);
    let (first, classes): (i64, &[i64]) = if is_series { (FIRST_OF_SERIES, &SERIES) } else { (0, &PLAIN) };
    let longer_than = classes.iter().filter(|longest| length > **longest).count();
    first + longer_than as i64
}

/// The rows of one class. `$4` is for the columns. A moment (start = end) counts when it is inside the window. `$lower` is the
/// first start to read, never before the position after which the page begins. The condition on ids at that start is a `case`:
/// for an `or` an engine would read all rows after the position.
macro_rules! of_class {
    ($columns:expr, $class:literal, $lower:literal) => {
        concat!(
            $columns,
            "where parent_id = $3 and kind = 'event' and deleted_at is null and span = ",
            $class,
            " and sort_at >= ",
            $lower,
            " and sort_at < $6 and (until_at > $5 or (until_at = sort_at and sort_at >= $5)) ",
            "and case when sort_at = $7 then id > $8 else true end and ($19 = 0 or series_id is not null) ",
            "and organization_id = $1 and application_id = $2 "
        )
    };
}

/// The classes of events that are not series.
macro_rules! plain {
    ($columns:expr) => {
        concat!(
            of_class!($columns, "0", "$10"),
            "union all ",
            of_class!($columns, "1", "$11"),
            "union all ",
            of_class!($columns, "2", "$12"),
            "union all ",
            of_class!($columns, "3", "$13"),
            "union all ",
            of_class!($columns, "4", "$14"),
            "union all ",
            of_class!($columns, "5", "$7")
        )
    };
}

/// The classes of series.
macro_rules! series {
    ($columns:expr) => {
        concat!(
            of_class!($columns, "8", "$15"),
            "union all ",
            of_class!($columns, "9", "$16"),
            "union all ",
            of_class!($columns, "10", "$17"),
            "union all ",
            of_class!($columns, "11", "$18"),
            "union all ",
            of_class!($columns, "12", "$7")
        )
    };
}

/// All events of a calendar. `parent_id <> ''` selects the index for this statement alone.
macro_rules! whole {
    ($columns:expr) => {
        concat!(
            $columns,
            "where parent_id = $3 and parent_id <> '' and kind = 'event' and deleted_at is null and sort_at >= $7 and sort_at < $6 ",
            "and case when sort_at = $7 then id > $8 else true end and organization_id = $1 and application_id = $2 "
        )
    };
}

macro_rules! ordered {
    ($rows:expr) => {
        concat!($rows, "order by sort_at, id limit $9")
    };
}

/// The statement of a window, with these columns.
macro_rules! statement {
    ($window:expr, $columns:expr) => {
        match ($window.from, $window.shape) {
            (None, Shape::Any) => ordered!(whole!($columns)),
            (_, Shape::Plain | Shape::Exceptions) => ordered!(plain!($columns)),
            (_, Shape::Series) => ordered!(series!($columns)),
            (_, Shape::Any) => ordered!(concat!(plain!($columns), "union all ", series!($columns))),
        }
    };
}

fn bind_window<'q>(
    sql: &'static str,
    tenant: &'q Tenant,
    window: &'q Window<'_>,
    with_provider_data: bool,
) -> Query<'q> {
    let after = window.after.as_ref();
    let after_at = after.map_or(i64::MIN, |a| a.sort_at);
    let from = window.from.unwrap_or(i64::MIN);
    let bound = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(window.parent_id)
        .bind(i64::from(with_provider_data))
        .bind(from)
        .bind(window.to)
        .bind(after_at)
        .bind(after.map_or("", |a| &a.id))
        .bind(window.limit);
    let lowers = PLAIN.iter().chain(&SERIES).map(|longest| from.saturating_sub(*longest).max(after_at));
    lowers.fold(bound, |bound, lower| bound.bind(lower)).bind(match window.shape {
        Shape::Any | Shape::Plain | Shape::Series => 0_i64,
        Shape::Exceptions => 1,
    })
}

/// Live events of a calendar in a window, as many as a chunk holds.
pub async fn list_window(reader: &Reader, tenant: &Tenant, window: &Window<'_>) -> Result<Chunk<Item>> {
    let sql = statement!(window, select!(""));
    bind_window(sql, tenant, window, true).fetch_chunk(reader, window.limit, item).await
}

/// Calls `read` for each live event of a window, borrowed from the result row; as many as a chunk holds.
pub async fn read_window<T>(
    reader: &Reader,
    tenant: &Tenant,
    window: &Window<'_>,
    with_provider_data: bool,
    mut read: impl FnMut(ItemColumns<'_>) -> Result<T>,
) -> Result<Chunk<T>> {
    let sql = statement!(window, shown_columns!("$4"));
    let query = bind_window(sql, tenant, window, with_provider_data);
    query.fetch_chunk(reader, window.limit, |row| read(read_columns(row)?)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_a_length_is_the_first_that_holds_it() {
        let plain = [0, 2 * DAY_MS, 2 * DAY_MS + 1, 128 * DAY_MS, 1024 * DAY_MS + 1, i64::MAX];
        assert_eq!(plain.map(|length| span_of(false, 0, length)), [0, 0, 1, 3, 5, 5]);
        let series = [DAY_MS, 32 * DAY_MS + 1, 2048 * DAY_MS, i64::MAX];
        assert_eq!(series.map(|length| span_of(true, 0, length)), [8, 9, 11, 12]);
        // An end before the start, and times whose difference overflows.
        assert_eq!((span_of(false, 10, -10), span_of(false, i64::MIN, i64::MAX)), (0, 5));
    }
}
