//! Google: OAuth, user info, and the APIs of Calendar, Gmail, People and Tasks on one origin.

mod busy;
mod calendars;
mod call;
mod channels;
mod check;
mod conference;
mod control;
mod errors;
mod event_lists;
mod events;
mod facts;
mod fields;
mod instances;
mod judging;
mod mail;
mod oauth;
mod people;
mod render;
mod state;
mod task_lists;
mod times;
mod tokens;
mod traps;

use std::env;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::door::{self, Ask, Delivery, Provider, Reply};
use crate::fake::{Fake, FakeService, lock};
use crate::faults::{self, Fault, What};
use crate::flights::{Flight, Flights};
use crate::google::channels::Notice;
use crate::google::errors::ApiError;
use crate::google::judging::{Api, Documents};
use crate::google::mail::batch;
use crate::journal::{Journal, RecordedRequest};
use crate::oracle;
use crate::traps::Traps;

pub use channels::Channel;
pub use mail::{MailRecord, Mailbox, NewMail, SendAsAddress, SentMail, Topic};
pub use oauth::Authority;
pub use people::AddressBook;
pub use state::{Calendar, CalendarKind, EventRecord, ListEntry, State, User};
pub use task_lists::TaskBook;

/// A request that the fake got; the token is left out.
#[derive(Clone, Debug)]
pub struct RequestRecord {
    pub method: String,
    /// Percent-decoded.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    /// The body of a call of an API, where it is JSON.
    pub body: Option<Value>,
    /// The first lines of the requests that a batch has in it, as in `GET /gmail/v1/users/me/profile`.
    pub parts: Vec<String>,
    /// The body of a call of an API or of a batch as it came.
    pub content: Bytes,
    /// The number of the request's round trip among those of its account, see `traffic`; 0 without an account.
    pub round_trip: u64,
}

impl RequestRecord {
    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        door::first_named(&self.query, name)
    }
}

/// The fake of Google.
pub type Google = Fake<GoogleService>;

/// The part that answers requests.
pub struct GoogleService {
    state: Mutex<State>,
    journal: Mutex<Journal<RequestRecord>>,
    documents: Documents,
    client: reqwest::Client,
    /// Calls wait while this is true.
    is_held: watch::Sender<bool>,
}

impl RecordedRequest for RequestRecord {
    fn to_value(&self) -> Value {
        json!({
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "contentType": door::first_named(&self.headers, "content-type"),
            "content": String::from_utf8_lossy(&self.content),
            "roundTrip": self.round_trip,
        })
    }
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
    /// A document of an API is missing, or the address is taken.
    pub async fn listen(address: SocketAddr, documents: &Path) -> Result<Google> {
        let documents = Documents::load(documents)?;
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("{address} cannot be listened on"))?;
        let url = format!("http://{}", listener.local_addr()?);
        // Notifications go to receivers of tests over plain HTTP: no certificate is needed.
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
        let state = Mutex::new(State::new(Clock::default()));
        let journal = Mutex::new(Journal::default());
        let is_held = watch::Sender::new(false);
        let service = Arc::new(GoogleService { state, journal, documents, client, is_held });
        let serving = door::serve(listener, Arc::clone(&service));
        Ok(Fake::new(service, url, vec![serving]))
    }

    /// Posts what Gmail has published, as the push subscriptions of topics do: each message with a token that `sign` makes of its claims.
    /// Returns the statuses of the answers; 0 where there was none.
    pub async fn publish(&self, sign: impl Fn(&Value) -> String) -> Vec<u16> {
        let mut statuses = Vec::new();
        for message in self.with(State::take_published) {
            let request = self.service.client.post(&message.address).bearer_auth(sign(&message.claims));
            let request = request.header("content-type", "application/json").body(message.body.to_string());
            statuses.push(request.send().await.map_or(0, |answer| answer.status().as_u16()));
        }
        statuses
    }
}

impl Provider for GoogleService {
    async fn answer(self: Arc<Self>, ask: Ask) -> Reply {
        if ask.path.starts_with("/__control/") {
            return crate::control::answer(&*self, &ask, control::change).await;
        }
        let user = self.user_of(&ask);
        let arrival = lock(&self.journal).traffic.arrive(user.as_deref());
        let fault = self.record(&ask, arrival.round_trip);
        let is_call = Api::from_path(&ask.path).is_some() || batch::is_batch(&ask.path);
        let flight = user.filter(|_| is_call).map(|user| Flight::begin(&self, user));
        if flight.as_ref().is_some_and(|flight| !flight.is_allowed) {
            return batch::concurrent_requests().reply();
        }
        if flight.is_some() {
            // The sender lives as long as the service: there is no error.
            let _ = self.is_held.subscribe().wait_for(|is_held| !*is_held).await;
        }
        if let Some(Fault { what: What::Slow(ms), .. }) = &fault {
            tokio::time::sleep(Duration::from_millis(*ms)).await;
        }
        arrival.travel().await;
        let reply = match fault {
            Some(fault) if !fault.after && !matches!(fault.what, What::Slow(_)) => fault
                .what
                .apply(Reply::new(200).header("content-type", "application/json").body("{\"kind\": ")),
            Some(fault) => fault.what.apply(self.route(&ask)),
            None => self.route(&ask),
        };
        arrival.travel().await;
        reply
    }
}

