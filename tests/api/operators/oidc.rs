//! Sign-in by an OpenID provider, below the pages: what counts as a proof, and whose.

use std::time::{Duration, Instant};

use base::error::Result;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use harness::TestServer;
use harness::browser::parameter;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use service::app::App;
use service::app::config::OidcSettings;
use service::manage::actor::Role;
use service::manage::operators::oidc::OidcFault;
use service::manage::operators::oidc::authorization::{
    self, OidcDeparture, OidcProof, OidcPurpose, OidcReturn, PendingAuthorization,
};
use service::manage::operators::oidc::identities;
use service::manage::operators::sessions::{NewSession, Session};
use service::manage::operators::{directory, links, rights};
use sha2::Sha256;

use crate::dav::peer;
use crate::email::connecting::authorize;
use crate::operators::oidc_provider::{OpenIdProvider, TokenAnswer};
use crate::operators::{ADA, GRACE, ada, invitation, origin, second, visit};
use crate::push::keys::{Signer, coded};

const MINUTE_MS: i64 = 60_000;
/// The provider's name for a person whose address there is `GRACE`.
const SUBJECT: &str = "grace";

/// A browser leaves for the provider.
async fn leave(app: &App) -> OidcDeparture {
    leave_for(app, OidcPurpose::SignIn).await
}

async fn leave_for(app: &App, purpose: OidcPurpose) -> OidcDeparture {
    let begun = authorization::begin(app, purpose, "", None).await;
    begun.expect("the provider says where it is")
}

/// The return of a browser by this path.
async fn come_back(app: &App, cookie: &str, path: &str) -> Result<OidcProof, OidcFault> {
    come_back_to(app, None, cookie, path).await
}

/// The same to a session.
async fn come_back_to(
    app: &App,
    session: Option<&Session>,
    cookie: &str,
    path: &str,
) -> Result<OidcProof, OidcFault> {
    let url = format!("http://panel.test{path}");
    let sent = |name: &str| parameter(&url, name).unwrap_or_default();
    let (state, code, issuer) = (sent("state"), sent("code"), sent("iss"));
    let returned = OidcReturn { state: &state, code: &code, issuer: &issuer, ..OidcReturn::default() };
    let pending = PendingAuthorization::read(app, cookie, session).ok_or(OidcFault::State)?;
    authorization::prove(app, &pending, returned).await.expect("the store answers")
}

/// The proof of a person whom the provider says this of.
async fn proof(provider: &OpenIdProvider, app: &App, subject: &str, changes: &Value) -> OidcProof {
    let left = leave(app).await;
    let token = provider.signer.token(&but(provider.claims(app, &left.url, subject), changes));
    come_back(app, &left.cookie, &provider.grant(&left.url, token)).await.expect("it is good")
}

/// Claims with some of them replaced, or removed by null.
fn but(mut claims: Value, changes: &Value) -> Value {
    let all = claims.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("an object") {
        all.insert(name.clone(), value.clone());
    }
    all.retain(|_, value| !value.is_null());
    claims
}

async fn sign_in(app: &App, proof: &OidcProof) -> Result<NewSession, OidcFault> {
    identities::sign_in(app, proof, &origin()).await.expect("the store answers")
}

async fn join(app: &App, token: &str, proof: &OidcProof) -> Result<NewSession, OidcFault> {
    identities::join(app, token, proof, "en", &origin()).await.expect("the store answers")
}

