//! One call: a fresh store and a fresh instance, under every limit, and dropped afterwards in any case.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use wasmtime::component::{InstancePre, ResourceTable};
use wasmtime::{Store, UpdateDeadline};

use crate::bindings::{CallFn, Failure, Request, Response};
use crate::blobs::Blobs;
use crate::call::{Answer, Call};
use crate::code::{Blame, Code};
use crate::error::Error;
use crate::extra;
use crate::guests::Computes;
use crate::limits::Limits;
use crate::loaded::{LoadedConnector, TRIAL_CPU};
use crate::log::{LineObserver, LogBook, harmless};
use crate::manifest::Level;
use crate::observer::{CallObserver, ObservedCall};
use crate::outbound::wasi_http::WasiHttp;
use crate::outbound::{
    CallEgress, Credentials, Egress, LONGEST_WAIT_MS, Meter, NoCredentials, PaceRules, Policy,
};
use crate::state::{Cpu, HostCalls, Memory, NowMs, Progress, Random, State};
use crate::stats::CallStats;
use crate::surface::{Surface, Verb};
use crate::traps;
use crate::wasi;

/// Limits, egress and clock that all calls share.
pub(crate) struct Sandbox {
    pub(crate) limits: Limits,
    pub(crate) egress: Arc<Egress>,
    pub(crate) now: NowMs,
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
}

/// The tenant and connection of a call, and the policy and credentials that it may use.
struct Context {
    tenant: String,
    connection: String,
    called: ObservedCall,
    policy: Policy,
    pacing: PaceRules,
    credentials: Arc<dyn Credentials>,
    seed: Option<u64>,
    blobs: Blobs,
    cpu: Cpu,
    wall: Duration,
    progress: Option<Arc<dyn Progress>>,
}

type Outcome = wasmtime::Result<Result<Response, Failure>>;

impl Sandbox {
    /// Calls one function of a connector; the call is admitted already.
    pub(crate) async fn call(
        &self,
        loaded: &LoadedConnector,
        call: Call,
        computes: Computes,
    ) -> Result<Answer, Error> {
        let verb = (call.surface, call.verb);
        let wall = call.context.timeout_ms.map_or(self.limits.wall_ms, |ms| ms.min(self.limits.wall_ms));
        let wall = Duration::from_millis(wall);
        let called = ObservedCall {
            connector: loaded.name.clone(),
            of: Some(verb),
            op: call.op.clone(),
            request_id: call.context.request_id,
        };
        let request = Request {
            op: call.op,
            body: call.body,
            cursor: call.cursor,
            idempotency_key: call.idempotency_key,
            deadline_ms: u32::try_from(wall.as_millis()).unwrap_or(u32::MAX),
            extra: call.extra,
        };
        let policy = Policy::new(loaded.manifest.clone(), &call.context.settings, &self.egress.approved)
            .with_overrides(call.context.origins);
        let pacing = PaceRules {
            limits: call.context.limits.unwrap_or_else(|| loaded.limits.clone()),
            // Mutations are not deferred: a message that is to be sent now has precedence over the sync of mail.
            is_background: call.context.background && call.verb != Verb::Mutate,
            now: self.now.clone(),
        };
        let context = Context {
            tenant: call.context.tenant,
            connection: call.context.connection_id,
            called: called.clone(),
            policy,
            pacing,
            credentials: call.context.credentials,
            seed: call.context.seed,
            blobs: call.blobs,
            cpu: Cpu::new(Duration::from_millis(self.limits.cpu_ms), computes),
            wall,
            progress: call.context.progress,
        };
        let started = Instant::now();
        let mut store = self.store(loaded, context).map_err(|e| Error::new(Code::Host, format!("{e:#}")))?;
        let work = run(&loaded.pre, &loaded.index[&verb], &mut store, request);
        // The timeout is outside everything: epochs do not fire while the host works or waits.
        let outcome = tokio::time::timeout(wall, work).await;
        let stats = CallStats { wall_us: micros(started.elapsed()), ..figures(store.data()) };
        let judged = self.judge(&store, outcome, stats);
        if let Some(observer) = &self.observer {
            observer.ended(&called, judged.as_ref());
        }
        judged
    }

