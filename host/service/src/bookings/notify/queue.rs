//! Enqueues messages about a booking in the transaction that changes it.

use std::collections::BTreeSet;

use base::error::Result;
use model::scheduling::booking::{Booking, BookingStatus};
use model::scheduling::event_type::{BookingNotifications, EventType};
use serde_json::json;
use storage::Tx;
use storage::jobs::{Job, NewJob};
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::{event_types, notices};
use storage::wakes::JobClass;

use crate::app::App;
use crate::bookings::notify::kind::{MailKey, MailKind, MailRole, NotifiedBooking};
use crate::bookings::notify::reminder;

/// The job kind that puts messages about bookings into the outbox. For the key see `kind`.
pub const MAIL_JOB: &str = "booking_mail";

/// Enqueues the messages about a change of bookings of one event type that was just written, and the reminders of those with a new time.
/// `event_type` is none if it was deleted. Jobs come after the log (`LockRank`), so this does too.
pub async fn enqueue(
    tx: &mut Tx,
    told: &[NotifiedBooking<'_>],
    event_type: Option<&EventType>,
    kind: MailKind,
    now: i64,
) -> Result<()> {
    let Some(first) = told.first() else { return Ok(()) };
    let settings = settings(tx, first.row, event_type).await?;
    let mut keys = Vec::new();
    for NotifiedBooking { row, body } in told {
        keys.extend(roles(kind, body, &settings).into_iter().map(|role| key(row, body, kind, role)));
    }
    enqueue_all(tx, first.row, &keys, now).await?;
    let has_new_time = matches!(kind, MailKind::Confirmed | MailKind::Rescheduled);
    let reminded = told.iter().filter(|of| has_new_time && of.body.status == BookingStatus::Confirmed);
    let reminded: Vec<NotifiedBooking<'_>> = reminded.copied().collect();
    reminder::enqueue(tx, &reminded, &settings, now).await
}

/// Enqueues the messages with the new conference link of bookings of one event type, to people who were notified of them without it. A
/// message that is not written yet will contain the link, because it is written from current data. The caller has locked the bookings'
/// rows.
pub async fn enqueue_link(
    tx: &mut Tx,
    told: &[NotifiedBooking<'_>],
    event_type: Option<&EventType>,
    now: i64,
) -> Result<()> {
    // People who wait for the host get the link with the confirmation.
    let told: Vec<&NotifiedBooking<'_>> = told.iter().filter(|of| of.row.status == "confirmed").collect();
    let Some(first) = told.first() else { return Ok(()) };
    let settings = settings(tx, first.row, event_type).await?;
    let (mut earlier, mut all) = (Vec::new(), Vec::new());
    for NotifiedBooking { row, body } in told.iter().copied() {
        for role in roles(MailKind::Conference, body, &settings) {
            let ids = [MailKind::Confirmed, MailKind::Rescheduled]
                .map(|kind| format!("{MAIL_JOB}:{}", key(row, body, kind, role)));
            earlier.extend(ids.clone());
            all.push((key(row, body, MailKind::Conference, role), ids));
        }
    }
    let untold: BTreeSet<String> = notices::untold(tx, &earlier).await?.into_iter().collect();
    all.retain(|(_, ids)| !ids.iter().any(|id| untold.contains(id)));
    let keys: Vec<String> = all.into_iter().map(|(key, _)| key).collect();
    enqueue_all(tx, first.row, &keys, now).await
}

async fn settings(
    tx: &mut Tx,
    row: &BookingRow,
    event_type: Option<&EventType>,
) -> Result<BookingNotifications> {
    match event_type {
        Some(event_type) => Ok(event_type.notifications.clone()),
        None => of_deleted(tx, row).await,
    }
}

fn key(row: &BookingRow, body: &Booking, kind: MailKind, role: MailRole) -> String {
    MailKey { booking_id: row.id.clone(), kind, sequence: body.sequence, role }.to_string()
}

/// Enqueues the messages with these keys, for bookings of this one's tenant.
async fn enqueue_all(tx: &mut Tx, row: &BookingRow, keys: &[String], now: i64) -> Result<()> {
    // The time of the change, from which the wait for the calendar is limited.
    let args = json!({ "at": now }).to_string();
    let jobs = keys.iter().map(|key| NewJob {
        kind: MAIL_JOB,
        key,
        class: JobClass::Send,
        tenant: &row.tenant,
        // The sending account is determined when it is sent.
        connection_id: None,
        target: "",
        due_at: Some(now),
        args: Some(&args),
    });
    let new: Vec<NewJob<'_>> = jobs.collect();
    Ok(notices::enqueue(tx, &new, now).await?)
}

/// Ends a job whose message is not sent.
pub async fn end(app: &App, job: &Job) -> Result<()> {
    let (job, now) = (job.clone(), app.now());
    app.db.write(move |tx| Box::pin(async move { Ok(notices::complete(tx, &job, now).await?) })).await
}

/// The notification settings of a deleted event type, which apply to its remaining bookings.
async fn of_deleted(tx: &mut Tx, row: &BookingRow) -> Result<BookingNotifications> {
    let found = event_types::find_ever(&mut *tx, &row.tenant, &row.event_type_id).await?;
    let found: Option<EventType> = found.map(|found| serde_json::from_str(&found.body)).transpose()?;
    Ok(found.map(|event_type| event_type.notifications).unwrap_or_default())
}

/// The time of the change that a job reports (Unix ms); 0 if its arguments lack it.
pub fn changed_at(job: &Job) -> i64 {
    let args = job.args.as_deref().and_then(|args| serde_json::from_str::<serde_json::Value>(args).ok());
    args.and_then(|args| args["at"].as_i64()).unwrap_or_default()
}

/// The recipients of a kind of message.
fn roles(kind: MailKind, body: &Booking, settings: &BookingNotifications) -> Vec<MailRole> {
    // Guests are invited to confirmed bookings only. The invitee made the request, and is informed of every step; reminders are for those
    // who may come late.
    let has_guests = !body.guests.is_empty()
        && !matches!(kind, MailKind::Pending | MailKind::AllDay | MailKind::Reminder(_));
    [
        // Only the host can give the event a time.
        (MailRole::Invitee, settings.invitee && kind != MailKind::AllDay),
        (MailRole::Guests, settings.invitee && has_guests),
        // Hosts have the link in their calendars.
        (MailRole::Hosts, settings.hosts && !body.host_ids.is_empty() && kind != MailKind::Conference),
    ]
    .into_iter()
    .filter_map(|(role, is_told)| is_told.then_some(role))
    .collect()
}

#[cfg(test)]
mod tests {
    use model::scheduling::booking::Guest;

    use super::*;

    #[test]
    fn an_event_type_says_who_is_told() {
        let body = Booking {
            guests: vec![Guest { email: "g@x.test".to_owned(), name: None }],
            host_ids: vec!["conn_1".to_owned()],
            ..Booking::default()
        };
        let all = BookingNotifications::default();
        let every = [MailRole::Invitee, MailRole::Guests, MailRole::Hosts];
        assert_eq!(roles(MailKind::Confirmed, &body, &all), every);
        assert_eq!(roles(MailKind::Pending, &body, &all), [MailRole::Invitee, MailRole::Hosts]);
        assert_eq!(roles(MailKind::Conference, &body, &all), [MailRole::Invitee, MailRole::Guests]);
        assert_eq!(roles(MailKind::AllDay, &body, &all), [MailRole::Hosts]);
        let hosts_alone = BookingNotifications { invitee: false, ..all.clone() };
        assert_eq!(roles(MailKind::Cancelled, &body, &hosts_alone), [MailRole::Hosts]);
        let none = BookingNotifications { invitee: false, hosts: false, ..all };
        assert!(roles(MailKind::Confirmed, &body, &none).is_empty());
    }
}
