//! Signing in by a password, and the sessions that come of it.

use base::error::Code;
use harness::TestServer;
use service::manage::actor::Role;
use service::manage::operators::sign_in::{self as signing_in, Credentials, SignIn};
use service::manage::operators::{account, rights, sessions};

use crate::operators::{
    ADA, GRACE, OTHER_PASSWORD, PASSWORD, ada, member, origin, refused, second, sign_in, signed, visit,
};

const HOUR_MS: i64 = 3_600_000;

/// The result of a try, in a word.
fn word(result: &SignIn) -> String {
    match result {
        SignIn::Signed(_) => "signed".to_owned(),
        SignIn::NeedsCode(_) => "code".to_owned(),
        SignIn::Wait(seconds) => format!("wait {seconds}"),
        SignIn::Wrong => "wrong".to_owned(),
        SignIn::Busy => "busy".to_owned(),
    }
}

/// A wrong password, an address that nobody has, and an operator who is disabled cannot be told apart, also not by the waits.
#[tokio::test]
async fn nobody_is_named() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let (grace, _) = member(app, &admin, GRACE, &organization_id, Role::Owner).await;
    member(app, &admin, "alan@example.com", &organization_id, Role::Owner).await;
    rights::disable(app, &admin, &grace.id).await.expect("there is another owner");
    let mut answers = Vec::new();
    for (email, password) in [(ADA, OTHER_PASSWORD), ("nobody@example.com", PASSWORD), (GRACE, PASSWORD)] {
        let mut of_one = Vec::new();
        for _ in 0..8 {
            of_one.push(word(&sign_in(app, email, password, None).await));
        }
        answers.push(of_one);
    }
    let expected = ["wrong", "wrong", "wrong", "wrong", "wrong", "wrong", "wait 2", "wait 2"];
    assert_eq!(answers, [expected; 3]);
}

/// From the sixth failure on the next try waits, longer each time, on every host, and whatever the password is.
#[tokio::test]
async fn waits_grow() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    ada(app).await;
    for (number, app) in [app, other, app, other, app, other].into_iter().enumerate() {
        assert_eq!(word(&sign_in(app, ADA, OTHER_PASSWORD, None).await), "wrong", "try {number}");
    }
    for seconds in [2, 4, 8] {
        let answer = sign_in(other, " Ada@EXAMPLE.com ", PASSWORD, None).await;
        assert_eq!(word(&answer), format!("wait {seconds}"), "another spelling is the same address");
        server.clock.advance_ms(seconds * 1_000 - 1);
        assert_eq!(word(&sign_in(app, ADA, PASSWORD, None).await), "wait 1");
        server.clock.advance_ms(1);
        assert_eq!(word(&sign_in(app, ADA, OTHER_PASSWORD, None).await), "wrong");
    }
    server.clock.advance_ms(16_000);
    signed(sign_in(app, ADA, PASSWORD, None).await);
    for _ in 0..6 {
        assert_eq!(word(&sign_in(app, ADA, OTHER_PASSWORD, None).await), "wrong", "a success begins anew");
    }
}

/// Guesses of passwords keep only those devices waiting that the owner of the account has not used.
#[tokio::test]
async fn an_owner_is_not_shut_out() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, _, new) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    member(app, &admin, GRACE, &organization_id, Role::Owner).await;
    let graces = signed(sign_in(app, GRACE, PASSWORD, None).await).device_cookie;
    for _ in 0..6 {
        sign_in(app, ADA, OTHER_PASSWORD, None).await;
    }
    assert_eq!(word(&sign_in(app, ADA, PASSWORD, None).await), "wait 2");
    assert_eq!(word(&sign_in(app, ADA, PASSWORD, Some(&graces)).await), "wait 2", "it is not Ada's");
    assert_eq!(word(&sign_in(app, ADA, PASSWORD, Some("nonsense")).await), "wait 2");
    let again = signed(sign_in(app, ADA, PASSWORD, Some(&new.device_cookie)).await);
    for _ in 0..6 {
        sign_in(app, ADA, OTHER_PASSWORD, Some(&again.device_cookie)).await;
    }
    let answer = sign_in(app, ADA, PASSWORD, Some(&again.device_cookie)).await;
    assert_eq!(word(&answer), "wait 2", "a device has a count too");
}

#[tokio::test]
async fn long_passwords_are_refused_before_they_are_hashed() {
    let server = TestServer::start().await;
    let form = Credentials { email: ADA.to_owned(), password: "x".repeat(1 << 20).into(), device: None };
    let _all = server.app.hashing_room.acquire_many(34).await.expect("nobody signs in");
    let code = refused(signing_in::sign_in(&server.app, &form, &origin()).await);
    assert_eq!(code, Code::InvalidParameter);
}

/// Two hashes run and 32 wait; more are told to come back, and do not count as tries.
#[tokio::test]
async fn too_many_at_once_are_sent_away() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (_, session, _) = ada(app).await;
    let all = app.hashing_room.acquire_many(34).await.expect("nobody signs in");
    for _ in 0..10 {
        assert_eq!(word(&sign_in(app, ADA, OTHER_PASSWORD, None).await), "busy");
    }
    for _ in 0..10 {
        assert_eq!(refused(signing_in::confirm(app, &session, PASSWORD).await), Code::Overloaded);
    }
    drop(all);
    assert_eq!(word(&sign_in(app, ADA, PASSWORD, None).await), "signed");
    assert!(signing_in::confirm(app, &session, PASSWORD).await.expect("nothing keeps it waiting"));
}

