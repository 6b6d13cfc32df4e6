//! Runs every function of `storage/` for the tenant that has the most.

use anyhow::Result;
use base::clock::Entropy;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::api_keys::{self, KeyKind};
use crate::authorizations::{self, Outcome, PendingAuthorization};
use crate::connections;
use crate::idempotency;
use crate::installation;
use crate::items::{self, After, Item, Key, List, Shape, Window, Within};
use crate::jobs::{self, Fence};
use crate::key_revocations::{self, KeyWebhooks};
use crate::locked::ConnectionLock;
use crate::log;
use crate::mail::{self, Filter};
use crate::oauth_clients::{self, OAuthClient};
use crate::outbox::{self, OutboxMessage};
use crate::provider_units::{self, DayRange, UnitBucket, UnitCount};
use crate::retention::{expire, purge};
use crate::sync_states::{self, ItemError};
use crate::tests::seed::START_MS;
use crate::tests::{
    calls_accounts, calls_booking_life, calls_booking_mail, calls_deliveries, calls_domains, calls_held,
    calls_item_sets, calls_jobs, calls_keys, calls_mail_sets, calls_operators, calls_organizations,
    calls_pools, calls_refresh, calls_replays, calls_request_log, calls_scheduling, calls_tokens,
    calls_usage, calls_watches, calls_webhooks,
};
use crate::throttles::{self, Throttle};
use crate::token_refresh::Grant;
use crate::tracking::{self, Event, Record, Report};
use crate::usage::{self, Bucket};

const HOUR: i64 = 3_600_000;
/// The middle of the seed.
const NOON: i64 = START_MS + 1_250 * HOUR;
const EVENTS: &str = "conn_0_0";
const CONTACTS: &str = "conn_0_1";
const MAIL: &str = "conn_0_3";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    read_keys_and_connections(db).await?;
    calls_usage::all(db).await?;
    read_collections(db).await?;
    read_windows(db).await?;
    read_lists(db).await?;
    read_mail(db).await?;
    read_states(db).await?;
    read_the_rest(db).await?;
    read_registrations(db).await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_items(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_mail(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_states(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_sending(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_keys(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_registrations(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_authorizations(tx).await
        })
    })
    .await?;
    calls_item_sets::all(db).await?;
    calls_jobs::all(db).await?;
    calls_refresh::all(db).await?;
    calls_tokens::all(db).await?;
    calls_domains::all(db).await?;
    calls_scheduling::all(db).await?;
    calls_booking_life::all(db).await?;
    calls_booking_mail::all(db).await?;
    calls_pools::all(db).await?;
    calls_deliveries::all(db).await?;
    calls_held::all(db).await?;
    calls_replays::all(db).await?;
    calls_request_log::all(db).await?;
    calls_watches::all(db).await?;
    calls_webhooks::all(db).await?;
    calls_keys::all(db).await?;
    calls_operators::all(db).await?;
    calls_organizations::all(db).await?;
    calls_accounts::all(db).await?;
    calls_mail_sets::all(db).await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            forget(tx).await
        })
    })
    .await
}

async fn read_keys_and_connections(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    api_keys::by_hash(reader, "hash 10").await?;
    api_keys::find(reader, tenant, None, "key_100000").await?;
    api_keys::find(reader, tenant, Some("key_100001"), "key_100000").await?;
    api_keys::names(reader, tenant).await?;
    api_keys::list(reader, tenant, None, KeyKind::Key, ("key_100100", 50)).await?;
    api_keys::list(reader, tenant, Some("key_100000"), KeyKind::Key, ("", 50)).await?;
    let newest = api_keys::list_newest(reader, tenant, KeyKind::Key, None, 50).await?;
    let older = api_keys::list_newest(reader, tenant, KeyKind::Key, Some(&newest[49].id), 50).await?;
    assert!(newest[0].id > newest[49].id && newest[49].id > older[0].id);
    api_keys::list_all(reader).await?;
    assert_eq!(api_keys::tenants(reader).await?.len(), 10);
    assert_eq!(api_keys::applications(reader).await?.len(), 10);
    assert!(connections::find(reader, tenant, MAIL).await?.is_some());
    assert!(connections::find_with_sequence(reader, tenant, MAIL).await?.is_some());
    let ids = [MAIL.to_owned(), EVENTS.to_owned(), "conn_1_0".to_owned()];
    assert_eq!(connections::existing(reader, tenant, &ids).await?.len(), 2);
    assert_eq!(connections::of_ids(reader, tenant, &ids).await?.len(), 2);
    assert_eq!(connections::list(reader, tenant, ("", ""), "conn_100100", 50).await?.len(), 50);
    assert!(connections::count_by_status(reader, tenant).await?["active"] > 2_000);
    idempotency::find(reader, "app_0", "scope-10").await?;
    usage::list(reader, tenant, "2025-11-12", "2025-11-12").await?;
    usage::changes(reader, tenant, "2025-11-12", "2025-11-12").await?;
    assert!(usage::webhooks(reader, tenant, "2025-11-12", "2025-11-12").await?.is_empty());
    let year = DayRange { from: "2026-01-01", to: "2026-12-31" };
    let days = ["2026-03-10", "2026-03-11", "2026-03-12"].map(str::to_owned);
    let most = provider_units::largest(reader, tenant, &days, 20).await?;
    assert_eq!((most.len(), most[0].connection_id.as_str(), most[0].units), (20, "conn_units_19995", 19_995));
    assert!(provider_units::largest(reader, tenant, &["2026-03-13".to_owned()], 20).await?.is_empty());
    assert!(provider_units::of_connections(reader, tenant, &[MAIL, EVENTS], year).await?.is_empty());
    assert!(items::bytes(reader, tenant).await? > 0);
    Ok(())
}

