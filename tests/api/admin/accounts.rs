//! Connected accounts: what stands first, how a broken one is repaired, how one is connected, and who sees what of it.

use harness::browser::{Browser, Consent};
use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer};
use reqwest::Url;
use serde_json::json;
use service::manage::actor::Role;
use storage::sql::query;

use crate::admin::client::{account_of, assert_whole, led_to, other_application, token};

const HOSTILE: &str = "<script>alert(1)</script>\"onx='y' \u{202e}evil";
const ESCAPED: &str = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;onx=&#39;y&#39;";

/// A developer at the accounts of the application "test".
struct Desk {
    server: TestServer,
    developer: PanelUser,
    /// The path of the list.
    list: String,
}

impl Desk {
    async fn start() -> Desk {
        Desk::on(TestServer::start().await).await
    }

    async fn on(server: TestServer) -> Desk {
        let developer = server.operator(Some(Role::Developer)).await;
        let list = format!("/admin/apps/{}/accounts", server.test_application().await.application_id);
        Desk { server, developer, list }
    }

    /// Connects an account of the sandbox by its password; the connection's id.
    async fn connect(&self, account: &str) -> String {
        self.server.client().await.connect_account(account).await
    }

    /// The same of an account whose provider refuses the credentials from now on.
    async fn connect_broken(&self, account: &str) -> String {
        let id = self.connect(account).await;
        let fault = json!({ "status": 401, "times": 100 });
        self.server.provider(account).post("/sandbox/faults", fault).send().await.expect(201);
        let refresh = format!("/v1/connections/{id}/refresh");
        let client = self.server.client().await;
        client.post(refresh, json!({})).send().await.refused(409, "reauth_required");
        id
    }

    async fn end_faults(&self, account: &str) {
        self.server.provider(account).delete("/sandbox/faults").send().await.expect(204);
    }

    async fn status(&self, id: &str) -> String {
        let client = self.server.client().await;
        let connection = client.get(format!("/v1/connections/{id}")).send().await.expect(200);
        connection["status"].as_str().expect("a status").to_owned()
    }

    async fn page(&self, path: &str) -> Exchange {
        let page = self.developer.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        assert_whole(&page);
        page
    }

    /// Sends a form of the panel.
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Exchange {
        self.developer.post(path, &token(&self.developer).await, fields).send().await
    }

    /// Runs a statement with one text and the id of a connection.
    async fn change(&self, sql: &'static str, text: &str, id: &str) {
        let (text, id) = (text.to_owned(), id.to_owned());
        let changed: anyhow::Result<u64> = self
            .server
            .app
            .db
            .write(move |tx| Box::pin(async move { query(sql).bind(&text).bind(&id).execute(tx).await }))
            .await;
        assert_eq!(changed.expect("it is written"), 1);
    }

    /// Leaves for the provider from a form, and allows access there as `account`; the path of the panel to which the user returns.
    async fn consent(&self, left: &Exchange, account: &str) -> String {
        let browser = Browser::default();
        let back = browser.consent(&leads_to(left), account, Consent::Allow).await;
        let location = browser.open(&back).await.location();
        let url = Url::parse(&location).expect("an address");
        assert_eq!(url.path(), "/admin/connected", "{url}");
        format!("{}?{}", url.path(), url.query().unwrap_or_default())
    }
}

/// The address to which a page's header leads on: a form cannot lead to another site by itself.
#[track_caller]
fn leads_to(page: &Exchange) -> String {
    assert_eq!(page.status, 200, "{page}");
    let refresh = page.header("refresh").expect("a header");
    refresh.strip_prefix("0; url=").expect("an address").to_owned()
}

#[tokio::test]
async fn an_application_without_accounts_says_what_they_are() {
    let desk = Desk::start().await;
    let page = desk.page(&desk.list).await;
    assert!(page.text.contains("No accounts yet") && page.text.contains("accounts/new\""), "{page}");
}

