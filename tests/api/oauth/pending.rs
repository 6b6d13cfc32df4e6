//! Authorizations with a client's PKCE: the account waits for the exchange of the code, and is dropped if that does not come.

use harness::browser::{Consent, Page, parameter};
use harness::{Actor, Exchange};
use serde_json::{Value, json};
use service::app::App;
use service::connections::authorization::EXPIRE_CODE;
use service::connections::revocation::REVOKE;
use service::job_runner::kind::JobKind;
use service::job_runner::runner;

use crate::oauth::{Flow, REDIRECT, STATE, assert_error};

/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const MINUTE_MS: i64 = 60_000;

/// A user's return that waits for its code.
struct Return {
    code: String,
    connection: String,
}

impl Flow {
    /// The page to which `account` comes back from an authorization with a challenge.
    async fn challenged(&self, change: Value, account: &str) -> Page {
        let mut change = change;
        change["codeChallenge"] = CHALLENGE.into();
        change["codeChallengeMethod"] = "S256".into();
        self.browser.open(&self.returned(change, account, Consent::Allow).await).await
    }

    async fn waiting(&self, change: Value, account: &str) -> Return {
        let page = self.challenged(change, account).await;
        let location = page.location();
        assert_eq!(parameter(&location, "status").as_deref(), Some("pending"), "{page:#?}");
        assert_eq!(parameter(&location, "state").as_deref(), Some(STATE), "{page:#?}");
        let found = |name: &str| parameter(&location, name).unwrap_or_else(|| panic!("no {name}: {page:#?}"));
        Return { code: found("code"), connection: found("connection_id") }
    }

    async fn redeem(&self, code: &str) -> Exchange {
        self.redeem_with(code, VERIFIER).await
    }

    async fn redeem_with(&self, code: &str, verifier: &str) -> Exchange {
        let body = json!({
            "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": verifier,
        });
        self.api.post("/v1/oauth/token", body).send().await
    }

    /// How many clients an account allows something to, at the sandbox provider.
    async fn allowed_clients(&self, account: &str) -> usize {
        let me = self.server.provider(account).get("/sandbox/v1/me").send().await.expect(200);
        me["clients"].as_array().expect("a list").len()
    }

    /// The types of the events about a connection, in their order.
    async fn events_of(&self, connection: &str) -> Vec<Value> {
        let events = self.api.all("/v1/events?type=connection.*").await;
        let of_it = events.into_iter().filter(|event| event["data"]["resourceId"] == connection);
        of_it.map(|event| event["type"].clone()).collect()
    }

    async fn assert_absent(&self, connection: &str) {
        self.api.get(format!("/v1/connections/{connection}")).send().await.refused(404, "not_found");
        let messages = self.api.get(format!("/v1/email/messages?connection_id={connection}")).send().await;
        messages.refused(404, "not_found");
        assert_eq!(self.count_connections().await, 0);
        assert_eq!(self.events_of(connection).await, [] as [Value; 0]);
    }
}

async fn drain(app: &App, kind: JobKind) -> u64 {
    runner::drain(app, &[kind]).await.expect("the jobs are run")
}

#[track_caller]
fn refused(answer: &Exchange) {
    assert_eq!((answer.status, &answer.answer["error"]), (400, &json!("invalid_grant")), "{answer}");
}

/// Until the exchange there is no connection, no event and no tag; with it there is all of that at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_waits_for_its_code() {
    let flow = Flow::start().await;
    let waiting = flow.waiting(json!({ "tags": { "user": "7" } }), "alice").await;
    flow.assert_absent(&waiting.connection).await;
    let token = flow.redeem(&waiting.code).await.expect(200);
    assert_eq!(token["scope"], "email.read calendar.read");
    let connection = flow.connection(&waiting.connection).await;
    for (field, value) in [
        ("status", json!("active")),
        ("email", json!("alice@sandbox.test")),
        ("grantedScopes", json!(["email.read", "calendar.read"])),
        ("tags", json!({ "user": "7" })),
    ] {
        assert_eq!(connection[field], value, "{field} of {connection:#}");
    }
    assert_eq!(flow.events_of(&waiting.connection).await, [json!("connection.created")]);
    let mut holder: Actor = flow.server.anonymous();
    holder.key = token["access_token"].as_str().map(str::to_owned);
    let path = format!("/v1/email/messages?connection_id={}", waiting.connection);
    holder.get(path).send().await.expect(200);
    // The expiry of the code does not affect its exchanged tokens.
    flow.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(drain(&flow.server.app, EXPIRE_CODE).await, 1);
    assert_eq!(drain(&flow.server.app, REVOKE).await, 0);
    assert_eq!(flow.connection(&waiting.connection).await["status"], "active");
    assert_eq!(flow.allowed_clients("alice").await, 1);
}