async fn read_collections(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let event = "evt_1040000";
    assert!(items::find(reader, tenant, "event", event).await?.is_some());
    assert!(items::any(reader, tenant, event).await?.is_some());
    assert_eq!(items::find_all(reader, tenant, &[event, "evt_none"]).await?.len(), 1);
    let id = items::read(reader, tenant, ("event", event), true, |row| row.id.to_owned()).await?;
    assert_eq!(id.as_deref(), Some(event));
    assert_eq!(items::list_top(reader, tenant, Some(EVENTS), "calendar", "", 50).await?.len(), 3);
    assert_eq!(items::list_top(reader, tenant, None, "calendar", "cal_0_1", 50).await?.len(), 50);
    let of = [EVENTS.to_owned(), MAIL.to_owned(), "conn_1_0".to_owned()];
    let listed = items::list_top_of(reader, tenant, &of, "calendar", 50).await?;
    assert_eq!((listed.rows.len(), listed.is_last), (3, true));
    assert!(!items::list_top_of(reader, tenant, &of, "calendar", 2).await?.is_last);
    let hosts = [EVENTS.to_owned(), "conn_100040".to_owned()];
    assert_eq!(items::unfollowed_calendars(reader, tenant, &hosts, 50).await?.len(), 4);
    let series = ["evt_1000240", "evt_1000480"];
    let whole = items::exceptions_of(reader, &series, 1 << 20).await?;
    assert!(!whole.rows.is_empty() && whole.is_last);
    let cut = items::exceptions_of(reader, &series, 1).await?;
    assert_eq!((cut.rows.len(), cut.is_last), (1, false));
    let walked = items::snapshot(reader, tenant, ("cal_0_0", "event"), 50_000, "", 100).await?;
    assert_eq!((walked.rows.len(), walked.is_last), (100, false));
    let within = (MAIL, "email_message");
    let walked = items::snapshot_of_connection(reader, tenant, within, 50_000, "msg_1050000", 100).await?;
    assert_eq!((walked.rows.len(), walked.is_last), (100, false));
    let counts = items::counts(reader, tenant, ("contact_book", "contact"), ("lst_0_0", "lst_0_2")).await?;
    assert_eq!(counts.len(), 3);
    Ok(())
}

async fn read_windows(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let week = Window {
        parent_id: "cal_0_0",
        from: Some(NOON),
        to: NOON + 168 * HOUR,
        shape: Shape::Any,
        after: None,
        limit: 51,
    };
    let after = Some(After { sort_at: NOON + 50 * HOUR, id: "evt_1051000".into() });
    let windows = [
        week.clone(),
        Window { shape: Shape::Plain, ..week.clone() },
        Window { shape: Shape::Series, ..week.clone() },
        Window { shape: Shape::Exceptions, ..week.clone() },
        Window { after: after.clone(), ..week.clone() },
        Window { from: None, to: i64::MAX, ..week.clone() },
        Window { from: None, to: i64::MAX, after, ..week.clone() },
        Window { from: Some(START_MS + 2_400 * HOUR), to: i64::MAX, ..week.clone() },
    ];
    for window in windows {
        let found = items::list_window(reader, tenant, &window).await?;
        assert_eq!(found.is_last, found.rows.len() < 51, "{window:?}");
        let found = found.rows;
        assert!(!found.is_empty() || window.shape == Shape::Exceptions, "{window:?}");
        let again = items::read_window(reader, tenant, &window, true, |row| Ok(row.id.to_owned())).await?;
        assert_eq!(again.rows, found.iter().map(|item| item.id.clone()).collect::<Vec<_>>());
    }
    Ok(())
}

