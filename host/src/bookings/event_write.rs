//! The meeting in a host's calendar: the provider is brought to what the tables want (`meeting_events`, `meetings`), one step after
//! the other until nothing is left to do. A step that is repeated finds what the earlier one left, by the key that both give the
//! connector.

use base::error::{Code, Error, Result};
use base::ids::Kind;
use base::tenant::Tenant;
use model::calendar::Conference;
use model::scheduling::booking::Booking;
use model::scheduling::event_type::EventType;
use model::wire::calendar::Notify;
use serde::Deserialize;
use storage::Tx;
use storage::jobs::{self, Job, NewJob};
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::event_types;
use storage::scheduling::meeting_events::{self, MeetingEventRow};
use storage::scheduling::meetings::{self, MeetingRow};
use storage::wakes::JobClass;

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::bookings::{event_body, event_failure, view};
use crate::connections::throttle;
use crate::freshness::Reading;
use crate::resources::events::respond;
use crate::resources::events::write::{self, Manner};
use crate::resources::{Asker, Expected};

/// The kind of job that writes events. The key is the meeting and the connection, with a colon between them.
pub const EVENT_JOB: &str = "booking_event";

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
            Ok(done) => keep(app, job, &wanted, (step, done)).await?,
            Err(e) => {
                event_failure::keep(app, job, (&wanted.row, &wanted.meeting), e).await?;
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
    #[serde(default)]
    conference: Option<Conference>,
}

/// What became of a step.
#[derive(Clone, Debug)]
enum Done {
    Written(Written),
    /// Nothing is there any more, as it was wanted.
    Gone,
    /// Nothing is there any more, though it is wanted.
    Lost,
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
            (true, true) => {
                let is_behind = self.row.written_sequence < self.meeting.sequence;
                (is_behind || self.row.status != "written").then_some(Step::Update)
            }
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

    /// Does it at the provider.
    async fn take(&self, app: &App, step: Step) -> Result<Done> {
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
            Step::Forget => return Ok(Done::Gone),
            Step::Create => {
                let body = event_body::created(meeting, &row.i_cal_uid, &self.event_type, &self.bookings);
                let attempt = self.attempt("create");
                let made = write::create(app, &asker, &row.calendar_id, body, manner, &attempt).await?;
                let mut written: Written = serde_json::from_slice(&made.body)?;
                if let Some(answer) = self.ask_for_conference(app, &asker, &written.id).await? {
                    written.conference = serde_json::from_slice::<Written>(&answer.body)?.conference;
                }
                return Ok(Done::Written(written));
            }
            Step::Update => {
                let body = event_body::moved(meeting, &self.bookings);
                // What is wanted has another time with each change.
                let attempt = self.attempt(&format!("update-{}", row.updated_at));
                match write::update(app, &asker, place, body, manner, &attempt).await {
                    // The host deleted it, and what is wanted here is newer.
                    Err(e) if e.code() == Some(Code::NotFound) => return Ok(Done::Lost),
                    answer => answer?,
                }
            }
            Step::Delete => {
                let attempt = self.attempt("delete");
                return match write::delete(app, &asker, place, manner, &attempt).await {
                    Err(e) if e.code() != Some(Code::NotFound) => Err(e),
                    _ => Ok(Done::Gone),
                };
            }
        };
        Ok(Done::Written(serde_json::from_slice(&answer.body)?))
    }

    /// An event without its conference is better than none: what the provider refuses for good leaves it as it is.
    async fn ask_for_conference(&self, app: &App, asker: &Asker, event_id: &str) -> Result<Option<Answer>> {
        let Some(provider) = event_body::conference(&self.bookings).filter(|_| self.is_wanted()) else {
            return Ok(None);
        };
        let place = (self.row.calendar_id.as_str(), event_id);
        let asked = (Some(provider), Vec::new());
        match respond::conference(app, asker, place, asked, &self.attempt("conference")).await {
            Ok(answer) => Ok(Some(answer)),
            Err(e) if e.code().is_some_and(event_failure::is_for_good) => {
                tracing::warn!(meeting = %self.meeting.id, error = %e, "a booking's event has no conference");
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    fn attempt(&self, op: &str) -> Attempt {
        let MeetingEventRow { meeting_id, connection_id, created_at, .. } = &self.row;
        // An event that was deleted and is made anew is another one for the provider.
        let key = match *created_at == self.meeting.created_at {
            true => format!("booking/{meeting_id}/{connection_id}/{op}"),
            false => format!("booking/{meeting_id}/{connection_id}/{created_at}/{op}"),
        };
        Attempt::new(key, self.was_tried, None)
    }
}

fn has_seat(booking: &BookingRow) -> bool {
    ["pending", "confirmed", "completed"].contains(&booking.status.as_str())
}

/// Keeps what became of a step. The job goes on: the newest state is read again.
async fn keep(app: &App, job: &Job, wanted: &Wanted, (step, done): (Step, Done)) -> Result<()> {
    let (job, before, sequence, now) = (job.clone(), wanted.row.clone(), wanted.meeting.sequence, app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let Some(mut row) = event_failure::locked(tx, &before).await? else {
                    return Ok::<_, Error>(());
                };
                // Otherwise something else is wanted by now, and is to be written.
                let is_same = row.updated_at == before.updated_at;
                if step != Step::Forget {
                    row.attempts = 0;
                }
                row.error = None;
                match done {
                    Done::Written(written) => {
                        // Some providers choose the UID.
                        row.i_cal_uid = written.i_cal_uid.clone().unwrap_or(row.i_cal_uid);
                        row.event_id = Some(written.id.clone());
                        row.written_sequence = sequence;
                        if is_same {
                            (row.status, row.next_attempt_at) = ("written".to_owned(), None);
                        }
                        keep_news(tx, &row, &written, now).await?;
                    }
                    Done::Gone => {
                        row.event_id = None;
                        if is_same || !row.is_wanted {
                            (row.status, row.next_attempt_at) = ("deleted".to_owned(), None);
                        } else {
                            make_anew(&mut row, now);
                        }
                    }
                    Done::Lost => {
                        row.event_id = None;
                        make_anew(&mut row, now);
                    }
                }
                meeting_events::update(tx, &row).await?;
                jobs::check_fence(tx, &job, None, now).await?;
                if row.event_id.is_some() && row.is_wanted {
                    // A change of the host's that came before this was found is looked at now.
                    let of = (row.meeting_id.as_str(), row.connection_id.as_str());
                    meeting_events::enqueue_recheck(tx, &row.tenant, of, now).await?;
                }
                Ok(())
            })
        })
        .await
}