#[tokio::test]
async fn trouble_stands_first_with_its_reason() {
    let desk = Desk::start().await;
    let (good, bad) = (desk.connect("alice").await, desk.connect_broken("bob").await);
    let page = desk.page(&desk.list).await;
    let (bad_at, good_at) = (page.text.find(&bad), page.text.find(&good));
    assert!(bad_at.is_some() && bad_at < good_at, "{page}");
    assert!(page.text.contains("Sandbox refused the stored credentials on "), "{page}");
    assert!(page.text.contains("has to connect it again."), "{page}");
    assert!(page.text.contains(&format!("{bad}/reconnect\"")), "the button that repairs it: {page}");
}

#[tokio::test]
async fn a_list_is_narrowed_by_state_provider_and_address() {
    let desk = Desk::start().await;
    let (alice, bob) = (desk.connect("alice").await, desk.connect_broken("bob").await);
    for (filter, has_alice, has_bob) in [
        ("state=active", true, false),
        ("state=reauth_required", false, true),
        ("state=nonsense", true, true),
        ("provider=sandbox", true, true),
        ("provider=google", false, false),
        ("address=AL", true, false),
        ("address=bob%40sandbox.test", false, true),
        ("address=b&state=active", false, false),
        ("address=%25", false, false),
        ("address=_lice", false, false),
    ] {
        let page = desk.page(&format!("{}?{filter}", desk.list)).await;
        assert_eq!(page.text.contains(&alice), has_alice, "{filter}: {page}");
        assert_eq!(page.text.contains(&bob), has_bob, "{filter}: {page}");
    }
    let long = format!("{}?address={}", desk.list, "x".repeat(10_000));
    assert!(desk.page(&long).await.text.contains("No account matches"));
}

/// 50 accounts a page, each on one of them; a cursor is of its list and its filter.
#[tokio::test]
async fn pages_hold_each_account_once() {
    let desk = Desk::start().await;
    let tenant = desk.server.test_application().await;
    let mut ids = Vec::new();
    for _ in 0..52 {
        ids.push(account_of(&desk.server, &tenant).await);
    }
    ids.push(desk.connect_broken("bob").await);
    for filter in ["", "?address=alice", "?state=active"] {
        let expected: Vec<&String> = ids.iter().filter(|id| filter.is_empty() || *id != &ids[52]).collect();
        let first = desk.page(&format!("{}{filter}", desk.list)).await;
        let (_, rest) = first.text.split_once("rel=\"next\" href=\"").expect("there are more");
        let next = rest.split('"').next().unwrap_or_default().replace("&amp;", "&");
        let (_, next) = next.split_once('?').expect("a query");
        let second = desk.page(&format!("{}?{next}", desk.list)).await;
        for id in expected {
            let times = [&first, &second].map(|page| usize::from(page.text.contains(id.as_str())));
            assert_eq!(times.iter().sum::<usize>(), 1, "{filter} {id}");
        }
        let (_, cursor) = next.split_once("cursor=").expect("a cursor");
        let other =
            desk.developer.get(format!("{}?provider=sandbox&cursor={cursor}", desk.list)).send().await;
        assert_eq!(other.status, 400, "{other}");
    }
}

/// The page says why an account does not work; trying again repairs it once the provider takes the credentials.
#[tokio::test]
async fn a_broken_account_is_tried_again() {
    let desk = Desk::start().await;
    let id = desk.connect_broken("alice").await;
    let own = format!("{}/{id}", desk.list);
    let refresh = format!("{own}/refresh");
    let page = desk.page(&own).await;
    assert!(page.text.contains("has to connect it again.") && page.text.contains("Last error"), "{page}");
    let refused = desk.post(&refresh, &[]).await;
    assert_eq!(refused.status, 409, "{refused}");
    assert!(refused.text.contains("still refuses the stored credentials"), "{refused}");
    desk.end_faults("alice").await;
    assert_eq!(led_to(&refresh, &desk.post(&refresh, &[]).await), own);
    assert_eq!(desk.status(&id).await, "active");
    let page = desk.page(&own).await;
    assert!(page.text.contains("The provider accepts the credentials."), "{page}");
    assert!(!page.text.contains("has to connect it again."), "{page}");
}