async fn read_lists(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let key = |name, value: &str| Key { name, value: value.to_owned() };
    let (words, one) = (["nowhere".to_owned()], [key("email", "uid-50010@example.test")]);
    let many = [key("group", "grp_lst_0_0"), key("email", "uid-50010@example.test")];
    for within in [Within::Collection("lst_0_0"), Within::Connection(CONTACTS), Within::Application] {
        let list = List {
            within,
            kind: "contact",
            updated_after: i64::MIN,
            words: &[],
            keys: &[],
            after: ("a1050000", "ct_1050000"),
            limit: 51,
        };
        let start = List { after: ("", ""), ..list.clone() };
        let lists = [
            (list.clone(), 51, 51),
            (List { words: &words, ..list.clone() }, 51, 0),
            (List { updated_after: i64::MAX, ..list.clone() }, 51, 0),
            (List { keys: &one, ..start.clone() }, 1, 0),
            (List { keys: &many, ..start }, 51, 0),
        ];
        for (list, seen, shown) in lists {
            let found = items::read_list(reader, tenant, &list, true, |row| Ok(row.shown.is_some())).await?;
            let found = found.rows;
            assert_eq!(found.len(), seen, "{list:?}");
            assert!(found.iter().filter(|shown| **shown).count() >= shown, "{list:?}");
        }
    }
    Ok(())
}

async fn read_mail(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let words = ["nowhere".to_owned()];
    for place_id in ["app_0", MAIL, "fol_0_0", "thr_0_400"] {
        let filter = Filter {
            place_id,
            from: i64::MIN,
            to: i64::MAX,
            mask: 0,
            flags: 0,
            words: &[],
            kind: "",
            before: (i64::MAX, ""),
            limit: 51,
        };
        let filters = [
            filter.clone(),
            Filter { before: (NOON, "msg_1050000"), ..filter.clone() },
            Filter { to: NOON, from: NOON - 100 * HOUR, ..filter.clone() },
            Filter { words: &words, ..filter.clone() },
            Filter { mask: 1, flags: 1, kind: "email_draft", ..filter },
        ];
        for filter in filters {
            mail::list_messages(reader, tenant, &filter, true, |row| Ok(row.found.is_some())).await?;
        }
    }
    mail::latest_of(reader, "thr_0_400").await?;
    mail::find_thread(reader, tenant, "thr_0_400").await?;
    assert!(!mail::messages_of(reader, tenant, &["thr_0_400", "thr_0_401"]).await?.is_empty());
    assert_eq!(mail::list_threads(reader, tenant, MAIL, (NOON, "thr"), 51).await?.len(), 51);
    assert_eq!(mail::list_threads(reader, tenant, "", (NOON, "thr"), 51).await?.len(), 51);
    let sources = ["s50030".to_owned(), "s50031".to_owned()];
    assert_eq!(items::of_sources(reader, tenant, MAIL, &sources).await?.len(), 2);
    Ok(())
}

