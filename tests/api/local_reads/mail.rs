//! Mail: what the copy keeps is read from it; texts and searches are the provider's, as ever.

use crate::email::mailbox::{Mailbox, Provider, letter, text};
use crate::email::sync::start;
use crate::local_reads::{SECOND_MS, requests, source};

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
