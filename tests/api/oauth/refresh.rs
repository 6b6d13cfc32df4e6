//! Tokens are renewed at their expiry or shortly before, once for any number of requests, and are revoked when they are no longer used.

use base::tenant::Tenant;
use harness::browser::Consent;
use harness::{Actor, TestServer};
use runtime::CredentialsError;
use serde_json::{Value, json};
use service::app::App;
use service::connections::credentials::stored;
use service::connections::new_tokens::Tokens;
use service::connections::revocation::REVOKE;
use service::connections::token_refresh::{REFRESH, RequiredTokens, tokens};
use service::job_runner::kind::JobKind;
use service::job_runner::runner;
use storage::connections::{self as table, Connection};
use storage::sql::query;

use crate::email::mailbox::until;
use crate::oauth::{Flow, assert_error, tenant};

const HOUR_MS: i64 = 3_600_000;
const TOKEN: &str = "/sandbox/oauth/token";

impl Flow {
    /// The sandbox provider's own API for an account.
    fn account(&self, name: &str) -> Actor {
        self.server.provider(name)
    }

    async fn tenant(&self) -> Tenant {
        tenant(&self.server, &self.api).await
    }

    async fn row(&self, id: &str) -> Connection {
        let row = table::find(self.server.app.db.reader(), &self.tenant().await, id).await;
        row.expect("a query").expect("a connection")
    }

    /// Asks for a connection's tokens, as a call to its provider does.
    async fn tokens(&self, id: &str) -> Result<Tokens, CredentialsError> {
        tokens(&self.server.app, &self.row(id).await, RequiredTokens::default()).await
    }
}

/// Plans a failure of an account's next requests at the token or revocation endpoint.
pub async fn plan(account: &Actor, fault: Value) {
    account.post("/sandbox/faults", fault).send().await.expect(201);
}

/// Counts an account's token requests from now on, up to a thousand.
async fn count(account: &Actor) {
    plan(account, json!({ "pathPrefix": TOKEN, "answerDelayMs": 1, "times": 1000 })).await;
}

/// How many there were.
async fn counted(account: &Actor) -> i64 {
    let faults = account.get("/sandbox/faults").send().await.expect(200);
    1000 - faults["faults"][0]["times"].as_i64().expect("it counts")
}

/// Waits until the provider has handled the request and holds its answer.
pub async fn held(account: &Actor) {
    until("the provider holds an answer", async || {
        let faults = account.get("/sandbox/faults").send().await.expect(200);
        (faults["held"] == 1).then_some(())
    })
    .await;
}

/// The clients that an account allows something to.
async fn clients(account: &Actor) -> usize {
    let me = account.get("/sandbox/v1/me").send().await.expect(200);
    me["clients"].as_array().expect("a list").len()
}

/// Returns how often an event of a connection was logged.
async fn told(app: &App, id: &str, event: &str) -> i64 {
    let sql = "select count(*) as n from log where resource_id = $1 and type = $2";
    let counted = query(sql).bind(id).bind(event).fetch_one(app.db.reader(), |row| row.get("n"));
    counted.await.expect("a number")
}

async fn drain(server: &TestServer, kind: JobKind) -> u64 {
    runner::drain(&server.app, &[kind]).await.expect("the jobs are run")
}

/// Refreshes many at once; returns the versions of their tokens.
async fn at_once(app: &App, row: &Connection, readers: usize) -> Vec<Result<i64, CredentialsError>> {
    let asked = (0..readers).map(|_| {
        let (app, row) = (app.clone(), row.clone());
        tokio::spawn(
            async move { tokens(&app, &row, RequiredTokens::default()).await.map(|new| new.version) },
        )
    });
    let mut found = Vec::new();
    for reader in asked.collect::<Vec<_>>() {
        found.push(reader.await.expect("no panic"));
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_refresh_for_200_readers() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let (row, alice) = (flow.row(&id).await, flow.account("alice"));
    count(&alice).await;
    assert_eq!(at_once(&flow.server.app, &row, 20).await, vec![Ok(1); 20], "they are still good");
    assert_eq!(counted(&alice).await, 0);
    flow.server.clock.advance_ms(HOUR_MS);
    assert_eq!(at_once(&flow.server.app, &row, 200).await, vec![Ok(2); 200]);
    assert_eq!(counted(&alice).await, 1);
    assert_eq!(told(&flow.server.app, &id, "connection.token_refreshed").await, 1);
    let messages = flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await;
    assert!(!messages.expect(200)["data"].as_array().expect("a list").is_empty());
    assert_eq!(counted(&alice).await, 1);
}

/// Collections whose scope an account no longer grants are not listed, even if they were read before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawn_scope_ends_what_is_listed() {
    let flow = Flow::start().await;
    let granted = json!({ "scopes": ["calendar.read", "contacts.read", "email.read", "tasks.read"] });
    let id = flow.connect(granted, "alice").await;
    let withdrawn = [
        "/v1/task-lists",
        "/v1/contact-books",
        "/v1/contacts",
        "/v1/email/folders",
        "/v1/email/messages",
        "/v1/email/threads",
    ];
    for path in withdrawn {
        assert!(!flow.api.all(path).await.is_empty(), "{path}");
    }
    let calendars = flow.api.all("/v1/calendars").await.len();
    plan(&flow.account("alice"), json!({ "pathPrefix": TOKEN, "scopes": ["calendar.read"] })).await;
    flow.server.clock.advance_ms(HOUR_MS);
    assert_eq!(flow.tokens(&id).await.map(|new| new.version), Ok(2));
    assert_eq!(flow.connection(&id).await["grantedScopes"], json!(["calendar.read"]));
    for path in withdrawn {
        assert_eq!(flow.api.all(path).await, [] as [Value; 0], "{path}");
    }
    assert_eq!(flow.api.all("/v1/calendars").await.len(), calendars);
}

