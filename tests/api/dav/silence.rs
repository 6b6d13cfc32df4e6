//! Recipients of mail about a write to an event: every write with every value of `notify`, by an organizer and by an attendee, and the
//! mails that arrive. Cyrus sends mail by itself (RFC 6638) and can be asked not to; Radicale never sends any.

use std::path::PathBuf;

use harness::{Actor, Exchange, TestServer};
use serde_json::{Value, json};

use crate::dav::{connect, got, peer, put, server};
use crate::email::mailbox::{cyrus_delivers, until};

const CALENDAR: &str = "text/calendar; charset=utf-8";

/// The folder in which the mail of strangers arrives: Cyrus hands it to Exim, which keeps it in files.
struct Post(PathBuf);

impl Post {
    fn open() -> Option<Post> {
        if !cyrus_delivers() {
            println!("NOT RUN: Cyrus does not send through Exim; start it with PEERS_CYRUS_SMTP_PORT");
            return None;
        }
        peer("EXIM_OUTBOUND").map(|folder| Post(PathBuf::from(folder).join("new")))
    }

    /// The mails to an address, as they were sent.
    fn to(&self, address: &str) -> Vec<String> {
        // The folder is made for the first mail.
        let Ok(files) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let read = |file: std::io::Result<std::fs::DirEntry>| std::fs::read(file.ok()?.path()).ok();
        let mails = files.filter_map(read).map(|raw| String::from_utf8_lossy(&raw).replace("\r\n", "\n"));
        mails.filter(|raw| raw.contains(&format!("for {address};"))).collect()
    }

    /// Returns the kinds of mail that an address has received, sorted.
    fn kinds(&self, address: &str) -> Vec<String> {
        let kind = |raw: String| {
            let after = raw.split("method=").nth(1).map(str::to_owned);
            after.and_then(|text| text.split(';').next().map(str::to_owned)).unwrap_or(raw)
        };
        let mut kinds: Vec<String> = self.to(address).into_iter().map(kind).collect();
        kinds.sort();
        kinds
    }

    /// Waits for this number of mails to an address.
    async fn wait(&self, address: &str, count: usize) -> Vec<String> {
        let look = async || Some(self.to(address)).filter(|mails| mails.len() >= count);
        until(&format!("{count} mails to {address}"), look).await
    }
}

/// An account with a calendar of its own. All other people have addresses that are used only here.
struct Desk {
    api: Actor,
    _server: TestServer,
    url: String,
    user: &'static str,
    run: String,
    calendar: Value,
    events: String,
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value:#}"))
}

impl Desk {
    async fn open(url: String, user: &'static str) -> Desk {
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, user).await;
        let run: String = text(&connection, "id").to_lowercase().chars().rev().take(12).collect();
        let body = json!({ "connectionId": connection["id"], "name": "Silence", "timeZone": "UTC" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201);
        let events = format!("/v1/calendars/{}/events", text(&calendar, "id"));
        Desk { api, _server: server, url, user, run, calendar, events }
    }

    fn address(&self, name: &str) -> String {
        format!("{name}-{}@guests.example", self.run)
    }

    fn people(&self, names: &[&str]) -> Value {
        names.iter().map(|name| json!({ "email": self.address(name) })).collect()
    }

    /// A daily series of four with these people.
    fn meeting(&self, names: &[&str]) -> Value {
        json!({
            "title": "Meeting", "start": "2027-06-01T10:00:00Z", "end": "2027-06-01T11:00:00Z", "timeZone": "UTC",
            "recurrence": ["RRULE:FREQ=DAILY;COUNT=4"], "attendees": self.people(names),
        })
    }

    async fn create(&self, body: &Value, query: &str) -> Exchange {
        self.api.post(format!("{}{query}", self.events), body.clone()).send().await
    }

