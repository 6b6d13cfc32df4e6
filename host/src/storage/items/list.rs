//! Items in the order of a text of theirs (contacts by name, tasks by position), searched and filtered.

use anyhow::Result;

use crate::storage::items::{Key, Shown, shown};
use crate::storage::sql::{Query, Reader, query};
use crate::tenant::Tenant;

/// Words that one search looks for; each is a pattern of the statement.
pub const MAX_WORDS: usize = 8;
/// Keys that one list asks for.
const MAX_KEYS: usize = 3;

/// Where the items lie.
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
    /// Folded words that all stand in `search_text`, at most eight.
    pub words: &'a [String],
    /// Keys that an item has all of, at most three.
    pub keys: &'a [Key],
    /// The sort text and the id of the item before the page.
    pub after: (&'a str, &'a str),
    pub limit: i64,
}

/// The rows of a list; `$within` and `$keyed` are conditions of the statement.
macro_rules! in_list {
    ($within:literal, $keyed:literal) => {
        concat!(
            "where organization_id = $1 and application_id = $2 and ",
            $within,
            " and kind = $4 and deleted_at is null and sort_text <> '' and updated_at >= $5 ",
            "and (sort_text, id) > ($6, $7) ",
            "and search_text like $9 escape '!' and search_text like $10 escape '!' and search_text like $11 escape '!' ",
            "and search_text like $12 escape '!' and search_text like $13 escape '!' and search_text like $14 escape '!' ",
            "and search_text like $15 escape '!' and search_text like $16 escape '!' ",
            $keyed,
            "order by sort_text, id limit $8"
        )
    };
}

/// Has the keys `$18`–`$23`. It is by the first of them that rows are found: few items have it.
macro_rules! keyed {
    ($within:literal) => {
        concat!(
            shown_columns!("$17"),
            in_list!(
                $within,
                "and id in (select item_id from item_keys where application_id = $2 and name = $18 and value = $19) \
                 and ($20 = '' or exists (select 1 from item_keys k where k.item_id = items.id and k.name = $20 and k.value = $21)) \
                 and ($22 = '' or exists (select 1 from item_keys k where k.item_id = items.id and k.name = $22 and k.value = $23)) "
            )
        )
    };
}

macro_rules! plain {
    ($within:literal) => {
        concat!(shown_columns!("$17"), in_list!($within, ""))
    };
}

fn statement(list: &List<'_>) -> &'static str {
    match (list.within, list.keys.is_empty()) {
        (Within::Collection(_), true) => plain!("parent_id = $3"),
        (Within::Connection(_), true) => plain!("connection_id = $3"),
        (Within::Application, true) => plain!("$3 = ''"),
        (Within::Collection(_), false) => keyed!("parent_id = $3"),
        (Within::Connection(_), false) => keyed!("connection_id = $3"),
        (Within::Application, false) => keyed!("$3 = ''"),
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
        .bind(list.updated_after)
        .bind(list.after.0)
        .bind(list.after.1)
        .bind(list.limit);
    for n in 0..MAX_WORDS {
        query = query.bind(list.words.get(n).map_or_else(|| "%".to_owned(), |word| like(word)));
    }
    query = query.bind(i64::from(with_provider_data));
    if !list.keys.is_empty() {
        for n in 0..MAX_KEYS {
            let key = list.keys.get(n);
            query = query.bind(key.map_or("", |k| k.name)).bind(key.map_or("", |k| &k.value));
        }
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

/// What `read` makes of each item with its sort text, where it lies.
pub async fn read_list<T>(
    reader: &Reader,
    tenant: &Tenant,
    list: &List<'_>,
    with_provider_data: bool,
    mut read: impl FnMut(Shown<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    bind_list(tenant, list, with_provider_data).fetch_all(reader, |row| read(shown(row)?)).await
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn a_word_is_looked_for_as_it_is() {
        assert_eq!(like("100%_sure!"), "%100!%!_sure!!%");
    }
}
