//! Runs every statement on replays and on the list of deliveries, at subscriptions of `seed_deliveries`.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{DeliveryStatus, ReplayFailure, ReplayStatus, WebhookStatus};

use crate::Db;
use crate::Tx;
use crate::log;
use crate::webhooks::cleaning;
use crate::webhooks::deliveries::{self, Delivery, DeliveryProgress, Health};
use crate::webhooks::delivery_list::{self, EventDelivery, Which};
use crate::webhooks::replay_lines;
use crate::webhooks::replays::{self, Replay, ReplayCounts, Step};

/// A subscription that is active still, whatever the other calls do.
const WEBHOOK: &str = "whc_1";
/// The subscription with the most deliveries.
const BUSIEST_WEBHOOK: &str = "whc_0";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

fn new(id: &str) -> Replay {
    Replay {
        id: id.into(),
        webhook_id: WEBHOOK.into(),
        tenant: tenant(),
        key_id: "key_1".into(),
        filter: "{}".into(),
        event_count: 2,
        is_counted: true,
        position: 300_001,
        last_sequence: 300_001,
        reached_at: 0,
        written: 2,
        due_until: 0,
        sent: 0,
        failed: 0,
        status: ReplayStatus::Running,
        reason: None,
        created_at: 1,
        updated_at: 1,
    }
}

fn delivery(sequence: i64, status: DeliveryStatus) -> Delivery {
    Delivery {
        id: format!("whd_r{sequence}"),
        sequence,
        replay_id: "rpl_new".into(),
        event_id: "ev_1".into(),
        resource_id: "evt_1".into(),
        status,
        attempts: Vec::new(),
        next_attempt_at: (status == DeliveryStatus::Pending).then_some(-1),
    }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let ids: Vec<String> = (0..1_000).map(|n| format!("not_{}", 97 * n)).collect();
    let found = log::by_ids(db.reader(), &tenant(), &ids).await?;
    assert!((1..1_000).contains(&found.len()), "{} lines of one of ten tenants", found.len());
    assert!(found.is_sorted_by_key(|line| line.sequence));
    read_lines(db).await?;
    read_deliveries(db).await?;
    db.write(|tx| Box::pin(async move { write(tx).await })).await?;
    db.write(|tx| Box::pin(async move { walk(tx).await })).await
}

async fn read_lines(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let lines = replay_lines::after(reader, tenant, (10_000, 90_000), 500).await?;
    assert_eq!(lines.len(), 500);
    assert!(lines.is_sorted_by_key(|timed| timed.line.sequence));
    let first = replay_lines::first_after(reader, tenant, 10_000).await?;
    assert_eq!(first.as_ref(), lines.first());
    let newest = replay_lines::before(reader, tenant, lines[499].line.sequence + 1, 500).await?;
    assert!(newest.iter().rev().eq(&lines), "the same lines, newest first");
    assert_eq!(log::tenant_of(reader, &lines[0].line.id).await?.as_ref(), Some(tenant));
    assert_eq!(log::tenant_of(reader, "ev_none").await?, None);
    let ids: Vec<String> = lines.iter().rev().take(16).map(|timed| timed.line.id.clone()).collect();
    assert_eq!(replay_lines::by_ids(reader, tenant, &ids).await?, lines[484..]);
    let given_up = replay_lines::given_up(reader, BUSIEST_WEBHOOK, (10_000, 90_000), 100).await?;
    assert_eq!(given_up.len(), 100);
    let sequences: Vec<i64> = given_up.iter().map(|(sequence, _)| *sequence).collect();
    let statuses = replay_lines::statuses(reader, BUSIEST_WEBHOOK, &sequences).await?;
    assert_eq!(statuses.len(), 100);
    assert!(statuses.iter().all(|(_, status)| *status == DeliveryStatus::Failed));
    Ok(())
}

