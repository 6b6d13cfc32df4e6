//! Search by words and by conditions.

use connector_microsoft::Microsoft;
use connector_sdk::{Answer, Email as _, Outcome, code};
use model::wire::Sources;
use model::wire::email::{MessageFind, MessageSearch};
use serde_json::{Value, json};

use crate::desk::{Desk, gone, ok, page, refused, whole};

fn search(desk: &Desk, cursor: Option<&str>, args: MessageSearch) -> Outcome<Answer<Sources>> {
    Microsoft::search(&desk.context().at(cursor.map(str::to_owned)), args)
}

fn ids(answer: &Answer<Sources>) -> Vec<&str> {
    answer.body.sources.iter().map(|source| source.external_id.as_str()).collect()
}

fn at(text: &str) -> Option<model::Instant> {
    Some(text.parse().unwrap())
}

/// Words are one request a page. What days of the query let in is cut by the times.
#[test]
fn words_are_searched_and_the_rest_is_cut_here() {
    let desk = Desk::new(|asked| {
        if asked.parameter("$skiptoken").is_some() {
            return refused(400, "ErrorExecuteSearchStaleData");
        }
        let mut starred = whole("b", "2026-03-01T12:00:00Z", "f1");
        starred["flag"] = json!({ "flagStatus": "flagged" });
        let early = whole("c", "2026-02-28T23:00:00Z", "f1");
        let mut list = page(&[early, whole("a", "2026-03-01T11:00:00Z", "f1"), starred]);
        list["@odata.nextLink"] = json!("https://graph.microsoft.com/v1.0/me/messages?%24skiptoken=t1");
        ok(&list)
    });
    let words = || MessageSearch {
        text: Some("lunch".to_owned()),
        received_after: at("2026-03-01T00:00:00Z"),
        limit: 50,
        ..MessageSearch::default()
    };
    let found = search(&desk, None, words()).unwrap();
    assert_eq!((ids(&found), found.more), (vec!["b", "a"], true), "newest first");
    let asked = desk.asked_for("GET messages");
    assert_eq!(asked[0].parameter("$search"), Some("\"(lunch) received>=02/28/2026\""));
    assert_eq!(asked[0].parameter("$top"), Some("50"));
    assert!(["$filter", "$orderby", "$skip"].iter().all(|name| asked[0].parameter(name).is_none()));
    assert_eq!(desk.take_steps().len(), 1);
    let stale = search(&desk, found.cursor.as_deref(), words()).unwrap_err();
    assert_eq!(stale.code, code::CURSOR_EXPIRED);
    let starred = MessageSearch { starred: Some(true), folder: Some("f1".to_owned()), ..words() };
    assert_eq!(ids(&search(&desk, None, starred).unwrap()), ["b"]);
    assert_eq!(desk.take_steps()[1], "GET mailFolders/f1/messages");
}

/// Pages go on by time: mail that comes meanwhile shifts nothing.
#[test]
fn conditions_go_on_by_time() {
    let times = ["09:00:03", "09:00:02", "09:00:02", "09:00:02", "09:00:01"];
    let desk = Desk::new(move |asked| {
        let filter = asked.parameter("$filter").unwrap();
        assert!(
            filter.starts_with("receivedDateTime gt 1970-01-01T00:00:00Z")
                && filter.contains("isRead eq false")
        );
        let until = filter.split("le ").nth(1).map(|rest| rest.split(' ').next().unwrap().to_owned());
        let all = times.iter().enumerate().map(|(number, time)| (number, format!("2026-03-02T{time}Z")));
        let fitting =
            all.filter(|(_, time)| until.as_deref().is_none_or(|until| time.trim_end_matches('Z') <= until));
        let top: usize = asked.parameter("$top").unwrap().parse().unwrap();
        let list: Vec<Value> =
            fitting.map(|(number, time)| whole(&format!("m{number}"), &time, "f1")).collect();
        let mut answer = page(&list[..top.min(list.len())]);
        if list.len() > top {
            answer["@odata.nextLink"] = json!("https://graph.microsoft.com/v1.0/me/messages?$skip=2");
        }
        ok(&answer)
    });
    let unread = || MessageSearch { unread: Some(true), limit: 2, ..MessageSearch::default() };
    let mut told = Vec::new();
    let mut cursor = None;
    loop {
        let found = search(&desk, cursor.as_deref(), unread()).unwrap();
        told.extend(ids(&found).into_iter().map(str::to_owned));
        assert_eq!(found.more, found.cursor.is_some());
        cursor = found.cursor;
        if cursor.is_none() {
            break;
        }
        assert!(told.len() < 9, "it ends");
    }
    assert_eq!(told, ["m0", "m1", "m2", "m3", "m4"]);
    for foreign in ["s1;{\"t\":{\"s\":\"x\"}}", "s0;{}", "x"] {
        assert_eq!(search(&desk, Some(foreign), unread()).unwrap_err().code, code::CURSOR_EXPIRED);
    }
}