    /// Stores an event as another program, and returns its path in the API.
    async fn theirs(&self, name: &str, lines: &str) -> String {
        let object = format!(
            "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Theirs//EN\nBEGIN:VEVENT\nUID:{name}-{}\nDTSTAMP:20260101T000000Z\n\
             DTSTART:20270601T100000Z\nDTEND:20270601T110000Z\nSUMMARY:Meeting\nRRULE:FREQ=DAILY;COUNT=4\n{lines}\
             END:VEVENT\nEND:VCALENDAR\n",
            self.run
        );
        let file = format!("{name}.ics");
        put(&self.url, self.user, text(&self.calendar, "externalId"), &file, (CALENDAR, &object)).await;
        let listed = format!("{}?i_cal_uid={name}-{}", self.events, self.run);
        let page = self.api.get(listed).header("cache-control", "no-cache").send().await.expect(200);
        format!("{}/{}", self.events, text(&page["data"][0], "id"))
    }

    /// An invitation to the account, as another program stores it.
    async fn invitation(&self, name: &str, organizer: &str) -> String {
        let lines = format!(
            "ORGANIZER{organizer}:mailto:{boss}\nATTENDEE;PARTSTAT=ACCEPTED:mailto:{boss}\n\
             ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:{}@cyrus.test\n",
            self.user,
            boss = self.address(name),
        );
        self.theirs(name, &lines).await
    }

    /// The path of a series' instance on the third day.
    async fn instance(&self, path: &str) -> String {
        let id = path.rsplit('/').next().expect("an id");
        let range =
            format!("{}?expand=true&start=2027-06-03T00:00:00Z&end=2027-06-04T00:00:00Z", self.events);
        let all = self.api.all(&range).await;
        let own = all.iter().find(|event| event["seriesId"] == id);
        let own = own.unwrap_or_else(|| panic!("no instance of {id} in {all:#?}"));
        format!("{}/{}", self.events, text(own, "id"))
    }

    async fn close(self) {
        let calendar = format!("/v1/calendars/{}", text(&self.calendar, "id"));
        self.api.delete(calendar).send().await.expect(204);
    }
}

/// The codes of an answer's warnings.
fn codes(answer: &Value) -> Vec<&str> {
    answer["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|warning| warning["code"].as_str())
        .collect()
}

/// A write by an organizer to an event with the guests `one` and `two`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Write {
    Create,
    Change,
    /// Adds `three`.
    Invite,
    /// Removes `two`.
    Uninvite,
    ChangeInstance,
    ChangeRest,
    DeleteInstance,
    DeleteRest,
    Delete,
}

use Write::{
    Change, ChangeInstance, ChangeRest, Create, Delete, DeleteInstance, DeleteRest, Invite, Uninvite,
};

const WRITES: [Write; 9] =
    [Create, Change, Invite, Uninvite, ChangeInstance, ChangeRest, DeleteInstance, DeleteRest, Delete];

impl Write {
    fn is_deletion(self) -> bool {
        matches!(self, DeleteInstance | DeleteRest | Delete)
    }

    /// Returns the guest that the write concerns, and the mails that this guest gets if the provider sends any.
    fn mails(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Create | Change | ChangeInstance | DeleteInstance | DeleteRest => ("one", &["REQUEST"]),
            // The old series ends earlier, and there is a new one.
            ChangeRest => ("one", &["REQUEST", "REQUEST"]),
            Invite => ("three", &["REQUEST"]),
            Uninvite => ("two", &["CANCEL"]),
            Delete => ("one", &["CANCEL"]),
        }
    }

    /// Does it to a new event, to which the guests were invited before unless it is made now.
    async fn run(self, desk: &Desk, notify: &str) -> Exchange {
        let name = |guest: &str| format!("{guest}-{self:?}-{notify}").to_lowercase();
        let (one, two, three) = (name("one"), name("two"), name("three"));
        let mut body = desk.meeting(&[&one, &two]);
        if self == Create {
            body["notify"] = json!(notify);
            return desk.create(&body, "").await;
        }
        let made = desk.create(&body, "").await.expect(201);
        let path = format!("{}/{}", desk.events, text(&made, "id"));
        let instance = desk.instance(&path).await;
        let patch = |path: String, change: Value| {
            let mut change = change;
            change["notify"] = json!(notify);
            desk.api.patch(path, change).send()
        };
        match self {
            Create | Change => patch(path, json!({ "description": "x" })).await,
            Invite => patch(path, json!({ "attendees": desk.people(&[&one, &two, &three]) })).await,
            Uninvite => patch(path, json!({ "attendees": desk.people(&[&one]) })).await,
            ChangeInstance => patch(instance, json!({ "description": "x" })).await,
            ChangeRest => {
                let change = json!({ "description": "x", "recurrenceScope": "thisAndFollowing" });
                patch(instance, change).await
            }
            DeleteInstance => desk.api.delete(format!("{instance}?notify={notify}")).send().await,
            DeleteRest => {
                let query = format!("?notify={notify}&recurrence_scope=thisAndFollowing");
                desk.api.delete(format!("{instance}{query}")).send().await
            }
            Delete => desk.api.delete(format!("{path}?notify={notify}")).send().await,
        }
    }
}

