//! The meeting in a host's calendar: the provider is brought to what the tables want (`meeting_events`, `meetings`), one step after
//! the other until nothing is left to do. A step that is repeated finds what the earlier one left, by the key that both give the
//! connector.

use base::error::{Code, Error, Result};
use base::ids::Kind;
use base::tenant::Tenant;
use model::scheduling::booking::Booking;
use model::scheduling::event_type::EventType;
use model::wire::calendar::Notify;
use serde::Deserialize;
use storage::Tx;
use storage::jobs::{self, End, Job, NewJob};
use storage::locked::ConnectionLock;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::event_types;
use storage::scheduling::meeting_events::{self, MeetingEventRow};
use storage::scheduling::meetings::{self, MeetingRow};
use storage::wakes::JobClass;

use crate::answer::Attempt;
use crate::app::App;
use crate::bookings::event_body;
use crate::connections::throttle;
use crate::freshness::Reading;
use crate::log::{self, Note, Origin};
use crate::resources::events::respond;
use crate::resources::events::write::{self, Manner};
use crate::resources::{Asker, Expected};

/// The kind of job that writes events. The key is the meeting and the connection, with a colon between them.
pub const EVENT_JOB: &str = "booking_event";

/// Delays after the first failures, ms.
const FIRST_DELAYS_MS: [i64; 5] = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/// The delay after each later failure, ms.
const LATER_DELAY_MS: i64 = 6 * 3_600_000;
/// After so many failures in a row, some three days, a write is given up.
const MAX_FAILURES: i64 = 17;
/// After so many failures in a row clients are told.
const TOLD_AFTER: i64 = 5;
/// Steps of one turn. More than that can only be needed when the meeting is changed all the time.
const MAX_STEPS: usize = 8;

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The calendar is as it is wanted.
    Settled,
    /// The provider may not be asked before this time, in milliseconds since 1970.
    Waits(i64),
    /// It failed; that, and when it is tried again, is written.
    Ended,
}

/// Has the event of a meeting written, in the transaction that changes what is wanted.
pub async fn enqueue(
    tx: &mut Tx,
    tenant: &Tenant,
    (meeting_id, connection_id): (&str, &str),
    now: i64,
) -> anyhow::Result<()> {
    let key = format!("{meeting_id}:{connection_id}");
    let new = NewJob {
        kind: EVENT_JOB,
        key: &key,
        class: JobClass::Send,
        tenant,
        connection_id: Some(connection_id),
        target: "",
        due_at: Some(now),
        args: None,
    };
    jobs::enqueue(tx, &new, now).await
}

/// Brings one host's calendar to what is wanted. Fails where the outcome cannot be written; what the provider refuses is no failure
/// of this.
pub async fn run(app: &App, job: &Job) -> Result<Outcome> {
    let Some((meeting_id, connection_id)) = job.key().split_once(':') else { return Ok(Outcome::Settled) };
    if let Some(until) = throttle::until(app, &job.tenant, connection_id).await? {
        return Ok(Outcome::Waits(until));
    }
    for _ in 0..MAX_STEPS {
        let Some(wanted) = Wanted::read(app, job, (meeting_id, connection_id)).await? else {
            return Ok(Outcome::Settled);
        };
        let Some(step) = wanted.step() else { return Ok(Outcome::Settled) };
        match wanted.take(app, step).await {
            Ok(written) => keep(app, job, &wanted, (step, written)).await?,
            Err(e) => {
                failed(app, job, &wanted, e).await?;
                return Ok(Outcome::Ended);
            }
        }
    }
    Ok(Outcome::Waits(app.now()))
}

/// What is to be done next at the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Create,
    Update,
    Delete,
    /// It was never written, and is not wanted any more: nothing is asked of the provider.
    Forget,
}

/// The event as the provider has it, of an answer of ours.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    id: String,
    #[serde(default)]
    i_cal_uid: Option<String>,
}

/// What the tables say at one moment.
struct Wanted {
    row: MeetingEventRow,
    meeting: MeetingRow,
    event_type: EventType,
    /// Those that hold a seat, or held one until the meeting was over.
    bookings: Vec<Booking>,
    /// An earlier attempt may have got as far as the provider.
    was_tried: bool,
}

