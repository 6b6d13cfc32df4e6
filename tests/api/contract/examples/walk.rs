//! A walk: requests in order, as a file of steps says, whose answers become the examples.

use std::cell::Cell;
use std::collections::BTreeMap;

use harness::browser::{Browser, Consent, parameter};
use harness::receiver::Receiver;
use harness::{Actor, Ask, Exchange, TestServer};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use service::app::request_log::writing;
use switchboard::api;
use switchboard::api::operation::Operation;

use crate::admin_api::admin;
use crate::admin_api::jobs::enqueue;
use crate::contract::examples::stand_ins::StandIns;
use crate::oauth::{register, tenant};
use crate::test_mode::test_client;

/// The address to which the users of the walks' application return.
const REDIRECT: &str = "https://app.example.com/connected";

/// One step of a walk. In its texts `{{name}}` stands for a value that an earlier step saved.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Method and path of an operation: `GET /v1/tasks/{taskId}?fields=summary`. A parameter of the path is a saved value of its name.
    #[serde(default)]
    call: String,
    /// Other work between the calls.
    #[serde(default)]
    work: Option<Work>,
    /// Saved values under further names: new name and old name.
    #[serde(default, rename = "let")]
    renamed: BTreeMap<String, String>,
    /// `admin`, `test` (a key of a test application), `anonymous`, or `browser`, which is sent on; else the application's key.
    #[serde(default, rename = "as")]
    caller: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
    /// A form, instead of a body.
    #[serde(default)]
    form: String,
    /// Values of the answer to save: name and JSON pointer. `redirect:code` is the parameter `code` of the address that the answer leads to,
    /// `first:isPrimary` the id of the first item whose field `isPrimary` is true.
    #[serde(default)]
    save: BTreeMap<String, String>,
    /// Whether the exchange is preparation: it is no example.
    #[serde(default)]
    quiet: bool,
    /// Whether the call is refused on purpose.
    #[serde(default)]
    fails: bool,
    /// Whether webhooks are delivered during the call, which waits for that.
    #[serde(default)]
    delivering: bool,
}

/// The work of a service and its surroundings between two calls.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Work {
    Pull,
    Deliver,
    HandOver,
    AdvanceMs(i64),
    /// Sets the clock to the present: for steps whose answers depend on the machine.
    ToPresent,
    /// Makes the receiver of webhooks answer the next request with this status.
    Answer(u16),
    /// Writes the log of requests, until it has one that was refused.
    LogRequests,
    /// Queues a job that may be cancelled, `report:msg_waits`.
    QueueReport,
    /// Consents as alice at the address that is saved as `authorizationUrl`, and saves the query of the callback as `callback`.
    Consent,
}

/// An exchange of the document.
#[derive(Serialize)]
pub struct Example {
    request: ExampleRequest,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Value>,
}

#[derive(Serialize)]
struct ExampleRequest {
    method: String,
    /// The path with its query.
    path: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
}

/// A server, its callers, and what was saved.
pub struct Walk {
    server: TestServer,
    application: Actor,
    admin: Actor,
    receiver: Receiver,
    saved: BTreeMap<String, String>,
    stand_ins: StandIns,
    examples: BTreeMap<String, Example>,
}

