//! The log of requests: its list and filters, one request with the field at fault, its switch, and who sees what.

use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer};
use reqwest::Url;
use serde_json::json;
use service::app::request_log::writing;
use service::manage::actor::Role;
use storage::audit_log;
use storage::request_log::RequestEntry;

use crate::admin::client::{assert_whole, led_to, logged, other_application, request_of, token};

const HOSTILE: &str = "<script>alert(1)</script>";

/// A server with an operator at the requests of the application "test".
struct Desk {
    server: TestServer,
    viewer: PanelUser,
    /// The path of the application.
    application: String,
}

impl Desk {
    async fn start() -> Desk {
        let server = TestServer::start().await;
        let viewer = server.operator(Some(Role::Viewer)).await;
        let application = format!("/admin/apps/{}", server.test_application().await.application_id);
        Desk { server, viewer, application }
    }

    fn list(&self) -> String {
        format!("{}/requests", self.application)
    }

    async fn page(&self, path: &str) -> Exchange {
        let page = self.viewer.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        assert_whole(&page);
        page
    }

    /// Logs a request; its id. Each is a moment later than the one before it.
    async fn log(&self, status: i64, key_id: &str) -> String {
        self.server.clock.advance_ms(1);
        let tenant = self.server.test_application().await;
        let entry = RequestEntry {
            application_id: tenant.application_id,
            id: self.server.app.new_id(base::ids::Kind::Request),
            key_id: key_id.to_owned(),
            at: self.server.app.now(),
            method: "GET".to_owned(),
            route: if status == 404 { String::new() } else { "/v1/calendars/{calendarId}".to_owned() },
            path: format!("/v1/calendars/{HOSTILE}"),
            status,
            ms: 12,
            ip: "203.0.113.7".to_owned(),
            error_code: (status >= 400).then(|| "not_found".to_owned()),
            error_param: (status >= 400).then(|| HOSTILE.to_owned()),
            bytes_in: 0,
            bytes_out: 2_048,
            has_bodies: false,
        };
        logged(&self.server, entry).await
    }
}

/// The address of the page that a page's link leads to, by the link's `rel`.
#[track_caller]
fn way(from: &str, page: &Exchange, rel: &str) -> String {
    let start = format!("rel=\"{rel}\" href=\"");
    let (_, rest) = page.text.split_once(&start).unwrap_or_else(|| panic!("no {rel} in {page}"));
    let href = rest.split('"').next().unwrap_or_default().replace("&amp;", "&");
    let base = Url::parse("http://panel.test").and_then(|url| url.join(from)).expect("an address");
    let url = base.join(&href).expect("an address");
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// The newest requests come first; a filter by status or key leaves out the others, and a cursor is of one filter.
#[tokio::test]
async fn requests_are_listed_and_filtered() {
    let desk = Desk::start().await;
    let list = desk.list();
    let empty = desk.page(&list).await;
    assert!(empty.text.contains("No requests yet"), "{empty}");
    let (good, refused) = (desk.log(200, "key_one").await, desk.log(404, "key_two").await);
    let failed = desk.log(503, "key_one").await;
    let page = desk.page(&list).await;
    let places = [&failed, &refused, &good].map(|id| page.text.find(&format!("/requests/{id}\"")));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "newest first: {page}");
    assert!(page.text.contains("GET /v1/calendars/{calendarId}"), "{page}");
    assert!(!page.text.contains(HOSTILE) && page.text.contains("(unknown path)"), "{page}");
    for (query, seen, unseen) in [
        ("status=2xx", vec![&good], vec![&refused, &failed]),
        ("status=4xx", vec![&refused], vec![&good, &failed]),
        ("status=5xx", vec![&failed], vec![&good, &refused]),
        ("status=error&key=", vec![&refused, &failed], vec![&good]),
        ("key=key_one", vec![&good, &failed], vec![&refused]),
        ("status=error&key=key_one", vec![&failed], vec![&good, &refused]),
        ("status=%25", vec![&good, &refused, &failed], vec![]),
    ] {
        let page = desk.page(&format!("{list}?{query}")).await;
        for (ids, is_seen) in [(seen, true), (unseen, false)] {
            for id in ids {
                assert_eq!(page.text.contains(id.as_str()), is_seen, "{query} {id}: {page}");
            }
        }
    }
    let none = desk.page(&format!("{list}?key=key_none")).await;
    assert!(none.text.contains("No request matches"), "{none}");
    let long = "a".repeat(10_000);
    for wrong in ["key=%25", "key=a+b", &format!("key={long}"), "cursor=nonsense"] {
        let page = desk.viewer.get(format!("{list}?{wrong}")).send().await;
        assert_eq!(page.status, 400, "{wrong}: {page}");
    }
    let overview = desk.page(&desk.application).await;
    assert!(overview.text.contains("Last errors") && overview.text.contains(&refused), "{overview}");
    assert!(!overview.text.contains(&good), "{overview}");
}

