//! `GET /v1/email/messages`, and the folders and labels that it is narrowed by.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::email::mailbox::{
    Letter, Mailbox, Provider, escaped, letter, refused, subjects, text, until, written,
};

on_every_mailbox!(
    every_filter,
    paging_under_arrivals,
    a_fresh_mailbox_is_listed_while_it_is_read,
    how_much_is_shown,
    words_in_the_text,
    long_texts_on_several_pages,
    what_a_list_refuses,
);

const FILE: &str = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n";
const FILE_BODY: &str = "--b\r\nContent-Type: text/plain\r\n\r\nThe zanzibar report\r\n--b\r\nContent-Type: application/pdf\r\n\
    Content-Disposition: attachment; filename=report.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQK\r\n--b--\r\n";

/// Four messages, a day apart, that no filter takes alike.
fn four() -> [Letter; 4] {
    [
        letter("=?utf-8?Q?Angebot_f=C3=BCr_M=C3=A4rz?=", "offer@x.test", "")
            .with("From", "=?utf-8?Q?J=C3=BCrgen_M=C3=BCller?= <juergen@firm.test>")
            .with("To", "team@firm.test")
            .at("2026-01-01T10:00:00Z")
            .flagged(&["seen", "starred"]),
        letter("Other things", "other@x.test", "Cc: The boss <boss@firm.test>\r\n")
            .at("2026-01-02T10:00:00Z"),
        written("Report", "report@x.test", &format!("Bcc: hidden@firm.test\r\n{FILE}"), FILE_BODY)
            .at("2026-01-03T10:00:00Z")
            .flagged(&["seen"]),
        letter("Put away", "away@x.test", "")
            .at("2026-01-04T10:00:00Z")
            .flagged(&["starred"])
            .into_folder("archive"),
    ]
}

async fn every_filter(mailbox: Mailbox) {
    for letter in &four() {
        mailbox.there.deliver(letter).await;
    }
    let (a, b, c, d) = ("Angebot f\u{fc}r M\u{e4}rz", "Other things", "Report", "Put away");
    let all = mailbox.list("").await;
    assert_eq!(subjects(&all), [d, c, b, a], "newest first");
    let (inbox, archive) = (mailbox.folder("inbox").await, mailbox.folder("archive").await);
    let thread = text(&all[3]["threadId"]);
    let cases: [(String, &[&str]); 25] = [
        (format!("from={}", escaped("J\u{fc}rgen")), &[a]),
        (format!("from={}", escaped("MULLER")), &[a]),
        ("from=juergen@firm.test".into(), &[a]),
        ("from=ann".into(), &[d, c, b]),
        ("to=team@firm".into(), &[a]),
        ("cc=boss".into(), &[b]),
        ("bcc=hidden@".into(), &[c]),
        ("any_email=firm.test".into(), &[c, b, a]),
        ("subject=marz".into(), &[a]),
        ("subject=other%20THINGS".into(), &[b]),
        ("unread=true".into(), &[d, b]),
        ("unread=false".into(), &[c, a]),
        ("starred=true".into(), &[d, a]),
        ("starred=false".into(), &[c, b]),
        ("has_attachment=true".into(), &[c]),
        ("has_attachment=false".into(), &[d, b, a]),
        ("received_after=2026-01-02T10:00:00Z&received_before=2026-01-04T10:00:00Z".into(), &[c, b]),
        ("received_after=2026-01-04".into(), &[d]),
        (format!("folder_id={inbox}"), &[c, b, a]),
        (format!("folder_id={archive}"), &[d]),
        (format!("folder_id={inbox}&starred=true"), &[a]),
        (format!("thread_id={thread}"), &[a]),
        (format!("thread_id={thread}&folder_id={archive}"), &[]),
        ("unread=true&starred=true".into(), &[d]),
        ("from=nobody".into(), &[]),
    ];
    for (query, wanted) in cases {
        assert_eq!(subjects(&mailbox.list(&query).await), wanted, "{query}");
    }
    assert_eq!(all[2]["folderIds"], json!([inbox]));
    assert_eq!(
        (&all[3]["unread"], &all[3]["starred"], &all[1]["hasAttachments"]),
        (&json!(false), &json!(true), &json!(true))
    );
    let folders = mailbox.all(&format!("/v1/email/folders?connection_id={}", mailbox.connection)).await;
    let roles: BTreeSet<&str> = folders.iter().filter_map(|f| f["role"].as_str()).collect();
    assert_eq!(roles, BTreeSet::from(["inbox", "archive", "drafts", "sent", "trash", "junk"]));
    let counted = folders.iter().find(|f| f["id"] == *inbox).expect("the inbox");
    let counts = (&counted["totalCount"], &counted["unreadCount"]);
    assert!(counts == (&json!(3), &json!(1)) || counts == (&Value::Null, &Value::Null), "{counted:#}");
}