async fn read_deliveries(db: &Db) -> Result<()> {
    let bounds = ((90_000, ""), 10_000);
    for which in [Which::All, Which::Pending, Which::GivenUp] {
        let page = delivery_list::before(db.reader(), (BUSIEST_WEBHOOK, which), bounds, 50).await?;
        assert_eq!((page.rows.len(), page.is_last), (50, false), "{which:?}");
        assert!(page.rows.iter().rev().is_sorted_by_key(|delivery| delivery.sequence));
        let last = &page.rows[49];
        assert_eq!(
            delivery_list::find(db.reader(), BUSIEST_WEBHOOK, last.sequence).await?.as_ref(),
            Some(last)
        );
        let ids = [BUSIEST_WEBHOOK.to_owned(), WEBHOOK.to_owned()];
        let of_event = delivery_list::of_event(db.reader(), &ids, last.sequence, 100).await?;
        let is_last = |found: &EventDelivery| found.webhook_id == BUSIEST_WEBHOOK && found.delivery == *last;
        assert!(of_event.iter().any(is_last), "{which:?}: {of_event:?}");
    }
    let page = delivery_list::before(db.reader(), (BUSIEST_WEBHOOK, Which::All), ((51, ""), 50), 50).await?;
    assert_eq!((page.rows.len(), page.is_last), (1, true));
    Ok(())
}

/// Replays of a range are written step by step.
async fn walk(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    replays::lock(tx, tenant, WEBHOOK).await?;
    let long = |id: &str| Replay {
        event_count: 1,
        is_counted: false,
        position: 100,
        last_sequence: 200,
        written: 0,
        ..new(id)
    };
    for id in ["rpl_a", "rpl_b", "rpl_c"] {
        replays::insert(tx, &long(id)).await?;
    }
    let step = Step { position: 150, reached_at: 7, written: 2, due_until: 9 };
    assert!(replays::advance(tx, ("rpl_a", 100), &step, 2).await?);
    assert!(!replays::advance(tx, ("rpl_a", 100), &step, 2).await?, "it is not there any more");
    let going = Replay {
        event_count: 2,
        position: 150,
        reached_at: 7,
        written: 2,
        due_until: 9,
        updated_at: 2,
        ..long("rpl_a")
    };
    assert_eq!(replays::by_id(&mut *tx, tenant, "rpl_a").await?, Some(going.clone()));
    // Those that have ended before the last step do not complete it, and the last step does.
    let ended = BTreeMap::from([("rpl_a", ReplayCounts { sent: 1, failed: 1 })]);
    replays::count(tx, &ended, 3).await?;
    let waiting = Replay { sent: 1, failed: 1, updated_at: 3, ..going };
    assert_eq!(replays::by_id(&mut *tx, tenant, "rpl_a").await?, Some(waiting.clone()));
    let step = Step { position: 200, reached_at: 8, written: 0, due_until: 9 };
    assert!(replays::advance(tx, ("rpl_a", 150), &step, 4).await?);
    let status = ReplayStatus::Completed;
    let completed =
        Replay { is_counted: true, position: 200, reached_at: 8, status, updated_at: 4, ..waiting };
    assert_eq!(replays::by_id(&mut *tx, tenant, "rpl_a").await?, Some(completed));

    let step = Step { position: 150, reached_at: 7, written: 3, due_until: 9 };
    for (id, reason) in [("rpl_b", ReplayFailure::WebhookPaused), ("rpl_c", ReplayFailure::WebhookDisabled)] {
        assert!(replays::advance(tx, (id, 100), &step, 2).await?);
        replays::fail(tx, id, reason, 3).await?;
        assert!(!replays::advance(tx, (id, 150), &step, 4).await?, "it is over");
    }
    // What was written before a pause waits, and is counted when it is sent.
    assert_eq!(replays::waiting(&mut *tx, WEBHOOK).await?, 3);
    let sent = ReplayCounts { sent: 3, failed: 0 };
    replays::count(tx, &BTreeMap::from([("rpl_b", sent), ("rpl_c", sent)]), 5).await?;
    assert_eq!(replays::waiting(&mut *tx, WEBHOOK).await?, 0);
    let listed = replays::list(&mut *tx, tenant, (WEBHOOK, "rpl_d"), 2).await?;
    let seen: Vec<_> = listed.iter().map(|r| (r.id.as_str(), r.status, r.reason, r.sent, r.failed)).collect();
    assert_eq!(
        seen,
        [
            ("rpl_c", ReplayStatus::Failed, Some(ReplayFailure::WebhookDisabled), 0, 3),
            ("rpl_b", ReplayStatus::Failed, Some(ReplayFailure::WebhookPaused), 3, 0),
        ]
    );
    cut_short(tx).await
}

