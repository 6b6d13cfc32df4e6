//! The members of Graph's mail that are asked for.

use connector_sdk::Outcome;

use crate::odata::root;

/// The icon of a message, which says whether it was answered or forwarded (`PidTagIconIndex`).
pub const ICON: &str = "Integer 0x1080";
/// Bytes of a message (`PidTagMessageSize`).
pub const SIZE: &str = "Integer 0x0E08";

/// The members that lists show.
pub const LISTED: &str = "id,createdDateTime,receivedDateTime,sentDateTime,conversationId,internetMessageId,subject,bodyPreview,\
    from,sender,toRecipients,ccRecipients,bccRecipients,replyTo,parentFolderId,isRead,isDraft,flag,categories,importance,hasAttachments";
/// The members that can change of any message.
pub const STATE: &str = "id,parentFolderId,isRead,isDraft,flag,categories,importance";
/// The same with the header and the text in one of its forms.
pub const FULL: &str = "id,createdDateTime,receivedDateTime,sentDateTime,conversationId,internetMessageId,subject,bodyPreview,\
    from,sender,toRecipients,ccRecipients,bccRecipients,replyTo,parentFolderId,isRead,isDraft,flag,categories,importance,hasAttachments,\
    internetMessageHeaders,body";
/// The same with the header.
pub const WITH_HEADERS: &str = "id,createdDateTime,receivedDateTime,sentDateTime,conversationId,internetMessageId,subject,bodyPreview,\
    from,sender,toRecipients,ccRecipients,bccRecipients,replyTo,parentFolderId,isRead,isDraft,flag,categories,importance,hasAttachments,\
    internetMessageHeaders";

/// The files of a message. Graph gives the Content-ID only of the derived type, and fails at the page without the cast.
pub const FILES: &str =
    "attachments($select=id,name,contentType,size,isInline,microsoft.graph.fileAttachment/contentId)";
/// The files, and Exchange's properties. Lists and reads answer these, deltas do not (mguessan/davmail#500).
pub const FILES_AND_PROPERTIES: &str = "attachments($select=id,name,contentType,size,isInline,microsoft.graph.fileAttachment/contentId),\
    singleValueExtendedProperties($filter=id eq 'Integer 0x1080' or id eq 'Integer 0x0E08')";

/// Returns the address of a message with these members of it. Fails with `not-found` for what can be no id.
pub fn message(id: &str, select: &str) -> Outcome<String> {
    root::me(&["messages", id], &[("$select", select), ("$expand", FILES_AND_PROPERTIES)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_lists_begin_with_the_shorter_one() {
        assert!(FULL.starts_with(LISTED) && WITH_HEADERS.starts_with(LISTED));
        assert!(FILES_AND_PROPERTIES.starts_with(FILES));
        for id in [ICON, SIZE] {
            assert!(FILES_AND_PROPERTIES.contains(&format!("'{id}'")), "{id}");
        }
    }
}
