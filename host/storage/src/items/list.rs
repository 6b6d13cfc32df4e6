//! Items in the order of their sort text (contacts by name, tasks by position), searched and filtered.

use anyhow::Result;
use base::tenant::Tenant;

use crate::items::keys::Key;
use crate::items::row::{ItemColumns, shown_from, shown_if_any};
use crate::sql::{Chunk, Query, Reader, query};

/// Maximum number of words in a search; each is a pattern of the statement.
pub const MAX_WORDS: usize = 8;
/// Keys that one list may filter by.
const MAX_KEYS: usize = 3;

/// The scope of a list: a collection, a connection or the whole application.
#[derive(Clone, Copy, Debug)]
pub enum Within<'a> {
    Collection(&'a str),
    Connection(&'a str),
    Application,
}

/// A page of live items in (sort_text, id) order.
#[derive(Clone, Debug)]
pub struct List<'a> {
    pub within: Within<'a>,
    pub kind: &'a str,
    pub updated_after: i64,
    /// Folded words that must all occur in `search_text`, at most eight.
    pub words: &'a [String],
    /// Keys that an item must all have, at most three.
    pub keys: &'a [Key],
    /// The sort text and the id of the item before the page.
    pub after: (&'a str, &'a str),
    /// Rows that are visited at most, however few of them match.
    pub limit: i64,
}

impl List<'_> {
    /// Whether the list has no filters.
    fn is_whole(&self) -> bool {
        self.words.is_empty() && self.keys.is_empty() && self.updated_after == i64::MIN
    }
}

/// A visited row.
#[derive(Clone, Copy, Debug)]
pub struct VisitedItem<'a> {
    pub sort_text: &'a str,
    pub id: &'a str,
    /// None where the item does not match the list's filters.
    pub shown: Option<ItemColumns<'a>>,
}

/// All items within the scope; `$within` is a condition of the statement.
macro_rules! whole {
    ($within:expr) => {
        concat!(
            shown_columns!("$9"),
            "where organization_id = $1 and application_id = $2 and ",
            $within,
            " and kind = $4 and deleted_at is null and sort_text <> '' and (sort_text, id) > ($5, $6) ",
            "order by sort_text, id limit $7"
        )
    };
}

/// The rows of `$seen`, each with its item where that matches the filters. The items are looked up one by one, so that no more
/// than those rows are visited.
macro_rules! sifted {
    ($seen:expr, $within:expr) => {
        concat!(
            shown_columns!("$9", "seen_text, seen_id, ", "from "),
            $seen,
            " seen left join items on items.id = seen_id and organization_id = $1 and application_id = $2 and ",
            $within,
            " and kind = $4 and deleted_at is null and sort_text <> '' and updated_at >= $8 ",
            "and search_text like $10 escape '!' and search_text like $11 escape '!' and search_text like $12 escape '!' ",
            "and search_text like $13 escape '!' and search_text like $14 escape '!' and search_text like $15 escape '!' ",
            "and search_text like $16 escape '!' and search_text like $17 escape '!' ",
            "and ($20 = '' or exists (select 1 from item_keys k where k.item_id = items.id and k.name = $20 and k.value = $21)) ",
            "and ($22 = '' or exists (select 1 from item_keys k where k.item_id = items.id and k.name = $22 and k.value = $23)) ",
            "order by seen_text, seen_id"
        )
    };
}

/// The rows within the scope.
macro_rules! of_place {
    ($within:expr) => {
        sifted!(
            concat!(
                "(select sort_text as seen_text, id as seen_id from items where application_id = $2 and ",
                $within,
                " and kind = $4 and deleted_at is null and sort_text <> '' and (sort_text, id) > ($5, $6) ",
                "order by sort_text, id limit $7)"
            ),
            $within
        )
    };
}

/// The rows that have the first of the keys.
macro_rules! of_key {
    ($within:expr) => {
        sifted!(
            "(select sort_text as seen_text, item_id as seen_id from item_keys where application_id = $2 and name = $18 \
             and value = $19 and (sort_text, item_id) > ($5, $6) order by sort_text, item_id limit $7)",
            $within
        )
    };
}

/// The condition for the whole application, without the remains of deleted connections.
macro_rules! anywhere {
    () => {
        concat!("$3 = '' and ", connected!())
    };
}

fn statement(list: &List<'_>) -> &'static str {
    match (list.within, list.is_whole(), list.keys.is_empty()) {
        (Within::Collection(_), true, _) => whole!("parent_id = $3"),
        (Within::Connection(_), true, _) => whole!("connection_id = $3"),
        (Within::Application, true, _) => whole!(anywhere!()),
        (Within::Collection(_), _, true) => of_place!("parent_id = $3"),
        (Within::Connection(_), _, true) => of_place!("connection_id = $3"),
        (Within::Application, _, true) => sifted!(
            "(select sort_text as seen_text, id as seen_id from items where application_id = $2 and kind = $4 \
             and deleted_at is null and sort_text <> '' and (sort_text, id) > ($5, $6) order by sort_text, id limit $7)",
            anywhere!()
        ),
        (Within::Collection(_), _, false) => of_key!("parent_id = $3"),
        (Within::Connection(_), _, false) => of_key!("connection_id = $3"),
        (Within::Application, _, false) => of_key!(anywhere!()),
    }
}

fn bind_list<'q>(tenant: &'q Tenant, list: &'q List<'_>, with_provider_data: bool) -> Query<'q> {
    let within = match list.within {
        Within::Collection(id) | Within::Connection(id) => id,
        Within::Application => "",
    };
    let mut query = query(statement(list))
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(within)
        .bind(list.kind)
        .bind(list.after.0)
        .bind(list.after.1)
        .bind(list.limit)
        .bind(list.updated_after)
        .bind(i64::from(with_provider_data));
    if list.is_whole() {
        return query;
    }
    for n in 0..MAX_WORDS {
        query = query.bind(list.words.get(n).map_or_else(|| "%".to_owned(), |word| like(word)));
    }
    for n in 0..MAX_KEYS {
        let key = list.keys.get(n);
        query = query.bind(key.map_or("", |k| k.name)).bind(key.map_or("", |k| &k.value));
    }
    query
}

/// `LIKE` with the word anywhere in the text.
pub fn like(word: &str) -> String {
    let mut pattern = String::with_capacity(word.len() + 2);
    pattern.push('%');
    for c in word.chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// Calls `read` for each row that the list visits, borrowed from the result row without a copy. Returns as many results as a
/// chunk holds.
pub async fn read_list<T>(
    reader: &Reader,
    tenant: &Tenant,
    list: &List<'_>,
    with_provider_data: bool,
    mut read: impl FnMut(VisitedItem<'_>) -> Result<T>,
) -> Result<Chunk<T>> {
    let is_whole = list.is_whole();
    bind_list(tenant, list, with_provider_data)
        .fetch_chunk(reader, list.limit, |row| {
            let mut column = row.columns();
            if is_whole {
                let found = shown_from(&mut column)?;
                return read(VisitedItem { sort_text: found.sort_text, id: found.id, shown: Some(found) });
            }
            let (sort_text, id) = (column.text()?.unwrap_or_default(), column.text()?.unwrap_or_default());
            read(VisitedItem { sort_text, id, shown: shown_if_any(&mut column)? })
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn a_word_is_looked_for_as_it_is() {
        assert_eq!(like("100%_sure!"), "%100!%!_sure!!%");
    }
}
