//! `/book`: who is booked, by name and picture.

use harness::browser::{Browser, Page};
use harness::{Actor, TestServer};
use serde_json::{Value, json};

use super::page::{ADA, address, follow, form, send};
use super::pools::{desks, host};
use super::{DAY, Desk};

/// The pictures that the page may load, by its policy.
fn sources(page: &Page) -> Option<&str> {
    let (_, rest) = page.header("content-security-policy").split_once(" img-src ")?;
    rest.split(';').next()
}

/// An event type of these hosts, who all meet; the address of its page.
async fn of_hosts(api: &Actor, desk: &Desk, slug: &str, hosts: Value) -> String {
    desk.open(slug, json!({ "hosts": hosts, "assignment": "collective" })).await;
    address(api, slug).await
}

/// A host has the picture that the event type names: over the initials, beside the name, from its own site, without a referrer.
#[tokio::test]
async fn hosts_have_their_pictures() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let picture = "https://pictures.example:8443/ada.png?s=64&v=1";
    let ada = host(alice, json!({ "displayName": "Ada Lovelace", "avatarUrl": picture }));
    let hosts = json!([ada, host(bob, json!({ "displayName": "山田 太郎" }))]);
    let url = of_hosts(&alice.api, alice, "both", hosts).await;
    let browser = Browser::default();
    let list = browser.open(&format!("{url}?day={DAY}")).await;
    assert_eq!((list.status, sources(&list)), (200, Some("https://pictures.example:8443")), "{list:#?}");
    assert_eq!(list.header("referrer-policy"), "no-referrer");
    // Who has none is shown beside them by the initials.
    let shown = "<span class=\"faces\"><span class=\"face\" aria-hidden=\"true\"><span>AL</span><img alt=\"\" \
                 src=\"https://pictures.example:8443/ada.png?s=64&amp;v=1\" width=\"48\" height=\"48\" loading=\"lazy\" \
                 decoding=\"async\"></span><span class=\"face\" aria-hidden=\"true\"><span>山</span></span></span>";
    assert!(list.text.contains(shown), "{list:#?}");
    let names = "<p class=\"soft\"><bdi>Ada Lovelace</bdi>, <bdi>山田 太郎</bdi></p><h1";
    assert!(list.text.contains(names), "{list:#?}");

    // The form shows them too. Where no host is shown, nothing is loaded.
    let page = form(&server, &browser, &url, "09:00").await;
    assert!(page.text.contains(shown) && sources(&page) == sources(&list), "{page:#?}");
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert!(sources(&done).is_none() && !done.text.contains("<img"), "{done:#?}");
}

/// A picture without a name has a default text; a name without a picture has its initials, and nothing is loaded.
#[tokio::test]
async fn a_picture_or_a_name_alone() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let browser = Browser::default();
    let nameless = json!({ "displayName": "", "avatarUrl": "https://pictures.example/ada.png" });
    let url = of_hosts(&desk.api, &desk, "nameless", json!([host(&desk, nameless)])).await;
    for (language, alt) in [("en", "Picture of the host"), ("ar", "صورة المضيف")] {
        let list = browser.open(&format!("{url}?lang={language}")).await;
        let shown =
            format!("<span class=\"face\"><span></span><img alt=\"{alt}\" src=\"https://pictures.example/");
        assert!(list.text.contains(&shown), "{list:#?}");
    }
    let named = json!([host(&desk, json!({ "displayName": "Alice" }))]);
    let list = browser.open(&of_hosts(&desk.api, &desk, "named", named).await).await;
    let face = "<span class=\"face\" aria-hidden=\"true\"><span>A</span></span><div><p class=\"soft\"><bdi>Alice</bdi></p>";
    assert!(list.text.contains(face), "{list:#?}");
    assert!(sources(&list).is_none() && !list.text.contains("<img"), "{list:#?}");
}

/// A logo and pictures of one site are one source; an address that would add more to the policy is not loaded at all.
#[tokio::test]
async fn pictures_add_their_sites_and_nothing_else() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let browser = Browser::default();
    let open = async |slug: &str, fields: Value, link: Value| {
        desk.open(slug, json!({ "hosts": [host(&desk, fields)], "link": link })).await;
        browser.open(&address(&desk.api, slug).await).await
    };
    let logo = json!({ "logoUrl": "https://cdn.example/logo.png" });
    let same = json!({ "displayName": "Alice", "avatarUrl": "https://cdn.example/alice.png" });
    assert_eq!(sources(&open("same", same, logo.clone()).await), Some("https://cdn.example"));
    let other = json!({ "displayName": "Alice", "avatarUrl": "https://a.example/alice.png" });
    assert_eq!(sources(&open("other", other, logo).await), Some("https://a.example https://cdn.example"));

    let name = "<script>Mallory\" onload=\"x";
    let hostile = json!({ "displayName": name, "avatarUrl": "https://a;sandbox/x.png" });
    let list = open("hostile", hostile, json!({})).await;
    assert_eq!(sources(&list), None);
    assert!(!list.header("content-security-policy").contains("sandbox"), "{list:#?}");
    let told = "<bdi>&lt;script&gt;Mallory&quot; onload=&quot;x</bdi>";
    assert!(list.text.contains(told) && !list.text.contains("x.png"), "{list:#?}");
    let quoted = json!({ "displayName": name, "avatarUrl": "https://pictures.example/\"onerror=\"x" });
    let list = open("quoted", quoted, json!({})).await;
    assert!(list.text.contains("src=\"https://pictures.example/&quot;onerror=&quot;x\""), "{list:#?}");
    assert!(list.text.contains("<span>SO</span>"), "{list:#?}");
}
