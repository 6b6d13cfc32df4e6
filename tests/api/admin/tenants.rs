//! Organizations, applications and their redirect addresses, as the panel and the administrators' API change them.

use base::error::{Code, Error, Result};
use base::tenant::Tenant;
use harness::TestServer;
use serde_json::Value;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::manage::acting::{Target, attempt};
use service::manage::actor::{Actor, Role};
use service::manage::redirects::RedirectChange;
use service::manage::{applications, organizations, redirects};
use storage::audit_log;
use storage::organizations::OrganizationPosition;

/// An act of the command line on the installation.
fn act(server: &TestServer, name: &'static str) -> IdempotentAttempt {
    attempt(&server.app, &Actor::command("a test"), name, &Target::installation("tested"), None)
}

#[track_caller]
fn made(answer: Result<StoredResponse>) -> Value {
    serde_json::from_slice(&answer.expect("it is done").body).expect("JSON")
}

/// The code of a refusal, and the field that it names.
#[track_caller]
fn refused(answer: Result<StoredResponse>) -> (Code, String) {
    match answer.expect_err("it is refused") {
        Error::Refused(refusal) => (refusal.code, refusal.param.unwrap_or_default()),
        Error::Internal(cause) => panic!("{cause:#}"),
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().expect("a text").to_owned()
}

async fn organization(server: &TestServer, name: &str) -> String {
    let act = act(server, "organization_created");
    text(&made(organizations::create(&server.app, name, &act).await), "id")
}

async fn application(server: &TestServer, organization_id: &str, name: &str) -> Tenant {
    let act = act(server, "application_created");
    let application = made(applications::create(&server.app, organization_id, name, &act).await);
    Tenant { organization_id: organization_id.to_owned(), application_id: text(&application, "id") }
}

/// An organization has a name of its own, which can be changed.
#[tokio::test]
async fn an_organization_has_a_name_of_its_own() {
    let server = TestServer::start().await;
    let app = &server.app;
    let acme = organization(&server, "  Acme ").await;
    organization(&server, "Umbrella").await;
    let name = ("name".to_owned(), "already_exists");
    let taken = refused(organizations::create(app, "Acme", &act(&server, "organization_created")).await);
    assert_eq!((taken.1, taken.0.as_str()), name);
    let taken = refused(organizations::rename(app, &acme, "Umbrella", &act(&server, "renamed")).await);
    assert_eq!((taken.1, taken.0.as_str()), name);
    let renamed = made(organizations::rename(app, &acme, "Acme Ltd", &act(&server, "renamed")).await);
    assert_eq!((text(&renamed, "id"), text(&renamed, "name")), (acme, "Acme Ltd".to_owned()));
    for wrong in ["", "  ", "a\nb", &"x".repeat(101)] {
        let answer = organizations::create(app, wrong, &act(&server, "organization_created")).await;
        assert_eq!(refused(answer), (Code::InvalidParameter, "name".to_owned()), "{wrong:?}");
    }
    let gone = organizations::rename(app, "org_none", "Other", &act(&server, "renamed")).await;
    assert_eq!(refused(gone).0, Code::NotFound);
}

/// An administrator sees all organizations, page by page; others see those in which they have a role.
#[tokio::test]
async fn an_organization_is_seen_by_its_own() {
    let server = TestServer::start().await;
    let mut ids = Vec::new();
    for name in ["Acme", "Beta", "Cobalt"] {
        ids.push(organization(&server, name).await);
    }
    let names = async |actor: &Actor, after: &OrganizationPosition, limit| {
        let found = organizations::list(&server.app, actor, after, limit).await.expect("they are read");
        found.into_iter().map(|organization| organization.name).collect::<Vec<_>>()
    };
    let start = OrganizationPosition::default();
    let after_acme = OrganizationPosition { name: "Acme".to_owned(), id: ids[0].clone() };
    let admin = Actor::command("a test");
    assert_eq!(names(&admin, &start, 2).await, ["Acme", "Beta"]);
    assert_eq!(names(&admin, &after_acme, 10).await, ["Beta", "Cobalt"]);
    let roles = [(ids[0].clone(), Role::Viewer), (ids[2].clone(), Role::Owner)].into();
    let member = Actor { is_admin: false, roles, ..admin };
    assert_eq!(names(&member, &start, 10).await, ["Acme", "Cobalt"]);
    assert_eq!(names(&member, &after_acme, 10).await, ["Cobalt"]);
    let stranger = Actor { roles: Default::default(), ..member };
    assert!(names(&stranger, &start, 10).await.is_empty());
}

/// The name of an application is its own within its organization, and its handle within the installation.
#[tokio::test]
async fn an_application_has_a_name_and_a_handle() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (acme, other) = (organization(&server, "Acme").await, organization(&server, "Other").await);
    let shop = application(&server, &acme, "Shop").await;
    let office = application(&server, &acme, "Office").await;
    application(&server, &other, "Shop").await;
    let taken = applications::create(app, &acme, "Shop", &act(&server, "application_created")).await;
    assert_eq!(refused(taken), (Code::AlreadyExists, "name".to_owned()));
    let taken = applications::rename(app, &office, "Shop", &act(&server, "renamed")).await;
    assert_eq!(refused(taken), (Code::AlreadyExists, "name".to_owned()));
    let gone = applications::create(app, "org_none", "Shop", &act(&server, "application_created")).await;
    assert_eq!(refused(gone).0, Code::NotFound);

    let handled = made(applications::set_handle(app, &shop, Some("acme"), &act(&server, "handle")).await);
    assert_eq!(handled["handle"], "acme");
    let taken = applications::set_handle(app, &office, Some("acme"), &act(&server, "handle")).await;
    assert_eq!(refused(taken), (Code::AlreadyExists, "handle".to_owned()));
    let wrong = applications::set_handle(app, &office, Some("A B"), &act(&server, "handle")).await;
    assert_eq!(refused(wrong), (Code::InvalidParameter, "handle".to_owned()));
    let cleared = made(applications::set_handle(app, &shop, None, &act(&server, "handle")).await);
    assert_eq!(cleared["handle"], Value::Null);

    let all = applications::of_organization(app, &acme, "", 10).await.expect("they are read");
    let names: Vec<&str> = all.iter().map(|application| application.name.as_str()).collect();
    assert_eq!(names, ["Office", "Shop"]);
    let found =
        applications::find(app, &shop.application_id).await.expect("it is read").expect("it is there");
    assert_eq!((found.organization.as_str(), found.tenant), ("Acme", shop));
}

