//! Writes a meeting into a host's calendar: brings the provider to the state in the tables (`meeting_events`, `meetings`), step by step
//! until nothing is left to do. A repeated step finds the result of the earlier one by the idempotency key that both pass to the connector.

use base::error::{Code, Error, Result, refuse};
use base::ids::Kind;
use model::calendar::{Conference, Event};
use model::scheduling::booking::{Booking, BookingStatus, Party};
use model::scheduling::event_type::EventType;
use runtime::Surface;
use serde::Deserialize;
use serde_json::{Map, Value};
use storage::Tx;
use storage::items;
use storage::jobs::{self, Job};
use storage::scheduling::meeting_events::{self, EVENT_JOB, MeetingEventRow, MeetingHost, RECHECK_JOB};
use storage::scheduling::meetings::{self, MeetingRow};
use storage::scheduling::{bookings, event_types};
use storage::wakes::JobClass;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::{self, BookingChange, Seat};
use crate::bookings::event_body::{self, EventSubject};
use crate::bookings::event_step::{self, EventStep, StepContext};
use crate::bookings::relocation::{self, EventLocation};
use crate::bookings::{event_failure, join_link, manage_token};
use crate::connections::request_context::RequestContext;
use crate::connections::throttle;
use crate::connections::write_context::WriteContext;
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};
use crate::resources::events::open::EventPath;
use crate::resources::events::respond;
use crate::resources::events::write::{self, EventWriteOptions};
use crate::writes::etag::ExpectedEtag;

/// Maximum steps of one run. More are only needed if the meeting changes continuously.
const MAX_STEPS: usize = 8;
/// Failures after which an event counts as gone, if it may be in a calendar for which the provider does not answer.
const MAX_UNKNOWN: i64 = 3;

/// The job kind that brings the event of a meeting up to date in a host's calendar, or deletes it there. It counts and delays its failures
/// itself when it stores them; `retry` is for runs that could store nothing.
pub const BOOKING_EVENT: JobKind = JobKind {
    name: EVENT_JOB,
    class: JobClass::Send,
    deadline_ms: Some(90_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 10_000, longest_ms: 6 * 3_600_000 },
    run: |turn| Box::pin(run(&turn.app, &turn.job)),
};

/// Brings one host's calendar up to date. Fails if the result cannot be stored; a refusal by the provider is a result.
async fn run(app: &App, job: &Job) -> Result<JobEnd> {
    let Some((meeting_id, connection_id)) = job.key().split_once(':') else {
        return Ok(JobEnd::Done);
    };
    if let Some(until) = throttle::until(app, &job.tenant, connection_id, Surface::Calendar).await? {
        return Ok(JobEnd::PutOff(until));
    }
    for _ in 0..MAX_STEPS {
        let Some(wanted) = DesiredEvent::read(app, job, meeting_id, connection_id).await? else {
            return Ok(JobEnd::Done);
        };
        let Some(step) = wanted.step() else { return Ok(JobEnd::Done) };
        match wanted.take(app, step).await {
            Ok(done) => store_result(app, job, &wanted, step, done).await?,
            Err(e) => {
                event_failure::store(app, job, &wanted.row, &wanted.meeting, e).await?;
                // The failure and the time of the retry are stored.
                return Ok(JobEnd::Committed);
            }
        }
    }
    Ok(JobEnd::PutOff(app.now()))
}

/// The event as the provider stores it, from the response to a write.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenEvent {
    id: String,
    #[serde(default)]
    i_cal_uid: Option<String>,
    #[serde(default)]
    conference: Option<Conference>,
}

/// The result of a step.
#[derive(Clone, Debug)]
enum StepResult {
    Written(WrittenEvent),
    /// The event is deleted, as intended.
    Gone,
    /// The event is missing, although it is wanted.
    Lost,
    /// The host has moved it to another calendar, where the step must be repeated.
    Relocated(EventLocation),
}

/// The desired state, read from the tables at one moment.
struct DesiredEvent {
    row: MeetingEventRow,
    meeting: MeetingRow,
    event_type: EventType,
    /// Bookings that have a seat, or had one when the meeting ended.
    bookings: Vec<Booking>,
    /// The page on which hosts read what the invitee wrote. None: the event has no guests, and never will.
    details_url: Option<String>,
    known: StepContext,
}

