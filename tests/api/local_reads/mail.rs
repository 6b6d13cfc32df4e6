//! Mail: stored fields are read from the copy; texts and searches from the provider, as before.

use harness::Actor;
use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, There, letter, refused, subjects, text};
use crate::email::sync::start;
use crate::local_reads::{SECOND_MS, fail, held, hold, let_go, requests, server, source};

/// The account of `Mailbox::other` at the sandbox provider.
const OTHER: &str = "ci-reader";

/// A mailbox of a service that reads this many messages at a time, and only on request.
async fn mailbox(page: u32) -> Mailbox {
    let server = Provider::Sandbox.server().without_pulls().config(|c| c.pull_page = page);
    Mailbox::open_with(Provider::Sandbox, server).await.expect("a sandbox")
}

/// Puts messages there, with these names and a number, a minute apart from this hour on.
async fn deliver(there: &There, name: &str, hour: u32, count: u32) {
    for n in 0..count {
        let message = letter(&format!("{name} {n}"), &format!("{name}-{hour}-{n}@x.test"), "");
        there.deliver(&message.at(&format!("2026-01-01T{hour:02}:{n:02}:00Z"))).await;
    }
}

/// The pages of a list after the one with this cursor.
async fn pages_after(api: &Actor, list: &str, first: &Value) -> Vec<Value> {
    let (mut pages, mut cursor) = (Vec::new(), first.clone());
    while let Some(next) = cursor.as_str() {
        let page = api.get(format!("{list}&cursor={next}")).send().await.expect(200);
        cursor = page["next_cursor"].clone();
        pages.push(page);
    }
    pages
}

/// All pages of a list.
async fn pages(api: &Actor, list: &str) -> Vec<Value> {
    let first = api.get(list).send().await.expect(200);
    let rest = pages_after(api, list, &first["next_cursor"]).await;
    [vec![first], rest].concat()
}

/// The subjects on these pages, in order.
fn all_subjects(pages: &[Value]) -> Vec<&str> {
    pages.iter().flat_map(|page| subjects(page["data"].as_array().expect("a list"))).collect()
}

/// The answer says that this connection is missing, and no other one.
#[track_caller]
fn assert_misses(page: &Value, connection: &str) {
    let targets: Vec<&Value> =
        page["warnings"].as_array().expect("warnings").iter().map(|warning| &warning["target"]).collect();
    assert_eq!((&page["complete"], targets), (&json!(false), vec![&json!(connection)]), "{page:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mailbox_in_step_is_listed_from_the_copy() {
    let server = Provider::Sandbox.server().without_pulls().config(|c| c.freshness_ms = 10 * SECOND_MS);
    let mailbox = Mailbox::open_with(Provider::Sandbox, server).await.expect("a sandbox");
    mailbox.there.deliver(&letter("Old", "old@x.test", "")).await;
    start(&mailbox).await;
    assert_eq!(mailbox.server.pull().await, 1);
    mailbox.there.deliver(&letter("New", "new@x.test", "")).await;
    mailbox.server.clock.advance_ms(30 * SECOND_MS);

    let api = &mailbox.api;
    let before = requests(api).await;
    let list = format!("/v1/email/messages?connection_id={}", mailbox.connection);
    let listed = api.get(&list).send().await;
    assert_eq!(source(&listed), (Some("local"), Some("30")), "{listed}");
    let listed = listed.expect(200);
    assert_eq!(listed["data"].as_array().map(Vec::len), Some(1));
    let id = text(&listed["data"][0]["id"]);
    let thread = text(&listed["data"][0]["threadId"]);
    for path in [
        format!("/v1/email/messages/{id}?fields=summary"),
        format!("/v1/email/threads/{thread}"),
        format!("/v1/email/folders?connection_id={}", mailbox.connection),
    ] {
        let answer = api.get(&path).send().await;
        assert_eq!((answer.status, source(&answer)), (200, (Some("local"), Some("30"))), "{answer}");
    }
    assert_eq!(requests(api).await, before);

    let whole = api.get(format!("/v1/email/messages/{id}")).send().await;
    assert_eq!((whole.status, source(&whole)), (200, (Some("provider"), Some("0"))), "its text: {whole}");
    let found = api.get(format!("{list}&q=new")).send().await;
    assert_eq!((found.status, source(&found).0), (200, Some("provider")), "a search: {found}");
    mailbox.server.clock.advance_ms(1);
    let fresh = api.get(format!("{list}&fresh=true")).send().await;
    assert_eq!(source(&fresh), (Some("provider"), Some("0")), "{fresh}");
    assert_eq!(fresh.expect(200)["data"].as_array().map(Vec::len), Some(2));
}

/// A mailbox whose first reading has stopped, because its provider went away: the list goes past it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mailbox_that_is_away_hides_nothing_of_the_others() {
    let newest = ["Away 5", "Away 4", "Here 3", "Here 2", "Here 1", "Here 0"];
    for kind in ["messages", "threads"] {
        let mailbox = mailbox(2).await;
        let api = &mailbox.api;
        deliver(&mailbox.there, "Here", 10, 4).await;
        assert_eq!(mailbox.list("").await.len(), 4, "it is read to its end");
        deliver(&mailbox.other, "Away", 11, 6).await;
        let away = mailbox.connect_other().await;
        let first = format!("/v1/email/messages?connection_id={away}&limit=1");
        api.get(first).send().await.expect(200);
        fail(&mailbox.server, OTHER, 503).await;
        let pages = pages(api, &format!("/v1/email/{kind}?limit=2")).await;
        assert_eq!(all_subjects(&pages), newest, "{kind}");
        assert_misses(pages.last().expect("a page"), &away);
    }
}

