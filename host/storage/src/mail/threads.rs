//! Threads: their ids, the Message-IDs that belong to them, and the time of their newest message.

use std::collections::HashMap;

use anyhow::Result;
use base::tenant::Tenant;
use serde_json::json;

use crate::Tx;
use crate::dialect::{among, each_of, insert_rows, one_of};
use crate::items::{Item, select_items};
use crate::json_text;
use crate::sql::{Reader, Row, query};
use crate::statement_rows::{self, RowValues};

/// A thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    pub id: String,
    pub connection_id: String,
    pub external_id: Option<String>,
    pub merged_into: Option<String>,
    pub created_at: i64,
}

fn thread(row: &Row<'_>) -> Result<Thread> {
    Ok(Thread {
        id: row.get("id")?,
        connection_id: row.get("connection_id")?,
        external_id: row.get("external_id")?,
        merged_into: row.get("merged_into")?,
        created_at: row.get("created_at")?,
    })
}

/// A thread that has no row yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewThread {
    pub id: String,
    /// The provider's id of it; none where it is computed here.
    pub external_id: Option<String>,
    pub created_at: i64,
    /// When its newest message was received, ms.
    pub latest_at: i64,
}

/// A name, and the thread that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadName<'n> {
    pub name: &'n str,
    pub thread_id: &'n str,
}

/// Maximum number of names in one statement. A page of 200 messages, each naming as many others as are counted, has 10,200.
const NAMES_PER_STATEMENT: usize = 20_000;

/// The ids of threads by the provider's ids (`external_ids`).
pub async fn threads_of_provider(
    tx: &mut Tx,
    connection_id: &str,
    external_ids: &[&str],
) -> Result<HashMap<String, String>> {
    if external_ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = one_of!(
        tx,
        "select id, external_id from email_threads where connection_id = $1 and external_id",
        "$2"
    );
    let threads = query(sql).bind(connection_id).bind(json_text(external_ids));
    let found = threads
        .fetch_all(&mut *tx, |row| Ok((row.get::<String>("external_id")?, row.get::<String>("id")?)))
        .await?;
    Ok(found.into_iter().collect())
}

/// Writes new threads of a connection.
pub async fn insert_threads(
    tx: &mut Tx,
    tenant: &Tenant,
    connection_id: &str,
    threads: &[NewThread],
) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "email_threads",
        [
            id "$1" "text",
            organization_id "$2" "text",
            application_id "$3" "text",
            connection_id "$4" "text",
            external_id "$5" "text",
            created_at "$6" "bigint",
            latest_at "$7" "bigint",
        ],
        ""
    );
    let values = threads.iter().map(|thread| {
        RowValues::new()
            .bind(&thread.id)
            .bind(&tenant.organization_id)
            .bind(&tenant.application_id)
            .bind(connection_id)
            .bind(&thread.external_id)
            .bind(thread.created_at)
            .bind(thread.latest_at)
    });
    statement_rows::execute(tx, sql, values.collect()).await?;
    Ok(())
}

/// The threads that these names belong to, by name.
pub async fn known_threads(
    tx: &mut Tx,
    connection_id: &str,
    names: &[&str],
) -> Result<HashMap<String, String>> {
    let sql =
        one_of!(tx, "select ref, thread_id from email_thread_refs where connection_id = $1 and ref", "$2");
    let mut found = HashMap::new();
    for some in names.chunks(NAMES_PER_STATEMENT) {
        let known = query(sql).bind(connection_id).bind(json_text(some));
        let of_some = known
            .fetch_all(&mut *tx, |row| Ok((row.get::<String>("ref")?, row.get::<String>("thread_id")?)))
            .await?;
        found.extend(of_some);
    }
    Ok(found)
}

