//! A renamed object keeps its item (`renamed`), even if the deletion and the creation are not on one page: on pages of one round, in
//! either order, in separate rounds, and in a full read. For events, contacts and tasks.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::dav::renamed::{USER, ask, news, text};
use crate::dav::{connect, put, servers};

/// Sources of a page: far fewer than what changes at once.
const PAGE: u32 = 2;

/// A kind of collection: its objects, and its path in the API.
#[derive(Clone, Copy)]
struct Sort {
    collections: &'static str,
    media_type: &'static str,
    /// A whole object, with `{uid}` and `{title}`.
    object: &'static str,
    title: &'static str,
    suffix: &'static str,
}

const SORTS: [Sort; 3] = [
    Sort {
        collections: "/v1/calendars",
        media_type: "text/calendar; charset=utf-8",
        object: "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Across//EN\nBEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n\
                 DTSTART:20270301T090000Z\nDTEND:20270301T100000Z\nSUMMARY:{title}\nEND:VEVENT\nEND:VCALENDAR\n",
        title: "title",
        suffix: "ics",
    },
    Sort {
        collections: "/v1/contact-books",
        media_type: "text/vcard; charset=utf-8",
        object: "BEGIN:VCARD\nVERSION:3.0\nUID:{uid}\nFN:{title}\nN:{title};;;;\nEND:VCARD\n",
        title: "displayName",
        suffix: "vcf",
    },
    Sort {
        collections: "/v1/task-lists",
        media_type: "text/calendar; charset=utf-8",
        object: "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Across//EN\nBEGIN:VTODO\nUID:{uid}\nDTSTAMP:20260101T000000Z\n\
                 SUMMARY:{title}\nEND:VTODO\nEND:VCALENDAR\n",
        title: "title",
        suffix: "ics",
    },
];

/// A collection of a server with an object that is going to be renamed, and others beside it.
struct Shelf<'a> {
    api: &'a Actor,
    url: &'a str,
    sort: Sort,
    connection: &'a str,
    id: String,
    href: String,
}

