//! Runs every statement on the mail of bookings.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::jobs::{self, LostLease, NewJob};
use crate::scheduling::mail::{self, InvitationRow};
use crate::scheduling::notices;
use crate::tests::seed::START_MS;
use crate::wakes::JobClass;

const BOOKING: &str = "bk_100002";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    assert_eq!(mail::find(db.reader(), BOOKING, "invitee").await?, None);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            change(tx).await?;
            tell(tx).await
        })
    })
    .await?;
    // The seed has one a minute, and none of them has a job.
    let hour_ms = 3_600_000;
    let first = notices::late(db.reader(), START_MS + hour_ms, (START_MS, "booking_mail:"), 20).await?;
    assert_eq!((first.len(), first[0].has_job), (20, false));
    assert!(notices::late(db.reader(), START_MS, (0, ""), 20).await?.is_empty());
    let forgotten = db.write(move |tx| {
        Box::pin(async move {
            tx.in_any_order();
            notices::forget(tx, START_MS + hour_ms, 10).await
        })
    });
    assert_eq!(forgotten.await?, 10);
    Ok(())
}

/// A pending notice has a job until it is sent.
async fn tell(tx: &mut Tx) -> Result<()> {
    let tenant = tenant();
    let new = NewJob {
        kind: "booking_mail",
        key: "bk_new:confirmed:0:invitee",
        class: JobClass::Send,
        tenant: &tenant,
        connection_id: None,
        target: "",
        due_at: Some(START_MS),
        args: None,
    };
    let other = NewJob { key: "bk_new:confirmed:0:hosts", ..new };
    notices::enqueue(tx, &[new], 1).await?;
    notices::enqueue(tx, &[new, other], 2).await?;
    jobs::remove(tx, "booking_mail:bk_new:confirmed:0:hosts").await?;
    let told = ["confirmed", "rescheduled"].map(|kind| format!("booking_mail:bk_new:{kind}:0:invitee"));
    assert_eq!(notices::untold(tx, &told).await?, told[..1]);
    let job =
        jobs::find(&mut *tx, "booking_mail:bk_new:confirmed:0:invitee").await?.expect("it was enqueued");
    let ended = notices::complete(tx, &job, 3).await;
    assert!(ended.is_err_and(|e| e.is::<LostLease>()), "nobody has claimed it");
    jobs::remove(tx, &job.id).await
}

async fn change(tx: &mut Tx) -> Result<()> {
    let first = InvitationRow {
        booking_id: BOOKING.into(),
        role: "invitee".into(),
        tenant: tenant(),
        i_cal_uid: "bk_100002@example.org".into(),
        sequence: 0,
        organizer_email: "alice@example.org".into(),
        connection_id: "conn_0_0".into(),
        created_at: 1,
        updated_at: 1,
    };
    mail::upsert_invitation(tx, &first).await?;
    let connection_id = "conn_0_1".into();
    let later = InvitationRow { sequence: 1, connection_id, created_at: 2, updated_at: 2, ..first.clone() };
    mail::upsert_invitation(tx, &later).await?;
    let kept = InvitationRow { created_at: 1, ..later };
    assert_eq!(mail::find(&mut *tx, BOOKING, "invitee").await?, Some(kept));
    mail::upsert_invitation(tx, &InvitationRow { role: "guests".into(), ..first }).await?;
    mail::take_back(tx, BOOKING, "invitee").await?;
    assert_eq!(mail::find(&mut *tx, BOOKING, "invitee").await?, None);
    mail::forget(tx, &crate::json_text(&[BOOKING])).await?;
    assert_eq!(mail::find(&mut *tx, BOOKING, "guests").await?, None);
    Ok(())
}
