//! `/book`: the booking page, walked as a browser without scripts walks it.

use harness::browser::{Browser, Page, encoded};
use harness::{Actor, TestServer};
use reqwest::Method;
use serde_json::json;

use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, booking, on, starts, text};

pub(super) const ADA: [(&str, &str); 2] = [("name", "Ada"), ("email", "ada@example.org")];

/// The address of a booking link's page.
pub(super) async fn address(api: &Actor, slug: &str) -> String {
    let link = api.get(format!("/v1/scheduling/booking-links/{slug}")).send().await.expect(200);
    text(&link["url"])
}

/// Where the link with this text leads.
#[track_caller]
pub(super) fn leads(page: &Page, name: &str) -> String {
    let end = format!(">{name}</a>");
    let before = page.text.split_once(&end).unwrap_or_else(|| panic!("no link {name}: {page:#?}")).0;
    let tag = before.rsplit_once("<a href=\"").expect("a link").1;
    let href = tag.split('"').next().unwrap_or_default().replace("&amp;", "&");
    page.url.join(&href).expect("a URL").to_string()
}

/// Opens the form for a time of the day that most tests book on, and takes the time that it takes to fill it in.
pub(super) async fn form(server: &TestServer, browser: &Browser, url: &str, time: &str) -> Page {
    let list = browser.open(&format!("{url}?day={DAY}")).await;
    assert_eq!(list.status, 200, "{list:#?}");
    let page = browser.open(&leads(&list, time)).await;
    assert_eq!(page.status, 200, "{page:#?}");
    server.clock.advance_ms(2_000);
    page
}

/// What a browser sends of the page's form when it is filled in like this.
fn filled<'a>(hidden: &'a [(String, String)], fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let hidden = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    hidden.chain(fields.iter().copied()).collect()
}

pub(super) async fn send(browser: &Browser, page: &Page, fields: &[(&str, &str)]) -> Page {
    let form = page.form();
    browser.submit(form.action.as_str(), &filled(&form.hidden, fields)).await
}

/// The page that the answer to a form leads to.
pub(super) async fn follow(browser: &Browser, sent: &Page) -> Page {
    assert_eq!(sent.status, 303, "{sent:#?}");
    browser.open(sent.url.join(&sent.location()).expect("a URL").as_str()).await
}

/// From the list over the form to the booking.
#[tokio::test]
async fn a_visitor_books_without_scripts() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let place = json!({ "locations": [{ "type": "link", "value": "https://meet.example.org/alice" }] });
    let id = desk.open("intro", place).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);

    let list = browser.open(&url).await;
    assert_eq!(list.status, 200, "{list:#?}");
    for shown in [">Intro call</h1>", "Alice", "Online", "30 min", "March 2026", "Monday, 2 March 2026"] {
        assert!(list.text.contains(shown), "{shown}: {}", list.text);
    }
    // The address of the meeting is for those who booked, and there is no month before the present one.
    assert!(!list.text.contains("meet.example.org") && !list.text.contains("Previous month"));
    let next = browser.open(&leads(&list, "Next month")).await;
    assert!(next.text.contains("April 2026") && next.text.contains("Previous month"), "{next:#?}");

    let page = form(&server, &browser, &url, "09:30").await;
    assert!(page.text.contains("Tuesday, 10 March 2026, 09:30–10:00 (UTC, UTC+00:00)"), "{page:#?}");
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert_eq!(done.status, 200, "{done:#?}");
    let link = "<a href=\"https://meet.example.org/alice\">";
    for shown in ["Your booking is confirmed", "09:30–10:00", "ada@example.org", link] {
        assert!(done.text.contains(shown), "{shown}: {}", done.text);
    }
    assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"09:30".to_owned()));
    let list = browser.open(&format!("{url}?day={DAY}")).await;
    assert!(!list.text.contains(">09:30</a>") && !list.text.contains("ada@example.org"), "{list:#?}");
    // The page tells the same whenever it is opened, and a changed address leads nowhere.
    assert_eq!(browser.open(done.url.as_str()).await.text, done.text);
    assert_eq!(browser.open(&done.url.as_str().replace("/b/", "/b/x")).await.status, 404);
}

