//! Runs every statement on scheduling.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::locked::ConnectionLock;
use crate::scheduling::applications;
use crate::scheduling::bookings::{self, BookingRow};
use crate::scheduling::event_types::{self, EventTypeRow};
use crate::scheduling::links::{self, LinkRow};
use crate::scheduling::meeting_events::{self, MeetingEventRow};
use crate::scheduling::meetings::{self, MeetingRow};
use crate::scheduling::reserved_times::{self, NewReserved, Part};
use crate::tests::seed::START_MS;

const HOUR: i64 = 3_600_000;
const EVENT_TYPE: &str = "et_100000";
const HOST: &str = "conn_0_0";
/// Long before the seed: nothing is reserved there.
const FREE: i64 = START_MS - 1_000 * HOUR;

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let (reader, tenant, day) = (db.reader(), &tenant(), (START_MS + 100 * HOUR, START_MS + 124 * HOUR));
    assert!(event_types::find(reader, tenant, EVENT_TYPE).await?.is_some());
    assert!(event_types::find_ever(reader, tenant, EVENT_TYPE).await?.is_some());
    assert_eq!(event_types::list(reader, tenant, "et_100100", 50).await?.len(), 50);
    assert!(links::find(reader, tenant, "slug-0").await?.is_some());
    assert_eq!(applications::by_id(reader, "app_0").await?.as_ref(), Some(tenant));
    assert_eq!(applications::by_handle(reader, "nobody").await?, None);
    assert_eq!(applications::handle(reader, "app_0").await?, None);
    assert!(applications::oldest(reader).await?.is_some());
    assert!(meetings::find(reader, "mtg_100000").await?.is_some());
    assert_eq!(meetings::of_event_type(reader, EVENT_TYPE, day.0, day.1).await?.len(), 24);
    assert_eq!(reserved_times::of_connections(reader, &[HOST.into()], day.0, day.1).await?.len(), 6);
    let calendars = ["cal_0".to_owned()];
    let reserved = reserved_times::of_calendars(reader, (&calendars, &[]), START_MS, day.1).await?;
    assert!(!reserved.is_empty());
    let owners: Vec<String> = reserved.into_iter().map(|row| row.connection_id).collect();
    let others = reserved_times::of_calendars(reader, (&calendars, &owners), START_MS, day.1).await?;
    assert!(others.is_empty());
    assert!(meeting_events::find(reader, "mtg_100000", HOST).await?.is_some());
    assert_eq!(meeting_events::of_meeting(reader, "mtg_100000").await?.len(), 1);
    assert!(bookings::find(reader, tenant, "bk_100000").await?.is_some());
    assert_eq!(bookings::with_seat(reader, "mtg_100001").await?.len(), 1);
    assert_eq!(bookings::newest_of_meeting(reader, "mtg_100000", 5).await?.len(), 1);
    let (email, last) = ("guest1@example.com", START_MS + 9_000 * HOUR);
    assert!(bookings::active_of_invitee(reader, EVENT_TYPE, email, last).await? <= 2);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_event_types(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_meetings(tx).await
        })
    })
    .await
}

async fn write_event_types(tx: &mut Tx) -> Result<()> {
    assert!(applications::set_handle(tx, "app_0", Some("acme")).await?);
    assert_eq!(applications::handle(&mut *tx, "app_0").await?.as_deref(), Some("acme"));
    assert!(!applications::set_handle(tx, "app_1", Some("acme")).await?, "another one has it");
    assert!(applications::set_handle(tx, "app_0", None).await?);
    let found = event_types::lock(tx, &tenant(), EVENT_TYPE).await?.expect("it is in the seed");
    let new = EventTypeRow { id: "et_new".into(), ..found.clone() };
    event_types::insert(tx, &new).await?;
    event_types::update(tx, &EventTypeRow { version: 2, ..new.clone() }).await?;
    event_types::set_hosts(tx, &new, &[HOST.to_owned(), "conn_0_1".to_owned()]).await?;
    let link = LinkRow {
        slug: "new".into(),
        tenant: tenant(),
        event_type_id: new.id.clone(),
        is_primary: true,
        uses_left: None,
        expires_at: None,
        created_at: 0,
    };
    assert!(links::insert(tx, &link).await?);
    assert!(!links::insert(tx, &link).await?);
    links::delete_primary(tx, &new.id).await?;
    links::delete_all(tx, &new.id).await
}

