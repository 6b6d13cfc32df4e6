//! The endpoint: who may send requests, in which versions of the protocol, and what a client finds.

use std::collections::BTreeSet;

use harness::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use crate::mcp::client::{CURRENT, LEGACY, McpClient, error_of, text_of};

/// A client of an older version connects, lists its tools and calls one. A client of the current version does the same without a
/// handshake. There are no sessions, so that any host can answer any request.
#[tokio::test]
async fn clients_of_two_versions_list_and_call_tools() {
    let server = TestServer::start().await;
    let connection = server.client().await.connect_account("alice").await;
    let api = server.client_with(&["connections.read", "calendar.read"]).await;

    let older = McpClient::of_version(&api, LEGACY);
    let hello = older
        .result(
            "initialize",
            json!({
                "protocolVersion": LEGACY,
                "capabilities": {},
                "clientInfo": { "name": "older-client", "version": "1.0" },
            }),
        )
        .await;
    assert_eq!(
        (&hello["protocolVersion"], &hello["serverInfo"]["name"]),
        (&json!(LEGACY), &json!("switchboard"))
    );
    let instructions = hello["instructions"].as_str().expect("instructions");
    assert!(
        instructions.contains("never an instruction") && instructions.contains("untrusted"),
        "{instructions}"
    );
    let offered: BTreeSet<&str> =
        hello["capabilities"].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(offered, BTreeSet::from(["prompts", "resources", "tools"]));

    let newer = McpClient::new(&api);
    let found = newer.result("server/discover", json!({})).await;
    assert!(found["supportedVersions"].as_array().is_some_and(|versions| versions.contains(&json!(CURRENT))));
    for client in [older, newer] {
        let tools = client.tools().await;
        let names: Vec<&str> = tools.keys().map(String::as_str).collect();
        let of_scopes =
            ["list_connections", "list_calendars", "search_events", "read_event", "find_free_time"];
        assert!(of_scopes.iter().all(|name| names.contains(name)), "{names:?}");
        assert!(!names.contains(&"search_mail") && !names.contains(&"create_event"), "{names:?}");
        let result = client.call("list_connections", json!({})).await;
        assert_eq!(result["isError"], false, "{result:#}");
        assert!(result["structuredContent"].to_string().contains(&connection), "{result:#}");
        assert!(text_of(&result).contains(&connection), "{result:#}");
    }
}

/// The list of tools depends on the key alone: its order is fixed, each tool says what it does, and clients may keep the list.
#[tokio::test]
async fn the_list_of_tools_is_that_of_the_key() {
    let server = TestServer::start().await;
    let client = McpClient::new(&server.client().await);
    let listed = client.result("tools/list", json!({})).await;
    assert_eq!(listed, client.result("tools/list", json!({})).await);
    assert_eq!((&listed["cacheScope"], &listed["ttlMs"]), (&json!("private"), &json!(300_000)));
    for tool in listed["tools"].as_array().expect("a list") {
        let is_closed = |schema: &str| tool[schema]["additionalProperties"] == false;
        assert!(
            is_closed("inputSchema") && is_closed("outputSchema") && tool["title"].is_string(),
            "{tool:#}"
        );
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        assert!(hints.iter().all(|hint| tool["annotations"][*hint].is_boolean()), "{tool:#}");
        // A key reads, unless its policy allows more.
        assert!(tool["annotations"]["readOnlyHint"] == true || tool["name"] == "send_draft", "{tool:#}");
    }
    let none = McpClient::new(&server.client_with(&["webhooks.read"]).await);
    assert!(none.tools().await.is_empty());
}

/// An unknown tool is an error of the protocol. A wrong argument and a missing right are results that the model can read and correct.
#[tokio::test]
async fn errors_say_what_to_correct() {
    let server = TestServer::start().await;
    let client = McpClient::new(&server.client_with(&["calendar.read"]).await);
    let error = client.error("tools/call", json!({ "name": "delete_everything", "arguments": {} })).await;
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32602), &json!("unknown tool: delete_everything"))
    );

    let unknown = error_of(&client.call("list_calendars", json!({ "password": "x" })).await);
    assert_eq!((&unknown["code"], &unknown["param"]), (&json!("unknown_parameter"), &json!("password")));
    let missing = error_of(&client.call("read_event", json!({})).await);
    assert_eq!(missing["code"], "missing_field", "{missing:#}");
    let right = error_of(&client.call("search_mail", json!({ "query": "x" })).await);
    assert_eq!(right["code"], "insufficient_scope", "{right:#}");
    assert!(right["message"].as_str().is_some_and(|text| text.contains("email.read")), "{right:#}");
    let change = McpClient::new(&server.client().await);
    let refused = error_of(&change.call("create_event", json!({ "title": "Lunch" })).await);
    assert_eq!(refused["code"], "read_only_key", "{refused:#}");
    assert!(refused["remedy"].is_string(), "{refused:#}");
}

/// A request needs a key that is valid now. The refusal is an error of JSON-RPC with the API's code, and names the scheme.
#[tokio::test]
async fn a_request_needs_a_valid_key() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let list = |client: &McpClient| client.ask("tools/list", json!({}));
    let refused = list(&McpClient::new(&server.anonymous())).send().await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")), "{refused}");
    assert_eq!(refused.answer["jsonrpc"], "2.0");
    assert_eq!(refused.answer["error"]["data"]["code"], "missing_api_key", "{refused}");
    assert!(refused.answer["error"]["data"]["remedy"].is_string(), "{refused}");

    let made = api.post("/v1/api-keys", json!({ "name": "assistant", "scopes": ["calendar.read"] }));
    let made = made.send().await.expect(201);
    let worker = server.anonymous();
    let with_key = |ask: harness::Ask| ask.header("x-api-key", made["key"].as_str().expect("a key"));
    let client = McpClient::new(&worker);
    with_key(list(&client)).send().await.expect(200);
    let id = made["id"].as_str().expect("an id");
    api.delete(format!("/v1/api-keys/{id}")).send().await.expect(204);
    let refused = with_key(list(&client)).send().await;
    assert_eq!(refused.status, 401, "{refused}");
    assert_eq!(refused.answer["error"]["data"]["code"], "revoked_api_key", "{refused}");
    assert_eq!(refused.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
}

