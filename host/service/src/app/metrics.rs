//! Metrics of requests and client connections, which `api/metrics.rs` renders. Labels are route templates, names and codes, never ids, keys or URLs: their number stays bounded.

use std::time::Duration;

use http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use storage::statement_counts::StatementCounts;

/// Upper bounds in seconds: from a read out of the store to a slow provider.
const BUCKETS_S: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

/// Upper bounds in seconds for turns of jobs: from a look that finds nothing to the longest deadline.
const TURN_BUCKETS_S: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 2.0, 10.0, 30.0, 120.0];

/// Metrics of requests and client connections. Cheap to clone; all clones share the counters.
#[derive(Clone)]
pub struct Metrics {
    /// Answered requests and how long they took.
    pub requests: Family<RequestLabels, Histogram, fn() -> Histogram>,
    /// Client connections that are open now.
    pub connections: Gauge,
    /// Client connections that were closed for breaking a limit: too slow, malformed.
    pub broken_connections: Counter,
    /// Client connections that were not taken, because their address has as many as it may have.
    pub refused_connections: Counter,
    /// Panics of work in the background.
    pub background_panics: Family<WorkLabels, Counter>,
    /// Attempts to renew providers' tokens, by what came of them.
    pub renewals: Family<RenewalLabels, Counter>,
    /// Turns of jobs that ended, by kind and by how they ended.
    pub turns: Family<TurnLabels, Counter>,
    /// How long they took, by kind.
    pub turn_seconds: Family<TurnSecondsLabels, Histogram, fn() -> Histogram>,
    /// Statements that requests and runs of jobs sent to the database.
    pub statements: Family<StatementLabels, Counter>,
    /// Rows that these statements returned or changed.
    pub statement_rows: Family<StatementLabels, Counter>,
    /// Jobs that were taken over from hosts that were gone.
    pub takeovers: Counter,
    /// Requests that the request log had no room for, or could not write.
    pub request_log_dropped: Counter,
    /// Notifications of providers, by connector and outcome.
    pub notifications: Family<NotificationLabels, Counter>,
}

/// Labels of providers' notifications.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct NotificationLabels {
    connector: String,
    outcome: &'static str,
}

/// Labels of job runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct TurnLabels {
    kind: &'static str,
    outcome: &'static str,
}

/// Labels of statements: `request` and a method with the route's template, or `job` and a kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StatementLabels {
    source: &'static str,
    name: String,
}

impl StatementLabels {
    fn of_request(route: &str, method: &Method) -> StatementLabels {
        let route = if route.is_empty() { "unmatched" } else { route };
        StatementLabels { source: "request", name: format!("{} {route}", method_name(method)) }
    }

    fn of_job(kind: &str) -> StatementLabels {
        StatementLabels { source: "job", name: kind.to_owned() }
    }
}

/// Labels of the durations of job runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct TurnSecondsLabels {
    kind: &'static str,
}

/// Labels of token renewals.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RenewalLabels {
    outcome: &'static str,
}

/// Labels of background work.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct WorkLabels {
    work: &'static str,
}

/// Labels of answered requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RequestLabels {
    http_route: String,
    http_request_method: &'static str,
    http_response_status_code: u16,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            requests: Family::new_with_constructor(|| Histogram::new(BUCKETS_S)),
            connections: Gauge::default(),
            broken_connections: Counter::default(),
            refused_connections: Counter::default(),
            background_panics: Family::default(),
            renewals: Family::default(),
            turns: Family::default(),
            turn_seconds: Family::new_with_constructor(|| Histogram::new(TURN_BUCKETS_S)),
            statements: Family::default(),
            statement_rows: Family::default(),
            takeovers: Counter::default(),
            request_log_dropped: Counter::default(),
            notifications: Family::default(),
        }
    }
}

impl Metrics {
    /// Counts a panic of work in the background.
    pub fn count_panic(&self, work: &'static str) {
        self.background_panics.get_or_create(&WorkLabels { work }).inc();
    }

