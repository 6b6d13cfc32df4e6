//! One message about a booking: written from current data, and put into the outbox in one transaction with the end of its job. If a host
//! dies before that, the job is repeated; after that the outbox has the message, and sends it once.

use base::error::Result;
use base::ids::Kind;
use model::wire::calendar::CalendarFeatures;
use runtime::Surface;
use serde_json::json;
use storage::jobs::{self, Job};
use storage::locked::ConnectionLock;
use storage::scheduling::{bookings, mail, meeting_events, meetings, notices};
use storage::wakes::JobClass;
use storage::{Tx, connections as connection_table, outbox};

use crate::app::App;
use crate::bookings::conference;
use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::draft::{self, Calendar, Draft, InvitationNote};
use crate::bookings::notify::kind::{MailKey, MailKind, MailRole};
use crate::bookings::notify::queue::{self, MAIL_JOB, changed_at};
use crate::connections;
use crate::connections::request_context::RequestContext;
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};
use crate::sending::{cancel, submit};

/// Longest time after a change for which its message waits for the event in the organizer's calendar, which can give the booking another
/// UID and a link to its conference, ms. A link that comes later has its own message (`MailKind::Conference`).
const WAIT_MS: i64 = 60_000;
/// The shortest interval between checks of the calendar, ms. It grows with the time that has passed.
const LOOK_AGAIN_MS: i64 = 2_000;
/// Longest time after a change for which its guests' message waits while it is unknown whether the provider invites them, ms: as long as a
/// message waits in the outbox.
const UNKNOWN_MS: i64 = 24 * 3_600_000;
/// Interval between requests to the provider, ms.
const ASK_AGAIN_MS: i64 = 5 * 60_000;
/// The shortest and the longest wait of a reminder for an account that cannot be used, ms. It grows with the time that has passed.
const REMIND_AGAIN_MS: (i64, i64) = (60_000, 30 * 60_000);
/// Most messages that one run writes, including rewrites after changes of the booking.
const MAX_MESSAGES_PER_RUN: usize = 5;
/// Delay of the next run after so many changes in a row, ms.
const CHANGED_MS: i64 = 1_000;

/// The job kind that puts a message about a booking into the outbox; for the key see `bookings::notify::kind`. A message that could not be
/// written for a day is given up: by then it is no longer useful.
pub const BOOKING_MAIL: JobKind = JobKind {
    name: MAIL_JOB,
    class: JobClass::Send,
    deadline_ms: Some(60_000),
    max_attempts: Some(20),
    retry: RetryDelay { first_ms: 2_000, longest_ms: 2 * 3_600_000 },
    run: |turn| Box::pin(run(&turn.app, &turn.job)),
};

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MailStep {
    Nothing,
    Wait(i64),
    /// First cancel the invitation of an organizer who was replaced.
    TakeBack,
    Send(Calendar),
}

async fn run(app: &App, job: &Job) -> Result<JobEnd> {
    match send(app, job).await? {
        Some(end) => Ok(end),
        None => {
            queue::end(app, job).await?;
            Ok(JobEnd::Committed)
        }
    }
}

/// Sends the message of a job. None: there is nothing to send, and never will be.
async fn send(app: &App, job: &Job) -> Result<Option<JobEnd>> {
    let Some(key) = MailKey::read(job.key()) else { return Ok(None) };
    for _ in 0..MAX_MESSAGES_PER_RUN {
        let Some(facts) = MessageContext::read(app, job, &key).await? else {
            return Ok(None);
        };
        let draft = match step(app, job, &key, &facts).await? {
            MailStep::Nothing => return Ok(None),
            MailStep::Wait(until) => return Ok(Some(JobEnd::PutOff(until))),
            MailStep::TakeBack => draft::replacement(app, &key, &facts.from_who_invited(app).await?).await?,
            MailStep::Send(Calendar::Cancel) => {
                draft::message(app, &key, &facts.from_who_invited(app).await?, Calendar::Cancel).await?
            }
            MailStep::Send(calendar) => draft::message(app, &key, &facts, calendar).await?,
        };
        let is_last = draft.is_last;
        let (held, job) = (app.clone(), job.clone());
        let written: Result<bool> =
            app.db.write(move |tx| Box::pin(async move { write(tx, &held, &job, draft).await })).await;
        if written? && is_last {
            return Ok(Some(JobEnd::Committed));
        }
    }
    Ok(Some(JobEnd::PutOff(app.now() + CHANGED_MS)))
}