async fn read_states(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let state = sync_states::find(reader, EVENTS, "calendar", "").await?.expect("it is in the seed");
    assert_eq!(sync_states::of_connection(reader, EVENTS).await?.len(), 5);
    sync_states::lags(reader).await?;
    assert!(sync_states::standing(reader, (EVENTS, "calendar", ""), "kind_1:100008").await?.is_some());
    sync_states::item_errors(reader, &state, 20).await?;
    let of_one = sync_states::SyncState { scope_id: "cal_0_1".into(), ..state };
    sync_states::item_errors(reader, &of_one, 20).await?;
    sync_states::unsettled_item_errors(reader, &of_one, (3, Some("c")), 20).await?;
    sync_states::pull_remains(reader, of_one.key(), 1).await?;
    sync_states::rereads(reader, of_one.key(), 50).await?;
    sync_states::names_after(reader, of_one.key(), (1, -1)).await?;
    sync_states::item_errors_among(reader, &of_one, &["s10", "s11"]).await?;
    let events = (["event", "event", "event", "event"], "cal_0_2");
    assert_eq!(items::held_versions(reader, EVENTS, events, &["s50000", "none"]).await?.len(), 1);
    assert!(items::unseen(reader, EVENTS, events.0, events.1, 7).await?.len() > 4_000);
    assert_eq!(items::seen_again(reader, EVENTS, events.0, events.1, 0, i64::MAX).await?.len(), 1);
    let prints = ["print-50030", "print-50031"];
    items::live_by_fingerprint(reader, MAIL, &prints, 50).await?;
    items::live_with_fingerprint(reader, MAIL, "print-50030", 50).await?;
    throttles::find(reader, tenant, EVENTS).await?;
    log::last_sequence(reader, tenant).await?;
    log::floor(reader, tenant).await?;
    assert!(log::last_in(reader, tenant, "cal_0_0").await?.is_some());
    let ids: Vec<String> = (0..16).map(|n| format!("not_{}", 97 * n)).collect();
    let whole = log::whole_by_ids(reader, tenant, &ids).await?;
    assert!(!whole.is_empty() && whole.is_sorted_by_key(|line| line.sequence));
    let none = ["contact_book", "contact_group", "contact", "contact"];
    assert_eq!(log::last_of(reader, tenant, MAIL, none).await?, None);
    let lines = log::of_collection(reader, tenant, "cal_0_0", 50_000, 100, |line| line.sequence).await?;
    assert!(lines.rows.len() == 100 && lines.rows.is_sorted() && !lines.is_last);
    // A connection that has much to tell, and nothing of these.
    assert_eq!(log::of_connection(reader, tenant, (MAIL, none), 10, 100, |_| ()).await?.rows.len(), 0);
    let types = ["email.folder", "email.label", "email.draft", "email.message"];
    let lines = log::of_connection(reader, tenant, (MAIL, types), 50_000, 100, |line| line.sequence).await?;
    assert!(lines.rows.len() == 100 && lines.rows.is_sorted());
    Ok(())
}

async fn read_the_rest(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    outbox::find(reader, tenant, "out_100010").await?;
    outbox::by_message_id(reader, MAIL, "mid-10").await?;
    outbox::pieces(reader, "out_100010").await?;
    tracking::find(reader, tenant, "trk_100010").await?;
    tracking::of_message(reader, "out_100010").await?;
    assert_eq!(tracking::newest(reader, "trk_100010", 50).await?.len(), 2);
    tracking::arrivals(reader, "trk_100010").await?;
    tracking::of_network(reader, "trk_100010", ("open", 0, None), 50).await?;
    tracking::counts(reader, "trk_100010", "open").await?;
    assert!(purge::find(reader, "conn_1").await?.is_none());
    Ok(())
}

async fn read_registrations(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    assert!(oauth_clients::find(reader, tenant, "provider-10").await?.is_some());
    assert!(oauth_clients::list(reader, "app_1").await?.len() > 500);
    assert!(oauth_clients::settings_named(reader, "provider-10", "tenant").await?.is_empty());
    let redirects = oauth_clients::redirects(reader, tenant).await?;
    assert!(redirects.len() > 10_000);
    let ids = [tenant.application_id.clone(), "app_none".to_owned()];
    let of_two = oauth_clients::redirects_of(reader, &ids).await?;
    assert!(of_two.len() == 1 && of_two[&tenant.application_id] == redirects);
    assert!(authorizations::find(reader, "state-10").await?.is_some());
    Ok(())
}

/// The lock on a connection of the seed.
async fn locked(tx: &mut Tx, id: &str) -> Result<ConnectionLock> {
    Ok(ConnectionLock::take(tx, &tenant(), id).await?.expect("it is in the seed"))
}

