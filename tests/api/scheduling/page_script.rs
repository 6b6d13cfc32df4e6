//! The parts of the booking page for browsers with scripts, as far as a test without a browser can see them.

use harness::TestServer;
use harness::browser::{Browser, Page};
use serde_json::json;

use super::page::{ADA, address, follow, form, leads, send};
use super::{DAY, Desk, EVENT_TYPES};

/// The address of the page's own script.
fn script(page: &Page) -> String {
    let (_, rest) = page.text.split_once("<script defer src=\"").expect("a script");
    let (src, _) = rest.split_once('"').expect("its address ends");
    page.url.join(src).expect("a URL").to_string()
}

/// Every page, at any depth of its address, loads the same script, which is cached forever; the next version has another address.
#[tokio::test]
async fn the_script_is_kept_for_ever() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    let cancel = browser.open(&leads(&done, "Cancel booking")).await;
    let list = browser.open(&leads(&done, "Reschedule")).await;
    let asked = browser.open(&leads(&list, "10:00")).await;
    let nobody = browser.open(&format!("http://{}/book/nobody", server.address)).await;
    let one = script(&page);
    for other in [&done, &cancel, &list, &asked, &nobody] {
        assert_eq!(script(other), one, "{other:#?}");
        assert_eq!(other.text.matches("<script").count(), 1);
        let policy = other.header("content-security-policy");
        assert!(policy.contains("; script-src 'self'; connect-src 'self';"), "{policy}");
    }
    let found = browser.open(&one).await;
    assert_eq!((found.status, found.header("content-type")), (200, "text/javascript; charset=utf-8"));
    assert_eq!(found.header("cache-control"), "public, max-age=31536000, immutable");
    // Comments in the source are not sent.
    assert!(!found.text.lines().any(|line| line.trim_start().starts_with("//")), "{found:#?}");
    assert_eq!((found.header("x-content-type-options"), found.header("set-cookie")), ("nosniff", ""));
    let before = browser.open(&one.replace("/page.js", "0/page.js")).await;
    assert_eq!((before.status, before.header("cache-control")), (404, "no-store"));
}

/// Pages and scripts are sent compressed to who takes that.
#[tokio::test]
async fn pages_are_compressed() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let plain = browser.open(&url).await;
    assert_eq!(plain.header("content-encoding"), "");
    for url in [url.as_str(), &script(&plain)] {
        let page = browser.open_with(url, "accept-encoding", "gzip").await;
        assert_eq!((page.status, page.header("content-encoding")), (200, "gzip"));
    }
}

/// Times use the clock that the visitor chooses, on every page; am and pm as each language writes them.
#[tokio::test]
async fn a_clock_of_twelve_hours() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let list = browser.open(&format!("{url}?day={DAY}&tz=Asia/Kathmandu")).await;
    assert!(list.text.contains(">14:45</a>"), "{list:#?}");
    let list = browser.open(&leads(&list, "12h")).await;
    assert!(list.text.contains(">2:45 PM</a>") && list.text.contains(">24h</a>"), "{list:#?}");
    let page = browser.open(&leads(&list, "2:45 PM")).await;
    server.clock.advance_ms(2_000);
    assert!(
        page.text.contains("<strong>Tuesday, 10 March 2026</strong><br>2:45 PM–3:15 PM · Asia/Kathmandu"),
        "{page:#?}"
    );
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert!(done.text.contains("2:45 PM–3:15 PM"), "{done:#?}");
    let cancel = browser.open(&leads(&done, "Cancel booking")).await;
    assert!(cancel.text.contains("2:45 PM–3:15 PM"), "{cancel:#?}");
    // The next one, which is still free.
    for (language, time) in
        [("de", "3:45 PM"), ("es", "3:45 p.\u{a0}m."), ("ja", "午後3:45"), ("ar", "3:45 م")]
    {
        let list = browser.open(&format!("{url}?day={DAY}&tz=Asia/Kathmandu&hc=12&lang={language}")).await;
        assert!(list.text.contains(&format!(">{time}</a>")), "{language}: {list:#?}");
    }
}

