//! Contract, Cross-cutting rules 2: the same key with the same request is one effect and one answer.

use harness::TestServer;
use serde_json::json;
use storage::dialect::Dialect;
use storage::idempotency;
use switchboard::job_runner::lease::HostLease;

fn lunch() -> serde_json::Value {
    json!({ "title": "Lunch", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" })
}

/// What was refused as wrong can be corrected under the same key; what succeeded cannot be changed.
#[tokio::test]
async fn a_refused_request_does_not_use_up_its_key() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let path = format!("/v1/calendars/{calendar}/events");
    api.post(&path, json!({ "title": "Lunch" })).keyed("k").send().await.refused(400, "missing_field");
    api.post(&path, lunch()).keyed("k").send().await.expect(201);
    api.post(&path, json!({ "title": "Lunch" }))
        .keyed("k")
        .send()
        .await
        .refused(409, "idempotency_key_reused");
    api.post(&path, lunch()).keyed("\u{e9}").send().await.refused(400, "invalid_idempotency_key");
    api.post(&path, lunch()).keyed(&"x".repeat(256)).send().await.refused(400, "invalid_idempotency_key");
}

/// A key is an application's own: another may use the same.
#[tokio::test]
async fn keys_of_two_applications_do_not_meet() {
    let server = TestServer::start().await;
    let (one, two) = (server.key("one", |_| {}).await, server.key("two", |_| {}).await);
    let body = json!({ "name": "worker", "scopes": ["calendar.read"] });
    let first = one.post("/v1/api-keys", body.clone()).keyed("k").send().await.expect(201);
    let second = two.post("/v1/api-keys", body).keyed("k").send().await.expect(201);
    assert_ne!(first["id"], second["id"]);
}

/// Nor do those of two API keys of one application: what an answer holds, such as a key that was made, is for who asked alone.
#[tokio::test]
async fn an_answer_is_not_replayed_to_another_api_key() {
    let server = TestServer::start().await;
    let (one, two) = (server.client().await, server.client_with(&["api_keys.write", "calendar.read"]).await);
    let body = json!({ "name": "worker", "scopes": ["calendar.read"] });
    let first = one.post("/v1/api-keys", body.clone()).keyed("k").send().await.expect(201);
    let other = two.post("/v1/api-keys", body.clone()).keyed("k").send().await;
    assert_eq!(other.header("idempotent-replayed"), None);
    let other = other.expect(201);
    assert_ne!((&first["id"], &first["key"]), (&other["id"], &other["key"]));
    let again = one.post("/v1/api-keys", body).keyed("k").send().await.expect(201);
    assert_eq!(first, again);
}

/// A connection that cannot be used now says nothing of the request: once it can be, the same attempt succeeds.
#[tokio::test]
async fn a_conflict_of_the_moment_is_not_the_answer_for_good() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let path = format!("/v1/calendars/{calendar}/events");
    let fault = json!({ "status": 401, "times": 1 });
    server.provider("alice").post("/sandbox/faults", fault).send().await.expect(201);
    api.post(&path, lunch()).keyed("k").send().await.refused(409, "reauth_required");
    api.post(&path, lunch()).keyed("k").send().await.refused(409, "reauth_required");
    let refresh = format!("/v1/connections/{}/refresh", connection["id"].as_str().expect("an id"));
    api.post(refresh, json!({})).send().await.expect(200);
    let made = api.post(&path, lunch()).keyed("k").send().await;
    assert_eq!(made.header("idempotent-replayed"), None);
    let made = made.expect(201);
    assert_eq!(api.post(&path, lunch()).keyed("k").send().await.expect(201), made);
}

/// White space, the order of names and their spelling make no other request.
#[tokio::test]
async fn the_same_request_may_be_written_differently() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let send = |text: &str| api.post("/v1/api-keys", json!({})).raw("application/json", text.to_owned());
    let first = r#"{"name":"w","scopes":["calendar.read"],"rate_limit_per_minute":5}"#;
    let other = "{ \"rateLimitPerMinute\": 5,\n \"scopes\": [\"calendar.read\"], \"name\": \"w\" }";
    let made = send(first).keyed("k").send().await.expect(201);
    assert_eq!(send(other).keyed("k").send().await.expect(201), made);
    let different = first.replace("\"w\"", "\"v\"");
    send(&different).keyed("k").send().await.refused(409, "idempotency_key_reused");
}

