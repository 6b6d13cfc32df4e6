//! Tracking of sent messages: opens and clicks, which come to the service; replies, delivery reports and complaints, which come to the
//! mailbox.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use reqwest::redirect::Policy;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use storage::tracking;

use crate::email::mailbox::{Letter, Mailbox, Provider, letter, text, until, written};

/// The public address of the service.
const US: &str = "https://us.test";
const PERSON: &str =
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)";
const OFFER: &str = "<html><body><p>Hi</p><a href=\"https://shop.test/?a=1&amp;b=2\">1</a> <a href=\"http://two.test\">2</a> \
    <a href=\"https://three.test/x#y\">3</a> <a href=\"mailto:me@shop.test\">write</a> \
    <a href=\"https://shop.test/unsubscribe?u=1\">off</a> <a href=\"https://list.test/leave?u=1\">leave</a></body></html>";

async fn record(mailbox: &Mailbox, sent: &Value) -> Value {
    let path = format!("/v1/email/tracking/{}", text(&sent["tracking"]["trackingId"]));
    mailbox.get(path).send().await.expect(200)
}

/// Fetches an address of the message, as a program of its reader.
async fn fetched(mailbox: &Mailbox, method: Method, url: &str, user_agent: &str) -> Response {
    let path = url.strip_prefix(US).expect("it leads over the service");
    let http = harness::http_client().redirect(Policy::none()).build().expect("a client");
    let request = http.request(method, format!("http://{}{path}", mailbox.server.address));
    request.header("user-agent", user_agent).send().await.expect("an answer")
}

/// Follows a link; where it leads.
async fn followed(mailbox: &Mailbox, url: &str, user_agent: &str) -> String {
    let answer = fetched(mailbox, Method::GET, url, user_agent).await;
    assert_eq!(answer.status(), 302);
    answer.headers()["location"].to_str().expect("a URL").to_owned()
}

/// The values of an attribute.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let mark = format!("{attribute}=\"");
    html.split(&mark).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// A message with everything tracked, and its HTML as the other one got it.
async fn offered(mailbox: &Mailbox) -> (Value, String) {
    let sent = mailbox
        .send(json!({ "subject": "Offer", "body": { "text": "Hi: https://shop.test/", "html": OFFER },
            "headers": [{ "name": "List-Unsubscribe", "value": "<https://list.test/leave?u=1>" }],
            "tracking": { "opens": true, "links": true, "replies": true, "label": "spring" } }))
        .await;
    mailbox.other.arrived(&text(&sent["internetMessageId"])).await;
    let theirs = mailbox.connect_other().await;
    let inbox = mailbox.all(&format!("/v1/email/messages?connection_id={theirs}")).await;
    let got = mailbox.read(&inbox[0]["id"]).await;
    assert_eq!(text(&got["body"]["text"]).trim_end(), "Hi: https://shop.test/", "the text is as it was");
    (sent, text(&got["body"]["html"]))
}

async fn opens_and_links(provider: Provider) {
    let service = provider.server().config(|c| c.public_url = Some(US.to_owned()));
    let Some(mailbox) = Mailbox::open_with(provider, service).await else { return };
    if !mailbox.delivers() {
        return;
    }
    let path = format!("/v1/connections/{}/capabilities", mailbox.connection);
    let features = &mailbox.get(path).send().await.expect(200)["features"];
    assert_eq!((&features["openTracking"], &features["linkTracking"]), (&json!(true), &json!(true)));
    let (sent, html) = offered(&mailbox).await;

    // Three links and a picture lead through the service; unsubscribe links and `mailto:` are unchanged.
    let (links, picture) = (values(&html, "href"), values(&html, "src"));
    let (tracked, kept) = links.split_at(3);
    assert!(tracked.iter().chain(&picture).all(|url| url.starts_with(&format!("{US}/t/"))), "{html}");
    assert_eq!(
        (kept, picture.len()),
        (&["mailto:me@shop.test", "https://shop.test/unsubscribe?u=1", "https://list.test/leave?u=1"][..], 1)
    );
    let own = mailbox.read(&sent["id"]).await;
    assert!(!text(&own["body"]["html"]).contains(US), "who reads the own copy opens nothing: {own:#}");
    assert_eq!(own["tracking"], sent["tracking"]);

    who_opened(&mailbox, &sent, picture[0]).await;
    who_followed(&mailbox, &sent, tracked).await;
    nowhere_else(&mailbox, tracked[0], picture[0]).await;

    // A year later nothing is counted, and links still lead where they led.
    let before = record(&mailbox, &sent).await;
    mailbox.server.clock.advance_ms(366 * 86_400_000);
    assert_eq!(followed(&mailbox, tracked[1], PERSON).await, "http://two.test");
    assert_eq!(fetched(&mailbox, Method::GET, picture[0], PERSON).await.status(), 200);
    assert_eq!(record(&mailbox, &sent).await, before);
}

