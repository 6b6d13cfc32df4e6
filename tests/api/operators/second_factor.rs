//! The second factor: codes work once, on whichever host, and a password alone opens nothing.

use base::error::Code;
use futures::future::join;
use harness::TestServer;
use service::app::App;
use service::manage::actor::Actor;
use service::manage::operators::sessions::Session;
use service::manage::operators::sign_in::{self as signing_in, SignIn};
use service::manage::operators::{account, links, totp};

use crate::operators::{
    ADA, OTHER_PASSWORD, PASSWORD, accept, ada, half, origin, refused, second, sign_in, signed, visit,
};

const STEP_MS: i64 = 30_000;

/// An authenticator app, and recovery codes on paper.
struct Factor {
    secret: Vec<u8>,
    recovery: Vec<String>,
}

impl Factor {
    fn code(&self, app: &App) -> String {
        totp::code_at(&self.secret, app.now()).expect("a code")
    }
}

/// Sets a second factor up, as its page does.
async fn set_up(app: &App, actor: &Actor, session: &Session) -> Factor {
    let setup = account::begin_factor(app, session).await.expect("a setup");
    let secret =
        totp::secret_of(&app.keyring, &session.operator_id, &setup.token).expect("it is ours").to_vec();
    let wrong = account::confirm_factor(app, actor, session, &setup.token, "000000").await;
    assert!(wrong.expect("it is looked at").is_none(), "the first code proves it");
    let code = totp::code_at(&secret, app.now()).expect("a code");
    let codes = account::confirm_factor(app, actor, session, &setup.token, &code).await;
    let codes = codes.expect("it is stored").expect("the code is right");
    Factor { secret, recovery: codes.iter().map(|code| code.as_str().to_owned()).collect() }
}

async fn enter(app: &App, token: &str, code: &str) -> SignIn {
    signing_in::enter_code(app, token, code, &origin()).await.expect("it is looked at")
}

#[tokio::test]
async fn a_password_is_not_enough() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (actor, session, _) = ada(app).await;
    let factor = set_up(app, &actor, &session).await;
    let token = half(sign_in(app, ADA, PASSWORD, None).await);
    assert!(visit(app, &token).await.is_none(), "it is no session");
    assert!(signing_in::takes_codes(app, &token).await.expect("the store answers"));
    server.clock.advance_ms(STEP_MS);
    let new = signed(enter(app, &token, &factor.code(app)).await);
    let (_, session) = visit(app, &new.cookie).await.expect("now it is one");
    assert_eq!((session.method.as_str(), session.has_second_factor), ("code", true));
    assert!(matches!(enter(app, &token, &factor.code(app)).await, SignIn::Wrong), "the half session is over");
    let late = half(sign_in(app, ADA, PASSWORD, None).await);
    server.clock.advance_ms(10 * 60_000);
    assert!(matches!(enter(app, &late, &factor.code(app)).await, SignIn::Wrong), "after 10 minutes too");
}

/// A code is used up by the sign-in that it completes, also where two hosts get it at the same moment.
#[tokio::test]
async fn a_code_works_once() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    let (actor, session, _) = ada(app).await;
    let factor = set_up(app, &actor, &session).await;
    let tokens =
        [half(sign_in(app, ADA, PASSWORD, None).await), half(sign_in(other, ADA, PASSWORD, None).await)];
    let used = enter(app, &tokens[0], &factor.code(app)).await;
    assert!(matches!(used, SignIn::Wrong), "it set the factor up");
    server.clock.advance_ms(STEP_MS);
    let code = factor.code(app);
    let answers = join(enter(app, &tokens[0], &code), enter(other, &tokens[1], &code)).await;
    let is_signed = |answer: &SignIn| matches!(answer, SignIn::Signed(_));
    assert!(is_signed(&answers.0) != is_signed(&answers.1), "{answers:?}");
}

#[tokio::test]
async fn codes_are_few() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (actor, session, _) = ada(app).await;
    let factor = set_up(app, &actor, &session).await;
    server.clock.advance_ms(STEP_MS);
    let token = half(sign_in(app, ADA, PASSWORD, None).await);
    for _ in 0..5 {
        assert!(matches!(enter(app, &token, "nonsense").await, SignIn::Wrong));
    }
    assert!(!signing_in::takes_codes(app, &token).await.expect("the store answers"));
    assert!(matches!(enter(app, &token, &factor.code(app)).await, SignIn::Wrong), "the half session is over");
    let answer = sign_in(app, ADA, PASSWORD, None).await;
    assert!(matches!(answer, SignIn::Wait(2)), "wrong codes are failures of the account: {answer:?}");
}

#[tokio::test]
async fn recovery_codes_work_once_each() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (actor, session, _) = ada(app).await;
    let factor = set_up(app, &actor, &session).await;
    assert_eq!(factor.recovery.len(), 10);
    let token = half(sign_in(app, ADA, PASSWORD, None).await);
    let new = signed(enter(app, &token, &factor.recovery[3].to_uppercase()).await);
    let (actor, session) = visit(app, &new.cookie).await.expect("the session is there");
    assert_eq!(session.method, "recovery");
    assert_eq!(account::recovery_codes_left(app, &session).await.expect("the store answers"), 9);
    let token = half(sign_in(app, ADA, PASSWORD, None).await);
    assert!(matches!(enter(app, &token, &factor.recovery[3]).await, SignIn::Wrong), "it was used");

    let newer = account::new_recovery_codes(app, &actor, &session).await.expect("they are stored");
    assert!(
        matches!(enter(app, &token, &factor.recovery[4]).await, SignIn::Wrong),
        "new ones take its place"
    );
    signed(enter(app, &token, &newer[0]).await);
}

/// Failed attempts that make an account wait do not affect a person with a link for a new password.
#[tokio::test]
async fn codes_after_a_link_have_their_own_count() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (actor, session, _) = ada(app).await;
    let factor = set_up(app, &actor, &session).await;
    for _ in 0..6 {
        sign_in(app, ADA, OTHER_PASSWORD, None).await;
    }
    assert!(matches!(sign_in(app, ADA, PASSWORD, None).await, SignIn::Wait(_)));
    let command = Actor::command("switchboard admin link");
    let link = links::reset(app, &command, &actor.id, false).await.expect("it is stored");
    let token = half(accept(app, &link.token, None, OTHER_PASSWORD).await.expect("it works"));
    signed(enter(app, &token, &factor.recovery[0]).await);
}

/// A factor is set and taken away by a fresh session alone; both end the operator's other sessions.
#[tokio::test]
async fn a_factor_changes_in_a_fresh_session() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (actor, session, own) = ada(app).await;
    let other = signed(sign_in(app, ADA, PASSWORD, None).await);
    let factor = set_up(app, &actor, &session).await;
    assert!(visit(app, &other.cookie).await.is_none() && visit(app, &own.cookie).await.is_some());
    server.clock.advance_ms(15 * 60_000);
    let (actor, _) = visit(app, &own.cookie).await.expect("the session goes on");
    let removed = account::remove_factor(app, &actor, &session).await;
    assert_eq!(refused(removed), Code::ReauthenticationRequired);
    let code = factor.code(app);
    assert!(
        signing_in::confirm(app, &session, &code).await.expect("it is looked at"),
        "a code is a proof too"
    );
    assert!(!signing_in::confirm(app, &session, &code).await.expect("it is looked at"), "once");
    let (actor, _) = visit(app, &own.cookie).await.expect("the session goes on");
    account::remove_factor(app, &actor, &session).await.expect("it is removed");
    signed(sign_in(app, ADA, PASSWORD, None).await);
}