/// Two hosts on one database ask once between them. On SQLite a database is one host's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_refresh_for_two_hosts() {
    let flow = Flow::start().await;
    let Some(other) = flow.server.beside().await else { return };
    let id = flow.connect(json!({}), "alice").await;
    let (row, alice) = (flow.row(&id).await, flow.account("alice"));
    count(&alice).await;
    flow.server.clock.advance_ms(HOUR_MS);
    let (here, there) = tokio::join!(at_once(&flow.server.app, &row, 20), at_once(&other.app, &row, 20));
    assert_eq!((here, there), (vec![Ok(2); 20], vec![Ok(2); 20]));
    assert_eq!(counted(&alice).await, 1);
}

/// The sandbox provider ends a grant when a refresh token is used twice, so a token that was not stored would show.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rotated_token_is_stored_before_use() {
    let mut flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    for round in 2..5 {
        flow.server.clock.advance_ms(HOUR_MS);
        let new = flow.tokens(&id).await.unwrap_or_else(|e| panic!("{round}: {e}"));
        assert_eq!(new.version, round);
        let api = flow.api.clone();
        let server = flow.server.restart().await;
        flow = Flow { api: harness::reconnected(&server, &api), server, browser: flow.browser };
        assert_eq!(flow.tokens(&id).await.map(|new| new.version), Ok(round));
    }
}

/// A refresh is completed and stored although its caller hangs up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caller_that_hangs_up_does_not_cancel() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let (row, alice) = (flow.row(&id).await, flow.account("alice"));
    plan(&alice, json!({ "pathPrefix": TOKEN, "heldAnswer": true })).await;
    flow.server.clock.advance_ms(HOUR_MS);
    let app = flow.server.app.clone();
    let asked = tokio::spawn(async move { tokens(&app, &row, RequiredTokens::default()).await.map(|_| ()) });
    held(&alice).await;
    asked.abort();
    assert!(asked.await.is_err_and(|e| e.is_cancelled()));
    alice.delete("/sandbox/faults").send().await.expect(204);
    assert_eq!(flow.tokens(&id).await.map(|new| new.version), Ok(2));
}

/// Statements that make each write of credentials fail, and those that undo it, on SQLite and on PostgreSQL.
const FULL: [[&str; 2]; 2] = [
    [
        "create trigger no_tokens before update of credentials on connections \
         begin select raise(abort, 'the disk is full'); end",
        "drop trigger no_tokens",
    ],
    [
        "create function no_tokens() returns trigger language plpgsql as \
         'begin raise exception ''the disk is full''; end'; \
         create trigger no_tokens before update of credentials on connections \
         for each row execute function no_tokens()",
        "drop trigger no_tokens on connections",
    ],
];

async fn run(app: &App, sql: &'static str) {
    let done: anyhow::Result<()> = app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await;
    done.expect("it is run");
}

