//! Files of a message that is written: their bytes and bounds.

use ::mail::foreign;
use base::error::{Code, Error, Result};
use mail::build::OutgoingFile;
use model::email::Attachment;

/// Bytes of all files of one message, decoded.
pub(crate) const MAX_FILE_BYTES: usize = 25 << 20;

/// Refuses more files than a message takes.
pub fn within(bytes: usize, field: &str) -> Result<()> {
    if bytes > MAX_FILE_BYTES {
        return Err(Error::from(
            base::error::Refusal::new(Code::PayloadTooLarge, "attachments may have 25 MiB together, decoded")
                .param(field),
        ));
    }
    Ok(())
}

/// A file of another message, without its content. What its author wrote of it is made fit to be written.
pub fn taken(attachment: &Attachment) -> OutgoingFile {
    OutgoingFile {
        filename: attachment.filename.as_deref().and_then(::mail::read::file_name),
        content_type: foreign::content_type(&attachment.content_type),
        inline: attachment.inline,
        content_id: attachment.content_id.as_deref().and_then(foreign::content_id),
        ..OutgoingFile::default()
    }
}
