//! The first start: there is no operator yet, and a link makes the first one.

use harness::TestServer;
use harness::panel_user::{PanelUser, form_token};
use service::manage::actor::Role;
use service::manage::operators::{directory, links};

use crate::admin::PASSWORD;

/// The path of a new link that makes the first operator.
async fn first_link(server: &TestServer) -> String {
    let link = links::first(&server.app).await.expect("the link is stored");
    link.expect("there is no operator yet").path()
}

fn ada() -> [(&'static str, &'static str); 3] {
    [("email", "ada@example.com"), ("name", "Ada"), ("password", PASSWORD)]
}

async fn operators(server: &TestServer) -> Vec<String> {
    let all = directory::list(&server.app, "", 10).await.expect("the operators are read");
    all.into_iter().map(|operator| operator.email).collect()
}

/// Opening a link uses nothing up, so that a preview in a chat does no harm. Its form makes the operator, who is signed in then.
#[tokio::test]
async fn a_link_makes_the_first_operator_once() {
    let server = TestServer::start().await;
    let path = first_link(&server).await;
    let mut ada_browser = server.visitor();
    for _ in 0..2 {
        assert_eq!(server.visitor().get(&path).send().await.status, 200);
    }
    assert!(operators(&server).await.is_empty());
    let answer = ada_browser.submit(&path, &path, &ada()).await;
    assert_eq!(answer.status, 303, "{answer}");
    assert_eq!(operators(&server).await, ["ada@example.com"]);
    assert_eq!(ada_browser.get("/admin").send().await.status, 200);

    assert_eq!(server.visitor().get(&path).send().await.status, 404, "it was used");
    assert!(links::first(&server.app).await.expect("the store answers").is_none(), "there is an operator");
}

/// An unused link ends after a day; the next start prints another one.
#[tokio::test]
async fn a_link_works_for_a_day() {
    let server = TestServer::start().await;
    let path = first_link(&server).await;
    server.clock.advance_ms(86_399_999);
    assert_eq!(server.visitor().get(&path).send().await.status, 200);
    server.clock.advance_ms(1);
    assert_eq!(server.visitor().get(&path).send().await.status, 404);
    let another = first_link(&server).await;
    assert_eq!(server.visitor().get(&another).send().await.status, 200);
}

/// A form for signing in would be of no use to anybody.
#[tokio::test]
async fn the_panel_says_where_the_link_is() {
    let server = TestServer::start().await;
    for path in ["/admin", "/admin/sign-in"] {
        let page = server.visitor().get(path).send().await;
        assert!(page.text.contains("switchboard admin link"), "{page}");
        assert!(!page.text.contains("<form"), "{page}");
    }
}

/// A password that others guess makes no operator; the form keeps what was typed, but for the password.
#[tokio::test]
async fn a_weak_password_makes_nobody() {
    let server = TestServer::start().await;
    let path = first_link(&server).await;
    let mut visitor = server.visitor();
    for weak in ["", "short", "aaaaaaaaaaaaaaaa", "ada@example.com"] {
        let fields = [("email", "ada@example.com"), ("name", "Ada"), ("password", weak)];
        let answer = visitor.submit(&path, &path, &fields).await;
        assert_eq!(answer.status, 400, "{weak:?}: {answer}");
        assert!(answer.text.contains("value=\"ada@example.com\""), "{answer}");
    }
    assert!(operators(&server).await.is_empty());
}

/// Every host prints a link of its own. Of two people who follow two of them, one is the first.
#[tokio::test]
async fn one_link_of_several_makes_the_first_operator() {
    let server = TestServer::start().await;
    let paths = [first_link(&server).await, first_link(&server).await];
    let browsers = [opened(&server, &paths[0]).await, opened(&server, &paths[1]).await];
    let bo = [("email", "bo@example.com"), ("name", "Bo"), ("password", PASSWORD)];
    let (first, second) = tokio::join!(
        browsers[0].0.post(&paths[0], &browsers[0].1, &ada()).send(),
        browsers[1].0.post(&paths[1], &browsers[1].1, &bo).send(),
    );
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses[0], 303, "{first}\n{second}");
    // The other link is gone, or there is an operator already: whichever is seen first.
    assert!([404, 409].contains(&statuses[1]), "{first}\n{second}");
    assert_eq!(operators(&server).await.len(), 1);
}

/// A browser that has opened a link, with the token of its form.
async fn opened(server: &TestServer, path: &str) -> (PanelUser, String) {
    let mut browser = server.visitor();
    let page = browser.get(path).send().await;
    browser.take_cookies(&page);
    let token = form_token(&page.text).to_owned();
    (browser, token)
}

/// With an address of its own the panel is there alone; switched off it is nowhere.
#[tokio::test]
async fn the_panel_is_served_where_the_settings_say() {
    let apart = TestServer::builder().config(|c| c.admin_listen = "127.0.0.1:0".parse().ok()).start().await;
    apart.client().await.get("/admin").send().await.refused(404, "not_found");
    assert_eq!(apart.visitor().get("/admin").send().await.status, 200);
    assert_eq!(apart.visitor().get("/v1/connections").send().await.status, 404, "the API is elsewhere");

    let without = TestServer::builder().config(|c| c.admin = false).start().await;
    let client = without.client().await;
    client.get("/admin").send().await.refused(404, "not_found");
    client.get("/admin/sign-in").send().await.refused(404, "not_found");
}

/// Operators of each role see the panel; an API key has no effect there.
#[tokio::test]
async fn a_session_opens_the_panel_and_a_key_does_not() {
    let server = TestServer::start().await;
    for role in [None, Some(Role::Owner), Some(Role::Developer), Some(Role::Viewer)] {
        let operator = server.operator(role).await;
        let page = operator.get("/admin").send().await;
        assert_eq!(page.status, 200, "{role:?}: {page}");
    }
    let key = server.client().await.key.expect("a key");
    let asked = server.visitor().get("/admin").header("authorization", &format!("Bearer {key}")).send().await;
    assert_eq!(asked.status, 303, "{asked}");
}