    /// How often this work has panicked.
    pub fn panics(&self, work: &'static str) -> u64 {
        self.background_panics.get_or_create(&WorkLabels { work }).get()
    }

    /// Counts what came of an attempt to renew tokens: `stored`, `not_stored` (each failure of the database), `reauthorize`, `operator`,
    /// `retry`.
    pub fn count_renewal(&self, outcome: &'static str) {
        self.renewals.get_or_create(&RenewalLabels { outcome }).inc();
    }

    /// How often that came of it.
    pub fn renewals(&self, outcome: &'static str) -> u64 {
        self.renewals.get_or_create(&RenewalLabels { outcome }).get()
    }

    /// Counts notifications of the provider of this connector, which is one that is installed: `authentic`, `unknown_watch`, `wrong_secret`,
    /// `unproved` for one without a secret that is taken as a hint, `no_keys` where its keys could not be fetched, `greeting` where they only
    /// said that a watch has begun, or `flood`.
    pub fn count_notifications(&self, connector: &str, outcome: &'static str, count: usize) {
        if count > 0 {
            let labels = NotificationLabels { connector: connector.to_owned(), outcome };
            self.notifications.get_or_create(&labels).inc_by(u64::try_from(count).unwrap_or(u64::MAX));
        }
    }

    /// How many there were of these.
    pub fn notifications(&self, connector: &str, outcome: &'static str) -> u64 {
        let labels = NotificationLabels { connector: connector.to_owned(), outcome };
        self.notifications.get_or_create(&labels).get()
    }

    /// Counts a turn of a job: `done`, `failed`, `given_up`, `preempted` where others needed its place, or `lost` where another host has the
    /// job by now.
    pub fn observe_turn(&self, kind: &'static str, outcome: &'static str, took: Duration) {
        self.turns.get_or_create(&TurnLabels { kind, outcome }).inc();
        self.turn_seconds.get_or_create(&TurnSecondsLabels { kind }).observe(took.as_secs_f64());
    }

    /// Counts the statements of a request. `route` is as for `observe`.
    pub fn count_request_statements(&self, route: &str, method: &Method, counts: &StatementCounts) {
        self.count_statements(&StatementLabels::of_request(route, method), counts);
    }

    /// Counts the statements of a run of a job.
    pub fn count_job_statements(&self, kind: &str, counts: &StatementCounts) {
        self.count_statements(&StatementLabels::of_job(kind), counts);
    }

    fn count_statements(&self, labels: &StatementLabels, counts: &StatementCounts) {
        self.statements.get_or_create(labels).inc_by(counts.statements());
        self.statement_rows.get_or_create(labels).inc_by(counts.rows());
    }

    /// Statements and rows of all requests to this route so far.
    pub fn request_statements(&self, route: &str, method: &Method) -> StatementTotals {
        self.statement_totals(&StatementLabels::of_request(route, method))
    }

    /// Statements and rows of all runs of jobs of this kind so far.
    pub fn job_statements(&self, kind: &str) -> StatementTotals {
        self.statement_totals(&StatementLabels::of_job(kind))
    }

    fn statement_totals(&self, labels: &StatementLabels) -> StatementTotals {
        StatementTotals {
            statements: self.statements.get_or_create(labels).get(),
            rows: self.statement_rows.get_or_create(labels).get(),
        }
    }

    /// Counts an answered request. `route` is the template (`/v1/calendars/{calendarId}`), empty where none matched.
    pub fn observe(&self, route: &str, method: &Method, status: u16, took: Duration) {
        let labels = RequestLabels {
            http_route: if route.is_empty() { "unmatched".to_owned() } else { route.to_owned() },
            http_request_method: method_name(method),
            http_response_status_code: status,
        };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }
}

/// Statements that were sent to the database, and the rows that they returned or changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementTotals {
    /// Number of statements.
    pub statements: u64,
    /// Number of rows.
    pub rows: u64,
}

/// Clients can invent methods; a label for each would be theirs to multiply.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}