impl DesiredEvent {
    async fn read(
        app: &App,
        job: &Job,
        meeting_id: &str,
        connection_id: &str,
    ) -> Result<Option<DesiredEvent>> {
        let reader = app.db.reader();
        let Some(row) = meeting_events::find(reader, meeting_id, connection_id).await? else {
            return Ok(None);
        };
        let Some(meeting) = meetings::find(reader, meeting_id).await? else { return Ok(None) };
        // A deleted event type still decides who is notified about the remaining bookings.
        let event_type = match event_types::find_ever(reader, &job.tenant, &meeting.event_type_id).await? {
            Some(found) => serde_json::from_str(&found.body)?,
            None => EventType::default(),
        };
        let (mut seated, mut details_url) = (Vec::new(), None);
        let may_invite = event_step::invites(&row, &meeting, false);
        for booking in bookings::with_seat(reader, meeting_id).await? {
            if may_invite && details_url.is_none() {
                details_url = Some(manage_token::host_url(app, &booking));
            }
            let mut body: Booking = serde_json::from_str(&booking.body)?;
            body.status = serde_json::from_value(booking.status.as_str().into())?;
            seated.push(body);
        }
        let is_pending = |booking: &Booking| booking.status == BookingStatus::Pending;
        let known = StepContext {
            is_undecided: !seated.is_empty() && seated.iter().all(is_pending),
            was_tried: job.attempts > 1 || job.crashes > 0 || row.attempts > 0,
        };
        Ok(Some(DesiredEvent { row, meeting, event_type, bookings: seated, details_url, known }))
    }