impl<'a> Shelf<'a> {
    async fn new(api: &'a Actor, url: &'a str, connection: &'a str, sort: Sort) -> Shelf<'a> {
        let new = json!({ "connectionId": connection, "name": "Across", "timeZone": "UTC" });
        let new = match sort.collections {
            "/v1/calendars" => new,
            _ => json!({ "connectionId": connection, "name": "Across" }),
        };
        let made = api.post(sort.collections, new).send().await.expect(201);
        let (id, href) = (text(&made, "id").to_owned(), text(&made, "externalId").to_owned());
        Shelf { api, url, sort, connection, id, href }
    }

    /// The name of an object in the collection.
    fn named(&self, name: &str) -> String {
        format!("{name}.{}", self.sort.suffix)
    }

    /// Puts an object there. Its UID names the collection too: Cyrus refuses one that another calendar of the account has.
    async fn put(&self, name: &str, uid: &str, title: &str) {
        let uid = format!("{uid}-{}", self.id);
        let object = self.sort.object.replace("{uid}", &uid).replace("{title}", title);
        put(self.url, USER, &self.href, &self.named(name), (self.sort.media_type, &object)).await;
    }

    async fn delete(&self, name: &str) {
        ask(self.url, "DELETE", &format!("{}{}", self.href, self.named(name)), None).await;
    }

    /// Changes all the others, so that one object's changes are spread over pages. Their names are between `a` and `z`.
    async fn stir(&self, title: &str) {
        for n in 0..6 {
            self.put(&format!("m{n}"), &format!("other-{n}"), title).await;
        }
    }

    async fn rename(&self, from: &str, to: &str) {
        let [from, to] = [from, to].map(|name| format!("{}{}", self.href, self.named(name)));
        ask(self.url, "MOVE", &from, Some(&to)).await;
    }

    /// Returns the path that lists the items.
    fn items(&self) -> String {
        match self.sort.collections {
            "/v1/calendars" => format!("/v1/calendars/{}/events", self.id),
            "/v1/contact-books" => format!("/v1/contacts?book_id={}", self.id),
            _ => format!("/v1/task-lists/{}/tasks", self.id),
        }
    }

    fn item(&self, id: &str) -> String {
        match self.sort.collections {
            "/v1/contact-books" => format!("/v1/contacts/{id}"),
            _ => format!("{}/{id}", self.items()),
        }
    }

    fn synced(&self, operation: &str) -> (String, Value) {
        match self.sort.collections {
            "/v1/contact-books" => {
                (format!("/v1/contacts/sync/{operation}"), json!({ "connectionId": self.connection }))
            }
            collections => (format!("{collections}/{}/sync/{operation}", self.id), json!({})),
        }
    }

    fn feed(&self) -> String {
        let path = self.synced("changes").0;
        match self.sort.collections {
            "/v1/contact-books" => format!("{path}?connection_id={}&limit=500", self.connection),
            _ => format!("{path}?limit=500"),
        }
    }

    /// The item with this title as the provider has it now, after all of what changed was read.
    async fn find(&self, title: &str) -> Option<Value> {
        let page = self.api.get(self.items()).header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").iter().find(|item| item[self.sort.title] == title).cloned()
    }

    /// Returns an item's changes in the feed since a cursor, and the cursor after them.
    async fn told(&self, id: &str, cursor: &str) -> (Vec<String>, String) {
        let feed = format!("{}&cursor={cursor}", self.feed());
        let (told, next) = news(self.api, &feed, None).await;
        (told.into_iter().filter(|(_, of)| of == id).map(|(change, _)| change).collect(), next)
    }

    async fn end(self) {
        let force = if self.sort.collections == "/v1/contact-books" { "?force=true" } else { "" };
        self.api.delete(format!("{}/{}{force}", self.sort.collections, self.id)).send().await.expect(204);
    }
}

async fn small_pages() -> TestServer {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    TestServer::builder()
        .real_time()
        .config(|c| {
            c.egress_allow = loopback;
            c.pull_page = PAGE;
        })
        .start()
        .await
}

/// The old name first, then the new name first: each time readers learn of an update, and the item is the one that it was.
async fn on_pages_of_a_round(shelf: &Shelf<'_>, before: &Value, cursor: &str) -> String {
    let id = text(before, "id");
    let mut cursor = cursor.to_owned();
    for (from, to) in [("a", "z"), ("z", "a")] {
        shelf.rename(from, to).await;
        shelf.stir(&format!("To {to}")).await;
        let after = shelf.find("Renamed").await.expect("it is there");
        assert_eq!(
            (&after["id"], &after["metadata"]),
            (&before["id"], &before["metadata"]),
            "{from} to {to}"
        );
        assert!(text(&after, "externalId").ends_with(&shelf.named(to)), "{after:#}");
        let (told, next) = shelf.told(id, &cursor).await;
        assert_eq!(told, ["updated"], "{from} to {to}");
        cursor = next;
    }
    cursor
}

/// The object is deleted, which is read and reported; then another program stores it again under another name, and finally under its old
/// one.
async fn in_rounds_of_their_own(shelf: &Shelf<'_>, before: &Value, cursor: &str) {
    let id = text(before, "id");
    let mut cursor = cursor.to_owned();
    for (old, new) in [("a", "b"), ("b", "b")] {
        shelf.delete(old).await;
        assert!(shelf.find("Renamed").await.is_none(), "{old}");
        shelf.api.get(shelf.item(id)).send().await.refused(404, "not_found");
        let (told, next) = shelf.told(id, &cursor).await;
        assert_eq!(told, ["deleted"], "{old}");
        shelf.put(new, "renamed", "Renamed").await;
        let after = shelf.find("Renamed").await.expect("it is there again");
        assert_eq!(
            (&after["id"], &after["metadata"]),
            (&before["id"], &before["metadata"]),
            "{old} to {new}"
        );
        let (told, next) = shelf.told(id, &next).await;
        assert_eq!(told, ["created"], "{old} to {new}");
        cursor = next;
    }
}

/// In an enumeration deletions are not reported, but found at the end.
async fn while_all_is_read_anew(shelf: &Shelf<'_>, before: &Value) {
    shelf.rename("b", "a").await;
    let (reset, mut body) = shelf.synced("reset");
    body["mode"] = json!("soft");
    shelf.api.post(reset, body).send().await.expect(202);
    let after = shelf.find("Renamed").await.expect("it is there");
    assert_eq!((&after["id"], &after["metadata"]), (&before["id"], &before["metadata"]));
    assert!(text(&after, "externalId").ends_with(&shelf.named("a")), "{after:#}");
}

/// An item that was deleted through the API stays deleted: one with the same UID that another program makes takes over only its id.
async fn after_a_deletion_of_ours(shelf: &Shelf<'_>, before: &Value) {
    shelf.api.delete(shelf.item(text(before, "id"))).send().await.expect(204);
    shelf.put("c", "renamed", "Renamed").await;
    let after = shelf.find("Renamed").await.expect("it is there");
    assert_eq!(after["metadata"], json!({}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_keeps_its_id_when_its_names_are_told_apart() {
    for (name, url) in servers() {
        let server = small_pages().await;
        let api = server.client().await;
        let connection = connect(&api, &url, USER).await;
        for sort in SORTS {
            println!("{name} {}", sort.collections);
            let shelf = Shelf::new(&api, &url, text(&connection, "id"), sort).await;
            shelf.put("a", "renamed", "Renamed").await;
            shelf.stir("Other").await;
            let id = text(&shelf.find("Renamed").await.expect("it is there"), "id").to_owned();
            let deal = json!({ "metadata": { "deal": "42" } });
            let before = api.patch(shelf.item(&id), deal).send().await.expect(200);
            let (start, body) = shelf.synced("start");
            api.post(start, body).send().await.expect(202);
            let cursor = news(&api, &shelf.feed(), None).await.1;
            let cursor = on_pages_of_a_round(&shelf, &before, &cursor).await;
            in_rounds_of_their_own(&shelf, &before, &cursor).await;
            while_all_is_read_anew(&shelf, &before).await;
            after_a_deletion_of_ours(&shelf, &before).await;
            shelf.end().await;
        }
    }
}
