//! `/metrics`: counters, and values that are read when the page is requested: connectors, pool, database, sync.

use std::time::Duration;

use anyhow::Result;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};
use service::app::App;
use service::app::log_queue;
use service::app::metrics::Metrics;
use storage::job_admin::{self, Count};
use storage::sync_states::{self, Lag};

/// The media type of the page: OpenMetrics, which Prometheus reads.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Time after which a database that does not answer is reported as down, because the page itself must not hang.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Renders the whole page. `callers` is the number of callers in the rate limiter.
pub async fn text(app: &App, callers: usize) -> String {
    let mut registry = Registry::default();
    requests(&mut registry, &app.metrics, callers);
    connectors(&mut registry, app);
    sandbox(&mut registry, app);
    store(&mut registry, app).await;
    process(&mut registry);
    let mut page = String::new();
    encode(&mut page, &registry).expect("writing to a String does not fail");
    page
}

/// Returns a number as a gauge; gauges are signed or floating point in the exposition format.
fn gauge(value: impl TryInto<i64>) -> ConstGauge<i64> {
    ConstGauge::new(value.try_into().unwrap_or(i64::MAX))
}

fn requests(registry: &mut Registry, metrics: &Metrics, callers: usize) {
    registry.register_with_unit(
        "http_server_request_duration",
        "Requests to the API: how many, and how long until the answer was ready",
        Unit::Seconds,
        metrics.requests.clone(),
    );
    let registry = registry.sub_registry_with_prefix("switchboard");
    registry.register("client_connections", "Client connections open now", metrics.connections.clone());
    let broken =
        "Client connections closed after an error: too slow, malformed, disconnected during a request";
    registry.register("client_connections_broken", broken, metrics.broken_connections.clone());
    let refused = "Client connections refused because their address has its maximum";
    registry.register("client_connections_refused", refused, metrics.refused_connections.clone());
    let panics = "Panics in background work, each a bug of this program";
    registry.register("background_panics", panics, metrics.background_panics.clone());
    let renewals = "Attempts to renew providers' tokens by outcome; operator: a registration is wrong, not_stored: the database failed";
    registry.register("token_renewals", renewals, metrics.renewals.clone());
    registry.register_with_unit(
        "jobs_turn",
        "Duration of job runs, by kind",
        Unit::Seconds,
        metrics.turn_seconds.clone(),
    );
    let turns = "Job runs, by kind and outcome";
    registry.register("jobs_turns", turns, metrics.turns.clone());
    let statements = "Statements sent to the database, by operation or kind of job";
    registry.register("database_statements", statements, metrics.statements.clone());
    let rows = "Rows that statements returned or changed, by operation or kind of job";
    registry.register("database_rows", rows, metrics.statement_rows.clone());
    let takeovers = "Jobs that this host took over from hosts whose lease had expired";
    registry.register("jobs_takeovers", takeovers, metrics.takeovers.clone());
    let dropped = "Requests missing from the request log because its buffer was full or the database failed";
    registry.register("request_log_dropped", dropped, metrics.request_log_dropped.clone());
    let notifications = "Notifications of providers, by connector and outcome; wrong_secret, unknown_watch: not from a known watch; unproved: without a secret, treated as a hint; no_keys: not verified, because the provider's keys could not be fetched";
    registry.register("provider_notifications", notifications, metrics.notifications.clone());
    registry.register("rate_limit_callers", "API keys and addresses in the rate limiter", gauge(callers));
    registry.register(
        "log_lines_dropped",
        "Lines of the log that could not be written to stderr, or waited too long for its reader",
        ConstCounter::new(log_queue::dropped_lines()),
    );
    let build = vec![("version", env!("CARGO_PKG_VERSION"))];
    registry.register("build", "The running version", prometheus_client::metrics::info::Info::new(build));
}

