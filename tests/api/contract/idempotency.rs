//! Contract, Cross-cutting rules 2: the same key with the same request has one effect and one response.

use std::time::{Duration, Instant};

use axum::response::{IntoResponse, Response};
use base::error::{Code, Error, refuse};
use harness::TestServer;
use http::StatusCode;
use serde_json::json;
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::job_runner::lease::HostLease;
use storage::dialect::Dialect;
use storage::idempotency::{self, NewClaim};
use switchboard::api::response::error;
use switchboard::web::idempotency::{ClaimResult, claim_scope, finish};
use tokio::task::JoinHandle;

/// No test waits for longer.
const LIMIT: Duration = Duration::from_secs(60);

fn lunch() -> serde_json::Value {
    json!({ "title": "Lunch", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" })
}

/// A request that was refused as wrong can be corrected under the same key; one that succeeded, or that reached a provider, cannot be
/// changed.
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
    let mut forbidden = lunch();
    forbidden["title"] = json!("[sandbox:forbidden]");
    for _ in 0..2 {
        let answer = api.post(&path, forbidden.clone()).keyed("asked").send().await;
        assert_eq!(answer.header("idempotent-replayed"), None, "it is executed again");
        answer.refused(400, "provider_rejected");
    }
    api.post(&path, lunch()).keyed("asked").send().await.refused(409, "idempotency_key_reused");
    api.post(&path, lunch()).keyed("\u{e9}").send().await.refused(400, "invalid_idempotency_key");
    api.post(&path, lunch()).keyed(&"x".repeat(256)).send().await.refused(400, "invalid_idempotency_key");
}

/// A key belongs to one application: another may use the same.
#[tokio::test]
async fn keys_of_two_applications_do_not_meet() {
    let server = TestServer::start().await;
    let (one, two) = (server.key("one", |_| {}).await, server.key("two", |_| {}).await);
    let body = json!({ "name": "worker", "scopes": ["calendar.read"] });
    let first = one.post("/v1/api-keys", body.clone()).keyed("k").send().await.expect(201);
    let second = two.post("/v1/api-keys", body).keyed("k").send().await.expect(201);
    assert_ne!(first["id"], second["id"]);
}

/// A key also belongs to one API key of an application: a response may contain secrets, such as a new key, and is only for the caller.
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

/// A refusal because a connection cannot be used now is not stored: once it can be used, the same attempt succeeds.
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

/// A process that died between the provider's answer and its own commit: the retry finds the existing event.
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

/// From here on nothing that ends a claim can be written, neither the answer nor that the claim is free.
async fn refuse_ends_of_claims(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => {
            "create trigger no_update before update on idempotency begin select raise(abort, 'away'); end; \
             create trigger no_delete before delete on idempotency begin select raise(abort, 'away'); end"
        }
        Dialect::Postgres => {
            "create function away() returns trigger language plpgsql as $$ begin raise exception 'away'; end $$; \
             create trigger no_end before update or delete on idempotency for each row execute function away()"
        }
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("a trigger");
}

async fn allow_ends_of_claims(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => "drop trigger no_update; drop trigger no_delete",
        Dialect::Postgres => "drop trigger no_end on idempotency",
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("no trigger");
}

/// The database refuses the effect and the end of the claim. As soon as it is back, the key can be used again, at every host, and the event
/// that the provider got is found.
#[tokio::test]
async fn a_claim_whose_end_was_not_written_is_free_when_the_database_is_back() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let path = format!("/v1/calendars/{calendar}/events");
    refuse_ends_of_claims(&server).await;
    let failed = api.post(&path, lunch()).keyed("away").send().await;
    assert!(failed.status >= 500, "{failed}");
    allow_ends_of_claims(&server).await;
    let began = Instant::now();
    let made = loop {
        // The service's clock stands still, so no lease ends. Of two hosts each gets the request alternately.
        let again = api.post(&path, lunch()).keyed("away").send().await;
        match again.status {
            409 => assert!(began.elapsed() < LIMIT, "{again}"),
            _ => break again.expect(201),
        }
    };
    let events = api.all(&format!("{path}?i_cal_uid={}", made["iCalUid"].as_str().expect("a uid"))).await;
    assert_eq!(events.len(), 1, "the attempt that failed had reached the provider");
}

