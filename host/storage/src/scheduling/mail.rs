//! Invitations of bookings that were sent by mail and are in calendars. Table: `migrations/0078_booking_mail.sql`. A transaction
//! that writes a row has locked the booking's row, so each of several messages about one booking knows the text of the one before
//! it.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::one_of;
use crate::sql::{On, Row, query};

/// The last sent version of an invitation.
#[derive(Clone, Debug, PartialEq)]
pub struct InvitationRow {
    pub booking_id: String,
    /// `invitee` or `guests`.
    pub role: String,
    pub tenant: Tenant,
    pub i_cal_uid: String,
    pub sequence: i64,
    /// The organizer's address in the invitation.
    pub organizer_email: String,
    /// The account that has this address. It may be deleted by now.
    pub connection_id: String,
    /// When it was first sent, and last, in milliseconds since 1970.
    pub created_at: i64,
    pub updated_at: i64,
}

fn invitation(row: &Row<'_>) -> Result<InvitationRow> {
    Ok(InvitationRow {
        booking_id: row.get("booking_id")?,
        role: row.get("role")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        i_cal_uid: row.get("i_cal_uid")?,
        sequence: row.get("sequence")?,
        organizer_email: row.get("organizer_email")?,
        connection_id: row.get("connection_id")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// The invitation that was sent to this role. None: there was none, or it was withdrawn.
pub async fn find(on: impl Into<On<'_>>, booking_id: &str, role: &str) -> Result<Option<InvitationRow>> {
    query("select * from booking_invitations where booking_id = $1 and role = $2")
        .bind(booking_id)
        .bind(role)
        .fetch_optional(on, invitation)
        .await
}

/// Records that an invitation was sent, in the transaction that puts the message into the outbox.
pub async fn upsert_invitation(tx: &mut Tx, i: &InvitationRow) -> Result<()> {
    let sql = "insert into booking_invitations (booking_id, role, organization_id, application_id, i_cal_uid, sequence, \
               organizer_email, connection_id, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
               on conflict (booking_id, role) do update set i_cal_uid = excluded.i_cal_uid, sequence = excluded.sequence, \
               organizer_email = excluded.organizer_email, connection_id = excluded.connection_id, \
               updated_at = excluded.updated_at";
    query(sql)
        .bind(&i.booking_id)
        .bind(&i.role)
        .bind(&i.tenant.organization_id)
        .bind(&i.tenant.application_id)
        .bind(&i.i_cal_uid)
        .bind(i.sequence)
        .bind(&i.organizer_email)
        .bind(&i.connection_id)
        .bind(i.created_at)
        .bind(i.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Records that an invitation was withdrawn, in the transaction that puts the message for that into the outbox.
pub async fn take_back(tx: &mut Tx, booking_id: &str, role: &str) -> Result<()> {
    query("delete from booking_invitations where booking_id = $1 and role = $2")
        .bind(booking_id)
        .bind(role)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes the invitations of deleted bookings; `booking_ids` is a JSON array.
pub async fn forget(tx: &mut Tx, booking_ids: &str) -> Result<()> {
    let sql = one_of!(tx, "delete from booking_invitations where booking_id", "$1");
    query(sql).bind(booking_ids).execute(tx).await?;
    Ok(())
}