/// A backend that forwards the return gets the same response.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_is_told_that_the_account_waits() {
    let flow = Flow::start().await;
    let challenge = json!({ "codeChallenge": CHALLENGE, "codeChallengeMethod": "S256" });
    let callback = flow.returned(challenge, "alice", Consent::Allow).await;
    let answer = flow.api.get(flow.path(&callback)).send().await.expect(200);
    assert_eq!(answer["status"], "pending", "{answer:#}");
    let connection = answer["connectionId"].as_str().expect("an id");
    flow.assert_absent(connection).await;
    flow.redeem(answer["code"].as_str().expect("a code")).await.expect(200);
    assert_eq!(flow.connection(connection).await["status"], "active");
}

/// An account whose code is not exchanged within a minute is dropped, and its tokens are revoked, by any host, and after a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_that_nobody_exchanges_leaves_nothing() {
    let mut flow = Flow::start().await;
    let waiting = flow.waiting(json!({ "tags": { "user": "7" } }), "alice").await;
    assert_eq!(flow.allowed_clients("alice").await, 1);
    flow.server.clock.advance_ms(MINUTE_MS - 1);
    assert_eq!(drain(&flow.server.app, EXPIRE_CODE).await, 0, "the code is still good");
    let api = flow.api.clone();
    let server = flow.server.restart().await;
    flow = Flow { api: harness::reconnected(&server, &api), server, browser: flow.browser };
    flow.server.clock.advance_ms(1);
    refused(&flow.redeem(&waiting.code).await);
    let other = flow.server.beside().await;
    let app = other.as_ref().map_or(&flow.server.app, |other| &other.app);
    drain(app, EXPIRE_CODE).await;
    assert_eq!(drain(app, REVOKE).await, 1);
    assert_eq!(flow.allowed_clients("alice").await, 0);
    flow.assert_absent(&waiting.connection).await;
    refused(&flow.redeem(&waiting.code).await);
    assert_eq!(drain(app, EXPIRE_CODE).await, 0);
}

/// The job drops it without any request for the code.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_drops_what_waits() {
    let flow = Flow::start().await;
    let waiting = flow.waiting(json!({}), "alice").await;
    flow.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(drain(&flow.server.app, EXPIRE_CODE).await, 1);
    assert_eq!(drain(&flow.server.app, REVOKE).await, 1);
    assert_eq!(flow.allowed_clients("alice").await, 0);
    flow.assert_absent(&waiting.connection).await;
}

/// A code that is used up by a wrong verifier, or by another key, connects no account: the waiting one is dropped at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_that_is_burnt_drops_its_account() {
    let flow = Flow::start().await;
    let waiting = flow.waiting(json!({}), "alice").await;
    refused(&flow.redeem_with(&waiting.code, CHALLENGE).await);
    assert_eq!(drain(&flow.server.app, REVOKE).await, 1, "at once");
    assert_eq!(flow.allowed_clients("alice").await, 0);
    refused(&flow.redeem(&waiting.code).await);
    flow.assert_absent(&waiting.connection).await;

    let api = flow.server.client_with(&["connections.write", "tasks.read"]).await;
    let other = Flow { api, server: flow.server, browser: flow.browser };
    let waiting = other.waiting(json!({}), "bob").await;
    let answer = other.redeem(&waiting.code).await;
    assert_eq!((answer.status, &answer.answer["error"]), (400, &json!("invalid_scope")), "{answer}");
    assert_eq!(drain(&other.server.app, REVOKE).await, 1);
    assert_eq!(other.allowed_clients("bob").await, 0);
}

/// One of several exchanges at once connects the account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchanges_at_once_connect_one_account() {
    let flow = Flow::start().await;
    let waiting = flow.waiting(json!({}), "alice").await;
    let answers = futures::future::join_all((0..8).map(|_| flow.redeem(&waiting.code))).await;
    let good = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(good, 1, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
    assert_eq!(flow.count_connections().await, 1);
    assert_eq!(flow.events_of(&waiting.connection).await, [json!("connection.created")]);
}

