//! The changes of the messages in folders: deltas per folder, twenty in one batch, and what a page of one tells.

use std::collections::HashMap;

use connector_sdk::Outcome;
use connector_sdk::http::Request;
use serde_json::value::RawValue;

use crate::mail::cursor::{FeedPosition, FolderPosition};
use crate::mail::message::{PageMessage, read_each};
use crate::mail::native::Message;
use crate::mail::select::{FILES, LISTED};
use crate::odata::prefer::{Prefer, with};
use crate::odata::root;

/// Messages of a page at most.
pub const MAX_PAGE_SIZE: u32 = 200;
/// Messages of a page at least.
pub const MIN_PAGE_SIZE: u32 = 10;
/// Halvings of a page until it is at its smallest.
pub const MAX_HALVINGS: u8 = 4;

/// Returns the request for the next page of a folder's messages, newest first at the begin. `page_size` goes with each page: without it
/// one has ten.
pub fn request(folder: &FolderPosition, page_size: u32) -> Outcome<Request> {
    let path = ["mailFolders", folder.id.as_str(), "messages", "delta"];
    let url = match folder.at.as_ref().map(FeedPosition::parameter) {
        Some(position) => root::me(&path, &[position])?,
        None => root::me(
            &path,
            &[("$select", LISTED), ("$expand", FILES), ("$orderby", "receivedDateTime desc")],
        )?,
    };
    let size = (page_size >> folder.halvings.min(MAX_HALVINGS)).clamp(MIN_PAGE_SIZE / 2, MAX_PAGE_SIZE);
    Ok(with(Request::get(url), &[Prefer::PageSize(size)]))
}

/// A page of a folder's delta: each message once, with its last state.
#[derive(Debug, Default)]
pub struct FoldedPage {
    /// In the order in which they came first.
    pub messages: Vec<Message>,
    /// Messages that are in the folder no longer. That is no deletion: see `verify`.
    pub removed: Vec<String>,
    /// Messages of which the description makes no sense.
    pub odd: Vec<String>,
}

/// Folds a page. An id may occur several times, and an entry may have the changed members alone.
pub fn fold(page: &[Box<RawValue>]) -> FoldedPage {
    let mut folded = FoldedPage::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut entries: Vec<Message> = Vec::new();
    for entry in read_each(page) {
        match entry {
            PageMessage::Odd(id) => folded.odd.push(id),
            PageMessage::Read(message) => match places.get(&message.id).and_then(|at| entries.get_mut(*at)) {
                Some(earlier) => merge(earlier, *message),
                None => {
                    places.insert(message.id.clone(), entries.len());
                    entries.push(*message);
                }
            },
        }
    }
    for message in entries {
        match message.removed {
            Some(_) => folded.removed.push(message.id),
            None => folded.messages.push(message),
        }
    }
    folded
}

/// Takes the members that a later entry has. One that comes after a removal is back.
fn merge(earlier: &mut Message, later: Message) {
    if later.removed.is_some() || earlier.removed.is_some() {
        *earlier = later;
        return;
    }
    macro_rules! take {
        ($($field:ident),+) => { $(if later.$field.is_some() { earlier.$field = later.$field; })+ };
    }
    take!(
        kind,
        etag,
        created_date_time,
        received_date_time,
        sent_date_time,
        conversation_id,
        internet_message_id,
        internet_message_headers,
        subject,
        body_preview,
        body,
        from,
        sender,
        to_recipients,
        cc_recipients,
        bcc_recipients,
        reply_to,
        parent_folder_id,
        is_read,
        is_draft,
        flag,
        categories,
        importance,
        has_attachments,
        attachments,
        single_value_extended_properties
    );
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn page(list: &Value) -> FoldedPage {
        let raw: Vec<Box<RawValue>> = serde_json::from_str(&list.to_string()).unwrap();
        fold(&raw)
    }

    #[test]
    fn each_message_counts_once_with_its_last_state() {
        let folded = page(&json!([
            { "id": "a", "isRead": false, "subject": "One" }, { "id": "b", "isRead": true },
            { "id": "a", "isRead": true }, { "id": "c", "@removed": { "reason": "deleted" } },
            { "id": "b", "@removed": { "reason": "changed" } }, { "id": "c", "isRead": false }, { "subject": "nameless" },
            { "id": "odd", "isRead": "perhaps" },
        ]));
        let shown: Vec<(&str, Option<bool>, Option<&str>)> = folded
            .messages
            .iter()
            .map(|one| (one.id.as_str(), one.is_read, one.subject.as_deref()))
            .collect();
        assert_eq!(shown, [("a", Some(true), Some("One")), ("c", Some(false), None)]);
        assert_eq!((folded.removed, folded.odd), (vec!["b".to_owned()], vec!["odd".to_owned()]));
    }

    #[test]
    fn a_page_that_was_too_large_is_halved() {
        let size = |halvings: u8| {
            let folder = FolderPosition { halvings, ..FolderPosition::new("f") };
            let request = request(&folder, 100).unwrap();
            request.headers[0].1.rsplit('=').next().unwrap().parse::<u32>().unwrap()
        };
        assert_eq!([size(0), size(1), size(2), size(4), size(200)], [100, 50, 25, 6, 6]);
    }

    #[test]
    fn a_folder_goes_on_from_its_token() {
        let mut folder = FolderPosition::new("a/b");
        let begin = request(&folder, 50).unwrap();
        assert!(
            begin.url.contains("/mailFolders/a%2Fb/messages/delta?%24select=id")
                && begin.url.contains("%24orderby")
        );
        folder.at = Some(FeedPosition::Page("x=".to_owned()));
        let next = request(&folder, 50).unwrap();
        assert!(next.url.ends_with("/delta?%24skiptoken=x%3D"), "{}", next.url);
    }
}