/// Messages that stay are listed exactly once, whatever arrives or leaves while a client pages through the list.
async fn paging_under_arrivals(mailbox: Mailbox) {
    for number in 10..33 {
        let letter = letter(&format!("Number {number}"), &format!("n{number}@x.test"), "");
        mailbox.there.deliver(&letter.at(&format!("2026-01-01T10:{number}:00Z"))).await;
    }
    let base = format!("/v1/email/messages?connection_id={}&limit=5", mailbox.connection);
    let mut page = mailbox.get(&base).send().await.expect(200);
    let mut seen = Vec::new();
    let mut turn = 0;
    loop {
        let told = page["data"].as_array().expect("a list").clone();
        assert!(told.len() <= 5);
        seen.extend(subjects(&told).into_iter().map(str::to_owned));
        let Some(next) = page["next_cursor"].as_str() else { break };
        turn += 1;
        mailbox.there.deliver(&letter(&format!("Late {turn}"), &format!("late{turn}@x.test"), "")).await;
        match turn {
            1 => mailbox.there.destroy("n31@x.test").await,
            2 => mailbox.there.destroy("n12@x.test").await,
            3 => mailbox.there.flag("n13@x.test", "starred", true).await,
            _ => {}
        }
        page = mailbox.get(format!("{base}&cursor={next}")).send().await.expect(200);
    }
    let wanted: Vec<String> = (10..33).rev().filter(|n| *n != 12).map(|n| format!("Number {n}")).collect();
    assert_eq!(seen, wanted);
    assert!(turn >= 4);
}

/// A mailbox with the messages `Number 10` to `Number 49`, the last one the newest, at a service that reads four of them at a time and has
/// read none of them yet.
pub async fn fresh(provider: Provider, server: harness::Builder) -> Mailbox {
    let mailbox = Mailbox::open_with(provider, server.config(|c| c.pull_page = 4)).await;
    let mailbox = mailbox.expect("it was there a moment ago");
    for number in 10..50 {
        let folder = if number % 3 == 0 { "archive" } else { "inbox" };
        let letter =
            letter(&format!("Number {number}"), &format!("n{number}@x.test"), "").into_folder(folder);
        mailbox.there.deliver(&letter.at(&format!("2026-01-01T10:{number}:00Z"))).await;
    }
    mailbox
}

async fn a_fresh_mailbox_is_listed_while_it_is_read(mailbox: Mailbox) {
    let provider = mailbox.provider;
    drop(mailbox);
    let mailbox = fresh(provider, provider.server()).await;
    let base = format!("/v1/email/messages?connection_id={}&limit=3", mailbox.connection);
    let first = mailbox.api.get(&base).send().await.expect(200);
    let newest = subjects(first["data"].as_array().expect("a list")).join(", ");
    assert!(
        newest.starts_with("Number 49") && "Number 49, Number 48, Number 47".starts_with(&newest),
        "{newest}"
    );
    let wanted: Vec<String> = (10..50).rev().map(|n| format!("Number {n}")).collect();
    assert_eq!(subjects(&mailbox.api.all(&base).await), wanted);
}