impl GoogleService {
    /// The user whose token a request has.
    fn user_of(&self, ask: &Ask) -> Option<String> {
        let token = oauth::authenticate(&lock(&self.state), ask);
        token.ok().map(|token| token.user)
    }

    /// Records a request, and takes the fault that fits it.
    fn record(&self, ask: &Ask, round_trip: u64) -> Option<Fault> {
        let headers = ask.headers.iter().filter(|(name, _)| *name != http::header::AUTHORIZATION);
        let headers = headers.map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        // Forms have secrets in them.
        let is_call = Api::from_path(&ask.path).is_some();
        let body = is_call.then(|| serde_json::from_slice(&ask.body).ok()).flatten();
        let is_shown = is_call || batch::is_batch(&ask.path);
        let record = RequestRecord {
            method: ask.method.clone(),
            path: ask.path.clone(),
            query: ask.query.clone(),
            headers: headers.collect(),
            body,
            parts: batch::first_lines(ask),
            content: if is_shown { ask.body.clone() } else { Bytes::new() },
            round_trip,
        };
        lock(&self.journal).record(record, ask)
    }

    fn route(&self, ask: &Ask) -> Reply {
        let mut state = lock(&self.state);
        match (ask.method.as_str(), ask.path.as_str()) {
            ("GET", "/o/oauth2/v2/auth") => oauth::authorize(&mut state, ask),
            ("POST", "/token") => oauth::token(&mut state, ask),
            ("POST", "/revoke") => oauth::revoke(&mut state, ask),
            ("GET", "/v1/userinfo") => oauth::userinfo(&state, ask),
            ("POST", path) if batch::is_batch(path) => {
                self.call_api(&mut state, |service, state| service.answer_batch(state, ask))
            }
            (_, path) if Api::from_path(path).is_some() && lacks_length(ask) => Reply::new(411)
                .header("content-type", "text/html; charset=UTF-8")
                .body("<!DOCTYPE html><html lang=en><title>Error 411 (Length Required)!!1</title></html>"),
            (_, path) => match Api::from_path(path) {
                Some(api) => self.call_api(&mut state, |service, state| service.answer_call(state, api, ask)),
                None => Reply::new(404)
                    .header("content-type", "text/html; charset=UTF-8")
                    .body("<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title></html>"),
            },
        }
    }

    /// Answers by `carry_out`, where no front end comes between.
    fn call_api(
        &self,
        state: &mut State,
        carry_out: impl FnOnce(&GoogleService, &mut State) -> Result<Reply, ApiError>,
    ) -> Reply {
        if state.traps.fires("html_200") {
            return faults::html();
        }
        let is_cut = state.traps.fires("cut_body");
        let mut reply = carry_out(self, state).unwrap_or_else(|error| error.reply());
        if is_cut {
            reply.delivery = Delivery::Cut;
        }
        reply
    }
}

impl FakeService for GoogleService {
    type State = State;
    type Request = RequestRecord;

    fn state(&self) -> &Mutex<State> {
        &self.state
    }

    fn journal(&self) -> &Mutex<Journal<RequestRecord>> {
        &self.journal
    }

    fn is_held(&self) -> &watch::Sender<bool> {
        &self.is_held
    }

    fn clock(state: &State) -> &Clock {
        &state.clock
    }

    fn traps(state: &mut State) -> &mut Traps {
        &mut state.traps
    }

    fn flights(state: &mut State) -> &mut Flights {
        &mut state.flights
    }

    /// Posts each with an empty body.
    async fn notify(&self) -> Vec<u16> {
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

/// Whether a request says nothing of its content's length, where its method has a content. Google's front ends refuse it.
fn lacks_length(ask: &Ask) -> bool {
    let has_content = matches!(ask.method.as_str(), "POST" | "PUT" | "PATCH");
    has_content && ask.header("content-length").is_none() && ask.header("transfer-encoding").is_none()
}