/// The event is to be created once more, under another name than before.
fn make_anew(row: &mut MeetingEventRow, now: i64) {
    row.created_at = now.max(row.created_at + 1);
    row.written_sequence = -1;
    row.status = "pending".to_owned();
}

/// Keeps with the bookings what the organizer's provider has decided: the UID of an event that is theirs alone, and the link to the
/// conference.
async fn keep_news(tx: &mut Tx, row: &MeetingEventRow, written: &Written, now: i64) -> Result<()> {
    let Some(meeting) = meetings::lock(tx, &row.meeting_id).await? else { return Ok(()) };
    if meeting.hosts.first() != Some(&row.connection_id) {
        return Ok(());
    }
    let join_url = written.conference.as_ref().and_then(|conference| conference.join_url.as_ref());
    let has_other_uid = meeting.seats <= 1 && meeting.i_cal_uid != row.i_cal_uid;
    if join_url.is_none() && !has_other_uid {
        return Ok(());
    }
    for mut booking in bookings::lock_seated(tx, &meeting.id).await? {
        let mut body: Booking = serde_json::from_str(&booking.body)?;
        if has_other_uid {
            body.i_cal_uid.clone_from(&row.i_cal_uid);
        }
        if let Some(place) = body.location.as_mut().filter(|place| place.value.is_none()) {
            place.join_url = join_url.cloned().or_else(|| place.join_url.take());
        }
        let text = serde_json::to_string(&body)?;
        if text != booking.body {
            booking.body = text;
            booking.version += 1;
            booking.updated_at = now.max(booking.updated_at);
            booking.etag = view::etag(&(&booking.id, booking.version, &booking.body, &booking.metadata))?;
            bookings::update(tx, &booking).await?;
        }
    }
    if has_other_uid {
        let meeting = MeetingRow { i_cal_uid: row.i_cal_uid.clone(), updated_at: now, ..meeting };
        meetings::update(tx, &meeting).await?;
    }
    Ok(())
}
