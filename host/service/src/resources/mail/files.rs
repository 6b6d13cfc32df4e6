//! Attachments of a message to build: bytes and bounds.

use ::mail::foreign;
use base::error::{Code, Error, Result};
use mail::build::OutgoingFile;
use model::bounds::mail::MAX_FILE_BYTES;
use model::email::Attachment;

/// Fails if the files are larger than a message may be.
pub fn within(bytes: usize, field: &str) -> Result<()> {
    if bytes > MAX_FILE_BYTES {
        return Err(Error::from(
            base::error::Refusal::new(Code::PayloadTooLarge, "attachments may have 25 MiB together, decoded")
                .param(field),
        ));
    }
    Ok(())
}

/// An attachment of another message, without its content. Names and types are corrected so that they can be written.
pub fn outgoing_file(attachment: &Attachment) -> OutgoingFile {
    OutgoingFile {
        filename: attachment.filename.as_deref().and_then(::mail::read::file_name),
        content_type: foreign::content_type(&attachment.content_type),
        inline: attachment.inline,
        content_id: attachment.content_id.as_deref().and_then(foreign::content_id),
        ..OutgoingFile::default()
    }
}
