//! Two hosts in front of one PostgreSQL database: with `SWITCHBOARD_TEST_HOSTS=2` the requests of a test go to them in turn, so that what
//! one host keeps in its memory alone, and the other one needs, makes a test fail.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::clock::{Clock, Entropy};
use service::app::App;
use service::app::config::Config;
use service::job_runner::runner;
use service::jobs::pull;
use storage::wakes::JobClass;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::PULLS;
use crate::pull_when_woken;
use crate::serve;
use crate::share_compiled_code;

/// The environment variable that says how many hosts a test server has on PostgreSQL: 1, or 2.
const VARIABLE: &str = "SWITCHBOARD_TEST_HOSTS";

/// Tests, by the beginning of their names, that run on one host, each with the reason.
const ON_ONE_HOST: [(&str, &str); 16] = [
    (
        "contract::cors::a_refused_page_reads_why",
        "the budgets of keys and addresses are each host's own (`web::rate_limit`)",
    ),
    (
        "contract::fairness::",
        "the room for request bodies (`api::body`) and the budgets of addresses (`web::rate_limit`) are each host's own",
    ),
    (
        "contract::idempotency::a_claim_is_free_when_its_host_is_gone",
        "it gives the first host a lease, which says nothing of a claim of the second host",
    ),
    ("contract::limits::", "the budgets of keys and addresses are each host's own (`web::rate_limit`)"),
    (
        "contract::noted_waits::",
        "it installs a connector in the first host's store, which is on that host's disk",
    ),
    (
        "contract::odd_items::",
        "it installs a connector in the first host's store, which is on that host's disk",
    ),
    (
        "contract::page_parts::",
        "it installs a connector in the first host's store, which is on that host's disk",
    ),
    (
        "email::push::a_revoked_connection_is_not_listened_to",
        "a stream of another host than the one that disconnects ends when that host looks, not with the answer",
    ),
    ("jobs::lanes::", "it takes the database connections of the first host, which requests then wait for"),
    (
        "jobs::listen::",
        "it looks at what the first host tells others, and no test has the second host tell anything",
    ),
    ("mcp::server::calls_count_for_the_budget", "the budget of a key is each host's own (`web::rate_limit`)"),
    ("oauth::token::tokens_share_the_budget", "the budget of a key is each host's own (`web::rate_limit`)"),
    (
        "webhooks::delivery::a_new_event_wakes_its_deliveries_without_a_job",
        "events of the second host reach the first by the job of the fan-out, which the test leaves out",
    ),
    (
        "contract::second_reading::",
        "it installs a connector in the first host's store, which is on that host's disk",
    ),
    ("contract::statements", "it counts statements, which each host does for itself (`app::metrics`)"),
    ("usage::", "it looks at the budget of a key, which is each host's own (`web::rate_limit`)"),
];

/// The endpoint with the figures of the last seconds.
const USAGE: &str = "/v1/usage";

/// Beginnings of paths whose requests all go to the first host, each with the reason.
const OF_THE_FIRST: [(&str, &str); 6] = [
    ("/admin/sandbox", "the page of the sandbox provider, which the first host plays"),
    ("/metrics", "figures are each host's own"),
    ("/v1/providers", "each host counts the notifications that it takes, and those of a second"),
    ("/readyz", "it tells of the lease of the host that is asked"),
    ("/sandbox", "the first host serves the sandbox provider, for the connectors of both"),
    (USAGE, "a host adds its own figures of the last seconds; the second host writes its own before"),
];

/// Whether the test that runs in this thread has two hosts. The thread has the test's name, unless tests run one at a time: then all tests
/// have two.
pub fn are_wanted() -> bool {
    let is_two = match std::env::var(VARIABLE).as_deref() {
        Err(_) | Ok("1") => false,
        Ok("2") => true,
        Ok(other) => panic!("{VARIABLE} is {other}; it can be 1 or 2"),
    };
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    is_two && !ON_ONE_HOST.iter().any(|(name, _)| test.starts_with(name))
}

