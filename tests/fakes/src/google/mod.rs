//! Google: OAuth, user info and the Calendar API on one origin.

mod busy;
mod calendars;
mod call;
mod channels;
mod check;
mod conference;
mod errors;
mod event_lists;
mod events;
mod facts;
mod fields;
mod instances;
mod oauth;
mod render;
mod state;
mod times;
mod tokens;
mod traps;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, mem};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::control;
use crate::door::{self, Ask, Delivery, Provider, Reply};
use crate::faults::{self, Fault, What};
use crate::google::call::{Call, MethodResult};
use crate::google::channels::Notice;
use crate::google::errors::ApiError;
use crate::oracle::{self, Discovery, DiscoveryMethod, Violation};

pub use channels::Channel;
pub use oauth::Authority;
pub use state::{Calendar, CalendarKind, EventRecord, ListEntry, State, User};
pub use traps::{TRAPS, Traps};

/// A request that the fake got; the token is left out.
#[derive(Clone, Debug)]
pub struct RequestRecord {
    pub method: String,
    /// Percent-decoded.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    /// The body of a call of the API, where it is JSON.
    pub body: Option<Value>,
}

impl RequestRecord {
    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        door::first_named(&self.query, name)
    }
}

/// The fake, until it is dropped.
pub struct Google {
    service: Arc<GoogleService>,
    url: String,
    serving: JoinHandle<()>,
}

/// The part that answers requests.
pub(crate) struct GoogleService {
    pub(crate) state: Mutex<State>,
    pub(crate) journal: Mutex<Journal>,
    calendar: Discovery,
    client: reqwest::Client,
}

/// Faults that wait for their requests, and what happened so far.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) faults: Vec<Fault>,
    pub(crate) requests: Vec<RequestRecord>,
    pub(crate) violations: Vec<Violation>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Google {
    /// Starts the fake on a free port of the loopback interface, with a clock that stands at `clock::START_MS`.
    ///
    /// # Panics
    /// Google's discovery documents are not installed, or no port is free.
    pub async fn start() -> Google {
        let documents = oracle::documents().unwrap_or_else(|error| panic!("{error:#}"));
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Google::listen(address, &documents).await.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// The same; none, with a line that says so, where the documents are not installed and `SWITCHBOARD_REQUIRE_PEERS` is not 1.
    ///
    /// # Panics
    /// As `start`, where that variable is 1.
    pub async fn start_or_skip() -> Option<Google> {
        let is_required = env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
        match oracle::documents() {
            Err(error) if !is_required => {
                println!("NOT RUN: {error:#}");
                None
            }
            _ => Some(Google::start().await),
        }
    }

    /// Starts the fake at an address, judged by the discovery documents in this folder.
    ///
    /// # Errors
    /// The document of the Calendar API is missing, or the address is taken.
    pub async fn listen(address: SocketAddr, documents: &Path) -> Result<Google> {
        let calendar = oracle::load(documents, "calendar.v3")?;
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("{address} cannot be listened on"))?;
        let url = format!("http://{}", listener.local_addr()?);
        // Notifications go to receivers of tests over plain HTTP: no certificate is needed.
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
        let state = Mutex::new(State::new(Clock::default()));
        let journal = Mutex::new(Journal::default());
        let service = Arc::new(GoogleService { state, journal, calendar, client });
        let serving = door::serve(listener, Arc::clone(&service));
        Ok(Google { service, url, serving })
    }

    /// The origin, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Reads or changes what the fake stores.
    pub fn with<T>(&self, access: impl FnOnce(&mut State) -> T) -> T {
        access(&mut lock(&self.service.state))
    }

    /// Moves the clock of the fake.
    pub fn advance(&self, by: Duration) {
        self.with(|state| state.clock.advance(by));
    }

    /// The requests since the start, or since `clear_requests`.
    pub fn requests(&self) -> Vec<RequestRecord> {
        lock(&self.service.journal).requests.clone()
    }

    /// Forgets the requests so far and returns them.
    pub fn clear_requests(&self) -> Vec<RequestRecord> {
        mem::take(&mut lock(&self.service.journal).requests)
    }

    /// Queues a fault.
    pub fn fault(&self, fault: Fault) {
        lock(&self.service.journal).faults.push(fault);
    }

    /// Forgets the faults that wait for their requests.
    pub fn clear_faults(&self) {
        lock(&self.service.journal).faults.clear();
    }

    /// Switches a trap on for this many times; 0 switches it off.
    ///
    /// # Panics
    /// No trap has this name.
    pub fn trap(&self, name: &str, times: u32) {
        self.with(|state| state.traps.set(name, times)).unwrap_or_else(|error| panic!("{error}"));
    }

    /// The requests and answers that Google's documents forbid.
    pub fn violations(&self) -> Vec<Violation> {
        lock(&self.service.journal).violations.clone()
    }

    /// Posts the notifications that are due. Returns the statuses of the answers; 0 where there was none.
    pub async fn notify(&self) -> Vec<u16> {
        self.service.notify().await
    }

    /// Serves until the process ends.
    pub async fn serve(mut self) {
        // The task ends by an abort alone.
        let _ = (&mut self.serving).await;
    }
}

