//! `lifecycle.check` and `capabilities`: whose mailbox it is, and what its servers can do.

use connector_sdk::{Context, Failure, Outcome};
use model::capabilities::{BounceDetection, EmailDelta, ThreadSource};
use model::wire::Account;
use model::wire::email::MailFeatures;
use serde_json::{Map, Value, json};

use crate::directory::Directory;
use crate::imap::commands;
use crate::imap::session::Session;
use crate::imap::visit::{Access, Visit};
use crate::smtp::Smtp;

/// Opens both connections, IMAP first.
pub fn check(cx: &Context) -> Outcome<Account> {
    Session::open(cx).map_err(|failure| leg(failure, "imap", "IMAP"))?;
    let smtp = Smtp::open(cx).map_err(|failure| leg(failure, "smtp", "SMTP"))?;
    smtp.keep();
    let username = cx.connection.username.as_deref().unwrap_or_default();
    let host = cx.connection.settings.get("imap").and_then(|server| server.get("host"));
    let host = host.and_then(Value::as_str).unwrap_or_default();
    let email = if username.contains('@') { Some(username) } else { cx.setting("email") };
    Ok(Account {
        external_account_id: format!("{username}@{host}").to_lowercase(),
        email: email.map(str::to_lowercase),
        surfaces: vec!["email".into()],
        settings: Map::new(),
        ..Account::default()
    })
}

/// Adds the server (IMAP or SMTP) to its failure.
fn leg(failure: Failure, leg: &str, name: &str) -> Failure {
    let message = format!("the {name} server cannot be used: {}", failure.message);
    Failure { message, ..failure.with_detail(json!({ "leg": leg })) }
}

/// Returns the features of this account. The SMTP server is asked for its limit; that it does not answer is no failure here.
pub fn features(cx: &Context) -> Outcome<MailFeatures> {
    let mut session = Session::open(cx)?;
    let multi_folder = Directory::default().all_mail(&mut session)?.is_some();
    let inbox = Visit::new("INBOX", Access::Write, vec![commands::noop()]);
    let visited = session.visit(&[inbox], None, |_, _, _, _| {})?;
    let selected = visited.into_iter().next().and_then(|visited| visited.selected);
    let keywords = selected.is_some_and(|selected| selected.takes_keyword("\\*"));
    let capabilities = session.capabilities.clone();
    let append_limit = capabilities.value("APPENDLIMIT").and_then(|limit| limit.parse::<u64>().ok());
    let smtp = Smtp::open(cx).ok();
    let send_limit = smtp.as_ref().and_then(Smtp::max_size);
    if let Some(smtp) = smtp {
        smtp.keep();
    }
    let limit = [append_limit, send_limit].into_iter().flatten().min();
    Ok(MailFeatures {
        search: true,
        native_search: true,
        modify_flags: true,
        move_messages: true,
        delete: true,
        permanent_delete: true,
        drafts: true,
        send: true,
        append: true,
        folders: true,
        labels: false,
        multi_folder,
        threads: ThreadSource::Computed,
        keywords,
        importance: false,
        send_as_alias: false,
        delegated_send: false,
        bounce_detection: BounceDetection::Dsn,
        push: capabilities.has_in_rev2("IDLE"),
        delta: if capabilities.has_condstore() { EmailDelta::Uid } else { EmailDelta::Scan },
        max_message_bytes: limit.and_then(|limit| i64::try_from(limit).ok()),
        ..MailFeatures::default()
    })
}
