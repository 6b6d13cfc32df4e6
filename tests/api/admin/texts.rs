//! Texts of others on pages: they are text, are cut, and end neither an attribute nor a header.

use harness::TestServer;
use http::Method;
use reqwest::Url;
use service::manage::actor::Role;
use storage::api_keys;

use crate::admin::client::{assert_whole, led_to, token};

const HOSTILE: &str = "<script>alert(1)</script>\"onx='y' \u{202e}evil &amp;";

/// The headers of every page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Names that were chosen to harm readers are shown as they are, on every page that shows them.
#[tokio::test]
async fn names_are_text() {
    let server = TestServer::start().await;
    let mut admin = server.operator(None).await;
    let new = "/admin/orgs/new";
    let organization = led_to(new, &admin.submit(new, new, &[("name", HOSTILE)]).await);
    let new = format!("{organization}/apps/new");
    let application = led_to(&new, &admin.submit(&new, &new, &[("name", HOSTILE)]).await);
    let new = format!("{application}/keys/new");
    let made = admin.submit(&new, &new, &[("name", HOSTILE), ("preset", "all")]).await;
    assert_eq!(made.status, 200, "{made}");
    let keys = format!("{application}/keys");
    let page = admin.get(&keys).send().await;
    let (_, rest) = page.text.split_once("/keys/key_").expect("the key is listed");
    let key = format!("{keys}/key_{}", rest.split('"').next().unwrap_or_default());
    let revoke = format!("{key}/revoke");
    let settings = format!("{application}/settings");
    let home = "/admin/".to_owned();
    for path in [&home, &organization, &application, &keys, &key, &revoke, &settings] {
        let page = admin.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        assert!(!page.text.contains("<script>alert"), "{path}: {page}");
        assert!(
            page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;onx=&#39;y&#39;"),
            "{path}: {page}"
        );
        assert_whole(&page);
    }
}

/// A name has 100 characters at most, and no control characters; lists show 80 of them.
#[tokio::test]
async fn names_are_cut() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    for wrong in [String::new(), "x".repeat(101), "a\u{1}b".to_owned(), "x".repeat(10 << 10)] {
        let sent = admin.post("/admin/orgs/new", &token(&admin).await, &[("name", &wrong)]).send().await;
        assert_eq!(sent.status, 400, "{}: {}", wrong.len(), sent.status);
    }
    let long = "y".repeat(100);
    let sent = admin.post("/admin/orgs/new", &token(&admin).await, &[("name", &long)]).send().await;
    assert_eq!(sent.status, 303, "{sent}");
    let home = admin.get("/admin/").send().await;
    assert!(home.text.contains(&format!(">{}…<", "y".repeat(80))), "{home}");
}

/// An address that could run as a script is registered nowhere, and is no link.
#[tokio::test]
async fn links_are_https() {
    let server = TestServer::start().await;
    let owner = server.operator(Some(Role::Owner)).await;
    let settings = format!("/admin/apps/{}/settings", server.test_application().await.application_id);
    let add = format!("{settings}/redirects");
    for wrong in
        ["javascript:alert(1)", "data:text/html,x", "http://app.example.com/cb", "https://a.example/#x", ""]
    {
        let sent = owner.post(&add, &token(&owner).await, &[("redirect", wrong)]).send().await;
        assert_eq!(sent.status, 400, "{wrong}: {sent}");
        assert!(!sent.text.contains("href=\"javascript:") && !sent.text.contains("href=\"data:"), "{sent}");
    }
    let good = "https://app.example.com/connected";
    let sent = owner.post(&add, &token(&owner).await, &[("redirect", good)]).send().await;
    assert_eq!(led_to(&add, &sent), settings);
    assert!(owner.get(&settings).send().await.text.contains(good));
    let remove = format!("{add}/remove");
    let sent = owner.post(&remove, &token(&owner).await, &[("redirect", good)]).send().await;
    assert_eq!(led_to(&remove, &sent), settings);
    assert!(!owner.get(&settings).send().await.text.contains(good));
}

/// A line break in a name, a handle or a filter makes no header, and no line of the log.
#[tokio::test]
async fn no_header_is_made() {
    let server = TestServer::start().await;
    let owner = server.operator(Some(Role::Owner)).await;
    let settings = format!("/admin/apps/{}/settings", server.test_application().await.application_id);
    let bad = "x\r\nset-cookie: a=b";
    for (name, handle) in [(bad, ""), ("test", bad)] {
        let fields = [("name", name), ("handle", handle)];
        let sent = owner.post(&settings, &token(&owner).await, &fields).send().await;
        assert_eq!(sent.status, 400, "{sent}");
        assert_eq!(sent.header("set-cookie"), None);
    }
    let query = Url::parse_with_params("http://x.test", [("q", bad)]).expect("a query");
    let asked = owner.get(format!("/admin/search?{}", query.query().unwrap_or_default())).send().await;
    assert_eq!((asked.status, asked.header("set-cookie")), (404, None), "{asked}");
}