async fn write_items(tx: &mut Tx) -> Result<()> {
    let events = locked(tx, EVENTS).await?;
    let event = items::lock_item(tx, &events, "evt_1050000").await?.expect("it is in the seed");
    let fresh = Item { id: "evt_new".into(), external_id: "new".into(), ..event.clone().into_row() };
    let fresh = items::insert(tx, &events, fresh).await?;
    let gone = Item { deleted_at: Some(1), ..Item::clone(&fresh) };
    items::replace(tx, fresh, gone).await?;
    let family = ["event", "event", "event", "event"];
    assert!(items::live_sources(&mut *tx, EVENTS, family, "cal_0_0").await?.len() > 4_000);
    items::mark_seen(tx, &events, (family, "cal_0_0"), &["s50000"], 0).await?;
    assert!(items::unseen_sources(&mut *tx, EVENTS, (family, "cal_0_0"), 7).await?.len() > 4_000);
    items::leave_source(tx, EVENTS, "s50000", (1, 1)).await?;
    items::left_sources(tx, EVENTS, &["s50000", "s50001"], 0).await?;
    items::forget_former_sources(tx, 1, 50).await?;
    items::has_refs(tx, "lbl_0_0").await?;
    let calendar = items::lock_item(tx, &events, "cal_0_2").await?.expect("it is in the seed");
    let gone = Item { deleted_at: Some(1), sequence: 2, ..Item::clone(&calendar) };
    items::replace(tx, calendar, gone).await?;
    Ok(())
}

async fn write_mail(tx: &mut Tx) -> Result<()> {
    let lock = &locked(tx, MAIL).await?;
    let message = items::lock_item(tx, lock, "msg_1050030").await?.expect("it is in the seed");
    let family = ["email_folder", "email_label", "email_draft", "email_message"];
    items::lock_ever_of_sources(tx, lock, family, &["s50030", "s50031"]).await?;
    items::lock_gone_by_fingerprint(tx, lock, &["print-50030", "print-50031"], 0, 50).await?;
    items::live_of_kinds(tx, MAIL, ("email_folder", "email_label")).await?;
    items::lock_ours_by_uid(tx, lock, &["uid-50030", "uid-50031"], "outbox:", 0).await?;
    items::set_uid(tx, &message, "uid").await?;
    items::set_source(tx, &message, "source").await
}

async fn write_states(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    let state = sync_states::SyncState {
        organization_id: "org_0".into(),
        application_id: "app_0".into(),
        connection_id: EVENTS.into(),
        surface: "calendar".into(),
        scope_id: "cal_0_1".into(),
        status: "caught_up".into(),
        ..sync_states::SyncState::default()
    };
    let lock = &locked(tx, EVENTS).await?;
    sync_states::upsert(tx, lock, &state, 0).await?;
    sync_states::follow(tx, lock, &state).await?;
    sync_states::reset(tx, lock, &state).await?;
    let held = sync_states::lock_state(tx, lock, ("calendar", "cal_0_1")).await?.expect("it was written");
    sync_states::forget_cursor(tx, &held).await?;
    sync_states::forget_contents(tx, lock, state.key(), NOON).await?;
    sync_states::resume_contents(tx, lock, state.key(), state.key(), "", NOON).await?;
    let followed = sync_states::SyncState { followed: true, ..state.clone() };
    sync_states::follow(tx, lock, &followed).await?;
    sync_states::resume_contents(tx, lock, state.key(), state.key(), "", NOON).await?;
    sync_states::end_follow(tx, lock, state.key()).await?;
    sync_states::add_rereads(tx, state.key(), &["new".to_owned()], 1).await?;
    sync_states::remove_rereads(tx, state.key(), &["new".to_owned()]).await?;
    let batch = sync_states::Batch { number: 0, names: "[]".into() };
    sync_states::keep_names(tx, state.key(), 1, std::slice::from_ref(&batch)).await?;
    sync_states::remove_names(tx, state.key(), 1, &batch).await?;
    for bucket in ["", "mailbox"] {
        throttles::set(tx, tenant, EVENTS, &Throttle { bucket: bucket.into(), until: NOON }).await?;
    }
    let error = ItemError {
        source_id: "new".into(),
        provider_etag: None,
        connector: None,
        code: "c".into(),
        message: "m".into(),
        attempts: 1,
        at: 1,
    };
    sync_states::note_item_errors(tx, &state, &[&error]).await?;
    sync_states::clear_item_errors(tx, &state, &["new"]).await?;
    sync_states::has_item_errors(tx, &state).await?;
    sync_states::mark_item_errors(tx, &state, &["new"], 1).await?;
    sync_states::clear_unmarked_item_errors(tx, &state, 1).await?;
    sync_states::forget_attempts(tx, EVENTS).await?;
    let entry = log::Entry {
        sequence: log::next_sequence(tx, tenant, 1).await?,
        id: "not_new".into(),
        connection_id: Some(EVENTS.into()),
        account_ids: Some(vec![EVENTS.into()]),
        entry_type: "x".into(),
        change_type: "created".into(),
        resource_type: "calendar.event".into(),
        resource_id: "x".into(),
        parent_id: "cal_0_0".into(),
        changed_fields: None,
        etag: None,
        origin: "api".into(),
        resource: None,
        at: NOON,
    };
    log::insert(tx, tenant, &[entry]).await?;
    let bucket = Bucket {
        tenant: tenant.clone(),
        key_id: "key".into(),
        day: "2026-01-01".into(),
        surface: "email".into(),
        outcome: "success".into(),
    };
    usage::add(tx, &bucket, 1).await?;
    let of = UnitBucket { connection_id: EVENTS.into(), day: "2026-01-01".into(), bucket: "mail".into() };
    provider_units::add(tx, &[UnitCount { tenant: tenant.clone(), of, units: 5 }]).await?;
    let counts = [("webhook:delivered:1".to_owned(), 2), ("webhook:failed:5".to_owned(), 1)];
    let counts = std::collections::BTreeMap::from(counts);
    usage::add_each(tx, tenant, ("2026-01-01", "0"), &counts).await?;
    usage::add_each(tx, tenant, ("2026-01-01", "0"), &counts).await
}