impl Wanted {
    async fn read(app: &App, job: &Job, (meeting_id, connection_id): (&str, &str)) -> Result<Option<Wanted>> {
        let reader = app.db.reader();
        let Some(row) = meeting_events::find(reader, meeting_id, connection_id).await? else {
            return Ok(None);
        };
        let Some(meeting) = meetings::find(reader, meeting_id).await? else { return Ok(None) };
        // One that was deleted meanwhile had no say in who is told.
        let event_type = match event_types::find(reader, &job.tenant, &meeting.event_type_id).await? {
            Some(found) => serde_json::from_str(&found.body)?,
            None => EventType::default(),
        };
        let mut seated = Vec::new();
        for booking in bookings::of_meeting(reader, meeting_id).await?.iter().filter(|b| has_seat(b)) {
            let mut body: Booking = serde_json::from_str(&booking.body)?;
            body.status = serde_json::from_value(booking.status.as_str().into())?;
            seated.push(body);
        }
        let was_tried = job.attempts > 1 || job.crashes > 0 || row.attempts > 0;
        Ok(Some(Wanted { row, meeting, event_type, bookings: seated, was_tried }))
    }

    fn is_wanted(&self) -> bool {
        self.row.is_wanted && self.meeting.released_at.is_none()
    }

    fn step(&self) -> Option<Step> {
        match (self.is_wanted(), self.row.event_id.is_some()) {
            (true, false) => Some(Step::Create),
            (true, true) => (self.row.written_sequence < self.meeting.sequence).then_some(Step::Update),
            (false, true) => Some(Step::Delete),
            (false, false) if self.row.status == "deleted" => None,
            // It may be there: creating it once more finds it, and then it can be deleted.
            (false, false) if self.was_tried => Some(Step::Create),
            (false, false) => Some(Step::Forget),
        }
    }

    /// Whom the provider tells.
    fn notify(&self, step: Step) -> Notify {
        let is_silent = !self.event_type.notifications.invitee || (step == Step::Create && !self.is_wanted());
        if is_silent { Notify::None } else { Notify::All }
    }

    /// Does it at the provider. None: nothing is there any more.
    async fn take(&self, app: &App, step: Step) -> Result<Option<Written>> {
        let (row, meeting) = (&self.row, &self.meeting);
        let asker = Asker {
            tenant: row.tenant.clone(),
            connection_ids: vec![row.connection_id.clone()],
            request_id: app.new_id(Kind::Request),
            no_cache: false,
            reading: Reading::default(),
        };
        let manner =
            Manner { expected: Expected::Anything, notify: self.notify(step), scope: None, strict: false };
        let event_id = row.event_id.as_deref().unwrap_or_default();
        let place = (row.calendar_id.as_str(), event_id);
        let answer = match step {
            Step::Forget => return Ok(None),
            Step::Create => {
                let body = event_body::created(meeting, &row.i_cal_uid, &self.event_type, &self.bookings);
                let attempt = self.attempt("create");
                let made = write::create(app, &asker, &row.calendar_id, body, manner, &attempt).await?;
                let written: Written = serde_json::from_slice(&made.body)?;
                self.ask_for_conference(app, &asker, &written.id).await?;
                return Ok(Some(written));
            }
            Step::Update => {
                let body = event_body::moved(meeting, &self.bookings);
                let attempt = self.attempt(&format!("update-{}", meeting.sequence));
                write::update(app, &asker, place, body, manner, &attempt).await?
            }
            Step::Delete => {
                let attempt = self.attempt("delete");
                return match write::delete(app, &asker, place, manner, &attempt).await {
                    Err(e) if e.code() != Some(Code::NotFound) => Err(e),
                    _ => Ok(None),
                };
            }
        };
        Ok(Some(serde_json::from_slice(&answer.body)?))
    }

    /// An event without its conference is better than none: what the provider refuses for good leaves it as it is.
    async fn ask_for_conference(&self, app: &App, asker: &Asker, event_id: &str) -> Result<()> {
        let Some(provider) = event_body::conference(&self.bookings).filter(|_| self.is_wanted()) else {
            return Ok(());
        };
        let place = (self.row.calendar_id.as_str(), event_id);
        let asked = (Some(provider), Vec::new());
        match respond::conference(app, asker, place, asked, &self.attempt("conference")).await {
            Ok(_) => Ok(()),
            Err(e) if e.code().is_some_and(is_for_good) => {
                tracing::warn!(meeting = %self.meeting.id, error = %e, "a booking's event has no conference");
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    fn attempt(&self, op: &str) -> Attempt {
        let key = format!("booking/{}/{}/{op}", self.row.meeting_id, self.row.connection_id);
        Attempt::new(key, self.was_tried, None)
    }
}

fn has_seat(booking: &BookingRow) -> bool {
    ["pending", "confirmed", "completed"].contains(&booking.status.as_str())
}

/// Keeps what became of a step. The job goes on: the newest state is read again.
async fn keep(app: &App, job: &Job, wanted: &Wanted, (step, written): (Step, Option<Written>)) -> Result<()> {
    let (job, before, sequence, now) = (job.clone(), wanted.row.clone(), wanted.meeting.sequence, app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let Some(mut row) = locked(tx, &before).await? else { return Ok::<_, Error>(()) };
                match written {
                    Some(written) => {
                        // Some providers choose the UID.
                        row.i_cal_uid = written.i_cal_uid.unwrap_or(row.i_cal_uid);
                        row.event_id = Some(written.id);
                        row.status = "written".to_owned();
                        row.written_sequence = sequence;
                    }
                    None => {
                        row.event_id = None;
                        row.status = "deleted".to_owned();
                    }
                }
                if step != Step::Forget {
                    row.attempts = 0;
                }
                row.error = None;
                row.next_attempt_at = None;
                row.updated_at = now;
                meeting_events::update(tx, &row).await?;
                Ok(jobs::check_fence(tx, &job, None, now).await?)
            })
        })
        .await
}

