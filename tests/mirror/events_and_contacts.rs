//! Calendars and cards, on Radicale by PUT.

use harness::{Actor, TestServer};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::compare::{compare, unchanged};
use crate::oracle::{Kind, Object, Oracle};
use crate::report::Report;

/// The user on Radicale. No other test uses it.
const USER: &str = "t18";
/// The zone of the calendar; `oracle.py` has the same.
const HOME: &str = "Europe/Berlin";

/// A kind of object: its collections, and the field that is changed.
struct Surface {
    kind: Kind,
    media_type: &'static str,
    /// The properties of the stored object that may change when `field` does.
    touched: &'static [&'static str],
    field: &'static str,
}

const SURFACES: [Surface; 2] = [
    Surface {
        kind: Kind::Event,
        media_type: "text/calendar; charset=utf-8",
        touched: &["SUMMARY", "DTSTAMP", "LAST-MODIFIED", "SEQUENCE"],
        field: "title",
    },
    Surface {
        kind: Kind::Contact,
        media_type: "text/vcard; charset=utf-8",
        touched: &["NICKNAME", "REV", "PRODID"],
        field: "nickname",
    },
];

/// A collection of the test's own.
struct Place<'a> {
    surface: &'a Surface,
    radicale: &'a str,
    http: Client,
    api: Actor,
    /// In the API.
    path: String,
    /// On the server.
    href: String,
    /// The API path that lists the items.
    list: String,
}

/// An object that the server accepted.
struct Stored<'a> {
    object: &'a Object,
    href: String,
    bytes: Vec<u8>,
}

