//! Threads: their ids, which Message-IDs lead to them, and when their newest message came.

use std::collections::HashMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::among;
use crate::items::{Item, select_items};
use crate::sql::{Reader, Row, query};

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

/// The id of the thread that the provider calls so.
pub async fn thread_of_provider(
    tx: &mut Tx,
    connection_id: &str,
    external_id: &str,
) -> Result<Option<String>> {
    query("select id from email_threads where connection_id = $1 and external_id = $2")
        .bind(connection_id)
        .bind(external_id)
        .fetch_optional(&mut *tx, |row| row.get("id"))
        .await
}

/// Makes a thread for a message that came then, ms.
pub async fn new_thread(tx: &mut Tx, tenant: &Tenant, thread: &Thread, latest_at: i64) -> Result<()> {
    let sql = "insert into email_threads (id, organization_id, application_id, connection_id, external_id, \
               created_at, latest_at) values ($1, $2, $3, $4, $5, $6, $7)";
    query(sql)
        .bind(&thread.id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(&thread.connection_id)
        .bind(&thread.external_id)
        .bind(thread.created_at)
        .bind(latest_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// The threads that these names lead to, the oldest first.
pub async fn known_threads(tx: &mut Tx, connection_id: &str, refs: &[String]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let sql = "select thread_id from email_thread_refs where connection_id = $1 and ref = $2";
    for name in refs {
        let id: Option<String> = query(sql)
            .bind(connection_id)
            .bind(name)
            .fetch_optional(&mut *tx, |row| row.get("thread_id"))
            .await?;
        found.extend(id);
    }
    // Ids begin with the time at which they were made.
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// From now on these names lead to the thread.
pub async fn name_thread(tx: &mut Tx, connection_id: &str, refs: &[String], thread_id: &str) -> Result<()> {
    let sql = "insert into email_thread_refs (connection_id, ref, thread_id) values ($1, $2, $3) \
               on conflict (connection_id, ref) do update set thread_id = excluded.thread_id \
               where email_thread_refs.thread_id <> excluded.thread_id";
    for name in refs {
        query(sql).bind(connection_id).bind(name).bind(thread_id).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Makes a thread part of another one, with all that led to it. Its messages are moved by the caller.
pub async fn merge_thread(tx: &mut Tx, from: &str, into: &str, now: i64) -> Result<()> {
    for sql in [
        "update email_thread_refs set thread_id = $2 where thread_id = $1",
        "update email_threads set merged_into = $2 where merged_into = $1",
    ] {
        query(sql).bind(from).bind(into).execute(&mut *tx).await?;
    }
    query("update email_threads set merged_into = $2, latest_at = null, emptied_at = $3 where id = $1")
        .bind(from)
        .bind(into)
        .bind(now)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Sets when the newest message of a thread came, by what is in it; of one that is empty, since when. Nothing is written where that is
/// known.
pub async fn set_latest(tx: &mut Tx, thread_id: &str, now: i64) -> Result<()> {
    let sql = "update email_threads set latest_at = newest.at, emptied_at = case when newest.at is null then $2 end \
               from (select max(sort_at) as at from email_places where place_id = $1) as newest \
               where id = $1 and latest_at is distinct from newest.at";
    query(sql).bind(thread_id).bind(now).execute(&mut *tx).await?;
    Ok(())
}

/// When the newest message of a thread came.
pub async fn latest_of(reader: &Reader, thread_id: &str) -> Result<Option<i64>> {
    let found: Option<Option<i64>> = query("select latest_at from email_threads where id = $1")
        .bind(thread_id)
        .fetch_optional(reader, |row| row.get("latest_at"))
        .await?;
    Ok(found.flatten())
}

/// A thread of the tenant, one that was merged too.
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

/// Live messages and drafts of these threads, oldest first. Of one thread they stand together under its id.
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
pub struct Listed {
    pub id: String,
    pub connection_id: String,
    pub external_id: Option<String>,
    pub latest_at: i64,
    pub created_at: i64,
}

/// Threads with messages of a connection, or of all (`connection_id` empty), by their newest message, after a place.
pub async fn list_threads(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: &str,
    (latest_at, id): (i64, &str),
    limit: i64,
) -> Result<Vec<Listed>> {
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
        Ok(Listed {
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