/// One more host on the database of `first`, with this clock and a data directory of its own. Its address is the first one's: there is the
/// sandbox provider, and there the links in answers lead.
pub async fn another(first: &App, clock: Clock) -> (App, TempDir) {
    let data = tempfile::tempdir().expect("a data directory");
    share_compiled_code(data.path());
    let config = Config { data_dir: data.path().to_owned(), ..first.config.clone() };
    let app = App::start(config, clock, Entropy::system()).await.expect("the host starts");
    (app, data)
}

/// The second host of a test server.
pub struct Second {
    pub pair: Arc<Pair>,
    serving: JoinHandle<()>,
    /// Pulls what requests ask for behind their answers; none where the test does that itself.
    pulling: Option<JoinHandle<()>>,
    _data: TempDir,
}

impl Second {
    /// Starts it beside `first`, which runs. `pulls`: each host pulls what requests ask it for.
    pub async fn start(first: &App, pulls: bool) -> Second {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (app, data) = another(first, first.clock.clone()).await;
        let serving = serve(listener, switchboard::routes::assemble(&app, None).main);
        let pulling = pulls.then(|| tokio::spawn(pull_when_woken(app.clone())));
        let pair = Pair {
            first: first.clone(),
            second: app,
            address,
            pulls,
            requests: AtomicUsize::new(0),
            settled: AtomicUsize::new(0),
        };
        Second { pair: Arc::new(pair), serving, pulling, _data: data }
    }

    /// Stops it without warning.
    pub async fn stop(self) {
        for task in [Some(self.serving), self.pulling].into_iter().flatten() {
            task.abort();
            // It ends as cancelled.
            let _ = task.await;
        }
        self.pair.second.db.close().await;
    }
}

/// Both hosts of a test server, and whose turn it is.
pub struct Pair {
    first: App,
    second: App,
    /// The address of the second host.
    address: SocketAddr,
    pulls: bool,
    /// Requests so far that either host could take.
    requests: AtomicUsize,
    /// How often the hosts' work in the background was done for a test.
    settled: AtomicUsize,
}

impl Pair {
    /// Gives the next request, which is for this path, to one of the hosts.
    pub fn turn(pair: &Arc<Pair>, path: &str) -> Turn {
        let is_of_the_first = OF_THE_FIRST.iter().any(|(begin, _)| path.starts_with(begin));
        let is_second = !is_of_the_first && pair.requests.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        Turn { pair: Arc::clone(pair), is_second, is_usage: path.starts_with(USAGE) }
    }

    /// The host that does the work in the background this time: each of them in turn, as each can run every job.
    pub fn settling(&self) -> &App {
        self.forget_recent();
        match self.settled.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => &self.first,
            _ => &self.second,
        }
    }

    /// Pulls everything that is due, after the pulls that either host has begun behind an answer. Returns how many turns there were.
    pub async fn pull(&self) -> u64 {
        let _first = self.first.locks.lock(PULLS).await;
        let _second = self.second.locks.lock(PULLS).await;
        runner::drain(self.settling(), &[pull::PULL]).await.expect("the jobs are run")
    }

    /// A host may believe for a second what another one has changed meanwhile (`Recent`). The clock of a test stands still, so that second
    /// passes here.
    fn forget_recent(&self) {
        for host in [&self.first, &self.second] {
            host.keys.clear();
            host.sites.clear();
            host.opened.clear();
            host.throttles.clear();
            host.operator_sessions.clear();
        }
    }
}

/// A request of one of two hosts.
pub struct Turn {
    pair: Arc<Pair>,
    is_second: bool,
    is_usage: bool,
}

impl Turn {
    /// Returns the address of the second host, if the request is for it.
    pub fn address(&self) -> Option<SocketAddr> {
        self.is_second.then_some(self.pair.address)
    }

    /// To be called before the request is sent.
    pub async fn begin(&self) {
        self.pair.forget_recent();
        if self.is_usage {
            let second = &self.pair.second;
            second.usage.flush(&second.db).await.expect("the figures are written");
        }
    }

    /// To be called after the answer: a test may have the first host run jobs, and hosts tell each other of jobs (`job_runner::listen`). Who
    /// enqueues a pull pulls by itself, unless the test does that.
    pub fn end(&self) {
        if !self.is_second {
            return;
        }
        for class in JobClass::ALL {
            if !(self.pair.pulls && class == JobClass::Pull) {
                self.pair.first.db.wakes().wake(class);
            }
        }
    }
}
