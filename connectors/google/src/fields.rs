//! Field masks: the members that an answer shall have.

/// Names and versions of a page of events, without their content.
pub const EVENT_NAMES: &str = "nextPageToken,nextSyncToken,timeZone,items(id,etag,status,recurringEventId)";

/// The version of one event.
pub const EVENT_VERSION: &str = "id,etag,status";

/// Names of a page of messages.
pub const MESSAGE_NAMES: &str = "messages(id,threadId),nextPageToken";

/// A page of the history: its messages by name, with the labels that they have after each change.
pub const HISTORY: &str = "historyId,nextPageToken,history(id,messages(id),messagesAdded(message(id,labelIds)),messagesDeleted(message(id)),\
    labelsAdded(message(id,labelIds)),labelsRemoved(message(id,labelIds)))";

/// Names of a page of drafts and of their messages.
pub const DRAFT_NAMES: &str = "drafts(id,message(id)),nextPageToken";

/// Levels of parts that are read of a message. A mask cannot say "and so on".
const PART_LEVELS: usize = 6;

/// Returns the mask of a message in the format `full`, with the content of its texts or without it.
pub fn message(with_content: bool) -> String {
    let data = if with_content { ",data" } else { "" };
    let own = format!("partId,mimeType,filename,headers,body(attachmentId,size{data})");
    let mut parts = own.clone();
    for _ in 0..PART_LEVELS {
        parts = format!("{own},parts({parts})");
    }
    format!("id,threadId,labelIds,snippet,historyId,internalDate,sizeEstimate,payload({parts})")
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn the_parts_of_a_message_are_spelt_six_deep() {
        for (mask, data) in [(message(false), 0), (message(true), 7)] {
            assert_eq!(mask.matches("parts(").count(), 6);
            assert_eq!((mask.matches("body(").count(), mask.matches(",data)").count()), (7, data));
            assert_eq!(mask.matches('(').count(), mask.matches(')').count());
        }
    }
}
