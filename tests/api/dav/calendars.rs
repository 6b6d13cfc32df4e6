//! Calendars on real CalDAV servers.

use std::collections::BTreeSet;

use harness::door::{Account, Door};
use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::dav::{connect, peer, server};

/// Connect, list, create twice under one key, change, a stale etag, the feed, a series and its instances, busy times, delete.
async fn main_job(url: &str, user: &str) {
    let server = server().await;
    let api = server.client().await;
    let connection = connect(&api, url, user).await;
    assert_eq!((&connection["status"], &connection["provider"]), (&json!("active"), &json!("dav")));
    let body = json!({ "connectionId": connection["id"], "name": "Main job", "timeZone": "Europe/Berlin" });
    let calendar = api.post("/v1/calendars", body).send().await.expect(201);
    let id = calendar["id"].as_str().expect("an id").to_owned();
    let listed =
        api.all(&format!("/v1/calendars?connection_id={}", connection["id"].as_str().expect("an id"))).await;
    assert!(listed.iter().any(|c| c["id"] == calendar["id"]));
    let path = format!("/v1/calendars/{id}/events");

    let lunch = json!({ "title": "Lunch", "start": "2027-03-02T11:00:00Z", "end": "2027-03-02T12:00:00Z", "timeZone": "Europe/Berlin" });
    let made = api.post(&path, lunch.clone()).keyed("lunch").send().await.expect(201);
    let again = api.post(&path, lunch).keyed("lunch").send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), made);
    let event = format!("{path}/{}", made["id"].as_str().expect("an id"));
    let etag = made["etag"].as_str().expect("an etag");

    api.post(format!("/v1/calendars/{id}/sync/start"), json!({})).send().await.expect(202);
    let feed = format!("/v1/calendars/{id}/sync/changes");
    let first = api.get(&feed).send().await.expect(200);
    let told: BTreeSet<&str> =
        first["data"].as_array().expect("a list").iter().filter_map(|c| c["resourceId"].as_str()).collect();
    assert_eq!(told, BTreeSet::from([made["id"].as_str().expect("an id")]));
    let cursor = first["sync_cursor"].as_str().expect("a cursor").to_owned();

    let changed = api.patch(&event, json!({ "title": "Long lunch" })).if_match(etag).send().await.expect(200);
    assert_eq!((&changed["title"], &changed["start"]), (&json!("Long lunch"), &made["start"]));
    let stale = api.patch(&event, json!({ "title": "No lunch" })).if_match(etag).send().await;
    assert_eq!(stale.refused(409, "stale_etag")["current_etag"], changed["etag"]);
    let next = api.get(format!("{feed}?cursor={cursor}")).send().await.expect(200);
    let told: Vec<(&Value, &Value)> = next["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|c| (&c["changeType"], &c["resource"]["title"]))
        .collect();
    assert_eq!(told, [(&json!("updated"), &json!("Long lunch"))]);

    series(&api, &path).await;
    let query = json!({
        "start": "2027-03-02T00:00:00Z", "end": "2027-03-03T00:00:00Z",
        "targets": [{ "connectionId": connection["id"], "calendarIds": [id] }]
    });
    let busy = api.post("/v1/calendars/freebusy/query", query).send().await.expect(200);
    assert_eq!(
        (&busy["complete"], &busy["data"][0]["busy"][0]["start"]),
        (&json!(true), &json!("2027-03-02T11:00:00.000Z"))
    );
    api.post(format!("{event}/conference"), json!({})).send().await.refused(400, "capability_not_supported");
    api.post(format!("{event}/accept"), json!({})).send().await.refused(409, "not_an_attendee");

    api.delete(&event).send().await.expect(204);
    api.get(&event).send().await.refused(404, "not_found");
    api.delete(format!("/v1/calendars/{id}")).send().await.expect(204);
    let connection = format!("/v1/connections/{}", connection["id"].as_str().expect("an id"));
    api.post(format!("{connection}/refresh"), json!({})).send().await.expect(200);
    api.delete(&connection).send().await.expect(204);
    api.get(&connection).send().await.refused(404, "not_found");
}