/// Times are those of the zone that the visitor names; what is no zone is told, and kept in its field.
#[tokio::test]
async fn times_are_in_the_visitors_zone() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let own = browser.open(&format!("{url}?day={DAY}")).await;
    assert!(own.text.contains("<strong>UTC</strong> (the host’s time zone)"), "{own:#?}");
    let list = browser.open(&format!("{url}?day={DAY}&tz=Asia/Kathmandu")).await;
    assert!(list.text.contains("<strong>Asia/Kathmandu</strong></p>"), "{list:#?}");
    let page = browser.open(&leads(&list, "14:45")).await;
    server.clock.advance_ms(2_000);
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert!(done.text.contains("14:45–15:15 (Asia/Kathmandu, UTC+05:45)"), "{done:#?}");

    let unknown = browser.open(&format!("{url}?tz=%3Cscript%3EMars")).await;
    assert_eq!(unknown.status, 400);
    assert!(unknown.text.contains("value=\"&lt;script&gt;Mars\""), "{unknown:#?}");
    assert!(!unknown.text.contains("<script>"));
}

/// A long list is in parts of the visitor's day; a short one is one list.
#[tokio::test]
async fn many_times_are_in_parts_of_the_day() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let weekly = json!([{ "days": [2], "start": "11:00", "end": "18:00" }]);
    let schedule = json!({ "timeZone": "UTC", "weekly": weekly });
    desk.open("long", json!({ "schedule": schedule, "durationMinutes": 60 })).await;
    desk.open("short", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "long").await);
    let count = |list: &str| list.split("</ul>").next().map_or(0, |list| list.matches("<li>").count());
    let parts =
        |page: &Page| -> Vec<usize> { page.text.split("<ul class=\"times\"").skip(1).map(count).collect() };
    let list = browser.open(&format!("{url}?day={DAY}")).await;
    for (n, name) in ["Morning", "Afternoon", "Evening"].into_iter().enumerate() {
        assert!(list.text.contains(&format!("<h3 id=\"part-{n}\">{name}</h3>")), "{name}: {list:#?}");
    }
    assert_eq!(parts(&list), [1, 5, 1]);
    // Two hours later in the day of somebody in Athens.
    let athens = browser.open(&format!("{url}?day={DAY}&tz=Europe/Athens")).await;
    assert!(!athens.text.contains("Morning") && athens.text.contains("Evening"), "{athens:#?}");
    assert_eq!(parts(&athens), [4, 3]);

    let short = browser.open(&format!("{}?day={DAY}", address(&desk.api, "short").await)).await;
    assert!(!short.text.contains("<h3") && parts(&short) == [6], "{short:#?}");
}

/// On a day on which the clocks change each time tells its offset: what is skipped is not there, what comes twice is there twice.
#[tokio::test]
async fn the_clocks_change() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let nights = json!({ "days": [7], "start": "01:00", "end": "04:00" });
    desk.open("night", json!({ "schedule": { "timeZone": "Europe/Berlin", "weekly": [nights] } })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "night").await);
    let spring = browser.open(&format!("{url}?day=2026-03-29")).await.text;
    assert!(
        spring.contains(">01:30 (UTC+01:00)</a>") && spring.contains(">03:00 (UTC+02:00)</a>"),
        "{spring}"
    );
    assert!(!spring.contains(">02:"), "{spring}");
    let autumn = browser.open(&format!("{url}?day=2026-10-25")).await.text;
    assert!(
        autumn.contains(">02:00 (UTC+02:00)</a>") && autumn.contains(">02:00 (UTC+01:00)</a>"),
        "{autumn}"
    );
    let ordinary = browser.open(&format!("{url}?day=2026-03-08")).await.text;
    assert!(ordinary.contains(">02:00</a>"), "{ordinary}");
}

/// A form that is sent twice books once. One that is changed and sent again is asked about.
#[tokio::test]
async fn a_doubled_form_books_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let (first, second) = tokio::join!(send(&browser, &page, &ADA), send(&browser, &page, &ADA));
    assert_eq!((first.status, second.status), (303, 303), "{second:#?}");
    assert_eq!(first.location(), second.location());
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await.len(), 5);
    let other = send(&browser, &page, &[("name", "Ada L."), ("email", "ada@example.org")]).await;
    assert_eq!(other.status, 409);
    assert!(other.text.contains("sent before") && other.text.contains("value=\"Ada L.\""), "{other:#?}");
}

