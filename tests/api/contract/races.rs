//! What is written here while a provider is being asked stays as it was written: of a connection, of a message on its way, of a draft.
//! The provider holds its answer until the other write is done.

use harness::{Actor, Exchange, TestServer};
use serde_json::{Value, json};
use storage::sql::query;
use switchboard::job_runner::runner;
use switchboard::jobs::upkeep::PURGE;

use crate::email::mailbox::{Mailbox, Provider, text, until};

/// Holds the account's next answer to such a request until `let_go`.
pub async fn hold(provider: &Actor, method: &str, path: &str) {
    let fault = json!({ "method": method, "pathPrefix": path, "heldAnswer": true });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
}

/// When the provider has done what it was asked and holds the answer.
pub async fn held(provider: &Actor) {
    until("the provider holds an answer", async || {
        let faults = provider.get("/sandbox/faults").send().await.expect(200);
        (faults["held"] == 1).then_some(())
    })
    .await;
}

pub async fn let_go(provider: &Actor) {
    provider.delete("/sandbox/faults").send().await.expect(204);
}

/// What the database has of a connection's secrets, whether or not the connection is still there.
async fn stored(server: &TestServer, id: &str) -> (String, String, bool) {
    let sql = "select credentials, status, deleted_at from connections where id = $1";
    let row = query(sql).bind(id).fetch_one(server.app.db.reader(), |row| {
        Ok((row.get("credentials")?, row.get("status")?, row.get::<Option<i64>>("deleted_at")?.is_some()))
    });
    row.await.expect("a row")
}

/// An account that is disconnected while its credentials are tried again stays disconnected, and keeps no secret.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_does_not_bring_a_connection_back() {
    let server = TestServer::start().await;
    let (api, provider) = (server.client().await, server.provider("alice"));
    let id = text(&api.connect_sandbox().await["id"]);
    assert!(!stored(&server, &id).await.0.is_empty());
    let path = format!("/v1/connections/{id}");
    hold(&provider, "GET", "/sandbox/v1/me").await;
    let deletion = async {
        held(&provider).await;
        api.delete(&path).send().await.expect(204);
        let_go(&provider).await;
    };
    let refresh = api.post(format!("{path}/refresh"), json!({})).send();
    let (refreshed, ()) = tokio::join!(refresh, deletion);
    refreshed.refused(404, "not_found");
    assert_eq!(stored(&server, &id).await, (String::new(), "revoked".to_owned(), true));
    api.get(&path).send().await.refused(404, "not_found");
}

/// A pull that is under way when the account is disconnected leaves nothing of it behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_leaves_nothing_of_a_disconnected_account() {
    let server = TestServer::start().await;
    let (api, provider) = (server.client().await, server.provider("alice"));
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let id = text(&connection["id"]);
    hold(&provider, "GET", "/sandbox/v1/calendars/").await;
    let deletion = async {
        held(&provider).await;
        api.delete(format!("/v1/connections/{id}")).send().await.expect(204);
        // All that was there is gone before the pull comes to its write.
        runner::drain(&server.app, &[PURGE]).await.expect("a purge");
        let_go(&provider).await;
    };
    let listed = api.get(format!("/v1/calendars/{calendar}/events")).send();
    let (listed, ()) = tokio::join!(listed, deletion);
    listed.refused(404, "not_found");
    for table in [
        "select count(*) as n from items where connection_id = $1",
        "select count(*) as n from sync_states where connection_id = $1",
    ] {
        let left = query(table).bind(&id).fetch_one(server.app.db.reader(), |row| row.get::<i64>("n"));
        assert_eq!(left.await.expect("a query"), 0, "{table}");
    }
}

fn status_of<'a>(message: &'a Value, email: &str) -> &'a Value {
    let recipients = message["delivery"]["recipients"].as_array().expect("recipients");
    let found = recipients.iter().find(|r| r["email"] == email);
    &found.unwrap_or_else(|| panic!("no {email}: {message:#}"))["status"]
}

/// A report that comes while the message is handed over to those who did not take it at first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bounce_during_another_attempt_stays() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    // What is in the mailbox when it is read for the first time is no news.
    mailbox.list("").await;
    let to = json!([{ "email": "bounce@x.test" }, { "email": "defer@x.test" }]);
    let sent = mailbox.submit(json!({ "to": to })).await;
    mailbox.server.hand_over().await;
    mailbox.server.clock.advance_ms(15_000);
    hold(sandbox, "POST", "/sandbox/v1/mail/send").await;
    let report = async {
        held(sandbox).await;
        // The report is in the mailbox; it is read, and then the attempt goes on.
        mailbox.list("").await;
        let bounced = until("the report is read", async || {
            mailbox.server.hand_over().await;
            let now = mailbox.api.get(format!("/v1/email/messages/{}?fields=summary", text(&sent["id"])));
            let now = now.send().await.expect(200);
            (*status_of(&now, "bounce@x.test") == "bounced").then_some(now)
        });
        assert_eq!(*status_of(&bounced.await, "defer@x.test"), "deferred");
        let_go(sandbox).await;
    };
    tokio::join!(mailbox.server.hand_over(), report);
    let after = mailbox.read(&sent["id"]).await;
    assert_eq!(after["delivery"]["attempts"], 2, "{after:#}");
    assert_eq!(
        (status_of(&after, "bounce@x.test"), status_of(&after, "defer@x.test")),
        (&json!("bounced"), &json!("deferred"))
    );
}