async fn step(app: &App, job: &Job, key: &MailKey, facts: &MessageContext) -> Result<MailStep> {
    if facts.recipients(key.role).is_empty() {
        return Ok(MailStep::Nothing);
    }
    let is_reminder = matches!(key.kind, MailKind::Reminder(_));
    if is_reminder && connections::usable(&facts.sender.connection).is_err() {
        // In the outbox it would wait for longer than it is useful. `MailKey::holds` ends this when the booking begins.
        return Ok(MailStep::Wait(remind_again(app.now(), changed_at(job))));
    }
    if key.role == MailRole::Hosts {
        return Ok(MailStep::Send(Calendar::Nothing));
    }
    let calendar = match (key.kind, &facts.invitation) {
        (MailKind::Pending | MailKind::AllDay | MailKind::Reminder(_), _) => Calendar::Nothing,
        (MailKind::Cancelled | MailKind::Rejected | MailKind::Expired, None) => Calendar::Nothing,
        (MailKind::Cancelled | MailKind::Rejected | MailKind::Expired, Some(_)) => Calendar::Cancel,
        (MailKind::Confirmed | MailKind::Rescheduled | MailKind::Conference, sent) => {
            let until = changed_at(job).saturating_add(WAIT_MS);
            if let Some(at) = wait_for_calendar(app, facts, until).await? {
                return Ok(MailStep::Wait(at));
            }
            match sent {
                Some(sent) if sent.i_cal_uid != facts.booking.i_cal_uid => return Ok(MailStep::TakeBack),
                Some(_) => Calendar::Request,
                // An unconfirmed booking is in no calendar but the host's.
                None if facts.is_pending() => Calendar::Nothing,
                None => match invites_itself(app, facts).await {
                    Ok(true) => Calendar::Nothing,
                    Ok(false) => Calendar::Request,
                    Err(_) if app.now() < until => return Ok(MailStep::Wait(later(app.now(), until))),
                    // Guests only have the invitation: theirs waits as long as a message in the outbox does.
                    Err(_) if key.role == MailRole::Guests && is_worth_asking(app.now(), changed_at(job)) => {
                        return Ok(MailStep::Wait(app.now().saturating_add(ASK_AGAIN_MS)));
                    }
                    Err(e) => {
                        tracing::warn!(booking = %facts.row.id, error = %e, "unknown whether the provider sends invitations");
                        Calendar::Nothing
                    }
                },
            }
        }
    };
    if calendar == Calendar::Nothing && key.role == MailRole::Guests {
        // Their calendars need no change, and there is nothing that they could do.
        return Ok(MailStep::Nothing);
    }
    Ok(MailStep::Send(calendar))
}

/// The time of the next check whether the event is in the organizer's calendar with the link to its conference. None: it is, it cannot be,
/// or `until` has passed.
async fn wait_for_calendar(app: &App, facts: &MessageContext, until: i64) -> Result<Option<i64>> {
    let now = app.now();
    let Some(organizer) = facts.booking.organizer_connection_id.as_ref().filter(|_| now < until) else {
        return Ok(None);
    };
    let found = meeting_events::find(app.db.reader(), &facts.row.meeting_id, organizer).await?;
    let is_awaited = match found.filter(|event| event.is_wanted) {
        Some(event) if event.status == "written" => {
            conference::is_awaited(app, &event, &facts.booking).await?
        }
        event => event.is_some_and(|event| event.status == "pending"),
    };
    Ok(is_awaited.then(|| later(now, until)))
}

/// The next check, if there was none since `until - WAIT_MS`.
fn later(now: i64, until: i64) -> i64 {
    let waited = now.saturating_sub(until.saturating_sub(WAIT_MS));
    now.saturating_add(waited.max(LOOK_AGAIN_MS)).min(until)
}