/// One instance moved, one deleted, the rest from one on renamed: over the change of clocks on 28 March 2027.
async fn series(api: &Actor, path: &str) {
    let body = json!({
        "title": "Stand-up", "start": "2027-03-22T08:00:00Z", "end": "2027-03-22T08:15:00Z",
        "timeZone": "Europe/Berlin", "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=5"]
    });
    api.post(path, body).send().await.expect(201);
    let range = format!("{path}?expand=true&start=2027-03-20T00:00:00Z&end=2027-05-01T00:00:00Z");
    let instances = api.all(&range).await;
    let id = |n: usize| format!("{path}/{}", instances[n]["id"].as_str().expect("an id"));
    assert_eq!(instances.len(), 5);
    assert_eq!(instances[1]["start"], "2027-03-29T07:00:00.000Z");
    let moved = json!({ "start": "2027-03-29T10:00:00Z", "end": "2027-03-29T10:15:00Z" });
    assert_eq!(api.patch(id(1), moved).send().await.expect(200)["type"], "exception");
    api.delete(id(2)).send().await.expect(204);
    let rest = json!({ "title": "Late stand-up", "recurrenceScope": "thisAndFollowing" });
    assert_eq!(api.patch(id(3), rest).send().await.expect(200)["type"], "series");
    let now: Vec<(Value, Value)> =
        api.all(&range).await.iter().map(|i| (i["start"].clone(), i["title"].clone())).collect();
    let expected = [
        ("2027-03-22T08:00:00.000Z", "Stand-up"),
        ("2027-03-29T10:00:00.000Z", "Stand-up"),
        ("2027-04-12T07:00:00.000Z", "Late stand-up"),
        ("2027-04-19T07:00:00.000Z", "Late stand-up"),
    ];
    assert_eq!(now, expected.map(|(start, title)| (json!(start), json!(title))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_main_job_on_radicale() {
    if let Some(url) = peer("RADICALE_URL") {
        main_job(&url, "t05").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_main_job_on_cyrus() {
    if let Some(url) = peer("CYRUS_URL") {
        main_job(&url, "t05").await;
    }
}

/// Changes by another client on the server are reported once, in both directions: the local copy follows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_clients_changes_are_told() {
    let Some(url) = peer("RADICALE_URL") else { return };
    let server = server().await;
    let (here, there) = (server.key("here", |_| {}).await, server.key("there", |_| {}).await);
    let (own, other) = (connect(&here, &url, "t06").await, connect(&there, &url, "t06").await);
    let body = json!({ "connectionId": own["id"], "name": "Shared" });
    let calendar = here.post("/v1/calendars", body).send().await.expect(201);
    let seen = there.calendar(&other, "Shared").await;
    let path = format!("/v1/calendars/{}", calendar["id"].as_str().expect("an id"));
    here.post(format!("{path}/sync/start"), json!({})).send().await.expect(202);
    let first = here.get(format!("{path}/sync/changes")).send().await.expect(200);
    assert_eq!(first["data"], json!([]));
    let mut cursor = first["sync_cursor"].as_str().expect("a cursor").to_owned();

    let theirs = format!("/v1/calendars/{seen}/events");
    let body = json!({ "title": "Theirs", "start": "2027-03-02T11:00:00Z", "end": "2027-03-02T12:00:00Z" });
    let event = there.post(&theirs, body).send().await.expect(201);
    let event_path = format!("{theirs}/{}", event["id"].as_str().expect("an id"));
    for (change, title) in
        [("created", json!("Theirs")), ("updated", json!("Theirs 2")), ("deleted", Value::Null)]
    {
        match change {
            "updated" => {
                drop(there.patch(&event_path, json!({ "title": "Theirs 2" })).send().await.expect(200))
            }
            "deleted" => drop(there.delete(&event_path).send().await.expect(204)),
            _ => {}
        }
        let url = format!("{path}/sync/changes?cursor={cursor}");
        let page = here.get(url).header("cache-control", "no-cache").send().await.expect(200);
        let told: Vec<(&Value, &Value)> = page["data"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|c| (&c["changeType"], &c["resource"]["title"]))
            .collect();
        assert_eq!(told, [(&json!(change), &title)]);
        cursor = page["sync_cursor"].as_str().expect("a cursor").to_owned();
    }
    here.delete(path).send().await.expect(204);
}

/// Wrong credentials, a server that is not there, and a place that the operator did not allow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_is_checked_before_it_is_stored() {
    let Some(url) = peer("RADICALE_URL") else { return };
    let server = server().await;
    let api = server.client().await;
    let body = |url: &str, password: &str| {
        json!({
            "provider": "dav", "settings": { "serverUrl": url },
            "credentials": { "username": "t05", "password": password }, "scopes": ["calendar.read"],
        })
    };
    let error =
        api.post("/v1/connections", body(&url, "wrong")).send().await.refused(400, "provider_rejected");
    assert_eq!(error["param"], "credentials");
    api.post("/v1/connections", body("http://127.0.0.1:9/", "secret"))
        .send()
        .await
        .refused(503, "provider_unavailable");
    let metadata = api.post("/v1/connections", body("http://169.254.169.254/", "secret")).send().await;
    let error = metadata.refused(400, "provider_rejected");
    assert_eq!(error["param"], "settings");
    assert_eq!(error["message"], "the operator does not allow requests to this address");
    let mut missing = body(&url, "secret");
    missing["settings"] = json!({});
    let error = api.post("/v1/connections", missing).send().await.refused(400, "missing_field");
    assert_eq!(error["param"], "settings.serverUrl");
    let error = api
        .post("/v1/connections", body("ftp://example.com", "secret"))
        .send()
        .await
        .refused(400, "invalid_url");
    assert_eq!(error["param"], "settings.serverUrl");
    assert_eq!(api.all("/v1/connections").await, Vec::<Value>::new());
}

/// A server that takes access tokens, under a certificate that only the operator's own authority vouches for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_access_token_over_tls() {
    let Some(url) = peer("RADICALE_URL") else { return };
    let account = Account { token: "token-of-t07-0123456789", user: "t07", password: "secret" };
    let door = Door::open(&url, account.clone()).await;
    let body = |token: &str| {
        json!({
            "provider": "dav", "settings": { "serverUrl": door.origin },
            "credentials": { "accessToken": token }, "scopes": ["calendar.read", "calendar.write"],
        })
    };
    let suspicious = server().await;
    let refused = suspicious.client().await.post("/v1/connections", body(account.token)).send().await;
    refused.refused(503, "provider_unavailable");

    let files = tempfile::tempdir().expect("a folder");
    let authority = files.path().join("authority.pem");
    std::fs::write(&authority, &door.authority_pem).expect("a file");
    let trusting = TestServer::builder().real_time().config(|c| {
        c.egress_allow = vec!["127.0.0.0/8".parse().expect("a network")];
        c.ca_files = vec![authority];
    });
    let trusting = trusting.start().await;
    let api = trusting.client().await;
    let wrong = api.post("/v1/connections", body("token-of-nobody-0123456789")).send().await;
    assert_eq!(wrong.refused(400, "provider_rejected")["param"], "credentials");
    let connection = api.connect(body(account.token)).await;
    let new = json!({ "connectionId": connection["id"], "name": "Behind the door" });
    let calendar = api.post("/v1/calendars", new).send().await.expect(201);
    let path = format!("/v1/calendars/{}", calendar["id"].as_str().expect("an id"));
    let event = json!({ "title": "In", "start": "2027-03-02T11:00:00Z", "end": "2027-03-02T12:00:00Z" });
    let made = api.post(format!("{path}/events"), event).send().await.expect(201);
    assert_eq!(api.all(&format!("{path}/events")).await, [made]);
    api.delete(path).send().await.expect(204);
}
