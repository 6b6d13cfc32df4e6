//! The kind `deliver`: sends the events that a webhook wants to its endpoint. There is one job for each webhook, so that one host at a time
//! works on an endpoint. A turn first repeats what is due again, then goes on in the log from the webhook's cursor.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::error::{Error, Result};
use base::ids::Kind;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use model::webhook::DeliveryStatus;
use storage::Tx;
use storage::jobs::{self, End, Job};
use storage::log as lines;
use storage::wakes::JobClass;
use storage::webhooks::deliveries::{self as table, Delivery, Endpoint, Health, Standing};

use crate::app::App;
use crate::jobs::fanout::wanted_of;
use crate::jobs::kind::{JobKind, Next, RetryDelay, Turn};
use crate::log::{self, Note, Origin};
use crate::webhooks::attempt::{self, AttemptOutcome, OpenSubscription, Verdict};
use crate::webhooks::kinds::Matcher;

/// The kind.
pub const DELIVER: JobKind = JobKind {
    name: "deliver",
    class: JobClass::Deliver,
    deadline_ms: Some(90_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 5 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// Deliveries that a turn repeats at most.
const REPEATED: i64 = 64;
/// Lines of the log that a turn looks at.
const PAGE: i64 = 256;
/// A turn starts no attempt after this time: others have their turn.
const BUDGET: Duration = Duration::from_secs(10);
/// Replayed deliveries that are under way at a time: what is new has room beside them.
const MAX_REPLAYED: usize = 4;
/// Deliveries that one step gives up when a webhook is disabled.
const STEP: i64 = 500;

async fn run(turn: &Turn) -> Result<Next> {
    let (app, webhook_id) = (&turn.app, turn.job.key());
    let Some(endpoint) = table::find_endpoint(app.db.reader(), webhook_id).await? else {
        return Ok(Next::Done);
    };
    match endpoint.status.as_str() {
        "active" => {}
        "disabled" => return discard(app, webhook_id).await,
        // It keeps its cursor, and is woken when it is resumed.
        _ => return Ok(Next::Park),
    }
    if let Some(until) = endpoint.health.not_before.filter(|until| *until > app.now()) {
        return Ok(Next::At(until));
    }
    let work = find_work(app, webhook_id, &endpoint).await?;
    let mut sending = Sending::new(turn, endpoint, work)?;
    sending.run().await?;
    sending.end().await
}

/// Gives up what waits for a webhook that is disabled, step by step.
async fn discard(app: &App, webhook_id: &str) -> Result<Next> {
    let (id, now) = (webhook_id.to_owned(), app.now());
    let discarded: Result<u64> =
        app.db.write(move |tx| Box::pin(async move { Ok(table::discard(tx, &id, now, STEP).await?) })).await;
    Ok(if discarded? == 0 { Next::Park } else { Next::At(now) })
}

/// What a turn has to do.
struct Work {
    /// In the order in which it is begun.
    deliveries: VecDeque<Delivery>,
    /// Numbers of the log that have no delivery yet.
    unsettled: BTreeSet<i64>,
    /// Up to here the log was read.
    up_to: i64,
    /// There may be more.
    is_full: bool,
}

async fn find_work(app: &App, webhook_id: &str, endpoint: &Endpoint) -> Result<Work> {
    let (reader, tenant) = (app.db.reader(), &endpoint.tenant);
    let repeated = table::due(reader, webhook_id, app.now(), REPEATED).await?;
    let is_full = i64::try_from(repeated.len()).is_ok_and(|count| count >= REPEATED);
    let mut deliveries = VecDeque::from(repeated);
    // What lies between the cursor and the first event that was found for it is not for it.
    let after = endpoint.wake_from.map_or(endpoint.cursor, |from| endpoint.cursor.max(from - 1));
    let last = lines::last_sequence(reader, tenant).await?;
    let mut found = lines::light_after(reader, tenant, after, PAGE).await?;
    found.retain(|line| line.sequence <= last);
    let is_page = i64::try_from(found.len()).is_ok_and(|count| count >= PAGE);
    let up_to = found.last().filter(|_| is_page).map_or(last.max(after), |line| line.sequence);
    let written = table::written(reader, webhook_id, after, up_to).await?;
    let matcher = Matcher::new(&[wanted_of(endpoint.filters.clone())]);
    found.retain(|line| {
        let connection_id = line.connection_id.as_deref();
        let is_wanted = matcher
            .matching(&line.entry_type, connection_id, &line.origin, &line.resource_id)
            .next()
            .is_some();
        is_wanted && written.binary_search(&line.sequence).is_err()
    });
    let unsettled = found.iter().map(|line| line.sequence).collect();
    deliveries.extend(found.into_iter().map(|line| Delivery {
        id: app.new_id(Kind::Delivery),
        sequence: line.sequence,
        replay_id: String::new(),
        event_id: line.id,
        resource_id: line.resource_id,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: None,
    }));
    Ok(Work { deliveries, unsettled, up_to, is_full: is_full || is_page })
}

/// A turn's attempts, and the write of what became of those that have ended. One write is under way at a time, and takes everything that
/// ended since the last.
struct Sending {
    app: App,
    job: Job,
    to: Arc<OpenSubscription>,
    work: Work,
    health: Health,
    /// What there are attempts for now.
    under_way: BTreeSet<String>,
    /// How many of these are of replays.
    replayed: usize,
    ended: Vec<AttemptOutcome>,
    /// No attempt is begun any more.
    is_over: bool,
    began: Instant,
}

type Attempting = BoxFuture<'static, Result<AttemptOutcome>>;
type Writing = BoxFuture<'static, Result<Option<Standing>>>;

impl Sending {
    fn new(turn: &Turn, endpoint: Endpoint, work: Work) -> Result<Sending> {
        let health = endpoint.health.clone();
        Ok(Sending {
            app: turn.app.clone(),
            job: turn.job.clone(),
            to: Arc::new(OpenSubscription::open(&turn.app, endpoint)?),
            work,
            health,
            under_way: BTreeSet::new(),
            replayed: 0,
            ended: Vec::new(),
            is_over: false,
            began: Instant::now(),
        })
    }

    async fn run(&mut self) -> Result<()> {
        let mut attempts: FuturesUnordered<Attempting> = FuturesUnordered::new();
        let mut writing: Option<Writing> = None;
        loop {
            self.begin(&attempts);
            if writing.is_none() && !self.ended.is_empty() {
                writing = Some(self.write());
            }
            if attempts.is_empty() && writing.is_none() {
                return Ok(());
            }
            tokio::select! {
                Some(outcome) = attempts.next() => self.take(outcome?),
                standing = written(&mut writing) => {
                    writing = None;
                    // Changed, paused, disabled or deleted: the next turn reads it anew.
                    let endpoint = &self.to.endpoint;
                    self.is_over |= !standing?.is_some_and(|now| {
                        now.status == endpoint.status && now.updated_at == endpoint.updated_at
                    });
                }
            }
        }
    }

    /// Begins attempts while there is room: one at a time for each resource, in the order of the events.
    fn begin(&mut self, attempts: &FuturesUnordered<Attempting>) {
        let probing = self.health.consecutive_failures >= attempt::PROBING_AFTER;
        let most = if probing { 1 } else { usize::try_from(self.to.endpoint.max_concurrent).unwrap_or(1) };
        self.is_over |= self.began.elapsed() > BUDGET
            || self.health.not_before.is_some_and(|until| until > self.app.now());
        while !self.is_over && attempts.len() < most {
            let has_room = |d: &Delivery| d.replay_id.is_empty() || self.replayed < MAX_REPLAYED;
            let is_free = |d: &Delivery| has_room(d) && !self.under_way.contains(&d.resource_id);
            let Some(at) = self.work.deliveries.iter().position(is_free) else { return };
            let Some(delivery) = self.work.deliveries.remove(at) else { return };
            self.under_way.insert(delivery.resource_id.clone());
            self.replayed += usize::from(!delivery.replay_id.is_empty());
            let (app, to) = (self.app.clone(), self.to.clone());
            attempts.push(Box::pin(async move { attempt::attempt(&app, &to, delivery).await }));
        }
    }

    fn take(&mut self, outcome: AttemptOutcome) {
        self.under_way.remove(&outcome.delivery.resource_id);
        self.replayed -= usize::from(!outcome.delivery.replay_id.is_empty());
        self.ended.push(outcome);
    }

    /// Writes what has ended, with how the endpoint stands after it.
    fn write(&mut self) -> Writing {
        let ended = std::mem::take(&mut self.ended);
        let now = self.app.now();
        let (mut outcomes, mut disabled) = (Vec::with_capacity(ended.len()), None);
        for AttemptOutcome { delivery, verdict, failure } in ended {
            let is_replay = !delivery.replay_id.is_empty();
            if let Some(verdict) = verdict {
                let after = attempt::after(&self.health, (&verdict, failure), now);
                if !is_replay {
                    self.health = after.health;
                    disabled = disabled.or(after.disabled);
                } else if verdict != Verdict::Delivered {
                    // A replay counts for nothing, but the endpoint has its pause.
                    self.health.not_before = after.health.not_before;
                }
            }
            // The event itself may still wait for its first delivery.
            if !is_replay {
                self.work.unsettled.remove(&delivery.sequence);
            }
            outcomes.push(delivery);
        }
        self.is_over |= disabled.is_some();
        let written = Written {
            app: self.app.clone(),
            job: self.job.clone(),
            to: self.to.clone(),
            outcomes,
            cursor: self.cursor(),
            health: self.health.clone(),
            disabled,
        };
        let db = self.app.db.clone();
        Box::pin(async move { db.write(move |tx| Box::pin(written.write(tx, now))).await })
    }

    /// Up to here everything has a delivery or is not for the webhook.
    fn cursor(&self) -> i64 {
        self.work.unsettled.first().map_or(self.work.up_to, |first| first - 1)
    }

    /// Ends the turn: the cursor is kept, and the job comes again when there is something to do.
    async fn end(self) -> Result<Next> {
        let app = self.app.clone();
        let (now, is_done) = (app.now(), self.work.deliveries.is_empty() && !self.work.is_full);
        let (cursor, not_before, health) = (self.cursor(), self.health.not_before, self.health);
        let (job, to) = (self.job, self.to);
        app.db
            .write(move |tx| {
                Box::pin(async move {
                    let settled = (cursor, &health);
                    let of = (to.id.as_str(), &to.endpoint.tenant);
                    let standing = table::write_outcomes(tx, of, &[], settled, now).await?;
                    let is_active = standing.is_some_and(|standing| standing.status == "active");
                    let due_at = if is_active && is_done {
                        table::rest(tx, &to.id).await?;
                        table::next_due(&mut *tx, &to.id).await?
                    } else {
                        // A webhook that is no longer active has its own end, which the next turn sees to.
                        Some(now)
                    };
                    let due_at = due_at.map(|at| at.max(not_before.filter(|_| is_active).unwrap_or(at)));
                    let end = End { due_at, done_at: Some(now), ..End::default() };
                    jobs::reschedule(tx, &job, &end, now).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok(Next::Committed)
    }
}

/// What the write came to; it never ends where there is none.
async fn written(writing: &mut Option<Writing>) -> Result<Option<Standing>> {
    match writing {
        Some(writing) => writing.await,
        None => std::future::pending().await,
    }
}

/// What a write takes along.
#[derive(Clone)]
struct Written {
    app: App,
    job: Job,
    to: Arc<OpenSubscription>,
    outcomes: Vec<Delivery>,
    cursor: i64,
    health: Health,
    disabled: Option<&'static str>,
}

impl Written {
    async fn write(self, tx: &mut Tx, now: i64) -> Result<Option<Standing>> {
        let (tenant, id) = (&self.to.endpoint.tenant, self.to.id.as_str());
        if let Some(reason) = self.disabled {
            // The log before the webhook: the application's row is locked first.
            log::append(tx, &self.app, tenant, vec![note(id, reason)]).await?;
        }
        let settled = (self.cursor, &self.health);
        let mut standing = table::write_outcomes(tx, (id, tenant), &self.outcomes, settled, now).await?;
        if let Some(reason) = self.disabled {
            let [random] = self.app.entropy.bytes::<1>();
            let etag = format!("\"{now:x}{random:02x}\"");
            table::disable(tx, id, (reason, &etag), now).await?;
            standing = None;
            tracing::info!(webhook = %id, reason, "a webhook is disabled");
        }
        jobs::check_fence(tx, &self.job, Some("{}"), now).await?;
        Ok(standing)
    }
}

/// The line that tells of a webhook that was disabled.
fn note(webhook_id: &str, reason: &str) -> Note {
    Note {
        connection_id: None,
        entry_type: "webhook.disabled".to_owned(),
        change_type: "state",
        resource_type: "webhook",
        resource_id: webhook_id.to_owned(),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: Origin::System,
        resource: Some(serde_json::json!({ "id": webhook_id, "disabledReason": reason }).to_string()),
    }
}
