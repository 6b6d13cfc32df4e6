//! `/v1/contacts/merge-suggestions/query`

use harness::TestServer;
use serde_json::{Value, json};

use crate::contacts::people::zoe;

const QUERY: &str = "/v1/contacts/merge-suggestions/query";

/// Two records of one person, across two accounts: the evidence, the result of a merge, and the conflicts.
#[tokio::test]
async fn two_records_of_one_person() {
    let server = TestServer::start().await;
    let (api, zoe) = zoe(&server).await;
    let yan = api.connect_account("yan").await;
    let add = async |connection: &str, mut body: Value| {
        body["connectionId"] = json!(connection);
        api.post("/v1/contacts", body).send().await.expect(201)
    };
    let whole = add(&zoe, json!({ "givenName": "José", "familyName": "García", "emails": [{ "value": "jose.garcia+x@gmail.com" }],
        "phones": [{ "value": "+34 912 345 678" }], "notes": "Madrid" })).await;
    let part = add(
        &yan,
        json!({ "displayName": "Garcia, Jose", "emails": [{ "value": "JoseGarcia@googlemail.com" }],
        "notes": "Valencia" }),
    )
    .await;
    add(&zoe, json!({ "displayName": "Info Desk", "emails": [{ "value": "info@firm.example" }] })).await;
    add(&zoe, json!({ "displayName": "Karl Klein", "emails": [{ "value": "info@firm.example" }] })).await;
    let page = api.post(QUERY, json!({})).send().await.expect(200);
    assert_eq!(page["next_cursor"], Value::Null);
    let found = page["data"].as_array().unwrap();
    assert_eq!(found.len(), 1, "a shared role address is no evidence: {found:#?}");
    let one = &found[0];
    let mut ids = [whole["id"].as_str().unwrap(), part["id"].as_str().unwrap()];
    ids.sort_unstable();
    assert_eq!(one["contactIds"], json!(ids));
    assert!(one["score"].as_f64().unwrap() >= 0.9);
    assert!(one["reasons"].as_array().unwrap().iter().any(|r| r["kind"] == "same_email"), "{one:#}");
    assert_eq!(one["suggestedPrimaryId"], whole["id"], "the more complete one");
    assert_eq!(one["proposed"]["phones"][0]["e164"], "+34912345678");
    let notes = one["conflicts"].as_array().unwrap().iter().find(|c| c["field"] == "notes").unwrap();
    assert_eq!(notes["values"], json!(["Madrid", "Valencia"]));
    let again =
        api.post(QUERY, json!({ "contact_ids": [part["id"]], "minScore": 0.9 })).send().await.expect(200);
    assert_eq!(again["data"], page["data"], "the same contacts have the same id");
    let alone = api.post(QUERY, json!({ "connectionId": zoe })).send().await.expect(200);
    assert_eq!(alone["data"], json!([]), "only the contacts of the query are looked through");
    assert_eq!(
        api.get(format!("/v1/contacts/{}", ids[0])).send().await.expect(200)["mergedInto"],
        Value::Null
    );
}

/// The best come first; a walk is whole.
#[tokio::test]
async fn pages() {
    let server = TestServer::start().await;
    let api = server.client().await;
    api.connect_account("alice").await;
    let all = api.post(QUERY, json!({ "limit": 200, "minScore": 0.5 })).send().await.expect(200);
    let all = all["data"].as_array().unwrap().clone();
    assert!(all.len() >= 3, "alice has people twice");
    let scores: Vec<f64> = all.iter().map(|s| s["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let mut walked = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let body = json!({ "limit": 1, "minScore": 0.5, "cursor": cursor });
        let page = api.post(QUERY, body).send().await.expect(200);
        walked.extend(page["data"].as_array().unwrap().iter().cloned());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(walked, all);
    for (body, field) in [
        (json!({ "minScore": 2 }), "minScore"),
        (json!({ "limit": 0 }), "limit"),
        (json!({ "bookIds": ["cbk_none"] }), "bookIds[0]"),
        (json!({ "contactIds": ["con_none"] }), "contactIds[0]"),
        (json!({ "contactIds": "con_none" }), "contactIds"),
    ] {
        assert_eq!(api.post(QUERY, body).send().await.refused(400, "invalid_parameter")["param"], field);
    }
    api.post(QUERY, json!({ "cursor": "x" })).send().await.refused(400, "invalid_cursor");
    api.post(QUERY, json!({ "connectionId": "conn_none" })).send().await.refused(404, "not_found");
}
