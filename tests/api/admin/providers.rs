//! OAuth clients of an application: registered by a form, taken out of use, and their secrets never shown.

use base::tenant::Tenant;
use harness::TestServer;
use harness::panel_user::PanelUser;
use service::manage::actor::Role;
use storage::audit_log;
use storage::oauth_clients::{self, OAuthClient};

use crate::admin::client::{account_of, assert_whole, led_to, token};

const GIVEN_SECRET: &str = "of-the-provider-7f3a";

async fn stored(server: &TestServer, tenant: &Tenant) -> Option<OAuthClient> {
    let found = oauth_clients::find(server.app.db.reader(), tenant, "google").await;
    found.expect("the store answers")
}

async fn owner(server: &TestServer) -> (PanelUser, String) {
    let application = server.test_application().await.application_id;
    (server.operator(Some(Role::Owner)).await, format!("/admin/apps/{application}/providers"))
}

#[tokio::test]
async fn a_client_is_registered_and_its_secret_never_shown() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let (owner, list) = owner(&server).await;
    let google = format!("{list}/google");
    let page = owner.get(&google).send().await;
    assert_eq!(page.status, 200, "{page}");
    assert_whole(&page);
    assert!(page.text.contains("/v1/auth/connectors/google/callback"), "the address to copy: {page}");
    let fields = [("client_id", "1234.apps.example"), ("client_secret", GIVEN_SECRET)];
    let saved = owner.post(&google, &token(&owner).await, &fields).send().await;
    assert_eq!(led_to(&google, &saved), google);
    let client = stored(&server, &tenant).await.expect("a client");
    assert_eq!(client.client_id, "1234.apps.example");
    let sealed = client.client_secret.clone().expect("a secret");
    assert!(!sealed.contains(GIVEN_SECRET), "it is sealed");
    for path in [&list, &google] {
        let page = owner.get(path).send().await;
        assert!(page.text.contains("1234.apps.example") && !page.text.contains(GIVEN_SECRET), "{page}");
    }
    let renamed = [("client_id", "5678.apps.example")];
    assert_eq!(owner.post(&google, &token(&owner).await, &renamed).send().await.status, 303);
    let kept = stored(&server, &tenant).await.expect("a client");
    assert_eq!((kept.client_id.as_str(), kept.client_secret), ("5678.apps.example", Some(sealed)));
}

#[tokio::test]
async fn a_form_that_lacks_something_says_what() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let (owner, list) = owner(&server).await;
    let google = format!("{list}/google");
    for (client_id, secret, text) in [
        ("", GIVEN_SECRET, "Enter the client ID"),
        ("a\nb", GIVEN_SECRET, "Enter the client ID"),
        ("1234.apps.example", "", "Enter the client secret"),
        ("1234.apps.example", "a\tb", "Enter the client secret"),
    ] {
        let fields = [("client_id", client_id), ("client_secret", secret)];
        let sent = owner.post(&google, &token(&owner).await, &fields).send().await;
        assert_eq!(sent.status, 400, "{client_id:?}: {sent}");
        assert!(sent.text.contains(text) && !sent.text.contains(GIVEN_SECRET), "{sent}");
    }
    assert!(stored(&server, &tenant).await.is_none());
    for unknown in ["nobody", "imap"] {
        assert_eq!(owner.get(format!("{list}/{unknown}")).send().await.status, 404, "{unknown}");
    }
}

/// A client that is out of use connects no account, until it is put into use again.
#[tokio::test]
async fn a_client_is_disabled_and_enabled() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let (owner, list) = owner(&server).await;
    let google = format!("{list}/google");
    let disable = format!("{google}/disable");
    assert_eq!(owner.post(&disable, &token(&owner).await, &[]).send().await.status, 409, "there is none");
    let fields = [("client_id", "1234.apps.example"), ("public", "1")];
    assert_eq!(owner.post(&google, &token(&owner).await, &fields).send().await.status, 303);
    assert_eq!(owner.post(&disable, &token(&owner).await, &[]).send().await.status, 303);
    assert!(stored(&server, &tenant).await.expect("a client").disabled_at.is_some());
    let new = format!("/admin/apps/{}/accounts/new/google", tenant.application_id);
    let page = owner.get(&new).send().await;
    assert!(page.text.contains("client is disabled"), "{page}");
    let enable = format!("{google}/enable");
    assert_eq!(owner.post(&enable, &token(&owner).await, &[]).send().await.status, 303);
    assert!(stored(&server, &tenant).await.expect("a client").disabled_at.is_none());
    assert!(owner.get(&new).send().await.text.contains("Continue to Google"));
}