/// New credentials of the same account keep its id; those of another one are refused, and no secret is shown again.
#[tokio::test]
async fn an_account_is_connected_again_with_another_password() {
    let desk = Desk::start().await;
    let id = desk.connect_broken("alice").await;
    desk.end_faults("alice").await;
    let path = format!("{}/{id}/reconnect", desk.list);
    assert!(desk.page(&path).await.text.contains("value=\"alice@sandbox.test\""));
    let send = async |user_name: &str, password: &str| {
        desk.post(&path, &[("user_name", user_name), ("password", password)]).await
    };
    let wrong = send("alice@sandbox.test", "not-the-password").await;
    assert_eq!(wrong.status, 400, "{wrong}");
    assert!(wrong.text.contains("Sandbox refused the credentials."), "{wrong}");
    assert!(!wrong.text.contains("not-the-password"), "{wrong}");
    let other = send("bob@sandbox.test", "sandbox").await;
    assert_eq!(other.status, 409, "{other}");
    assert!(other.text.contains("open another account"), "{other}");
    assert_eq!(send("alice@sandbox.test", "").await.status, 400);
    assert_eq!(desk.status(&id).await, "reauth_required");
    let kept = send("alice@sandbox.test", "sandbox").await;
    assert_eq!(led_to(&path, &kept), format!("{}/{id}", desk.list));
    assert_eq!(desk.status(&id).await, "active");
}

#[tokio::test]
async fn an_account_is_connected_by_a_form() {
    let desk = Desk::start().await;
    let new = format!("{}/new", desk.list);
    let sandbox = format!("{new}/sandbox");
    assert!(desk.page(&new).await.text.contains("Connect alice"));
    desk.page(&sandbox).await;
    let made = desk.post(&sandbox, &[("how", "sandbox"), ("account", "alice")]).await;
    let own = led_to(&sandbox, &made);
    let page = desk.page(&own).await;
    assert!(page.text.contains("Account connected.") && page.text.contains("alice@sandbox.test"), "{page}");
    let fields = |user_name, password| {
        [("how", "credentials"), ("user_name", user_name), ("password", password), ("scopes", "email.read")]
    };
    let made = desk.post(&sandbox, &fields("bob@sandbox.test", "sandbox")).await;
    assert!(led_to(&sandbox, &made).starts_with(&format!("{}/conn_", desk.list)));
    let twice = desk.post(&sandbox, &fields("bob@sandbox.test", "sandbox")).await;
    assert!(twice.status == 409 && twice.text.contains("This account is connected already."), "{twice}");
    let wrong = desk.post(&sandbox, &fields("bob@sandbox.test", "wrong-secret")).await;
    assert_eq!(wrong.status, 400, "{wrong}");
    assert!(wrong.text.contains("value=\"bob@sandbox.test\""), "what was typed is kept: {wrong}");
    assert!(!wrong.text.contains("wrong-secret"), "{wrong}");
    let without = desk.post(&sandbox, &fields("bob@sandbox.test", "sandbox")[..3]).await;
    assert!(without.status == 400 && without.text.contains("Choose at least one scope."), "{without}");
    assert_eq!(desk.post(&sandbox, &[("how", "sandbox"), ("account", "mallory")]).await.status, 404);
    let imap = desk.post(&format!("{new}/imap"), &fields("ada", "x")).await;
    assert!(imap.status == 400 && imap.text.contains("credentials.imap is required"), "{imap}");
    assert_eq!(desk.developer.get(format!("{new}/nobody")).send().await.status, 404);
}

/// A form that is sent twice connects one account.
#[tokio::test]
async fn a_double_click_connects_once() {
    let desk = Desk::start().await;
    let sandbox = format!("{}/new/sandbox", desk.list);
    let token = token(&desk.developer).await;
    let fields = [("how", "sandbox"), ("account", "carol")];
    let first = desk.developer.post(&sandbox, &token, &fields).send().await;
    let again = desk.developer.post(&sandbox, &token, &fields).send().await;
    assert_eq!(led_to(&sandbox, &first), led_to(&sandbox, &again));
    assert_eq!(desk.server.client().await.all("/v1/connections").await.len(), 1);
}