    /// Starts the component once, calls nothing, and checks the types of its functions. Returns the cost of the start.
    pub(crate) async fn trial(&self, loaded: &LoadedConnector) -> anyhow::Result<CallStats> {
        let wall = Duration::from_secs(5);
        let context = Context {
            tenant: String::new(),
            connection: String::new(),
            called: ObservedCall {
                connector: loaded.name.clone(),
                of: None,
                op: "start".to_owned(),
                request_id: "trial".to_owned(),
            },
            policy: Policy::new(loaded.manifest.clone(), &serde_json::Map::new(), &[]),
            pacing: PaceRules::unlimited(self.now.clone()),
            credentials: Arc::new(NoCredentials),
            seed: None,
            blobs: Blobs::new(0),
            cpu: Cpu::new(TRIAL_CPU, Computes::default()),
            wall,
            progress: None,
        };
        let mut store = self.store(loaded, context)?;
        let work = async {
            let instance = loaded.pre.instantiate_async(&mut store).await?;
            let mut wrong = Vec::new();
            for ((surface, verb), at) in &loaded.index {
                if let Err(error) = get(&instance, &mut store, at) {
                    wrong.push(format!("{surface}.{verb}: {error:#}"));
                }
            }
            Ok::<_, wasmtime::Error>(wrong)
        };
        match tokio::time::timeout(wall, work).await {
            Ok(Ok(wrong)) if wrong.is_empty() => Ok(figures(store.data())),
            Ok(Ok(wrong)) => {
                anyhow::bail!("a function has another signature than wit/ says: {}", wrong.join("; "))
            }
            Ok(Err(error)) => {
                let code = traps::code(&error, store.data());
                anyhow::bail!(
                    "the component does not start: {code}: {}",
                    traps::report(&error, store.data()).detail
                )
            }
            Err(_) => anyhow::bail!("the component does not start: deadline: more than {} s", wall.as_secs()),
        }
    }

    fn log(&self, called: ObservedCall) -> LogBook {
        let bounds = (self.limits.log_lines, self.limits.log_line_bytes);
        let of = (called.connector.clone(), called.request_id.clone());
        let seen_by = self
            .observer
            .clone()
            .map(|observer| -> LineObserver { Box::new(move |line| observer.line(&called, line)) });
        LogBook::new((of.0, &of.1), bounds, seen_by)
    }

    fn store(&self, loaded: &LoadedConnector, cx: Context) -> wasmtime::Result<Store<State>> {
        let limits = &self.limits;
        let log = self.log(cx.called);
        let wasi = match loaded.manifest.level {
            Level::Strict => None,
            Level::Compat => Some(wasi::context(&log, &self.now, cx.seed)?),
        };
        let egress = CallEgress {
            shared: self.egress.clone(),
            policy: cx.policy,
            pacing: cx.pacing,
            credentials: cx.credentials,
            tenant: cx.tenant,
            connection: cx.connection,
            connector: loaded.name.clone(),
            blobs: cx.blobs.clone(),
            // A little before the call's own end, so that the guest can still report the error.
            deadline: Instant::now() + cx.wall - (cx.wall / 10).min(Duration::from_millis(500)),
            meter: Meter::default(),
            redactor: Default::default(),
            turns: Semaphore::new(limits.http_concurrent),
        };
        let egress = Arc::new(egress);
        let mut table = ResourceTable::new();
        // Some handles have memory of the host behind them: header fields, pieces of bodies (the sizes are in `wasi_http`).
        table.set_max_capacity(2_000);
        let state = State {
            cpu: cx.cpu,
            memory: Memory::new(loaded.memory_mib << 20, cx.blobs.clone()),
            log,
            blobs: cx.blobs,
            wasi_http: WasiHttp::new(egress.clone()),
            egress,
            now: self.now.clone(),
            random: Random::new(cx.seed),
            host_calls: HostCalls::new(limits.host_calls),
            progress: cx.progress,
            wasi,
            table,
        };
        let mut store = Store::new(loaded.pre.engine(), state);
        store.limiter(|s| &mut s.memory);
        // Bounds the bytes that a guest makes the host copy in one step, and so the answer.
        store.set_hostcall_fuel(limits.output_bytes);
        store.set_max_component_handles(10_000);
        meter(&mut store);
        Ok(store)
    }

    fn judge(
        &self,
        store: &Store<State>,
        outcome: Result<Outcome, tokio::time::error::Elapsed>,
        stats: CallStats,
    ) -> Result<Answer, Error> {
        let state = store.data();
        let mut error = match outcome {
            Ok(Ok(Ok(response))) => match self.check(&response) {
                Ok(()) => {
                    return Ok(Answer {
                        body: response.body,
                        cursor: response.cursor,
                        more: response.more,
                        extra: response.extra,
                        blobs: state.blobs.clone(),
                        stats,
                    });
                }
                Err(why) => self.with_log(Error::bad_output(why), state),
            },
            Ok(Ok(Err(failure))) => self.with_log(of_failure(failure, state), state),
            Ok(Err(trap)) => {
                let mut error = Error::new(traps::code(&trap, state), "");
                *error.author = traps::report(&trap, state);
                error
            }
            Err(_) => {
                let meter = &state.egress.meter;
                let mostly_waited = meter.requests() > 0 && stats.cpu_us < stats.wall_us / 4;
                let waits = meter.waits_for_provider() || mostly_waited;
                let mut error = Error::new(
                    Code::Deadline,
                    format!(
                        "{} ms of wall time, {} ms of it computing",
                        stats.wall_us / 1_000,
                        stats.cpu_us / 1_000
                    ),
                );
                error.blame = if waits { Blame::Provider } else { Blame::Connector };
                self.with_log(error, state)
            }
        };
        if error.is_transient() {
            // Connectors that return an error of their own for a provider's answer need not repeat its header.
            error.retry_after_ms = error.retry_after_ms.or(stats.provider_retry_after_ms);
        }
        error.stats = stats;
        Err(error)
    }