/// Once a later mail has come, so has every earlier one.
async fn fence(desk: &Desk, post: &Post) {
    let body = json!({
        "title": "Fence", "start": "2027-07-01T10:00:00Z", "end": "2027-07-01T11:00:00Z",
        "attendees": desk.people(&["fence"]),
    });
    desk.create(&body, "").await.expect(201);
    post.wait(&desk.address("fence"), 1).await;
}

/// `all` notifies every guest, `none` notifies none, and `externalOnly`, which Cyrus does not support, notifies all with a warning.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_write_of_an_organizer_on_cyrus() {
    let (Some(url), Some(post)) = (peer("CYRUS_URL"), Post::open()) else { return };
    let desk = Desk::open(url, "t18").await;
    for write in WRITES {
        for notify in ["all", "externalOnly", "none"] {
            let answer = write.run(&desk, notify).await;
            let expected: &[&str] = if notify == "externalOnly" { &["notify_not_supported"] } else { &[] };
            assert_eq!(codes(&answer.answer), expected, "{write:?} {notify}\n{answer}");
            let status = match (write, expected.is_empty()) {
                (Create, _) => 201,
                (write, true) if write.is_deletion() => 204,
                _ => 200,
            };
            answer.expect(status);
        }
    }
    fence(&desk, &post).await;
    for write in WRITES {
        for notify in ["all", "externalOnly", "none"] {
            let (guest, told) = write.mails();
            let guest = desk.address(&format!("{guest}-{write:?}-{notify}").to_lowercase());
            let before: &[&str] = if matches!(write, Create | Invite) { &[] } else { &["REQUEST"] };
            let after: &[&str] = if notify == "none" { &[] } else { told };
            let mut expected = [before, after].concat();
            expected.sort_unstable();
            post.wait(&guest, expected.len()).await;
            assert_eq!(post.kinds(&guest), expected, "{write:?} {notify}");
        }
    }
    desk.close().await;
}

/// Guests who were not notified yet are with the next ordinary change, of everything; none is invited twice, and none gets a cancellation
/// of a meeting that takes place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_silent_comes_with_the_next_ordinary_change() {
    let (Some(url), Some(post)) = (peer("CYRUS_URL"), Post::open()) else { return };
    let desk = Desk::open(url, "t18").await;
    let mut body = desk.meeting(&["late"]);
    body["notify"] = json!("none");
    let made = desk.create(&body, "").await.expect(201);
    let path = format!("{}/{}", desk.events, text(&made, "id"));
    let silent = json!({ "description": "Silent words", "notify": "none" });
    let third = desk.instance(&path).await;
    desk.api.patch(&third, json!({ "title": "Third", "notify": "none" })).send().await.expect(200);
    assert_eq!(codes(&desk.api.patch(&path, silent.clone()).send().await.expect(200)), Vec::<&str>::new());
    desk.api.patch(&path, json!({ "location": "Room 1" })).send().await.expect(200);
    let mails = post.wait(&desk.address("late"), 1).await;
    assert!(mails[0].contains("DESCRIPTION:Silent words"), "{}", mails[0]);
    assert!(mails[0].contains("SUMMARY:Third") && !mails[0].contains("EXDATE"), "{}", mails[0]);

    // An event of another program.
    let lines = format!(
        "ORGANIZER:mailto:t18@cyrus.test\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:{}\n",
        desk.address("theirs")
    );
    let path = desk.theirs("theirs", &lines).await;
    desk.api.patch(&path, silent).send().await.expect(200);
    desk.api.patch(&path, json!({ "location": "Room 2" })).send().await.expect(200);
    let mails = post.wait(&desk.address("theirs"), 2).await;
    assert!(mails.iter().any(|mail| mail.contains("DESCRIPTION:Silent words")), "{mails:#?}");

    // A guest who was never notified of a meeting is not notified of its cancellation.
    let never = desk
        .create(
            &{
                body["attendees"] = desk.people(&["never"]);
                body
            },
            "",
        )
        .await
        .expect(201);
    desk.api.delete(format!("{}/{}", desk.events, text(&never, "id"))).send().await.expect(204);
    fence(&desk, &post).await;
    let kinds = ["late", "theirs", "never"].map(|name| post.kinds(&desk.address(name)));
    assert_eq!(kinds, [vec!["REQUEST"], vec!["REQUEST", "REQUEST"], vec![]]);
    desk.close().await;
}

