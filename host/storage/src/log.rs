//! The application's log: every change, in the order in which it was committed. Table: `migrations/0004_log.sql`.

use anyhow::{Context, Result};

use crate::sql::{Chunk, On, Query, Reader, Row, Value, query};

use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::json_text;
use crate::statement_rows::{self, RowValues};
use crate::transaction::{self, LockRank};

/// One line of the log.
#[derive(Clone, Debug)]
pub struct Entry {
    pub sequence: i64,
    pub id: String,
    pub connection_id: Option<String>,
    /// All connections that the resource names, where there can be several: a booking's, an event type's.
    pub account_ids: Option<Vec<String>>,
    /// The public kind: `calendar.event.created`.
    pub entry_type: String,
    /// `created`, `updated`, `deleted` or `state`.
    pub change_type: String,
    pub resource_type: String,
    pub resource_id: String,
    pub parent_id: String,
    /// JSON array of field names, for `updated`.
    pub changed_fields: Option<String>,
    pub etag: Option<String>,
    /// `provider`, `api`, `system` or `backfill`.
    pub origin: String,
    /// The resource at that time, as the API shows it.
    pub resource: Option<String>,
    pub at: i64,
}

/// A log line as read by a change feed. The texts borrow from the row.
#[derive(Clone, Copy, Debug)]
pub struct FeedLine<'r> {
    pub sequence: i64,
    /// `created`, `updated` or `deleted`.
    pub change_type: &'r str,
    pub resource_type: &'r str,
    pub resource_id: &'r str,
    /// Milliseconds since 1970.
    pub at: i64,
    pub etag: Option<&'r str>,
    /// The resource at that time, as the API shows it.
    pub resource: Option<&'r str>,
}

/// The columns of a log line that decide which subscriptions match.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    pub sequence: i64,
    pub id: String,
    pub connection_id: Option<String>,
    /// As in `Entry`.
    pub account_ids: Option<Vec<String>>,
    /// The public kind: `calendar.event.created`.
    pub entry_type: String,
    pub resource_id: String,
    /// `provider`, `api`, `system` or `backfill`.
    pub origin: String,
}

/// Takes the next `count` numbers of the application's log; returns the first. The row stays locked until the commit, so that numbers
/// follow the order of commits.
pub async fn next_sequence(tx: &mut Tx, tenant: &Tenant, count: i64) -> Result<i64> {
    tx.takes(LockRank::Application)?;
    let sql = "update applications set last_sequence = last_sequence + $1 where id = $2 and organization_id = $3 \
               returning last_sequence";
    let last: i64 = query(sql)
        .bind(count)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_one(&mut *tx, |row| row.get("last_sequence"))
        .await?;
    Ok(last - count + 1)
}

/// The number of the last line.
pub async fn last_sequence(reader: &Reader, tenant: &Tenant) -> Result<i64> {
    let last = query("select last_sequence from applications where id = $1 and organization_id = $2")
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(reader, |row| row.get("last_sequence"))
        .await?;
    Ok(last.unwrap_or(0))
}

/// The sequence of the last line about this collection.
pub async fn last_in(reader: &Reader, tenant: &Tenant, parent_id: &str) -> Result<Option<i64>> {
    let sql = "select max(sequence) as last from log where application_id = $1 and organization_id = $2 and parent_id = $3 \
               and parent_id <> ''";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(parent_id)
        .fetch_one(reader, |row| row.get("last"))
        .await
}

/// The resource types of one feed; a type may be repeated.
pub type Types = [&'static str; 4];

/// Returns each type once; a repetition becomes an empty text, which matches no line.
fn each_once(types: Types) -> impl Iterator<Item = &'static str> {
    (0..types.len()).map(move |n| if types[..n].contains(&types[n]) { "" } else { types[n] })
}

/// The sequence of the last line about resources of these types in a connection.
pub async fn last_of(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: &str,
    types: Types,
) -> Result<Option<i64>> {
    // One query per type: the index finds the last line of each at once.
    let sql = "select max(sequence) as last from log where application_id = $1 and connection_id = $2 and resource_type = $3";
    let mut last = None;
    for name in each_once(types).filter(|name| !name.is_empty()) {
        let statement = query(sql).bind(&tenant.application_id).bind(connection_id).bind(name);
        last = last.max(statement.fetch_one(reader, |row| row.get("last")).await?);
    }
    Ok(last)
}