/// The steps of the manifest with the address to copy, and what a check finds before and after the client is registered.
#[tokio::test]
async fn a_provider_has_its_steps_and_a_check() {
    let server = TestServer::start().await;
    let (owner, list) = owner(&server).await;
    let google = format!("{list}/google");
    let check = format!("{google}/check");
    let page = owner.get(&google).send().await;
    for text in ["Google Cloud console", "href=\"https://console.cloud.google.com/auth/clients\""] {
        assert!(page.text.contains(text), "{text}: {page}");
    }
    assert_eq!(page.text.matches("/v1/auth/connectors/google/callback").count(), 1, "{page}");
    let links = page.text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let outside: Vec<&str> = links.filter(|link| link.contains(':')).collect();
    assert!(!outside.is_empty() && outside.iter().all(|link| link.starts_with("https://")), "{outside:?}");

    for (fields, text) in [
        (None, "not registered for this application"),
        (
            Some([("client_id", "1234.apps.example"), ("public", "1")]),
            "https://accounts.google.com/o/oauth2/v2/auth",
        ),
    ] {
        if let Some(fields) = fields {
            assert_eq!(owner.post(&google, &token(&owner).await, &fields).send().await.status, 303);
        }
        let checked = owner.post(&check, &token(&owner).await, &[]).send().await;
        assert_eq!(checked.status, 200, "{checked}");
        assert!(checked.text.contains(text), "{text}: {checked}");
        assert_eq!(checked.text.contains("1234.apps.example"), fields.is_some(), "{checked}");
        assert_whole(&checked);
    }
    let disable = format!("{google}/disable");
    assert_eq!(owner.post(&disable, &token(&owner).await, &[]).send().await.status, 303);
    let checked = owner.post(&check, &token(&owner).await, &[]).send().await;
    assert!(checked.text.contains("is disabled"), "{checked}");
    let developer = server.operator(Some(Role::Developer)).await;
    assert_eq!(developer.post(&check, &token(&developer).await, &[]).send().await.status, 404);
}

/// A client goes at a click while no account stands on it; else its provider's name has to be typed.
#[tokio::test]
async fn a_client_is_removed() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let (owner, list) = owner(&server).await;
    let fields = [("client_id", "1234.apps.example"), ("public", "1")];
    let google = format!("{list}/google");
    let remove = format!("{google}/remove");
    assert_eq!(led_to(&remove, &owner.get(&remove).send().await), google, "there is none");
    assert_eq!(owner.post(&remove, &token(&owner).await, &[]).send().await.status, 409);
    assert_eq!(owner.post(&google, &token(&owner).await, &fields).send().await.status, 303);
    let question = owner.get(&remove).send().await;
    assert!(question.text.contains("No account of this application"), "{question}");
    assert!(!question.text.contains("typed_name"), "{question}");
    assert_whole(&question);
    let removed = owner.post(&remove, &token(&owner).await, &[]).send().await;
    assert_eq!(led_to(&remove, &removed), list);
    assert!(stored(&server, &tenant).await.is_none());

    let sandbox = format!("{list}/sandbox");
    let remove = format!("{sandbox}/remove");
    assert_eq!(owner.post(&sandbox, &token(&owner).await, &fields).send().await.status, 303);
    account_of(&server, &tenant).await;
    let question = owner.get(&remove).send().await;
    assert!(question.text.contains("1 account of this application"), "{question}");
    assert!(question.text.contains("name=\"typed_name\""), "{question}");
    let reader = server.app.db.reader();
    for (typed, status, is_left) in [("", 409, true), ("google", 409, true), ("sandbox", 303, false)] {
        let sent = owner.post(&remove, &token(&owner).await, &[("typed_name", typed)]).send().await;
        assert_eq!(sent.status, status, "{typed}: {sent}");
        let client = oauth_clients::find(reader, &tenant, "sandbox").await.expect("the store answers");
        assert_eq!(client.is_some(), is_left, "{typed}");
    }
    let entries = audit_log::list_all(reader, i64::MAX, "", 100).await.expect("the log");
    let removed = entries.iter().filter(|entry| entry.act == "oauth_client_removed");
    let mut targets: Vec<&str> = removed.map(|entry| entry.target.as_str()).collect();
    targets.sort_unstable();
    assert_eq!(targets, ["google", "sandbox"]);
}

/// Developers see which providers are registered, and change none.
#[tokio::test]
async fn clients_are_for_owners() {
    let server = TestServer::start().await;
    let (_, list) = owner(&server).await;
    let developer = server.operator(Some(Role::Developer)).await;
    let page = developer.get(&list).send().await;
    assert!(page.status == 200 && !page.text.contains("providers/google\""), "{page}");
    assert_eq!(developer.get(format!("{list}/google")).send().await.status, 404);
}
