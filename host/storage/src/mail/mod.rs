//! Where messages are, and which of them belong together. Tables: `migrations/0012_email.sql`.

mod list;
mod threads;

use std::collections::HashMap;

use anyhow::Result;

use crate::Tx;
use crate::dialect::among;
use crate::items::Item;
use crate::sql::{Reader, Row, query};

pub use list::{Filter, Found, MAX_WORDS, Seen, list_messages};
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
    let sql = among!(
        tx,
        "insert into email_places (place_id, sort_at, item_id, connection_id) \
         select p.*, cast($2 as bigint), cast($3 as text), cast($4 as text) from ",
        "$1",
        " as p where true on conflict (place_id, sort_at, item_id) do nothing"
    );
    let places = query(sql).bind(serde_json::to_string(places)?);
    places.bind(item.sort_at).bind(&item.id).bind(&item.connection_id).execute(&mut *tx).await?;
    Ok(())
}

/// Takes a message out of all places.
pub async fn remove_places(tx: &mut Tx, item: &Item) -> Result<()> {
    query("delete from email_places where connection_id = $1 and item_id = $2")
        .bind(&item.connection_id)
        .bind(&item.id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// How many messages are in each of these places, and how many of them are unread. Places without messages are left out.
pub async fn counts(reader: &Reader, place_ids: &[&str]) -> Result<HashMap<String, (i64, i64)>> {
    let sql = "select count(*) as n, cast(coalesce(sum(i.is_open), 0) as bigint) as unread \
               from email_places p join items i on i.id = p.item_id where i.deleted_at is null and p.place_id = $1";
    let count = |row: &Row<'_>| Ok((row.get::<i64>("n")?, row.get("unread")?));
    let mut found = HashMap::new();
    for id in place_ids {
        let counted = query(sql).bind(*id).fetch_one(reader, count).await?;
        if counted.0 > 0 {
            found.insert((*id).to_owned(), counted);
        }
    }
    Ok(found)
}
