//! Microsoft Graph: Entra's authorization, `/v1.0` with mail, calendars, contacts, To Do, batches and subscriptions on one origin, and the
//! host of upload sessions on another.

mod batch;
mod calendar;
mod call;
mod change_log;
mod contacts;
mod control;
mod errors;
mod facts;
mod ids;
mod item_filter;
mod judging;
mod mail;
mod me;
mod oauth;
mod prefer;
mod requests;
mod scopes;
mod state;
mod subscriptions;
mod surface_limits;
#[cfg(test)]
mod test_call;
mod times;
mod todo;
mod traps;

use std::env;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::door::{self, Ask, Delivery, Provider, Reply};
use crate::fake::{Fake, FakeService, lock};
use crate::faults::{self, Fault, What};
use crate::flights::{Flight, Flights};
use crate::graph::errors::GraphError;
use crate::journal::Journal;
use crate::oracle::{self, Odata};
use crate::traps::Traps;

pub use calendar::{
    CalendarBook, CalendarGroup, EventItem, EventKey, EventRemoval, EventSeries, EventSpan, GraphCalendar,
    GraphCalendarKind, MeetingMail, MeetingMailKind, SeriesException, occurrence_id,
};
pub use mail::{
    AttachmentKind, HeaderLine, MailAddress, MailContent, MailStore, MessageItem, SentMessage,
    StoredAttachment,
};
pub use oauth::{EntraAuthority, TokenError};
pub use requests::GraphRequest;
pub use state::{AccountKind, GraphAccount, GraphState, ItemChange, PERSONAL_TENANT, WORK_TENANT};
pub use subscriptions::{GraphSubscription, Subscriptions};
pub use surface_limits::SurfaceLimits;

/// The fake of Microsoft Graph.
pub type Graph = Fake<GraphService>;

/// The part of the fake Graph that answers requests.
pub struct GraphService {
    state: Mutex<GraphState>,
    journal: Mutex<Journal<GraphRequest>>,
    /// The origin, without a slash at the end.
    url: String,
    /// The origin of the host of upload sessions.
    upload_url: String,
    document: Odata,
    client: reqwest::Client,
    /// Calls wait while this is true.
    is_held: watch::Sender<bool>,
}

/// The host of upload sessions: another origin, which takes no token.
struct UploadHost(Arc<GraphService>);

/// Whether a path is one of the API's.
fn is_api(path: &str) -> bool {
    path.starts_with("/v1.0/")
}

impl Graph {
    /// Starts the fake on free ports of the loopback interface, with a clock that stands at `clock::START_MS`.
    ///
    /// # Panics
    /// The extract of Graph is not installed, or no port is free.
    pub async fn start() -> Graph {
        let extract = oracle::graph_extract().unwrap_or_else(|error| panic!("{error:#}"));
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Graph::listen(address, &extract).await.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// The same; none, with a line that says so, where the extract is not installed and `SWITCHBOARD_REQUIRE_PEERS` is not 1.
    ///
    /// # Panics
    /// As `start`, where that variable is 1.
    pub async fn start_or_skip() -> Option<Graph> {
        let is_required = env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
        match oracle::graph_extract() {
            Err(error) if !is_required => {
                println!("NOT RUN: {error:#}");
                None
            }
            _ => Some(Graph::start().await),
        }
    }

    /// Starts the fake at an address, judged by this extract, and the host of upload sessions on a free port beside it.
    ///
    /// # Errors
    /// The extract is missing, or the address is taken.
    pub async fn listen(address: SocketAddr, extract: &Path) -> Result<Graph> {
        let document = oracle::load_extract(extract)?;
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("{address} cannot be listened on"))?;
        let uploads = TcpListener::bind(SocketAddr::new(address.ip(), 0)).await?;
        let service = Arc::new(GraphService {
            state: Mutex::new(GraphState::new(Clock::default())),
            journal: Mutex::new(Journal::default()),
            url: format!("http://{}", listener.local_addr()?),
            upload_url: format!("http://{}", uploads.local_addr()?),
            document,
            // Notifications go to receivers of tests over plain HTTP: no certificate is needed.
            client: reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?,
            is_held: watch::Sender::new(false),
        });
        let upload_host = Arc::new(UploadHost(Arc::clone(&service)));
        let serving = vec![door::serve(listener, Arc::clone(&service)), door::serve(uploads, upload_host)];
        let url = service.url.clone();
        Ok(Fake::new(service, url, serving))
    }

    /// The origin of the host of upload sessions.
    pub fn upload_url(&self) -> &str {
        &self.service.upload_url
    }
}

