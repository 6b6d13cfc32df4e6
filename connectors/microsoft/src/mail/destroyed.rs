//! Messages that were destroyed before Graph forgot the position in their folder. A folder that is read from its begin says nothing of
//! them; for some days they lie among the recoverable items, whose folder is in no tree and in no delta.

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome, code};

use crate::api::ask;
use crate::mail::cursor::MailCursor;
use crate::mail::native::Message;
use crate::odata::page::Page;
use crate::odata::{batch, failures, root};

/// The well-known folder of messages that were deleted past the folder Deleted Items (Microsoft Graph reference, resource type
/// `mailFolder`).
const RECOVERABLE: &str = "recoverableitemsdeletions";
/// The most messages of one list.
const MAX_LISTED: &str = "1000";
const DOING: &str = "listing the recoverable messages";

/// Returns the ids of the messages among the recoverable items, 1,000 at most; an account that does not show them, or whose list takes too
/// long, has none. None: the provider does not answer at the moment.
pub fn list_destroyed(context: &Context, cursor: &MailCursor) -> Outcome<Option<Vec<String>>> {
    let query = [("$select", "id,parentFolderId"), ("$top", MAX_LISTED)];
    let url = root::me(&["mailFolders", RECOVERABLE, "messages"], &query)?;
    let page: Page<Message> = match ask(context, Request::get(url), DOING) {
        Ok(page) => page,
        Err(failure) if failure.code == code::AUTH_EXPIRED => return Err(failure),
        Err(failure) if failures::is_passing(&failure) && failure.code != code::TIMEOUT => {
            if failure.code == code::RATE_LIMITED {
                batch::note_wait(context, &failure);
            }
            return Ok(None);
        }
        Err(_) => return Ok(Some(Vec::new())),
    };
    // A message that was restored while the list was made is there.
    let is_visible = |message: &Message| {
        message.parent_folder_id.as_deref().is_some_and(|folder| cursor.folder(folder).is_some())
    };
    let destroyed = page.value.into_iter().filter(|message| !message.id.is_empty() && !is_visible(message));
    Ok(Some(destroyed.map(|message| message.id).collect()))
}
