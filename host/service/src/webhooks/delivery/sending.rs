//! The attempts of a delivery run: concurrent within the limits of the webhook and its endpoint, and in the order of the events of each
//! resource.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base::error::Result;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use model::webhook::DeliveryStatus;
use storage::jobs::Job;
use storage::wakes::JobClass;
use storage::webhooks::deliveries::{Delivery, Health};

use crate::app::App;
use crate::job_runner::kind::{JobEnd, JobRun};
use crate::job_runner::permits;
use crate::webhooks::attempt::{self, AttemptOutcome, AttemptRecord, OpenSubscription};
use crate::webhooks::delivery::concurrency::AttemptPermit;
use crate::webhooks::delivery::outcomes::{PendingWrite, TurnEnd, WriteFollowUp, WriteResult};
use crate::webhooks::delivery::rate::Rate;
use crate::webhooks::delivery::work::Work;
use crate::webhooks::figures::Figures;
use crate::webhooks::health::{self, HealthVerdict};

const CLASS: JobClass = JobClass::Deliver;
/// Time after which a run starts no attempt, so that other jobs run.
const BUDGET: Duration = Duration::from_secs(10);
/// Parked deliveries after which a run begins no attempt: each has cost a read of the database.
const MOST_PARKED: usize = 8;
/// Wait of the next run after one with parked deliveries, ms.
const PARKED_MS: i64 = 1_000;
/// Most replayed deliveries in flight, so that new events have room.
const MOST_REPLAYED: usize = 4;

/// The attempts of a run, and the write of those that have ended. One write is in progress at a time, and takes everything that ended since
/// the last.
pub struct DeliveryRun {
    app: App,
    job: Job,
    to: Arc<OpenSubscription>,
    work: Work,
    rate: Rate,
    health: Health,
    /// Resources with attempts in flight and, if the webhook is ordered, those with an unwritten result.
    under_way: BTreeSet<String>,
    /// The same for replays: replay ids with resources.
    replaying: Vec<(String, String)>,
    /// Whether the last attempt was of a replay: if both kinds wait they alternate, new events first.
    was_replay: bool,
    /// Deliveries to write.
    ended: Vec<Delivery>,
    /// The attempts among them.
    figures: Figures,
    /// The reason to disable the webhook.
    disabled: Option<&'static str>,
    /// Deliveries of this run that found no room for their bodies.
    parked: usize,
    /// Whether no more attempts begin.
    is_over: bool,
    /// Whether deliveries were written.
    has_progressed: bool,
    began: Instant,
    /// Duration of the longest attempt; none: there was none.
    longest: Option<Duration>,
}

type AttemptFuture = BoxFuture<'static, Result<(AttemptRecord, Duration)>>;

impl DeliveryRun {
    pub fn new(turn: &JobRun, to: OpenSubscription, mut work: Work, rate: Rate) -> DeliveryRun {
        DeliveryRun {
            app: turn.app.clone(),
            job: turn.job.clone(),
            health: to.endpoint.health.clone(),
            to: Arc::new(to),
            ended: std::mem::take(&mut work.held),
            figures: Figures::default(),
            work,
            rate,
            under_way: BTreeSet::new(),
            was_replay: true,
            replaying: Vec::new(),
            disabled: None,
            parked: 0,
            is_over: false,
            has_progressed: false,
            began: Instant::now(),
            longest: None,
        }
    }

    /// Makes attempts until nothing is left to do or the run is over, and writes their results. The last results are left to `end` if
    /// nothing can follow from them: most runs then have one transaction. At shutdown no attempt begins any more, and those in flight end
    /// and are written.
    pub async fn run(&mut self, turn: &JobRun) -> Result<()> {
        turn.must_finish.store(true, Ordering::Release);
        let mut attempts: FuturesUnordered<AttemptFuture> = FuturesUnordered::new();
        let mut writing: Option<PendingWrite> = None;
        let mut failed = None;
        loop {
            self.is_over |= turn.is_ending();
            self.begin(&attempts);
            let is_last = attempts.is_empty() && writing.is_none() && failed.is_none();
            if is_last && self.disabled.is_none() && !self.releases() {
                return Ok(());
            }
            if writing.is_none() && !self.ended.is_empty() {
                writing = Some(self.write());
            }
            if attempts.is_empty() && writing.is_none() {
                return failed.map_or(Ok(()), Err);
            }
            tokio::select! {
                Some(attempted) = attempts.next() => match attempted {
                    Ok((attempted, took)) => self.take(attempted, took),
                    // Other results are written first.
                    Err(e) => {
                        self.is_over = true;
                        failed.get_or_insert(e);
                    }
                },
                done = await_write(&mut writing) => {
                    writing = None;
                    self.go_on(done?);
                }
            }
        }
    }