/// A process that died between the provider's answer and its own commit: the retry finds the event that is there.
#[tokio::test]
async fn a_retry_after_a_crash_finds_what_the_first_attempt_left() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let path = format!("/v1/calendars/{calendar}/events");
    let made = api.post(&path, lunch()).keyed("crash").send().await.expect(201);
    // The provider keeps the event; of our side only the claim is left, as after a kill before the commit.
    forget_the_answer(&server).await;
    let server = server.restart().await;
    let api = harness::reconnected(&server, &api);
    // A claim of another boot is dead at once on SQLite; on PostgreSQL its host could be one that has just started.
    server.clock.advance_ms(10_000);
    let again = api.post(&path, lunch()).keyed("crash").send().await;
    assert_eq!(again.header("idempotent-replayed"), None);
    let again = again.expect(201);
    assert_eq!((&again["iCalUid"], &again["id"]), (&made["iCalUid"], &made["id"]));
    let events = api.all(&format!("{path}?i_cal_uid={}", made["iCalUid"].as_str().expect("a uid"))).await;
    assert_eq!(events.len(), 1);
}

/// On PostgreSQL a claim is left to a host that lives, and not longer than its lease.
#[tokio::test]
async fn a_claim_is_free_when_its_host_is_gone() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let path = format!("/v1/calendars/{calendar}/events");
    let made = api.post(&path, lunch()).keyed("crash").send().await.expect(201);
    forget_the_answer(&server).await;
    server.clock.advance_ms(9_000);
    let _lease = HostLease::begin(&server.app).await.expect("a lease of eight seconds");
    let server = server.restart().await;
    let api = harness::reconnected(&server, &api);
    server.clock.advance_ms(2_000);
    if server.app.db.is_shared() {
        api.post(&path, lunch()).keyed("crash").send().await.refused(409, "idempotency_in_progress");
        server.clock.advance_ms(6_000);
    }
    let again = api.post(&path, lunch()).keyed("crash").send().await.expect(201);
    assert_eq!(again["id"], made["id"]);
}

async fn forget_the_answer(server: &TestServer) {
    server
        .app
        .db
        .write(|tx| Box::pin(async move { idempotency::unanswer_all(tx).await }))
        .await
        .expect("the claim is opened again");
}

/// A commit that the database refuses at its end, after the answer was written beside the effect: the answer is as lost as the effect, so
/// the key is free at once, and not only when the claim of this attempt has run out.
#[tokio::test]
async fn a_failed_commit_frees_the_idempotency_key() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let path = format!("/v1/calendars/{calendar}/events");
    refuse_commits_with_lunch(&server).await;
    api.post(&path, lunch()).keyed("commit").send().await.expect(500);
    allow_commits(&server).await;
    let again = api.post(&path, lunch()).keyed("commit").send().await;
    assert_eq!(again.header("idempotent-replayed"), None);
    let again = again.expect(201);
    let events = api.all(&format!("{path}?i_cal_uid={}", again["iCalUid"].as_str().expect("a uid"))).await;
    assert_eq!(events.len(), 1, "the attempt that failed had reached the provider");
}

/// From here on a transaction that writes an event called lunch fails when it commits.
async fn refuse_commits_with_lunch(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => {
            "create table nowhere (name text references installation (name) deferrable initially deferred); \
             create trigger unlucky after insert on items when new.body like '%Lunch%' \
             begin insert into nowhere values ('no such name'); end"
        }
        Dialect::Postgres => {
            "create function unlucky() returns trigger language plpgsql as $$ begin \
             if new.body like '%Lunch%' then raise exception 'an unlucky commit'; end if; return new; end $$; \
             create constraint trigger unlucky after insert on items deferrable initially deferred \
             for each row execute function unlucky()"
        }
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("a trigger");
}

async fn allow_commits(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => "drop trigger unlucky",
        Dialect::Postgres => "drop trigger unlucky on items",
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("no trigger");
}