/// A cookie is another one at each sign-in and after each renewal, and nothing but itself is one.
#[tokio::test]
async fn a_session_has_one_cookie() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (_, session, first) = ada(app).await;
    let again = signed(sign_in(app, ADA, PASSWORD, Some(&first.device_cookie)).await);
    assert_ne!(again.cookie, first.cookie);
    let renewed = sessions::renew(app, &session).await.expect("the session is there");
    assert!(visit(app, &first.cookie).await.is_none(), "the old cookie leads nowhere");
    let (_, same) = visit(app, &renewed.cookie).await.expect("the new one does");
    assert_eq!(same.id, session.id);
    let hash = sessions::hash_of(app, &renewed.cookie);
    for none in [hash.as_str(), "", "nonsense", "x".repeat(43).as_str(), "é".repeat(22).as_str()] {
        assert!(visit(app, none).await.is_none(), "{none}");
    }
}

#[tokio::test]
async fn sessions_end() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (_, _, idle) = ada(app).await;
    server.clock.advance_ms(12 * HOUR_MS - 1);
    assert!(visit(app, &idle.cookie).await.is_some(), "this request is a use");
    server.clock.advance_ms(12 * HOUR_MS);
    assert!(visit(app, &idle.cookie).await.is_none(), "12 hours without a request");
    let busy = signed(sign_in(app, ADA, PASSWORD, None).await);
    for _ in 0..7 * 24 - 1 {
        server.clock.advance_ms(HOUR_MS);
        assert!(visit(app, &busy.cookie).await.is_some());
    }
    server.clock.advance_ms(HOUR_MS);
    assert!(visit(app, &busy.cookie).await.is_none(), "7 days");
}

/// Signing out, and a new password, end sessions on every host within a second.
#[tokio::test]
async fn ends_of_sessions_are_seen_by_every_host() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    let (actor, session, own) = ada(app).await;
    let mut further = Vec::new();
    for _ in 0..2 {
        further.push(signed(sign_in(other, ADA, PASSWORD, Some(&own.device_cookie)).await).cookie);
    }
    for cookie in &further {
        assert!(visit(app, cookie).await.is_some() && visit(other, cookie).await.is_some());
    }
    sessions::end(app, &further[0]).await.expect("it ends");
    assert!(visit(app, &further[0]).await.is_none() && visit(app, &further[1]).await.is_some());
    account::change_password(app, &actor, &session, OTHER_PASSWORD).await.expect("it is changed");
    server.clock.advance_ms(1_000);
    for host in [app, other] {
        for cookie in &further {
            assert!(visit(host, cookie).await.is_none());
        }
        assert!(visit(host, &own.cookie).await.is_some(), "the one that changed it stays");
    }
    assert_eq!(word(&sign_in(other, ADA, PASSWORD, Some(&own.device_cookie)).await), "wrong");
    signed(sign_in(other, ADA, OTHER_PASSWORD, Some(&own.device_cookie)).await);
}

/// A request that notes the use of a session remembers nothing for longer: the session ends on its host as soon as on any other.
#[tokio::test]
async fn a_use_is_no_longer_life() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    let (_, _, new) = ada(app).await;
    server.clock.advance_ms(59_300);
    assert!(visit(other, &new.cookie).await.is_some(), "read, and used too short a time ago to be noted");
    server.clock.advance_ms(100);
    sessions::end(app, &new.cookie).await.expect("it ends");
    server.clock.advance_ms(800);
    let remembered = visit(other, &new.cookie).await;
    assert!(remembered.is_none() || beside.is_some(), "the host that ended it knows at once");
    server.clock.advance_ms(300);
    assert!(visit(other, &new.cookie).await.is_none(), "1.1 s after its end");
}

/// Dangerous acts need a proof of the last 15 minutes, which the password gives again.
#[tokio::test]
async fn danger_asks_again() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (_, session, new) = ada(app).await;
    server.clock.advance_ms(15 * 60_000);
    let (actor, _) = visit(app, &new.cookie).await.expect("the session goes on");
    let change = account::change_password(app, &actor, &session, OTHER_PASSWORD).await;
    assert_eq!(refused(change), Code::ReauthenticationRequired);
    assert!(!signing_in::confirm(app, &session, OTHER_PASSWORD).await.expect("it is looked at"));
    assert!(signing_in::confirm(app, &session, PASSWORD).await.expect("it is looked at"));
    let (actor, _) = visit(app, &new.cookie).await.expect("the session goes on");
    account::change_password(app, &actor, &session, OTHER_PASSWORD).await.expect("it is changed");
    for _ in 0..6 {
        assert!(!signing_in::confirm(app, &session, PASSWORD).await.expect("it is looked at"));
    }
    assert_eq!(refused(signing_in::confirm(app, &session, OTHER_PASSWORD).await), Code::RateLimited);
}

/// A notice is shown once.
#[tokio::test]
async fn a_notice_is_taken_once() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (_, session, new) = ada(app).await;
    let flash = sessions::Flash { code: "key_revoked".to_owned(), ids: vec!["key_1".to_owned()] };
    sessions::set_flash(app, &session, &flash).await.expect("it is stored");
    let (_, shown) = visit(app, &new.cookie).await.expect("the session is there");
    assert_eq!(sessions::take_flash(app, &shown).await.expect("it is taken"), Some(flash));
    assert_eq!(
        sessions::take_flash(app, &shown).await.expect("it is looked at"),
        None,
        "another page has it"
    );
    let (_, later) = visit(app, &new.cookie).await.expect("the session is there");
    assert_eq!(later.flash, None);
}
