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
mod flights;
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
#[cfg(test)]
mod test_call;
mod times;
mod todo;
mod traffic;
mod traps;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, mem};

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::door::{self, Ask, Delivery, Provider, Reply};
use crate::faults::{self, Fault, What};
use crate::graph::errors::GraphError;
use crate::graph::flights::MailboxFlight;
use crate::graph::requests::GraphJournal;
use crate::graph::traffic::GraphArrival;
use crate::oracle::{self, Odata, Violation};

pub use calendar::{
    CalendarBook, CalendarGroup, EventItem, EventKey, EventRemoval, EventSeries, EventSpan, GraphCalendar,
    GraphCalendarKind, MeetingMail, MeetingMailKind, SeriesException, occurrence_id,
};
pub use flights::MailboxFlights;
pub use mail::{
    AttachmentKind, HeaderLine, MailAddress, MailContent, MailStore, MessageItem, SentMessage,
    StoredAttachment,
};
pub use oauth::{EntraAuthority, TokenError};
pub use requests::GraphRequest;
pub use state::{AccountKind, GraphAccount, GraphState, ItemChange, PERSONAL_TENANT, WORK_TENANT};
pub use subscriptions::{GraphSubscription, Subscriptions};
pub use traps::{GRAPH_TRAPS, GraphTraps};

/// The fake of Microsoft Graph, until it is dropped.
pub struct Graph {
    service: Arc<GraphService>,
    serving: [JoinHandle<()>; 2],
}

/// The part of the fake Graph that answers requests.
pub(crate) struct GraphService {
    pub(crate) state: Mutex<GraphState>,
    pub(crate) journal: Mutex<GraphJournal>,
    /// The origin, without a slash at the end.
    pub(crate) url: String,
    /// The origin of the host of upload sessions.
    pub(crate) upload_url: String,
    document: Odata,
    client: reqwest::Client,
    /// Calls wait while this is true.
    is_held: watch::Sender<bool>,
}

/// The host of upload sessions: another origin, which takes no token.
struct UploadHost(Arc<GraphService>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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
            journal: Mutex::new(GraphJournal::default()),
            url: format!("http://{}", listener.local_addr()?),
            upload_url: format!("http://{}", uploads.local_addr()?),
            document,
            // Notifications go to receivers of tests over plain HTTP: no certificate is needed.
            client: reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?,
            is_held: watch::Sender::new(false),
        });
        let upload_host = Arc::new(UploadHost(Arc::clone(&service)));
        let serving = [door::serve(listener, Arc::clone(&service)), door::serve(uploads, upload_host)];
        Ok(Graph { service, serving })
    }

    /// The origin, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.service.url
    }

    /// The origin of the host of upload sessions.
    pub fn upload_url(&self) -> &str {
        &self.service.upload_url
    }

    /// Reads or changes the fake's store.
    pub fn with<T>(&self, access: impl FnOnce(&mut GraphState) -> T) -> T {
        access(&mut lock(&self.service.state))
    }

    /// Moves the clock of the fake.
    pub fn advance(&self, by: Duration) {
        self.with(|state| state.clock.advance(by));
    }

    /// The requests since the start, or since `clear_requests`.
    pub fn requests(&self) -> Vec<GraphRequest> {
        lock(&self.service.journal).requests.clone()
    }

    /// Forgets the requests so far and returns them.
    pub fn clear_requests(&self) -> Vec<GraphRequest> {
        mem::take(&mut lock(&self.service.journal).requests)
    }

    /// Queues a fault of a request, of a part of a batch, or of an upload.
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
        self.trap_later(name, 0, times);
    }

    /// Switches a trap on for this many times, after it has stayed silent for `skips` times.
    ///
    /// # Panics
    /// No trap has this name.
    pub fn trap_later(&self, name: &str, skips: u32, times: u32) {
        let set = self.with(|state| state.traps.set_later(name, skips, times));
        set.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Lets calls wait from now on, or answers those that wait and all others.
    pub fn hold(&self, is_held: bool) {
        self.service.is_held.send_replace(is_held);
    }

    /// The requests and answers that Graph's description forbids.
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
        let [serving, _] = &mut self.serving;
        let _ = serving.await;
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.serving.iter().for_each(JoinHandle::abort);
    }
}

impl Provider for GraphService {
    async fn answer(self: Arc<Self>, ask: Ask) -> Reply {
        if ask.path.starts_with("/__control/") {
            return control::answer(&self, &ask).await;
        }
        let arrival = GraphArrival::count(&self, &ask);
        let fault = self
            .record(GraphRequest { round_trip: arrival.round_trip, ..GraphRequest::new(&ask, false) }, &ask);
        let flight = MailboxFlight::begin(&self, &ask);
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
        let fault = service.record(GraphRequest::new(&ask, true), &ask);
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
    /// Records a request, and takes the fault that fits it.
    fn record(&self, request: GraphRequest, ask: &Ask) -> Option<Fault> {
        let mut journal = lock(&self.journal);
        journal.requests.push(request);
        faults::take(&mut journal.faults, ask)
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

    /// Posts the notifications that are due. Returns the statuses; 0 where no answer came.
    pub(crate) async fn notify(&self) -> Vec<u16> {
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