impl Drop for Google {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Provider for GoogleService {
    async fn answer(self: Arc<Self>, ask: Ask) -> Reply {
        if ask.path.starts_with("/__control/") {
            return control::answer(&self, &ask).await;
        }
        let fault = self.record(&ask);
        if let Some(Fault { what: What::Slow(ms), .. }) = &fault {
            tokio::time::sleep(Duration::from_millis(*ms)).await;
        }
        match fault {
            Some(fault) if !fault.after && !matches!(fault.what, What::Slow(_)) => fault
                .what
                .apply(Reply::new(200).header("content-type", "application/json").body("{\"kind\": ")),
            Some(fault) => fault.what.apply(self.route(&ask)),
            None => self.route(&ask),
        }
    }
}

impl GoogleService {
    /// Records a request, and takes the fault that fits it.
    fn record(&self, ask: &Ask) -> Option<Fault> {
        let headers = ask.headers.iter().filter(|(name, _)| *name != http::header::AUTHORIZATION);
        let headers = headers.map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        // Forms have secrets in them.
        let is_call = ask.path.starts_with("/calendar/");
        let body = is_call.then(|| serde_json::from_slice(&ask.body).ok()).flatten();
        let record = RequestRecord {
            method: ask.method.clone(),
            path: ask.path.clone(),
            query: ask.query.clone(),
            headers: headers.collect(),
            body,
        };
        let mut journal = lock(&self.journal);
        journal.requests.push(record);
        faults::take(&mut journal.faults, ask)
    }

    fn route(&self, ask: &Ask) -> Reply {
        let mut state = lock(&self.state);
        match (ask.method.as_str(), ask.path.as_str()) {
            ("GET", "/o/oauth2/v2/auth") => oauth::authorize(&mut state, ask),
            ("POST", "/token") => oauth::token(&mut state, ask),
            ("POST", "/revoke") => oauth::revoke(&mut state, ask),
            ("GET", "/v1/userinfo") => oauth::userinfo(&state, ask),
            (_, path) if path.starts_with("/calendar/v3/") => self.call_api(&mut state, ask),
            _ => Reply::new(404)
                .header("content-type", "text/html; charset=UTF-8")
                .body("<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title></html>"),
        }
    }

    fn call_api(&self, state: &mut State, ask: &Ask) -> Reply {
        if state.traps.fires("html_200") {
            return faults::html();
        }
        let is_cut = state.traps.fires("cut_body");
        let mut reply = self.judged(state, ask).unwrap_or_else(|error| error.reply());
        if is_cut {
            reply.delivery = Delivery::Cut;
        }
        reply
    }

    /// Carries out a call, with its request and its answer judged by the document.
    fn judged(&self, state: &mut State, ask: &Ask) -> Result<Reply, ApiError> {
        let token = oauth::authenticate(state, ask)?;
        limits(state, ask)?;
        let body: Option<Value> = match ask.body.is_empty() {
            true => None,
            false => {
                let parsed = serde_json::from_slice(&ask.body);
                Some(parsed.map_err(|_| ApiError::new(400, "parseError", "Parse Error"))?)
            }
        };
        let judgement = self.calendar.request(&ask.method, &ask.segments, &ask.query, body.as_ref());
        let matched = judgement.map_err(|violation| {
            let error = ApiError::new(400, "badRequest", &violation.to_string());
            lock(&self.journal).violations.push(violation);
            error
        })?;
        let method = matched.method;
        if !method.scopes.iter().any(|scope| token.scopes.contains(scope)) {
            return Err(ApiError::scope_insufficient(&method.id));
        }
        let call = Call {
            user: token.user,
            path: matched.path,
            query: ask.query.clone(),
            headers: ask.headers.clone(),
            body: body.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        };
        let answer = dispatch(state, method, &call)?;
        if let Err(violation) = self.calendar.answer(method, answer.as_ref()) {
            let text = format!("the fake's own answer is wrong: {violation}");
            eprintln!("{text}");
            lock(&self.journal).violations.push(violation);
            return Ok(Reply::new(500).header("content-type", "text/plain").body(text));
        }
        match answer {
            None => Ok(Reply::new(204)),
            Some(value) => {
                let etag = value["etag"].as_str().map(str::to_owned);
                let value = match call.parameter("fields") {
                    Some(mask) => fields::apply(mask, value)?,
                    None => value,
                };
                let reply = Reply::json(200, &value).header("vary", "Origin");
                Ok(etag.iter().fold(reply, |reply, etag| reply.header("etag", etag)))
            }
        }
    }