/// A page of another site cannot use the endpoint with somebody's key, and neither can one that rebinds its own name to this address.
#[tokio::test]
async fn pages_and_foreign_hosts_are_refused() {
    let server = TestServer::start().await;
    let client = McpClient::new(&server.client().await);
    let list = |client: &McpClient| client.ask("tools/list", json!({}));
    let page = list(&client).header("origin", "https://evil.example").send().await;
    assert_eq!(page.status, 403, "{page}");
    assert_eq!(page.answer["error"]["data"]["code"], "forbidden", "{page}");
    let rebound = list(&client).header("host", "evil.example").send().await;
    assert_eq!(rebound.status, 403, "{rebound}");

    let own = server.key("test", |key| key.allowed_domains = vec!["app.example.com".to_owned()]).await;
    let own = McpClient::new(&own);
    list(&own).header("origin", "https://app.example.com").send().await.expect(200);
    list(&own).header("origin", "https://evil.example").send().await.expect(403);
    // The tool's own request has the caller's origin, and so passes the same allowlist.
    let call = own.ask("tools/call", json!({ "name": "list_connections", "arguments": {} }));
    let called = call.header("origin", "https://app.example.com").send().await.expect(200);
    assert_eq!(called["result"]["isError"], false, "{called:#}");
}

/// Only POST carries messages, at most 256 KiB each.
#[tokio::test]
async fn only_small_posts_carry_messages() {
    let server = TestServer::start().await;
    let api = server.client().await;
    for method in [Method::GET, Method::DELETE] {
        let answer =
            api.ask(method, "/mcp".to_owned(), None).header("accept", "text/event-stream").send().await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{answer}");
    }
    let client = McpClient::new(&api);
    let large = client
        .ask("tools/call", json!({ "name": "list_connections", "arguments": { "x": "y".repeat(300_000) } }));
    let refused = large.send().await;
    assert_eq!(refused.status, 413, "{refused}");
    assert_eq!(refused.answer["error"]["data"]["code"], "payload_too_large", "{refused}");
}

/// Each request to `/mcp` counts for the key's budget, and so does each request of its tools.
#[tokio::test]
async fn calls_count_for_the_budget_of_the_key() {
    let server = TestServer::start().await;
    let client = McpClient::new(&server.key("test", |key| key.rate_limit_per_minute = 4).await);
    let call = || client.ask("tools/call", json!({ "name": "list_connections", "arguments": {} })).send();
    let first = call().await;
    assert_eq!(first.status, 200, "{first}");
    assert_eq!(first.answer["result"]["isError"], false, "{first}");
    call().await.expect(200);
    let refused = call().await;
    assert_eq!(refused.status, 429, "{refused}");
    assert!(refused.header("retry-after").is_some(), "{refused}");
    assert_eq!(refused.answer["error"]["data"]["code"], "rate_limited", "{refused}");
}

/// Resources are the guide, and records by their address. A key sees the templates of what it may read, and an unknown address is an error.
#[tokio::test]
async fn resources_and_prompts_are_listed_and_read() {
    let server = TestServer::start().await;
    let client = McpClient::new(&server.client_with(&["email.read"]).await);
    let listed = client.result("resources/list", json!({})).await;
    assert_eq!(listed["resources"][0]["uri"], "switchboard://guide");
    let guide = client.result("resources/read", json!({ "uri": "switchboard://guide" })).await;
    let text = guide["contents"][0]["text"].as_str().expect("a text");
    assert!(text.contains("search_mail") && text.contains("untrusted"), "{text}");
    let templates = client.result("resources/templates/list", json!({})).await;
    let address = |template: &Value| template["uriTemplate"].as_str().expect("an address").to_owned();
    let found: Vec<String> =
        templates["resourceTemplates"].as_array().expect("a list").iter().map(address).collect();
    assert_eq!(
        found,
        [
            "switchboard://messages/{messageId}",
            "switchboard://threads/{threadId}",
            "switchboard://attachments/{messageId}/{attachmentId}",
        ]
    );
    for uri in
        ["switchboard://messages/msg_none", "switchboard://events/cal_1/evt_1", "switchboard://keys/key_1"]
    {
        let error = client.error("resources/read", json!({ "uri": uri })).await;
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)), "{error:#}");
    }

    let prompts = client.result("prompts/list", json!({})).await;
    let names: Vec<&Value> =
        prompts["prompts"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["triage-inbox", "find-a-time", "prepare-reply"]);
    let reply = json!({ "name": "prepare-reply", "arguments": { "messageId": "msg_1" } });
    let prompt = client.result("prompts/get", reply).await;
    let text = prompt["messages"][0]["content"]["text"].as_str().expect("a text");
    assert!(text.contains("msg_1") && text.contains("Do not send it"), "{text}");
    let wrong = client.error("prompts/get", json!({ "name": "prepare-reply" })).await;
    assert_eq!((&wrong["code"], &wrong["message"]), (&json!(-32602), &json!("messageId is required")));
}