/// Who comes too late keeps what was typed, and chooses among the times that are left.
#[tokio::test]
async fn taken_meanwhile_keeps_what_was_typed() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);

    let typed = [("name", "Bob"), ("email", "bob@example.org"), ("notes", "A & B")];
    let late = send(&browser, &page, &typed).await;
    assert_eq!(late.status, 409, "{late:#?}");
    for shown in ["not free any more", "value=\"Bob\"", "A &amp; B", "Other free times", "09:30–10:00"] {
        assert!(late.text.contains(shown), "{shown}: {}", late.text);
    }
    let rest = late.text.split_once("name=\"start\" required value=\"").expect("another time").1;
    let other = rest.split('"').next().unwrap_or_default();
    let again = [("name", "Bob"), ("email", "bob@example.org"), ("start", other)];
    let done = follow(&browser, &send(&browser, &late, &again).await).await;
    assert!(done.text.contains("09:30–10:00"), "{done:#?}");
    // An address of a time that is gone says so before anything is typed; a past one, too.
    for start in ["2026-03-10T09:00:00Z", "2020-01-01T09:00:00Z", "9000-01-01T00:00:00Z"] {
        let gone = browser.open(&format!("{url}?at={start}")).await;
        assert_eq!((gone.status, gone.text.contains("booked yet")), (409, false), "{gone:#?}");
    }
}

/// Questions of the event type are asked, and what is wrong is told at its field.
#[tokio::test]
async fn mistakes_are_told_at_their_field() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let questions = json!([
        { "key": "topic", "label": "Topic", "type": "select", "options": ["a", "b"], "required": true },
        { "key": "days", "label": "Days", "type": "multiselect", "options": ["Mon", "Tue"] },
        { "key": "size", "label": "Size", "type": "number" },
        { "key": "new", "label": "New here", "type": "boolean", "required": true },
    ]);
    let places =
        json!([{ "type": "link", "value": "https://meet.example.org/a" }, { "type": "phoneInvitee" }]);
    desk.open("intro", json!({ "questions": questions, "locations": places })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let topic = ("q.topic", "b");
    let (name, email) = (("name", "Ada"), ("email", "ada@example.org"));
    let mistakes: [(&[(&str, &str)], &str); 6] = [
        (&[name, ("email", "nobody"), topic], "email"),
        (&[("name", " "), email, topic], "name"),
        (&[name, email], "q.topic"),
        (&[name, email, ("q.topic", "c")], "q.topic"),
        (&[name, email, topic, ("q.size", "many")], "q.size"),
        (&[name, email, topic, ("place", "1")], "phone"),
    ];
    for (fields, control) in mistakes {
        let answer = send(&browser, &page, fields).await;
        assert_eq!(answer.status, 400, "{control}: {answer:#?}");
        assert!(answer.text.contains(&format!("id=\"{control}-error\"")), "{control}: {}", answer.text);
        assert!(answer.text.contains(&format!("<a href=\"#{control}\">")), "{control}: {}", answer.text);
    }
    let right =
        [name, email, topic, ("q.days", "Mon"), ("q.days", "Tue"), ("q.size", "1.5"), ("q.new", "on")];
    assert_eq!(send(&browser, &page, &right).await.status, 303);
}

/// All mistakes of a form are told at once: in a list that leads to each of them, and beside each control.
#[tokio::test]
async fn every_mistake_is_told_at_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let questions = json!([
        { "key": "topic", "label": "Topic", "type": "select", "options": ["a", "b"], "required": true },
        { "key": "days", "label": "Days", "type": "multiselect", "options": ["Mon"], "required": true },
    ]);
    desk.open("intro", json!({ "questions": questions })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let wrong = send(&browser, &page, &[("name", " "), ("email", "nobody"), ("notes", "kept")]).await;
    assert_eq!(wrong.status, 400, "{wrong:#?}");
    let list = "<ul>\n<li><a href=\"#name\">Enter your name.</a></li>\n\
                <li><a href=\"#email\">Enter a valid email address, such as ada@example.com.</a></li>\n\
                <li><a href=\"#q.topic\">Topic: Fill in this field.</a></li>\n\
                <li><a href=\"#q.days\">Days: Fill in this field.</a></li>\n</ul>";
    for shown in ["Please check the marked fields", list, ">\nkept</textarea>"] {
        assert!(wrong.text.contains(shown), "{shown}: {}", wrong.text);
    }
    for control in ["name", "email", "q.topic", "q.days"] {
        let described = format!("aria-describedby=\"{control}-error\"");
        let error = format!("<p class=\"error\" id=\"{control}-error\">");
        assert!(wrong.text.contains(&described) && wrong.text.contains(&error), "{control}: {}", wrong.text);
    }
    assert_eq!(wrong.text.matches("Enter your name.").count(), 2, "{wrong:#?}");
    let right = [ADA[0], ADA[1], ("q.topic", "a"), ("q.days", "Mon")];
    assert_eq!(send(&browser, &wrong, &right).await.status, 303);
}

