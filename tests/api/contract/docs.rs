//! The documentation at `/docs`: pages without a key or a script, links of errors, the search index, and the same pages as Markdown.

use harness::TestServer;
use serde_json::{Value, json};

/// Largest search index in bytes, as it is sent.
const MAX_INDEX: usize = 60 << 10;
/// Largest first view in bytes, as it is sent: page, style and script.
const MAX_FIRST_VIEW: usize = 60 << 10;

/// Bytes of a file as it is sent to a browser.
async fn sent_bytes(server: &TestServer, path: &str) -> usize {
    let client = harness::http_client().no_gzip().build().expect("an HTTP client");
    let url = format!("http://{}{path}", server.address);
    let sent = client.get(url).header("accept-encoding", "gzip").send().await.expect("an answer");
    assert_eq!(sent.headers()["content-encoding"], "gzip", "{path}");
    sent.bytes().await.expect("a body").len()
}

/// A page loads its own style and script, may not be framed, and is not sent again to a browser that has it.
#[tokio::test]
async fn a_page_is_small_and_loads_nothing_from_elsewhere() {
    let server = TestServer::start().await;
    let anybody = server.anonymous();
    let page = anybody.get("/docs").send().await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
    let etag = page.header("etag").expect("an etag").to_owned();
    let again = anybody.get("/docs").header("if-none-match", &etag).send().await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));

    let assets: Vec<&str> = page.text.split('"').filter(|part| part.starts_with("/docs/assets/")).collect();
    assert_eq!(assets.len(), 2, "{assets:?}");
    let mut sum = 0;
    for path in assets.into_iter().chain(["/docs"]) {
        let sent = anybody.get(path).send().await;
        let is_kept = path != "/docs";
        assert_eq!(sent.header("cache-control").unwrap().contains("immutable"), is_kept, "{path}");
        sum += sent_bytes(&server, path).await;
    }
    assert!(sum <= MAX_FIRST_VIEW, "the first view has {sum} bytes");
    let missing = anybody.get("/docs/api/no-such-page").send().await;
    assert_eq!((missing.status, missing.text.contains("Page not found")), (404, true));
}

/// Operations are readable in the page itself: parameters, fields, error codes and samples.
#[tokio::test]
async fn an_operation_is_readable_without_a_script() {
    let server = TestServer::start().await;
    let page = server.anonymous().get("/docs/api/events").send().await;
    assert_eq!(page.status, 200);
    let start = page.text.find("id=\"calendars.events.create\"").expect("the section of the operation");
    let section = page.text.get(start..).and_then(|text| text.split("</section>").next()).unwrap();
    for part in [
        "Create an event",
        "/v1/calendars/{calendarId}/events",
        "data-parameter=\"Idempotency-Key\"",
        "<code class=\"name\">attendees</code>",
        "/docs/errors/invalid_time_zone",
        "curl -X POST",
        "sb.calendars.events.create(",
        "http.NewRequest(&quot;POST&quot;",
    ] {
        assert!(section.contains(part), "{part}: {section}");
    }
}

/// `error.doc_url` is an address with a host, of a page about the code, for reads and for writes.
#[tokio::test]
async fn an_error_leads_to_the_page_of_its_code() {
    let server = TestServer::start().await;
    let client = server.client().await;
    let unknown = "/v1/calendars/cal_00000000000000000000000000";
    for failed in
        [client.get(unknown).send().await, client.patch(unknown, json!({ "name": "A" })).send().await]
    {
        let path = "/docs/errors/not_found";
        let address = server.app.config.public_address();
        assert_eq!(failed.expect(404)["error"]["doc_url"], format!("{address}{path}"));
        let page = server.anonymous().get(path).send().await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains("<h1><code>not_found</code></h1>"), "{page}");
        assert!(page.text.contains("What to do") && page.text.contains("calendars.update"), "{page}");
    }
}

/// Agents find every page as Markdown from `/llms.txt`, and the search box finds fields, codes and scopes.
#[tokio::test]
async fn every_page_is_in_the_indexes() {
    let server = TestServer::start().await;
    let anybody = server.anonymous();
    let index = anybody.get("/llms.txt").send().await;
    assert_eq!((index.status, index.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    let address = server.app.config.public_address();
    let links = index.text.split(['(', ')']).filter_map(|part| part.strip_prefix(address.as_str()));
    let pages: Vec<&str> = links.filter(|path| path.ends_with(".md")).collect();
    assert!(pages.len() > 30 && pages.contains(&"/docs/guides/webhooks.md"), "{pages:?}");
    let everything = anybody.get("/llms-full.txt").send().await;
    for path in pages {
        let page = anybody.get(path).send().await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (200, Some("text/markdown; charset=utf-8")),
            "{path}"
        );
        assert!(page.text.starts_with("# ") && everything.text.contains(page.text.trim_end()), "{path}");
    }

    let size = sent_bytes(&server, "/docs/search.json").await;
    assert!(size <= MAX_INDEX, "the search index has {size} bytes");
    let entries: Value = anybody.get("/docs/search.json").send().await.expect(200);
    let entries = entries.as_array().expect("a list").clone();
    for title in [
        "Create an event",
        "CalendarEvent.attendees",
        "stale_etag",
        "calendar.read",
        "connection_id",
        "Rotate the secret",
    ] {
        assert!(entries.iter().any(|entry| entry[1] == title), "{title}");
    }
}
