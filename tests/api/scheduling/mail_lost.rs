//! Messages about bookings whose jobs were lost, as by a repair of the database: they are sent within the hour, and none of them twice.

use harness::TestServer;
use serde_json::json;
use service::bookings::notify::remind::BOOKING_REMIND;
use service::bookings::reconcile::BOOKING_RECONCILE;
use service::job_runner::runner;
use service::jobs::upkeep::{self, CLEAN};
use storage::sql::query;

use super::lifecycle::{logged, path};
use super::mail::{book, deliver, host, mailbox, subjects};
use super::{DAY, text};

const HOUR_MS: i64 = 60 * 60_000;
const DAY_MS: i64 = 24 * HOUR_MS;

const LOSE_MESSAGES: &str = "delete from jobs where kind = 'booking_mail'";
const LOSE_REMINDERS: &str = "delete from jobs where kind = 'booking_remind'";

/// Changes rows behind the service's back; how many.
pub async fn change(server: &TestServer, sql: &'static str) -> u64 {
    let changed: anyhow::Result<u64> =
        server.app.db.write(move |tx| Box::pin(async move { query(sql).execute(tx).await })).await;
    changed.expect("a statement")
}

/// Lets an hour pass and runs the check for late messages.
pub async fn an_hour_later(server: &TestServer) {
    server.clock.advance_ms(HOUR_MS);
    let now = server.app.now();
    let made: anyhow::Result<u64> =
        server.app.db.write(move |tx| Box::pin(async move { upkeep::ensure(tx, now).await })).await;
    made.expect("the jobs are made");
    assert_eq!(runner::drain(&server.app, &[BOOKING_RECONCILE]).await.expect("it is run"), 1);
}

/// Returns the number of messages that are still to be sent.
async fn untold(server: &TestServer) -> i64 {
    let sql = "select count(*) as n from booking_notices where job_id like 'booking_mail:%'";
    query(sql).fetch_one(server.app.db.reader(), |row| row.get("n")).await.expect("a query")
}

/// Deletes the jobs of pending messages; an hour later they are sent.
async fn lost_and_found(server: &TestServer) {
    assert!(change(server, LOSE_MESSAGES).await > 0);
    deliver(server).await;
    assert!(untold(server).await > 0);
    an_hour_later(server).await;
    deliver(server).await;
    assert_eq!(untold(server).await, 0);
}

/// Each change of a booking is mailed, even if every job for it was lost.
#[tokio::test]
async fn every_message_whose_job_is_lost_is_sent_once() {
    let mailbox = mailbox().await;
    let server = &mailbox.server;
    let desk = host(server).await;
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    lost_and_found(server).await;
    assert_eq!(subjects(&mailbox).await, ["Waiting for confirmation: Intro call with Alice"]);
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    lost_and_found(server).await;
    let moved = json!({ "start": format!("{DAY}T10:00:00Z") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    lost_and_found(server).await;
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    lost_and_found(server).await;
    an_hour_later(server).await;
    deliver(server).await;

    let all = [
        "Cancelled: Intro call with Alice",
        "Confirmed: Intro call with Alice",
        "New time: Intro call with Alice",
        "Waiting for confirmation: Intro call with Alice",
    ];
    assert_eq!(subjects(&mailbox).await, all);
}

/// A reminder of a day before comes two hours late: its own job was lost, and the job of its message too.
#[tokio::test]
async fn a_reminder_whose_jobs_are_lost_comes_late_and_once() {
    let mailbox = mailbox().await;
    let server = &mailbox.server;
    let desk = host(server).await;
    let reminders = json!([
        { "minutesBefore": 24 * 60, "channel": "email" }, { "minutesBefore": 24 * 60, "channel": "webhook" },
    ]);
    let id = desk.open("intro", json!({ "notifications": { "reminders": reminders } })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    assert_eq!(change(server, LOSE_REMINDERS).await, 1);
    an_hour_later(server).await;
    deliver(server).await;
    assert_eq!(subjects(&mailbox).await, ["Confirmed: Intro call with Alice"], "it is not due");

    // The test begins at 08:00, nine days and an hour before the booking.
    server.clock.advance_ms(8 * DAY_MS);
    an_hour_later(server).await;
    assert_eq!(runner::drain(&server.app, &[BOOKING_REMIND]).await.expect("it is run"), 1);
    assert!(change(server, LOSE_MESSAGES).await > 0);
    for _ in 0..2 {
        an_hour_later(server).await;
        deliver(server).await;
    }
    let all = ["Confirmed: Intro call with Alice", "Reminder: Intro call with Alice"];
    assert_eq!(subjects(&mailbox).await, all);
    let told = logged(server, &text(&booked["id"])).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "booking.reminder").count(), 1, "{told:?}");
}

/// A lost message that a later change has superseded is not sent, and is not looked for again.
#[tokio::test]
async fn what_was_lost_and_is_not_so_any_more_is_not_told() {
    let mailbox = mailbox().await;
    let server = &mailbox.server;
    let desk = host(server).await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    assert!(change(server, LOSE_MESSAGES).await > 0);
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    deliver(server).await;
    an_hour_later(server).await;
    deliver(server).await;
    assert_eq!(subjects(&mailbox).await, ["Cancelled: Intro call with Alice"]);
    assert_eq!(untold(server).await, 0);
}

/// A job that was given up because its hosts died is restarted. One that the operator cancelled, or that failed for a day, is not.
#[tokio::test]
async fn jobs_that_went_down_with_their_hosts_begin_anew() {
    let mailbox = mailbox().await;
    let server = &mailbox.server;
    let desk = host(server).await;
    let id = desk.open("intro", json!({})).await;
    book(&desk, &mailbox, &id, json!({})).await;
    for ended in [
        "update jobs set state = 'cancelled', due_at = null where kind = 'booking_mail'",
        "update jobs set state = 'failed', crashes = 0, due_at = null where kind = 'booking_mail'",
    ] {
        assert!(change(server, ended).await > 0);
        an_hour_later(server).await;
        deliver(server).await;
        assert_eq!(subjects(&mailbox).await, Vec::<String>::new(), "{ended}");
    }
    let crashed = "update jobs set state = 'failed', crashes = 20, due_at = null where kind = 'booking_mail'";
    assert!(change(server, crashed).await > 0);
    an_hour_later(server).await;
    deliver(server).await;
    assert_eq!(subjects(&mailbox).await, ["Confirmed: Intro call with Alice"]);
}

/// After a day a message is obsolete: it is not sent, and its record is deleted.
#[tokio::test]
async fn what_was_lost_for_a_day_is_forgotten() {
    let mailbox = mailbox().await;
    let server = &mailbox.server;
    let desk = host(server).await;
    let id = desk.open("intro", json!({})).await;
    book(&desk, &mailbox, &id, json!({})).await;
    assert!(change(server, LOSE_MESSAGES).await > 0);
    server.clock.advance_ms(DAY_MS);
    an_hour_later(server).await;
    deliver(server).await;
    assert_eq!(subjects(&mailbox).await, Vec::<String>::new());
    assert!(untold(server).await > 0);
    runner::drain(&server.app, &[CLEAN]).await.expect("the jobs are run");
    assert_eq!(untold(server).await, 0);
}