/// An invitation works for a person whose verified address is the invited one, and for no other.
#[tokio::test]
async fn invitations_are_personal() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let invited = invitation(GRACE, &organization_id, Role::Developer);
    let link = links::invite(app, &admin, &invited).await.expect("it is stored");

    let eve = proof(&provider, app, "eve", &json!({})).await;
    assert_eq!(join(app, &link.token, &eve).await.err(), Some(OidcFault::OtherAddress));
    for unverified in [json!(false), json!("true"), Value::Null] {
        let grace =
            proof(&provider, app, "eve", &json!({ "email": GRACE, "email_verified": unverified })).await;
        assert_eq!(join(app, &link.token, &grace).await.err(), Some(OidcFault::OtherAddress), "{unverified}");
    }
    // A provider may tell the address apart from the ID token, and then of the same person.
    let without = json!({ "email": null, "email_verified": null });
    for (profile, expected) in [
        (json!({ "sub": "eve", "email": GRACE, "email_verified": true }), Err(OidcFault::Token)),
        (json!({ "sub": SUBJECT, "email": GRACE, "email_verified": true }), Ok(Some(GRACE))),
        (json!({ "sub": SUBJECT, "email": GRACE }), Ok(None)),
        (json!("nonsense"), Err(OidcFault::Unavailable)),
    ] {
        provider.tells(profile);
        let left = leave_for(app, OidcPurpose::Join).await;
        let token = provider.signer.token(&but(provider.claims(app, &left.url, SUBJECT), &without));
        let told = come_back(app, &left.cookie, &provider.grant(&left.url, token)).await;
        let told = told.map(|proof| proof.claims.verified_email().map(str::to_owned));
        assert_eq!(told, expected.map(|email| email.map(str::to_owned)));
    }

    let grace = proof(&provider, app, SUBJECT, &json!({ "email": "GRACE@Example.com" })).await;
    assert_eq!(join(app, &"x".repeat(43), &grace).await.err(), Some(OidcFault::Gone));
    let new = join(app, &link.token, &grace).await.expect("it is hers");
    let (actor, session) = visit(other, &new.cookie).await.expect("she is signed in, on each host");
    assert_eq!((session.email.as_str(), session.name.as_str()), (GRACE, "Ada Lovelace"));
    assert_eq!(session.method, "oidc");
    assert_eq!(actor.roles.get(&organization_id), Some(&Role::Developer));
    assert!(actor.is_fresh(app.now()) && !actor.is_admin);
    assert_eq!(join(app, &link.token, &grace).await.err(), Some(OidcFault::Gone), "it is used up");

    // Another address of the same person at the provider makes no second operator.
    let again = links::invite(app, &admin, &invitation("g@example.com", &organization_id, Role::Owner)).await;
    let again = again.expect("it is stored").token;
    let renamed = proof(&provider, app, SUBJECT, &json!({ "email": "g@example.com" })).await;
    assert_eq!(join(app, &again, &renamed).await.err(), Some(OidcFault::Taken));
    assert!(links::find(app, &again).await.expect("the store answers").is_some(), "it is still good");
    // A link for a new password is no invitation.
    let reset = links::reset(app, &admin, &actor.id, false).await.expect("it is stored");
    assert_eq!(join(app, &reset.token, &grace).await.err(), Some(OidcFault::Gone));
}

/// A return counts once, on one of the hosts, in the browser that left, for ten minutes.
#[tokio::test]
async fn state_is_of_this_browser() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    let (left, others) = (leave(app).await, leave(app).await);
    let back = provider.vouch(app, &left.url, SUBJECT);
    let state = parameter(&left.url, "state").expect("a state");
    for wrong in [
        back.replace(&state, ""),
        back.replace(&state, &state.to_uppercase()),
        back.replace(&state, &parameter(&others.url, "state").expect("a state")),
    ] {
        assert_eq!(come_back(app, &left.cookie, &wrong).await.err(), Some(OidcFault::State), "{wrong}");
    }
    for cookie in [others.cookie.as_str(), "", "nonsense", &format!("x{}", left.cookie)] {
        assert_eq!(come_back(app, cookie, &back).await.err(), Some(OidcFault::State), "{cookie}");
    }
    // None of them used anything up.
    assert_eq!(
        come_back(other, &left.cookie, &back).await.map(|proof| proof.identity.subject),
        Ok(SUBJECT.into())
    );
    for host in [app, other] {
        assert_eq!(come_back(host, &left.cookie, &back).await.err(), Some(OidcFault::State), "it is used up");
    }
    let late = leave(app).await;
    let back = provider.vouch(app, &late.url, SUBJECT);
    server.clock.advance_ms(10 * MINUTE_MS);
    assert_eq!(come_back(app, &late.cookie, &back).await.err(), Some(OidcFault::State));
}

