//! The changes of the messages in folders: deltas per folder, twenty in one batch, and what a page of one tells.

use std::collections::HashMap;

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use serde_json::value::RawValue;

use crate::mail::cursor::{FeedPosition, FolderPosition};
use crate::mail::message::{PageMessage, read_each};
use crate::mail::native::Message;
use crate::mail::select::{FILES, LISTED};
use crate::odata::prefer::{Prefer, with};
use crate::odata::{failures, root};

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

/// The consequence of a page that did not come.
#[derive(Debug, PartialEq)]
pub enum PageFailure {
    /// The folder goes on at once: from its begin, or with smaller pages.
    Again,
    /// The folder is gone. The changes of the folders tell the rest.
    FolderGone,
    /// This folder cannot be read now. The others go on without it.
    FolderLeft(Failure),
    /// The call fails.
    Fatal(Failure),
}

/// Returns the failure that an answer without a page means.
pub fn read_failure(context: &Context, response: &Response, doing: &str) -> Failure {
    match response.truncated {
        true => Failure::new(code::TIMEOUT, "the provider's answer is cut off"),
        false => failures::of_delta(context, response, doing),
    }
}

/// Acts on a page that did not come: a token that counts no more begins this folder again, and a page that took too long is halved.
/// `is_gap`: so much time is between this round and the one before that messages may have been destroyed meanwhile, of which a folder that
/// is read from its begin says nothing: the cursor of the whole mailbox counts no more then.
pub fn react(folder: &mut FolderPosition, failure: Failure, is_gap: bool) -> PageFailure {
    match failure.code.as_str() {
        code::CURSOR_EXPIRED if folder.at.is_some() && is_gap && !folder.is_first => {
            PageFailure::Fatal(failure)
        }
        code::CURSOR_EXPIRED if folder.at.is_some() => {
            folder.restart();
            PageFailure::Again
        }
        code::TIMEOUT if folder.halvings < MAX_HALVINGS => {
            folder.halvings += 1;
            PageFailure::Again
        }
        code::NOT_FOUND if failures::is_gone(&failure) => {
            // Else an initial sync would wait for it.
            folder.is_first = false;
            folder.at = None;
            PageFailure::FolderGone
        }
        // These are about the account, and so about every folder.
        code::AUTH_EXPIRED | code::RATE_LIMITED | code::UNSUPPORTED => PageFailure::Fatal(failure),
        code::CURSOR_EXPIRED | code::NOT_FOUND => {
            PageFailure::FolderLeft(failure.with_code(code::UNAVAILABLE))
        }
        _ => PageFailure::FolderLeft(failure),
    }
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

    /// A token that expired long after the last round says nothing of what was destroyed meanwhile.
    #[test]
    fn an_expired_token_after_a_gap_counts_for_the_whole_mailbox() {
        let expired = || Failure::new(code::CURSOR_EXPIRED, "no");
        let read = FolderPosition {
            at: Some(FeedPosition::Changes("d".to_owned())),
            is_first: false,
            ..FolderPosition::new("f")
        };
        assert_eq!(react(&mut read.clone(), expired(), true), PageFailure::Fatal(expired()));
        let mut short = read.clone();
        assert_eq!(react(&mut short, expired(), false), PageFailure::Again);
        assert!(short.is_first && short.at.is_none());
        // A folder that is still read for the first time has nothing to lose.
        let mut first = FolderPosition { is_first: true, ..read };
        assert_eq!(react(&mut first, expired(), true), PageFailure::Again);
        let broken = Failure::unavailable("no");
        assert_eq!(react(&mut first, broken.clone(), false), PageFailure::FolderLeft(broken));
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
