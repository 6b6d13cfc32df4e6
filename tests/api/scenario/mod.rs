//! One scenario for each provider: an account is connected and asked for its capabilities, mail is read and sent, calendars, contacts and
//! tasks are used, changes of other programs arrive, and the account is disconnected. An operation that the account's capabilities deny
//! is refused.

mod accounts;
mod calendars;
mod contacts;
mod mail;
mod support;
mod table;
mod tasks;

use serde_json::json;

use crate::scenario::accounts::{
    ConnectedAccount, DavAccount, GoogleAccount, MicrosoftAccount, SandboxAccount,
};
use crate::scenario::support::capabilities;

/// The story of an account, which ends with its connections.
async fn live_through(account: impl ConnectedAccount) {
    let (mail, desk) =
        (capabilities(&account, account.mail()).await, capabilities(&account, account.desk()).await);
    assert_eq!(
        (&mail["connectionId"], &desk["connectionId"]),
        (&json!(account.mail()), &json!(account.desk()))
    );
    assert!(
        desk["calendar"].is_object() && desk["contacts"].is_object() && desk["tasks"].is_object(),
        "{desk:#}"
    );
    mail::use_mail(&account, &mail).await;
    calendars::use_calendars(&account, &desk["calendar"]).await;
    contacts::use_contacts(&account, &desk["contacts"]).await;
    tasks::use_tasks(&account, &desk["tasks"]).await;
    disconnect(&account).await;
    account.assert_sound();
}

/// Without their connections nothing of them is left.
async fn disconnect(account: &impl ConnectedAccount) {
    let mut ids = vec![account.mail(), account.desk()];
    ids.dedup();
    for id in ids {
        let path = format!("/v1/connections/{id}");
        account.api().delete(&path).send().await.expect(204);
        account.api().get(&path).send().await.refused(404, "not_found");
        account.api().get(format!("{path}/capabilities")).send().await.refused(404, "not_found");
    }
    let messages = format!("/v1/email/messages?connection_id={}", account.mail());
    account.api().get(messages).send().await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sandbox() {
    live_through(SandboxAccount::connect().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn google() {
    if let Some(account) = GoogleAccount::connect().await {
        live_through(account).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn microsoft() {
    if let Some(account) = MicrosoftAccount::connect().await {
        live_through(account).await;
    }
}

/// Dovecot by IMAP, and Radicale.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imap_and_dav() {
    if let Some(account) = DavAccount::with_imap().await {
        live_through(account).await;
    }
}

/// Cyrus by JMAP, CalDAV and CardDAV.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jmap_and_dav() {
    if let Some(account) = DavAccount::with_jmap().await {
        live_through(account).await;
    }
}
