//! Every text of a message to write, checked before a byte of it is written. Ids of other messages are not: those that cannot be written
//! are left out.

use model::email::EmailAddress;

use crate::build::outgoing::{Invalid, Outgoing, OutgoingFile};
use crate::check;

/// The check of a message's addresses: strict for a message to send, lenient for a draft.
type CheckEmail = fn(&str) -> Result<(), &'static str>;

/// The first field that cannot be written.
pub fn message(message: &Outgoing, email: CheckEmail) -> Result<(), Invalid> {
    if message.from.is_empty() {
        return Err(Invalid { field: "from".to_owned(), message: "must have an address" });
    }
    let lists = [
        ("from", &message.from),
        ("to", &message.to),
        ("cc", &message.cc),
        ("bcc", &message.bcc),
        ("replyTo", &message.reply_to),
    ];
    for (name, list) in lists {
        for (index, address) in list.iter().enumerate() {
            person(&format!("{name}[{index}]"), address, email)?;
        }
    }
    if let Some(sender) = &message.sender {
        person("sender", sender, email)?;
    }
    at("messageId", check::message_id(&message.message_id))?;
    at("subject", message.subject.as_deref().map_or(Ok(()), check::header_value))?;
    for (index, header) in message.headers.iter().enumerate() {
        at(&format!("headers[{index}].name"), check::header_name(&header.name))?;
        at(&format!("headers[{index}].value"), check::field_value(&header.value))?;
    }
    message.attachments.iter().enumerate().try_for_each(|(index, attachment)| file(index, attachment))
}

fn person(field: &str, address: &EmailAddress, email: CheckEmail) -> Result<(), Invalid> {
    at(&format!("{field}.email"), email(&address.email))?;
    at(&format!("{field}.name"), address.name.as_deref().map_or(Ok(()), check::display_name))
}

fn file(index: usize, file: &OutgoingFile) -> Result<(), Invalid> {
    let field = |name: &str| format!("attachments[{index}].{name}");
    at(&field("filename"), file.filename.as_deref().map_or(Ok(()), check::file_name))?;
    at(&field("contentType"), file.content_type.as_deref().map_or(Ok(()), check::content_type))?;
    at(&field("contentId"), file.content_id.as_deref().map_or(Ok(()), check::content_id))
}

fn at(field: &str, checked: Result<(), &'static str>) -> Result<(), Invalid> {
    checked.map_err(|message| Invalid { field: field.to_owned(), message })
}
