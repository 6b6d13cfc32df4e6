//! Messages, drafts, folders and labels among the items: found by what only mail has.

use std::collections::HashMap;

use anyhow::Result;

use crate::storage::Tx;
use crate::storage::dialect::among;
use crate::storage::items::{Item, item};
use crate::storage::sql::{Reader, query};
use crate::tenant::Tenant;

/// Tombstones and live items of a connection under a fingerprint, the live ones first, then those that went last.
pub async fn by_fingerprint(tx: &mut Tx, connection_id: &str, fingerprint: &str) -> Result<Vec<Item>> {
    let sql = select!(
        "where connection_id = $1 and fingerprint = $2 \
         order by case when deleted_at is null then 0 else 1 end, deleted_at desc, id limit 20"
    );
    query(sql).bind(connection_id).bind(fingerprint).fetch_all(&mut *tx, item).await
}

/// Live items of these kinds that lie directly in a connection.
pub async fn live_of_kinds(tx: &mut Tx, connection_id: &str, kinds: (&str, &str)) -> Result<Vec<Item>> {
    let sql = select!(
        "where connection_id = $1 and kind in ($2, $3) and parent_id = '' and deleted_at is null order by id"
    );
    query(sql).bind(connection_id).bind(kinds.0).bind(kinds.1).fetch_all(&mut *tx, item).await
}

/// Live messages and drafts of a connection from these sources, in their order.
pub async fn of_sources(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: &str,
    sources: &[String],
) -> Result<Vec<Item>> {
    let sql = among!(
        reader,
        select!(
            "where organization_id = $1 and application_id = $2 and connection_id = $3 and parent_id = '' \
             and kind in ('email_message', 'email_draft') and deleted_at is null and source_id in "
        ),
        "$4",
        ""
    );
    let found = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(connection_id)
        .bind(serde_json::to_string(sources)?)
        .fetch_all(reader, item)
        .await?;
    let mut by_source: HashMap<_, _> = found.into_iter().map(|i| (i.source_id.clone(), i)).collect();
    Ok(sources.iter().filter_map(|source| by_source.remove(source)).collect())
}

/// Gives a row another source: what the provider had of it is another thing from now on, or nothing.
pub async fn set_source(tx: &mut Tx, id: &str, source_id: &str) -> Result<()> {
    query("update items set source_id = $1, external_id = $1, fingerprint = null where id = $2")
        .bind(source_id)
        .bind(id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Whether a live message of a connection comes from this source.
pub async fn is_known_source(reader: &Reader, connection_id: &str, source_id: &str) -> Result<bool> {
    let sql = "select id from items where connection_id = $1 and kind in ('email_message', 'email_draft') \
               and parent_id = '' and source_id = $2 and deleted_at is null limit 1";
    let statement = query(sql).bind(connection_id).bind(source_id);
    let found: Option<String> = statement.fetch_optional(reader, |row| row.get("id")).await?;
    Ok(found.is_some())
}

/// Live items of a thread.
pub async fn of_thread(tx: &mut Tx, thread_id: &str) -> Result<Vec<Item>> {
    let sql = select!("where series_id = $1 and deleted_at is null order by id");
    query(sql).bind(thread_id).fetch_all(&mut *tx, item).await
}

/// Live items of a connection by what others call them: messages by Message-ID.
pub async fn by_uid(tx: &mut Tx, connection_id: &str, uid: &str) -> Result<Vec<Item>> {
    let sql = select!(
        "where parent_id = '' and uid = $2 and connection_id = $1 and deleted_at is null order by id"
    );
    query(sql).bind(connection_id).bind(uid).fetch_all(&mut *tx, item).await
}

/// Drafts of a connection that are, or are about to be, the message of this Message-ID; those that went since then too.
pub async fn drafts_by_uid(tx: &mut Tx, connection_id: &str, uid: &str, since: i64) -> Result<Vec<Item>> {
    let sql = select!(
        "where parent_id = '' and uid = $2 and connection_id = $1 and kind = 'email_draft' \
         and (deleted_at is null or deleted_at >= $3) order by id"
    );
    query(sql).bind(connection_id).bind(uid).bind(since).fetch_all(&mut *tx, item).await
}

/// What others are going to call it.
pub async fn set_uid(tx: &mut Tx, id: &str, uid: &str) -> Result<()> {
    query("update items set uid = $1 where id = $2").bind(uid).bind(id).execute(tx).await?;
    Ok(())
}