/// Authorized again, a connection keeps its grant until the exchange, and for good when there is none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reauthorization_waits_for_its_code() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({ "scopes": ["calendar.read"] }), "alice").await;
    let before = flow.connection(&id).await;
    let wider = json!({ "scopes": ["calendar.read", "email.read"], "connectionId": id });
    let dropped = flow.waiting(wider.clone(), "alice").await;
    assert_eq!((&dropped.connection, flow.connection(&id).await), (&id, before.clone()));
    flow.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(drain(&flow.server.app, EXPIRE_CODE).await, 1);
    assert_eq!(drain(&flow.server.app, REVOKE).await, 1, "it finds the grant in use");
    assert_eq!(flow.allowed_clients("alice").await, 1, "the connection has the same grant");
    assert_eq!(flow.connection(&id).await["etag"], before["etag"], "nothing has changed");
    flow.api.get(format!("/v1/calendars?connection_id={id}")).send().await.expect(200);

    let waiting = flow.waiting(wider.clone(), "alice").await;
    flow.redeem(&waiting.code).await.expect(200);
    let after = flow.connection(&id).await;
    assert_eq!(after["grantedScopes"], json!(["calendar.read", "email.read"]), "{after:#}");
    let told = [json!("connection.created"), json!("connection.updated")];
    assert_eq!(flow.events_of(&id).await, told);
    flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await.expect(200);

    assert_error(&flow.challenged(wider.clone(), "bob").await, "account_mismatch");
    assert_eq!(flow.connection(&id).await["etag"], after["etag"], "another account changes nothing");
    // Disconnected while the code is on its way, nothing is connected again.
    let late = flow.waiting(wider, "alice").await;
    flow.api.delete(format!("/v1/connections/{id}")).send().await.expect(204);
    drain(&flow.server.app, REVOKE).await;
    assert_eq!(flow.allowed_clients("alice").await, 1, "an account waits with the same grant");
    refused(&flow.redeem(&late.code).await);
    assert_eq!(drain(&flow.server.app, REVOKE).await, 1);
    assert_eq!(flow.allowed_clients("alice").await, 0);
    assert_eq!(flow.count_connections().await, 0);
}

/// A sign-in of an account that is connected already renews its connection when its code is exchanged, and changes nothing before. Of two
/// that wait at once the first one connects; the code of the other says why it does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_sign_in_waits_for_its_code() {
    let flow = Flow::start().await;
    let (first, late) = (flow.waiting(json!({}), "alice").await, flow.waiting(json!({}), "alice").await);
    flow.redeem(&first.code).await.expect(200);
    let id = first.connection;
    let answer = flow.redeem(&late.code).await;
    refused(&answer);
    let text = answer.answer["error_description"].as_str().unwrap_or_default();
    assert!(text.contains("another sign-in has connected this account"), "{answer}");
    flow.server.clock.advance_ms(MINUTE_MS);
    drain(&flow.server.app, EXPIRE_CODE).await;
    drain(&flow.server.app, REVOKE).await;
    assert_eq!(flow.allowed_clients("alice").await, 1, "the connection has the same grant");

    let before = flow.connection(&id).await;
    let wider = json!({ "scopes": ["email.read", "calendar.read", "tasks.read"] });
    let waiting = flow.waiting(wider.clone(), "alice").await;
    assert_eq!((&waiting.connection, flow.connection(&id).await), (&id, before));
    flow.redeem(&waiting.code).await.expect(200);
    assert_eq!(flow.connection(&id).await["grantedScopes"], wider["scopes"]);
    assert_eq!(flow.count_connections().await, 1);
}

/// The grant of a waiting account is not revoked when a connection is deleted in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_account_keeps_its_grant() {
    let flow = Flow::start().await;
    let first = flow.connect(json!({}), "alice").await;
    let waiting = flow.waiting(json!({ "allow_duplicate": true }), "alice").await;
    flow.api.delete(format!("/v1/connections/{first}")).send().await.expect(204);
    assert_eq!(drain(&flow.server.app, REVOKE).await, 1);
    flow.redeem(&waiting.code).await.expect(200);
    let path = format!("/v1/email/messages?connection_id={}", waiting.connection);
    flow.api.get(path).send().await.expect(200);
}