/// In a frame of another site the page has that site's colors and stays there; pages that are not allowed in frames open a new tab.
#[tokio::test]
async fn a_page_in_a_frame() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let list = browser.open(&format!("{url}?day={DAY}&embed=1&theme=dark")).await;
    assert!(list.text.contains("<html lang=\"en\" data-theme=\"dark\" data-embed>"), "{list:#?}");
    let page = browser.open(&leads(&list, "09:30")).await;
    server.clock.advance_ms(2_000);
    for shown in [" data-embed>", "data-page=\"details\"", "data-start=\"2026-03-10T09:30:00.000Z\""] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    let told = [
        "data-page=\"booked\"",
        "data-booking-id=\"bk_",
        "data-status=\"confirmed\"",
        "data-time-zone=\"UTC\"",
    ];
    for shown in told {
        assert!(done.text.contains(shown), "{shown}: {}", done.text);
    }
    let (_, main) = done.text.split_once("<main").expect("the page's main part");
    let (facts, _) = main.split_once('>').expect("its attributes end");
    assert!(!facts.contains("Ada") && !facts.contains("ada@"), "what the site is told is nobody's: {facts}");
    let cancel = leads(&done, "Cancel booking");
    assert!(done.text.contains("target=\"_blank\" rel=\"noopener\">Cancel booking"), "{done:#?}");
    assert!(cancel.contains("theme=dark") && !cancel.contains("embed"), "{cancel}");
    let mut later = done.url.clone();
    later.set_query(None);
    assert!(!browser.open(later.as_str()).await.text.contains("data-booking-id"));
}

/// A page with only a message is shown in a frame like the page before it. Pages whose clicks change something are never shown in frames,
/// whatever their address says.
#[tokio::test]
async fn a_notice_in_a_frame() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let list = browser.open(&format!("{url}?day={DAY}&embed=1")).await;
    let (page, late) =
        (browser.open(&leads(&list, "09:00")).await, browser.open(&leads(&list, "10:00")).await);
    server.clock.advance_ms(2_000);
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    let trapped = send(&browser, &late, &[ADA[0], ADA[1], ("website", "https://spam.example")]).await;
    let decoy = follow(&browser, &trapped).await;
    let mut own = done.url.clone();
    own.set_query(None);
    let cancel = browser.open(&format!("{own}/cancel?embed=1")).await;
    desk.api.patch(format!("{EVENT_TYPES}/{id}"), json!({ "active": false })).send().await.expect(200);
    let closed = send(&browser, &late, &ADA).await;
    let nobody = format!("http://{}/book/nobody", server.address);
    let (framed, plain) = (browser.open(&format!("{nobody}?embed=1")).await, browser.open(&nobody).await);
    // The page of a booking is allowed in frames only with `embed=1`.
    let unknown = format!("http://{}/book/b/nobody", server.address);
    let (gone_framed, gone) =
        (browser.open(&format!("{unknown}?embed=1")).await, browser.open(&unknown).await);
    for (page, status, is_framed) in [
        (&done, 200, true),
        (&decoy, 200, true),
        (&closed, 404, true),
        (&framed, 404, true),
        (&plain, 404, true),
        (&gone_framed, 404, true),
        (&gone, 404, false),
        (&cancel, 200, false),
    ] {
        let (option, sites) = if is_framed { ("", "*") } else { ("DENY", "'none'") };
        assert_eq!((page.status, page.header("x-frame-options")), (status, option), "{page:#?}");
        let policy = page.header("content-security-policy");
        assert!(policy.ends_with(&format!("frame-ancestors {sites}")), "{page:#?}");
    }
}

/// Other sites load one script, from an address that stays.
#[tokio::test]
async fn the_script_of_other_sites() {
    let server = TestServer::start().await;
    let browser = Browser::default();
    let found = browser.open(&format!("http://{}/book/embed.js", server.address)).await;
    assert_eq!((found.status, found.header("content-type")), (200, "text/javascript; charset=utf-8"));
    let headers =
        ["cache-control", "access-control-allow-origin", "cross-origin-resource-policy", "set-cookie"];
    let told = headers.map(|name| found.header(name));
    assert_eq!(told, ["public, max-age=3600", "*", "cross-origin", ""]);
    assert!(found.text.contains("window.Switchboard"));
}

/// The page has the event type's colour, or the one that its address names, by a style that its policy names.
#[tokio::test]
async fn the_colour_of_a_brand() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("plain", json!({})).await;
    desk.open("red", json!({ "color": "#b3261e" })).await;
    let browser = Browser::default();
    let plain = address(&desk.api, "plain").await;
    let red = address(&desk.api, "red").await;
    for (url, brand) in [
        (plain.clone(), None),
        (red.clone(), Some("--brand:#b3261e;--brand-on:#ffffff;")),
        (format!("{red}?color=ffee00"), Some("--brand:#ffee00;--brand-on:#000000;")),
        (format!("{plain}?color=</style>"), None),
    ] {
        let page = browser.open(&url).await;
        let styles = page.text.matches("<style>").count();
        let sources = page.header("content-security-policy").matches("'sha256-").count();
        assert_eq!((styles, sources), if brand.is_some() { (2, 2) } else { (1, 1) }, "{url}");
        assert!(brand.is_none_or(|brand| page.text.contains(brand)), "{url}: {page:#?}");
    }
}
