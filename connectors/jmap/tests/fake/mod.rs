//! A small JMAP server in memory: what RFC 8620 and RFC 8621 say of states, changes, queries and sets, and faults on demand.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use connector_sdk::http::{Request, Response, SendError};
use connector_sdk::testing::{Recorded, body, response};
use model::wire::Connection;
use serde_json::{Map, Value, json};

use crate::support::{Blobs, Session};

pub const URL: &str = "https://jmap.test";

#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    /// Seconds since 1970.
    pub at: i64,
    pub keywords: BTreeSet<String>,
    pub mailboxes: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Created,
    Updated,
    Destroyed,
}

/// Runs before each HTTP request with its number.
type Hook = Box<dyn FnMut(&mut Server, usize)>;

/// Answers a method instead of the server.
type Override = Box<dyn FnMut(&str, &Value) -> Option<(String, Value)>>;

#[derive(Default)]
pub struct Server {
    pub mails: BTreeMap<String, Mail>,
    log: Vec<(String, Change)>,
    next_id: usize,
    /// States before this one are forgotten.
    pub oldest_state: usize,
    pub requests: usize,
    pub before_request: Option<Hook>,
    pub instead: Option<Override>,
    /// Mails that come in the middle of the next request: before which of its methods, and when they were received.
    pub arrivals: Vec<(usize, i64)>,
    /// HTTP answers that come before the server's own.
    pub answers: Vec<Response>,
    /// Names of the methods that were called, per request.
    pub calls: Vec<Vec<String>>,
    /// Recipients of each submission that was taken.
    pub submissions: Vec<Vec<String>>,
    pub refuses: Option<Value>,
    pub ignores_on_success: bool,
    pub ignores_max_changes: bool,
}

pub type Shared = Rc<RefCell<Server>>;

/// A session with the server, as if `check` had been there.
pub fn open() -> (Shared, Session<Recorded>) {
    let server = Shared::default();
    let shared = server.clone();
    let host = Recorded::answering(move |request| answer(&shared, request));
    let mut connection = Connection::default();
    let settings = json!({
        "serverUrl": format!("{URL}/"), "sessionUrl": format!("{URL}/session"), "apiUrl": format!("{URL}/api"),
        "downloadUrl": format!("{URL}/download/{{blobId}}"), "uploadUrl": format!("{URL}/upload"),
        "accountId": "a", "submission": true, "maxObjectsInGet": 100,
    });
    connection.settings = settings.as_object().unwrap().clone();
    (server, Session { host: Blobs::around(host), connection })
}

pub fn session() -> Value {
    json!({
        "username": "ann@jmap.test", "apiUrl": "/api", "downloadUrl": "/download/{blobId}", "uploadUrl": "upload",
        "capabilities": { "urn:ietf:params:jmap:core": { "maxObjectsInGet": 100 }, "urn:ietf:params:jmap:mail": {},
            "urn:ietf:params:jmap:submission": {} },
        "accounts": { "a": { "name": "Ann", "isPersonal": true, "isReadOnly": false,
            "accountCapabilities": { "urn:ietf:params:jmap:mail": {} } } },
        "primaryAccounts": { "urn:ietf:params:jmap:mail": "a", "urn:ietf:params:jmap:submission": "a" }, "state": "0",
    })
}

fn answer(shared: &Shared, request: &Request) -> Result<Response, SendError> {
    let mut server = shared.borrow_mut();
    server.requests += 1;
    let number = server.requests;
    if let Some(mut hook) = server.before_request.take() {
        hook(&mut server, number);
        server.before_request = Some(hook);
    }
    if !server.answers.is_empty() {
        return Ok(server.answers.remove(0));
    }
    let content = body(request);
    let path = request.url.strip_prefix(URL).unwrap_or_default();
    Ok(match path {
        "/session" | "/.well-known/jmap" => response(200, &[], &session().to_string()),
        "/upload" => response(201, &[], &json!({ "blobId": format!("B{}", content.len()) }).to_string()),
        "/api" => response(200, &[], &server.run(&serde_json::from_slice(&content).unwrap()).to_string()),
        _ => response(404, &[], ""),
    })
}