/// More messages of one time than a page has do not make a search endless, and an odd folder is no expired cursor.
#[test]
fn a_search_goes_on_to_its_end() {
    let desk = Desk::new(|asked| {
        if asked.path == "mailFolders/odd/messages" {
            return refused(400, "ErrorInvalidIdMalformed");
        }
        let is_later = asked.parameter("$filter").unwrap().contains("le 2026-03-02T08:59:59.999Z");
        let mut list = page(&if is_later { vec![] } else { vec![whole("a", "2026-03-02T09:00:00Z", "f1")] });
        if !is_later {
            list["@odata.nextLink"] = json!("https://graph.microsoft.com/v1.0/me/messages?$skip=1");
        }
        ok(&list)
    });
    let mut cursor = None;
    let mut found = Vec::new();
    for _ in 0..5 {
        let answer = search(&desk, cursor.as_deref(), MessageSearch::default()).unwrap();
        found.extend(ids(&answer).into_iter().map(str::to_owned));
        assert!(answer.cursor.is_none() || answer.cursor != cursor, "it goes on");
        cursor = answer.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((found, cursor), (vec!["a".to_owned()], None));
    let odd = MessageSearch { folder: Some("odd".to_owned()), ..MessageSearch::default() };
    assert_eq!(search(&desk, None, odd).unwrap_err().code, code::NOT_FOUND);
}

/// Graph takes no order with a filter of categories: the names are listed, and the page is read.
#[test]
fn a_label_is_sorted_here() {
    let desk = Desk::new(|asked| {
        if asked.path != "messages" {
            let id = asked.path.trim_start_matches("messages/");
            let mut message = whole(id, &format!("2026-03-0{id}T00:00:00Z"), "f1");
            message["categories"] = json!(["Red"]);
            return ok(&message);
        }
        assert!(asked.parameter("$orderby").is_none());
        assert!(asked.parameter("$filter").unwrap().ends_with("categories/any(c:c eq 'Red')"));
        let name = |day: u8| json!({ "id": day.to_string(), "receivedDateTime": format!("2026-03-0{day}T00:00:00Z") });
        ok(&page(&[name(2), name(5), name(3)]))
    });
    let red =
        || MessageSearch { label: Some("category:Red".to_owned()), limit: 2, ..MessageSearch::default() };
    let first = search(&desk, None, red()).unwrap();
    assert_eq!((ids(&first), first.more), (vec!["5", "3"], true));
    assert_eq!(desk.take_steps(), ["GET messages", "batch of GET messages/5, GET messages/3"]);
    let foreign = MessageSearch { label: Some("Label_1".to_owned()), ..MessageSearch::default() };
    assert_eq!(search(&desk, None, foreign).unwrap_err().code, code::NOT_FOUND);
}

/// A message that was sent is found by its Message-ID, else by our mark among the newest; a draft proves nothing.
#[test]
fn a_sent_message_is_found() {
    let find = MessageFind { internet_message_id: "own@x.test".to_owned() };
    let desk = Desk::new(|asked| match asked.path.as_str() {
        "messages" => {
            assert_eq!(asked.parameter("$filter"), Some("internetMessageId eq '<own@x.test>'"));
            let mut draft = whole("d1", "2026-03-01T00:00:00Z", "drafts");
            draft["isDraft"] = json!(true);
            ok(&page(&[draft]))
        }
        "mailFolders/sentitems/messages" => {
            let marked = json!([{ "name": "x-switchboard-id", "value": "own@x.test" }]);
            let other = json!({ "id": "s0", "isDraft": false, "internetMessageId": "<b@x.test>" });
            let ours = json!({ "id": "s1", "isDraft": false, "internetMessageId": "<a@x.test>", "internetMessageHeaders": marked });
            ok(&page(&[other, ours]))
        }
        "messages/s1" => ok(&whole("s1", "2026-03-01T00:00:00Z", "sent")),
        _ => gone(),
    });
    let found = Microsoft::find_message(&desk.context(), find.clone()).unwrap();
    assert_eq!(found.sources.iter().map(|source| source.external_id.as_str()).collect::<Vec<_>>(), ["s1"]);
    assert_eq!(desk.take_steps(), ["GET messages", "GET mailFolders/sentitems/messages", "GET messages/s1"]);
    // Whoever writes to himself has two of them.
    let twice = Desk::new(|asked| match asked.path.as_str() {
        "messages" => ok(&page(&[
            whole("received", "2026-03-01T00:00:01Z", "f1"),
            whole("sent", "2026-03-01T00:00:00Z", "f2"),
        ])),
        "mailFolders/sentitems" => ok(&json!({ "id": "f2" })),
        _ => gone(),
    });
    let found = Microsoft::find_message(&twice.context(), find.clone()).unwrap();
    let ids: Vec<&str> = found.sources.iter().map(|source| source.external_id.as_str()).collect();
    assert_eq!(ids, ["sent", "received"]);
    let nothing = Desk::new(|_| ok(&page(&[])));
    assert!(Microsoft::find_message(&nothing.context(), find).unwrap().sources.is_empty());
}