/// Every page has the way to the next one and back to the one before it.
#[tokio::test]
async fn pages_lead_on_and_back() {
    let desk = Desk::start().await;
    for _ in 0..102 {
        desk.log(404, "key_one").await;
    }
    let first = format!("{}?status=4xx", desk.list());
    let mut addresses = vec![first.clone()];
    for _ in 0..2 {
        let from = addresses.last().cloned().unwrap_or_default();
        let page = desk.page(&from).await;
        assert_eq!(page.text.matches("role=\"rowheader\"").count(), 50, "{page}");
        addresses.push(way(&from, &page, "next"));
    }
    let last = desk.page(&addresses[2]).await;
    assert_eq!(last.text.matches("role=\"rowheader\"").count(), 2, "{last}");
    assert!(!last.text.contains("rel=\"next\""), "{last}");
    let second = way(&addresses[2], &last, "prev");
    assert_eq!(second, addresses[1]);
    assert_eq!(way(&second, &desk.page(&second).await, "prev"), first);
    assert!(!desk.page(&first).await.text.contains("rel=\"prev\""));
    let other = addresses[1].replace("status=4xx", "status=5xx");
    assert_eq!(desk.viewer.get(other).send().await.status, 400, "a cursor is of one filter");
}

/// A request is found by its id, with the error as the client got it; those of others are not there.
#[tokio::test]
async fn a_request_is_found_by_its_id() {
    let desk = Desk::start().await;
    let tenant = desk.server.test_application().await;
    let id = request_of(&desk.server, &tenant).await;
    let search = format!("/admin/search?q={id}");
    let path = led_to(&search, &desk.viewer.get(&search).send().await);
    assert_eq!(path, format!("{}/{id}", desk.list()));
    let page = desk.page(&path).await;
    for text in
        ["invalid_url", ">url<", "203.0.113.7", "41 B received, 1.5 KiB sent", "<bdi>Robot</bdi>", "7 ms"]
    {
        assert!(page.text.contains(text), "{text}: {page}");
    }
    let hostile = desk.log(500, "key_none").await;
    let page = desk.page(&format!("{}/{hostile}", desk.list())).await;
    assert!(!page.text.contains(HOSTILE) && page.text.contains("&lt;script&gt;"), "{page}");

    // A response that was kept for its Idempotency-Key comes without its code.
    let seen = service::manage::request_log::find(&desk.server.app, &tenant, &hostile).await;
    let seen = seen.expect("it is read").expect("it is logged");
    let id = desk.server.app.new_id(base::ids::Kind::Request);
    let again = RequestEntry { id, error_code: None, error_param: None, ..seen };
    let page = desk.page(&format!("{}/{}", desk.list(), logged(&desk.server, again).await)).await;
    assert!(page.text.contains("This request failed without an error code."), "{page}");

    let theirs = request_of(&desk.server, &other_application(&desk.server).await).await;
    for path in [format!("{}/{theirs}", desk.list()), format!("/admin/search?q={theirs}")] {
        assert_eq!(desk.viewer.get(&path).send().await.status, 404, "{path}");
    }
    let developer = desk.server.operator(Some(Role::Developer)).await;
    let bodies = format!("{}/{theirs}/bodies", desk.list());
    assert_eq!(developer.post(bodies, &token(&developer).await, &[]).send().await.status, 404);
    let list = desk.page(&desk.list()).await;
    assert!(!list.text.contains(&theirs), "{list}");
}

