//! Contacts are followed with all of their books: a book's content is current while the whole is.

use serde_json::json;

use crate::contacts::people::zoe;
use crate::email::mailbox::text;
use crate::local_reads::{MINUTE_MS, SECOND_MS, requests, server, source};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_books_are_in_step_with_the_whole() {
    let server = server().await;
    let (api, connection) = zoe(&server).await;
    let provider = server.provider("zoe");
    let club = provider.post("/sandbox/v1/books", json!({ "name": "Club" })).send().await.expect(201);
    let of_connection = json!({ "connectionId": connection });
    api.post("/v1/contacts/sync/start", of_connection.clone()).send().await.expect(202);
    assert_eq!(server.pull().await, 1);
    let path = format!("/v1/contacts?connection_id={connection}&q=newcomer");
    let club = text(&club["id"]);
    for (book, id) in [("contacts", "newcomer"), (club.as_str(), "latecomer")] {
        let new = json!({ "id": id, "displayName": "Newcomer" });
        provider.post(format!("/sandbox/v1/books/{book}/cards"), new).send().await.expect(201);
    }
    server.clock.advance_ms(30 * SECOND_MS);
    let before = requests(&api).await;
    let answer = api.get(&path).send().await;
    assert_eq!(source(&answer), (Some("local"), Some("30")), "{answer}");
    assert_eq!(answer.expect(200)["data"], json!([]));
    assert_eq!(requests(&api).await, before);

    api.post("/v1/contacts/sync/reset", of_connection).send().await.expect(202);
    let answer = api.get(&path).send().await;
    assert_eq!(source(&answer), (Some("provider"), Some("0")), "{answer}");
    assert_eq!(answer.expect(200)["data"].as_array().map(Vec::len), Some(2), "after a reset");

    // A host that does not keep up.
    server.pull().await;
    server.clock.advance_ms(3 * MINUTE_MS);
    let answer = api.get(&path).send().await;
    assert_eq!(source(&answer), (Some("provider"), Some("0")), "{answer}");
}