    /// Begins attempts while there is room: one at a time for each resource, in the order of the events.
    fn begin(&mut self, attempts: &FuturesUnordered<AttemptFuture>) {
        let now = self.app.now();
        let is_probed = self.health.consecutive_failures >= health::PROBING_AFTER;
        let most = if is_probed { 1 } else { usize::try_from(self.to.endpoint.max_concurrent).unwrap_or(1) };
        self.is_over |=
            self.began.elapsed() > BUDGET || self.health.not_before.is_some_and(|until| until > now);
        while !self.is_over && attempts.len() < most && self.rate.next_at(now) <= now {
            let Some(at) = self.next() else { return };
            let Some(place) = self.place(attempts.is_empty()) else { return };
            let Some(delivery) = self.work.deliveries.remove(at) else { return };
            self.was_replay = !delivery.replay_id.is_empty();
            if delivery.replay_id.is_empty() {
                self.under_way.insert(delivery.resource_id.clone());
            } else {
                self.replaying.push((delivery.replay_id.clone(), delivery.resource_id.clone()));
            }
            self.rate.count(now);
            let (app, to) = (self.app.clone(), self.to.clone());
            attempts.push(Box::pin(async move {
                let began = Instant::now();
                let attempted = place.during(attempt::attempt(&app, &to, delivery)).await?;
                Ok((attempted, began.elapsed()))
            }));
        }
    }

    /// The index of the next delivery; none if none may begin now.
    fn next(&self) -> Option<usize> {
        let free = |is_replay: bool| {
            let is_of = |d: &Delivery| d.replay_id.is_empty() != is_replay;
            self.work.deliveries.iter().position(|d| is_of(d) && self.is_free(d))
        };
        free(!self.was_replay).or_else(|| free(self.was_replay))
    }

    /// Whether an attempt may begin beside those in flight.
    fn is_free(&self, delivery: &Delivery) -> bool {
        let is_same = |(replay_id, resource_id): &(String, String)| {
            *replay_id == delivery.replay_id && *resource_id == delivery.resource_id
        };
        match delivery.replay_id.is_empty() {
            true => !self.under_way.contains(&delivery.resource_id),
            false => self.replaying.len() < MOST_REPLAYED && !self.replaying.iter().any(is_same),
        }
    }

    /// Takes a concurrency permit of this host; none: all are taken.
    fn place(&self, is_first: bool) -> Option<AttemptPermit> {
        match is_first {
            true => Some(AttemptPermit::of_first()),
            false => AttemptPermit::take(&self.job.tenant.application_id, self.job.is_slow),
        }
    }

    /// Handles the result of an attempt.
    fn take(&mut self, attempted: AttemptRecord, took: Duration) {
        let AttemptRecord { delivery, outcome } = attempted;
        if matches!(outcome, AttemptOutcome::Parked) {
            self.park(delivery);
            return;
        }
        self.longest = self.longest.max(Some(took));
        let is_replay = !delivery.replay_id.is_empty();
        if is_replay {
            self.replaying.retain(|(replay_id, resource_id)| {
                *replay_id != delivery.replay_id || *resource_id != delivery.resource_id
            });
        }
        match outcome {
            AttemptOutcome::Superseded => {
                // The next run makes the attempt, with the webhook's settings then.
                self.is_over = true;
                if !is_replay {
                    self.under_way.remove(&delivery.resource_id);
                }
                self.work.deliveries.push_front(delivery);
                return;
            }
            AttemptOutcome::Dropped | AttemptOutcome::Parked => {}
            AttemptOutcome::Made(ended) => {
                self.figures.count(ended.verdict != HealthVerdict::Delivered, ended.ended - ended.began);
                let after = match is_replay {
                    true => health::after_replay(&self.health, &ended),
                    false => health::after(&self.health, &ended),
                };
                self.health = after.health;
                self.disabled = self.disabled.or(after.disabled);
                self.is_over |= self.disabled.is_some();
            }
        }
        if !is_replay && !self.to.endpoint.ordered {
            self.under_way.remove(&delivery.resource_id);
        } else if !is_replay && delivery.status == DeliveryStatus::Pending {
            self.hold(&delivery.resource_id);
        }
        self.ended.push(delivery);
    }