/// The database fails for a while after the provider has exchanged a refresh token: it is tried again, the provider is not asked again, and
/// nothing is handed out before it is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn database_failure_after_rotation_is_retried() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let (row, alice, app) = (flow.row(&id).await, flow.account("alice"), flow.server.app.clone());
    let [full, mended] = FULL[usize::from(app.db.is_shared())];
    count(&alice).await;
    flow.server.clock.advance_ms(HOUR_MS);
    run(&app, full).await;
    let asking = app.clone();
    let asked = tokio::spawn(async move { tokens(&asking, &row, RequiredTokens::default()).await });
    until("a write fails twice", async || (app.metrics.renewals("not_stored") >= 2).then_some(())).await;
    assert!(!asked.is_finished());
    assert_eq!(flow.row(&id).await.credentials_version, 1);
    run(&app, mended).await;
    assert_eq!(asked.await.expect("no panic").map(|new| new.version), Ok(2));
    assert_eq!(counted(&alice).await, 1);
    flow.server.clock.advance_ms(HOUR_MS);
    assert_eq!(flow.tokens(&id).await.map(|new| new.version), Ok(3), "the new refresh token was not lost");
    assert_eq!((app.metrics.renewals("stored"), app.renewals.running()), (2, 0));
}

/// Statements that make each write of the log fail, and that end this, on SQLite and on PostgreSQL.
const SILENT: [[&str; 2]; 2] = [
    [
        "create trigger no_log before insert on log begin select raise(abort, 'no log'); end",
        "drop trigger no_log",
    ],
    [
        "create function no_log() returns trigger language plpgsql as 'begin raise exception ''no log''; end'; \
         create trigger no_log before insert on log for each row execute function no_log()",
        "drop trigger no_log on log",
    ],
];

/// A log that cannot be written keeps no refresh token from being stored: without it the next renewal would end the grant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_fails_loses_no_refresh_token() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let app = flow.server.app.clone();
    let [silent, mended] = SILENT[usize::from(app.db.is_shared())];
    flow.server.clock.advance_ms(HOUR_MS);
    run(&app, silent).await;
    assert_eq!(flow.tokens(&id).await.map(|new| new.version), Ok(2));
    run(&app, mended).await;
    assert_eq!(told(&app, &id, "connection.token_refreshed").await, 0);
    flow.server.clock.advance_ms(HOUR_MS);
    assert_eq!(flow.tokens(&id).await.map(|new| new.version), Ok(3));
    assert_eq!(told(&app, &id, "connection.token_refreshed").await, 1);
}

/// At most four refreshes at a time go to an authorization server in the background; the rest are retried in a second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_renewals_wait_for_their_turn() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    flow.server.clock.advance_ms(49 * 60_000);
    let origin = format!("http://{}", flow.server.address);
    let turns: Vec<_> = std::iter::from_fn(|| flow.server.app.renewals.turn(&origin)).collect();
    assert_eq!(turns.len(), 4);
    assert_eq!(drain(&flow.server, REFRESH).await, 1, "it is put off");
    assert_eq!(flow.row(&id).await.credentials_version, 1);
    drop(turns);
    flow.server.clock.advance_ms(1_000);
    assert_eq!(drain(&flow.server, REFRESH).await, 1);
    assert_eq!(flow.row(&id).await.credentials_version, 2);
}

/// A refresh that began before the account was authorized again ends too late, and changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn older_refresh_does_not_overwrite_reauthorization() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let (row, alice) = (flow.row(&id).await, flow.account("alice"));
    plan(&alice, json!({ "pathPrefix": TOKEN, "heldAnswer": true })).await;
    flow.server.clock.advance_ms(HOUR_MS);
    let app = flow.server.app.clone();
    let asked = tokio::spawn(async move { tokens(&app, &row, RequiredTokens::default()).await });
    held(&alice).await;
    assert_eq!(flow.connect(json!({ "connectionId": id }), "alice").await, id);
    let authorized = stored(&flow.server.app, &flow.row(&id).await).expect("credentials");
    alice.delete("/sandbox/faults").send().await.expect(204);
    let late = asked.await.expect("no panic").expect("tokens");
    assert_eq!((late.version, late.given.access_token), (2, authorized.access_token));
    assert_eq!(flow.row(&id).await.credentials_version, 2);
    flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await.expect(200);
}