    /// Whether the body of an answer is JSON of a bounded depth, and its `extra` is bounded. The body's length is bounded too,
    /// and parsing still takes milliseconds.
    fn check(&self, response: &Response) -> Result<(), String> {
        extra::ensure_bounded(&response.extra)?;
        let body = &response.body;
        compute::at_once(body.len(), || traps::check_json(body, self.limits.output_depth))
    }

    fn with_log(&self, mut error: Error, state: &State) -> Error {
        (error.author.log, error.author.dropped_lines) = state.log.report();
        error
    }
}

/// Converts the deliberate failure of a guest. Its sentence is meant for users, so it is passed on, sanitized.
fn of_failure(failure: Failure, state: &State) -> Error {
    let clean = |text: String| state.egress.redact(text);
    let code = Code::of_failure(&failure.code);
    let detail = clean(failure.detail.unwrap_or_default());
    let mut error = Error::new(code, harmless(&detail, 16 << 10));
    match code {
        // An unknown code or "internal": its message may not be fit for users.
        Code::ConnectorFailure => {
            let said = format!("{}: {} {}", failure.code, clean(failure.message), error.author.detail);
            error.author.detail = harmless(&said, 16 << 10);
        }
        _ if failure.message.trim().is_empty() => {}
        _ => error.message = harmless(&clean(failure.message), 300),
    }
    error.retry_after_ms = failure.retry_after_ms.map(|ms| u64::from(ms).min(LONGEST_WAIT_MS));
    error.provider_status = failure.http_status;
    error
}

async fn run(
    pre: &InstancePre<State>,
    at: &wasmtime::component::ComponentExportIndex,
    store: &mut Store<State>,
    request: Request,
) -> Outcome {
    let instance = pre.instantiate_async(&mut *store).await?;
    let function = get(&instance, store, at)?;
    function.call_async(&mut *store, (request,)).await.map(|(result,)| result)
}

fn get(
    instance: &wasmtime::component::Instance,
    store: &mut Store<State>,
    at: &wasmtime::component::ComponentExportIndex,
) -> wasmtime::Result<CallFn> {
    instance.get_typed_func(store, at)
}

/// Arms the CPU meter. Before instantiation: the deadline of a new store is 0 and would trap at once.
fn meter(store: &mut Store<State>) {
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|cx| {
        let cpu = cx.data().cpu.clone();
        if !cpu.tick()? {
            return Ok(UpdateDeadline::Continue(1));
        }
        // After a tick of computing the guest yields to others.
        let turn = async move {
            tokio::task::yield_now().await;
            cpu.resume();
        };
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(turn)))
    });
}

fn figures(state: &State) -> CallStats {
    state.cpu.pause();
    let now = (state.now)();
    CallStats {
        queue_us: 0,
        wall_us: 0,
        cpu_us: micros(state.cpu.used()),
        peak_memory: state.memory.peak as u64,
        http_requests: state.egress.meter.requests(),
        failed_requests: state.egress.meter.failed_requests(),
        provider_retry_after_ms: state.egress.meter.retry_after_ms(now).map(|ms| ms.min(LONGEST_WAIT_MS)),
        buckets: state.egress.meter.buckets(now),
    }
}

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Counts a call as running for as long as it lives.
pub(crate) struct RunningCall<'a>(&'a LoadedConnector);

impl<'a> RunningCall<'a> {
    pub(crate) fn new(loaded: &'a LoadedConnector) -> Self {
        loaded.stats.started();
        RunningCall(loaded)
    }

    pub(crate) fn record_outcome(&self, of: (Surface, Verb), result: &Result<Answer, Error>) {
        let (code, stats) = match result {
            Ok(answer) => (None, &answer.stats),
            Err(error) => (Some(error.code), &error.stats),
        };
        self.0.stats.record(of.0, of.1, code, stats);
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.stats.ended();
    }
}
