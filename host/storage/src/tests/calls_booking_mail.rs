//! Runs every statement on the mail of bookings.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::scheduling::mail::{self, InvitationRow};

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
            change(tx).await
        })
    })
    .await
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
    mail::put(tx, &first).await?;
    let connection_id = "conn_0_1".into();
    let later = InvitationRow { sequence: 1, connection_id, created_at: 2, updated_at: 2, ..first.clone() };
    mail::put(tx, &later).await?;
    let kept = InvitationRow { created_at: 1, ..later };
    assert_eq!(mail::find(&mut *tx, BOOKING, "invitee").await?, Some(kept));
    mail::put(tx, &InvitationRow { role: "guests".into(), ..first }).await?;
    mail::take_back(tx, BOOKING, "invitee").await?;
    assert_eq!(mail::find(&mut *tx, BOOKING, "invitee").await?, None);
    mail::forget(tx, BOOKING).await?;
    assert_eq!(mail::find(&mut *tx, BOOKING, "guests").await?, None);
    Ok(())
}