async fn who_opened(mailbox: &Mailbox, sent: &Value, picture: &str) {
    let clock = &mailbox.server.clock;
    let hits = [
        // A gateway scans it on the way.
        (0, Method::GET, "Mozilla/5.0 (Windows NT 10.0)", Some(("bot", json!("within_2s_of_send")))),
        (60_000, Method::GET, PERSON, Some(("human", Value::Null))),
        // The same person, in the same reading.
        (30_000, Method::GET, PERSON, None),
        (1, Method::GET, "Mozilla/5.0", Some(("proxy", json!("apple_mpp")))),
        (1, Method::GET, "Mozilla/5.0 (compatible; Barracuda Sentinel)", Some(("bot", json!("scanner_ua")))),
        (1, Method::GET, "", Some(("unknown", Value::Null))),
        (61_000, Method::HEAD, PERSON, Some(("bot", json!("head_request")))),
        (61_000, Method::GET, PERSON, Some(("human", Value::Null))),
    ];
    for (after, method, user_agent, _) in &hits {
        clock.advance_ms(*after);
        let answer = fetched(mailbox, method.clone(), picture, user_agent).await;
        let header = |name: &str| answer.headers()[name].to_str().expect("text").to_owned();
        assert_eq!((answer.status().as_u16(), header("content-type")), (200, "image/gif".to_owned()));
        assert_eq!(header("cache-control"), "no-store, private", "each look comes to us");
    }
    let seen = record(mailbox, sent).await;
    let counted: Vec<_> = hits.iter().rev().filter_map(|hit| hit.3.clone()).collect();
    let events = seen["events"].as_array().expect("events");
    let told: Vec<_> =
        events.iter().map(|e| (e["classification"].as_str().expect("a word"), e["reason"].clone())).collect();
    assert_eq!(told, counted, "newest first");
    assert_eq!((&events[0]["type"], &events[0]["ip"]), (&json!("open"), &json!("127.0.0.0/24")));
    assert_eq!((&seen["opens"]["total"], &seen["opens"]["human"]), (&json!(7), &json!(2)));
    assert_eq!(
        (&seen["opens"]["firstAt"], &seen["opens"]["lastAt"]),
        (&events[6]["at"], &events[0]["at"]),
        "{seen:#}"
    );
    assert_eq!(
        (&seen["label"], &seen["messageId"], &seen["connectionId"]),
        (&json!("spring"), &sent["id"], &json!(mailbox.connection))
    );
}

async fn who_followed(mailbox: &Mailbox, sent: &Value, links: &[&str]) {
    let leads_to = ["https://shop.test/?a=1&b=2", "http://two.test", "https://three.test/x#y"];
    assert_eq!(followed(mailbox, links[1], PERSON).await, leads_to[1]);
    mailbox.server.clock.advance_ms(10_000);
    // All links at once: that is no person, with any user agent.
    for (link, leads) in links.iter().zip(leads_to) {
        mailbox.server.clock.advance_ms(100);
        assert_eq!(followed(mailbox, link, "Mozilla/5.0 (X11; Linux x86_64)").await, leads);
    }
    let seen = record(mailbox, sent).await;
    let links: Vec<_> = seen["links"].as_array().expect("links").iter().collect();
    let count = |n: usize| (links[n]["total"].as_i64(), links[n]["human"].as_i64());
    assert_eq!([count(0), count(1), count(2)], [(Some(1), Some(0)), (Some(2), Some(1)), (Some(1), Some(0))]);
    assert!(links.iter().zip(leads_to).all(|(link, url)| link["url"] == url), "{seen:#}");
    let newest = &seen["events"][0];
    assert_eq!(
        (&newest["type"], &newest["linkIndex"], &newest["url"], &newest["reason"]),
        (&json!("click"), &json!(2), &json!(leads_to[2]), &json!("all_links_burst"))
    );
}