/// Nothing that somebody typed is ever markup.
#[tokio::test]
async fn hostile_input_is_text() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let hostile = "\"><script>alert(1)</script>";
    desk.open("intro", json!({ "title": hostile, "description": hostile })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let wrong = send(&browser, &page, &[("name", hostile), ("email", hostile), ("notes", hostile)]).await;
    let done = send(&browser, &page, &[("name", hostile), ("email", "a@b.c"), ("notes", hostile)]).await;
    let done = follow(&browser, &done).await;
    let list = browser.open(&url).await;
    let odd = browser.open(&format!("{url}?at=%3Cscript%3E&day=%3Cscript%3E&d=%3Cscript%3E")).await;
    let nobody = browser.open(&format!("http://{}/book/%3Cscript%3E", server.address)).await;
    assert_eq!((wrong.status, odd.status, nobody.status), (400, 200, 404));
    for page in [&page, &wrong, &done, &list, &odd, &nobody] {
        assert!(!page.text.contains("<script>"), "{page:#?}");
    }
    assert!(wrong.text.contains("&quot;&gt;&lt;script&gt;"), "{wrong:#?}");
}

/// What is not there, not open or somebody else's has one page. An address without an application is that of the first one.
#[tokio::test]
async fn what_cannot_be_booked_is_404() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let short = format!("http://{}/book/intro", server.address);
    assert_eq!(browser.open(&short).await.status, 200);
    let page = form(&server, &browser, &short, "09:00").await;
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert!(done.text.contains("Your booking is confirmed"), "{done:#?}");

    desk.api.patch(format!("{EVENT_TYPES}/{id}"), json!({ "active": false })).send().await.expect(200);
    let handle = url.trim_end_matches("/intro");
    let nowhere = [url.clone(), short.clone(), format!("{handle}/nobody"), format!("{short}/intro")];
    for address in nowhere {
        let page = browser.open(&address).await;
        assert_eq!(page.status, 404, "{address}");
        assert!(page.text.contains("There is nothing to book here"), "{page:#?}");
        assert_eq!((page.header("x-frame-options"), page.header("set-cookie")), ("", ""), "a frame shows it");
    }
    let closed = send(&browser, &page, &ADA).await;
    assert_eq!(closed.status, 404, "{closed:#?}");
}

/// No script but its own, no referrer, no copy, no cookie; frames where the event type lets them be.
#[tokio::test]
async fn headers_keep_the_page_to_itself() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("open", json!({})).await;
    desk.open("framed", json!({ "link": { "embedDomains": ["example.org"] } })).await;
    let browser = Browser::default();
    for (slug, frames) in [("open", "*"), ("framed", "https://example.org")] {
        let page = browser.open(&address(&desk.api, slug).await).await;
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(
            policy.ends_with(&format!("frame-ancestors {frames}")) && !policy.contains("unsafe"),
            "{policy}"
        );
        let headers = ["cache-control", "referrer-policy", "x-content-type-options", "x-frame-options"];
        let told = headers.map(|name| page.header(name));
        assert_eq!(told, ["private, no-store", "no-referrer", "nosniff", ""]);
        assert_eq!(
            (page.header("set-cookie"), page.header("content-type")),
            ("", "text/html; charset=utf-8")
        );
    }
}

