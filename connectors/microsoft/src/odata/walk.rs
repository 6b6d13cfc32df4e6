//! Walks over the delta of a collection: the ids of what changed and of what is said to be gone. The content is read apart, because an
//! entry of a delta may have the changed members alone.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::cursor;
use connector_sdk::{Context, Outcome, code};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::{exchange, object};
use crate::odata::failures;
use crate::odata::page::{Page, Token};
use crate::odata::prefer::{Prefer, with};
use crate::odata::root;

/// The version of the cursors.
const VERSION: &str = "m1";

/// A place in the delta of one collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeltaWalk {
    /// Everything is read, not the changes since a token.
    #[serde(rename = "e", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first: bool,
    /// None before the first page.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    position: Option<WalkPosition>,
}

/// The next page of a delta, or the changes after its last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum WalkPosition {
    #[serde(rename = "s")]
    Page(String),
    #[serde(rename = "o")]
    Offset(String),
    #[serde(rename = "d")]
    Changes(String),
}

impl From<Token> for WalkPosition {
    fn from(token: Token) -> WalkPosition {
        match token {
            Token::Skip(value) => WalkPosition::Page(value),
            Token::Offset(value) => WalkPosition::Offset(value),
            Token::Delta(value) => WalkPosition::Changes(value),
        }
    }
}

impl WalkPosition {
    fn parameter(&self) -> (&'static str, &str) {
        match self {
            WalkPosition::Page(value) => ("$skiptoken", value),
            WalkPosition::Offset(value) => ("$skip", value),
            WalkPosition::Changes(value) => ("$deltatoken", value),
        }
    }
}

/// The ids of a page, each once.
#[derive(Debug, Default, PartialEq)]
pub struct WalkPage {
    pub changed: Vec<String>,
    /// Items that the delta says are removed. That is no proof: they may be there.
    pub removed: Vec<String>,
}

/// An entry of a delta, as far as it is named.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WalkEntry {
    id: String,
    #[serde(rename = "@removed")]
    removed: Option<Value>,
}

impl DeltaWalk {
    /// Reads a cursor; without one the walk is over everything. Fails with `cursor-expired` for one of another version.
    pub fn read(text: Option<&str>) -> Outcome<DeltaWalk> {
        text.map_or(Ok(DeltaWalk { is_first: true, position: None }), |text| cursor::read(VERSION, text))
    }

    /// Returns the cursor.
    pub fn write(&self) -> Outcome<String> {
        cursor::write(VERSION, self)
    }

    /// Whether there is another page at once.
    pub fn has_more(&self) -> bool {
        !matches!(self.position, Some(WalkPosition::Changes(_)))
    }

    /// Reads the next page, and goes on behind it. `path`: that of the collection below the account. A page that is too long for an answer
    /// is asked for again with fewer items. Fails with `cursor-expired` where the provider has forgotten the token.
    pub fn read_page(
        &mut self,
        context: &Context,
        path: &[&str],
        page_size: u32,
        doing: &str,
    ) -> Outcome<WalkPage> {
        let mut size = page_size.max(1);
        let response = loop {
            let response = self.send(context, path, size, doing)?;
            if !response.truncated || size == 1 {
                break response;
            }
            size = (size / 4).max(1);
        };
        let page: Page<WalkEntry> = object(&response)?;
        self.position = Some(page.position()?.into());
        if !self.has_more() {
            self.is_first = false;
        }
        Ok(ids_of(page.value))
    }

    fn send(&self, context: &Context, path: &[&str], size: u32, doing: &str) -> Outcome<Response> {
        let query: Vec<(&str, &str)> = self.position.iter().map(WalkPosition::parameter).collect();
        let request = Request::get(root::me(&[path, &["delta"]].concat(), &query)?);
        let response = exchange(context, with(request, &[Prefer::PageSize(size)]))?;
        if response.is_success() {
            return Ok(response);
        }
        if self.position.is_none() {
            return Err(failures::of(context, &response, doing));
        }
        let failure = failures::of_delta(context, &response, doing);
        // A token that Graph cannot read is one of another walk.
        match failure.code.as_str() {
            code::INVALID => Err(failure.with_code(code::CURSOR_EXPIRED)),
            _ => Err(failure),
        }
    }
}

/// The ids of the entries. An id may be named several times: the last entry counts.
fn ids_of(entries: Vec<WalkEntry>) -> WalkPage {
    let mut page = WalkPage::default();
    for entry in entries.into_iter().filter(|entry| !entry.id.is_empty()) {
        page.changed.retain(|id| *id != entry.id);
        page.removed.retain(|id| *id != entry.id);
        match entry.removed {
            Some(_) => page.removed.push(entry.id),
            None => page.changed.push(entry.id),
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use connector_sdk::code;
    use serde_json::json;

    use super::{DeltaWalk, WalkEntry, WalkPosition, ids_of};

    #[test]
    fn the_last_entry_of_an_id_counts() {
        let entries: Vec<WalkEntry> = serde_json::from_value(json!([
            { "id": "a" }, { "id": "b", "@removed": { "reason": "deleted" } }, { "id": "a", "@removed": { "reason": "changed" } },
            { "id": "b" }, { "displayName": "nameless" }, { "id": "c" }, { "id": "c" },
        ]))
        .unwrap();
        let page = ids_of(entries);
        assert_eq!(
            (page.changed, page.removed),
            (vec!["b".to_owned(), "c".to_owned()], vec!["a".to_owned()])
        );
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let begin = DeltaWalk::read(None).unwrap();
        assert!(begin.is_first && begin.has_more());
        let later = DeltaWalk { is_first: false, position: Some(WalkPosition::Changes("d1".to_owned())) };
        assert_eq!(DeltaWalk::read(Some(&later.write().unwrap())).unwrap(), later);
        assert!(!later.has_more());
        for other in ["", "m1;7", "m0;{}", "m1;{\"y\":1}"] {
            assert_eq!(DeltaWalk::read(Some(other)).unwrap_err().code, code::CURSOR_EXPIRED, "{other}");
        }
    }
}
