//! The abilities of a mailbox at Graph, by the rights that the account gives.

use connector_sdk::{Context, Outcome};
use model::capabilities::{Alias, BounceDetection, EmailDelta, ThreadSource};
use model::wire::email::MailFeatures;

use crate::account::is_personal;
use crate::mail::access::MailAccess;
use crate::mail::road::{MAX_MESSAGE_BYTES, MAX_MIME_BYTES};

/// Recipients that a mailbox of an organization can send to in a day (Exchange Online limits, "Sending limits").
const MAX_SENT_PER_DAY: i64 = 10_000;

/// Returns what the mailbox can do. Without the right to change mail a message is only sent, as it is and from the account's own address.
pub fn features(context: &Context) -> Outcome<MailFeatures> {
    let access = MailAccess::of(context);
    let can_read = access != MailAccess::SendOnly;
    let can_write = access == MailAccess::ReadWrite;
    let max_bytes = if can_write { MAX_MESSAGE_BYTES } else { MAX_MIME_BYTES };
    let addresses = &context.connection.addresses;
    let alias = |(number, email): (usize, &String)| Alias {
        email: email.clone(),
        name: None,
        is_default: number == 0,
    };
    Ok(MailFeatures {
        search: can_read,
        native_search: can_read,
        modify_flags: can_write,
        move_messages: can_write,
        delete: can_write,
        permanent_delete: can_write,
        drafts: can_write,
        send: true,
        append: can_write,
        folders: can_read,
        labels: can_read,
        multi_folder: false,
        threads: ThreadSource::Server,
        keywords: false,
        importance: can_write,
        send_as_alias: can_write && addresses.len() > 1,
        delegated_send: false,
        bounce_detection: BounceDetection::Dsn,
        push: false,
        delta: EmailDelta::DeltaToken,
        max_message_bytes: i64::try_from(max_bytes).ok(),
        max_recipients: None,
        max_send_per_day: Some(MAX_SENT_PER_DAY).filter(|_| !is_personal(context)),
        aliases: addresses.iter().enumerate().map(alias).collect(),
    })
}
