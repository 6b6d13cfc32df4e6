//! A newcomer's walk: from the printed link to a key whose line for a terminal works.

use harness::{Exchange, TestServer};
use reqwest::Url;
use switchboard::admin::routes::{PageAccess, TABLE};

use crate::admin::client::{assert_whole, curl_line, first_operator, key_of, led_to, path_of};

/// The URL and the value of the header of a line for a terminal.
fn read_line(line: &str) -> (String, String) {
    let quoted: Vec<&str> = line.split('\'').skip(1).step_by(2).collect();
    let header = quoted[1].strip_prefix("Authorization: ").expect("the header");
    (quoted[0].to_owned(), header.to_owned())
}

#[tokio::test]
async fn a_newcomer_comes_from_the_link_to_a_first_request() {
    let server = TestServer::start().await;
    let mut ada = first_operator(&server).await;
    let home = ada.get("/admin/").send().await;
    assert!(home.text.contains("No organizations yet"), "{home}");
    assert_whole(&home);

    let new = "/admin/orgs/new";
    let organization = led_to(new, &ada.submit(new, new, &[("name", "Acme")]).await);
    let page = ada.get(&organization).send().await;
    assert!(page.text.contains("No applications yet"), "{page}");
    // Another host may have read the session a moment before.
    if !server.app.db.is_shared() {
        assert!(page.text.contains("Organization saved."), "what was done is said once: {page}");
        assert!(!ada.get(&organization).send().await.text.contains("Organization saved."));
    }

    let new = format!("{organization}/apps/new");
    let application = led_to(&new, &ada.submit(&new, &new, &[("name", "Scheduling")]).await);
    let overview = ada.get(&application).send().await;
    assert!(overview.text.contains("0 of 5 done"), "{overview}");
    assert_whole(&overview);

    let new = format!("{application}/keys/new");
    let form = ada.get(&new).send().await;
    assert_whole(&form);
    let made = ada.submit(&new, &new, &[("name", "Server, production"), ("preset", "read")]).await;
    assert_eq!(made.status, 200, "{made}");
    assert_whole(&made);
    let (url, authorization) = read_line(&curl_line(&made));
    let path = url.strip_prefix(&server.app.config.public_address()).expect("the address of the service");
    let called: Exchange = server.anonymous().get(path).header("authorization", &authorization).send().await;
    assert_eq!(called.status, 200, "{called}");

    let overview = ada.get(&application).send().await;
    assert!(overview.text.contains("1 of 5 done"), "{overview}");
    let keys = ada.get(format!("{application}/keys")).send().await;
    assert!(keys.text.contains("Server, production") && keys.text.contains("Reads everything"), "{keys}");
}

/// An id leads to its page, from every page.
#[tokio::test]
async fn an_id_leads_to_its_page() {
    let server = TestServer::start().await;
    let (admin, tenant) = (server.operator(None).await, server.test_application().await);
    let key = key_of(&server, &tenant).await;
    let (organization, application) = (&tenant.organization_id, &tenant.application_id);
    for (text, page) in [
        (organization.as_str(), format!("/admin/orgs/{organization}")),
        (application.as_str(), format!("/admin/apps/{application}")),
        (key.as_str(), format!("/admin/apps/{application}/keys/{key}")),
        (admin.id.as_str(), format!("/admin/system/operators/{}", admin.id)),
        (admin.email.as_str(), format!("/admin/system/operators/{}", admin.id)),
    ] {
        let asked = format!("/admin/search?q={text}");
        assert_eq!(led_to(&asked, &admin.get(&asked).send().await), page);
    }
    let nothing = admin.get("/admin/search?q=key_01JQ8Z6V9C4T7R2M5N8P3K1W0X").send().await;
    assert_eq!(nothing.status, 404, "{nothing}");
}

/// Every page for an administrator is one whole document, and its style and script are there.
#[tokio::test]
async fn pages_are_whole() {
    let server = TestServer::start().await;
    let (admin, tenant) = (server.operator(None).await, server.test_application().await);
    let pages = TABLE.iter().filter(|route| !route.is_form() && route.access != PageAccess::Open);
    for route in pages {
        let path = path_of(&server, route.path, &tenant).await;
        let page = admin.get(&path).send().await;
        assert!(page.status < 500, "{path}: {page}");
        // A redirect and a file are no pages.
        if page.status == 303 || path.ends_with("/csv") {
            continue;
        }
        assert_whole(&page);
        assert_eq!(page.text.matches("<h1").count(), 1, "{path}: {page}");
        for asset in page.text.split('"').filter(|part| part.contains("assets/")) {
            let base = Url::parse("http://panel.test").and_then(|url| url.join(&path)).expect("an address");
            let url = base.join(asset).expect("an address");
            let loaded = server.visitor().get(url.path()).send().await;
            assert_eq!(loaded.status, 200, "{path}: {asset}");
        }
    }
}