type Labels = Vec<(&'static str, String)>;

fn connectors(registry: &mut Registry, app: &App) {
    let calls = Family::<Labels, Counter>::default();
    let (wall, cpu, queue) = (seconds(), seconds(), seconds());
    let http_requests = Family::<Labels, Counter>::default();
    let (peak, running, in_service) = (
        Family::<Labels, Gauge>::default(),
        Family::<Labels, Gauge>::default(),
        Family::<Labels, Gauge>::default(),
    );
    for loaded in app.runtime.list() {
        let (stats, name) = (loaded.stats(), || ("connector", loaded.manifest.name.clone()));
        for (surface, verb, code, n) in &stats.outcomes {
            let labels = vec![
                name(),
                ("surface", surface.to_string()),
                ("verb", verb.to_string()),
                ("code", (*code).to_owned()),
            ];
            calls.get_or_create(&labels).inc_by(*n);
        }
        let of_this = vec![name()];
        for (family, us) in [(&wall, stats.wall_us), (&cpu, stats.cpu_us), (&queue, stats.queue_us)] {
            family.get_or_create(&of_this).inc_by(Duration::from_micros(us).as_secs_f64());
        }
        http_requests.get_or_create(&of_this).inc_by(stats.http_requests);
        peak.get_or_create(&of_this).set(i64::try_from(stats.peak_memory).unwrap_or(i64::MAX));
        running.get_or_create(&of_this).set(i64::try_from(stats.running).unwrap_or(i64::MAX));
        let version = vec![name(), ("version", loaded.manifest.version.clone())];
        in_service.get_or_create(&version).set(1);
    }
    let registry = registry.sub_registry_with_prefix("switchboard_connector");
    registry.register("calls", "Finished calls of connectors by outcome", calls);
    registry.register_with_unit(
        "call_wall",
        "Duration of calls, including the wait for providers",
        Unit::Seconds,
        wall,
    );
    registry.register_with_unit("call_cpu", "CPU time of connectors", Unit::Seconds, cpu);
    registry.register_with_unit("call_queue", "Time that calls waited for a permit", Unit::Seconds, queue);
    registry.register("http_requests", "HTTP requests of connectors to providers", http_requests);
    registry.register_with_unit("peak_memory", "Peak memory of a call", Unit::Bytes, peak);
    registry.register("running_calls", "Calls in flight now", running);
    registry.register("in_service", "1 for the version in service", in_service);
    let problems = app.runtime.status().problems.len();
    registry.register("problems", "Connectors that could not be loaded", gauge(problems));
}

fn seconds() -> Family<Labels, Counter<f64, std::sync::atomic::AtomicU64>> {
    Family::default()
}

fn sandbox(registry: &mut Registry, app: &App) {
    let status = app.runtime.status();
    let registry = registry.sub_registry_with_prefix("switchboard_runtime");
    registry.register(
        "running_calls",
        "Calls of connectors that have a permit now",
        gauge(status.occupancy.running),
    );
    registry.register(
        "queued_calls",
        "Calls of connectors that wait for a permit",
        gauge(status.occupancy.queued),
    );
    let memory = gauge(status.occupancy.memory_mib << 20);
    registry.register_with_unit("reserved_memory", "Memory that running calls may use", Unit::Bytes, memory);
    let Some(pool) = status.pool else { return };
    let slots = Family::<Labels, Gauge>::default();
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    for (kind, used) in [
        ("component_instances", count(pool.component_instances)),
        ("core_instances", count(pool.core_instances)),
        ("memories", count(pool.memories as u64)),
        ("tables", count(pool.tables as u64)),
        ("stacks", count(pool.stacks as u64)),
    ] {
        slots.get_or_create(&vec![("kind", kind.to_owned())]).set(used);
    }
    registry.register("pool_slots_used", "Slots of the instance pool in use", slots);
}

async fn store(registry: &mut Registry, app: &App) {
    let (up, counted) = match tokio::time::timeout(STORE_TIMEOUT, count(app)).await {
        Ok(Ok(counted)) => (1, counted),
        _ => (0, StoreCounts::default()),
    };
    let registry = registry.sub_registry_with_prefix("switchboard");
    registry.register("store_up", "1 when the database answers", gauge(up));
    registry.register(
        "store_queued_writes",
        "Writes that wait for the database",
        gauge(app.db.queued_writes()),
    );
    registry.register(
        "store_write_retries",
        "Writes that were retried because the database aborted them in favour of others",
        ConstCounter::new(app.db.write_retries()),
    );
    if let Some(database) = app.config.sqlite_file() {
        let mut wal = database.into_os_string();
        wal.push("-wal");
        let bytes = std::fs::metadata(wal).map_or(0, |m| m.len());
        registry.register_with_unit(
            "store_wal",
            "Size of SQLite's write-ahead log",
            Unit::Bytes,
            gauge(bytes),
        );
    }
    pools(registry, app);
    let (oldest, followed, stuck) = (
        Family::<Labels, Gauge>::default(),
        Family::<Labels, Gauge>::default(),
        Family::<Labels, Gauge>::default(),
    );
    for lag in counted.lags {
        let labels = vec![("surface", lag.surface)];
        let behind_ms = lag.oldest_success_at.map_or(0, |at| (app.now() - at).max(0));
        oldest.get_or_create(&labels).set(behind_ms / 1_000);
        followed.get_or_create(&labels).set(lag.followed);
        stuck.get_or_create(&labels).set(lag.stuck);
    }
    let lag = "Age of the oldest local copy that is kept in sync, without the stuck ones";
    registry.register_with_unit("sync_lag", lag, Unit::Seconds, oldest);
    registry.register("sync_followed", "Collections that are kept in sync", followed);
    registry.register("sync_stuck", "Of them, those whose last pull failed", stuck);
    jobs(registry, &counted.jobs, app.now());
    if app.db.is_shared() {
        let deviation = "Time by which this machine's clock is ahead of the database's, which the host uses";
        let seconds = Duration::from_millis(app.clock_deviation.ms().unsigned_abs()).as_secs_f64();
        let seconds = if app.clock_deviation.ms() < 0 { -seconds } else { seconds };
        registry.register_with_unit("clock_deviation", deviation, Unit::Seconds, ConstGauge::new(seconds));
        let hears = "1 while this host receives notifications of commits on other hosts; 0: it polls for work every second";
        registry.register("jobs_listen", hears, gauge(i64::from(app.db.wakes().hears())));
    }
}

/// Counts that are read from the database.
#[derive(Default)]
struct StoreCounts {
    lags: Vec<Lag>,
    jobs: Vec<Count>,
}

/// Registers the use of database connections by each kind of work. `registry` already has the prefix.
fn pools(registry: &mut Registry, app: &App) {
    let (most, in_use, waiting) = (
        Family::<Labels, Gauge>::default(),
        Family::<Labels, Gauge>::default(),
        Family::<Labels, Gauge>::default(),
    );
    for pool in app.db.pool_usage() {
        let lane = vec![("lane", pool.lane.to_owned())];
        most.get_or_create(&lane).set(pool.most.into());
        in_use.get_or_create(&lane).set(pool.in_use.into());
        waiting.get_or_create(&lane).set(i64::try_from(pool.waiting).unwrap_or(i64::MAX));
    }
    registry.register("store_connections_max", "Maximum connections to the database", most);
    registry.register("store_connections_in_use", "Connections to the database that are in use", in_use);
    let waits = "Reads and writes that wait for a connection, or for their application's share of them";
    registry.register("store_connections_waiting", waits, waiting);
}

async fn count(app: &App) -> Result<StoreCounts> {
    let reader = app.db.reader();
    Ok(StoreCounts { lags: sync_states::lags(reader).await?, jobs: job_admin::counts(reader).await? })
}

/// Registers the counts of jobs, which are the same on every host, because the table is: an alert takes the maximum over them.
fn jobs(registry: &mut Registry, counts: &[Count], now: i64) {
    let (number, waiting) = (Family::<Labels, Gauge>::default(), Family::<Labels, Gauge>::default());
    for count in counts {
        let class = ("class", count.class.clone());
        number.get_or_create(&vec![class.clone(), ("state", count.state.clone())]).set(count.jobs);
        if count.state == "queued" {
            let due_ms = count.oldest_due_at.map_or(0, |at| (now - at).max(0));
            waiting.get_or_create(&vec![class]).set(due_ms / 1_000);
        }
    }
    registry.register("jobs", "Jobs, by class and state", number);
    let oldest = "Time for which the oldest due job has been due";
    registry.register_with_unit("jobs_oldest_due", oldest, Unit::Seconds, waiting);
}

/// Registers the standard process metrics of Prometheus. Linux only.
fn process(registry: &mut Registry) {
    // Fields of statm are in pages; the second is the resident set (proc_pid_statm(5)).
    let resident_pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|statm| statm.split(' ').nth(1)?.parse::<usize>().ok());
    if let Some(pages) = resident_pages {
        let bytes = gauge(pages * rustix::param::page_size());
        registry.register_with_unit(
            "process_resident_memory",
            "Resident memory of the process",
            Unit::Bytes,
            bytes,
        );
    }
    if let Ok(entries) = std::fs::read_dir("/proc/self/fd") {
        registry.register(
            "process_open_fds",
            "Open files and sockets of the process",
            gauge(entries.count()),
        );
    }
    if let Ok(times) = rustix_cpu_seconds() {
        registry.register_with_unit(
            "process_cpu",
            "CPU time of the process",
            Unit::Seconds,
            ConstCounter::new(times),
        );
    }
}

fn rustix_cpu_seconds() -> Result<f64, std::num::TryFromIntError> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(Duration::new(u64::try_from(time.tv_sec)?, u32::try_from(time.tv_nsec)?).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    #[test]
    fn requests_are_told_by_template_and_invented_methods_are_one() {
        let metrics = Metrics::default();
        let took = Duration::from_millis(3);
        metrics.observe("/v1/calendars/{calendarId}", &Method::GET, 200, took);
        metrics.observe("", &Method::from_bytes(b"BREW").unwrap(), 404, took);
        metrics.observe("", &Method::from_bytes(b"STIR").unwrap(), 404, took);
        let mut registry = Registry::default();
        requests(&mut registry, &metrics, 7);
        let mut page = String::new();
        encode(&mut page, &registry).unwrap();
        for line in [
            "http_server_request_duration_seconds_count{http_route=\"/v1/calendars/{calendarId}\",http_request_method=\"GET\",http_response_status_code=\"200\"} 1",
            "http_server_request_duration_seconds_count{http_route=\"unmatched\",http_request_method=\"_OTHER\",http_response_status_code=\"404\"} 2",
            "switchboard_rate_limit_callers 7",
        ] {
            assert!(page.contains(line), "{page}");
        }
    }
}
