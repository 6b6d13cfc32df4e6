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

/// The address of the link with this text.
#[track_caller]
pub(super) fn leads(page: &Page, name: &str) -> String {
    let end = format!(">{name}</a>");
    let before = page.text.split_once(&end).unwrap_or_else(|| panic!("no link {name}: {page:#?}")).0;
    let tag = before.rsplit_once("<a href=\"").expect("a link").1;
    let href = tag.split('"').next().unwrap_or_default().replace("&amp;", "&");
    page.url.join(&href).expect("a URL").to_string()
}

/// The address of the link with this label, such as an arrow.
#[track_caller]
fn leads_by_label(page: &Page, label: &str) -> String {
    let label = format!(" aria-label=\"{label}\">");
    let before = page.text.split_once(&label).unwrap_or_else(|| panic!("no link {label}: {page:#?}")).0;
    let tag = before.rsplit_once("<a href=\"").expect("a link").1;
    let href = tag.split('"').next().unwrap_or_default().replace("&amp;", "&");
    page.url.join(&href).expect("a URL").to_string()
}

/// Whether an arrow with this label leads nowhere.
fn has_dead_arrow(page: &Page, label: &str) -> bool {
    page.text.contains(&format!(
        "<span class=\"button icon\" role=\"link\" aria-disabled=\"true\" aria-label=\"{label}\">"
    ))
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

/// The body that a browser sends for the page's form, filled in like this.
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
    assert!(!list.text.contains("meet.example.org") && has_dead_arrow(&list, "Previous month"));
    let next = browser.open(&leads_by_label(&list, "Next month, April 2026")).await;
    assert!(next.text.contains("<h2 id=\"month\">April 2026</h2>"), "{next:#?}");
    let before = browser.open(&leads_by_label(&next, "Previous month, March 2026")).await;
    assert!(before.text.contains("<h2 id=\"month\">March 2026</h2>"), "{before:#?}");

    let page = form(&server, &browser, &url, "09:30").await;
    let when = "<strong>Tuesday, 10 March 2026</strong><br>09:30–10:00 · UTC";
    assert!(page.text.contains(when), "{page:#?}");
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert_eq!(done.status, 200, "{done:#?}");
    let link = "<a href=\"https://meet.example.org/alice\" dir=\"ltr\">";
    for shown in ["Your booking is confirmed", "09:30–10:00", "ada@<wbr>example.<wbr>org", link] {
        assert!(done.text.contains(shown), "{shown}: {}", done.text);
    }
    assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"09:30".to_owned()));
    let list = browser.open(&format!("{url}?day={DAY}")).await;
    assert!(!list.text.contains(">09:30</a>") && !list.text.contains("ada@example.org"), "{list:#?}");
    // The page is the same each time it is opened, and a changed address is not found.
    assert_eq!(browser.open(done.url.as_str()).await.text, done.text);
    assert_eq!(browser.open(&done.url.as_str().replace("/b/", "/b/x")).await.status, 404);
}

/// Times are those of the zone that the visitor names; an unknown zone is reported, and kept in its field.
#[tokio::test]
async fn times_are_in_the_visitors_zone() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let own = browser.open(&format!("{url}?day={DAY}")).await;
    assert!(own.text.contains("<strong>UTC</strong> (the host’s time zone)"), "{own:#?}");
    let list = browser.open(&format!("{url}?day={DAY}&tz=Asia/Kathmandu")).await;
    assert!(list.text.contains("<strong>Asia/Kathmandu</strong><br>now "), "{list:#?}");
    let page = browser.open(&leads(&list, "14:45")).await;
    server.clock.advance_ms(2_000);
    let done = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert!(done.text.contains("14:45–15:15 · Asia/Kathmandu"), "{done:#?}");

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
    // Two hours later on the day of a visitor in Athens.
    let athens = browser.open(&format!("{url}?day={DAY}&tz=Europe/Athens")).await;
    assert!(!athens.text.contains("Morning") && athens.text.contains("Evening"), "{athens:#?}");
    assert_eq!(parts(&athens), [4, 3]);

    let short = browser.open(&format!("{}?day={DAY}", address(&desk.api, "short").await)).await;
    assert!(!short.text.contains("<h3") && parts(&short) == [6], "{short:#?}");
}