/// The row as it is under the lock of its connection. A connection that was disconnected has no lock, and nobody else writes its rows.
async fn locked(tx: &mut Tx, of: &MeetingEventRow) -> Result<Option<MeetingEventRow>> {
    let _lock = ConnectionLock::take(tx, &of.tenant, &of.connection_id).await?;
    Ok(meeting_events::find(&mut *tx, &of.meeting_id, &of.connection_id).await?)
}

/// Writes that it failed, tells clients when that lasts, and ends the turn, in one transaction.
async fn failed(app: &App, job: &Job, wanted: &Wanted, e: Error) -> Result<()> {
    let (code, message) = match &e {
        Error::Refused(refusal) => (refusal.code, refusal.message.clone()),
        Error::Internal(_) => (Code::InternalError, "the event could not be written".to_owned()),
    };
    tracing::warn!(job = %job.id, error = %e, attempts = job.attempts, "a booking's event could not be written");
    let now = app.now();
    let next = delay_ms(job.attempts).filter(|_| !is_for_good(code)).map(|ms| now + ms);
    let is_told = next.is_none() || job.attempts >= TOLD_AFTER;
    let end = End {
        is_failed: next.is_none(),
        due_at: next,
        attempts: job.attempts,
        last_error: Some(jobs::error((code.as_str(), &message), now)),
        done_at: None,
    };
    let (app, job, before) = (app.clone(), job.clone(), wanted.row.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            if let Some(mut row) = locked(tx, &before).await? {
                let is_news = is_told && row.status != "failed";
                if is_told {
                    row.status = "failed".to_owned();
                }
                row.attempts = job.attempts;
                row.error = Some(message);
                row.next_attempt_at = next;
                row.updated_at = now;
                meeting_events::update(tx, &row).await?;
                if is_news {
                    tell(tx, &app, &row).await?;
                }
            }
            jobs::reschedule(tx, &job, &end, now).await?;
            Ok::<_, Error>(())
        })
    })
    .await
}

/// `booking.calendar_write_failed` of each booking of the meeting.
async fn tell(tx: &mut Tx, app: &App, row: &MeetingEventRow) -> Result<()> {
    let of_meeting = bookings::of_meeting(&mut *tx, &row.meeting_id).await?;
    let notes = of_meeting.iter().map(|booking| Note {
        connection_id: Some(row.connection_id.clone()),
        entry_type: "booking.calendar_write_failed".to_owned(),
        change_type: "state",
        resource_type: "booking",
        resource_id: booking.id.clone(),
        parent_id: String::new(),
        changed_fields: None,
        etag: Some(booking.etag.clone()),
        origin: Origin::System,
        resource: None,
    });
    log::append(tx, app, &row.tenant, notes.collect()).await?;
    Ok(())
}

/// The delay after the failure with this number, counted from 1. None: it is given up.
fn delay_ms(failures: i64) -> Option<i64> {
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(0);
    (failures < MAX_FAILURES).then(|| FIRST_DELAYS_MS.get(index).copied().unwrap_or(LATER_DELAY_MS))
}

/// Whether trying again would be refused again. Accounts that have to be connected anew are not of these: they can be.
fn is_for_good(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidRequest
            | Code::InvalidParameter
            | Code::MissingField
            | Code::InvalidTimeRange
            | Code::InvalidTimeZone
            | Code::RangeTooLarge
            | Code::CapabilityNotSupported
            | Code::ProviderRejected
            | Code::AccessDenied
            | Code::ScopeNotGranted
            | Code::ScopeMissing
            | Code::NotFound
            | Code::AlreadyExists
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_tried_for_three_days() {
        let delays: Vec<i64> = (1..).map_while(delay_ms).collect();
        assert_eq!(delays.first(), Some(&10_000));
        assert_eq!(delays.get(5), Some(&LATER_DELAY_MS));
        let days = delays.iter().sum::<i64>() / 86_400_000;
        assert_eq!((delays.len(), days), (16, 2));
    }
}
