//! A provider that proves each request by a token (JSON Web Token), as Pub/Sub of Google does for Gmail. The connector is the sandbox's,
//! whose manifest says so; what Google would post, the tests post.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::{Exchange, TestServer};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;

use crate::email::mailbox::until;
use crate::push::keys::{KeyServer, MAX_AGE_S, Signer, coded};
use crate::push::{HOUR_MS, LIFE_MS, MINUTE_MS, NOTIFICATIONS, World, connectors};

pub const ISSUER: &str = "https://accounts.google.com";
const EMAIL: &str = "push@project.iam.gserviceaccount.com";
/// The account whose calendar is followed.
pub const ACCOUNT: &str = "zoe@sandbox.test";
const MAX_AGE_MS: i64 = MAX_AGE_S * 1_000;

/// A push subscription.
struct PubSub {
    world: World,
    signer: Signer,
    keys: KeyServer,
    _connectors: TempDir,
}

impl PubSub {
    async fn start() -> PubSub {
        PubSub::allowed(&["127.0.0.0/8"]).await
    }

    /// The operator lets connectors into these networks.
    async fn allowed(networks: &[&str]) -> PubSub {
        let signer = Signer::es256("1");
        let keys = KeyServer::start(&[&signer]).await;
        let connectors = connectors(&push_table(&keys.url()));
        let dir = connectors.path().to_owned();
        let networks = networks.iter().map(|network| network.parse().expect("a network")).collect();
        let builder = TestServer::builder().config(|config| {
            config.push_over_http = true;
            config.egress_allow = networks;
            config.connectors_dir = Some(dir);
        });
        let world = World::unwatched(builder.without_pulls().start().await, &["Shared"]).await;
        assert_eq!(world.server.renew().await, 1, "it is watched");
        assert_eq!(world.server.pull().await, 1, "what changed meanwhile is read");
        assert_eq!(world.watch(0).await.account.as_deref(), Some(ACCOUNT));
        PubSub { world, signer, keys, _connectors: connectors }
    }

    /// Returns the claims of Google's tokens for this service.
    fn claims(&self) -> Value {
        let (now_s, service) = (self.now_s(), self.world.server.app.config.public_address());
        json!({ "iss": ISSUER, "aud": format!("{service}{NOTIFICATIONS}"),
            "azp": "113774264463038321964", "sub": "113774264463038321964",
            "email": EMAIL, "email_verified": true, "iat": now_s, "exp": now_s + 3_600 })
    }

    /// Returns the claims with another value of one; null removes it.
    fn but(&self, name: &str, value: Value) -> Value {
        let mut claims = self.claims();
        match value {
            Value::Null => drop(claims.as_object_mut().expect("an object").remove(name)),
            value => claims[name] = value,
        }
        claims
    }

    fn token(&self) -> String {
        self.signer.token(&self.claims())
    }

    fn now_s(&self) -> i64 {
        self.world.server.app.now() / 1_000
    }

    /// Posts the push message for a change of an account.
    async fn push(&self, account: &str, token: &str) -> Exchange {
        let request = self.world.server.anonymous().post(NOTIFICATIONS, about(account));
        request.header("authorization", &format!("Bearer {token}")).send().await
    }

    /// When the calendar is pulled next, in ms from now on.
    async fn pulled_in(&self) -> i64 {
        self.world.pull_job(0).await.due_at.expect("it is due some time") - self.world.server.app.now()
    }
}

/// The table of a connector whose notifications are read as those of Gmail.
fn push_table(jwks_url: &str) -> String {
    format!(
        "[push]\nauth = \"jwt\"\naccount = \"/emailAddress\"\nbase64 = \"/message/data\"\n\n\
         [push.jwt]\nissuers = [\"{ISSUER}\", \"accounts.google.com\"]\n\
         jwks_url = \"{jwks_url}\"\nemail = \"{EMAIL}\"\n"
    )
}