/// The way to a provider and back: a new account, and the same one again under its id.
#[tokio::test]
async fn an_account_is_connected_at_its_provider() {
    let desk = Desk::start().await;
    let sandbox = format!("{}/new/sandbox", desk.list);
    let fields = [("how", "oauth"), ("oauth_scopes", "email.read"), ("oauth_scopes", "calendar.read")];
    let left = desk.post(&sandbox, &fields).await;
    let back = desk.consent(&left, "alice").await;
    let own = led_to(&back, &desk.developer.get(&back).send().await);
    let page = desk.page(&own).await;
    assert!(page.text.contains("email.read, calendar.read"), "{page}");
    let reconnect = format!("{own}/reconnect");
    desk.page(&reconnect).await;
    let back = desk.consent(&desk.post(&reconnect, &[]).await, "alice").await;
    assert_eq!(led_to(&back, &desk.developer.get(&back).send().await), own);
    // Another account does not take its place.
    let back = desk.consent(&desk.post(&reconnect, &[]).await, "bob").await;
    let refused = desk.developer.get(&back).send().await;
    assert!(refused.text.contains("You signed in with a different account"), "{refused}");
    assert_eq!(desk.server.client().await.all("/v1/connections").await.len(), 1);
    let nothing = desk.post(&sandbox, &[("how", "oauth")]).await;
    assert!(nothing.status == 400 && nothing.text.contains("Choose at least one scope."), "{nothing}");
}

/// A return with another's state, with a changed one, too late, or after signing out leads nowhere.
#[tokio::test]
async fn a_return_is_of_its_starter() {
    let desk = Desk::start().await;
    let sandbox = format!("{}/new/sandbox", desk.list);
    let left = desk.post(&sandbox, &[("how", "oauth"), ("oauth_scopes", "email.read")]).await;
    let back = desk.consent(&left, "alice").await;
    let colleague = desk.server.operator(Some(Role::Developer)).await;
    let changed = back.replace("state=", "state=x");
    for (user, path) in [
        (&colleague, back.as_str()),
        (&desk.server.visitor(), back.as_str()),
        (&desk.developer, changed.as_str()),
        (&desk.developer, "/admin/connected"),
        (&desk.developer, "/admin/connected?state=a.b&connection_id=conn_1"),
    ] {
        let page = user.get(path).send().await;
        assert_eq!(page.status, 404, "{path}: {page}");
        assert!(page.text.contains("Start again"), "{page}");
        assert_whole(&page);
    }
    assert_eq!(desk.developer.get(&back).send().await.status, 303);
    desk.server.clock.advance_ms(15 * 60_000);
    assert_eq!(desk.developer.get(&back).send().await.status, 404, "it is too old");
}

/// The text of an address is never shown: the sentence is the panel's own.
#[tokio::test]
async fn a_refused_return_says_why() {
    let desk = Desk::start().await;
    let sandbox = format!("{}/new/sandbox", desk.list);
    let left = desk.post(&sandbox, &[("how", "oauth"), ("oauth_scopes", "email.read")]).await;
    let browser = Browser::default();
    let back = browser.consent(&leads_to(&left), "alice", Consent::Deny).await;
    let location = browser.open(&back).await.location();
    let mut url = Url::parse(&location).expect("an address");
    url.query_pairs_mut().append_pair("error_description", HOSTILE);
    let page = desk.developer.get(format!("{}?{}", url.path(), url.query().unwrap_or_default())).send().await;
    assert!(page.text.contains("Access was denied at the provider."), "{page}");
    assert!(!page.text.contains("alert(1)"), "{page}");
    assert_whole(&page);
}