/// A link without the service's signature redirects nowhere.
async fn nowhere_else(mailbox: &Mailbox, link: &str, picture: &str) {
    let changed = format!("{}{}", &link[..link.len() - 1], if link.ends_with('A') { 'B' } else { 'A' });
    let forged = [
        changed,
        format!("{US}/t/https%3A%2F%2Fevil.test"),
        format!("{US}/t/eyJ0IjoieCJ9"),
        format!("{link}x?url=https://evil.test"),
    ];
    for url in &forged {
        let answer = fetched(mailbox, Method::GET, url, PERSON).await;
        assert_eq!(answer.status(), 404, "{url}");
        assert!(answer.headers().get("location").is_none(), "{url}");
    }
    let aside = fetched(mailbox, Method::GET, &format!("{link}?url=https://evil.test"), PERSON).await;
    assert_eq!(aside.headers()["location"], "https://shop.test/?a=1&b=2");
    let shown = fetched(mailbox, Method::GET, &format!("{picture}?url=https://evil.test"), PERSON).await;
    assert_eq!(shown.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opens_and_links_of_the_sandbox() {
    opens_and_links(Provider::Sandbox).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opens_and_links_by_dovecot() {
    opens_and_links(Provider::Dovecot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opens_and_links_by_jmap() {
    opens_and_links(Provider::Jmap).await;
}

/// A service without a public address offers no tracking.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_public_address() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("it is always there");
    let path = format!("/v1/connections/{}/capabilities", mailbox.connection);
    let features = &mailbox.get(path).send().await.expect(200)["features"];
    assert_eq!((&features["openTracking"], &features["linkTracking"]), (&json!(false), &json!(false)));
    let wish = json!({ "opens": true, "links": true, "replies": true });
    let sent = mailbox.submit(json!({ "body": { "html": OFFER }, "tracking": wish })).await;
    let targets: Vec<_> =
        sent["warnings"].as_array().expect("warnings").iter().map(|w| &w["target"]).collect();
    assert_eq!(targets, [&json!("tracking.opens"), &json!("tracking.links")], "{sent:#}");
    mailbox.server.hand_over().await;
    let raw = mailbox.other.arrived(&text(&sent["internetMessageId"])).await;
    assert!(!raw.contains("/t/"), "{raw}");
    let seen = record(&mailbox, &sent).await;
    assert_eq!((&seen["opens"]["enabled"], &seen["links"]), (&json!(false), &json!([])));
    assert_eq!(seen["replies"]["enabled"], true, "answers come to the mailbox");
}

/// A message to these, with its answers tracked.
async fn sent_to(mailbox: &Mailbox, to: &[&str]) -> Value {
    // Existing messages are no news.
    mailbox.list("").await;
    let to: Vec<Value> = to.iter().map(|email| json!({ "email": email })).collect();
    let sent = mailbox.send(json!({ "subject": "News", "to": to, "tracking": { "replies": true } })).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    sent
}

/// Reads the message and its delivery again.
async fn read_again(mailbox: &Mailbox, sent: &Value) -> (Value, Value) {
    mailbox.list("").await;
    mailbox.server.hand_over().await;
    (mailbox.read(&sent["id"]).await["delivery"].clone(), record(mailbox, sent).await)
}

/// Returns the address, status and enhanced status code of each recipient.
fn statuses(delivery: &Value) -> Vec<(String, String, Value)> {
    let recipients = delivery["recipients"].as_array().expect("recipients").iter();
    recipients.map(|r| (text(&r["email"]), text(&r["status"]), r["enhancedStatus"].clone())).collect()
}

/// A report (RFC 3462) about a message, with the machine's part in it.
fn report(message_id: &str, about: &Value, kind: &str, machine: &str, said: &str) -> Letter {
    let head =
        format!("MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type={kind}; boundary=r\r\n");
    let body = format!(
        "--r\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--r\r\nContent-Type: {machine}\r\n\r\n{said}\r\n--r\r\n\
         Content-Type: text/rfc822-headers\r\n\r\nSubject: News\r\nMessage-ID: <{}>\r\n\r\n--r--\r\n",
        text(&about["internetMessageId"])
    );
    written("Undelivered", message_id, &head, &body).with("From", "MAILER-DAEMON@mx.elsewhere.test")
}

/// One report covers several recipients, each separately.
async fn delivery_reports(mailbox: Mailbox) {
    if !mailbox.delivers() {
        return;
    }
    let (good, gone, slow) = (mailbox.other.address.clone(), "gone@elsewhere.test", "slow@elsewhere.test");
    let sent = sent_to(&mailbox, &[&good, gone, slow]).await;
    let said = format!(
        "Reporting-MTA: dns; mx.elsewhere.test\r\n\r\nFinal-Recipient: rfc822; {gone}\r\nAction: failed\r\nStatus: 5.1.1\r\n\
         Diagnostic-Code: smtp; 550 5.1.1 no such user\r\n\r\nFinal-Recipient: rfc822; {slow}\r\nAction: delayed\r\nStatus: 4.4.1\r\n\r\n\
         Final-Recipient: rfc822; {good}\r\nAction: delivered\r\nStatus: 2.0.0\r\n"
    );
    let dsn = |id| report(id, &sent, "delivery-status", "message/delivery-status", &said);
    mailbox.there.deliver(&dsn("report-1@elsewhere.test")).await;
    let (delivery, seen) = read_again(&mailbox, &sent).await;
    let status = |of: &str, word: &str, code: &str| (of.to_owned(), word.to_owned(), json!(code));
    assert_eq!(
        statuses(&delivery),
        [
            status(&good, "delivered", "2.0.0"),
            status(gone, "bounced", "5.1.1"),
            status(slow, "deferred", "4.4.1")
        ]
    );
    assert_eq!(delivery["state"], "partially_failed");
    let usage = mailbox.get("/v1/usage").send().await.expect(200);
    assert_eq!(usage["email"], json!({ "sent": 1, "bounced": 1 }), "one message, one report");
    let bounces = seen["bounces"].as_array().expect("bounces");
    let mut told: Vec<_> =
        bounces.iter().map(|b| [&b["recipient"], &b["kind"], &b["enhancedStatus"]].map(text)).collect();
    told.sort();
    assert_eq!(told, [[gone, "hard", "5.1.1"], [slow, "soft", "4.4.1"]]);
    let hard = bounces.iter().find(|b| b["kind"] == "hard").expect("one");
    assert!(text(&hard["diagnostic"]).contains("no such user"), "{seen:#}");

    // A repeated report changes nothing, and a report about a foreign message is ignored.
    mailbox.there.deliver(&dsn("report-2@elsewhere.test")).await;
    let strange = json!({ "internetMessageId": "stranger@elsewhere.test" });
    let strange =
        report("report-3@elsewhere.test", &strange, "delivery-status", "message/delivery-status", &said);
    mailbox.there.deliver(&strange).await;
    assert_eq!(read_again(&mailbox, &sent).await, (delivery, seen));

    // A complaint (RFC 5965).
    let said =
        format!("Feedback-Type: abuse\r\nUser-Agent: x/1\r\nVersion: 1\r\nOriginal-Rcpt-To: <{good}>\r\n");
    let complaint =
        report("report-4@elsewhere.test", &sent, "feedback-report", "message/feedback-report", &said);
    mailbox.there.deliver(&complaint).await;
    let (delivery, seen) = read_again(&mailbox, &sent).await;
    assert_eq!(statuses(&delivery)[0].1, "complained", "{delivery:#}");
    let complaints = seen["complaints"].as_array().expect("complaints");
    assert_eq!((complaints.len(), &complaints[0]["feedbackType"]), (1, &json!("abuse")), "{seen:#}");
}

/// A server takes the message, cannot deliver it, and says so by mail.
async fn a_bounce_of_a_real_server(mailbox: Mailbox) {
    if !mailbox.delivers() {
        return;
    }
    let gone =
        if mailbox.provider == Provider::Sandbox { "bounce@x.test" } else { "nobody-there@example.test" };
    let sent = sent_to(&mailbox, &[gone]).await;
    let delivery = until("the bounce", async || {
        let (delivery, _) = read_again(&mailbox, &sent).await;
        (delivery["state"] == "bounced").then_some(delivery)
    })
    .await;
    let recipient = &delivery["recipients"][0];
    assert_eq!((&recipient["email"], &recipient["status"]), (&json!(gone), &json!("bounced")));
    let code = text(&recipient["enhancedStatus"]);
    assert!(code.starts_with("5."), "{recipient}");
    let seen = record(&mailbox, &sent).await;
    assert_eq!(
        (&seen["bounces"][0]["recipient"], &seen["bounces"][0]["kind"]),
        (&json!(gone), &json!("hard"))
    );
}

async fn answers(mailbox: Mailbox) {
    if !mailbox.delivers() {
        return;
    }
    let good = mailbox.other.address.clone();
    let sent = sent_to(&mailbox, &[&good]).await;
    let to = format!("In-Reply-To: <{}>\r\n", text(&sent["internetMessageId"]));
    let away = format!("{to}Auto-Submitted: auto-replied\r\n");
    mailbox.there.deliver(&letter("Out of office: News", "away@elsewhere.test", &away)).await;
    mailbox.there.deliver(&letter("Re: News", "answer@elsewhere.test", &to)).await;
    let (_, seen) = read_again(&mailbox, &sent).await;
    let answer = mailbox.titled("Re: News").await;
    assert_eq!(
        (&seen["replies"]["count"], &seen["replies"]["messageIds"]),
        (&json!(1), &json!([answer["id"]])),
        "a machine's answer is none: {seen:#}"
    );
    assert_eq!(seen["events"][0]["type"], "reply");
    let away = mailbox.titled("Out of office: News").await;
    assert_eq!((&away["autoReply"], &answer["autoReply"]), (&json!(true), &json!(false)));
}

/// Records are visible only to those who may use the mailbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_of_others() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("it is always there");
    let sent = sent_to(&mailbox, &[&mailbox.other.address]).await;
    let path = format!("/v1/email/tracking/{}", text(&sent["tracking"]["trackingId"]));
    let stranger = mailbox.server.key("stranger", |_| {}).await;
    stranger.get(&path).send().await.refused(404, "not_found");
    let reader = mailbox.server.client_with(&["email.read"]).await;
    reader.get(&path).send().await.refused(403, "insufficient_scope");
    mailbox.get("/v1/email/tracking/trk_unknown").send().await.refused(404, "not_found");
}

on_every_mailbox!(delivery_reports, a_bounce_of_a_real_server, answers);

/// Hits on a message's addresses are bounded, by record and by address, because its holder can open them as often as they like. Readers
/// are not turned away for it.
#[tokio::test]
async fn hits_are_bounded() {
    let service = Provider::Sandbox.server().config(|c| c.public_url = Some(US.to_owned()));
    let mailbox = Mailbox::open_with(Provider::Sandbox, service).await.expect("the sandbox is always there");
    let (sent, html) = offered(&mailbox).await;
    let (link, picture) = (values(&html, "href")[0].to_owned(), values(&html, "src")[0].to_owned());
    mailbox.server.clock.advance_ms(60_000);
    // Each hit has another reader, so none counts as the same open.
    for n in 0..300 {
        assert_eq!(fetched(&mailbox, Method::GET, &picture, &format!("{PERSON} {n}")).await.status(), 200);
        assert_eq!(followed(&mailbox, &link, PERSON).await, "https://shop.test/?a=1&b=2");
    }
    let seen = record(&mailbox, &sent).await;
    let counted = seen["opens"]["total"].as_i64().expect("a number")
        + seen["links"][0]["total"].as_i64().expect("a number");
    assert_eq!(counted, 120, "as many as a record takes in a minute");
    assert_eq!(seen["events"].as_array().map(Vec::len), Some(100));
    // The address has had its minute: a picture costs nothing, a link has to be looked up.
    assert_eq!(fetched(&mailbox, Method::GET, &picture, PERSON).await.status(), 200);
    let over = fetched(&mailbox, Method::GET, &link, PERSON).await;
    assert_eq!((over.status().as_u16(), over.headers()["retry-after"].to_str().ok()), (429, Some("60")));
    mailbox.server.clock.advance_ms(60_000);
    assert_eq!(followed(&mailbox, &link, PERSON).await, "https://shop.test/?a=1&b=2");
}

/// A record keeps a maximum of hits and of arrivals, counted separately: a flood of opens hides no bounce.
#[tokio::test]
async fn a_record_keeps_a_bounded_number_of_events() {
    let service = Provider::Sandbox.server().config(|c| c.public_url = Some(US.to_owned()));
    let mailbox = Mailbox::open_with(Provider::Sandbox, service).await.expect("the sandbox is always there");
    let (sent, _) = offered(&mailbox).await;
    let id = text(&sent["tracking"]["trackingId"]);
    let add = async |kind: &'static str, times: i64| {
        let id = id.clone();
        let added: anyhow::Result<i64> = mailbox
            .server
            .app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    let mut added = 0;
                    for n in 0..times {
                        let event = tracking::Event {
                            id: format!("{kind} {n}"),
                            kind: kind.to_owned(),
                            at: n,
                            link_index: None,
                            ip: None,
                            user_agent: None,
                            classification: "unknown".to_owned(),
                            reason: None,
                            detail: None,
                        };
                        added += i64::from(tracking::add_event(tx, &id, &event).await?);
                    }
                    Ok(added)
                })
            })
            .await;
        added.expect("they are written")
    };
    assert_eq!(add("open", tracking::MAX_HITS + 50).await, tracking::MAX_HITS);
    assert_eq!(add("click", 5).await, 0);
    assert_eq!(add("bounce", tracking::MAX_ARRIVALS + 50).await, tracking::MAX_ARRIVALS);
    let seen = record(&mailbox, &sent).await;
    assert_eq!(seen["opens"]["total"], tracking::MAX_HITS);
    assert_eq!(seen["bounces"].as_array().map(|b| b.len() as i64), Some(tracking::MAX_ARRIVALS));
}