/// A write by an attendee is mailed to the organizer or is not, as `notify` says; the comment goes with its answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_write_of_an_attendee_on_cyrus() {
    let (Some(url), Some(post)) = (peer("CYRUS_URL"), Post::open()) else { return };
    let desk = Desk::open(url, "t19").await;
    let mut expected: Vec<(String, usize)> = Vec::new();
    for tell in [true, false] {
        for answer in ["accept", "tentative", "decline"] {
            let name = format!("{answer}-{tell}");
            let path = desk.invitation(&name, "").await;
            let body = json!({ "notifyOrganizer": tell, "comment": "In a hurry" });
            let done = desk.api.post(format!("{path}/{answer}"), body).send().await.expect(200);
            assert_eq!(codes(&done), Vec::<&str>::new());
            expected.push((name, usize::from(tell)));
        }
        for scope in ["this", "all"] {
            let name = format!("delete-{scope}-{tell}");
            let path = desk.invitation(&name, "").await;
            desk.api
                .post(format!("{path}/accept"), json!({ "notifyOrganizer": false }))
                .send()
                .await
                .expect(200);
            let path = if scope == "this" { desk.instance(&path).await } else { path };
            let notify = if tell { "all" } else { "none" };
            desk.api.delete(format!("{path}?notify={notify}")).send().await.expect(204);
            expected.push((name, usize::from(tell)));
        }
    }
    // An organizer whom the server leaves to the client is not notified, with a warning.
    for agent in ["CLIENT", "NONE"] {
        let name = format!("agent-{agent}").to_lowercase();
        let path = desk.invitation(&name, &format!(";SCHEDULE-AGENT={agent}")).await;
        let strict = desk.api.post(format!("{path}/accept?strict=true"), json!({})).send().await;
        assert_eq!(strict.refused(400, "capability_not_supported")["param"], "notifyOrganizer");
        let done = desk.api.post(format!("{path}/accept"), json!({})).send().await.expect(200);
        assert_eq!(codes(&done), ["organizer_not_notified"]);
        let silent = json!({ "notifyOrganizer": false });
        let done = desk.api.post(format!("{path}/decline"), silent).send().await.expect(200);
        assert_eq!(codes(&done), Vec::<&str>::new());
        expected.push((name, 0));
    }
    fence(&desk, &post).await;
    for (name, count) in expected {
        let address = desk.address(&name);
        let mails = post.wait(&address, count).await;
        assert_eq!(mails.len(), count, "{name}: {mails:#?}");
        assert!(mails.iter().all(|mail| mail.contains("method=REPLY")), "{name}: {mails:#?}");
    }
    desk.close().await;
}

/// A comment belongs to one answer: the next one without a comment does not repeat it. The organizer's text stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comment_goes_out_once() {
    let (Some(url), Some(post)) = (peer("CYRUS_URL"), Post::open()) else { return };
    let desk = Desk::open(url, "t19").await;
    let (boss, user) = (desk.address("boss"), desk.user);
    let lines = format!(
        "ORGANIZER:mailto:{boss}\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:{user}@cyrus.test\nCOMMENT:Bring cake\n"
    );
    let path = desk.theirs("boss", &lines).await;
    let answer = |word: &str, body: Value| desk.api.post(format!("{path}/{word}"), body).send();
    answer("decline", json!({ "comment": "Whispered", "notifyOrganizer": false })).await.expect(200);
    answer("tentative", json!({ "comment": "Said, \"aloud\"" })).await.expect(200);
    let first = post.wait(&boss, 1).await;
    let done = answer("accept", json!({})).await.expect(200);
    assert_eq!(done["attendees"][0]["comment"], Value::Null);
    let both = post.wait(&boss, 2).await;
    assert!(
        first[0].contains("COMMENT:Said\\, \"aloud\"") && !first[0].contains("Whispered"),
        "{}",
        first[0]
    );
    let second = both.iter().find(|mail| !first.contains(mail)).expect("a second mail");
    assert!(!second.contains("aloud") && !second.contains("Whispered"), "{second}");
    let stored = got(&desk.url, user, text(&done, "externalId")).await;
    assert!(stored.contains("COMMENT:Bring cake") && !stored.contains("aloud"), "{stored}");
    desk.close().await;
}