/// On a day on which the clocks change each time has its offset: skipped times are missing, repeated ones are listed twice.
#[tokio::test]
async fn the_clocks_change() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let nights = json!({ "days": [7], "start": "01:00", "end": "04:00" });
    desk.open("night", json!({ "schedule": { "timeZone": "Europe/Berlin", "weekly": [nights] } })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "night").await);
    let spring = browser.open(&format!("{url}?day=2026-03-29")).await.text;
    assert!(
        spring.contains(">01:30 <small>(UTC+01:00)</small></a>")
            && spring.contains(">03:00 <small>(UTC+02:00)</small></a>"),
        "{spring}"
    );
    assert!(!spring.contains(">02:"), "{spring}");
    let autumn = browser.open(&format!("{url}?day=2026-10-25")).await.text;
    assert!(
        autumn.contains(">02:00 <small>(UTC+02:00)</small></a>")
            && autumn.contains(">02:00 <small>(UTC+01:00)</small></a>"),
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

/// A visitor who comes too late keeps the typed text, and chooses among the remaining times.
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
    let kept =
        ["value=\"Bob\"", "A &amp; B", "We keep what you typed.", "<h3 id=\"day-0\">Tuesday, 10 March 2026"];
    for shown in
        ["no longer available", "<s><strong>", "Other free times", ">09:30</label>"].iter().chain(&kept)
    {
        assert!(late.text.contains(shown), "{shown}: {}", late.text);
    }
    assert!(!late.text.contains(" checked"), "no time is chosen beforehand: {}", late.text);
    let rest = late.text.split_once("name=\"start\" required value=\"").expect("another time").1;
    let other = rest.split('"').next().unwrap_or_default();
    let again = [("name", "Bob"), ("email", "bob@example.org"), ("start", other)];
    let done = follow(&browser, &send(&browser, &late, &again).await).await;
    assert!(done.text.contains("09:30–10:00"), "{done:#?}");
    // The address of a slot that is no longer available says so before the form; so does one in the past.
    for start in ["2026-03-10T09:00:00Z", "2020-01-01T09:00:00Z", "9000-01-01T00:00:00Z"] {
        let gone = browser.open(&format!("{url}?at={start}")).await;
        assert_eq!((gone.status, gone.text.contains("booked yet")), (409, false), "{gone:#?}");
    }
}

/// Questions of the event type are shown, and each mistake at its field.
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
        assert!(answer.text.contains(&format!("id=\"error-{control}\"")), "{control}: {}", answer.text);
        assert!(answer.text.contains(&format!("<a href=\"#{control}\">")), "{control}: {}", answer.text);
    }
    let right =
        [name, email, topic, ("q.days", "Mon"), ("q.days", "Tue"), ("q.size", "1.5"), ("q.new", "on")];
    assert_eq!(send(&browser, &page, &right).await.status, 303);
}

/// All mistakes of a form are reported at once: in a list with a link to each of them, and beside each control.
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
                <li><a href=\"#q.topic\">Topic: Choose an option.</a></li>\n\
                <li><a href=\"#q.days\">Days: Choose an option.</a></li>\n</ul>";
    for shown in ["Please check the marked fields", list, ">\nkept</textarea>"] {
        assert!(wrong.text.contains(shown), "{shown}: {}", wrong.text);
    }
    for control in ["name", "email", "q.topic", "q.days"] {
        let described = format!("aria-describedby=\"error-{control}\"");
        let error = format!("<p class=\"error\" id=\"error-{control}\">");
        assert!(wrong.text.contains(&described) && wrong.text.contains(&error), "{control}: {}", wrong.text);
    }
    assert_eq!(wrong.text.matches("Enter your name.").count(), 2, "{wrong:#?}");
    let right = [ADA[0], ADA[1], ("q.topic", "a"), ("q.days", "Mon")];
    assert_eq!(send(&browser, &wrong, &right).await.status, 303);
}