async fn write_sending(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    let outgoing = OutboxMessage {
        id: "out_new".into(),
        tenant: tenant.clone(),
        connection_id: MAIL.into(),
        draft_id: None,
        state: "queued".into(),
        internet_message_id: "mid".into(),
        options: "{}".into(),
        recipients: "[]".into(),
        send_at: None,
        next_attempt_at: Some(NOON),
        attempts: 0,
        handed_over_at: None,
        accepted_at: None,
        claimed_by: None,
        claimed_until: None,
        created_at: NOON,
        updated_at: NOON,
    };
    outbox::insert(tx, &outgoing, "text", Some("copy")).await?;
    let fence = Fence::random(&Entropy::seeded(2));
    assert!(outbox::begin(tx, "out_new", fence, NOON).await?.is_some());
    assert!(outbox::handed_over(tx, "out_new", fence, NOON).await?);
    assert!(outbox::accepted(tx, "out_new", fence, NOON).await?);
    let lock = &locked(tx, MAIL).await?;
    let held = outbox::lock_outgoing(tx, lock, "out_new").await?.expect("it was written");
    assert!(outbox::settle(tx, &held, &outgoing, fence).await?);
    outbox::set_recipients(tx, &held, ("queued", "[]"), NOON).await?;
    assert!(outbox::cancel(tx, lock, "out_new", NOON).await?.is_some());
    outbox::forget_contents(tx, "out_new").await?;
    let record = Record {
        id: "trk_new".into(),
        tenant: tenant.clone(),
        connection_id: MAIL.into(),
        message_id: "out_new".into(),
        label: None,
        opens: true,
        links: true,
        replies: true,
        urls: "[]".into(),
        sent_at: None,
        expires_at: NOON,
        created_at: NOON,
    };
    tracking::insert(tx, &record).await?;
    tracking::set_sent(tx, "out_new", NOON).await?;
    let event = Event {
        id: "hit_new".into(),
        kind: "open".into(),
        at: NOON,
        link_index: None,
        ip: None,
        user_agent: None,
        classification: "human".into(),
        reason: None,
        detail: None,
    };
    tracking::add_event(tx, "trk_new", &event).await?;
    let reply = Event { id: "reply_new".into(), kind: "reply".into(), ..event };
    tracking::add_event(tx, "trk_new", &reply).await?;
    tracking::reclassify(tx, "trk_new", ("open", 0, None), ("machine", "scanner")).await?;
    let report =
        Report { item_id: "msg".into(), tenant: tenant.clone(), connection_id: MAIL.into(), attempts: 0 };
    tracking::add_reports(tx, &[report], NOON).await?;
    tracking::remove_report(tx, "msg").await
}