/// Declining by deletion is a separate answer: the comment of an earlier answer is not repeated, of the series or of an instance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_says_nothing_of_an_earlier_answer() {
    let (Some(url), Some(post)) = (peer("CYRUS_URL"), Post::open()) else { return };
    let desk = Desk::open(url, "t19").await;
    for scope in ["this", "all"] {
        let name = format!("gone-{scope}");
        let (boss, user) = (desk.address(&name), desk.user);
        let lines = format!(
            "ORGANIZER:mailto:{boss}\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:{user}@cyrus.test\nCOMMENT:Bring cake\n"
        );
        let path = desk.theirs(&name, &lines).await;
        let said = json!({ "comment": "Said aloud" });
        desk.api.post(format!("{path}/accept"), said).send().await.expect(200);
        let first = post.wait(&boss, 1).await;
        assert!(first[0].contains("COMMENT:Said aloud"), "{}", first[0]);
        let path = if scope == "this" { desk.instance(&path).await } else { path };
        desk.api.delete(path).send().await.expect(204);
        let both = post.wait(&boss, 2).await;
        let second = both.iter().find(|mail| !first.contains(mail)).expect("a second mail");
        // Cyrus reports one instance as an exclusion from the accepted series.
        let gone = if scope == "this" { "EXDATE:20270603T100000Z" } else { "PARTSTAT=DECLINED" };
        assert!(second.contains(gone), "{scope}: {second}");
        assert!(!second.contains("aloud"), "{scope}: {second}");
    }
    desk.close().await;
}

/// A strict write is refused if the provider cannot do it: nothing is written, and no mail is sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_strict_write_tells_those_who_were_named_or_is_refused() {
    let (Some(url), Some(post)) = (peer("CYRUS_URL"), Post::open()) else { return };
    let desk = Desk::open(url, "t18").await;
    let mut body = desk.meeting(&["strict"]);
    body["notify"] = json!("externalOnly");
    let refused = desk.create(&body, "?strict=true").await;
    assert_eq!(refused.refused(400, "capability_not_supported")["param"], "notify");
    assert_eq!(desk.api.all(&desk.events).await, Vec::<Value>::new());
    body["notify"] = json!("none");
    let made = desk.create(&body, "?strict=true").await.expect(201);
    let path = format!("{}/{}", desk.events, text(&made, "id"));
    desk.api.delete(format!("{path}?strict=true&notify=none")).send().await.expect(204);
    fence(&desk, &post).await;
    assert_eq!(post.kinds(&desk.address("strict")), Vec::<String>::new());
    desk.close().await;
}

/// Radicale notifies no one: `none` needs no warning, and every other value has one, except `all` for a deletion.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_write_of_an_organizer_on_radicale() {
    let Some(url) = peer("RADICALE_URL") else { return };
    let desk = Desk::open(url, "t18").await;
    for write in WRITES {
        for notify in ["all", "externalOnly", "none"] {
            let answer = write.run(&desk, notify).await;
            let is_said = notify != "none" && !(write.is_deletion() && notify == "all");
            let has = codes(&answer.answer).contains(&"notify_not_supported");
            assert_eq!(has, is_said, "{write:?} {notify}\n{answer}");
        }
    }
    let body = desk.meeting(&["strict"]);
    let refused = desk.create(&body, "?strict=true").await;
    assert_eq!(refused.refused(400, "capability_not_supported")["param"], "notify");
    desk.create(&body, "?strict=true&notify=none").await.expect(201);
    desk.close().await;
}
