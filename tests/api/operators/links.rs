//! Links: to the first operator, invitations, and new passwords.

use std::collections::BTreeMap;

use base::error::Code;
use futures::future::join;
use harness::TestServer;
use service::manage::actor::{Actor, Role};
use service::manage::operators::links::{self, Invitation, LinkKind};
use service::manage::operators::sign_in::SignIn;
use service::manage::operators::{acceptance, account, directory, rights, totp};
use storage::sql::query;

use crate::operators::{
    ADA, GRACE, OTHER_PASSWORD, PASSWORD, accept, ada, half, invitation, member, refused, second, sign_in,
    signed, visit,
};

/// One of several links and hosts makes the first operator; the other hears that there is one.
#[tokio::test]
async fn there_is_one_first_operator() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    assert!(links::is_empty(app).await.expect("the store answers"));
    let one = links::first(app).await.expect("it is stored").expect("there is nobody");
    let two = links::first(other).await.expect("it is stored").expect("there is nobody");
    let answers =
        join(accept(app, &one.token, Some(ADA), PASSWORD), accept(other, &two.token, Some(GRACE), PASSWORD))
            .await;
    let (made, late) = match answers {
        (Ok(made), Err(late)) | (Err(late), Ok(made)) => (made, late),
        both => panic!("{both:?}"),
    };
    assert!(matches!(late.code(), Some(Code::InvalidState | Code::NotFound)), "{late}");
    let (actor, _) = visit(app, &signed(made).cookie).await.expect("the session is there");
    assert!(actor.is_admin);
    assert_eq!(directory::list(app, "", 10).await.expect("the store answers").len(), 1);
    assert!(links::first(other).await.expect("the store answers").is_none());
    assert!(!acceptance::create_first(app, "eve@example.com", PASSWORD).await.expect("the store answers"));
    assert!(!links::is_empty(other).await.expect("the store answers"));
}

/// Changed, used, withdrawn and expired links cannot be told apart.
#[tokio::test]
async fn links_that_do_not_work_are_alike() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let grace = invitation(GRACE, &organization_id, Role::Viewer);
    let mut tokens = vec!["x".repeat(43), String::new(), "nonsense".to_owned()];
    let mut dead = Vec::new();
    for _ in 0..3 {
        dead.push(links::invite(app, &admin, &grace).await.expect("it is stored"));
    }
    tokens.push(dead[0].token.to_lowercase());
    accept(app, &dead[0].token, None, PASSWORD).await.expect("it works once");
    links::withdraw(app, &admin, &dead[1].id).await.expect("it is withdrawn");
    assert_eq!(refused(links::withdraw(app, &admin, &dead[1].id).await), Code::NotFound);
    server.clock.advance_ms(7 * 86_400_000);
    tokens.extend(dead.into_iter().map(|link| link.token));
    for token in tokens {
        assert!(links::find(app, &token).await.expect("the store answers").is_none(), "{token}");
        assert_eq!(refused(accept(app, &token, None, PASSWORD).await), Code::NotFound, "{token}");
    }
}

/// The database has nothing of the token, and the page of the link says who invites whom to what.
#[tokio::test]
async fn roles_come_from_the_stored_link() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let link = links::invite(app, &admin, &invitation(GRACE, &organization_id, Role::Developer)).await;
    let link = link.expect("it is stored");
    assert_eq!(link.path(), format!("/admin/join/{}", link.token));
    let stored = query("select hash from operator_links where id = $1").bind(&link.id);
    let stored: String = stored.fetch_one(app.db.reader(), |row| row.get("hash")).await.expect("a row");
    assert_ne!(stored, link.token);
    assert!(links::find(app, &stored).await.expect("the store answers").is_none());
    let seen = links::find(app, &link.token).await.expect("the store answers").expect("it works");
    assert_eq!((seen.kind, seen.email.as_deref(), seen.is_known), (LinkKind::Invite, Some(GRACE), false));
    assert_eq!((seen.invited_by.as_deref(), seen.is_admin), (Some("Somebody"), false));

    let weak = accept(app, &link.token, Some("eve@example.com"), "a staple").await;
    assert_eq!(refused(weak), Code::InvalidParameter, "the link is not used up");
    let new = signed(accept(app, &link.token, Some("eve@example.com"), PASSWORD).await.expect("it works"));
    let (grace, session) = visit(app, &new.cookie).await.expect("the session is there");
    assert_eq!((session.email.as_str(), grace.is_admin), (GRACE, false));
    assert_eq!(grace.roles, BTreeMap::from([(organization_id, Role::Developer)]));
}