/// The page is written in the language that the browser asks for, or in the one that its address names.
#[tokio::test]
async fn six_languages() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    for (language, day) in [
        ("en", "Tuesday, 10 March 2026"),
        ("de", "Dienstag, 10. März 2026"),
        ("es", "martes, 10 de marzo de 2026"),
        ("fr", "mardi 10 mars 2026"),
        ("ja", "2026年3月10日（火曜日）"),
        ("ar", "الثلاثاء، 10 مارس 2026"),
    ] {
        let list = format!("{url}?day={DAY}");
        let page = browser.open_with(&list, "accept-language", language).await;
        assert_eq!(page.header("content-language"), language);
        let direction = if language == "ar" { " dir=\"rtl\"" } else { "" };
        let is_written =
            page.text.contains(&format!("<html lang=\"{language}\"{direction}>")) && page.text.contains(day);
        assert!(is_written, "{page:#?}");
        let named = browser.open_with(&format!("{list}&lang={language}"), "accept-language", "fr, en").await;
        assert!(named.text.contains(day), "{named:#?}");
    }
}

/// A form counts if it is of this page and not too old; other sites send none.
#[tokio::test]
async fn forms_of_others_are_refused() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let form = page.form();
    let body = encoded(&filled(&form.hidden, &ADA));
    let sent = |name: &str, value: &str| {
        let ask = server.anonymous().ask(Method::POST, form.action.path().to_owned(), None);
        ask.header(name, value).raw("application/x-www-form-urlencoded", body.clone()).send()
    };
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
        assert_eq!(sent(name, value).await.status, 403, "{name}");
    }
    let forged = [("token", "x.y"), ("start", "2026-03-10T09:00:00Z"), ADA[0], ADA[1]];
    assert_eq!(browser.submit(form.action.as_str(), &forged).await.status, 400);
    server.clock.advance_ms(61 * 60_000);
    let old = send(&browser, &page, &ADA).await;
    assert_eq!(old.status, 400, "{old:#?}");
    assert!(old.text.contains("open for too long"), "{old:#?}");
    let trapped = send(&browser, &old, &[ADA[0], ADA[1], ("website", "https://spam.example")]).await;
    assert_eq!(trapped.status, 303);
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await.len(), 6, "nothing was booked");
    assert_eq!(send(&browser, &old, &ADA).await.status, 303);
    let large = "x".repeat(300 << 10);
    assert_eq!(send(&browser, &old, &[("notes", &large)]).await.status, 413);
}

/// An address may send some forms a minute, and is told when to come back.
#[tokio::test]
async fn too_many_forms_are_refused() {
    let server = TestServer::start().await;
    let (browser, url) = (Browser::default(), format!("http://{}/book/nobody", server.address));
    for _ in 0..20 {
        assert_eq!(browser.submit(&url, &ADA).await.status, 404);
    }
    let refused = browser.submit(&url, &ADA).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "60"));
    assert_eq!(browser.open(&url).await.status, 404, "pages have a budget of their own");
}

/// A calendar that cannot be read is not an empty one: the list says so, and a form is kept to be sent again.
#[tokio::test]
async fn a_calendar_that_is_down_is_not_an_empty_one() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let provider = server.provider("alice");
    let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": "/sandbox/v1" });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    server.clock.advance_ms(1);
    let list = browser.open(&url).await;
    assert_eq!((list.status, list.header("retry-after")), (503, "5"));
    assert!(list.text.contains("Times cannot be shown right now"), "{list:#?}");
    let kept = send(&browser, &page, &ADA).await;
    assert_eq!(kept.status, 503, "{kept:#?}");
    assert!(kept.text.contains("value=\"Ada\"") && kept.text.contains("in a moment"), "{kept:#?}");

    provider.delete("/sandbox/faults").send().await.expect(204);
    server.clock.advance_ms(1);
    assert_eq!(send(&browser, &kept, &ADA).await.status, 303);
}

/// A month without free times leads to the next one that has some, as far as the event type can be booked.
#[tokio::test]
async fn nothing_free_leads_on() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let once = json!({
        "date": "2026-05-04", "available": true, "windows": [{ "start": "09:00", "end": "10:00" }]
    });
    let window = json!({
        "bookingWindow": { "kind": "range", "startDate": "2026-03-01", "endDate": "2026-05-10" },
        "schedule": { "timeZone": "UTC", "weekly": [], "overrides": [once] },
    });
    desk.open("rare", window).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "rare").await);
    let empty = browser.open(&url).await;
    assert!(empty.text.contains("No times available in March."), "{empty:#?}");
    let may = browser.open(&leads(&empty, "Next free times: May 2026")).await;
    assert!(may.text.contains("Monday, 4 May 2026") && !may.text.contains("Next month"), "{may:#?}");
}