/// Claims the one key of a test.
pub async fn try_claim(app: &App) -> Result<IdempotentAttempt, Error> {
    match claim_scope(app, "app_1", "scope".to_owned(), "fingerprint".to_owned()).await? {
        ClaimResult::Run(attempt) => Ok(attempt),
        ClaimResult::Replay(answer) => panic!("it has an answer: {answer:?}"),
    }
}

pub async fn claimed(app: &App) -> IdempotentAttempt {
    try_claim(app).await.expect("the key is free")
}

/// A request that ends without an answer, because its work panicked or was dropped. The next one knows that it is a repeat.
#[tokio::test]
async fn a_claim_ends_with_its_request_whatever_ended_that() {
    let server = TestServer::start().await;
    let app = &server.app;
    let attempt = claimed(app).await;
    assert!(!attempt.resumed);
    let copy = attempt.clone();
    drop(attempt);
    assert_eq!(try_claim(app).await.err().and_then(|e| e.code()), Some(Code::IdempotencyInProgress));

    let work: JoinHandle<()> = tokio::spawn(async move {
        let _attempt = copy;
        panic!("the work is broken")
    });
    assert!(work.await.expect_err("it panics").is_panic());
    let attempt = claimed(app).await;
    assert!(attempt.resumed);

    let work = tokio::spawn(async move {
        let _attempt = attempt;
        std::future::pending::<()>().await
    });
    work.abort();
    assert!(work.await.expect_err("it is dropped").is_cancelled());
    if let Some(other) = server.beside().await {
        // Another host learns of it from the database.
        let began = Instant::now();
        let attempt = loop {
            match try_claim(&other.app).await {
                Ok(attempt) => break attempt,
                Err(e) => assert!(began.elapsed() < LIMIT, "{e:?}"),
            }
        };
        assert!(attempt.resumed);
        return;
    }
    assert!(claimed(app).await.resumed);
}

/// A client that hangs up while its key is being claimed leaves no claim behind.
#[tokio::test]
async fn a_claim_that_is_given_up_midway_is_free() {
    let server = TestServer::start().await;
    let mut claiming = Box::pin(try_claim(&server.app));
    // Whether it got to its end or not.
    let _ = futures::poll!(claiming.as_mut());
    drop(claiming);
    claimed(&server.app).await;
}

/// Only a request that never began leaves its key unused. The refusal of a repeat says nothing about the attempt before it.
#[tokio::test]
async fn a_repeat_that_is_refused_is_followed_by_a_repeat() {
    let server = TestServer::start().await;
    let app = &server.app;
    let attempt = claimed(app).await;
    finish(app, &attempt, StatusCode::TOO_MANY_REQUESTS.into_response()).await;
    drop(attempt);
    let attempt = claimed(app).await;
    assert!(!attempt.resumed, "the first one never began");
    finish(app, &attempt, StatusCode::BAD_GATEWAY.into_response()).await;
    drop(attempt);
    for _ in 0..2 {
        let attempt = claimed(app).await;
        assert!(attempt.resumed);
        finish(app, &attempt, StatusCode::TOO_MANY_REQUESTS.into_response()).await;
    }
}

/// A provider may have refused in the middle of a change, such as at the read after its write.
#[tokio::test]
async fn a_refusal_after_a_provider_was_asked_is_followed_by_a_repeat() {
    let server = TestServer::start().await;
    let app = &server.app;
    let attempt = claimed(app).await;
    attempt.note_call();
    finish(app, &attempt, failed(Code::NotFound)).await;
    drop(attempt);
    assert!(claimed(app).await.resumed);
}