async fn write_keys(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    let key = api_keys::ApiKey {
        id: "key_new".into(),
        tenant: tenant.clone(),
        name: "new".into(),
        prefix: "sk".into(),
        last4: "0000".into(),
        scopes: Vec::new(),
        allowed_domains: Vec::new(),
        allowed_ips: Vec::new(),
        connection_ids: Vec::new(),
        rate_limit_per_minute: 1,
        expires_at: None,
        last_used_at: None,
        last_used_ip: None,
        created_by: None,
        revoked_at: None,
        created_at: 0,
        kind: KeyKind::Key,
        grant_id: None,
        agent: None,
    };
    api_keys::insert(tx, &key, "hash").await?;
    api_keys::note_use(tx, "key_new", 1, "ip").await?;
    key_revocations::revoke(tx, tenant, "key_new", KeyWebhooks::End, 1).await?;
    key_revocations::revoke_any(tx, "key_new", KeyWebhooks::End, 1).await?;
    api_keys::ensure_application(tx, ("organization 3", "new"), ("org_new", "app_new"), 0).await?;
    api_keys::ensure_application(tx, ("new", "new"), ("org_new", "app_newer"), 0).await?;
    installation::settle(tx, "name", "value").await?;
    installation::write_probe(tx, "value").await?;
    let claim = idempotency::NewClaim {
        application_id: "app_0",
        scope: "new",
        fingerprint: "f",
        fence: "fence",
        owner: "owner",
        now: NOON,
        lease_until: NOON,
    };
    idempotency::insert(tx, &claim).await?;
    idempotency::take_over(tx, &claim, "fence").await?;
    idempotency::renew(tx, ["app_0", "new", "fence"], "host_0", NOON).await?;
    idempotency::expire(tx, "app_0", "new", "fence").await?;
    let answer = idempotency::StoredAnswer { status: 200, headers: "{}".into(), body: "{}".into() };
    idempotency::answer(tx, ("app_0", "new", "fence"), &answer, NOON).await?;
    idempotency::delete(tx, "app_0", "new", "fence").await?;
    idempotency::unanswer_all(tx).await
}

async fn write_registrations(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    let client = OAuthClient {
        id: "oac_new".into(),
        tenant: tenant.clone(),
        provider: "new".into(),
        client_id: "client".into(),
        client_secret: None,
        client_auth: None,
        settings: serde_json::Map::new(),
        endpoints: serde_json::Map::new(),
        scopes: serde_json::Map::new(),
        version: 1,
        disabled_at: None,
        created_at: NOON,
        updated_at: NOON,
    };
    assert!(oauth_clients::insert(tx, &client).await?);
    let again = OAuthClient { id: "oac_newer".into(), ..client.clone() };
    assert!(!oauth_clients::insert(tx, &again).await?, "the application has one of this provider");
    assert!(oauth_clients::update(tx, &client).await?);
    assert!(!oauth_clients::update(tx, &client).await?, "its version is 2 by now");
    let stored = oauth_clients::find(&mut *tx, tenant, "new").await?.expect("it was written");
    assert_eq!((stored.version, stored.client_secret), (2, None));
    assert!(oauth_clients::remove(tx, tenant, "new").await?);
    let uri = "https://app.example.test/new";
    assert!(oauth_clients::add_redirect(tx, tenant, uri, NOON).await?);
    assert!(!oauth_clients::add_redirect(tx, tenant, uri, NOON).await?);
    assert!(oauth_clients::remove_redirect(tx, tenant, uri).await?);
    Ok(())
}

async fn write_authorizations(tx: &mut Tx) -> Result<()> {
    let pending = PendingAuthorization {
        state_hash: "state-new".into(),
        tenant: tenant(),
        api_key_id: "key_new".into(),
        provider: "sandbox".into(),
        oauth_client_id: "oac_new".into(),
        oauth_client_version: 1,
        redirect_uri: "https://app.example.test/new".into(),
        callback_uri: "https://host.example.test/callback".into(),
        issuer: None,
        requires_iss: true,
        endpoints: serde_json::Map::new(),
        requested_scopes: vec!["email.read".into()],
        provider_scopes: Vec::new(),
        connection_id: None,
        options: serde_json::Map::new(),
        secrets: "sealed".into(),
        code_challenge: None,
        created_at: NOON,
        expires_at: NOON,
        claimed_by: None,
        claimed_at: None,
        fence: 0,
        finished_at: None,
        outcome: None,
        code_expires_at: None,
        code_used_at: None,
        grant_id: None,
        account: None,
    };
    authorizations::insert(tx, &pending).await?;
    let hash = &pending.state_hash;
    assert_eq!(authorizations::claim(tx, hash, "one", NOON, NOON - 60_000).await?, Some(1));
    assert_eq!(authorizations::claim(tx, hash, "other", NOON, NOON - 60_000).await?, None);
    assert_eq!(authorizations::claim(tx, hash, "other", NOON, NOON + 1).await?, Some(2));
    let result = serde_json::json!({ "error": "access_denied" });
    let outcome =
        Outcome { at: NOON, result: result.clone(), code: Some(("code-new".into(), NOON + 60_000)) };
    assert!(!authorizations::finish(tx, hash, 1, &outcome).await?, "its claim was taken over");
    assert!(authorizations::finish(tx, hash, 2, &outcome).await?);
    assert!(!authorizations::finish(tx, hash, 2, &outcome).await?, "it is finished");
    let grant = Grant { client: "client-waiting".into(), key: Some("key-waiting".into()) };
    authorizations::hold_account(tx, hash, "sealed account", &grant).await?;
    let waiting = authorizations::lock(tx, hash).await?.expect("it was written");
    assert_eq!(waiting.account.as_deref(), Some("sealed account"));
    authorizations::release_account(tx, hash).await?;
    let first = authorizations::use_code(tx, "code-new", NOON).await?.expect("it was written");
    assert_eq!((first.secrets.as_str(), first.outcome, first.code_used_at), ("", Some(result), None));
    let again = authorizations::use_code(tx, "code-new", NOON + 1).await?.expect("it stays");
    assert_eq!((again.code_used_at, again.requires_iss, again.account), (Some(NOON), true, None));
    Ok(())
}

