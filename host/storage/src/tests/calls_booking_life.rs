//! Runs every statement on bookings after their creation.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::locked::ConnectionLock;
use crate::scheduling::bookings::{self, BookingRow, Of, Stretch};
use crate::scheduling::meeting_events::{self, MeetingEventRow};
use crate::scheduling::meetings::{self, MeetingRow};
use crate::scheduling::reserved_times::{self, NewReserved, Part};
use crate::scheduling::{erasure, event_types, host_gone};
use crate::tests::seed::START_MS;

const HOUR: i64 = 3_600_000;
const EVENT_TYPE: &str = "et_100000";
const HOST: &str = "conn_0_0";
const MEETING: &str = "mtg_100001";
const BOOKING: &str = "bk_100001";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    read(db).await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            change(tx).await?;
            forget(tx).await
        })
    })
    .await?;
    let due = event_types::calendars_due(db.reader(), START_MS, 5).await?;
    assert_eq!(due.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), [EVENT_TYPE]);
    Ok(())
}

async fn read(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let stretch = Stretch { from: START_MS, after_id: "", until: START_MS + 9_000 * HOUR, limit: 20 };
    for of in [Of::All, Of::EventType(EVENT_TYPE), Of::Status("confirmed")] {
        assert_eq!(bookings::list(reader, tenant, of, stretch).await?.len(), 20, "{of:?}");
    }
    let of_guest = bookings::list(reader, tenant, Of::Invitee("guest1@example.com"), stretch).await?;
    assert_eq!(of_guest.len(), 9);
    let stranger = Tenant { application_id: "app_1".into(), ..tenant.clone() };
    assert!(bookings::list(reader, &stranger, Of::EventType(EVENT_TYPE), stretch).await?.is_empty());
    assert_eq!(bookings::over(reader, START_MS + 10 * HOUR, 5).await?.len(), 5);
    assert!(bookings::unconfirmed(reader, START_MS, 5).await?.is_empty());
    assert!(reserved_times::is_reserved(reader, MEETING).await?);
    let meetings = [MEETING.to_owned(), "mtg_100002".to_owned()];
    assert_eq!(meeting_events::of_meetings(reader, &meetings).await?.len(), 2);
    assert!(meeting_events::unwanted(reader, &[HOST.to_owned()]).await?.is_empty());
    assert!(meeting_events::overdue(reader, START_MS, 5).await?.is_empty());
    assert_eq!(host_gone::event_types_of(reader, "conn_100040", "et_100000", 5).await?, ["et_100001"]);
    Ok(())
}

async fn change(tx: &mut Tx) -> Result<()> {
    let meeting = meetings::lock(tx, MEETING).await?.expect("it is in the seed");
    let found = bookings::lock(tx, &tenant(), BOOKING).await?.expect("it is in the seed");
    assert_eq!(bookings::lock_seated(tx, MEETING).await?, std::slice::from_ref(&found));
    let next = BookingRow { status: "cancelled".into(), version: found.version + 1, ..found };
    assert!(bookings::update(tx, &[&next]).await?);
    assert_eq!(bookings::find(&mut *tx, &tenant(), BOOKING).await?.as_ref(), Some(&next));
    assert!(!bookings::update(tx, &[&next]).await?, "it is not as it was read");
    assert!(!meetings::take_seat(tx, MEETING, 1).await?, "it has one seat");
    meetings::update(tx, &MeetingRow { seats_taken: 0, ..meeting }).await?;
    assert!(meetings::take_seat(tx, MEETING, 1).await?);
    reserved_times::release(tx, MEETING).await?;
    assert!(!reserved_times::is_reserved(&mut *tx, MEETING).await?);
    let event = meeting_events::find(&mut *tx, MEETING, "conn_0_1").await?.expect("it is in the seed");
    meeting_events::update(tx, &MeetingEventRow { event_id: Some("evt_x".into()), ..event }).await?;
    meeting_events::events_changed(tx, &tenant(), &["evt_x".into(), "evt_y".into()], 1).await?;
    meeting_events::calendar_returned(tx, &tenant(), "cal_1", 1).await?;
    event_types::set_calendars_due(tx, EVENT_TYPE, Some(START_MS)).await?;
    host_gone::enqueue(tx, &tenant(), HOST, 1).await
}

async fn forget(tx: &mut Tx) -> Result<()> {
    let host = ConnectionLock::take(tx, &tenant(), HOST).await?.expect("it is in the seed");
    let old = NewReserved {
        host: &host,
        meeting_id: "mtg_old",
        part: Part::Meeting,
        calendar_id: "cal_0",
        start_at: START_MS - 5_000 * HOUR,
        end_at: START_MS - 4_999 * HOUR,
        now: 0,
    };
    assert!(reserved_times::reserve(tx, &[old]).await?);
    assert_eq!(erasure::reserved_times(tx, START_MS - 4_000 * HOUR, 10).await?, 1);
    // The seed's first bookings are over then.
    let before = START_MS + 3 * HOUR;
    let some = erasure::people(tx, (before, 1), 2).await?;
    assert_eq!(some, 2);
    assert_eq!(erasure::bookings(tx, before, 10).await?, 2);
    Ok(())
}