/// Inserts lines whose numbers were taken before.
pub async fn insert(tx: &mut Tx, tenant: &Tenant, entries: &[Entry]) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let sql = insert_rows!(
        tx,
        "log",
        [
            application_id "$1" "text", sequence "$2" "bigint", id "$3" "text", organization_id "$4" "text",
            connection_id "$5" "text", account_ids "$6" "text", type "$7" "text", change_type "$8" "text",
            resource_type "$9" "text", resource_id "$10" "text", parent_id "$11" "text", changed_fields "$12" "text",
            etag "$13" "text", origin "$14" "text", resource "$15" "text", at "$16" "bigint",
        ],
        ""
    );
    let rows = entries.iter().map(|entry| {
        RowValues::new()
            .bind(&tenant.application_id)
            .bind(entry.sequence)
            .bind(&entry.id)
            .bind(&tenant.organization_id)
            .bind(&entry.connection_id)
            .bind(entry.account_ids.as_ref().map_or(Value::Text(None), |ids| json_text(ids).into()))
            .bind(&entry.entry_type)
            .bind(&entry.change_type)
            .bind(&entry.resource_type)
            .bind(&entry.resource_id)
            .bind(&entry.parent_id)
            .bind(&entry.changed_fields)
            .bind(&entry.etag)
            .bind(&entry.origin)
            .bind(&entry.resource)
            .bind(entry.at)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    transaction::log_grew(&tenant.application_id);
    Ok(())
}

/// A query for whole lines of an application with a further condition.
macro_rules! select {
    ($rest:expr) => {
        concat!(
            "select sequence, id, connection_id, account_ids, type, change_type, resource_type, resource_id, parent_id, changed_fields, ",
            "etag, origin, resource, at from log where application_id = $1 and organization_id = $2 ",
            $rest
        )
    };
}

/// A query for the columns of `FeedLine`, in the order in which `feed_line` reads them.
macro_rules! select_feed {
    ($rest:expr) => {
        concat!(
            "select sequence, change_type, resource_type, resource_id, at, etag, resource from log ",
            "where application_id = $1 and organization_id = $2 ",
            $rest
        )
    };
}

/// The lines of one type, in their order.
macro_rules! of_type {
    ($type:literal, $name:literal) => {
        concat!(
            "select * from (",
            select_feed!(concat!(
                "and connection_id = $3 and resource_type = ",
                $type,
                " and sequence > $4 and change_type <> 'state' order by sequence limit $5"
            )),
            ") as ",
            $name
        )
    };
}

/// The accounts of a line; none if it has at most one connection, or was written before accounts were recorded.
pub(crate) fn account_ids(row: &Row<'_>) -> Result<Option<Vec<String>>> {
    let text: Option<String> = row.get("account_ids")?;
    text.map(|text| serde_json::from_str(&text).context("column account_ids")).transpose()
}

fn entry(row: &Row<'_>) -> Result<Entry> {
    Ok(Entry {
        sequence: row.get("sequence")?,
        id: row.get("id")?,
        connection_id: row.get("connection_id")?,
        account_ids: account_ids(row)?,
        entry_type: row.get("type")?,
        change_type: row.get("change_type")?,
        resource_type: row.get("resource_type")?,
        resource_id: row.get("resource_id")?,
        parent_id: row.get("parent_id")?,
        changed_fields: row.get("changed_fields")?,
        etag: row.get("etag")?,
        origin: row.get("origin")?,
        resource: row.get("resource")?,
        at: row.get("at")?,
    })
}

/// Reads columns by number: a page of a feed has hundreds of lines.
fn feed_line<'a>(row: &'a Row<'_>) -> Result<FeedLine<'a>> {
    let mut column = row.columns();
    Ok(FeedLine {
        sequence: column.next()?,
        change_type: column.text()?.unwrap_or_default(),
        resource_type: column.text()?.unwrap_or_default(),
        resource_id: column.text()?.unwrap_or_default(),
        at: column.next()?,
        etag: column.text()?,
        resource: column.text()?,
    })
}

/// Returns the lines of a feed as `read` converts them, as many as a chunk holds.
async fn feed_chunk<T>(
    statement: Query<'_>,
    reader: &Reader,
    limit: i64,
    mut read: impl FnMut(FeedLine<'_>) -> T,
) -> Result<Chunk<T>> {
    statement.fetch_chunk(reader, limit, |row| Ok(read(feed_line(row)?))).await
}

/// Returns the lines about the items of one collection after `sequence` as `read` converts them, oldest first, as many as a chunk holds.
/// `read` may see the first lines twice.
pub async fn of_collection<T>(
    reader: &Reader,
    tenant: &Tenant,
    parent_id: &str,
    after: i64,
    limit: i64,
    read: impl FnMut(FeedLine<'_>) -> T,
) -> Result<Chunk<T>> {
    let sql = select_feed!(
        "and parent_id = $3 and parent_id <> '' and sequence > $4 and change_type <> 'state' order by sequence limit $5"
    );
    let statement = query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(parent_id)
        .bind(after)
        .bind(limit);
    feed_chunk(statement, reader, limit, read).await
}

/// As `of_collection`, for the resources of these types in one connection.
pub async fn of_connection<T>(
    reader: &Reader,
    tenant: &Tenant,
    (connection_id, types): (&str, Types),
    after: i64,
    limit: i64,
    read: impl FnMut(FeedLine<'_>) -> T,
) -> Result<Chunk<T>> {
    // Each type has its own index range: at most this many lines of each are read, whatever else the connection has.
    let sql = concat!(
        of_type!("$6", "a"),
        " union all ",
        of_type!("$7", "b"),
        " union all ",
        of_type!("$8", "c"),
        " union all ",
        of_type!("$9", "d"),
        " order by sequence limit $5"
    );
    let statement = query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(connection_id)
        .bind(after)
        .bind(limit);
    let statement = each_once(types).fold(statement, |q, name| q.bind(name));
    feed_chunk(statement, reader, limit, read).await
}

fn light(row: &Row<'_>) -> Result<Light> {
    Ok(Light {
        sequence: row.get("sequence")?,
        id: row.get("id")?,
        connection_id: row.get("connection_id")?,
        account_ids: account_ids(row)?,
        entry_type: row.get("type")?,
        resource_id: row.get("resource_id")?,
        origin: row.get("origin")?,
    })
}

/// The tenant whose log has a line with this id. For search only, which afterwards checks whether the reader may see the line.
pub async fn tenant_of(reader: &Reader, id: &str) -> Result<Option<Tenant>> {
    query("select organization_id, application_id from log where id = $1")
        .bind(id)
        .fetch_optional(reader, |row| {
            Ok(Tenant {
                organization_id: row.get("organization_id")?,
                application_id: row.get("application_id")?,
            })
        })
        .await
}

/// The lines of the application with these ids, without their content, oldest first.
pub async fn by_ids(reader: &Reader, tenant: &Tenant, ids: &[String]) -> Result<Vec<Light>> {
    // Without `coalesce` SQLite reads all lines of the application instead of looking up the ids.
    let sql = one_of!(
        reader,
        "select sequence, id, connection_id, account_ids, type, resource_id, origin from log \
         where coalesce(application_id, '') = $1 and coalesce(organization_id, '') = $2 and id",
        "$3"
    );
    let statement = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id);
    let mut lines = statement.bind(json_text(ids)).fetch_all(reader, light).await?;
    lines.sort_by_key(|line| line.sequence);
    Ok(lines)
}

/// The lines of the application with these ids, with their content, oldest first. All are in memory at once: pass few ids.
pub async fn whole_by_ids(reader: &Reader, tenant: &Tenant, ids: &[String]) -> Result<Vec<Entry>> {
    // `coalesce` as in `by_ids`.
    let sql = one_of!(
        reader,
        "select sequence, id, connection_id, account_ids, type, change_type, resource_type, resource_id, parent_id, changed_fields, \
         etag, origin, resource, at from log \
         where coalesce(application_id, '') = $1 and coalesce(organization_id, '') = $2 and id",
        "$3"
    );
    let statement = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id);
    let mut lines = statement.bind(json_text(ids)).fetch_all(reader, entry).await?;
    lines.sort_by_key(|line| line.sequence);
    Ok(lines)
}

/// At most `limit` lines after `sequence`, without their content, oldest first. Uncommitted lines have numbers above `last_sequence`: a
/// caller that reads `last_sequence` first misses no line up to it.
pub async fn light_after(reader: &Reader, tenant: &Tenant, after: i64, limit: i64) -> Result<Vec<Light>> {
    let sql = "select sequence, id, connection_id, account_ids, type, resource_id, origin from log \
               where application_id = $1 and organization_id = $2 and sequence > $3 order by sequence limit $4";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(after)
        .bind(limit)
        .fetch_all(reader, light)
        .await
}

/// The line with this number, with the resource.
pub async fn resource_of(reader: &Reader, tenant: &Tenant, sequence: i64) -> Result<Option<Entry>> {
    query(select!("and sequence = $3"))
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(sequence)
        .fetch_optional(reader, entry)
        .await
}

/// The sequence below which lines of the log are deleted.
pub async fn floor(on: impl Into<On<'_>>, tenant: &Tenant) -> Result<i64> {
    let floor = query("select floor_sequence from applications where id = $1 and organization_id = $2")
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(on, |row| row.get("floor_sequence"))
        .await?;
    Ok(floor.unwrap_or(0))
}