/// Rows of a step.
const ROWS_PER_STEP: i64 = 50;

async fn forget(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    // A connection, as it is written again and as it goes.
    let other = "conn_1_3";
    let row = connections::Connection {
        id: "conn_new".into(),
        tenant: tenant.clone(),
        provider: "sandbox".into(),
        connector_version: "1".into(),
        status: "active".into(),
        status_reason: None,
        status_changed_at: 0,
        display_name: None,
        email: None,
        external_account_id: "x".into(),
        username: None,
        addresses: Vec::new(),
        surfaces: Vec::new(),
        requested_scopes: Vec::new(),
        granted_scopes: Vec::new(),
        provider_scopes: Vec::new(),
        time_zone: None,
        settings: serde_json::Map::new(),
        credentials: String::new(),
        credentials_version: 1,
        token_expires_at: None,
        last_refresh_at: None,
        last_refresh_error: None,
        failing_since: None,
        tags: Default::default(),
        metadata: Default::default(),
        etag: "e".into(),
        created_at: 0,
        updated_at: 0,
    };
    connections::insert(tx, &row).await?;
    let lock = locked(tx, "conn_new").await?;
    connections::update(tx, &lock, &row).await?;
    connections::delete(tx, &lock, NOON).await?;
    let of_other = Tenant { organization_id: "org_1".into(), application_id: "app_1".into() };
    let lock = ConnectionLock::take(tx, &of_other, other).await?.expect("it is in the seed");
    connections::delete(tx, &lock, NOON).await?;
    purge::begin(tx, &of_other, other, NOON).await?;
    jobs::remove(tx, &format!("purge:{other}")).await?;
    assert!(purge::adopt(tx, NOON, 100).await? >= 1);
    assert_eq!(purge::adopt(tx, NOON, 100).await?, 0, "each has a job now");
    let mut all = 0;
    while let Some(purge) = purge::find(&mut *tx, other).await? {
        let step = purge::step(tx, purge, ROWS_PER_STEP).await?;
        assert!(step.rows <= ROWS_PER_STEP, "{} rows in a step", step.rows);
        all += step.rows;
    }
    assert!(all > 5_000, "{all} rows of a connection with mail");
    assert_eq!(expire::idempotency(tx, i64::MAX, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(expire::outbox(tx, i64::MAX, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(expire::tracking(tx, i64::MAX, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(authorizations::clean(tx, i64::MAX, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert!(expire::threads(tx, i64::MAX, ROWS_PER_STEP).await? > 0);
    assert_eq!(expire::usage(tx, tenant, "2025-11-20", ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert!(expire::provider_units(tx, tenant, "2026-02-01", ROWS_PER_STEP).await? <= 1);
    assert_eq!(expire::log(tx, tenant, NOON, ROWS_PER_STEP).await?, ROWS_PER_STEP as u64);
    assert_eq!(expire::tombstones(tx, tenant, 1, ROWS_PER_STEP).await?, 0);
    // What hangs on a calendar that is gone takes many steps; then come the tombstones themselves.
    for _ in 0..100 {
        assert!(expire::tombstones(tx, tenant, 90_000, ROWS_PER_STEP).await? <= ROWS_PER_STEP);
    }
    Ok(())
}