pub async fn mirror(oracle: &Oracle, radicale: &str, objects: &[Object], report: &mut Report) {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    let server = TestServer::builder().real_time().config(|c| c.egress_allow = loopback).start().await;
    let api = server.client().await;
    let connection = api
        .connect(json!({
            "provider": "dav", "settings": { "serverUrl": radicale },
            "credentials": { "username": USER, "password": "secret" },
            "scopes": ["calendar.read", "calendar.write", "contacts.read", "contacts.write"],
        }))
        .await;
    for surface in &SURFACES {
        let of_kind: Vec<&Object> = objects.iter().filter(|object| object.kind == surface.kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let place = Place::make(surface, radicale, &api, &connection).await;
        place.mirror(oracle, &of_kind, report).await;
        let gone = match surface.kind {
            Kind::Event => place.path.clone(),
            _ => format!("{}?force=true", place.path),
        };
        api.delete(gone).send().await.expect(204);
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

impl<'a> Place<'a> {
    async fn make(surface: &'a Surface, radicale: &'a str, api: &Actor, connection: &Value) -> Place<'a> {
        let body = json!({ "connectionId": connection["id"], "name": "Mirror" });
        let (collections, body) = match surface.kind {
            Kind::Event => (
                "/v1/calendars",
                json!({ "timeZone": HOME, "connectionId": body["connectionId"], "name": "Mirror" }),
            ),
            _ => ("/v1/contact-books", body),
        };
        let made = api.post(collections, body).send().await.expect(201);
        let path = format!("{collections}/{}", text(&made["id"]));
        let list = match surface.kind {
            Kind::Event => format!("{path}/events?show_cancelled=true"),
            _ => format!("/v1/contacts?book_id={}", text(&made["id"])),
        };
        let http = Client::builder().no_proxy().build().expect("an HTTP client");
        let href = text(&made["externalId"]);
        Place { surface, radicale, http, api: api.clone(), path, href, list }
    }

    fn request(&self, method: Method, href: &str) -> reqwest::RequestBuilder {
        let url = format!("{}{href}", self.radicale.trim_end_matches('/'));
        self.http.request(method, url).basic_auth(USER, Some("secret"))
    }

    async fn got(&self, href: &str) -> Vec<u8> {
        let answer = self.request(Method::GET, href).send().await.expect("the server answers");
        answer.bytes().await.expect("bytes").to_vec()
    }

    fn class(&self, of: &str) -> String {
        format!("{}.{of}", self.surface.kind.name())
    }

    async fn mirror(&self, oracle: &Oracle, objects: &[&Object], report: &mut Report) {
        let stored = self.put(objects, report).await;
        // Both sides read the object as the server stored it.
        let bytes: Vec<&[u8]> = stored.iter().map(|stored| stored.bytes.as_slice()).collect();
        let expected = oracle.read(self.surface.kind, &bytes);
        let mut listed = self.api.all(&self.list).await;
        if self.surface.kind == Kind::Event {
            let lines: Vec<Value> = listed.iter().map(|event| event["recurrence"].clone()).collect();
            for (event, rules) in listed.iter_mut().zip(oracle.rules(&lines)) {
                event["recurrence"] = rules;
            }
        }
        for (stored, expected) in stored.iter().zip(&expected) {
            self.held_against(stored, expected, &listed, report);
        }
        self.change(oracle, &stored, &listed, report).await;
    }

    async fn put<'o>(&self, objects: &[&'o Object], report: &mut Report) -> Vec<Stored<'o>> {
        let mut stored = Vec::new();
        for (number, object) in objects.iter().enumerate() {
            let ending = if self.surface.kind == Kind::Event { "ics" } else { "vcf" };
            let href = format!("{}m{number}.{ending}", self.href);
            let put = self.request(Method::PUT, &href).header("content-type", self.surface.media_type);
            let answer = put.body(object.bytes.clone()).send().await.expect("the server answers");
            if !answer.status().is_success() {
                report.add(self.class("refused by the server"), &object.name, answer.status());
                continue;
            }
            let bytes = self.got(&href).await;
            stored.push(Stored { object, href, bytes });
        }
        stored
    }

    fn held_against(&self, stored: &Stored, expected: &Value, listed: &[Value], report: &mut Report) {
        let (name, kind) = (&stored.object.name, self.surface.kind.name());
        let Some(expected) = expected["items"].as_array() else {
            return report.add(self.class("unreadable by the oracle"), name, &expected["unreadable"]);
        };
        let found: Vec<&Value> = listed.iter().filter(|item| is_of(item, &stored.href)).collect();
        if found.is_empty() {
            return report.add(self.class("not listed"), name, "");
        }
        report.compared += 1;
        if found.len() != expected.len() {
            report.add(
                self.class("items"),
                name,
                format!("expected {}, found {}", expected.len(), found.len()),
            );
        }
        for item in expected {
            // The series itself, or the exception of this start.
            match found.iter().find(|found| found["originalStart"] == item["originalStart"]) {
                Some(found) => compare(kind, name, item, found, report),
                None => report.add(self.class("items.missing"), name, &item["originalStart"]),
            }
        }
    }

    /// Changes one field of each object and reports all other changes, in the API and on the server.
    async fn change(&self, oracle: &Oracle, stored: &[Stored<'_>], listed: &[Value], report: &mut Report) {
        let (mut pairs, mut changed) = (Vec::new(), Vec::new());
        for one in stored {
            let Some(item) = listed.iter().find(|item| item["externalId"] == one.href) else { continue };
            let id = text(&item["id"]);
            let path = match self.surface.kind {
                Kind::Event => format!("{}/events/{id}", self.path),
                _ => format!("/v1/contacts/{id}"),
            };
            let before = self.api.get(&path).send().await.expect(200);
            let patch = self.api.patch(&path, json!({ self.surface.field: "Mirrored" })).send().await;
            if patch.status != 200 {
                let code = patch.answer["error"]["code"].as_str().unwrap_or_default();
                report.add(
                    self.class(&format!("patch refused: {} {code}", patch.status)),
                    &one.object.name,
                    &patch.answer["error"]["message"],
                );
                continue;
            }
            let answer = patch.answer;
            let but = [self.surface.field, "etag", "updatedAt", "sequence", "warnings"];
            unchanged(&self.class("patched"), &one.object.name, &before, &answer, &but, report);
            if answer[self.surface.field] != "Mirrored" {
                report.add(self.class("patched.asked"), &one.object.name, &answer[self.surface.field]);
            }
            pairs.push((one.bytes.clone(), self.got(&one.href).await));
            changed.push(one);
        }
        for (one, lines) in changed.iter().zip(oracle.diff(&pairs)) {
            for line in lines.as_array().expect("a list") {
                let name = text(&line[2]).split([':', ';']).next().unwrap_or_default().to_owned();
                let bare = name.rsplit('.').next().unwrap_or_default();
                let is_own = line[0] == "VCALENDAR/VEVENT" || line[0] == "VCARD";
                if !is_own || !self.surface.touched.contains(&bare) {
                    report.add(
                        self.class(&format!("stored.{}.{name}", text(&line[0]))),
                        &one.object.name,
                        format!("{}{}", text(&line[1]), text(&line[2])),
                    );
                }
            }
        }
    }
}

/// Returns whether an item belongs to the resource: the main item, or one of its instances.
fn is_of(item: &Value, href: &str) -> bool {
    let id = item["externalId"].as_str().unwrap_or_default();
    id.strip_prefix(href).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}