impl Provider for GraphService {
    async fn answer(self: Arc<Self>, ask: Ask) -> Reply {
        if ask.path.starts_with("/__control/") {
            let change = |state: &mut GraphState, method: &str, path: &[&str], body: &Value| {
                control::change(&self, state, method, path, body)
            };
            return crate::control::answer(&*self, &ask, change).await;
        }
        let user = self.user_of(&ask);
        let arrival = lock(&self.journal).traffic.arrive(user.as_deref());
        let request = GraphRequest { round_trip: arrival.round_trip, ..GraphRequest::new(&ask, false) };
        let fault = lock(&self.journal).record(request, &ask);
        // A batch is one call, as Outlook runs four of its parts at a time.
        let flight = user.filter(|_| is_api(&ask.path)).map(|user| Flight::begin(&self, user));
        if flight.as_ref().is_some_and(|flight| !flight.is_allowed) {
            return GraphError::mailbox_concurrency().reply();
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
            Some(fault) if is_instead(&fault) => fault.what.apply(cut_off()),
            Some(fault) => fault.what.apply(self.route(&ask).await),
            None => self.route(&ask).await,
        };
        arrival.travel().await;
        reply
    }
}

impl Provider for UploadHost {
    async fn answer(self: Arc<Self>, ask: Ask) -> Reply {
        let service = &self.0;
        let fault = lock(&service.journal).record(GraphRequest::new(&ask, true), &ask);
        match fault {
            Some(fault) if is_instead(&fault) => fault.what.apply(cut_off()),
            Some(fault) => fault.what.apply(service.upload(&ask)),
            None => service.upload(&ask),
        }
    }
}

/// Whether a fault comes in the place of the request's effect.
fn is_instead(fault: &Fault) -> bool {
    !fault.after && !matches!(fault.what, What::Slow(_))
}

/// The beginning of an answer that a fault cuts.
fn cut_off() -> Reply {
    Reply::new(200).header("content-type", "application/json").body("{\"value\": ")
}

impl GraphService {
    /// The user whose token a request has.
    fn user_of(&self, ask: &Ask) -> Option<String> {
        let token = oauth::authenticate(&lock(&self.state), ask);
        token.ok().map(|token| token.user)
    }

    async fn route(&self, ask: &Ask) -> Reply {
        let signed_in = oauth::answer(&mut lock(&self.state), ask);
        if let Some(reply) = signed_in {
            return reply;
        }
        if !is_api(&ask.path) {
            return GraphError::new(404, "ResourceNotFound", "Invalid version.").reply();
        }
        let (is_html, is_cut) = {
            let mut state = lock(&self.state);
            (state.traps.fires("html_200"), state.traps.fires("cut_body"))
        };
        if is_html {
            return faults::html();
        }
        let answer = match batch::is_batch(&ask.path) {
            true => self.answer_batch(ask).await,
            false => self.answer_call(ask).await,
        };
        let mut reply = answer.unwrap_or_else(|error| error.reply());
        if is_cut {
            reply.delivery = Delivery::Cut;
        }
        reply
    }

    /// Answers a request for an upload session.
    fn upload(&self, ask: &Ask) -> Reply {
        if ask.header("authorization").is_some() {
            return GraphError::new(401, "InvalidAudience", "The audience claim value is invalid.").reply();
        }
        mail::upload::answer(&mut lock(&self.state), ask)
    }
}

impl FakeService for GraphService {
    type State = GraphState;
    type Request = GraphRequest;

    fn state(&self) -> &Mutex<GraphState> {
        &self.state
    }

    fn journal(&self) -> &Mutex<Journal<GraphRequest>> {
        &self.journal
    }

    fn is_held(&self) -> &watch::Sender<bool> {
        &self.is_held
    }

    fn clock(state: &GraphState) -> &Clock {
        &state.clock
    }

    fn traps(state: &mut GraphState) -> &mut Traps {
        &mut state.traps
    }

    fn flights(state: &mut GraphState) -> &mut Flights {
        &mut state.flights
    }

    async fn notify(&self) -> Vec<u16> {
        let due = {
            let mut state = lock(&self.state);
            let now = state.clock.now_ms();
            let mut due = state.subscriptions.take_due(now);
            for post in &mut due {
                if state.traps.fires("no_client_state") {
                    post.remove_secrets();
                }
                if state.traps.fires("notified_twice") {
                    post.repeat();
                }
            }
            due
        };
        let mut statuses = Vec::new();
        for post in due {
            let request =
                self.client.post(&post.url).header("content-type", "application/json; charset=utf-8");
            let sent = request.body(post.body.to_string()).send().await;
            statuses.push(sent.map_or(0, |answer| answer.status().as_u16()));
        }
        statuses
    }
}