/// A temporary failure of an authorization server costs no account: the client is told when to retry, and no request is sent before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_transient_failure_stays_active() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let alice = flow.account("alice");
    let refresh = || flow.api.post(format!("/v1/connections/{id}/refresh"), json!({}));
    for (fault, wait_s) in [
        (json!({ "status": 503, "retryAfterS": 7 }), 7),
        (json!({ "status": 429, "retryAfterS": 90 }), 90),
        (json!({ "status": 500 }), 30),
        (json!({ "oauthError": "temporarily_unavailable" }), 30),
    ] {
        flow.server.clock.advance_ms(HOUR_MS);
        let mut fault = fault;
        fault["pathPrefix"] = json!(TOKEN);
        plan(&alice, fault.clone()).await;
        count(&alice).await;
        let answer = refresh().send().await;
        assert_eq!(answer.header("retry-after"), Some(wait_s.to_string().as_str()), "{fault}: {answer}");
        answer.refused(503, "provider_unavailable");
        let connection = flow.connection(&id).await;
        assert_eq!(connection["status"], "active", "{fault}: {connection:#}");
        assert_eq!(connection["lastRefreshError"]["code"], "provider_unavailable", "{fault}");
        refresh().send().await.refused(503, "provider_unavailable");
        assert_eq!(counted(&alice).await, 0, "{fault}: it is left alone");
        flow.server.clock.advance_ms(wait_s * 1_000);
        let connection = refresh().send().await.expect(200);
        assert_eq!(
            (&connection["status"], &connection["lastRefreshError"]),
            (&json!("active"), &Value::Null)
        );
        assert_eq!(counted(&alice).await, 1, "{fault}");
        alice.delete("/sandbox/faults").send().await.expect(204);
    }
    assert_eq!(told(&flow.server.app, &id, "connection.reauth_required").await, 0);
}

/// A registration that is wrong is the operator's to mend: the account stays connected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_registration_stays_active() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    plan(&flow.account("alice"), json!({ "pathPrefix": TOKEN, "oauthError": "invalid_client" })).await;
    flow.server.clock.advance_ms(HOUR_MS);
    assert!(matches!(flow.tokens(&id).await, Err(CredentialsError::Unavailable { .. })));
    let connection = flow.connection(&id).await;
    assert_eq!(connection["status"], "active", "{connection:#}");
    assert_eq!(connection["lastRefreshError"]["code"], "provider_error", "{connection:#}");
    assert!(matches!(flow.tokens(&id).await, Err(CredentialsError::Unavailable { .. })), "for five minutes");
    // The operator has fixed it, and refreshes.
    flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await.expect(200);
}

/// A lost grant is reported once, until the account is authorized again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_grant_marks_once() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let (row, app) = (flow.row(&id).await, &flow.server.app);
    flow.account("alice").delete("/sandbox/oauth/grants").send().await.expect(204);
    flow.server.clock.advance_ms(HOUR_MS);
    for outcome in at_once(app, &row, 20).await {
        assert!(matches!(outcome, Err(CredentialsError::Refused(_))), "{outcome:?}");
    }
    let connection = flow.connection(&id).await;
    let status = (&connection["status"], &connection["statusReason"]);
    assert_eq!(status, (&json!("reauth_required"), &json!("token_revoked")), "{connection:#}");
    let refresh = flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await;
    refresh.refused(409, "reauth_required");
    assert_eq!(told(app, &id, "connection.reauth_required").await, 1);
    assert_eq!(drain(&flow.server, REFRESH).await, 1, "there is nothing to renew, and the job is over");
    assert_eq!(flow.connect(json!({ "connectionId": id }), "alice").await, id);
    assert_eq!(flow.connection(&id).await["status"], "active");
    flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await.expect(200);
}

/// A connection that is not used still has valid tokens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_refresh_before_expiry() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    assert_eq!(drain(&flow.server, REFRESH).await, 0, "it is not time yet");
    for (round, expires_at) in [(2, "2026-03-01T09:49:00.000Z"), (3, "2026-03-01T10:38:00.000Z")] {
        flow.server.clock.advance_ms(49 * 60_000);
        assert_eq!(drain(&flow.server, REFRESH).await, 1);
        let connection = flow.connection(&id).await;
        assert_eq!(connection["tokenExpiresAt"], expires_at, "{connection:#}");
        assert_eq!(flow.row(&id).await.credentials_version, round);
    }
    plan(&flow.account("alice"), json!({ "pathPrefix": TOKEN, "status": 503, "retryAfterS": 60 })).await;
    flow.server.clock.advance_ms(49 * 60_000);
    assert_eq!(drain(&flow.server, REFRESH).await, 1, "it is put off");
    assert_eq!(flow.tokens(&id).await.map(|old| old.version), Ok(3), "the old one is still good");
    flow.server.clock.advance_ms(60_000);
    assert_eq!(drain(&flow.server, REFRESH).await, 1);
    assert_eq!(flow.row(&id).await.credentials_version, 4);
    flow.api.delete(format!("/v1/connections/{id}")).send().await.expect(204);
    flow.server.clock.advance_ms(HOUR_MS);
    assert_eq!(drain(&flow.server, REFRESH).await, 1, "it finds no connection and is over");
    assert_eq!(drain(&flow.server, REFRESH).await, 0);
}