/// Whether a message about a change at `changed_at` still waits to learn whether the provider invites.
fn is_worth_asking(now: i64, changed_at: i64) -> bool {
    now < changed_at.saturating_add(UNKNOWN_MS)
}

/// The next check of the account for a reminder that waits since `since`.
fn remind_again(now: i64, since: i64) -> i64 {
    let (shortest, longest) = REMIND_AGAIN_MS;
    now.saturating_add((now.saturating_sub(since) / 4).clamp(shortest, longest))
}

/// Whether the organizer's provider sends invitations itself: then the written event has already invited people.
async fn invites_itself(app: &App, facts: &MessageContext) -> Result<bool> {
    let meeting = meetings::find(app.db.reader(), &facts.row.meeting_id).await?;
    if meeting.is_none_or(|meeting| meeting.seats > 1) {
        // The event of a shared meeting names no attendees.
        return Ok(false);
    }
    let Some(organizer) = &facts.booking.organizer_connection_id else { return Ok(false) };
    let found = connection_table::find(app.db.reader(), &facts.row.tenant, organizer).await?;
    // No event is written with a disconnected account.
    let Some(connection) = found else { return Ok(false) };
    connections::usable(&connection)?;
    let request_id = app.new_id(Kind::Request);
    let asker = RequestContext::for_service(&facts.row.tenant, &connection.id, request_id);
    let (surface, args) = (Surface::Calendar, json!({}));
    let has: CalendarFeatures =
        crate::connections::provider_call::fetch(app, &connection, &asker, surface, "capabilities", &args)
            .await?;
    Ok(has.scheduling)
}

/// Puts messages into the outbox. False, without any write: the account was disconnected, or the messages are outdated. Unsent messages
/// that they supersede are cancelled, so that they do not arrive after them.
async fn write(tx: &mut Tx, app: &App, job: &Job, draft: Draft) -> Result<bool> {
    let Draft { messages, connection_id, overtakes, booking_id, version, role, before, kept, is_last } =
        draft;
    // The connection first, then the booking: the order of `storage::scheduling`.
    let Some(lock) = ConnectionLock::take(tx, &job.tenant, &connection_id).await? else { return Ok(false) };
    let found = bookings::lock(tx, &job.tenant, &booking_id).await?;
    if found.is_none_or(|row| row.version != version) {
        return Ok(false);
    }
    if mail::find(&mut *tx, &booking_id, role.as_str()).await? != before {
        return Ok(false);
    }
    if let Some(first) = messages.first() {
        for id in &overtakes {
            let earlier = outbox::by_message_id(&mut *tx, &connection_id, id).await?;
            if let Some(earlier) = earlier.filter(|row| row.next_attempt_at.is_some()) {
                cancel::withdraw(tx, app, &lock, first.ready.place(), &earlier.id).await?;
            }
        }
    }
    for message in messages {
        // The change was already reported, by another job.
        let is_there = outbox::by_message_id(&mut *tx, &connection_id, &message.message_id).await?.is_some();
        if !is_there {
            submit::submit_in(tx, app, &lock, message.ready).await?;
        }
    }
    match kept {
        InvitationNote::AsItIs => {}
        InvitationNote::Sent(sent) => mail::upsert_invitation(tx, &sent).await?,
        InvitationNote::TakenBack => mail::take_back(tx, &booking_id, role.as_str()).await?,
    }
    let now = app.now();
    match is_last {
        true => notices::complete(tx, job, now).await?,
        false => jobs::check_fence(tx, job, None, now).await?,
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_looks_for_its_account_until_it_is_of_no_use() {
        assert_eq!(remind_again(1_000, 1_000), 61_000);
        assert_eq!(remind_again(400_000, 0), 500_000);
        assert_eq!(remind_again(36_000_000, 0), 36_000_000 + 30 * 60_000);
    }

    #[test]
    fn a_message_waits_a_minute_for_the_calendar_and_looks_less_and_less_often() {
        let until = WAIT_MS;
        let mut at = 0;
        let mut looks = Vec::new();
        while at < until {
            at = later(at, until);
            looks.push(at);
        }
        assert_eq!(looks, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    }
}