/// Names and addresses that others chose, and errors of providers, are text on every page of an account.
#[tokio::test]
async fn names_and_errors_of_providers_are_text() {
    let desk = Desk::start().await;
    let id = desk.connect("alice").await;
    let error =
        json!({ "code": "provider_rejected", "message": HOSTILE, "at": "2026-03-01T08:00:00Z" }).to_string();
    for (sql, text) in [
        ("update connections set email = $1 where id = $2", HOSTILE),
        ("update connections set display_name = $1 where id = $2", HOSTILE),
        ("update connections set last_refresh_error = $1 where id = $2", error.as_str()),
        (
            "update connections set status_reason = $1, status = 'reauth_required' where id = $2",
            "token_revoked",
        ),
        (
            "insert into sync_item_errors (organization_id, application_id, connection_id, surface, scope_id, source_id, \
             code, message, attempts, at) select organization_id, application_id, id, 'calendar', '', 'item', 'invalid', \
             $1, 1, 0 from connections where id = $2",
            HOSTILE,
        ),
    ] {
        desk.change(sql, text, &id).await;
    }
    let owner = desk.server.operator(Some(Role::Owner)).await;
    let own = format!("{}/{id}", desk.list);
    for path in [&desk.list, &own, &format!("{own}/reconnect"), &format!("{own}/disconnect")] {
        let page = owner.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        assert!(!page.text.contains("<script>alert"), "{path}: {page}");
        assert!(page.text.contains(ESCAPED), "{path}: {page}");
        assert_whole(&page);
    }
    let page = owner.get(&own).send().await;
    assert!(page.text.matches(ESCAPED).count() >= 4, "address, name, error, and item: {page}");
    assert!(page.text.contains("Items that can&#39;t be read"), "{page}");
}

/// A viewer reads the pages, and has no button.
#[tokio::test]
async fn viewers_change_nothing() {
    let desk = Desk::start().await;
    let id = desk.connect_broken("alice").await;
    let viewer = desk.server.operator(Some(Role::Viewer)).await;
    let own = format!("{}/{id}", desk.list);
    for path in [&desk.list, &own] {
        let page = viewer.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        for button in ["method=\"post\"", "/reconnect\"", "/disconnect\"", "accounts/new\""] {
            assert!(!page.text.contains(button), "{path} {button}: {page}");
        }
    }
    let developers = desk.page(&own).await;
    assert!(!developers.text.contains("/disconnect\""), "only an owner disconnects: {developers}");
}

/// The ids of another organization's accounts are unknown behind one's own application.
#[tokio::test]
async fn accounts_of_others_are_not_there() {
    let desk = Desk::start().await;
    let other = other_application(&desk.server).await;
    let theirs = account_of(&desk.server, &other).await;
    let owner = desk.server.operator(Some(Role::Owner)).await;
    let form = token(&owner).await;
    for end in ["", "/reconnect", "/disconnect"] {
        let path = format!("{}/{theirs}{end}", desk.list);
        assert_eq!(owner.get(&path).send().await.status, 404, "{path}");
    }
    for end in ["/refresh", "/reconnect", "/disconnect"] {
        let path = format!("{}/{theirs}{end}", desk.list);
        assert_eq!(owner.post(&path, &form, &[]).send().await.status, 404, "{path}");
    }
    let list = owner.get(&desk.list).send().await;
    assert!(!list.text.contains(&theirs), "{list}");
}

/// Disconnecting is asked for twice: by a page that says what follows, and by the password after 15 minutes.
#[tokio::test]
async fn disconnecting_is_confirmed() {
    let desk = Desk::start().await;
    let id = desk.connect("alice").await;
    let owner = desk.server.operator(Some(Role::Owner)).await;
    let path = format!("{}/{id}/disconnect", desk.list);
    let page = owner.get(&path).send().await;
    assert!(page.text.contains("Disconnect alice@sandbox.test?"), "{page}");
    assert!(page.text.contains("deletes the credentials of this account"), "{page}");
    desk.server.clock.advance_ms(15 * 60_000);
    for asked in [owner.get(&path), owner.post(&path, &token(&owner).await, &[])] {
        let asked = asked.send().await;
        assert!(led_to(&path, &asked).starts_with("/admin/confirm?next="), "{asked}");
    }
    assert_eq!(desk.status(&id).await, "active");
    let fresh = desk.server.operator(Some(Role::Owner)).await;
    let ended = fresh.post(&path, &token(&fresh).await, &[]).send().await;
    assert_eq!(led_to(&path, &ended), desk.list);
    assert!(fresh.get(&desk.list).send().await.text.contains("Account disconnected."));
    let client = desk.server.client().await;
    client.get(format!("/v1/connections/{id}")).send().await.refused(404, "not_found");
}