/// Tokens that live five seconds do for work that takes longer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_second_tokens_through_a_long_use() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "short").await;
    for _ in 0..10 {
        flow.server.clock.advance_ms(5_000);
        flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await.expect(200);
    }
    let connection = flow.connection(&id).await;
    assert_eq!(connection["status"], "active", "{connection:#}");
    assert!(flow.row(&id).await.credentials_version > 5);
}

/// Most providers end all tokens of an account and a client with one: they are kept for as long as a connection needs them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delete_revokes_the_last_connection_only() {
    let flow = Flow::start().await;
    let one = flow.connect(json!({}), "alice").await;
    let two = flow.connect(json!({ "allow_duplicate": true }), "alice").await;
    let alice = flow.account("alice");
    flow.api.delete(format!("/v1/connections/{one}")).send().await.expect(204);
    assert_eq!(drain(&flow.server, REVOKE).await, 1);
    assert_eq!(clients(&alice).await, 1);
    flow.api.get(format!("/v1/email/messages?connection_id={two}")).send().await.expect(200);
    flow.api.delete(format!("/v1/connections/{two}")).send().await.expect(204);
    assert_eq!(clients(&alice).await, 1, "nobody waits for the provider");
    assert_eq!(drain(&flow.server, REVOKE).await, 1);
    assert_eq!(clients(&alice).await, 0);
    assert_eq!(drain(&flow.server, REVOKE).await, 0);
}

/// A provider that cannot be reached now is asked later, also after a restart; a connection made in between keeps its grant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revocation_survives_restart() {
    let flow = Flow::start().await;
    let alice = flow.account("alice");
    for is_reconnected in [true, false] {
        let id = flow.connect(json!({}), "alice").await;
        plan(&alice, json!({ "pathPrefix": "/sandbox/oauth/revoke", "status": 503 })).await;
        flow.api.delete(format!("/v1/connections/{id}")).send().await.expect(204);
        assert_eq!(drain(&flow.server, REVOKE).await, 1);
        assert_eq!(clients(&alice).await, 1);
        if is_reconnected {
            let again = flow.connect(json!({}), "alice").await;
            flow.server.clock.advance_ms(60_000);
            assert_eq!(drain(&flow.server, REVOKE).await, 1);
            assert_eq!(clients(&alice).await, 1);
            flow.api.delete(format!("/v1/connections/{again}")).send().await.expect(204);
            assert_eq!(drain(&flow.server, REVOKE).await, 1);
            assert_eq!(clients(&alice).await, 0);
        }
    }
    let server = flow.server.restart().await;
    server.clock.advance_ms(60_000);
    assert_eq!(drain(&server, REVOKE).await, 1);
    assert_eq!(clients(&server.provider("alice")).await, 0);
}

/// A revocation waits as long as the provider's Retry-After says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revocation_keeps_retry_after() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({}), "alice").await;
    let alice = flow.account("alice");
    plan(&alice, json!({ "pathPrefix": "/sandbox/oauth/revoke", "status": 503, "retryAfterS": 300 })).await;
    flow.api.delete(format!("/v1/connections/{id}")).send().await.expect(204);
    assert_eq!(drain(&flow.server, REVOKE).await, 1);
    flow.server.clock.advance_ms(299_000);
    assert_eq!(drain(&flow.server, REVOKE).await, 0);
    flow.server.clock.advance_ms(1_000);
    assert_eq!(drain(&flow.server, REVOKE).await, 1);
    assert_eq!(clients(&alice).await, 0);
}

/// Tokens are revoked at the provider if the callback makes no connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_a_failed_callback_are_revoked() {
    let flow = Flow::start().await;
    let (alice, bob) = (flow.account("alice"), flow.account("bob"));
    let callback = flow.returned(json!({}), "alice", Consent::Only(&[])).await;
    assert_error(&flow.browser.open(&callback).await, "scope_missing");
    assert_eq!((clients(&alice).await, drain(&flow.server, REVOKE).await), (1, 1));
    assert_eq!(clients(&alice).await, 0);

    let id = flow.connect(json!({}), "alice").await;
    let callback = flow.returned(json!({ "connectionId": id }), "bob", Consent::Allow).await;
    assert_error(&flow.browser.open(&callback).await, "account_mismatch");
    assert_eq!((clients(&bob).await, drain(&flow.server, REVOKE).await), (1, 1));
    assert_eq!((clients(&alice).await, clients(&bob).await), (1, 0));
    flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await.expect(200);
}