/// A report that comes while the sent message is being changed: both are there afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bounce_during_a_change_stays() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    mailbox.list("").await;
    let sent = mailbox.submit(json!({ "to": [{ "email": "bounce@x.test" }] })).await;
    mailbox.server.hand_over().await;
    let summary = mailbox.api.get(format!("/v1/email/messages/{}?fields=summary", text(&sent["id"])));
    let sent = summary.send().await.expect(200);
    assert_eq!(*status_of(&sent, "bounce@x.test"), "accepted");
    hold(sandbox, "PATCH", "/sandbox/v1/mail/messages/").await;
    let report = async {
        held(sandbox).await;
        mailbox.list("").await;
        until("the report is read", async || {
            mailbox.server.hand_over().await;
            let now = mailbox.read(&sent["id"]).await;
            (*status_of(&now, "bounce@x.test") == "bounced").then_some(())
        })
        .await;
        let_go(sandbox).await;
    };
    let (changed, ()) = tokio::join!(mailbox.patch(&sent["id"], json!({ "starred": true })).send(), report);
    let changed = changed.expect(200);
    let after = mailbox.read(&sent["id"]).await;
    for message in [changed, after] {
        assert_eq!(
            (&message["starred"], status_of(&message, "bounce@x.test")),
            (&json!(true), &json!("bounced"))
        );
    }
}

/// A mailbox that is read when its provider has sent a draft, and before what became of it is stored: the draft is there, and says in the
/// end which message it became.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_during_a_send_does_not_lose_the_draft() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    let new = json!({ "connectionId": mailbox.connection, "to": [{ "email": mailbox.other.address }],
        "subject": "Draft", "metadata": { "a": "b" } });
    let draft = mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
    let path = format!("/v1/email/drafts/{}", text(&draft["id"]));
    let message = mailbox.api.post(format!("{path}/send"), json!({})).send().await.expect(202);
    hold(sandbox, "POST", "/sandbox/v1/mail/send").await;
    let look = async {
        held(sandbox).await;
        mailbox.list("").await;
        let now = mailbox.get(&path).send().await.expect(200);
        assert_eq!((&now["status"], &now["metadata"]), (&json!("sending"), &json!({ "a": "b" })));
        let change = mailbox.api.patch(&path, json!({ "subject": "x" })).if_match("*");
        change.send().await.refused(409, "draft_already_sent");
        let_go(sandbox).await;
    };
    tokio::join!(mailbox.server.hand_over(), look);
    let sent = mailbox.get(&path).send().await.expect(200);
    assert_eq!((&sent["status"], &sent["sentMessageId"]), (&json!("sent"), &message["id"]));
    let there = mailbox.read(&message["id"]).await;
    assert_eq!(there["delivery"]["state"], "sent");
    let copies = mailbox.list("").await;
    assert_eq!(copies.iter().filter(|m| m["subject"] == "Draft").count(), 1, "one message: {copies:#?}");
}

/// A draft that changes while its files are fetched is not sent as it was before: the caller reads it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draft_that_changes_while_its_message_is_made_is_not_sent() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    let new = json!({ "connectionId": mailbox.connection, "to": [{ "email": mailbox.other.address }],
        "attachments": [{ "filename": "a.txt", "contentType": "text/plain", "contentBase64": "YWFh" }] });
    let draft = mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
    let path = format!("/v1/email/drafts/{}", text(&draft["id"]));
    let message_id = text(&draft["internetMessageId"]);
    let found = format!("/sandbox/v1/mail/messages?messageId={message_id}");
    let found = sandbox.get(found).send().await.expect(200);
    hold(sandbox, "GET", &format!("/sandbox/v1/mail/messages/{}/", text(&found["messages"][0]["id"]))).await;
    let change = async {
        held(sandbox).await;
        mailbox.there.flag(&message_id, "starred", true).await;
        mailbox.list("").await;
        let_go(sandbox).await;
    };
    let send = || mailbox.api.post(format!("{path}/send"), json!({})).send();
    let (sent, ()) = tokio::join!(send(), change);
    sent.refused(409, "stale_etag");
    let now = mailbox.get(&path).send().await.expect(200);
    assert_eq!((&now["status"], &now["starred"]), (&json!("draft"), &json!(true)));
    send().await.expect(202);
}

/// A page of the mailbox that was read before several versions of a draft were written, and arrives after them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_page_does_not_double_a_draft() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    let new = json!({ "connectionId": mailbox.connection, "subject": "0" });
    let draft = mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
    let path = format!("/v1/email/drafts/{}", text(&draft["id"]));
    let list = format!("/v1/email/drafts?connection_id={}", mailbox.connection);
    mailbox.all(&list).await;
    for round in 0..4 {
        // Something that the page tells beside the draft.
        mailbox.there.deliver(&crate::email::mailbox::letter("New", &format!("n{round}@x.test"), "")).await;
        let first = mailbox.api.patch(&path, json!({ "subject": format!("{round}.0") })).if_match("*");
        first.send().await.expect(200);
        hold(sandbox, "GET", "/sandbox/v1/mail/changes").await;
        let writes = async {
            held(sandbox).await;
            for version in 1..4 {
                let change = json!({ "subject": format!("{round}.{version}") });
                let changed: Exchange = mailbox.api.patch(&path, change).if_match("*").send().await;
                changed.expect(200);
            }
            let_go(sandbox).await;
        };
        let (listed, ()) = tokio::join!(mailbox.all(&list), writes);
        assert_eq!(listed.len(), 1, "{listed:#?}");
        let now = mailbox.get(&path).send().await.expect(200);
        assert_eq!(now["subject"], format!("{round}.3"));
    }
    assert_eq!(mailbox.there.contents().await.values().flatten().filter(|(f, _)| f == "drafts").count(), 1);
}