/// Assigns these names to these threads; each name occurs once.
pub async fn name_threads(tx: &mut Tx, connection_id: &str, names: &[ThreadName<'_>]) -> Result<()> {
    let sql = each_of!(
        tx,
        "insert into email_thread_refs (connection_id, ref, thread_id) select $1, value ->> 'ref', value ->> 'thread'",
        "$2",
        " where true on conflict (connection_id, ref) do update set thread_id = excluded.thread_id \
         where email_thread_refs.thread_id <> excluded.thread_id"
    );
    for some in names.chunks(NAMES_PER_STATEMENT) {
        let rows: Vec<_> =
            some.iter().map(|named| json!({ "ref": named.name, "thread": named.thread_id })).collect();
        query(sql).bind(connection_id).bind(json_text(&rows)).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Merges threads into another one, with all their names. The caller moves their messages.
pub async fn merge_threads(tx: &mut Tx, from: &[&str], into: &str, now: i64) -> Result<()> {
    let from = json_text(from);
    for sql in [
        one_of!(tx, "update email_thread_refs set thread_id = $1 where thread_id", "$2"),
        one_of!(tx, "update email_threads set merged_into = $1 where merged_into", "$2"),
    ] {
        query(sql).bind(into).bind(&from).execute(&mut *tx).await?;
    }
    let sql = one_of!(
        tx,
        "update email_threads set merged_into = $1, latest_at = null, emptied_at = $3 where id",
        "$2"
    );
    query(sql).bind(into).bind(&from).bind(now).execute(&mut *tx).await?;
    Ok(())
}

/// Sets the time of the newest message of each thread; for an empty one, since when. Writes nothing where that is up to date.
pub async fn set_latest(tx: &mut Tx, thread_ids: &[&str], now: i64) -> Result<()> {
    if thread_ids.is_empty() {
        return Ok(());
    }
    let sql = one_of!(
        tx,
        "update email_threads set latest_at = (select max(p.sort_at) from email_places p where p.place_id = email_threads.id), \
         emptied_at = case when not exists (select 1 from email_places p where p.place_id = email_threads.id) then $1 end \
         where latest_at is distinct from (select max(p.sort_at) from email_places p where p.place_id = email_threads.id) \
         and id",
        "$2"
    );
    query(sql).bind(now).bind(json_text(thread_ids)).execute(&mut *tx).await?;
    Ok(())
}

/// When the newest message of a thread was received.
pub async fn latest_of(reader: &Reader, thread_id: &str) -> Result<Option<i64>> {
    let found: Option<Option<i64>> = query("select latest_at from email_threads where id = $1")
        .bind(thread_id)
        .fetch_optional(reader, |row| row.get("latest_at"))
        .await?;
    Ok(found.flatten())
}

/// A thread of the tenant, including merged ones.
pub async fn find_thread(reader: &Reader, tenant: &Tenant, id: &str) -> Result<Option<Thread>> {
    let sql = "select id, connection_id, external_id, merged_into, created_at from email_threads \
               where organization_id = $1 and application_id = $2 and id = $3";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(reader, thread)
        .await
}

/// Live messages and drafts of these threads, by thread id, oldest first.
pub async fn messages_of(
    reader: &Reader,
    tenant: &Tenant,
    thread_ids: &[&str],
) -> Result<HashMap<String, Vec<Item>>> {
    let sql = among!(
        reader,
        select_items!(
            "where organization_id = $1 and application_id = $2 and deleted_at is null and series_id in "
        ),
        "$3",
        " order by sort_at, id"
    );
    let items = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(serde_json::to_string(thread_ids)?)
        .fetch_all(reader, crate::items::item)
        .await?;
    let mut found: HashMap<String, Vec<Item>> = HashMap::new();
    for item in items {
        let thread_id = item.series_id.clone().unwrap_or_default();
        found.entry(thread_id).or_default().push(item);
    }
    Ok(found)
}

/// A thread in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedThread {
    pub id: String,
    pub connection_id: String,
    pub external_id: Option<String>,
    pub latest_at: i64,
    pub created_at: i64,
}

/// Threads with messages of a connection, or of all (`connection_id` empty), by their newest message, after a position.
pub async fn list_threads(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: &str,
    (latest_at, id): (i64, &str),
    limit: i64,
) -> Result<Vec<ListedThread>> {
    let sql = match connection_id.is_empty() {
        true => {
            "select id, connection_id, external_id, latest_at, created_at from email_threads where application_id = $1 \
             and organization_id = $2 and $3 = '' and (latest_at, id) < ($4, $5) order by latest_at desc, id desc limit $6"
        }
        false => {
            "select id, connection_id, external_id, latest_at, created_at from email_threads where application_id = $1 \
             and organization_id = $2 and connection_id = $3 and (latest_at, id) < ($4, $5) \
             order by latest_at desc, id desc limit $6"
        }
    };
    let listed = |row: &Row<'_>| {
        Ok(ListedThread {
            id: row.get("id")?,
            connection_id: row.get("connection_id")?,
            external_id: row.get("external_id")?,
            latest_at: row.get("latest_at")?,
            created_at: row.get("created_at")?,
        })
    };
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(connection_id)
        .bind(latest_at)
        .bind(id)
        .bind(limit)
        .fetch_all(reader, listed)
        .await
}
