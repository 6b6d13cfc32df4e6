//! The places of messages, and their threads. Tables: `migrations/0012_email.sql`.

mod list;
mod threads;

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde_json::json;

use crate::Tx;
use crate::dialect::{each_of, each_text_of, one_of};
use crate::items::Item;
use crate::json_text;
use crate::sql::{Reader, query};

pub use list::{Filter, MAX_WORDS, MessageMatch, VisitedMessage, list_messages};
pub use threads::{
    ListedThread, NewThread, Thread, ThreadName, find_thread, insert_threads, known_threads, latest_of,
    list_threads, merge_threads, messages_of, name_threads, set_latest, threads_of_provider,
};

/// Bits of `items.flags`.
pub mod flag {
    pub const UNREAD: i64 = 1;
    pub const STARRED: i64 = 2;
    pub const HAS_ATTACHMENTS: i64 = 4;
    pub const DRAFT: i64 = 8;
}

/// A message, and a place that it is in.
#[derive(Clone, Copy, Debug)]
pub struct MessagePlace<'p> {
    pub item: &'p Item,
    pub place_id: &'p str,
}

/// Places that one statement writes. A page of 200 messages, each in its thread and some folders and labels, has less than 2,000.
const PLACES_PER_STATEMENT: usize = 10_000;

/// Adds messages of a connection to places; each pair may occur once.
pub async fn set_places(tx: &mut Tx, connection_id: &str, places: &[MessagePlace<'_>]) -> Result<()> {
    let sql = each_of!(
        tx,
        "insert into email_places (place_id, sort_at, item_id, connection_id) \
         select value ->> 'place', cast(value ->> 'at' as bigint), value ->> 'item', $1",
        "$2",
        " where true on conflict (place_id, sort_at, item_id) do nothing"
    );
    for some in places.chunks(PLACES_PER_STATEMENT) {
        let mut rows = Vec::with_capacity(some.len());
        for MessagePlace { item, place_id } in some {
            rows.push(json!({ "place": place_id, "at": item.sort_at, "item": item.id }));
        }
        query(sql).bind(connection_id).bind(json_text(&rows)).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Removes messages of a connection from all places.
pub async fn remove_places(tx: &mut Tx, connection_id: &str, item_ids: &[&str]) -> Result<()> {
    if item_ids.is_empty() {
        return Ok(());
    }
    let sql = one_of!(tx, "delete from email_places where connection_id = $1 and item_id", "$2");
    query(sql).bind(connection_id).bind(json_text(item_ids)).execute(&mut *tx).await?;
    Ok(())
}

/// The number of messages in each of these places, and of the unread ones among them. Places without messages are left out.
pub async fn counts(reader: &Reader, place_ids: &[&str]) -> Result<HashMap<String, (i64, i64)>> {
    // Each place by its index: for a join with all of them PostgreSQL may read all items. Both numbers are in one text, so that
    // each place is counted once.
    let sql = each_text_of!(
        reader,
        "select value as place_id, (select cast(count(*) as text) || ' ' || cast(coalesce(sum(i.is_open), 0) as text) \
         from email_places p join items i on i.id = p.item_id where i.deleted_at is null and p.place_id = value) as counted",
        "$1",
        ""
    );
    let counted = query(sql).bind(json_text(place_ids));
    let found = counted
        .fetch_all(reader, |row| Ok((row.get::<String>("place_id")?, row.get::<String>("counted")?)))
        .await?;
    let mut counts = HashMap::new();
    for (place_id, counted) in found {
        let (all, unread) = counted.split_once(' ').context("two numbers")?;
        let (all, unread): (i64, i64) = (all.parse()?, unread.parse()?);
        if all > 0 {
            counts.insert(place_id, (all, unread));
        }
    }
    Ok(counts)
}