impl Walk {
    pub async fn start() -> Walk {
        let loopback = "127.0.0.0/8".parse().expect("a network");
        let builder = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]);
        let server = builder.without_pulls().repeatable().start().await;
        let application = server.client().await;
        register(&server, &application, REDIRECT).await;
        let admin = admin(&server, &["admin.read", "admin.write", "admin.operators"]).await;
        let receiver = Receiver::start().await;
        let hook = receiver.url();
        let address = format!("http://{}", server.address);
        let in_query = address.replace(':', "%3A").replace('/', "%2F");
        let stand_ins = StandIns::new(&[
            (hook.as_str(), "https://app.example.com/webhooks"),
            (address.as_str(), "https://api.example.com"),
            (in_query.as_str(), "https%3A%2F%2Fapi.example.com"),
        ]);
        let tenant = tenant(&server, &application).await;
        let saved = [
            ("hook", hook),
            ("redirect", REDIRECT.to_owned()),
            ("provider", "sandbox".to_owned()),
            ("oauthProvider", "google".to_owned()),
            ("application", tenant.application_id),
        ];
        let saved = saved.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Walk { server, application, admin, receiver, saved, stand_ins, examples: BTreeMap::new() }
    }

    /// Takes all steps of a file, and returns the examples by operation.
    pub async fn take(mut self, steps: &str) -> BTreeMap<String, Example> {
        let steps: Vec<Step> = serde_json::from_str(steps).expect("steps");
        for step in steps {
            let before = self.saved.clone();
            let renamed = step.renamed.iter().map(|(new, old)| (new.clone(), before[old].clone()));
            self.saved.extend(renamed);
            match &step.work {
                Some(work) => self.work(work).await,
                None if step.call.is_empty() => (),
                None => self.call(step).await,
            }
        }
        self.examples
    }

    async fn work(&mut self, work: &Work) {
        match work {
            Work::Pull => {
                self.server.pull().await;
            }
            Work::Deliver => self.server.deliver().await,
            Work::HandOver => self.server.hand_over().await,
            Work::AdvanceMs(ms) => self.server.clock.advance_ms(*ms),
            Work::ToPresent => {
                let late = base::clock::Clock::system().now_ms() - self.server.clock.now_ms();
                self.server.clock.advance_ms(late);
            }
            Work::LogRequests => self.log_requests().await,
            Work::QueueReport => {
                enqueue(&self.server, &tenant(&self.server, &self.application).await).await;
            }
            Work::Answer(status) => self.receiver.answer(*status, &[]),
            Work::Consent => {
                let url = self.saved.get("authorizationUrl").expect("an authorization");
                let back = Browser::default().consent(url, "alice@sandbox.test", Consent::Allow).await;
                let query = back.split_once('?').expect("a query").1.to_owned();
                self.saved.insert("callback".to_owned(), query);
            }
        }
    }

    async fn call(&mut self, step: Step) {
        let (method, template) = step.call.split_once(' ').expect("a method and a path");
        let method: Method = method.parse().expect("a method");
        let path = self.filled(
            &template.replace('{', "{{").replace('}', "}}").replace("{{{{", "{{").replace("}}}}", "}}"),
        );
        let mut body = step.body;
        self.fill(&mut body);
        let actor = match step.caller.as_str() {
            "" => self.application.clone(),
            "admin" => self.admin.clone(),
            "test" => test_client(&self.server).await,
            "anonymous" | "browser" => self.server.anonymous(),
            caller => panic!("{caller} is no caller"),
        };
        let mut ask = actor.ask(method.clone(), path.clone(), (!body.is_null()).then(|| body.clone()));
        let headers: BTreeMap<String, String> =
            step.headers.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect();
        for (name, value) in &headers {
            ask = ask.header(name, value);
        }
        if !step.form.is_empty() {
            ask = ask.raw("application/x-www-form-urlencoded", self.filled(&step.form));
        }
        let exchange = match step.caller.as_str() {
            "browser" => self.open(&method, path.clone()).await,
            _ if step.delivering => self.send_delivering(ask).await,
            _ => ask.send().await,
        };
        assert_eq!(step.fails, exchange.status >= 400, "{exchange}");
        for (name, pointer) in &step.save {
            let value = match pointer.split_once(':') {
                Some(("redirect", name)) => exchange.header("location").and_then(|url| parameter(url, name)),
                Some(("first", field)) => first(&exchange.answer, field).map(text),
                _ => exchange.answer.pointer(pointer).map(text),
            };
            let value = value.unwrap_or_else(|| panic!("no {pointer} in {exchange}"));
            self.saved.insert(name.clone(), value);
        }
        let template = template.split('?').next().unwrap_or_default();
        let Some(operation) = find(&method, template) else {
            assert!(step.quiet, "{method} {template} is no operation");
            return;
        };
        if step.quiet || self.examples.contains_key(&operation) {
            return;
        }
        let is_json =
            exchange.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        let form = (!step.form.is_empty()).then(|| Value::String(self.filled(&step.form)));
        let example = Example {
            request: ExampleRequest {
                method: method.to_string(),
                path: self.stand_ins.text("path", &path),
                headers: headers
                    .iter()
                    .map(|(name, value)| (name.clone(), self.stand_ins.text(name, value)))
                    .collect(),
                body: form.or((!body.is_null()).then_some(body)).map(|body| self.stand_ins.value("", body)),
            },
            status: exchange.status,
            response: is_json.then(|| self.stand_ins.value("", exchange.answer)),
        };
        self.examples.insert(operation, example);
    }

    /// Sends a request that waits for a delivery, and delivers until it is answered.
    async fn send_delivering(&self, ask: Ask) -> Exchange {
        let is_answered = Cell::new(false);
        let asked = async {
            let answer = ask.send().await;
            is_answered.set(true);
            answer
        };
        let delivering = async {
            while !is_answered.get() {
                self.server.deliver().await;
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(asked, delivering).0
    }

    /// Opens a page as a browser that does not follow the redirect which answers it.
    async fn open(&self, method: &Method, path: String) -> Exchange {
        let page = Browser::default().open(&format!("http://{}{path}", self.server.address)).await;
        let (status, headers, text) = (page.status, page.headers, page.text);
        Exchange { method: method.clone(), path, body: None, status, headers, text, answer: Value::Null }
    }

    /// Requests are logged behind their answers.
    async fn log_requests(&self) {
        let path = format!("/v1/admin/applications/{}/requests?status=4xx", self.saved["application"]);
        for _ in 0..1_000 {
            writing::flush(&self.server.app).await.expect("the log is written");
            if !self.admin.all(&path).await.is_empty() {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("no request was logged");
    }

    /// The text with its saved values.
    fn filled(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, later) = after.split_once("}}").expect("a closed name");
            let value = self.saved.get(name).unwrap_or_else(|| panic!("{name} was not saved"));
            filled.push_str(before);
            filled.push_str(value);
            rest = later;
        }
        filled + rest
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.filled(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.fill(member)),
            _ => {}
        }
    }
}

/// The operation of a method and a path with its parameters in braces.
fn find(method: &Method, path: &str) -> Option<String> {
    let operations: Vec<Operation> = api::operations();
    let found = operations.iter().find(|o| o.method.as_str() == method.as_str() && o.path == path);
    found.map(Operation::id)
}

/// The id of the first item of a list whose field is true.
fn first<'a>(list: &'a Value, field: &str) -> Option<&'a Value> {
    let items = list["data"].as_array()?;
    items.iter().find(|item| item[field] == true).map(|item| &item["id"])
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