/// With shapes turned on, the field at fault is marked in the body; whoever sees it is in the audit log, and a viewer does not.
#[tokio::test]
async fn the_field_at_fault_is_marked() {
    let desk = Desk::start().await;
    let owner = desk.server.operator(Some(Role::Owner)).await;
    let settings = format!("{}/settings", desk.application);
    let switch = format!("{settings}/request-log");
    let wrong = owner.post(&switch, &token(&owner).await, &[("mode", "everything")]).send().await;
    assert_eq!(wrong.status, 400, "{wrong}");
    let switched = owner.post(&switch, &token(&owner).await, &[("mode", "shapes")]).send().await;
    assert_eq!(led_to(&switch, &switched), settings);

    // Entries of one moment have no order.
    desk.server.clock.advance_ms(1_000);
    let body = json!({ "url": "http://10.0.0.1/a-secret-path", "eventTypes": ["*"] });
    let refused = desk.server.client().await.post("/v1/webhooks", body).send().await;
    let id = refused.header("x-request-id").expect("an id").to_owned();
    let error = refused.expect(400)["error"].clone();
    assert_eq!(error["param"], "url", "{error}");
    writing::flush(&desk.server.app).await.expect("the log is written");
    let path = format!("{}/{id}", desk.list());
    let page = desk.page(&path).await;
    assert!(page.text.contains(error["code"].as_str().expect("a code")), "{page}");
    assert!(!page.text.contains("Show bodies") && !page.text.contains("<mark>"), "for developers: {page}");

    let developer = desk.server.operator(Some(Role::Developer)).await;
    let offered = developer.get(&path).send().await;
    assert!(offered.text.contains("Show bodies"), "{offered}");
    let bodies = format!("{path}/bodies");
    let seen = developer.post(&bodies, &token(&developer).await, &[]).send().await;
    assert_eq!(seen.status, 200, "{seen}");
    assert_whole(&seen);
    assert!(seen.text.contains("<mark>url</mark> <strong>(at fault)</strong>"), "{seen}");
    assert!(!seen.text.contains("a-secret-path"), "a shape has no text: {seen}");
    let viewed = desk.viewer.post(&bodies, &token(&desk.viewer).await, &[]).send().await;
    assert_eq!(viewed.status, 404, "{viewed}");
    let organization = &desk.server.test_application().await.organization_id;
    let reader = desk.server.app.db.reader();
    let entries = audit_log::list(reader, organization, audit_log::NEWEST, 10).await.expect("they are read");
    let acts: Vec<&str> = entries.iter().map(|entry| entry.act.as_str()).collect();
    assert_eq!(acts, ["request_bodies_seen", "request_log_changed"]);
    assert_eq!(
        (entries[0].actor.id.as_str(), entries[0].target.as_str()),
        (developer.id.as_str(), id.as_str())
    );
}

/// Full bodies are recorded for a short time, begun by an owner who has just proved who they are; each page says so meanwhile.
#[tokio::test]
async fn full_bodies_are_announced() {
    let desk = Desk::start().await;
    let owner = desk.server.operator(Some(Role::Owner)).await;
    let settings = format!("{}/settings", desk.application);
    let full = format!("{settings}/full-bodies");
    for wrong in ["", "17", "-15", "all"] {
        let sent = owner.post(&full, &token(&owner).await, &[("minutes", wrong)]).send().await;
        assert_eq!(sent.status, 400, "{wrong}: {sent}");
    }
    let banner = "Bodies of requests to this application are recorded in full until ";
    let keys = format!("{}/keys", desk.application);
    assert!(!desk.page(&keys).await.text.contains(banner));
    let begun = owner.post(&full, &token(&owner).await, &[("minutes", "15")]).send().await;
    assert_eq!(led_to(&full, &begun), settings);
    for path in [&keys, &desk.application, &desk.list()] {
        assert!(desk.page(path).await.text.contains(banner), "{path}");
    }
    let shown = owner.get(&settings).send().await;
    assert!(shown.text.contains("Stop recording"), "{shown}");
    let ended = owner.post(&full, &token(&owner).await, &[("minutes", "0")]).send().await;
    assert_eq!(ended.status, 303, "{ended}");
    assert!(!desk.page(&keys).await.text.contains(banner), "it was ended");

    owner.post(&full, &token(&owner).await, &[("minutes", "15")]).send().await.expect(303);
    desk.server.clock.advance_ms(16 * 60_000);
    assert!(!desk.page(&keys).await.text.contains(banner), "its time is over");
    let stale = owner.post(&full, &token(&owner).await, &[("minutes", "15")]).send().await;
    let next = settings.trim_start_matches("/admin/");
    assert_eq!(led_to(&full, &stale), format!("/admin/confirm?next={next}"));
    assert!(!desk.page(&keys).await.text.contains(banner));
    let off = format!("{settings}/request-log");
    assert_eq!(owner.post(&off, &token(&owner).await, &[("mode", "off")]).send().await.status, 303);
    let list = desk.page(&desk.list()).await;
    assert!(list.text.contains("The request log is off"), "{list}");
}
