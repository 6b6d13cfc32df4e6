//! Rights of operators: changes hold at once, and somebody is always left who can make them.

use base::error::{Code, Error, Result};
use futures::future::join;
use harness::TestServer;
use service::app::App;
use service::manage::acting::{self, Target};
use service::manage::actor::{Act, Actor, Role};
use service::manage::operators::directory::{self, NewAccount};
use service::manage::operators::links::{self, Invitation};
use service::manage::operators::rights;
use service::manage::operators::sign_in::SignIn;
use storage::audit_log::{self, INSTALLATION, NEWEST};

use crate::operators::{
    ADA, GRACE, PASSWORD, accept, ada, invitation, member, refused, second, sign_in, signed, visit,
};

/// The code of a refusal and the field that it names.
fn refusal<T>(result: Result<T>) -> Option<(Code, Option<String>)> {
    match result {
        Err(Error::Refused(refusal)) => Some((refusal.code, refusal.param)),
        _ => None,
    }
}

fn last(what: &str) -> Option<(Code, Option<String>)> {
    Some((Code::InvalidState, Some(what.to_owned())))
}

/// A role that is taken away is gone with the next request, on another host within a second.
#[tokio::test]
async fn roles_hold_at_once() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    member(app, &admin, "alan@example.com", &organization_id, Role::Owner).await;
    let (grace, _) = member(app, &admin, GRACE, &organization_id, Role::Owner).await;
    let cookie = signed(sign_in(app, GRACE, PASSWORD, None).await).cookie;
    let may = async |app: &App, act| {
        visit(app, &cookie).await.is_some_and(|(actor, _)| actor.may(act, &organization_id))
    };
    assert!(may(app, Act::ManageMembers).await && may(other, Act::ManageMembers).await);
    rights::set_role(app, &admin, &grace.id, &organization_id, Some(Role::Viewer)).await.expect("it is set");
    assert!(!may(app, Act::ManageMembers).await && may(app, Act::SeeApplication).await);
    server.clock.advance_ms(1_000);
    assert!(!may(other, Act::ManageMembers).await);
    rights::disable(app, &admin, &grace.id).await.expect("she is disabled");
    assert!(visit(app, &cookie).await.is_none());
    assert!(matches!(sign_in(app, GRACE, PASSWORD, None).await, SignIn::Wrong));
    rights::enable(app, &admin, &grace.id).await.expect("she is back");
    assert!(visit(app, &cookie).await.is_none(), "her old sessions are not");
    signed(sign_in(app, GRACE, PASSWORD, None).await);
}

/// The last admin and the last owner stay, also where two owners take each other's role away at the same moment.
#[tokio::test]
async fn an_owner_is_left() {
    let server = TestServer::start().await;
    let beside = server.beside().await;
    let (app, other) = (&server.app, second(&server, &beside));
    let (admin, ..) = ada(app).await;
    assert_eq!(refusal(rights::set_admin(app, &admin, &admin.id, false).await), last("last_admin"));
    assert_eq!(refusal(rights::disable(app, &admin, &admin.id).await), last("last_admin"));
    let organization_id = server.test_application().await.organization_id;
    let id = organization_id.as_str();
    let (grace, _) = member(app, &admin, GRACE, id, Role::Owner).await;
    for role in [None, Some(Role::Viewer), Some(Role::Developer)] {
        let alone = rights::set_role(app, &grace, &grace.id, id, role).await;
        assert_eq!(refusal(alone), last("last_owner"), "{role:?}");
    }
    assert_eq!(refusal(rights::disable(app, &admin, &grace.id).await), last("last_owner"));

    let (alan, _) = member(app, &grace, "alan@example.com", id, Role::Owner).await;
    let outcomes = join(
        rights::set_role(app, &grace, &alan.id, id, Some(Role::Viewer)),
        rights::set_role(other, &alan, &grace.id, id, Some(Role::Viewer)),
    )
    .await;
    assert!(outcomes.0.is_ok() != outcomes.1.is_ok(), "{outcomes:?}");
    let members = directory::members(app, id, "", 10).await.expect("the store answers");
    assert_eq!(members.iter().filter(|member| member.role == Role::Owner).count(), 1);

    let second_admin = Invitation { is_admin: true, ..invitation("edsger@example.com", id, Role::Viewer) };
    let link = links::invite(app, &admin, &second_admin).await.expect("it is stored");
    signed(accept(app, &link.token, None, PASSWORD).await.expect("it works"));
    rights::set_admin(app, &admin, &admin.id, false).await.expect("there is another admin");
    let again = rights::set_admin(app, &admin, &grace.id, true).await;
    assert_eq!(refused(again), Code::NotFound, "the rights that count are those of now");
}