/// An attempt that a provider refused has changed nothing, and its repetition must not overwrite what another client saved in between.
#[tokio::test]
async fn a_repeated_change_of_a_draft_keeps_what_was_saved_meanwhile() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let account = json!({ "provider": "sandbox", "scopes": ["email.read", "email.write"],
        "credentials": { "username": "alice@sandbox.test", "password": "sandbox" } });
    let connection = api.connect(account).await;
    let new =
        json!({ "connectionId": connection["id"], "to": [{ "email": "bob@sandbox.test" }], "subject": "1" });
    let draft = api.post("/v1/email/drafts", new).send().await.expect(201);
    let save = |subject: &str| {
        let path = format!("/v1/email/drafts/{}", draft["id"].as_str().expect("an id"));
        let etag = draft["etag"].as_str().expect("an etag");
        api.patch(path, json!({ "subject": subject })).if_match(etag)
    };
    let fault = json!({ "status": 403, "method": "POST", "pathPrefix": "/sandbox/v1/mail/drafts" });
    server.provider("alice").post("/sandbox/faults", fault).send().await.expect(201);
    save("2").keyed("two").send().await.refused(400, "provider_rejected");
    let saved = save("3").send().await.expect(200);
    let stale = save("2").keyed("two").send().await.refused(409, "stale_etag");
    assert_eq!(stale["current_etag"], saved["etag"]);
}

fn failed(code: Code) -> Response {
    error::response(refuse(code, "it was refused"), "req_1")
}

/// A provider may have had enough in the middle of a change, and the version that a repeat meets may be the one that its first attempt
/// made.
#[tokio::test]
async fn what_may_be_the_effect_of_the_first_attempt_is_no_answer_for_good() {
    let server = TestServer::start().await;
    let app = &server.app;
    let mut attempt = claimed(app).await;
    for code in [Code::ProviderRateLimited, Code::StaleEtag, Code::StaleEtag] {
        finish(app, &attempt, failed(code)).await;
        drop(attempt);
        attempt = claimed(app).await;
        assert!(attempt.resumed, "{code:?}");
    }
}

/// A host that stalled, and whose claim was taken over: its client is asked to retry, and no work of the host is stored.
#[tokio::test]
async fn an_attempt_that_lost_its_claim_is_told_to_try_again() {
    let server = TestServer::start().await;
    let app = &server.app;
    let attempt = claimed(app).await;
    let from = attempt.claim().expect("a key").claim().fence.clone();
    let taken: anyhow::Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let (application_id, scope, fingerprint) = ("app_1", "scope", "fingerprint");
                let (fence, owner, now, lease_until) = ("another", "another", 0, i64::MAX);
                let claim = NewClaim { application_id, scope, fingerprint, fence, owner, now, lease_until };
                idempotency::take_over(tx, &claim, &from).await
            })
        })
        .await;
    assert!(taken.expect("a query"));
    let (kept, held) = (attempt.clone(), app.clone());
    let stored: Result<(), Error> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                Ok(kept.store(tx, &held.keyring, &StoredResponse::ok("{}"), held.now()).await?)
            })
        })
        .await;
    let refused = stored.expect_err("the claim is another's");
    assert_eq!(refused.code(), Some(Code::IdempotencyInProgress));
    let answer = finish(app, &attempt, error::response(refused, "req_1")).await;
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    assert_eq!(answer.headers()["retry-after"], "1");
}

/// The machine's clock is set while a request runs: its claim is not over.
#[tokio::test]
async fn a_clock_that_is_set_frees_no_claim_of_a_request_that_runs() {
    let server = TestServer::builder().real_time().start().await;
    let attempt = claimed(&server.app).await;
    server.clock.set_machine_by_ms(300_000);
    let refused = try_claim(&server.app).await.err().and_then(|e| e.code());
    assert_eq!(refused, Some(Code::IdempotencyInProgress));
    drop(attempt);
    assert!(claimed(&server.app).await.resumed);
}

/// A repeated attempt knows when the first one was, however often it is repeated.
#[tokio::test]
async fn the_time_of_the_first_attempt_is_kept() {
    let server = TestServer::start().await;
    let first_at = server.app.now();
    let attempt = claimed(&server.app).await;
    assert_eq!((attempt.resumed, attempt.first_at), (false, None));
    drop(attempt);
    for _ in 0..2 {
        server.clock.advance_ms(60_000);
        let repeated = claimed(&server.app).await;
        assert_eq!((repeated.resumed, repeated.first_at), (true, Some(first_at)));
    }
}
