//! `messages.find`: a message that an earlier attempt may have sent or stored. Outlook.com replaces the Message-ID of what it sends by one
//! of its own; so besides the filter of Message-IDs the newest messages of a folder are looked through for the field that has ours.

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome};
use model::wire::Sources;
use model::wire::email::MessageFind;

use crate::api::ask;
use crate::mail::access::ensure_readable;
use crate::mail::message::source;
use crate::mail::native::{FolderEntry, Message};
use crate::mail::read::read_source;
use crate::mail::select::{FILES_AND_PROPERTIES, LISTED};
use crate::odata::filter::quoted;
use crate::odata::page::Page;
use crate::odata::root;

/// The header field of sent messages that has our Message-ID.
pub const OWN_ID: &str = "X-Switchboard-Id";
/// The folders that are looked through, by the names that Graph knows them by.
const SENT: &str = "sentitems";
pub const DRAFTS: &str = "drafts";

/// Messages that are looked through, the newest ones.
const LOOKED_THROUGH: &str = "25";
/// Copies of one message that are read.
const MAX_COPIES: usize = 5;
const DOING: &str = "looking for the message";

/// Finds a message that was sent, by the Message-ID that it was sent with. Drafts are left out: they do not prove that anything was sent.
pub fn find(context: &Context, args: &MessageFind) -> Outcome<Sources> {
    ensure_readable(context)?;
    let own_id = args.internet_message_id.as_str();
    if own_id.is_empty() {
        return Ok(Sources::default());
    }
    let is_sent = |message: &&Message| message.is_draft != Some(true);
    let mut named = by_message_id(context, own_id, None)?;
    named.retain(|message| is_sent(&message));
    if named.len() > 1 {
        // Whoever writes to himself has received it too.
        let sent = find_sent_folder(context)?;
        named.sort_by_key(|message| message.parent_folder_id.as_deref() != Some(sent.as_str()));
    }
    let mut sources: Vec<_> = named.iter().take(MAX_COPIES).map(source).collect();
    if sources.is_empty() {
        let found = look_through(context, SENT, own_id)?;
        for message in found.iter().filter(is_sent).take(MAX_COPIES) {
            sources.push(read_source(context, &message.id)?);
        }
    }
    Ok(Sources { sources, ..Sources::default() })
}

/// Returns the id of the folder of sent messages.
pub fn find_sent_folder(context: &Context) -> Outcome<String> {
    let url = root::me(&["mailFolders", SENT], &[("$select", "id")])?;
    let folder: FolderEntry = ask(context, Request::get(url), "looking for the folder of sent messages")?;
    Ok(folder.id)
}

/// The messages that have this Message-ID at Graph, in a folder or everywhere.
pub fn by_message_id(context: &Context, own_id: &str, folder: Option<&str>) -> Outcome<Vec<Message>> {
    let filter = format!("internetMessageId eq {}", quoted(&format!("<{own_id}>")));
    let query = [("$filter", filter.as_str()), ("$select", LISTED), ("$expand", FILES_AND_PROPERTIES)];
    let url = match folder {
        Some(folder) => root::me(&["mailFolders", folder, "messages"], &query)?,
        None => root::me(&["messages"], &query)?,
    };
    let page: Page<Message> = ask(context, Request::get(url), DOING)?;
    Ok(page.value.into_iter().filter(|message| !message.id.is_empty()).collect())
}

/// The newest messages of a folder that have our Message-ID, as theirs or in the field of our own.
pub fn look_through(context: &Context, folder: &str, own_id: &str) -> Outcome<Vec<Message>> {
    let query = [
        ("$select", "id,isDraft,createdDateTime,receivedDateTime,internetMessageId,internetMessageHeaders"),
        ("$orderby", "receivedDateTime desc"),
        ("$top", LOOKED_THROUGH),
    ];
    let url = root::me(&["mailFolders", folder, "messages"], &query)?;
    let page: Page<Message> = ask(context, Request::get(url), DOING)?;
    let is_ours = |message: &Message| message.message_id() == Some(own_id) || has_mark(message, own_id);
    Ok(page.value.into_iter().filter(|message| !message.id.is_empty() && is_ours(message)).collect())
}

/// Whether the message has our Message-ID in the field of our own.
pub fn has_mark(message: &Message, own_id: &str) -> bool {
    message.header(OWN_ID).is_some_and(|value| value.trim().trim_matches(['<', '>']) == own_id)
}
