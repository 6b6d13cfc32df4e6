//! The initial sync of a mailbox: its messages, newest first, page by page.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};

use crate::api::{accepted, object};
use crate::fields;
use crate::mail::cursor::{Listing, MailCursor};
use crate::mail::labels::LabelSet;
use crate::mail::native::{LabelList, MailProfile, MessagePage};
use crate::mail::roots;

/// Search terms that exclude chats and scheduled messages.
pub const MAIL_ONLY: &str = "-in:chats -in:scheduled";

/// Requests that are under way at once.
pub const CONCURRENT: u8 = 3;

/// A cursor at the beginning, and the labels of the account.
pub struct FirstReading {
    pub cursor: MailCursor,
    pub labels: LabelSet,
}

/// Begins an initial sync. The history starts at its present id: changes while the messages are listed are reported from there on, and
/// so it is asked for before them.
pub fn begin(context: &Context) -> Outcome<FirstReading> {
    let requests = vec![Request::get(roots::mailbox(&["profile"], &[])?), labels_request()?];
    let mut responses = context.send_many(requests, CONCURRENT).into_iter();
    let mut next = || responses.next().unwrap_or_else(|| Err(Failure::unavailable("an answer is missing")));
    let (profile, labels) = (next()?, next()?);
    let profile: MailProfile = object(&accepted(context, profile, "reading the mailbox")?)?;
    Ok(FirstReading {
        cursor: MailCursor::begin(history_id(profile.history_id.as_deref())?),
        labels: read_labels(context, labels)?,
    })
}

/// Reads a history id. Fails with `unavailable` where there is none.
pub fn history_id(text: Option<&str>) -> Outcome<u64> {
    let id = text.and_then(|text| text.parse().ok());
    id.ok_or_else(|| Failure::unavailable("the provider does not tell the state of the mailbox"))
}

pub fn labels_request() -> Outcome<Request> {
    Ok(Request::get(roots::mailbox(&["labels"], &[])?))
}

/// The labels of an answer.
pub fn read_labels(context: &Context, response: Response) -> Outcome<LabelSet> {
    let list: LabelList = object(&accepted(context, response, "listing the labels")?)?;
    // Gmail's own are always there.
    if list.labels.is_empty() {
        return Err(Failure::unavailable("the provider lists no labels"));
    }
    Ok(LabelSet::from_list(&list))
}

/// Returns the request for the listing's next page. `since_ms`: only messages that came since then.
pub fn request(listing: &Listing, limit: usize, since_ms: Option<i64>) -> Outcome<Request> {
    let limit = limit.to_string();
    let query_text = match since_ms {
        Some(ms) => format!("{MAIL_ONLY} after:{}", ms.div_euclid(1000)),
        None => MAIL_ONLY.to_owned(),
    };
    let mut query = vec![
        ("maxResults", limit.as_str()),
        ("includeSpamTrash", "true"),
        ("q", query_text.as_str()),
        ("fields", fields::MESSAGE_NAMES),
    ];
    query.extend(listing.next.as_deref().filter(|page| !page.is_empty()).map(|page| ("pageToken", page)));
    Ok(Request::get(roots::mailbox(&["messages"], &query)?).units(roots::LIST_UNITS))
}

/// Takes a page of messages into the listing. Fails with `cursor-expired` where the provider does not know the page's token.
pub fn take_page(context: &Context, listing: &mut Listing, response: Response) -> Outcome<()> {
    let response = accepted(context, response, "listing the messages").map_err(|failure| {
        let is_of_token = listing.next.as_deref().is_some_and(|page| !page.is_empty());
        match is_of_token && failure.code == code::INVALID {
            true => failure.with_code(code::CURSOR_EXPIRED),
            false => failure,
        }
    })?;
    let page: MessagePage = object(&response)?;
    let ids = page.messages.into_iter().map(|message| message.id).filter(|id| !id.is_empty());
    listing.ids.extend(ids);
    listing.next = page.next_page_token.filter(|token| !token.is_empty());
    Ok(())
}