#[tokio::test]
async fn id_tokens_are_checked() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    let app = &server.app;
    let now_s = app.now() / 1_000;
    for changes in [
        json!({ "iss": format!("{}/", provider.issuer) }),
        json!({ "aud": "other" }),
        json!({ "aud": ["panel", "other"] }),
        json!({ "azp": "other" }),
        json!({ "nonce": "other" }),
        json!({ "nonce": null }),
        json!({ "exp": now_s - 60 }),
        json!({ "iat": now_s + 61 }),
        json!({ "iat": now_s - 61 }),
        json!({ "sub": "" }),
        json!({ "sub": null }),
    ] {
        let left = leave(app).await;
        let token = provider.signer.token(&but(provider.claims(app, &left.url, SUBJECT), &changes));
        let proof = come_back(app, &left.cookie, &provider.grant(&left.url, token)).await;
        assert_eq!(proof.err(), Some(OidcFault::Token), "{changes}");
    }
    let (stranger, second_key) = (Signer::es256("1"), Signer::es256("2"));
    for kind in ["none", "symmetric", "stranger", "unknown key", "no key", "changed", "nonsense"] {
        let left = leave(app).await;
        let claims = provider.claims(app, &left.url, SUBJECT);
        let good = provider.signer.token(&claims);
        let token = match kind {
            "none" => format!("{}.{}.", coded(r#"{"alg":"none","kid":"1"}"#), coded(claims.to_string())),
            "symmetric" => by_public_key(&provider.signer, &claims),
            "stranger" => stranger.token(&claims),
            "unknown key" => second_key.token(&claims),
            "no key" => provider.signer.token_with(&json!({ "alg": "ES256" }), &claims),
            "changed" => exchanged_claims(&good, &but(claims, &json!({ "sub": "eve" }))),
            _ => "nonsense".to_owned(),
        };
        let proof = come_back(app, &left.cookie, &provider.grant(&left.url, token)).await;
        assert_eq!(proof.err(), Some(OidcFault::Token), "{kind}");
    }
    // A new key is looked for, but not for each token that names an unknown one.
    provider.has_keys(&[&provider.signer, &second_key]);
    for (after_ms, expected) in [(0, Some(OidcFault::Token)), (MINUTE_MS, None)] {
        server.clock.advance_ms(after_ms);
        let left = leave(app).await;
        let token = second_key.token(&provider.claims(app, &left.url, SUBJECT));
        let proof = come_back(app, &left.cookie, &provider.grant(&left.url, token)).await;
        assert_eq!(proof.err(), expected, "after {after_ms} ms");
    }
}

/// A token whose MAC has the provider's public key for a secret.
fn by_public_key(signer: &Signer, claims: &Value) -> String {
    let text = format!("{}.{}", coded(r#"{"alg":"HS256","kid":"1"}"#), coded(claims.to_string()));
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(signer.public_bytes()).expect("a key");
    let mac = mac.chain_update(&text).finalize().into_bytes();
    format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(mac))
}

/// A token with other claims than were signed.
fn exchanged_claims(token: &str, claims: &Value) -> String {
    let parts: Vec<&str> = token.split('.').collect();
    format!("{}.{}.{}", parts[0], coded(claims.to_string()), parts[2])
}

/// A person with an operator's address at the provider is not that operator; the person with their `sub` is, whatever the address.
#[tokio::test]
async fn an_address_is_no_identity() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    let app = &server.app;
    let (admin, session, _) = ada(app).await;
    let same_address = proof(&provider, app, "eve", &json!({ "email": ADA })).await;
    assert_eq!(sign_in(app, &same_address).await.err(), Some(OidcFault::Unknown));
    // An unknown identity has to wait, too, from the sixth try on.
    for _ in 1..6 {
        assert_eq!(sign_in(app, &same_address).await.err(), Some(OidcFault::Unknown));
    }
    assert_eq!(sign_in(app, &same_address).await.err(), Some(OidcFault::Wait(2)));

    let own =
        proof(&provider, app, "ada", &json!({ "email": "other@example.com", "email_verified": false })).await;
    let connected = identities::connect(app, &admin, &session, &own).await.expect("the store answers");
    assert_eq!(connected, Ok(()));
    let new = sign_in(app, &own).await.expect("it is her identity");
    let (actor, session) = visit(app, &new.cookie).await.expect("the session is there");
    assert_eq!((actor.id.as_str(), session.email.as_str()), (admin.id.as_str(), ADA));
    let taken = identities::connect(app, &actor, &session, &same_address).await.expect("the store answers");
    assert_eq!(taken, Err(OidcFault::Taken), "she has another one");
    // The same name at another provider is another person.
    let mut elsewhere = own.clone();
    elsewhere.identity.issuer = "https://id.example.com".to_owned();
    assert_eq!(sign_in(app, &elsewhere).await.err(), Some(OidcFault::Unknown));

    // An identity that was proved long ago opens the panel, and nothing dangerous.
    let old = proof(&provider, app, "ada", &json!({ "auth_time": app.now() / 1_000 - 3_600 })).await;
    let silent = proof(&provider, app, "ada", &json!({ "auth_time": null })).await;
    for proof in [&old, &silent] {
        let new = sign_in(app, proof).await.expect("it is her identity");
        let (actor, _) = visit(app, &new.cookie).await.expect("the session is there");
        assert!(!actor.is_fresh(app.now()));
    }

    let organization_id = server.test_application().await.organization_id;
    let link = links::invite(app, &admin, &invitation(GRACE, &organization_id, Role::Viewer)).await;
    let grace = proof(&provider, app, SUBJECT, &json!({})).await;
    join(app, &link.expect("it is stored").token, &grace).await.expect("it is hers");
    let id = directory::find_by_email(app, GRACE).await.expect("the store answers").expect("she is there").id;
    rights::disable(app, &admin, &id).await.expect("it is stored");
    assert_eq!(sign_in(app, &grace).await.err(), Some(OidcFault::Unknown), "she is disabled");
}

/// A provider that is slow, floods or leads elsewhere ends the sign-in, in time, and nothing else.
#[tokio::test]
async fn a_provider_holds_nothing_up() {
    let provider = OpenIdProvider::start().await;
    let short = Duration::from_millis(1_500);
    let settings = |config: &mut service::app::config::Config| {
        config.admin_oidc.as_mut().expect("there is a provider").deadline = short;
    };
    let server = provider.server().config(settings).start().await;
    let app = &server.app;
    let attempt = async || {
        let left = leave(app).await;
        come_back(app, &left.cookie, &provider.vouch(app, &left.url, SUBJECT)).await.err()
    };
    assert_eq!(attempt().await, None);
    for answer in [TokenAnswer::Large, TokenAnswer::Elsewhere] {
        provider.answers(answer);
        assert_eq!(attempt().await, Some(OidcFault::Unavailable), "{answer:?}");
    }
    assert_eq!(provider.strayed(), 0);
    provider.answers(TokenAnswer::Honest);
    let held = provider.hold().await;
    let begun = Instant::now();
    let (slow, health) = tokio::join!(attempt(), server.anonymous().get("/healthz").send());
    assert_eq!((slow, health.status), (Some(OidcFault::Unavailable), 200));
    assert!(begun.elapsed() >= short, "it was given its time");
    drop(held);
    assert_eq!(attempt().await, None);

    // What it says of itself is looked at before a browser is sent there.
    for (name, value) in [
        ("issuer", json!("http://127.0.0.1:1")),
        ("token_endpoint", json!("http://id.example.com/token")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
    ] {
        let provider = OpenIdProvider::start().await;
        provider.says(name, value);
        let server: TestServer = provider.server().start().await;
        let begun = authorization::begin(&server.app, OidcPurpose::SignIn, "", None).await;
        assert_eq!(begun.err(), Some(OidcFault::Unavailable), "{name}");
    }
}

/// A provider that is not ours: it tells addresses apart from the ID token, and names itself in the return.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_provider_vouches_for_people() {
    let Some(issuer) = peer("OIDCP_ISSUER") else { return };
    let oidc = OidcSettings {
        issuer: issuer.clone(),
        client_id: "panel".to_owned(),
        client_secret: Some("panel-secret".into()),
        name: "oidc-provider".to_owned(),
        deadline: Duration::from_secs(5),
    };
    let builder = TestServer::builder().real_time().config(|config| config.admin_oidc = Some(oidc));
    let server = builder.start().await;
    let (app, email) = (&server.app, "t11@example.test");
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let link = links::invite(app, &admin, &invitation(email, &organization_id, Role::Developer)).await;
    let link = link.expect("it is stored");
    let path = |at: String| at.split_once("/admin").map(|(_, rest)| format!("/admin{rest}")).expect("a path");

    let left = leave_for(app, OidcPurpose::Join).await;
    let back = path(authorize(&issuer, left.url, email).await);
    let proof = come_back(app, &left.cookie, &back).await.expect("it is good");
    let new = join(app, &link.token, &proof).await.expect("it is theirs");
    let (_, session) = visit(app, &new.cookie).await.expect("they are signed in");
    let left = authorization::begin(app, OidcPurpose::Confirm, "", Some(&session)).await;
    let left = left.expect("the provider says where it is");
    let back = path(authorize(&issuer, left.url, email).await);
    let proof = come_back_to(app, Some(&session), &left.cookie, &back).await.expect("it is good");
    let confirmed = identities::confirm(app, &session, &proof).await.expect("the store answers");
    assert_eq!(confirmed, Ok(()));
    let (actor, _) = visit(app, &new.cookie).await.expect("the session is there");
    assert!(actor.is_fresh(app.now()));
}