    /// Posts the notifications that are due, each with an empty body. Returns the statuses; 0 where no answer came.
    pub(crate) async fn notify(&self) -> Vec<u16> {
        let due: Vec<Notice> = {
            let mut state = lock(&self.state);
            let now = state.clock.now_ms();
            state.channels.take_due(now)
        };
        let mut statuses = Vec::new();
        for notice in due {
            let mut request = self.client.post(&notice.address).header("content-length", "0");
            for (name, value) in &notice.headers {
                request = request.header(*name, value);
            }
            statuses.push(request.send().await.map_or(0, |answer| answer.status().as_u16()));
        }
        statuses
    }
}

/// Limits of calls, in the spellings that integrators report.
fn limits(state: &mut State, ask: &Ask) -> Result<(), ApiError> {
    let traps = &mut state.traps;
    if traps.fires("rate_limit_exceeded") {
        return Err(ApiError::limit(403, "rateLimitExceeded", "Rate Limit Exceeded"));
    }
    if traps.fires("user_rate_limit_exceeded") {
        return Err(ApiError::limit(403, "userRateLimitExceeded", "User Rate Limit Exceeded"));
    }
    if traps.fires("queries_per_minute") {
        return Err(ApiError::queries_per_minute());
    }
    if traps.fires("daily_limit_exceeded") {
        return Err(ApiError::limit(403, "dailyLimitExceeded", "Daily Limit Exceeded"));
    }
    // Reads go on.
    if ask.method != "GET" && traps.fires("usage_limits") {
        return Err(ApiError::limit(403, "quotaExceeded", "Calendar usage limits exceeded."));
    }
    if traps.fires("not_a_calendar_user") {
        return Err(ApiError::new(
            403,
            "notACalendarUser",
            "The user must be signed up for Google Calendar.",
        ));
    }
    Ok(())
}

fn dispatch(state: &mut State, method: &DiscoveryMethod, call: &Call) -> MethodResult {
    let id = method.id.strip_prefix("calendar.").unwrap_or_default();
    match id {
        "calendarList.list" => calendars::list_entries(state, call),
        "calendarList.get" => calendars::get_entry(state, call),
        "calendarList.insert" => calendars::insert_entry(state, call),
        "calendarList.patch" => calendars::patch_entry(state, call),
        "calendarList.update" => calendars::update_entry(state, call),
        "calendarList.delete" => calendars::delete_entry(state, call),
        "calendarList.watch" => channels::watch_list(state, call),
        "calendars.get" => calendars::get_calendar(state, call),
        "calendars.insert" => calendars::insert_calendar(state, call),
        "calendars.patch" | "calendars.update" => calendars::patch_calendar(state, call),
        "calendars.delete" => calendars::delete_calendar(state, call),
        "colors.get" => calendars::get_colors(state, call),
        "settings.get" => calendars::get_setting(state, call),
        "settings.list" => calendars::list_settings(state, call),
        "settings.watch" => channels::watch_settings(state, call),
        "events.list" => event_lists::list(state, call),
        "events.instances" => event_lists::list_instances(state, call),
        "events.get" => events::get(state, call),
        "events.insert" => events::insert(state, call),
        "events.import" => events::import(state, call),
        "events.patch" => events::patch(state, call),
        "events.update" => events::update(state, call),
        "events.delete" => events::delete(state, call),
        "events.move" => events::move_event(state, call),
        "events.watch" => channels::watch_events(state, call),
        "channels.stop" => channels::stop(state, call),
        "freebusy.query" => busy::query(state, call),
        _ => Err(ApiError::new(501, "notImplemented", &format!("The fake has no {}.", method.id))),
    }
}
