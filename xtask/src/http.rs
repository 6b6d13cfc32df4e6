//! A small client of the HTTP API: one request, one response, both of which can be shown.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::Agent;
use ureq::http::{HeaderMap, Request};

/// Maximum time of a response, for a slow provider.
const TIMEOUT: Duration = Duration::from_secs(60);
/// An array longer than this is shown by its first items.
const SHOWN_ITEMS: usize = 3;
/// A body longer than this many lines is cut.
const SHOWN_LINES: usize = 70;

/// A client with a base URL and an API key.
pub struct Client {
    agent: Agent,
    base: String,
    key: String,
}

/// A response, with its duration.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
    pub took: Duration,
}

impl Client {
    /// A client of the server at `base` (without a slash at the end).
    pub fn new(base: &str, key: &str) -> Client {
        // The server is on this machine: a proxy of the environment is ignored.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .proxy(None)
            .max_redirects(0)
            .build();
        Client { agent: Agent::new_with_config(config), base: base.to_owned(), key: key.to_owned() }
    }

    /// Sends one request with the key; any status is an answer.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if !self.key.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.key));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let start = Instant::now();
        let exchange = || format!("{method} {path}");
        let mut response = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.agent.run(request.body(body.to_string()).with_context(exchange)?)
            }
            None => self.agent.run(request.body(()).with_context(exchange)?),
        }
        .with_context(exchange)?;
        let text = response.body_mut().read_to_string().with_context(exchange)?;
        let body = match text.is_empty() {
            true => Value::Null,
            false => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        };
        let status = response.status().as_u16();
        Ok(Answer { status, headers: response.headers().clone(), body, took: start.elapsed() })
    }

    /// Sends a GET that must answer 200, and returns its body.
    pub fn get(&self, path: &str) -> Result<Value> {
        self.send("GET", path, &[], None)?.expect(&[200])
    }
}

impl Answer {
    /// Returns the body if the status is one of `statuses`; else an error with the whole response.
    pub fn expect(self, statuses: &[u16]) -> Result<Value> {
        if !statuses.contains(&self.status) {
            bail!("expected status {statuses:?}, got {}:\n{}", self.status, render_body(&self.body));
        }
        Ok(self.body)
    }

    /// The value of a header, empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A body for people: pretty, with long arrays and long texts cut.
pub fn render_body(body: &Value) -> String {
    let text = match body {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(&abridge(other)).unwrap_or_default(),
    };
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() > SHOWN_LINES {
        true => format!("{}\n… {} more lines", lines[..SHOWN_LINES].join("\n"), lines.len() - SHOWN_LINES),
        false => text,
    }
}

fn abridge(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.len() > SHOWN_ITEMS => {
            let mut first: Vec<Value> = items.iter().take(1).map(abridge).collect();
            first.push(Value::String(format!("… {} more", items.len() - 1)));
            Value::Array(first)
        }
        Value::Array(items) => items.iter().map(abridge).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), abridge(value))).collect(),
        other => other.clone(),
    }
}