/// An operator with the address of an invitation signs in, and takes the rights over; nobody else can.
#[tokio::test]
async fn an_invitation_of_somebody_known_is_joined() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let (grace, graces) = member(app, &admin, GRACE, &organization_id, Role::Viewer).await;
    let link =
        links::invite(app, &admin, &invitation("GRACE@example.com", &organization_id, Role::Owner)).await;
    let link = link.expect("it is stored");
    assert!(links::find(app, &link.token).await.expect("the store answers").expect("it works").is_known);
    assert_eq!(refused(accept(app, &link.token, None, PASSWORD).await), Code::AlreadyExists);
    let (alan, alans) = member(app, &admin, "alan@example.com", &organization_id, Role::Viewer).await;
    assert_eq!(refused(acceptance::join(app, &alan, &alans, &link.token).await), Code::NotFound);
    acceptance::join(app, &grace, &graces, &link.token).await.expect("it is Grace's");
    assert_eq!(refused(acceptance::join(app, &grace, &graces, &link.token).await), Code::NotFound, "once");
    let less = links::invite(app, &admin, &invitation(GRACE, &organization_id, Role::Viewer)).await;
    let less = less.expect("it is stored");
    acceptance::join(app, &grace, &graces, &less.token).await.expect("it works");
    let view = directory::find(app, &grace.id).await.expect("the store answers").expect("she is there");
    assert_eq!(
        view.roles.iter().map(|role| role.role).collect::<Vec<_>>(),
        [Role::Owner],
        "a higher role stays"
    );
}

/// An invitation gives no rights that the one who makes it does not have.
#[tokio::test]
async fn invitations_follow_the_rights_of_the_one_who_invites() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let (owner, _) = member(app, &admin, GRACE, &organization_id, Role::Owner).await;
    let (developer, _) = member(app, &admin, "alan@example.com", &organization_id, Role::Developer).await;
    let to = |organization_id: &str, is_admin| Invitation {
        is_admin,
        ..invitation("new@example.com", organization_id, Role::Viewer)
    };
    let code = async |by: &Actor, invitation: Invitation| {
        links::invite(app, by, &invitation).await.map_err(|e| e.code())
    };
    assert!(code(&owner, to(&organization_id, false)).await.is_ok());
    let cases = [
        (&owner, to(&organization_id, true), Code::NotFound),
        (&owner, to("org_none", false), Code::NotFound),
        (&developer, to(&organization_id, false), Code::NotFound),
        (&admin, to("org_none", false), Code::NotFound),
        (
            &admin,
            Invitation { email: "nonsense".into(), ..to(&organization_id, false) },
            Code::InvalidParameter,
        ),
        (&admin, Invitation { roles: BTreeMap::new(), ..to(&organization_id, false) }, Code::MissingField),
    ];
    for (by, invitation, expected) in cases {
        let shown = format!("{invitation:?} by {}", by.name);
        assert_eq!(code(by, invitation).await.err(), Some(Some(expected)), "{shown}");
    }
    server.clock.advance_ms(15 * 60_000);
    let late = code(&owner, to(&organization_id, false)).await;
    assert_eq!(late.err(), Some(Some(Code::ReauthenticationRequired)));
}

/// An organization has a hundred open invitations at most, and room again when one is withdrawn.
#[tokio::test]
async fn an_organization_has_a_hundred_open_invitations() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let own = server.test_application().await.organization_id;
    let invite = async |number: usize| {
        let new = invitation(&format!("new{number}@example.com"), &own, Role::Viewer);
        links::invite(app, &admin, &new).await
    };
    let first = invite(0).await.expect("it is stored");
    for number in 1..100 {
        invite(number).await.expect("it is stored");
    }
    assert_eq!(refused(invite(100).await), Code::InvalidState);
    links::withdraw(app, &admin, &first.id).await.expect("it is withdrawn");
    invite(100).await.expect("there is room");
    let of_all =
        Invitation { is_admin: true, roles: BTreeMap::new(), ..invitation(GRACE, &own, Role::Viewer) };
    links::invite(app, &admin, &of_all).await.expect("it is of no organization");
}

