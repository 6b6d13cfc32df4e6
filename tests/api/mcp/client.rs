//! A client of `/mcp`: JSON-RPC over the harness's HTTP client.

use harness::{Actor, Ask};
use reqwest::Method;
use serde_json::{Map, Value, json};

/// The version of the protocol whose requests describe themselves.
pub const CURRENT: &str = "2026-07-28";
/// The last version with a handshake.
pub const LEGACY: &str = "2025-11-25";

/// A client with an API key.
#[derive(Clone)]
pub struct McpClient {
    actor: Actor,
    version: &'static str,
    capabilities: Value,
}

impl McpClient {
    /// Returns a client of the current version that cannot show questions.
    pub fn new(actor: &Actor) -> McpClient {
        McpClient::of_version(actor, CURRENT)
    }

    pub fn of_version(actor: &Actor, version: &'static str) -> McpClient {
        McpClient { actor: actor.clone(), version, capabilities: json!({}) }
    }

    /// Declares that the client can show a form to the person.
    pub fn asking(mut self) -> McpClient {
        self.capabilities = json!({ "elicitation": { "form": {} } });
        self
    }

    /// Returns the HTTP request of a method with these parameters.
    pub fn ask(&self, method: &str, params: Value) -> Ask {
        let mut message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        if self.version == CURRENT {
            message["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": { "name": "test-client", "version": "1.0" },
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        let name =
            ["name", "uri"].iter().find_map(|field| message["params"][*field].as_str()).map(str::to_owned);
        let mut ask = self.actor.ask(Method::POST, "/mcp".to_owned(), Some(message));
        ask = ask.header("accept", "application/json, text/event-stream");
        if method != "initialize" {
            ask = ask.header("mcp-protocol-version", self.version);
        }
        if self.version == CURRENT {
            ask = ask.header("mcp-method", method);
            if let Some(name) = name {
                ask = ask.header("mcp-name", &name);
            }
        }
        ask
    }

    /// Returns the result of a request that succeeds.
    pub async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).send().await.expect(200);
        assert!(answer["result"].is_object() && answer["id"] == 1, "{answer:#}");
        answer["result"].clone()
    }

    /// Returns the JSON-RPC error of a request that fails.
    pub async fn error(&self, method: &str, params: Value) -> Value {
        let exchange = self.ask(method, params).send().await;
        assert!(exchange.answer["error"].is_object(), "{exchange}");
        exchange.answer["error"].clone()
    }

    /// Calls a tool, and returns its result, which may be an error or a question.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Calls a tool again, with the person's decision about the question of the first call.
    pub async fn answer(&self, tool: &str, arguments: Value, state: &str, decision: &str) -> Value {
        let answer = json!({ "action": "accept", "content": { "decision": decision } });
        let params = json!({
            "name": tool,
            "arguments": arguments,
            "requestState": state,
            "inputResponses": { "confirmation": answer },
        });
        self.result("tools/call", params).await
    }

    /// Returns the tools that the key has, by their names.
    pub async fn tools(&self) -> Map<String, Value> {
        let listed = self.result("tools/list", json!({})).await;
        let tools = listed["tools"].as_array().expect("a list").clone();
        tools.into_iter().map(|tool| (tool["name"].as_str().expect("a name").to_owned(), tool)).collect()
    }
}

/// The text of a result.
pub fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result:#}"))
}

/// The error of a result that is one.
pub fn error_of(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result:#}");
    let error: Value = serde_json::from_str(text_of(result)).expect("an error is JSON");
    error["error"].clone()
}
