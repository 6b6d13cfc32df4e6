//! The drafts of a mailbox: which draft a message is. A draft keeps its id when each saving gives its message another one.

use std::collections::HashMap;

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome};

use crate::api::ask;
use crate::fields;
use crate::mail::native::DraftPage;
use crate::mail::roots;

/// Drafts of a page; Gmail's largest.
const PAGE_SIZE: &str = "500";
/// Pages of drafts that are read. Drafts beyond have no id of their own.
const MAX_PAGES: usize = 10;

/// Ids of drafts by those of their messages.
#[derive(Clone, Debug, Default)]
pub struct DraftIndex {
    by_message: HashMap<String, String>,
}

impl DraftIndex {
    /// The index of one draft.
    pub fn only(message_id: &str, draft_id: &str) -> DraftIndex {
        let mut index = DraftIndex::default();
        index.add(message_id, draft_id);
        index
    }

    /// Adds a draft.
    pub fn add(&mut self, message_id: &str, draft_id: &str) {
        self.by_message.insert(message_id.to_owned(), draft_id.to_owned());
    }

    /// Reads the drafts of the mailbox: one round trip for 500.
    pub fn load(context: &Context) -> Outcome<DraftIndex> {
        let mut index = DraftIndex::default();
        let mut token: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut query = vec![("maxResults", PAGE_SIZE), ("fields", fields::DRAFT_NAMES)];
            query.extend(token.as_deref().map(|token| ("pageToken", token)));
            let request = Request::get(roots::mailbox(&["drafts"], &query)?).units(roots::LIST_UNITS);
            let page: DraftPage = ask(context, request, "listing the drafts")?;
            let named = page.drafts.into_iter().filter(|draft| !draft.id.is_empty());
            index.by_message.extend(named.map(|draft| (draft.message.id, draft.id)));
            token = page.next_page_token;
            if token.is_none() {
                break;
            }
        }
        Ok(index)
    }

    /// The draft whose message this is.
    pub fn draft_of(&self, message_id: &str) -> Option<&str> {
        self.by_message.get(message_id).map(String::as_str)
    }
}
