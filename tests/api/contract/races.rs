//! Races of writes here with calls of a provider: the newer of both stays, of a connection, a message on its way, a draft, a collection.
//! The provider holds its answer until the other write is done.

use harness::{Actor, Exchange, TestServer};
use serde_json::{Value, json};
use service::job_runner::runner;
use service::jobs::upkeep::PURGE;
use storage::sql::query;

use crate::contacts::people::zoe;
use crate::email::mailbox::{Mailbox, Provider, text, until};

/// Holds the account's next answer to such a request until `let_go`.
pub async fn hold(provider: &Actor, method: &str, path: &str) {
    let fault = json!({ "method": method, "pathPrefix": path, "heldAnswer": true });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
}

/// Waits until the provider has handled the request and holds the answer.
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

/// The secrets that the database has of a connection, whether or not the connection is still there.
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

/// A pull that runs when the account is disconnected leaves no data behind.
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
        // All data is deleted before the pull writes.
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
    // Messages at the first read of the mailbox are no news.
    mailbox.list("").await;
    let to = json!([{ "email": "bounce@x.test" }, { "email": "defer@x.test" }]);
    let sent = mailbox.submit(json!({ "to": to })).await;
    mailbox.server.hand_over().await;
    mailbox.server.clock.advance_ms(15_000);
    hold(sandbox, "POST", "/sandbox/v1/mail/send").await;
    let report = async {
        held(sandbox).await;
        // The report is in the mailbox; it is read, and then the attempt continues.
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

/// A report that arrives while the sent message is being changed: both are stored.
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

/// A mailbox that is read after its provider has sent a draft, and before the result is stored: the draft still exists, and says in the
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
        // Another message on the page beside the draft.
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

/// A kind of collection, and a field of it beside its name.
struct CollectionKind {
    ours: &'static str,
    theirs: &'static str,
    field: &'static str,
}

const COLLECTIONS: [CollectionKind; 3] = [
    CollectionKind { ours: "/v1/calendars", theirs: "/sandbox/v1/calendars", field: "color" },
    CollectionKind { ours: "/v1/contact-books", theirs: "/sandbox/v1/books", field: "description" },
    CollectionKind { ours: "/v1/task-lists", theirs: "/sandbox/v1/lists", field: "color" },
];

impl CollectionKind {
    /// Returns the path that lists the contents of a collection.
    fn contents(&self, id: &str) -> String {
        match self.ours {
            "/v1/calendars" => format!("/v1/calendars/{id}/events"),
            "/v1/task-lists" => format!("/v1/task-lists/{id}/tasks"),
            _ => format!("/v1/contacts?book_id={id}"),
        }
    }

    /// A change of a collection.
    fn entry(&self, id: &str) -> Value {
        match self.ours {
            "/v1/calendars" => {
                json!({ "title": "Old", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" })
            }
            "/v1/task-lists" => json!({ "title": "Old" }),
            _ => json!({ "bookId": id, "displayName": "Old" }),
        }
    }
}

/// A collection of zoe's that two programs write at the same time.
struct SharedCollection {
    api: Actor,
    provider: Actor,
    /// The list of all that the account has.
    list: String,
    id: String,
    /// The paths of a collection at the API and at the provider.
    ours: String,
    theirs: String,
}

impl SharedCollection {
    async fn new(server: &TestServer, kind: &CollectionKind) -> SharedCollection {
        let (api, connection) = zoe(server).await;
        let new = json!({ "connectionId": connection, "name": "Shared" });
        let made = api.post(kind.ours, new).send().await.expect(201);
        let id = text(&made["id"]);
        SharedCollection {
            api,
            provider: server.provider("zoe"),
            list: format!("{}?connection_id={connection}", kind.ours),
            ours: format!("{}/{id}", kind.ours),
            theirs: format!("{}/{}", kind.theirs, text(&made["externalId"])),
            id,
        }
    }

    /// The collection as a pull finds it now; none: it is not there.
    async fn pulled(&self, server: &TestServer) -> Option<Value> {
        server.clock.advance_ms(1);
        let page = self.api.get(&self.list).header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").iter().find(|one| one["id"] == *self.id).cloned()
    }

    /// Makes it again at the provider, which has deleted it.
    async fn make_again(&self) {
        let (path, external) = self.theirs.rsplit_once('/').expect("a path");
        let again = json!({ "id": external, "name": "Again" });
        self.provider.post(path, again).send().await.expect(201);
    }

    /// Returns the number of its stored items.
    async fn kept(&self, server: &TestServer) -> i64 {
        let sql = "select count(*) as n from items where parent_id = $1 and deleted_at is null";
        let kept = query(sql).bind(&self.id).fetch_one(server.app.db.reader(), |row| row.get::<i64>("n"));
        kept.await.expect("a query")
    }
}

/// A server whose copy may be some seconds old: the result of a write is visible before the next pull corrects it.
async fn server_with_copies() -> TestServer {
    TestServer::builder().config(|c| c.freshness_ms = 10_000).without_pulls().start().await
}

/// The answer to a change of a collection does not overwrite newer data that a pull has read in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_during_a_change_of_a_collection_is_not_undone() {
    for kind in COLLECTIONS {
        let server = server_with_copies().await;
        let shared = SharedCollection::new(&server, &kind).await;
        let value = json!("#123456");
        hold(&shared.provider, "PATCH", &shared.theirs).await;
        let pull = async {
            held(&shared.provider).await;
            let other = json!({ (kind.field): value });
            shared.provider.patch(&shared.theirs, other).send().await.expect(200);
            let pulled = shared.pulled(&server).await.expect("it is there");
            assert_eq!((&pulled["name"], &pulled[kind.field]), (&json!("Renamed"), &value));
            let_go(&shared.provider).await;
        };
        let change = shared.api.patch(&shared.ours, json!({ "name": "Renamed" })).keyed("change").send();
        let (changed, ()) = tokio::join!(change, pull);
        let changed = changed.expect(200);
        assert_eq!((&changed["name"], &changed[kind.field]), (&json!("Renamed"), &value));
        let copy = shared.api.get(&shared.ours).send().await.expect(200);
        assert_eq!((&copy[kind.field], &copy["etag"]), (&value, &changed["etag"]));
    }
}

/// A collection that is created again during its deletion stays, as a pull has read it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_that_is_made_again_during_its_deletion_stays() {
    for kind in COLLECTIONS {
        let server = server_with_copies().await;
        let shared = SharedCollection::new(&server, &kind).await;
        hold(&shared.provider, "DELETE", &shared.theirs).await;
        let again = async {
            held(&shared.provider).await;
            shared.make_again().await;
            assert_eq!(shared.pulled(&server).await.expect("it is there")["name"], "Again");
            let_go(&shared.provider).await;
        };
        let (deleted, ()) = tokio::join!(shared.api.delete(&shared.ours).keyed("delete").send(), again);
        deleted.expect(204);
        let copy = shared.api.get(&shared.ours).send().await.expect(200);
        assert_eq!(copy["name"], "Again");
    }
}

/// A collection that is created again has none of the deleted one's items, however few they were.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_that_is_made_again_during_its_deletion_is_empty() {
    for kind in COLLECTIONS {
        let server = server_with_copies().await;
        let shared = SharedCollection::new(&server, &kind).await;
        let contents = kind.contents(&shared.id);
        let made_in = contents.split('?').next().expect("a path");
        shared.api.post(made_in, kind.entry(&shared.id)).send().await.expect(201);
        assert_eq!(shared.kept(&server).await, 1, "{}", kind.ours);
        hold(&shared.provider, "DELETE", &shared.theirs).await;
        let again = async {
            held(&shared.provider).await;
            shared.make_again().await;
            assert_eq!(shared.pulled(&server).await.expect("it is there")["name"], "Again");
            let_go(&shared.provider).await;
        };
        let forced = if kind.ours == "/v1/contact-books" { "?force=true" } else { "" };
        let deletion = shared.api.delete(format!("{}{forced}", shared.ours)).keyed("delete").send();
        let (deleted, ()) = tokio::join!(deletion, again);
        deleted.expect(204);
        assert_eq!(shared.kept(&server).await, 0, "{}", kind.ours);
        assert_eq!(shared.api.get(&shared.ours).send().await.expect(200)["name"], "Again");
        assert!(shared.api.all(&contents).await.is_empty(), "{}", kind.ours);
    }
}