/// Owners manage the members of their organization, and learn of nobody else.
#[tokio::test]
async fn owners_reach_their_members_alone() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let organization_id = server.test_application().await.organization_id;
    let id = organization_id.as_str();
    let (owner, _) = member(app, &admin, GRACE, id, Role::Owner).await;
    let (developer, _) = member(app, &admin, "alan@example.com", id, Role::Developer).await;
    for stranger in [admin.id.as_str(), "opr_none", "no id at all"] {
        let result = rights::set_role(app, &owner, stranger, id, Some(Role::Viewer)).await;
        assert_eq!(refused(result), Code::NotFound, "{stranger}");
    }
    let other = rights::set_role(app, &owner, &developer.id, "org_none", Some(Role::Owner)).await;
    assert_eq!(refused(other), Code::NotFound);
    assert_eq!(refused(rights::disable(app, &owner, &developer.id).await), Code::NotFound);
    assert_eq!(refused(rights::set_admin(app, &owner, &owner.id, true).await), Code::NotFound);
    let by_developer = rights::set_role(app, &developer, &developer.id, id, Some(Role::Owner)).await;
    assert_eq!(refused(by_developer), Code::NotFound);
    rights::set_role(app, &owner, &developer.id, id, None).await.expect("a member is removed");
    let view = directory::find(app, &developer.id).await.expect("the store answers").expect("he is there");
    assert!(view.roles.is_empty());
}

/// Every change is in the audit log, in its organization or in the installation's, and no secret is.
#[tokio::test]
async fn changes_are_in_the_audit_log() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let tenant = server.test_application().await;
    let id = tenant.organization_id.as_str();
    let (grace, _) = member(app, &admin, GRACE, id, Role::Developer).await;
    // The same again is no change.
    for _ in 0..2 {
        rights::set_role(app, &admin, &grace.id, id, Some(Role::Viewer)).await.expect("it is set");
    }
    let new = NewAccount {
        email: "edsger@example.com".into(),
        name: "Edsger".into(),
        is_admin: true,
        roles: Default::default(),
    };
    let made = directory::create(app, &Actor::command("switchboard admin create"), &new).await;
    let made = made.expect("the operator is made");
    assert_eq!(refused(directory::create(app, &admin, &new).await), Code::AlreadyExists);
    for _ in 0..6 {
        sign_in(app, ADA, "not the password", None).await;
    }

    let acts = async |organization_id: &str| {
        let entries = audit_log::list(app.db.reader(), organization_id, NEWEST, 50).await.expect("a query");
        assert!(entries.iter().all(|entry| !format!("{entry:?}").contains(PASSWORD)));
        entries
    };
    let of_organization = acts(id).await;
    let named: Vec<&str> = of_organization.iter().map(|entry| entry.act.as_str()).collect();
    assert!(named.contains(&"operator_invited") && named.contains(&"role_set"), "{named:?}");
    let set = of_organization.iter().find(|entry| entry.act == "role_set").expect("it is there");
    assert_eq!((set.actor.id.as_str(), set.target.as_str()), (admin.id.as_str(), grace.id.as_str()));
    let by_admin = |entry: &&audit_log::AuditEntry| entry.act == "role_set" && entry.actor.id == admin.id;
    assert_eq!(of_organization.iter().filter(by_admin).count(), 1, "once for each change");
    let of_installation = acts(INSTALLATION).await;
    let failed = of_installation.iter().filter(|entry| entry.act == "sign_in_failed").count();
    assert_eq!(failed, 1, "once for each wait");
    let created = of_installation.iter().find(|entry| entry.act == "operator_created");
    let created = created.expect("it is there");
    assert_eq!((created.actor.kind.as_str(), created.target.as_str()), ("command", made.as_str()));
}

/// An act and its entry are committed together: an attempt that is not stored leaves none.
#[tokio::test]
async fn an_entry_is_written_with_its_act() {
    use service::app::stored_response::StoredResponse;

    let server = TestServer::start().await;
    let app = &server.app;
    let (admin, ..) = ada(app).await;
    let tenant = server.test_application().await;
    let target = Target::application(&tenant, "key_1");
    for is_committed in [false, true] {
        let attempt = acting::attempt(app, &admin, "key_created", &target, None);
        let (keyed, now) = (app.clone(), app.now());
        let written: anyhow::Result<()> = app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    attempt.store(tx, &keyed.keyring, &StoredResponse::no_content(), now).await?;
                    anyhow::ensure!(is_committed, "the act fails");
                    Ok(())
                })
            })
            .await;
        assert_eq!(written.is_ok(), is_committed);
        let entries = audit_log::list(app.db.reader(), &tenant.organization_id, NEWEST, 50).await;
        let entries = entries.expect("a query");
        assert_eq!(entries.len(), usize::from(is_committed));
        if let Some(entry) = entries.first() {
            assert_eq!(entry.application_id.as_deref(), Some(tenant.application_id.as_str()));
        }
    }
}