/// Nor does one of which nothing was ever read, while another one is being read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mailbox_that_was_never_read_hides_nothing_of_the_others() {
    for kind in ["messages", "threads"] {
        let mailbox = mailbox(2).await;
        deliver(&mailbox.there, "Here", 10, 5).await;
        let away = mailbox.connect_other().await;
        fail(&mailbox.server, OTHER, 503).await;
        let pages = pages(&mailbox.api, &format!("/v1/email/{kind}?limit=2")).await;
        assert_eq!(all_subjects(&pages), ["Here 4", "Here 3", "Here 2", "Here 1", "Here 0"], "{kind}");
        pages.iter().for_each(|page| assert_misses(page, &away));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_of_a_mailbox_that_is_away_are_missing() {
    let mailbox = mailbox(100).await;
    deliver(&mailbox.there, "Here", 10, 1).await;
    deliver(&mailbox.other, "Away", 9, 1).await;
    let away = mailbox.connect_other().await;
    let list = "/v1/email/messages";
    let known = mailbox.get(list).send().await.expect(200);
    assert_eq!(known.get("complete"), None, "{known:#}");
    fail(&mailbox.server, OTHER, 503).await;
    let summaries = mailbox.get(list).send().await.expect(200);
    assert_eq!(summaries["data"], known["data"], "as they were");
    assert_misses(&summaries, &away);
    let full = mailbox.get(format!("{list}?fields=full")).send().await.expect(200);
    assert_misses(&full, &away);
    let messages = full["data"].as_array().expect("a list");
    assert_eq!(subjects(messages), ["Here 0", "Away 0"]);
    assert!(messages[0]["body"]["text"].is_string(), "{full:#}");
    assert_eq!(messages[1], summaries["data"][1]);
}

/// Its newest messages are newer than the place that the list has come to: they are on the first page of the next walk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_does_not_begin_again_for_a_mailbox_that_is_connected_meanwhile() {
    for kind in ["messages", "threads"] {
        let mailbox = mailbox(3).await;
        deliver(&mailbox.there, "First", 10, 6).await;
        assert_eq!(mailbox.list("").await.len(), 6, "it is read to its end");
        let list = format!("/v1/email/{kind}?limit=2");
        let first = mailbox.api.get(&list).send().await.expect(200);
        assert_eq!(subjects(first["data"].as_array().expect("a list")), ["First 5", "First 4"]);
        deliver(&mailbox.other, "Older", 9, 2).await;
        deliver(&mailbox.other, "Newer", 11, 5).await;
        mailbox.connect_other().await;
        let rest = pages_after(&mailbox.api, &list, &first["next_cursor"]).await;
        let expected = ["First 3", "First 2", "First 1", "First 0", "Older 1", "Older 0"];
        assert_eq!(all_subjects(&rest), expected, "{kind}");
    }
}

/// A search at the provider and the list of a copy have no place in common.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_is_not_continued_in_the_copy() {
    let mailbox = mailbox(100).await;
    deliver(&mailbox.there, "Zanzibar", 10, 3).await;
    let search = "/v1/email/messages?q=zanzibar&limit=1";
    let page = mailbox.api.get(search).send().await;
    assert_eq!(source(&page).0, Some("provider"), "{page}");
    let cursor = text(&page.expect(200)["next_cursor"]);
    // From now on there are several mailboxes, whose copies are searched.
    mailbox.connect_other().await;
    let next = mailbox.api.get(format!("{search}&cursor={cursor}")).send().await;
    refused(next, 400, "invalid_cursor", "cursor");
    assert_eq!(all_subjects(&pages(&mailbox.api, search).await), ["Zanzibar 2", "Zanzibar 1", "Zanzibar 0"]);
}

/// As many that do not answer cost the time of one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mailboxes_are_asked_at_the_same_time() {
    let server = server().await;
    let api = server.client().await;
    let mut providers = Vec::new();
    for name in ["one", "two", "three"] {
        let credentials = json!({ "username": format!("{name}@sandbox.test"), "password": "sandbox" });
        let account = json!({ "provider": "sandbox", "credentials": credentials, "scopes": ["email.read"] });
        api.connect(account).await;
        let provider = server.provider(name);
        hold(&provider, "/sandbox/v1/mail").await;
        providers.push(provider);
    }
    let answers = async {
        for provider in &providers {
            held(provider).await;
        }
        for provider in &providers {
            let_go(provider).await;
        }
    };
    let (listed, ()) = tokio::join!(api.get("/v1/email/messages").send(), answers);
    assert_eq!(listed.expect(200).get("complete"), None);
}