    fn subject(&self) -> EventSubject<'_> {
        let details_url = self.details_url.clone();
        EventSubject { event_type: &self.event_type, invites: self.invites(), details_url }
    }

    /// Returns the fields that remove the invitee's text from the event, so that people whom the provider notifies do not see it.
    async fn without_words(&self, app: &App, event_id: &str) -> Result<Map<String, Value>> {
        let found = items::any(app.db.reader(), &self.row.tenant, event_id).await?;
        let Some(item) = found else { return Ok(Map::new()) };
        let event: Event = serde_json::from_str(&item.body)?;
        Ok(event_body::without_words(&event, &self.subject(), &self.bookings))
    }

    fn is_wanted(&self) -> bool {
        event_step::is_wanted(&self.row, &self.meeting)
    }

    fn step(&self) -> Option<EventStep> {
        event_step::next(&self.row, &self.meeting, self.known)
    }

    fn invites(&self) -> bool {
        event_step::invites(&self.row, &self.meeting, self.known.is_undecided)
    }

    /// Performs the step at the provider.
    async fn take(&self, app: &App, step: EventStep) -> Result<StepResult> {
        let (row, meeting) = (&self.row, &self.meeting);
        let request_id = app.new_id(Kind::Request);
        let asker = RequestContext::for_service(&row.tenant, &row.connection_id, request_id);
        let wants_to_be_told = self.event_type.notifications.invitee;
        let notify = event_step::notify(step, row, self.is_wanted(), wants_to_be_told);
        let manner =
            EventWriteOptions { expected: ExpectedEtag::Anything, notify, scope: None, strict: false };
        let event_id = row.event_id.as_deref().unwrap_or_default();
        let path = EventPath { calendar_id: &row.calendar_id, event_id };
        let cx = |attempt| WriteContext { app: app.clone(), request: asker.clone(), attempt };
        let answer = match step {
            EventStep::Forget => return Ok(StepResult::Gone),
            EventStep::Create => {
                let body = event_body::created(meeting, &row.i_cal_uid, &self.subject(), &self.bookings);
                let cx = cx(self.attempt("create"));
                let made = write::create(&cx, &row.calendar_id, body, manner).await?;
                let mut written: WrittenEvent = serde_json::from_slice(&made.body)?;
                if let Some(answer) = self.ask_for_conference(cx, &written.id).await? {
                    written.conference = serde_json::from_slice::<WrittenEvent>(&answer.body)?.conference;
                }
                return Ok(StepResult::Written(written));
            }
            EventStep::Update => {
                let mut body = event_body::moved(meeting, &self.bookings);
                body.extend(self.without_words(app, event_id).await?);
                if self.invites() && event_step::is_uninvited(row) {
                    body.insert("attendees".to_owned(), event_body::invited(meeting, &self.bookings));
                }
                // The idempotency key of the update changes with every change of the desired state.
                let cx = cx(self.attempt(&format!("update-{}", row.updated_at)));
                match write::update(&cx, path, body, manner).await {
                    // The host has deleted the event, and the desired state is newer.
                    Err(e) if e.code() == Some(Code::NotFound) => {
                        return self.elsewhere(app, StepResult::Lost).await;
                    }
                    answer => answer?,
                }
            }
            EventStep::Delete | EventStep::Replace => {
                let gone = if step == EventStep::Replace { StepResult::Lost } else { StepResult::Gone };
                // Keyed by the event's id: after a move to another calendar it is a different deletion.
                let cx = cx(self.attempt(&format!("delete-{event_id}")));
                return match write::delete(&cx, path, manner).await {
                    Err(e) if e.code() == Some(Code::NotFound) => self.elsewhere(app, gone).await,
                    Err(e) => Err(e),
                    // On a repeated attempt, a missing event counts as deleted by the earlier one.
                    Ok(_) if self.known.was_tried => {
                        let location = relocation::stored(app, row).await?;
                        Ok(location.map_or(gone, StepResult::Relocated))
                    }
                    Ok(_) => Ok(gone),
                };
            }
        };
        Ok(StepResult::Written(serde_json::from_slice(&answer.body)?))
    }

    /// Searches for an event that is missing where it was written. `otherwise`: the result if it is not found.
    async fn elsewhere(&self, app: &App, otherwise: StepResult) -> Result<StepResult> {
        let found = relocation::search(app, &self.row, app.now()).await?;
        match found.location {
            Some(location) => Ok(StepResult::Relocated(location)),
            None if found.is_complete || self.row.attempts >= MAX_UNKNOWN => Ok(otherwise),
            None => {
                let message =
                    "the event is no longer in its calendar, and the provider does not answer for others";
                Err(refuse(Code::ProviderUnavailable, message))
            }
        }
    }

    /// Requests a conference. An event without a conference is better than none: if the provider refuses permanently, the event stays as it
    /// is.
    async fn ask_for_conference(&self, cx: WriteContext, event_id: &str) -> Result<Option<StoredResponse>> {
        // One is enough, and the organizer's is stored (`keep_news`).
        let is_meant = self.is_wanted() && event_step::is_organizers(&self.row, &self.meeting);
        let Some(provider) = event_body::conference(&self.bookings).filter(|_| is_meant) else {
            return Ok(None);
        };
        let path = EventPath { calendar_id: &self.row.calendar_id, event_id };
        let cx = WriteContext { attempt: self.attempt("conference"), ..cx };
        match respond::conference(&cx, path, Some(provider), Vec::new()).await {
            Ok(answer) => Ok(Some(answer)),
            Err(e) if e.code().is_some_and(event_failure::is_for_good) => {
                tracing::warn!(meeting = %self.meeting.id, error = %e, "a booking's event has no conference");
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    fn attempt(&self, op: &str) -> IdempotentAttempt {
        let MeetingEventRow { meeting_id, connection_id, created_at, .. } = &self.row;
        // To the provider, an event that was deleted and created again is a different one.
        let key = match *created_at == self.meeting.created_at {
            true => format!("booking/{meeting_id}/{connection_id}/{op}"),
            false => format!("booking/{meeting_id}/{connection_id}/{created_at}/{op}"),
        };
        IdempotentAttempt::new(key, self.known.was_tried, None)
    }
}

/// Stores the result of a step. The job then continues with the latest state.
async fn store_result(
    app: &App,
    job: &Job,
    wanted: &DesiredEvent,
    step: EventStep,
    done: StepResult,
) -> Result<()> {
    let (job, before, sequence, now) = (job.clone(), wanted.row.clone(), wanted.meeting.sequence, app.now());
    let is_undecided = wanted.known.is_undecided;
    // A host who became the organizer in the meantime has no organizer event yet.
    let is_organizers = event_step::is_organizers(&wanted.row, &wanted.meeting);
    let (held, event_type) = (app.clone(), wanted.event_type.clone());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let Some(mut row) = event_failure::locked(tx, &before).await? else {
                    return Ok::<_, Error>(());
                };
                // Otherwise the desired state has changed, and is written next.
                let is_same = row.updated_at == before.updated_at;
                let is_gone = matches!(done, StepResult::Gone);
                if step != EventStep::Forget {
                    row.attempts = 0;
                }
                row.error = None;
                let mut news = None;
                match done {
                    StepResult::Written(written) => {
                        // Some providers choose the UID.
                        row.i_cal_uid = written.i_cal_uid.clone().unwrap_or(row.i_cal_uid);
                        row.event_id = Some(written.id.clone());
                        event_step::note_written(&mut row, sequence, is_undecided);
                        if is_same {
                            (row.status, row.next_attempt_at) = ("written".to_owned(), None);
                        }
                        if is_organizers {
                            // The meeting is locked before its events are written, in the order of all changes.
                            let meeting = meetings::lock(tx, &row.meeting_id).await?;
                            news = meeting.map(|meeting| (meeting, written));
                        }
                    }
                    StepResult::Gone | StepResult::Lost => {
                        let meeting = meetings::find(&mut *tx, &row.meeting_id).await?;
                        let uid = meeting.map(|meeting| meeting.i_cal_uid);
                        event_step::note_absence(&mut row, is_gone && is_same, uid, now);
                    }
                    StepResult::Relocated(location) => {
                        row.calendar_id = location.calendar_id;
                        row.event_id = Some(location.event_id);
                        // The next attempt concerns another event.
                        row.updated_at = now.max(row.updated_at + 1);
                    }
                }
                meeting_events::update(tx, &row).await?;
                if let Some((meeting, written)) = news {
                    let linked = keep_news(tx, &held, &row, meeting, written, now).await?;
                    join_link::enqueue_messages(tx, Some(&event_type), &linked, now).await?;
                }
                jobs::check_fence(tx, &job, None, now).await?;
                if row.event_id.is_some() && row.is_wanted {
                    // A change that the host made before the move was found is checked now.
                    meeting_events::enqueue(tx, RECHECK_JOB, &[MeetingHost::from(&row)], now).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Stores in the bookings what the organizer's provider has assigned: the UID of an event with a single booking, and the conference link,
/// whose change is logged. Returns the bookings that got the link, so that people are notified.
async fn keep_news(
    tx: &mut Tx,
    app: &App,
    row: &MeetingEventRow,
    meeting: MeetingRow,
    written: WrittenEvent,
    now: i64,
) -> Result<Vec<Seat>> {
    if meeting.hosts.first() != Some(&row.connection_id) {
        return Ok(Vec::new());
    }
    let join_url = written.conference.as_ref().and_then(|conference| conference.join_url.as_ref());
    let has_other_uid = meeting.seats <= 1 && meeting.i_cal_uid != row.i_cal_uid;
    if join_url.is_none() && !has_other_uid {
        return Ok(Vec::new());
    }
    let seated = bookings::lock_seated(tx, &meeting.id).await?;
    let events = meeting_events::of_meeting(&mut *tx, &meeting.id).await?;
    if has_other_uid {
        let meeting = MeetingRow { i_cal_uid: row.i_cal_uid.clone(), updated_at: now, ..meeting };
        meetings::update(tx, &meeting).await?;
    }
    let (mut updated, mut changed) = (Vec::new(), Vec::new());
    for booking in seated {
        let mut seat = Seat::read(booking)?;
        if has_other_uid {
            seat.body.i_cal_uid.clone_from(&row.i_cal_uid);
        }
        let mut is_linked = false;
        if let Some(place) = seat.body.location.as_mut().filter(|place| place.value.is_none()) {
            is_linked = join_url.is_some() && place.join_url.as_ref() != join_url;
            place.join_url = join_url.cloned().or_else(|| place.join_url.take());
        }
        if is_linked {
            updated.push(seat);
        } else if serde_json::to_string(&seat.body)? != seat.row.body {
            changed.push(seat);
        }
    }
    let change = |words: &'static [&'static str]| BookingChange {
        events: &events,
        by: Party::System,
        words,
        warnings: &[],
    };
    change::write_all(tx, app, &mut changed, &change(&[]), now).await?;
    change::write_all(tx, app, &mut updated, &change(&[join_link::UPDATED]), now).await?;
    Ok(updated)
}
