//! An administrator approves the application for the users of an organization: the address of the provider's page, and the way back.

use harness::TestServer;
use harness::browser::{Consent, parameter};
use serde_json::json;

use crate::oauth::{Flow, assert_error, assert_page, connector};

/// The administrators' page of the connector. There is no such host.
const PAGE: &str = "https://login.sandbox.test/{realm}/approve?prompt=x";
/// The setting in its address. Users sign in at the realm `all`, which administrators do not have.
const REALM: &str = r#"{ name = "realm", kind = "segment", default = "all", admin_consent_values = { all = "organizations" } }"#;

/// A user whose administrator has to approve the application first gets an address that works as it stands. The administrator's return is
/// no sign-in: it gets a page and uses nothing up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_approves_and_comes_back() {
    let dir = connector("sandbox", |manifest| {
        let page = format!("[auth]\nadmin_consent_url = \"{PAGE}\"\nsettings = [{REALM}]\n");
        manifest.replacen("[auth]\n", &page, 1)
    });
    let connectors = dir.path().to_owned();
    let flow =
        Flow::on(TestServer::builder().config(|c| c.connectors_dir = Some(connectors)).start().await).await;
    let blocked = flow.browser.open(&flow.returned(json!({}), "admin", Consent::Allow).await).await;
    assert_error(&blocked, "admin_blocked");
    let description = parameter(&blocked.location(), "error_description").expect("a description");
    let (_, address) = description.split_once(": ").expect("the page's address");
    let page = PAGE.replace("{realm}", "organizations");
    assert!(address.starts_with(&format!("{page}&client_id=")), "{address}");
    let callback = format!("http://{}/v1/auth/connectors/sandbox/callback", flow.server.address);
    assert_eq!(parameter(address, "redirect_uri").as_deref(), Some(callback.as_str()), "{address}");
    let scope = parameter(address, "scope").expect("scopes");
    let mut scopes: Vec<&str> = scope.split(' ').collect();
    scopes.sort_unstable();
    assert_eq!((scopes.as_slice(), parameter(address, "state")), (&["calendar.read", "mail.read"][..], None));

    let good = flow.returned(json!({}), "alice", Consent::Allow).await;
    let state = parameter(&good, "state").expect("a state");
    for (query, status, title) in [
        ("admin_consent=True&tenant=t&scope=mail.read".to_owned(), 200, "The application is approved"),
        (format!("admin_consent=True&state={state}"), 200, "The application is approved"),
        ("admin_consent=True&error=consent_required".to_owned(), 400, "The application was not approved"),
        ("error=permission_denied&error_description=no".to_owned(), 400, "The application was not approved"),
    ] {
        let url = format!("{callback}?{query}");
        let page = flow.browser.open(&url).await;
        assert_page(&page, status);
        assert!(page.text.contains(title), "{query}: {page:#?}");
        flow.api.get(flow.path(&url)).send().await.refused(400, "invalid_parameter");
    }
    assert_eq!(flow.count_connections().await, 0);
    assert_eq!(flow.browser.open(&good).await.status, 302);
    assert_eq!(flow.count_connections().await, 1);
}
