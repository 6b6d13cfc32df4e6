//! Search at Gmail.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod gmail;

use connector_google::Google;
use connector_sdk::{Answer, Context, Email, Outcome, code};
use model::wire::email::MessageSearch;
use model::wire::{Connection, Sources};
use serde_json::json;

use crate::gmail::{Gmail, NOW_MS, deleted, mail, parameter, whole};

fn search(gmail: &Gmail, cursor: Option<&str>, args: MessageSearch) -> Outcome<Answer<Sources>> {
    gmail.round_trips.set(0);
    let context = Context::new(gmail, Connection::default()).at(cursor.map(str::to_owned));
    <Google as Email>::search(&context, args)
}

fn of_50() -> MessageSearch {
    MessageSearch { text: Some("hello".into()), limit: 50, ..MessageSearch::default() }
}

#[test]
fn page_of_50_is_two_round_trips() {
    let gmail = Gmail::new(70);
    let page = search(&gmail, None, of_50()).unwrap();
    assert_eq!((gmail.round_trips.get(), gmail.batches.get()), (2, 1));
    let told = whole(&page.body.sources);
    assert_eq!((told.len(), told[0], told[49], page.more), (50, "m0", "m49", true));
    let url = gmail.requests.borrow()[0].url.clone();
    assert_eq!(parameter(&url, "q").as_deref(), Some("-in:chats -in:scheduled \"hello\""));
    assert_eq!(parameter(&url, "includeSpamTrash").as_deref(), Some("true"));
    let page = search(&gmail, page.cursor.as_deref(), of_50()).unwrap();
    assert_eq!((whole(&page.body.sources).len(), page.more, page.cursor), (20, false, None));
    // Names alone, and then the messages.
    let units: Vec<String> =
        gmail.requests.borrow().iter().map(|request| request.extra[0].1.clone()).collect();
    assert_eq!(units, ["5", "1000", "5", "400"]);
}

/// The order counts: what follows a message that is missing waits for it.
#[test]
fn a_page_ends_before_the_first_message_that_is_missing() {
    let gmail = Gmail::new(10);
    gmail.with_parts(|_, id| (id == "m4").then_some(429));
    let page = search(&gmail, None, of_50()).unwrap();
    assert_eq!((whole(&page.body.sources), page.more), (vec!["m0", "m1", "m2", "m3"], true));
    assert!(deleted(&page.body.sources).is_empty());
    let failure = search(&gmail, page.cursor.as_deref(), of_50()).unwrap_err();
    assert_eq!(failure.code, code::RATE_LIMITED);
    gmail.with_parts(|_, _| None);
    let page = search(&gmail, page.cursor.as_deref(), of_50()).unwrap();
    assert_eq!((whole(&page.body.sources).len(), whole(&page.body.sources)[0], page.more), (6, "m4", false));
    assert_eq!(gmail.round_trips.get(), 1);
}

#[test]
fn a_message_outside_of_the_time_is_left_out() {
    let gmail = Gmail::new(4);
    let at = |ms: i64| Some(model::Instant::from_millis(ms));
    let args = MessageSearch {
        received_after: at(NOW_MS - 3_000),
        received_before: at(NOW_MS - 1_000),
        ..MessageSearch::default()
    };
    // m0 came a second ago, m3 four.
    assert_eq!(whole(&search(&gmail, None, args).unwrap().body.sources), ["m1", "m2"]);
}

#[test]
fn what_is_found_is_as_it_is_in_a_list() {
    let gmail = Gmail::new(1);
    gmail.messages.borrow_mut().insert(0, mail("d1", NOW_MS, &["DRAFT"]));
    gmail.messages.borrow_mut().push(mail("chat", NOW_MS, &["CHAT"]));
    gmail.drafts.borrow_mut().push(("r7".to_owned(), "d1".to_owned()));
    gmail.messages.borrow_mut().push(json!({ "id": "odd", "threadId": "odd", "sizeEstimate": "x" }));
    let page = search(&gmail, None, of_50()).unwrap();
    assert_eq!(whole(&page.body.sources), ["d1", "m0"]);
    assert_eq!(page.body.sources[0].items[0].fingerprint.as_deref(), Some("r7"));
    assert!(page.body.sources[2].error.is_some() && page.body.sources.len() == 3);
}

#[test]
fn a_search_cannot_go_on_from_anywhere() {
    let gmail = Gmail::new(1);
    for cursor in ["", "m1;{\"h\":1}", "s1;{\"x\":1}"] {
        assert_eq!(search(&gmail, Some(cursor), of_50()).unwrap_err().code, code::CURSOR_EXPIRED);
    }
    let nowhere = MessageSearch { folder: Some("Label_1".into()), ..MessageSearch::default() };
    assert_eq!(search(&gmail, None, nowhere).unwrap_err().code, code::NOT_FOUND);
    assert!(gmail.requests.borrow().is_empty());
    let empty = search(&Gmail::new(0), None, of_50()).unwrap();
    assert!(empty.body.sources.is_empty() && !empty.more);
}