async fn how_much_is_shown(mailbox: Mailbox) {
    let html = "<p>Hello</p><img src=\"https://x.test/p.png\">";
    let more = "X-Odd: one\r\nX-Odd: two\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n";
    mailbox.there.deliver(&written("Shown", "shown@x.test", more, html)).await;
    let summary = mailbox.titled("Shown").await;
    assert_eq!((&summary["body"], &summary["headers"]), (&Value::Null, &json!([])));
    assert!(text(&summary["snippet"]).contains("Hello") || summary["snippet"] == "", "{summary:#}");
    let headers = &mailbox.list("fields=headers").await[0];
    assert_eq!(headers["body"], Value::Null);
    let odd: Vec<&Value> = headers["headers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|h| h["name"] == "X-Odd")
        .map(|h| &h["value"])
        .collect();
    assert_eq!(odd, ["one", "two"], "in order, with duplicates");
    let full = &mailbox.list("fields=full").await[0];
    assert_eq!(
        (full["body"]["html"].as_str().map(str::trim_end), &full["body"]["text"]),
        (Some(html), &Value::Null)
    );
    assert!(!text(&full["body"]["safeHtml"]).contains(" src=\"https://x.test"), "{full:#}");
    let open = &mailbox.list("fields=full&images=allow").await[0];
    assert!(text(&open["body"]["safeHtml"]).contains(" src=\"https://x.test/p.png\""), "{open:#}");
    // A cursor goes with any of them: they choose nothing.
    let one = mailbox.read(&summary["id"]).await;
    assert_eq!((&one["body"], &one["headers"]), (&full["body"], &full["headers"]));
}

/// Words in message texts are found if the provider searches texts, whatever the language.
async fn words_in_the_text(mailbox: Mailbox) {
    for letter in &four() {
        mailbox.there.deliver(letter).await;
    }
    // Cyrus reads texts into its index some time after they came.
    for (word, subject) in [("zanzibar", "Report"), ("things", "Other things")] {
        until("the texts are indexed", async || {
            let found = mailbox.list(&format!("q={word}")).await;
            (subjects(&found) == [subject]).then_some(())
        })
        .await;
    }
    assert_eq!(mailbox.list("q=zanzibar&unread=true").await, Vec::<Value>::new());
    assert_eq!(mailbox.list("q=nowheretobefound").await, Vec::<Value>::new());
    let native = match mailbox.provider {
        Provider::Sandbox => "subject:report",
        Provider::Dovecot | Provider::CyrusImap => "SUBJECT \"Report\" SEEN",
        Provider::Jmap => "{\"subject\":\"Report\"}",
    };
    let found = mailbox.list(&format!("native_query={}", escaped(native))).await;
    assert_eq!(subjects(&found), ["Report"]);
    let list = format!("/v1/email/messages?connection_id={}", mailbox.connection);
    let both = mailbox.get(format!("{list}&q=a&native_query=b")).send().await;
    refused(both, 400, "conflicting_fields", "native_query");
    let alone = mailbox.get("/v1/email/messages?native_query=b").send().await;
    // One connection, not named, is still one.
    assert!(alone.status == 200 || alone.status == 400, "{alone}");
    let found = mailbox.all("/v1/email/messages?q=report").await;
    assert!(subjects(&found).contains(&"Report"));
}

/// Twenty messages whose texts have more than a page may have: each is listed once, on pages that end by their bytes. What a search finds
/// at once at the provider is on several pages, too.
async fn long_texts_on_several_pages(mailbox: Mailbox) {
    const COUNT: usize = 20;
    const MAX_PAGE: usize = (4 << 20) + 4_096;
    let line = format!("{}\r\n", "x".repeat(70));
    let body = format!("zanzibar\r\n{}", line.repeat(3_400));
    for n in 0..COUNT {
        let letter = written(&format!("Long {n}"), &format!("long{n}@x.test"), "", &body);
        mailbox.there.deliver(&letter).await;
    }
    until("the texts are indexed", async || (mailbox.list("q=zanzibar").await.len() == COUNT).then_some(()))
        .await;
    let list = format!("/v1/email/messages?connection_id={}&fields=full", mailbox.connection);
    for query in ["", "&q=zanzibar"] {
        // The pages after the first are asked for with another limit.
        let (mut pages, mut found, mut cursor) = (0, Vec::new(), "&limit=200".to_owned());
        loop {
            let page = mailbox.get(format!("{list}{query}{cursor}")).send().await;
            assert!(page.text.len() <= MAX_PAGE, "{query}: {} bytes", page.text.len());
            let page = page.expect(200);
            let messages = page["data"].as_array().expect("a list");
            assert!(messages.iter().all(|m| text(&m["body"]["text"]).len() > 200_000), "each has its text");
            found.extend(messages.iter().map(|message| text(&message["subject"])));
            pages += 1;
            let Some(next) = page["next_cursor"].as_str() else { break };
            assert!(!messages.is_empty(), "a page with nothing on it");
            cursor = format!("&limit=2&cursor={next}");
        }
        assert!(pages > 1, "{query}: all of it on one page");
        found.sort_unstable();
        let mut expected: Vec<String> = (0..COUNT).map(|n| format!("Long {n}")).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }
}

async fn what_a_list_refuses(mailbox: Mailbox) {
    let list = format!("/v1/email/messages?connection_id={}", mailbox.connection);
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=x", "limit"),
        ("unread=maybe", "unread"),
        ("starred=1", "starred"),
        ("has_attachment=yes", "has_attachment"),
        ("received_after=yesterday", "received_after"),
        ("received_before=2026-13-01", "received_before"),
        ("fields=all", "fields"),
        ("images=some", "images"),
        ("folder_id=fld_00000000000000000000000000", "folder_id"),
        ("label_id=lbl_00000000000000000000000000", "label_id"),
        ("thread_id=thr_00000000000000000000000000", "thread_id"),
        ("unread=true&unread=false", "unread"),
    ] {
        refused(mailbox.get(format!("{list}&{query}")).send().await, 400, "invalid_parameter", param);
    }
    let long = "x".repeat(321);
    for param in ["from", "to", "cc", "bcc", "any_email"] {
        let asked = mailbox.get(format!("{list}&{param}={long}")).send().await;
        refused(asked, 400, "invalid_parameter", param);
    }
    mailbox.get(format!("{list}&cursor=x")).send().await.refused(400, "invalid_cursor");
    let none = mailbox.get("/v1/email/messages?connection_id=conn_00000000000000000000000000").send().await;
    none.refused(404, "not_found");
    // A cursor is bound to its query.
    for subject in ["One", "Two"] {
        mailbox.there.deliver(&letter(subject, &format!("{subject}@x.test"), "")).await;
    }
    let page = mailbox.get(format!("{list}&limit=1")).send().await.expect(200);
    let cursor = text(&page["next_cursor"]);
    mailbox.get(format!("{list}&limit=1&cursor={cursor}&fields=full")).send().await.expect(200);
    mailbox
        .get(format!("{list}&limit=1&cursor={cursor}&unread=true"))
        .send()
        .await
        .refused(400, "invalid_cursor");
}