async fn write_meetings(tx: &mut Tx) -> Result<()> {
    let host = ConnectionLock::take(tx, &tenant(), HOST).await?.expect("it is in the seed");
    let ids = [HOST.to_owned(), "conn_0_1".to_owned(), "none".to_owned()];
    let locks = ConnectionLock::take_all(tx, &tenant(), &ids.iter().collect()).await?;
    assert_eq!(locks.iter().map(|lock| lock.id.as_str()).collect::<Vec<_>>(), [HOST, "conn_0_1"]);
    let found = meetings::find(&mut *tx, "mtg_100000").await?.expect("it is in the seed");
    meetings::insert(tx, &MeetingRow { id: "mtg_new".into(), ..found }).await?;
    let new = NewReserved {
        host: &host,
        meeting_id: "mtg_new",
        part: Part::Meeting,
        calendar_id: "cal_0",
        start_at: FREE,
        end_at: FREE + HOUR,
        now: 0,
    };
    assert!(reserved_times::reserve(tx, &[new]).await?);
    let event = meeting_events::find(&mut *tx, "mtg_100000", HOST).await?.expect("it is in the seed");
    let new = MeetingEventRow { meeting_id: "mtg_new".into(), ..event.clone() };
    meeting_events::upsert(tx, std::slice::from_ref(&new)).await?;
    let other = MeetingEventRow { connection_id: "conn_0_1".into(), ..new.clone() };
    let failed = MeetingEventRow { status: "failed".into(), ..new };
    meeting_events::upsert(tx, &[failed.clone(), other.clone()]).await?;
    assert_eq!(meeting_events::of_meeting(&mut *tx, "mtg_new").await?, [failed, other]);
    meeting_events::update(tx, &MeetingEventRow { attempts: 2, ..event }).await?;
    let booking = bookings::find(&mut *tx, &tenant(), "bk_100000").await?.expect("it is in the seed");
    bookings::insert(tx, &BookingRow { id: "bk_new".into(), ..booking }).await?;
    the_constraint_refuses_what_the_code_lets_through(tx, &host).await
}

/// The database's own rule, beside a meeting from `FREE` on that lasts an hour: no row overlaps it, and buffers overlap buffers
/// alone.
async fn the_constraint_refuses_what_the_code_lets_through(tx: &mut Tx, host: &ConnectionLock) -> Result<()> {
    let quarter = HOUR / 4;
    let rows = [
        ("mtg_2", Part::Meeting, FREE, FREE + HOUR, false),
        ("mtg_3", Part::Meeting, FREE + HOUR - 1, FREE + 2 * HOUR, false),
        ("mtg_4", Part::After, FREE + quarter, FREE + 2 * quarter, false),
        ("mtg_5", Part::Meeting, FREE - HOUR, FREE + 2 * HOUR, false),
        // The first meeting's own buffer, and another's that overlaps it: a gap of 15 minutes between the meetings.
        ("mtg_new", Part::After, FREE + HOUR, FREE + HOUR + quarter, true),
        ("mtg_6", Part::Before, FREE + HOUR, FREE + HOUR + quarter, true),
        ("mtg_6", Part::Meeting, FREE + HOUR + quarter, FREE + 2 * HOUR, true),
        ("mtg_7", Part::Meeting, FREE + HOUR, FREE + HOUR + quarter, false),
        // Adjacent times do not overlap.
        ("mtg_8", Part::Meeting, FREE + 2 * HOUR, FREE + 3 * HOUR, true),
    ];
    for (meeting_id, part, start_at, end_at, is_free) in rows {
        let new = NewReserved { host, meeting_id, part, calendar_id: "cal_0", start_at, end_at, now: 0 };
        assert_eq!(reserved_times::reserve(tx, &[new]).await?, is_free, "{meeting_id} {part:?}");
    }
    let other = ConnectionLock::take(tx, &tenant(), "conn_0_1").await?.expect("it is in the seed");
    let (start_at, end_at) = (FREE, FREE + HOUR);
    let new = NewReserved {
        host: &other,
        meeting_id: "mtg_2",
        part: Part::Meeting,
        calendar_id: "cal_0",
        start_at,
        end_at,
        now: 0,
    };
    let of_host = NewReserved { host, ..new.clone() };
    assert!(!reserved_times::reserve(tx, &[new, of_host]).await?, "another host is free, this one is not");
    assert!(reserved_times::is_reserved(&mut *tx, "mtg_2").await?);
    Ok(())
}
