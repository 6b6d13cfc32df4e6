//! The abilities of a mailbox at Gmail.

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome, code};
use model::capabilities::{Alias, BounceDetection, EmailDelta, ThreadSource};
use model::wire::email::MailFeatures;

use crate::api::ask;
use crate::mail::native::{SendAs, SendAsList};
use crate::mail::roots;

/// Largest message of an upload, bytes (Gmail API, `users.messages.send`).
const MAX_MESSAGE_BYTES: i64 = 36_700_160;
/// Recipients of a message that is sent by the API (support.google.com/a/answer/166852).
const MAX_RECIPIENTS: i64 = 100;
/// Messages that an account of an organization can send in a day, and any other.
const MAX_SENT_BY_ORGANIZATION: i64 = 2_000;
const MAX_SENT_BY_PERSON: i64 = 500;
/// Domains of accounts that belong to no organization.
const PERSONAL_DOMAINS: [&str; 2] = ["@gmail.com", "@googlemail.com"];

/// Returns the addresses that the account can send as.
pub fn send_as_request() -> Outcome<Request> {
    Ok(Request::get(roots::mailbox(&["settings", "sendAs"], &[])?))
}

/// Returns what the mailbox can do.
pub fn features(context: &Context) -> Outcome<MailFeatures> {
    let listed: Outcome<SendAsList> =
        ask(context, send_as_request()?, "listing the addresses that the account sends as");
    let list = match listed {
        // A grant that only sends reads nothing.
        Err(failure) if [code::FORBIDDEN, code::UNSUPPORTED].contains(&failure.code.as_str()) => {
            SendAsList::default()
        }
        list => list?,
    };
    let usable = list.send_as.iter().filter(|one| one.is_usable());
    let alias = |one: &SendAs| Alias {
        email: one.send_as_email.clone(),
        name: one.display_name.clone().filter(|name| !name.trim().is_empty()),
        is_default: one.is_default,
    };
    let aliases: Vec<Alias> = usable.map(alias).collect();
    let is_personal = context.connection.addresses.iter().any(|address| {
        let address = address.to_ascii_lowercase();
        PERSONAL_DOMAINS.iter().any(|domain| address.ends_with(domain))
    });
    Ok(MailFeatures {
        search: true,
        native_search: true,
        modify_flags: true,
        move_messages: true,
        delete: true,
        permanent_delete: false,
        drafts: true,
        send: true,
        append: true,
        folders: true,
        labels: true,
        multi_folder: true,
        threads: ThreadSource::Server,
        keywords: false,
        importance: true,
        send_as_alias: aliases.len() > 1,
        delegated_send: false,
        bounce_detection: BounceDetection::Dsn,
        push: false,
        delta: EmailDelta::History,
        max_message_bytes: Some(MAX_MESSAGE_BYTES),
        max_recipients: Some(MAX_RECIPIENTS),
        max_send_per_day: Some(if is_personal { MAX_SENT_BY_PERSON } else { MAX_SENT_BY_ORGANIZATION }),
        aliases,
    })
}