/// Text of a visitor is never markup.
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

/// One page answers for event types that do not exist, are closed or belong to others. An address without an application is that of the
/// first one.
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

/// An address may send some forms a minute, and then learns when to retry.
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
    assert!(list.text.contains("Times can’t be shown right now"), "{list:#?}");
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
    for shown in ["<h2>No times available in March</h2>", "The next free day is Monday, 4 May 2026."] {
        assert!(empty.text.contains(shown), "{shown}: {empty:#?}");
    }
    let april = browser.open(&leads_by_label(&empty, "Next month, April 2026")).await;
    assert!(april.text.contains("No times available in April"), "{april:#?}");
    let may = browser.open(&leads(&empty, "Show 4 May")).await;
    assert!(may.text.contains("Monday, 4 May 2026") && has_dead_arrow(&may, "Next month"), "{may:#?}");
    assert_eq!(may.text.matches("#times\" aria-label=\"").count(), 1, "days with times: {may:#?}");
}

/// A month without later times has no arrow to the next; without earlier ones either it has no arrows at all.
#[tokio::test]
async fn nothing_free_at_all_leads_nowhere() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let range = |end: &str| json!({ "kind": "range", "startDate": "2026-03-01", "endDate": end });
    let closed = json!({ "timeZone": "UTC", "weekly": [] });
    desk.open("never", json!({ "bookingWindow": range("2026-05-10"), "schedule": closed.clone() })).await;
    // Of a window without an end it is not known.
    desk.open("unlimited", json!({ "schedule": closed })).await;
    let browser = Browser::default();
    let never = browser.open(&address(&desk.api, "never").await).await;
    assert_eq!(never.status, 200, "{never:#?}");
    assert!(never.text.contains("<h2>No times available</h2>"), "{never:#?}");
    for absent in ["Next month", "Previous month", "id=\"month\"", "class=\"button\">", "#times"] {
        assert!(!never.text.contains(absent), "{absent}: {never:#?}");
    }
    let april = browser.open(&format!("{}?month=2026-04", address(&desk.api, "never").await)).await;
    for shown in ["<h2>No times available in April</h2>", "No later times either."] {
        assert!(april.text.contains(shown), "{shown}: {april:#?}");
    }
    assert!(has_dead_arrow(&april, "Next month"), "{april:#?}");
    leads_by_label(&april, "Previous month, March 2026");

    let unlimited = browser.open(&address(&desk.api, "unlimited").await).await;
    assert!(unlimited.text.contains("<h2>No times available in March</h2>"), "{unlimited:#?}");
    assert!(!unlimited.text.contains("later times"), "{unlimited:#?}");
    leads_by_label(&unlimited, "Next month, April 2026");
}

/// A long description is cut after a sentence, and the rest is folded.
#[tokio::test]
async fn a_long_description_is_folded() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let rest = "Bring the record of processing activities. ".repeat(5);
    let description = format!("We look at what you have written so far & talk about it. {rest}");
    desk.open("long", json!({ "description": description })).await;
    let page = Browser::default().open(&address(&desk.api, "long").await).await;
    let beginning =
        "<p class=\"about\" dir=\"auto\">We look at what you have written so far &amp; talk about it. Bring";
    assert!(page.text.contains(beginning), "{page:#?}");
    let folded = "<details><summary>Read more</summary><p class=\"about\" dir=\"auto\">Bring the record";
    assert!(page.text.contains(folded), "{page:#?}");
    assert_eq!(page.text.matches("Bring the record").count(), 5, "nothing is shown twice: {page:#?}");
}

/// The icons of a page are defined in it once, inside the part that scripts replace.
#[tokio::test]
async fn a_page_brings_its_drawings() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let list = Browser::default().open(&address(&desk.api, "intro").await).await;
    let (_, main) = list.text.split_once("<main").expect("the page's main part");
    let symbols: Vec<&str> =
        main.split("<symbol id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(symbols, ["i-back", "i-clock", "i-globe", "i-next"]);
    for used in main.split("<use href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(symbols.contains(&used), "{used}: {list:#?}");
    }
}