/// The body of a push request about a mailbox of Gmail.
pub fn about(account: &str) -> Value {
    let data = json!({ "emailAddress": account, "historyId": 9_876_543_210_u64 }).to_string();
    json!({ "message": { "data": BASE64_STANDARD.encode(data), "messageId": "2070443601311540",
        "publishTime": "2026-03-01T09:00:00.25Z" }, "subscription": "projects/project/subscriptions/gmail" })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_a_token_of_the_provider_only_pulls() {
    let pubsub = PubSub::start().await;
    let world = &pubsub.world;
    world.make(0, "lunch").await;
    assert_eq!(pubsub.pulled_in().await, HOUR_MS, "what comes without a token is nothing");
    pubsub.push("Zoe@Sandbox.test", &pubsub.token()).await.expect(202);
    assert_eq!((pubsub.pulled_in().await, world.counted("authentic")), (0, 1));
    assert_eq!(world.here(0).await, 0, "what the notification says is not believed");
    assert_eq!((world.server.pull().await, world.here(0).await), (1, 1));
    assert_eq!(world.watch(0).await.last_notified_at, Some(world.server.app.now()));
    // A push about an unknown account is accepted: a refusal would make Pub/Sub repeat it for days.
    pubsub.push("nobody@sandbox.test", &pubsub.token()).await.expect(202);
    let empty = world.server.anonymous().post(NOTIFICATIONS, json!({ "message": { "attributes": {} } }));
    empty.header("authorization", &format!("Bearer {}", pubsub.token())).send().await.expect(202);
    assert_eq!((world.counted("unknown_watch"), pubsub.pulled_in().await), (1, HOUR_MS));
    assert_eq!(pubsub.keys.asked(), 1, "the keys are kept");
}

/// The address of an account can change, and its provider's notifications name the new one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewed_watch_is_known_by_the_address_that_its_account_has_now() {
    const MOVED: &str = "zoe.moved@sandbox.test";
    let pubsub = PubSub::start().await;
    let world = &pubsub.world;
    let renamed: anyhow::Result<()> = world
        .server
        .app
        .db
        .write(|tx| {
            Box::pin(async move { tx.batch("update connections set email = 'zoe.moved@sandbox.test'").await })
        })
        .await;
    renamed.expect("it is written");
    world.server.clock.advance_ms(LIFE_MS * 6 / 10);
    assert_eq!(world.server.renew().await, 1);
    assert_eq!(world.watch(0).await.account.as_deref(), Some(MOVED));
    pubsub.push(MOVED, &pubsub.token()).await.expect(202);
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    assert_eq!((world.counted("authentic"), world.counted("unknown_watch")), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_rsa_signs_too() {
    let pubsub = PubSub::start().await;
    let rsa = Signer::rs256("2");
    pubsub.keys.has(&[&pubsub.signer, &rsa]);
    pubsub.push(ACCOUNT, &rsa.token(&pubsub.claims())).await.expect(202);
    assert_eq!(pubsub.pulled_in().await, 0);
    // It signs as the key says, and in no other way.
    let header = json!({ "alg": "PS256", "kid": "2" });
    let other = rsa.token_with(&header, &pubsub.claims());
    pubsub.push(ACCOUNT, &other).await.refused(401, "invalid_api_key");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_has_to_be_for_this_service_and_this_moment() {
    let pubsub = PubSub::start().await;
    let now_s = pubsub.now_s();
    let wrong = [
        ("iss", json!("https://accounts.example.com")),
        ("iss", Value::Null),
        ("aud", json!("https://other.example.com/v1/providers/sandbox/notifications")),
        ("aud", json!([])),
        ("aud", Value::Null),
        ("exp", json!(now_s - 60)),
        ("exp", Value::Null),
        ("nbf", json!(now_s + 61)),
        ("iat", json!(now_s + 61)),
        ("email", json!("somebody@other.iam.gserviceaccount.com")),
        ("email", Value::Null),
        ("email_verified", json!(false)),
        ("email_verified", Value::Null),
    ];
    let count = wrong.len() as u64;
    for (name, value) in wrong {
        let token = pubsub.signer.token(&pubsub.but(name, value));
        pubsub.push(ACCOUNT, &token).await.refused(401, "invalid_api_key");
    }
    assert_eq!((pubsub.world.counted("wrong_secret"), pubsub.world.counted("authentic")), (count, 0));
    assert_eq!(pubsub.pulled_in().await, HOUR_MS);
    let address = pubsub.claims()["aud"].clone();
    for (name, value) in [
        ("iss", json!("accounts.google.com")),
        ("aud", json!(["https://other.example.com", address])),
        ("exp", json!(now_s - 59)),
        ("nbf", json!(now_s + 60)),
        ("iat", Value::Null),
    ] {
        pubsub.push(ACCOUNT, &pubsub.signer.token(&pubsub.but(name, value))).await.expect(202);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_has_to_be_signed_by_a_key_of_the_provider() {
    let pubsub = PubSub::start().await;
    let (claims, stranger, rsa) = (pubsub.claims(), Signer::es256("1"), Signer::rs256("1"));
    let header = |changes: Value| {
        let mut header = json!({ "alg": "ES256", "kid": "1", "typ": "JWT" });
        for (name, value) in changes.as_object().expect("an object") {
            header[name] = value.clone();
        }
        header
    };
    let right = pubsub.token();
    let parts: Vec<&str> = right.split('.').collect();
    let others = coded(pubsub.but("sub", json!("1")).to_string());
    let unsigned = format!("{}.{}", coded(json!({ "alg": "none" }).to_string()), coded(claims.to_string()));
    // With the public key as the secret.
    let symmetric = header(json!({ "alg": "HS256" })).to_string();
    let symmetric = format!("{}.{}", coded(symmetric), coded(claims.to_string()));
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(pubsub.signer.public_bytes()).expect("a key");
    let mac = mac.chain_update(&symmetric).finalize().into_bytes();
    let own_key = header(json!({ "jwk": stranger.public() }));
    let wrong = [
        stranger.token(&claims),
        stranger.token_with(&own_key, &claims),
        rsa.token(&claims),
        pubsub.signer.token_with(&header(json!({ "kid": "2" })), &claims),
        pubsub.signer.token_with(&json!({ "alg": "ES256", "typ": "JWT" }), &claims),
        pubsub.signer.token_with(&header(json!({ "alg": "RS256" })), &claims),
        pubsub.signer.token_with(&header(json!({ "crit": ["x"], "x": 1 })), &claims),
        pubsub.signer.token_with(&header(json!({ "typ": "at+jwt" })), &claims),
        format!("{}.{others}.{}", parts[0], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{unsigned}."),
        format!("{symmetric}.{}", coded(mac)),
        "x".to_owned(),
        "a.b.c.d".to_owned(),
    ];
    for token in &wrong {
        pubsub.push(ACCOUNT, token).await.refused(401, "invalid_api_key");
    }
    assert_eq!(pubsub.world.counted("wrong_secret"), wrong.len() as u64);
    // Without one, or with two.
    let post = || pubsub.world.server.anonymous().post(NOTIFICATIONS, about(ACCOUNT));
    post().send().await.refused(401, "missing_api_key");
    post().header("authorization", &right).send().await.refused(401, "missing_api_key");
    let bearer = format!("Bearer {right}");
    let twice = post().header("authorization", &bearer).header("authorization", &bearer);
    twice.send().await.refused(401, "missing_api_key");
    assert_eq!(pubsub.pulled_in().await, HOUR_MS);
    pubsub.push(ACCOUNT, &right).await.expect(202);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_tokens_that_are_wrong_takes_nothing_of_the_right_ones() {
    let pubsub = PubSub::start().await;
    let wrong = Signer::es256("1").token(&pubsub.claims());
    for _ in 0..250 {
        pubsub.push(ACCOUNT, &wrong).await.refused(401, "invalid_api_key");
    }
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    assert_eq!((pubsub.pulled_in().await, pubsub.keys.asked()), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_kept_as_long_as_their_server_says() {
    let pubsub = PubSub::start().await;
    let (keys, clock) = (&pubsub.keys, &pubsub.world.server.clock);
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    clock.advance_ms(MAX_AGE_MS - 1);
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    assert_eq!(keys.asked(), 1);
    clock.advance_ms(1);
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    assert_eq!(keys.asked(), 2);
    // A new key is found at most a minute after the last download.
    let new = Signer::es256("new");
    keys.has(&[&new]);
    pubsub.push(ACCOUNT, &new.token(&pubsub.claims())).await.refused(401, "invalid_api_key");
    assert_eq!(keys.asked(), 2);
    clock.advance_ms(MINUTE_MS);
    pubsub.push(ACCOUNT, &new.token(&pubsub.claims())).await.expect(202);
    assert_eq!(keys.asked(), 3);
    pubsub.push(ACCOUNT, &pubsub.token()).await.refused(401, "invalid_api_key");
    assert_eq!(keys.asked(), 3, "the old one was withdrawn, and that is known");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_outlive_their_server_for_a_day() {
    let pubsub = PubSub::start().await;
    let (keys, clock) = (&pubsub.keys, &pubsub.world.server.clock);
    keys.fails();
    let again = pubsub.push(ACCOUNT, &pubsub.token()).await;
    assert_eq!(again.header("retry-after"), Some("10"));
    again.refused(503, "overloaded");
    assert_eq!((keys.asked(), pubsub.world.counted("no_keys")), (1, 1));
    // Ten seconds later the keys are downloaded again.
    keys.has(&[&pubsub.signer]);
    pubsub.push(ACCOUNT, &pubsub.token()).await.refused(503, "overloaded");
    clock.advance_ms(10_000);
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    assert_eq!(keys.asked(), 2);
    keys.fails();
    clock.advance_ms(MAX_AGE_MS);
    for _ in 0..2 {
        pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    }
    assert_eq!(keys.asked(), 3, "in vain, and not once for each request");
    clock.advance_ms(24 * HOUR_MS - 1);
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    clock.advance_ms(MINUTE_MS);
    pubsub.push(ACCOUNT, &pubsub.token()).await.refused(503, "overloaded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_server_of_keys_holds_up_nobody() {
    let pubsub = PubSub::start().await;
    let (keys, clock) = (&pubsub.keys, &pubsub.world.server.clock);
    pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
    clock.advance_ms(MINUTE_MS);
    let _held = keys.hold().await;
    let began = Instant::now();
    let unknown = pubsub.signer.token_with(&json!({ "alg": "ES256", "kid": "new" }), &pubsub.claims());
    let waiting = async { (pubsub.push(ACCOUNT, &unknown).await, began.elapsed()) };
    let meanwhile = async {
        until("the keys are asked for", async || (keys.asked() == 2).then_some(())).await;
        pubsub.push(ACCOUNT, &pubsub.token()).await.expect(202);
        pubsub.push(ACCOUNT, &unknown).await.refused(503, "overloaded");
        keys.asked()
    };
    let ((answer, took), asked) = tokio::join!(waiting, meanwhile);
    answer.refused(503, "overloaded");
    assert!(took < Duration::from_secs(3), "a provider waits no longer: {took:?}");
    assert_eq!(asked, 2, "one look is for all");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_read_only_where_the_operator_allows_it() {
    let pubsub = PubSub::allowed(&[]).await;
    pubsub.push(ACCOUNT, &pubsub.token()).await.refused(503, "overloaded");
    assert_eq!((pubsub.keys.asked(), pubsub.world.counted("no_keys")), (0, 1));
}