/// Gives up the rest of a paused replay with its subscription, and keeps it until then.
async fn cut_short(tx: &mut Tx) -> Result<()> {
    let cut =
        Replay { status: ReplayStatus::Failed, reason: Some(ReplayFailure::WebhookPaused), ..new("rpl_p") };
    replays::insert(tx, &cut).await?;
    // Those that were made before it are over; it waits.
    cleaning::replays(tx, 9, 50).await?;
    let kept = replays::by_id(&mut *tx, &tenant(), "rpl_p").await?;
    assert_eq!(kept, Some(cut.clone()));
    replays::give_up(tx, WEBHOOK, 6).await?;
    let kept = replays::by_id(&mut *tx, &tenant(), "rpl_p").await?;
    let reason = Some(ReplayFailure::WebhookDisabled);
    assert_eq!(kept, Some(Replay { reason, failed: 2, updated_at: 6, ..cut }));
    assert_eq!(cleaning::replays(tx, 9, 50).await?, 1);
    Ok(())
}

async fn write(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    assert_eq!(replays::lock(tx, tenant, WEBHOOK).await?, Some(WebhookStatus::Active));
    assert_eq!(replays::lock(tx, tenant, "none").await?, None);
    assert_eq!(replays::running(&mut *tx, WEBHOOK).await?, 0);
    assert_eq!(replays::waiting(&mut *tx, WEBHOOK).await?, 0);
    let of = (WEBHOOK, tenant);
    for id in ["rpl_new", "rpl_other"] {
        replays::insert(tx, &new(id)).await?;
    }
    let waiting = [delivery(300_000, DeliveryStatus::Pending), delivery(300_001, DeliveryStatus::Pending)];
    deliveries::insert(tx, of, &waiting, 1).await?;
    assert_eq!(replays::running(&mut *tx, WEBHOOK).await?, 2);
    assert_eq!(replays::waiting(&mut *tx, WEBHOOK).await?, 4);
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_new")).await?;
    assert_eq!(kept, Some(new("rpl_new")));

    // One arrives, and then the other one is given up.
    let settled = DeliveryProgress { cursor: 0, health: &Health::default(), updated_at: 0 };
    let outcomes = [delivery(300_000, DeliveryStatus::Delivered), delivery(300_001, DeliveryStatus::Pending)];
    deliveries::write_outcomes(tx, of, &outcomes, &settled, 2).await?;
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_new")).await?;
    assert_eq!(kept, Some(Replay { sent: 1, updated_at: 2, ..new("rpl_new") }));
    let outcomes = [delivery(300_001, DeliveryStatus::Failed)];
    deliveries::write_outcomes(tx, of, &outcomes, &settled, 3).await?;
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_new")).await?;
    let completed =
        Replay { sent: 1, failed: 1, status: ReplayStatus::Completed, updated_at: 3, ..new("rpl_new") };
    assert_eq!(kept, Some(completed));
    assert_eq!(replays::waiting(&mut *tx, WEBHOOK).await?, 2);

    // With nothing left to discard, what is under way is over.
    while deliveries::discard(tx, WEBHOOK, 4, 500).await? > 0 {}
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_other")).await?;
    let reason = Some(ReplayFailure::WebhookDisabled);
    let failed =
        Replay { failed: 2, status: ReplayStatus::Failed, reason, updated_at: 4, ..new("rpl_other") };
    assert_eq!(kept, Some(failed));
    assert_eq!(replays::waiting(&mut *tx, WEBHOOK).await?, 0);
    assert_eq!(cleaning::replays(tx, 4, 50).await?, 1);
    assert_eq!(cleaning::replays(tx, 5, 50).await?, 1);
    Ok(())
}
