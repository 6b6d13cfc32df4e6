//! Messages of a place, newest first.

use anyhow::Result;
use base::tenant::Tenant;

use crate::items::{ItemColumns, like};
use crate::sql::{Chunk, Reader, Row, query};

/// Maximum number of words in a search; each is a pattern of the statement.
pub const MAX_WORDS: usize = 8;

/// A filter for the messages of a place: a folder, a label, a thread, a connection or the application.
#[derive(Clone, Debug)]
pub struct Filter<'a> {
    /// A folder, a label, a thread, a connection, or the application.
    pub place_id: &'a str,
    /// Received at this time or later, ms.
    pub from: i64,
    /// Received before it.
    pub to: i64,
    /// Bits of the message's flags that are compared: those in `flags` must be set, the others clear.
    pub mask: i64,
    pub flags: i64,
    /// Folded words that must all occur in `search_text`, at most eight.
    pub words: &'a [String],
    /// Only this kind; empty: messages and drafts.
    pub kind: &'a str,
    /// When the message before the page was received, and its id.
    pub before: (i64, &'a str),
    /// Messages that are visited at most, however few of them match.
    pub limit: i64,
}

/// A message, with the data stored beside it.
#[derive(Clone, Copy, Debug)]
pub struct MessageMatch<'a> {
    pub shown: ItemColumns<'a>,
    pub source_id: &'a str,
    pub aside: Option<&'a str>,
}

/// A visited message.
#[derive(Clone, Copy, Debug)]
pub struct VisitedMessage<'a> {
    pub sort_at: i64,
    pub id: &'a str,
    /// None where the message does not match the filter.
    pub found: Option<MessageMatch<'a>>,
}

/// Calls `read` for each visited message of a place, newest first, borrowed from the result row; as many as a chunk holds.
pub async fn list_messages<T>(
    reader: &Reader,
    tenant: &Tenant,
    filter: &Filter<'_>,
    with_provider_data: bool,
    mut read: impl FnMut(VisitedMessage<'_>) -> Result<T>,
) -> Result<Chunk<T>> {
    // The messages are looked up one by one in the order of the place: those that do not match come as nulls, and count for the
    // limit.
    let sql = "select p.sort_at, p.item_id, i.id, i.connection_id, i.kind, i.parent_id, i.external_id, i.series_id, i.etag, i.body, \
               i.metadata, i.sort_at, i.sort_text, i.created_at, i.updated_at, \
               case when $18 = 1 then i.provider_data end as provider_data, i.source_id, i.aside \
               from email_places p left join items i on i.id = p.item_id \
               and i.organization_id = $1 and i.application_id = $2 and i.deleted_at is null \
               and (i.flags & $6) = $7 and ($8 = '' or i.kind = $8) \
               and i.search_text like $11 escape '!' and i.search_text like $12 escape '!' \
               and i.search_text like $13 escape '!' and i.search_text like $14 escape '!' \
               and i.search_text like $15 escape '!' and i.search_text like $16 escape '!' \
               and i.search_text like $19 escape '!' and i.search_text like $20 escape '!' \
               where p.place_id = $3 and p.sort_at >= $4 and p.sort_at <= $5 \
               and case when p.sort_at = $9 then p.item_id < $10 else true end \
               order by p.sort_at desc, p.item_id desc limit $17";
    let word = |n: usize| filter.words.get(n).map_or_else(|| "%".to_owned(), |word| like(word));
    let mut statement = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(filter.place_id)
        .bind(filter.from)
        // One bound for the beginning of the page: an engine seeks to one, but only filters by a second.
        .bind(filter.before.0.min(filter.to.saturating_sub(1)))
        .bind(filter.mask)
        .bind(filter.flags)
        .bind(filter.kind)
        .bind(filter.before.0)
        .bind(filter.before.1);
    for n in 0..6 {
        statement = statement.bind(word(n));
    }
    statement = statement.bind(filter.limit).bind(i64::from(with_provider_data)).bind(word(6)).bind(word(7));
    statement.fetch_chunk(reader, filter.limit, |row| read(read_visited(row)?)).await
}

fn read_visited<'a>(row: &'a Row<'_>) -> Result<VisitedMessage<'a>> {
    let mut column = row.columns();
    let (sort_at, id) = (column.next()?, column.text()?.unwrap_or_default());
    let found = match crate::items::shown_if_any(&mut column)? {
        None => None,
        Some(shown) => {
            let (source_id, aside) = (column.text()?.unwrap_or_default(), column.text()?);
            Some(MessageMatch { shown, source_id, aside })
        }
    };
    Ok(VisitedMessage { sort_at, id, found })
}
