//! The native side of the benchmark of first readings: a client that reads every message, as this connector does and with its protocol
//! code, and does nothing with them. `native_jmap URL USER PASSWORD`; prints how many there were and the seconds that it took.

use std::time::Instant;

use connector_jmap::account;
use connector_jmap::client::{Client, summary};
use connector_jmap::query::{Query, Start};
use connector_sdk::Context;
use connector_sdk::testing::{Credentials, Live};
use model::wire::Connection;
use serde_json::json;

/// Messages of one request.
const PAGE: usize = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().unwrap_or_else(|| panic!("{what} is missing"));
    let (url, username, password) = (next("the URL"), next("the user"), next("the password"));
    let mut connection = Connection { username: Some(username.clone()), ..Connection::default() };
    connection.settings.insert("serverUrl".to_owned(), json!(url));
    let server = Live::new(Credentials::Basic { username, password });
    let account = account::check(&Context::new(&server, connection.clone())).expect("an account");
    connection.settings.extend(account.settings);
    let cx = Context::new(&server, connection);
    let start = Instant::now();
    let count = read(&Client::new(&cx).expect("what `check` found is enough"));
    println!("{count} {}", start.elapsed().as_secs_f64());
}

/// Reads all pages, from new to old.
fn read(client: &Client) -> usize {
    let query = Query { filter: None, limit: PAGE, get: summary() };
    let (mut last, mut count, mut size) = (None, 0, 0);
    loop {
        let mut batch = client.batch();
        let asked = query.ask(&mut batch, Start::after(last.as_ref()));
        let answers = client.run(batch, "reading messages").expect("an answer");
        let page = query.page(&answers, &asked).expect("a page").expect("the message before is there");
        count += page.messages.len();
        size += page.messages.iter().flatten().filter(|email| email.subject.is_some()).count();
        last = page.next;
        if last.is_none() {
            assert!(size > 0, "the messages are empty");
            return count;
        }
    }
}
