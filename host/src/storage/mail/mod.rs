//! Where messages are, and which of them belong together. Tables: `migrations/0012_email.sql`.

mod list;
mod threads;

use anyhow::Result;

use crate::storage::Tx;
use crate::storage::items::Item;
use crate::storage::sql::{On, query};

pub use list::{Filter, Found, MAX_WORDS, list_messages};
pub use threads::{
    Listed, Thread, find_thread, known_threads, latest_of, list_threads, merge_thread, messages_of,
    name_thread, new_thread, set_latest, thread_of_provider,
};

/// Bits of `items.flags`.
pub mod flag {
    pub const UNREAD: i64 = 1;
    pub const STARRED: i64 = 2;
    pub const HAS_ATTACHMENTS: i64 = 4;
    pub const DRAFT: i64 = 8;
}

/// Puts a message into these places, and into no others.
pub async fn set_places(tx: &mut Tx, item: &Item, places: &[&str]) -> Result<()> {
    remove_places(tx, &item.id).await?;
    let sql = "insert into email_places (place_id, sort_at, item_id, connection_id) values ($1, $2, $3, $4) \
               on conflict (place_id, sort_at, item_id) do nothing";
    for place in places {
        query(sql)
            .bind(*place)
            .bind(item.sort_at)
            .bind(&item.id)
            .bind(&item.connection_id)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

/// Takes a message out of all places.
pub async fn remove_places(tx: &mut Tx, item_id: &str) -> Result<()> {
    query("delete from email_places where item_id = $1").bind(item_id).execute(&mut *tx).await?;
    Ok(())
}

/// How many messages are in a place, and how many of them are unread.
pub async fn count(on: impl Into<On<'_>>, place_id: &str) -> Result<(i64, i64)> {
    let sql = "select count(*) as n, cast(coalesce(sum(i.is_open), 0) as bigint) as unread from email_places p \
               join items i on i.id = p.item_id where p.place_id = $1 and i.deleted_at is null";
    query(sql).bind(place_id).fetch_one(on, |row| Ok((row.get("n")?, row.get("unread")?))).await
}