fn date(seconds: i64) -> String {
    model::Instant::from_millis(seconds * 1000).timestamp().to_string()
}

fn seconds(date: &Value) -> i64 {
    let instant: model::Instant = date.as_str().unwrap().parse().unwrap();
    instant.as_millis() / 1000
}

fn names(set: &Value) -> BTreeSet<String> {
    set.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

impl Server {
    pub fn put(&mut self, at: i64) -> String {
        self.next_id += 1;
        let id = format!("e{:04}", self.next_id);
        let mailboxes = ["inbox".to_owned()].into();
        self.mails.insert(id.clone(), Mail { at, keywords: BTreeSet::new(), mailboxes });
        self.log.push((id.clone(), Change::Created));
        id
    }

    pub fn flag(&mut self, id: &str, keyword: &str) {
        if let Some(mail) = self.mails.get_mut(id) {
            mail.keywords.insert(keyword.into());
            self.log.push((id.into(), Change::Updated));
        }
    }

    pub fn destroy(&mut self, id: &str) {
        if self.mails.remove(id).is_some() {
            self.log.push((id.into(), Change::Destroyed));
        }
    }

    fn run(&mut self, request: &Value) -> Value {
        let mut responses: Vec<Value> = Vec::new();
        let mut created = BTreeMap::new();
        let calls = request["methodCalls"].as_array().unwrap();
        self.calls.push(calls.iter().map(|call| call[0].as_str().unwrap().to_owned()).collect());
        let arrivals = std::mem::take(&mut self.arrivals);
        for (number, call) in calls.iter().enumerate() {
            for (_, at) in arrivals.iter().filter(|(before, _)| *before == number) {
                self.put(*at);
            }
            let (method, id) = (call[0].as_str().unwrap(), &call[2]);
            let Some(args) = resolved(&call[1], &responses) else {
                responses.push(json!(["error", { "type": "invalidResultReference" }, id]));
                continue;
            };
            let instead = self.instead.as_mut().and_then(|instead| instead(method, &args));
            let (name, answer) = instead.unwrap_or_else(|| match self.method(method, &args, &mut created) {
                Ok(answer) => (method.to_owned(), answer),
                Err(kind) => ("error".to_owned(), json!({ "type": kind })),
            });
            responses.push(json!([name, answer, id]));
            if method == "EmailSubmission/set" {
                responses.extend(
                    self.after_submission(&args, &created).map(|answer| json!(["Email/set", answer, id])),
                );
            }
        }
        json!({ "methodResponses": responses, "sessionState": "0" })
    }

    fn method(
        &mut self,
        method: &str,
        args: &Value,
        created: &mut BTreeMap<String, String>,
    ) -> Result<Value, &'static str> {
        match method {
            "Email/get" => Ok(self.get(args)),
            "Email/query" => self.query(args),
            "Email/changes" => self.changes(args),
            "Email/set" => self.set(args),
            "Email/import" => Ok(self.import(args, created)),
            "EmailSubmission/set" => Ok(self.submit(args, created)),
            "EmailSubmission/get" => Ok(json!({ "state": "0", "list": [] })),
            "Identity/get" => {
                Ok(json!({ "state": "0", "list": [{ "id": "i", "name": "Ann", "email": "ann@jmap.test" }] }))
            }
            "Mailbox/get" => Ok(mailboxes(args)),
            "Mailbox/changes" => {
                Ok(json!({ "oldState": "m", "newState": "m", "hasMoreChanges": false, "created": [],
                "updated": [], "destroyed": [], "updatedProperties": null }))
            }
            _ => Err("unknownMethod"),
        }
    }

    fn get(&self, args: &Value) -> Value {
        let ids: Vec<&str> = args["ids"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let list: Vec<Value> = ids.iter().filter_map(|id| self.mail(id)).collect();
        let missing: Vec<&&str> = ids.iter().filter(|id| !self.mails.contains_key(**id)).collect();
        json!({ "state": self.log.len().to_string(), "list": list, "notFound": missing })
    }

    fn mail(&self, id: &str) -> Option<Value> {
        let mail = self.mails.get(id)?;
        let set = |names: &BTreeSet<String>| -> Value {
            names.iter().map(|name| (name.clone(), json!(true))).collect::<Map<String, Value>>().into()
        };
        Some(json!({ "id": id, "receivedAt": date(mail.at), "keywords": set(&mail.keywords),
            "mailboxIds": set(&mail.mailboxes) }))
    }

    fn query(&self, args: &Value) -> Result<Value, &'static str> {
        let before = Some(&args["filter"]["before"]).filter(|date| date.is_string()).map(seconds);
        let mut all: Vec<(&String, i64)> = self.mails.iter().map(|(id, mail)| (id, mail.at)).collect();
        all.retain(|(_, at)| before.is_none_or(|before| *at < before));
        all.sort_by_key(|(id, at)| (-at, (*id).clone()));
        let start = match args["anchor"].as_str() {
            Some(anchor) => {
                let place = all.iter().position(|(id, _)| *id == anchor).ok_or("anchorNotFound")?;
                place + usize::try_from(args["anchorOffset"].as_i64().unwrap()).unwrap()
            }
            None => 0,
        };
        let limit = usize::try_from(args["limit"].as_u64().unwrap()).unwrap();
        let ids: Vec<&String> = all.iter().skip(start).take(limit).map(|(id, _)| *id).collect();
        Ok(json!({ "ids": ids, "queryState": "0", "position": start, "canCalculateChanges": false }))
    }

    fn changes(&self, args: &Value) -> Result<Value, &'static str> {
        let since: usize =
            args["sinceState"].as_str().and_then(|text| text.parse().ok()).ok_or("invalidArguments")?;
        if since < self.oldest_state || since > self.log.len() {
            return Err("cannotCalculateChanges");
        }
        let most = args["maxChanges"]
            .as_u64()
            .filter(|_| !self.ignores_max_changes)
            .map_or(usize::MAX, |max| usize::try_from(max).unwrap());
        let mut changed: BTreeMap<&str, (Change, Change)> = BTreeMap::new();
        let mut state = since;
        for (id, change) in &self.log[since..] {
            if changed.len() == most && !changed.contains_key(id.as_str()) {
                break;
            }
            changed.entry(id).and_modify(|(_, last)| *last = *change).or_insert((*change, *change));
            state += 1;
        }
        let of = |wanted: &dyn Fn(Change, Change) -> bool| -> Vec<&str> {
            changed.iter().filter(|(_, (first, last))| wanted(*first, *last)).map(|(id, _)| *id).collect()
        };
        Ok(json!({
            "oldState": since.to_string(), "newState": state.to_string(), "hasMoreChanges": state < self.log.len(),
            "created": of(&|first, last| first == Change::Created && last != Change::Destroyed),
            "updated": of(&|first, last| first == Change::Updated && last == Change::Updated),
            "destroyed": of(&|first, last| first != Change::Created && last == Change::Destroyed),
        }))
    }

    fn set(&mut self, args: &Value) -> Result<Value, &'static str> {
        if args["ifInState"].as_str().is_some_and(|state| state != self.log.len().to_string()) {
            return Err("stateMismatch");
        }
        let (mut updated, mut missing) = (Map::new(), Map::new());
        for (id, patch) in args["update"].as_object().into_iter().flatten() {
            match self.update(id, patch) {
                true => updated.insert(id.clone(), Value::Null),
                false => missing.insert(id.clone(), json!({ "type": "notFound" })),
            };
        }
        let (mut destroyed, mut kept) = (Vec::new(), Map::new());
        for id in args["destroy"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            match self.mails.contains_key(id) {
                true => destroyed.push(id.to_owned()),
                false => drop(kept.insert(id.to_owned(), json!({ "type": "notFound" }))),
            }
            self.destroy(id);
        }
        Ok(json!({ "updated": updated, "notUpdated": missing, "destroyed": destroyed, "notDestroyed": kept }))
    }

    fn update(&mut self, id: &str, patch: &Value) -> bool {
        let Some(mail) = self.mails.get_mut(id) else { return false };
        for (path, value) in patch.as_object().unwrap() {
            match path.split_once('/') {
                None if path == "mailboxIds" => mail.mailboxes = names(value),
                None => mail.keywords = names(value),
                Some((property, name)) => {
                    let set = if property == "keywords" { &mut mail.keywords } else { &mut mail.mailboxes };
                    if value.is_null() {
                        set.remove(name)
                    } else {
                        set.insert(name.into())
                    };
                }
            }
        }
        self.log.push((id.into(), Change::Updated));
        true
    }

    fn import(&mut self, args: &Value, created: &mut BTreeMap<String, String>) -> Value {
        let (name, email) = args["emails"].as_object().unwrap().iter().next().unwrap();
        let id = self.put(seconds(&email["receivedAt"]));
        let mail = self.mails.get_mut(&id).unwrap();
        (mail.keywords, mail.mailboxes) = (names(&email["keywords"]), names(&email["mailboxIds"]));
        created.insert(format!("#{name}"), id.clone());
        json!({ "created": { name.as_str(): { "id": id } }, "notCreated": null })
    }

    fn submit(&mut self, args: &Value, created: &mut BTreeMap<String, String>) -> Value {
        let (name, submission) = args["create"].as_object().unwrap().iter().next().unwrap();
        let recipients = submission["envelope"]["rcptTo"].as_array().unwrap();
        let recipients: Vec<String> =
            recipients.iter().map(|one| one["email"].as_str().unwrap().into()).collect();
        if let Some(error) = self.refuses.take() {
            return json!({ "notCreated": { name.as_str(): error } });
        }
        self.submissions.push(recipients);
        let email = submission["emailId"].as_str().unwrap();
        let email = created.get(email).cloned().unwrap_or_else(|| email.to_owned());
        created.insert(format!("#{name}"), email);
        json!({ "created": { name.as_str(): { "id": "s" } } })
    }

    fn after_submission(&mut self, args: &Value, created: &BTreeMap<String, String>) -> Option<Value> {
        let (name, _) = args["create"].as_object().unwrap().iter().next().unwrap();
        let email = created.get(&format!("#{name}")).filter(|_| !self.ignores_on_success)?;
        let key = format!("#{name}");
        let update = args["onSuccessUpdateEmail"]
            .get(&key)
            .map(|patch| json!({ "update": { email.as_str(): patch } }));
        let destroy = args["onSuccessDestroyEmail"].is_array().then(|| json!({ "destroy": [email] }));
        self.set(&update.or(destroy)?).ok()
    }
}