    /// Leaves a delivery without room for its body to a later run. Others go on: this one stays in `under_way`, so that neither it nor a
    /// later event of its resource begins in this run.
    fn park(&mut self, delivery: Delivery) {
        self.parked += 1;
        self.is_over |= self.parked >= MOST_PARKED;
        self.work.deliveries.push_front(delivery);
    }

    /// Holds the later events of a resource until an earlier one has ended.
    fn hold(&mut self, resource_id: &str) {
        let is_later = |d: &Delivery| d.replay_id.is_empty() && d.resource_id == resource_id;
        let (later, others): (Vec<Delivery>, Vec<Delivery>) =
            std::mem::take(&mut self.work.deliveries).into_iter().partition(is_later);
        self.work.deliveries = others.into();
        self.ended.extend(later.into_iter().map(|d| Delivery { next_attempt_at: None, ..d }));
    }

    /// Whether deliveries may be waiting for some of those that ended.
    fn releases(&self) -> bool {
        self.to.endpoint.ordered || self.to.endpoint.held > 0
    }

    /// Takes the ended deliveries to write them now.
    fn take_ended(&mut self) -> Vec<Delivery> {
        let outcomes = std::mem::take(&mut self.ended);
        for delivery in outcomes.iter().filter(|d| d.replay_id.is_empty()) {
            // The event of a replay may itself still wait for its first delivery.
            self.work.unsettled.remove(&delivery.sequence);
        }
        outcomes
    }

    /// Begins to write the ended deliveries, with the endpoint's health after them.
    fn write(&mut self) -> PendingWrite {
        let outcomes = self.take_ended();
        let written = WriteFollowUp {
            app: self.app.clone(),
            job: self.job.clone(),
            to: self.to.clone(),
            outcomes,
            figures: std::mem::take(&mut self.figures),
            cursor: self.cursor(),
            health: self.health.clone(),
            progress: self.rate.progress(),
            disabled: self.disabled.take(),
            releases: self.releases(),
        };
        written.begin()
    }

    /// Continues after a write.
    fn go_on(&mut self, done: WriteResult) {
        self.has_progressed |= done.has_progressed;
        if self.to.endpoint.ordered {
            for resource_id in &done.tried {
                self.under_way.remove(resource_id);
            }
        }
        // Changed, paused, disabled or deleted: the next run reads it again.
        self.is_over |= !done.standing.is_some_and(|standing| self.to.is_as(&standing));
        for delivery in done.released.into_iter().rev() {
            self.work.deliveries.push_front(delivery);
        }
    }

    /// The sequence number up to which every event has a delivery or does not match the webhook.
    fn cursor(&self) -> i64 {
        self.work.unsettled.first().map_or(self.work.up_to, |first| first - 1)
    }

    /// Ends the run: writes ended deliveries and the cursor, and schedules the job for its next work.
    pub async fn end(mut self) -> Result<JobEnd> {
        let (app, now) = (self.app.clone(), self.app.now());
        let outcomes = self.take_ended();
        self.has_progressed |= !outcomes.is_empty();
        // If the limit of waiting deliveries was reached, the next run finds room if this one has made some.
        let is_full = self.work.is_full || (self.work.is_stopped && self.has_progressed);
        let was_slow = self.job.is_slow;
        let is_slow = self.longest.map_or(was_slow, |took| permits::is_slow(CLASS, took, was_slow));
        let room_at = if self.parked > 0 { now + PARKED_MS } else { now };
        let ending = TurnEnd {
            cursor: self.cursor(),
            begins_at: self.health.not_before.unwrap_or(now).max(self.rate.next_at(now)).max(room_at),
            health: self.health,
            is_done: self.work.deliveries.is_empty() && !is_full,
            is_stopped: self.work.is_stopped,
            is_slow,
            outcomes,
            figures: self.figures,
            progress: self.rate.progress(),
            job: self.job,
            to: self.to,
        };
        app.db.write(move |tx| Box::pin(ending.write(tx, now))).await?;
        Ok(JobEnd::Committed)
    }
}

/// Returns the result of the write in progress; never completes if there is none.
async fn await_write(writing: &mut Option<PendingWrite>) -> Result<WriteResult> {
    match writing {
        Some(writing) => writing.await,
        None => std::future::pending().await,
    }
}