/// A completed deletion counts, even if it cannot be checked whether the collection was created again. The next list shows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_collection_is_gone_where_its_list_cannot_be_read_again() {
    for kind in COLLECTIONS {
        let server = server_with_copies().await;
        let shared = SharedCollection::new(&server, &kind).await;
        hold(&shared.provider, "DELETE", &shared.theirs).await;
        let again = async {
            held(&shared.provider).await;
            shared.make_again().await;
            assert_eq!(shared.pulled(&server).await.expect("it is there")["name"], "Again");
            // From now on the provider is not asked: this outlasts the faults, which go with the answer.
            let limited =
                json!({ "status": 429, "retryAfterS": 120, "method": "GET", "pathPrefix": kind.theirs });
            shared.provider.post("/sandbox/faults", limited).send().await.expect(201);
            assert_eq!(shared.pulled(&server).await.expect("as it was")["name"], "Again");
            let_go(&shared.provider).await;
        };
        let (deleted, ()) = tokio::join!(shared.api.delete(&shared.ours).keyed("delete").send(), again);
        deleted.expect(204);
        shared.api.get(&shared.ours).send().await.refused(404, "not_found");
        server.clock.advance_ms(120_000);
        assert_eq!(shared.pulled(&server).await.expect("it is back")["name"], "Again");
    }
}

/// A collection whose deletion a pull sees before the request that deletes it is answered is deleted once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_during_the_deletion_of_a_collection_changes_nothing() {
    for kind in COLLECTIONS {
        let server = server_with_copies().await;
        let shared = SharedCollection::new(&server, &kind).await;
        hold(&shared.provider, "DELETE", &shared.theirs).await;
        let pull = async {
            held(&shared.provider).await;
            assert_eq!(shared.pulled(&server).await, None);
            let_go(&shared.provider).await;
        };
        let (deleted, ()) = tokio::join!(shared.api.delete(&shared.ours).keyed("delete").send(), pull);
        deleted.expect(204);
        shared.api.get(&shared.ours).send().await.refused(404, "not_found");
        let sql = "select count(*) as n from log where resource_id = $1 and change_type = 'deleted'";
        let deletions =
            query(sql).bind(&shared.id).fetch_one(server.app.db.reader(), |row| row.get::<i64>("n"));
        assert_eq!(deletions.await.expect("a query"), 1, "{}", kind.ours);
    }
}
