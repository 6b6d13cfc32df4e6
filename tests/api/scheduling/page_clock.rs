//! The clock and the order of day and month that a visitor reads, on the page, in mail, and on the pages that mail leads to.

use harness::TestServer;
use harness::browser::Browser;
use serde_json::json;

use super::mail::{address_below, body, deliver, host, mailbox, received};
use super::page::{address, follow, leads, send};
use super::{DAY, Desk};

/// Mail keeps to the clock that was chosen when the booking was made, and so do the pages that its links lead to.
#[tokio::test]
async fn mail_and_its_pages_keep_the_visitors_clock() {
    let mailbox = mailbox().await;
    let (server, desk, browser) = (&mailbox.server, host(&mailbox.server).await, Browser::default());
    desk.open("intro", json!({})).await;
    let url = address(&desk.api, "intro").await;
    let list = browser.open(&format!("{url}?day={DAY}&hc=12&lang=en-US")).await;
    let page = browser.open(&leads(&list, "9:00 AM")).await;
    server.clock.advance_ms(2_000);
    let ada = [("name", "Ada"), ("email", mailbox.address.as_str())];
    let done = follow(&browser, &send(&browser, &page, &ada).await).await;
    let when = "<strong>Tuesday, March 10, 2026</strong> <span>9:00 AM–9:30 AM · UTC</span>";
    for shown in [when, "Bookmark this page to reschedule or cancel. The link is in your email too."] {
        assert!(done.text.contains(shown), "{shown}: {done:#?}");
    }
    deliver(server).await;
    let said = body(&received(&mailbox, "Confirmed: Intro call with Alice").await);
    assert!(said.contains("When: Tuesday, March 10, 2026\n      9:00 AM–9:30 AM, UTC\n"), "{said}");
    let own = format!("http://{}", server.app.config.listen);
    let link = address_below(&said, "View booking").strip_prefix(&own).expect("a link");
    assert!(link.ends_with("?lang=en-US&hc=12"), "{link}");
    for way in ["Reschedule", "Cancel booking"] {
        assert!(address_below(&said, way).ends_with("?lang=en-US&hc=12"), "{way}: {said}");
    }

    let own = format!("http://{}{link}", server.address);
    let (plain, _) = own.split_once('?').expect("a query");
    let day_first = "<strong>Tuesday, 10 March 2026</strong> <span>9:00 AM–9:30 AM · UTC</span>";
    for (url, when) in [
        (own.clone(), when),
        (plain.to_owned(), day_first),
        (format!("{plain}/cancel"), day_first),
        (format!("{plain}?hc=24"), "<strong>Tuesday, 10 March 2026</strong> <span>09:00–09:30 · UTC</span>"),
    ] {
        let page = browser.open(&url).await;
        assert!(page.text.contains(when), "{url}: {page:#?}");
    }
    let list = browser.open(&format!("{plain}/move?day={DAY}")).await;
    for shown in [">9:30 AM</a>", "<strong>Tuesday, 10 March 2026</strong><br>9:00 AM–9:30 AM</p>"] {
        assert!(list.text.contains(shown), "{shown}: {list:#?}");
    }
    let file = browser.open(&format!("{plain}/invite.ics?lang=en")).await.text.replace("\r\n ", "");
    assert!(file.contains("?lang=en&hc=12"), "{file}");
}

/// In the United States the month is written before the day; other readers of English write it after.
#[tokio::test]
async fn americans_write_the_month_first() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let list = format!("{url}?day={DAY}&tz=America/New_York");
    for (accepted, language, day) in [
        ("en-US,en;q=0.9", "en-US", "Tuesday, March 10, 2026"),
        ("en-GB,en;q=0.9", "en", "Tuesday, 10 March 2026"),
        ("en", "en", "Tuesday, 10 March 2026"),
    ] {
        let page = browser.open_with(&list, "accept-language", accepted).await;
        assert!(page.text.contains(&format!("<html lang=\"{language}\">")), "{page:#?}");
        assert!(page.text.contains(day), "{accepted}: {page:#?}");
        assert_eq!(page.header("content-language"), language);
        assert!(page.text.contains("<strong>Eastern Time, New York</strong>"), "{page:#?}");
    }
}