/// Operators who lost their rights, or are disabled, have kept no way back in by links that they made before; nobody else has either.
#[tokio::test]
async fn links_end_with_the_rights_of_their_maker() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let id = organization_id.as_str();
    let (grace, _) = member(app, &admin, GRACE, id, Role::Owner).await;
    let (alan, alans) = member(app, &admin, "alan@example.com", id, Role::Owner).await;
    let new = links::invite(app, &grace, &invitation("new@example.com", id, Role::Owner)).await;
    let known = links::invite(app, &grace, &invitation("alan@example.com", id, Role::Owner)).await;
    let (new, known) = (new.expect("it is stored"), known.expect("it is stored"));
    rights::set_role(app, &admin, &grace.id, id, Some(Role::Developer)).await.expect("it is set");
    assert!(links::find(app, &new.token).await.expect("the store answers").is_none(), "its page has no form");
    let page = server.visitor().get(new.path()).send().await;
    assert!(page.status == 404 && page.text.contains("This link doesn&#39;t work any more"), "{page}");
    assert_eq!(refused(accept(app, &new.token, None, PASSWORD).await), Code::NotFound);
    assert_eq!(refused(acceptance::join(app, &alan, &alans, &known.token).await), Code::NotFound);
    rights::set_role(app, &admin, &grace.id, id, Some(Role::Owner)).await.expect("it is set");
    signed(accept(app, &new.token, None, PASSWORD).await.expect("she may invite again"));

    rights::set_admin(app, &admin, &grace.id, true).await.expect("it is set");
    let as_admin = Actor { is_admin: true, ..grace.clone() };
    let reset = links::reset(app, &as_admin, &admin.id, true).await.expect("it is stored");
    rights::disable(app, &admin, &grace.id).await.expect("she is disabled");
    assert_eq!(refused(accept(app, &reset.token, None, OTHER_PASSWORD).await), Code::NotFound);
    assert!(matches!(sign_in(app, ADA, OTHER_PASSWORD, None).await, SignIn::Wrong));
}

/// A new password ends all sessions, and does not replace the second factor unless that was asked for.
#[tokio::test]
async fn a_lost_password_is_replaced_by_a_link() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, session, own) = ada(app).await;
    let command = Actor::command("switchboard admin link");
    let organization_id = server.test_application().await.organization_id;
    let (developer, _) = member(app, &admin, GRACE, &organization_id, Role::Developer).await;
    let by_her = links::reset(app, &developer, &admin.id, false).await;
    assert_eq!(refused(by_her), Code::NotFound, "only admins make such links");

    let setup = account::begin_factor(app, &session).await.expect("a setup");
    let secret = totp::secret_of(&app.keyring, &session.operator_id, &setup.token).expect("it is ours");
    let code = totp::code_at(&secret, app.now()).expect("a code");
    let set = account::confirm_factor(app, &admin, &session, &setup.token, &code).await;
    assert!(set.expect("it is stored").is_some());

    let before = links::reset(app, &command, &admin.id, false).await.expect("it is stored");
    let link = links::reset(app, &command, &admin.id, false).await.expect("it is stored");
    assert!(
        links::find(app, &before.token).await.expect("the store answers").is_none(),
        "the last one works"
    );
    half(accept(app, &link.token, None, OTHER_PASSWORD).await.expect("it works"));
    assert!(visit(app, &own.cookie).await.is_none(), "all sessions are over");
    assert!(matches!(sign_in(app, ADA, PASSWORD, None).await, SignIn::Wrong));
    half(sign_in(app, ADA, OTHER_PASSWORD, None).await);

    let link = links::reset(app, &command, &admin.id, true).await.expect("it is stored");
    server.clock.advance_ms(3_599_999);
    let new = signed(accept(app, &link.token, None, PASSWORD).await.expect("it works for an hour"));
    let (actor, session) = visit(app, &new.cookie).await.expect("the session is there");
    assert!(!session.has_second_factor);

    let link = links::reset(app, &command, &admin.id, false).await.expect("it is stored");
    account::change_password(app, &actor, &session, OTHER_PASSWORD).await.expect("it is changed");
    assert!(
        links::find(app, &link.token).await.expect("the store answers").is_none(),
        "it is needed no more"
    );
}
