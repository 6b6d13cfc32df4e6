//! `/book` for users of keyboards and screen readers.

use harness::TestServer;
use harness::browser::Browser;
use serde_json::json;

use super::page::address;
use super::{DAY, Desk};

/// The first link of a list of times leads over everything before them; where there are none, there is nothing to skip to.
#[tokio::test]
async fn a_link_skips_to_the_times() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({ "durationOptions": [60] })).await;
    let once =
        json!({ "date": "2026-05-04", "available": true, "windows": [{ "start": "09:00", "end": "10:00" }] });
    let rare = json!({ "timeZone": "UTC", "weekly": [], "overrides": [once] });
    desk.open("rare", json!({ "schedule": rare })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    for (language, name) in [
        ("en", "Skip to the times"),
        ("de", "Direkt zu den Zeiten"),
        ("es", "Ir directamente a las horas"),
        ("fr", "Aller directement aux horaires"),
        ("ja", "時間の一覧へ移動"),
        ("ar", "الانتقال مباشرة إلى الأوقات"),
    ] {
        let list = browser.open(&format!("{url}?day={DAY}&lang={language}")).await;
        let (before, after) = list.text.split_once("href=\"").expect("a link");
        assert!(before.ends_with("<a class=\"skip\" "), "{language}: {before}");
        assert!(after.starts_with(&format!("#times\">{name}</a>")), "{language}: {after}");
        // Where it leads to takes the focus without scripts, too.
        assert_eq!(
            list.text.matches("<h2 id=\"times\" tabindex=\"-1\" aria-label=\"").count(),
            1,
            "{language}: {list:#?}"
        );
    }
    let none = browser.open(&format!("{}?month=2026-03", address(&desk.api, "rare").await)).await;
    assert!(none.text.contains("No times available in March"), "{none:#?}");
    assert!(!none.text.contains("class=\"skip\"") && !none.text.contains("id=\"times\""), "{none:#?}");
}