/// Name and handle of an application change together, and say which one is wrong.
#[tokio::test]
async fn an_application_has_a_name_and_a_handle() {
    let server = TestServer::start().await;
    let owner = server.operator(Some(Role::Owner)).await;
    let tenant = server.test_application().await;
    let settings = format!("/admin/apps/{}/settings", tenant.application_id);
    let fields = [("name", "Scheduling"), ("handle", "acme")];
    let sent = owner.post(&settings, &token(&owner).await, &fields).send().await;
    assert_eq!(led_to(&settings, &sent), settings);
    let all = api_keys::applications(server.app.db.reader()).await.expect("the applications");
    let found = all.iter().find(|found| found.tenant == tenant).expect("the application");
    assert_eq!((found.name.as_str(), found.handle.as_deref()), ("Scheduling", Some("acme")));
    let sent = owner.post(&settings, &token(&owner).await, &[("name", "Scheduling"), ("handle", "A B")]);
    let sent = sent.send().await;
    assert!(sent.text.contains("Use 3 to 40 lowercase letters"), "{sent}");
}

/// Filters and cursors are bound: what is no cursor is refused, and a long text finds nothing.
#[tokio::test]
async fn filters_are_bound() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    let application = server.test_application().await.application_id;
    for path in [
        "/admin/".to_owned(),
        format!("/admin/apps/{application}/keys"),
        "/admin/system/audit".to_owned(),
        "/admin/system/jobs".to_owned(),
    ] {
        for cursor in ["x", "%25_", "a.b", "W10.AAAAAAAAAAAAAAAAAAAAAA"] {
            let asked = admin.get(format!("{path}?cursor={cursor}")).send().await;
            assert_eq!(asked.status, 400, "{path} {cursor}: {asked}");
        }
    }
    for text in ["%25", "_", "key_%25", &"x".repeat(10_000), "a@b@c", "opr_"] {
        let asked = admin.get(format!("/admin/search?q={text}")).send().await;
        assert_eq!(asked.status, 404, "{asked}");
    }
}

/// No page is shown in a frame, or shares a window with another site, or is kept or found; also those that refuse.
#[tokio::test]
async fn never_framed() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    let visitor = server.visitor();
    let asks = [
        admin.get("/admin/"),
        admin.get("/admin/nothing/here"),
        admin.get("/admin/sign-out"),
        admin.post("/admin/orgs/new", "nonsense", &[("name", "x")]),
        visitor.get("/admin/sign-in"),
        visitor.get("/admin/account"),
    ];
    for ask in asks {
        let page = ask.send().await;
        for (name, value) in [
            ("content-security-policy", POLICY),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "private, no-store"),
        ] {
            assert_eq!(page.header(name), Some(value), "{name} of {page}");
        }
        assert!(page.header("x-robots-tag").is_some_and(|value| value.contains("noindex")));
        assert!(page.header("x-request-id").is_some_and(|id| id.starts_with("req_")));
        assert_eq!(page.header("access-control-allow-origin"), None);
    }
}

/// An operator has so many pages a minute.
#[tokio::test]
async fn pages_have_a_budget() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    let mut refused = None;
    for _ in 0..1_300 {
        let page = admin.get("/admin/nothing").send().await;
        if page.status == 429 {
            refused = Some(page);
            break;
        }
    }
    let refused = refused.expect("the budget ends");
    assert_eq!(refused.header("retry-after"), Some("60"), "{refused}");
    server.clock.advance_ms(60_000);
    assert_eq!(admin.get("/admin/").send().await.status, 200);
}

/// A flood of cookies that nobody has costs no more reads than the budget of its address.
#[tokio::test]
async fn unknown_cookies_are_counted_before_they_are_read() {
    let server = TestServer::start().await;
    let mut visitor = server.visitor();
    let metrics = server.app.metrics.clone();
    let reads = || metrics.request_statements("/admin/account", &Method::GET).statements;
    let (mut known, mut refused) = (reads(), 0);
    for number in 0..4_000 {
        visitor.cookies = format!("sb_session={number:043}");
        let page = visitor.get("/admin/account").send().await;
        let now = reads();
        if now == known {
            assert_eq!(page.status, 429, "{page}");
            refused = number;
            break;
        }
        known = now;
    }
    assert!(refused >= 1_000, "there is room for several operators: {refused}");
    server.clock.advance_ms(60_000);
    visitor.get("/admin/account").send().await;
    assert!(reads() > known, "the budget is there again");
}
