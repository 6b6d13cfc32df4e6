//! The bridge: reads the messages of a client from stdin, one a line, posts each to `/mcp` of the server, and writes the answers to stdout.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, StatusCode};
use runtime::{OperatorAnswer, OperatorClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::{AbortHandle, JoinSet};
use url::Url;

use crate::cli::answer_failure::FailedAnswer;
use crate::cli::output::{answer, print_note};
use crate::cli::server_options::{self, ServerAccess, authorization, url_of};

/// Messages that are posted at a time. The server allows a key a few more.
const MAX_RUNNING: usize = 4;
/// Time limit for the head of an answer: some tools wait for a provider.
const HEAD_TIMEOUT: Duration = Duration::from_secs(150);
/// Longest silence within an answer.
const MAX_SILENCE: Duration = Duration::from_secs(60);
/// Most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 8 << 20;
/// Characters of the client's name that the server is sent.
const MAX_CLIENT_CHARS: usize = 80;
/// The version of the protocol since which headers repeat the method and the name.
const HEADERS_SINCE: &str = "2026-07-28";
/// The field of `_meta` with the version that a request is of.
const VERSION_FIELD: &str = "io.modelcontextprotocol/protocolVersion";
/// Codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const SERVER_ERROR: i32 = -32000;

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");

/// A bridge to a server.
pub struct Bridge {
    client: OperatorClient,
    server: Url,
    url: Url,
    authorization: HeaderValue,
    handshake: Mutex<Handshake>,
}

/// The facts of `initialize` that later requests have in their headers.
#[derive(Clone, Default)]
struct Handshake {
    version: Option<String>,
    /// Name and version of the client.
    client: Option<String>,
}

/// A message of the client.
#[derive(Clone)]
struct ClientMessage {
    /// None of a notification.
    id: Option<Value>,
    method: String,
    content: Value,
}

impl ClientMessage {
    /// The message on a line; none of what is no request and no notification.
    fn parse(line: &str) -> Option<ClientMessage> {
        let content: Value = serde_json::from_str(line).ok()?;
        let method = content.get("method")?.as_str()?.to_owned();
        let id = content.get("id").filter(|id| !id.is_null()).cloned();
        Some(ClientMessage { id, method, content })
    }

    /// The id of the request that a notification cancels.
    fn cancelled_id(&self) -> Option<&Value> {
        let is_cancellation = self.method == "notifications/cancelled";
        is_cancellation.then(|| self.content["params"].get("requestId")).flatten()
    }

    /// The name of a tool, of a prompt or of a resource, which a header repeats.
    fn name(&self) -> Option<&str> {
        let field = match self.method.as_str() {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => return None,
        };
        self.content["params"][field].as_str()
    }
}

impl Bridge {
    /// Returns a bridge to this server.
    ///
    /// # Errors
    /// If there is no API key for it.
    pub fn new(access: &ServerAccess) -> Result<Bridge> {
        Ok(Bridge {
            client: access.client.clone(),
            server: access.server.clone(),
            url: url_of(&access.server, "/mcp"),
            authorization: authorization(access.key()?)?,
            handshake: Mutex::default(),
        })
    }

    /// Runs until stdin is closed and all answers are written.
    pub async fn run(self) -> Result<()> {
        let bridge = Arc::new(self);
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut tasks = JoinSet::new();
        let mut running: HashMap<String, AbortHandle> = HashMap::new();
        loop {
            tokio::select! {
                line = lines.next_line(), if tasks.len() < MAX_RUNNING => {
                    let Some(line) = line.context("cannot read stdin")? else { break };
                    bridge.clone().take(&line, &mut tasks, &mut running)?;
                }
                Some(ended) = tasks.join_next(), if !tasks.is_empty() => {
                    write(ended.ok().flatten())?;
                    running.retain(|_, task| !task.is_finished());
                }
            }
        }
        while let Some(ended) = tasks.join_next().await {
            write(ended.ok().flatten())?;
        }
        Ok(())
    }

    /// Takes a line of the client: starts the request in it, or ends the one that it cancels.
    fn take(
        self: Arc<Self>,
        line: &str,
        tasks: &mut JoinSet<Option<String>>,
        running: &mut HashMap<String, AbortHandle>,
    ) -> Result<()> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let Some(message) = ClientMessage::parse(line) else {
            // An answer of the client asks for none; the server has asked nothing.
            let is_json = serde_json::from_str::<Value>(line).is_ok();
            let error = error_message(&Value::Null, PARSE_ERROR, "a line is not a message of JSON-RPC");
            return write((!is_json).then_some(error));
        };
        if let Some(task) = message.cancelled_id().and_then(|id| running.remove(&id.to_string())) {
            task.abort();
            return Ok(());
        }
        let id = message.id.as_ref().map(Value::to_string);
        let task = tasks.spawn(async move { self.exchange(&message).await });
        if let Some(id) = id {
            running.insert(id, task);
        }
        Ok(())
    }

    /// Posts a message, and returns the line with the answer; none for a notification.
    async fn exchange(&self, message: &ClientMessage) -> Option<String> {
        let body = Bytes::from(message.content.to_string());
        let sent = self.client.send(Method::POST, &self.url, self.headers(message), body, HEAD_TIMEOUT).await;
        let answered = match sent {
            Ok(answer) => self.read(message, answer).await,
            Err(e) => Err(server_options::describe_failure(&self.server, &e)),
        };
        match (answered, &message.id) {
            (Ok(answer), Some(_)) => answer,
            (Ok(_), None) => None,
            (Err(why), Some(id)) => Some(error_message(id, SERVER_ERROR, &why)),
            (Err(why), None) => {
                print_note(&format!("{}: {why}", message.method));
                None
            }
        }
    }

    /// Reads the answer to a message. An error that the server gave without the id of the request gets it.
    async fn read(&self, message: &ClientMessage, answer: OperatorAnswer) -> Result<Option<String>, String> {
        let (status, headers) = (answer.status, answer.headers.clone());
        let body = answer.whole(MAX_ANSWER_BYTES, MAX_SILENCE).await;
        let body = body.map_err(|e| server_options::describe_failure(&self.server, &e))?;
        if status == StatusCode::ACCEPTED.as_u16() {
            return Ok(None);
        }
        let parsed = serde_json::from_slice::<Value>(&body).ok().filter(|json| json["jsonrpc"].is_string());
        let Some(mut json) = parsed else {
            let failed = FailedAnswer { server: &self.server, status, headers: &headers, body: &body };
            return Err(format!("{:#}", failed.error()));
        };
        if let Some(id) = &message.id
            && json["id"].is_null()
        {
            json["id"] = id.clone();
        }
        if message.method == "initialize" {
            self.remember(message, &json);
        }
        Ok(Some(json.to_string()))
    }

    /// Remembers the version that was agreed on, and the name of the client.
    fn remember(&self, message: &ClientMessage, answer: &Value) {
        let client = &message.content["params"]["clientInfo"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let name = text(&client["name"]).map(|name| match client["version"].as_str() {
            Some(version) => format!("{name}/{version}"),
            None => name,
        });
        if let Ok(mut handshake) = self.handshake.lock() {
            *handshake = Handshake { version: text(&answer["result"]["protocolVersion"]), client: name };
        }
    }

    fn headers(&self, message: &ClientMessage) -> HeaderMap {
        let handshake = self.handshake.lock().map(|handshake| handshake.clone()).unwrap_or_default();
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(USER_AGENT, user_agent(handshake.client.as_deref()));
        if message.method == "initialize" {
            return headers;
        }
        let own = message.content["params"]["_meta"][VERSION_FIELD].as_str().map(str::to_owned);
        let Some(version) = own.or(handshake.version) else { return headers };
        insert(&mut headers, PROTOCOL_VERSION, &version);
        if version.as_str() >= HEADERS_SINCE {
            insert(&mut headers, MCP_METHOD, &message.method);
            if let Some(name) = message.name() {
                insert(&mut headers, MCP_NAME, &header_text(name));
            }
        }
        headers
    }
}

/// Writes a line to the client.
fn write(line: Option<String>) -> Result<()> {
    line.map_or(Ok(()), |line| answer(&line))
}

/// Adds a header if its value can be one; the server says what is missing otherwise.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

/// A name as a header has it: in Base64 if it has other characters than visible ASCII.
fn header_text(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') && name.trim() == name;
    if is_plain && !name.starts_with("=?base64?") {
        return name.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(name))
}

/// The `User-Agent` of requests: the client, and this program.
fn user_agent(client: Option<&str>) -> HeaderValue {
    let own = HeaderValue::from_static(server_options::USER_AGENT);
    let Some(client) = client else { return own };
    let client: String =
        client.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(MAX_CLIENT_CHARS).collect();
    HeaderValue::try_from(format!("{client} {}", server_options::USER_AGENT)).unwrap_or(own)
}

fn error_message(id: &Value, code: i32, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_notifications_are_messages() {
        let request = ClientMessage::parse(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_mail"}}"#,
        );
        let request = request.expect("a request");
        assert_eq!((request.id.clone(), request.name()), (Some(json!(1)), Some("search_mail")));
        let line = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#;
        let cancelled = ClientMessage::parse(line).expect("a notification");
        assert_eq!((cancelled.id.clone(), cancelled.cancelled_id()), (None, Some(&json!("a"))));
        assert!(ClientMessage::parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).is_none());
        assert!(ClientMessage::parse("hello").is_none());
    }

    #[test]
    fn a_name_survives_a_header() {
        assert_eq!(header_text("search_mail"), "search_mail");
        assert_eq!(
            header_text("switchboard://messages/ü"),
            "=?base64?c3dpdGNoYm9hcmQ6Ly9tZXNzYWdlcy/DvA==?="
        );
        assert!(
            header_text(" a").starts_with("=?base64?")
                && header_text("=?base64?a?=").starts_with("=?base64?PT")
        );
    }

    #[test]
    fn the_server_learns_the_client() {
        let agent = user_agent(Some("Some Client\u{7f}/1.0\n"));
        assert_eq!(agent, format!("Some Client/1.0 {}", server_options::USER_AGENT).as_str());
        assert_eq!(user_agent(None), server_options::USER_AGENT);
    }
}
