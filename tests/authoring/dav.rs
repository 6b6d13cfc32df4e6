//! The conformance kit on the DAV connector with real servers, Radicale and Cyrus. Left out are cases that are the same whatever the
//! server: those of faults, which the kit injects, those of the sandbox, any limit (P3), and unclaimed features (X1).

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use crate::bundled::{told, write_project};
use crate::project::{switchboard, target};

/// An account that no other test uses.
const USER: &str = "t14";
const PASSWORD: &str = "secret";
/// The name of the task list, the calendar and the address book whose content the cases change.
const COLLECTION: &str = "swkit";
/// Cases of the account, and of tasks.
const TASKS: &str =
    "D1,D2,D3,P1,P2,P5,P6,P7,R1,R2,R3,C1,C2,C3,C4,C5,C6,C7,C8,C9,W1,W2,W3,W4,W5,W6,W7,W8,W9,X2";
/// Cases that calendars and address books share.
const ITEMS: &str = "D3,P1,P2,P4,P5,P6,P7,R1,R2,R3,C1,C2,C3,C4,C6,C7,C8,C9,W1,W2,W3,W4,W5,W6,W9";
const CALENDARS: &str = "K1,K2,K3,K4,K6,K7,K9,K10";
const BOOKS: &str = "B1,B2,B3,B4";

const NAMESPACES: &str =
    "xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:R=\"urn:ietf:params:xml:ns:carddav\"";

/// Cases that do not apply, each with the reason in the report: the same on both servers.
const NOT_APPLICABLE: [(&str, &str); 8] = [
    ("P7", "lists.list has one page"),
    ("W8", "the provider keeps every field"),
    ("W9", "changes are not sent as JSON by PATCH or POST"),
    ("calendar.P7", "calendars.list has one page"),
    ("calendar.W9", "changes are not sent as JSON by PATCH or POST"),
    ("K10", "changed instances are in the sources of their series"),
    ("contacts.P7", "books.list has one page"),
    ("contacts.W9", "changes are not sent as JSON by PATCH or POST"),
];

/// A server and the places of the account on it.
struct DavServer {
    /// The environment variable with its address.
    variable: &'static str,
    calendar_home: &'static str,
    book_home: &'static str,
    /// Further settings that `lifecycle.check` finds.
    found: &'static str,
}

const SERVERS: [DavServer; 2] = [
    DavServer {
        variable: "RADICALE_URL",
        calendar_home: "/t14/",
        book_home: "/t14/",
        found: "davClasses = [\"calendar-access\", \"addressbook\"]",
    },
    DavServer {
        variable: "CYRUS_URL",
        calendar_home: "/dav/calendars/user/t14/",
        book_home: "/dav/addressbooks/user/t14/",
        found: "davClasses = [\"calendar-access\", \"calendar-auto-schedule\", \"addressbook\"], \
                calendarUserAddresses = [\"mailto:t14@cyrus.test\"], keepsSilence = true",
    },
];

impl DavServer {
    /// Returns its address without a slash at the end; none if it is not up.
    fn url(&self) -> Option<String> {
        let name = self.variable;
        let url = std::env::var(name).ok();
        if url.is_none() {
            assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "{name} is not set");
            println!("NOT RUN: {name} is not set; `cargo xtask test` starts the peers");
        }
        url.map(|url| url.trim_end_matches('/').to_owned())
    }

    /// The lines below `[test]` of a project against the server at `url`. `serverUrl` is the calendar home: C8 reads an unknown collection
    /// beside it, and outside the account's home Radicale answers 403 whether there is one or not, which becomes `forbidden`.
    fn lines(&self, url: &str) -> String {
        let DavServer { calendar_home, book_home, found, .. } = self;
        format!(
            "provider = {{ url = \"{url}\", username = \"{USER}\", password = \"{PASSWORD}\" }}\n\
             collection = \"{COLLECTION}\"\n\
             settings = {{ serverUrl = \"{url}{calendar_home}\", addressbookHomeUrl = \"{url}{book_home}\", {found} }}\n"
        )
    }

    /// Makes an empty calendar, task list and address book in place of those of an earlier run.
    async fn make_collections(&self, url: &str) {
        let client = harness::http_client().build().unwrap();
        let calendar = |component: &str| {
            format!(
                "<C:mkcalendar {NAMESPACES}><D:set><D:prop><D:displayname>{COLLECTION}</D:displayname>\
                 <C:supported-calendar-component-set><C:comp name=\"{component}\"/></C:supported-calendar-component-set>\
                 </D:prop></D:set></C:mkcalendar>"
            )
        };
        let book = format!(
            "<D:mkcol {NAMESPACES}><D:set><D:prop><D:resourcetype><D:collection/><R:addressbook/></D:resourcetype>\
             <D:displayname>{COLLECTION}</D:displayname></D:prop></D:set></D:mkcol>"
        );
        let (calendars, books) = (self.calendar_home, self.book_home);
        replace(&client, &format!("{url}{calendars}swkit-events/"), "MKCALENDAR", calendar("VEVENT")).await;
        replace(&client, &format!("{url}{calendars}swkit-tasks/"), "MKCALENDAR", calendar("VTODO")).await;
        replace(&client, &format!("{url}{books}swkit-contacts/"), "MKCOL", book).await;
    }
}

/// Deletes the collection, if there is one, and makes it.
async fn replace(client: &Client, url: &str, method: &str, body: String) {
    let deleted = client.delete(url).basic_auth(USER, Some(PASSWORD)).send().await.unwrap().status();
    assert!(deleted.is_success() || deleted == StatusCode::NOT_FOUND, "DELETE {url}: {deleted}");
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = client.request(method.clone(), url).basic_auth(USER, Some(PASSWORD));
    let request = request.header("content-type", "application/xml; charset=utf-8").body(body);
    let made = request.send().await.unwrap().status();
    assert_eq!(made, StatusCode::CREATED, "{method} {url}");
}

/// The ids of the cases, as `--case` takes them.
fn cases() -> String {
    let of =
        |surface: &str| ITEMS.split(',').map(|id| format!("{surface}.{id}")).collect::<Vec<_>>().join(",");
    [TASKS, &of("calendar"), CALENDARS, &of("contacts"), BOOKS].join(",")
}

/// One folder for both servers and all runs: the component is compiled when it has changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_dav_connector_passes_on_real_servers() {
    let folder = target().join("kit-dav");
    for server in SERVERS {
        let Some(url) = server.url() else { continue };
        server.make_collections(&url).await;
        write_project(&folder, "dav", &server.lines(&url));
        let folder = folder.clone();
        let tested = tokio::task::spawn_blocking(move || {
            switchboard(&folder, &["connector", "test", "--no-build", "--json", "--case", &cases()])
        });
        let report = tested.await.unwrap().json();
        let cases = report["cases"].as_array().unwrap();
        let failed = told(cases, "failed");
        assert!(
            failed.is_empty(),
            "{}: {} cases failed:\n{}",
            server.variable,
            failed.len(),
            failed.join("\n")
        );
        let left_out = cases.iter().filter(|case| case["verdict"] == "notApplicable");
        let left_out: Vec<(&str, &str)> =
            left_out.map(|case| (text(&case["id"]), text(&case["said"]))).collect();
        let mut expected = NOT_APPLICABLE.to_vec();
        expected.sort_by_key(|(id, _)| cases.iter().position(|case| case["id"] == *id));
        assert_eq!(left_out, expected, "{}", server.variable);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