fn mailboxes(args: &Value) -> Value {
    let one = |role: &str| {
        json!({ "id": role, "name": role, "parentId": null, "role": role, "sortOrder": 1, "isSubscribed": true,
            "totalEmails": 0, "unreadEmails": 0, "totalThreads": 0, "unreadThreads": 0,
            "myRights": { "mayReadItems": true, "mayAddItems": true, "mayRemoveItems": true, "mayCreateChild": true,
                "mayDelete": false, "maySubmit": true, "maySetSeen": true, "maySetKeywords": true, "mayRename": false } })
    };
    let list: Vec<Value> = match args["ids"].as_array() {
        Some(_) => Vec::new(),
        None => ["inbox", "drafts", "sent", "trash"].map(one).into(),
    };
    json!({ "state": "m", "list": list, "notFound": [] })
}

/// Arguments with their references to earlier answers put in; none where one points at nothing.
fn resolved(args: &Value, responses: &[Value]) -> Option<Value> {
    let mut whole = Map::new();
    for (name, value) in args.as_object()? {
        let Some(plain) = name.strip_prefix('#') else {
            whole.insert(name.clone(), value.clone());
            continue;
        };
        let found = responses.iter().find(|one| one[2] == value["resultOf"] && one[0] == value["name"])?;
        whole.insert(plain.into(), found[1].pointer(value["path"].as_str()?)?.clone());
    }
    Some(whole.into())
}