/// Addresses are added and removed together, or not at all.
#[tokio::test]
async fn redirect_addresses_change_together() {
    let server = TestServer::start().await;
    let (app, tenant) = (&server.app, server.test_application().await);
    let change = async |add: &[&str], remove: &[&str]| {
        let texts = |all: &[&str]| all.iter().map(|uri| (*uri).to_owned()).collect();
        let change = RedirectChange { add: texts(add), remove: texts(remove) };
        redirects::change(app, &tenant, change, &act(&server, "redirects_changed")).await
    };
    let (first, second) = ("https://app.example.com/connected", "http://localhost:4000/cb");
    made(change(&[first], &[]).await);
    let wrong = change(&[second, "http://app.example.com/cb"], &[]).await;
    assert_eq!(refused(wrong), (Code::InvalidUrl, "redirectUris[1]".to_owned()));
    let unknown = change(&[second], &["https://other.example.com/"]).await;
    assert_eq!(refused(unknown), (Code::InvalidParameter, "remove[0]".to_owned()));
    assert_eq!(redirects::list(app, &tenant).await.expect("they are read"), [first]);
    let changed = made(change(&[second], &[first]).await);
    assert_eq!(changed["redirectUris"], serde_json::json!([second]));
}

/// An application has a hundred redirect addresses at most, and room again for each that is removed.
#[tokio::test]
async fn an_application_has_a_hundred_redirect_addresses() {
    let server = TestServer::start().await;
    let (app, tenant) = (&server.app, server.test_application().await);
    let address = |number: usize| format!("https://app.example.com/{number}");
    let change = async |add: Vec<String>, remove: Vec<String>| {
        let change = RedirectChange { add, remove };
        redirects::change(app, &tenant, change, &act(&server, "redirects_changed")).await
    };
    made(change((0..100).map(address).collect(), Vec::new()).await);
    let full = (Code::InvalidParameter, "redirectUris".to_owned());
    assert_eq!(refused(change(vec![address(100)], Vec::new()).await), full);
    made(change(vec![address(0)], Vec::new()).await);
    made(change(vec![address(100)], vec![address(0)]).await);
    assert_eq!(redirects::list(app, &tenant).await.expect("they are read").len(), 100);
}

/// An act is in the audit log, with its change or not at all.
#[tokio::test]
async fn an_act_is_in_the_audit_log_with_its_change() {
    let server = TestServer::start().await;
    organization(&server, "Acme").await;
    refused(organizations::create(&server.app, "Acme", &act(&server, "organization_created")).await);
    let read = audit_log::list(server.app.db.reader(), audit_log::INSTALLATION, audit_log::NEWEST, 10).await;
    let entries = read.expect("they are read");
    let acts: Vec<&str> = entries.iter().map(|entry| entry.act.as_str()).collect();
    assert_eq!(acts, ["organization_created"], "the refused one is not there");
    assert_eq!((entries[0].actor.kind.as_str(), entries[0].actor.name.as_str()), ("command", "a test"));
}
