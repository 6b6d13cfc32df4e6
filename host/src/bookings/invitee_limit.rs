//! How many bookings an address can have made in an hour where anybody can write any address: on booking pages, and by keys that stand in
//! pages for everybody to read. Decided by the bookings themselves, so that it is the same for all hosts.

use base::error::{Code, Refusal, Result};
use base::tenant::Tenant;
use storage::Tx;
use storage::scheduling::made;

const HOUR_MS: i64 = 3_600_000;

/// How many bookings an address of mail can make in one application within an hour.
// Contract silent: whether bookings count that keys of servers make. They do, but these are not refused: their keys have budgets of their own,
// and know who asks.
pub const MOST: u32 = 3;

/// Refuses the booking that this transaction wrote, if it is one more than `most` of an address, which is in lower case, in the application
/// within an hour. To be called after the booking's lines in the log: they lock the application, so of several transactions each one sees the
/// bookings of those before it.
///
/// # Errors
/// 429 `rate_limited` with the time after which the address can book again.
pub async fn check(tx: &mut Tx, tenant: &Tenant, invitee_email: &str, most: u32, now: i64) -> Result<()> {
    let newest = made::latest(&mut *tx, tenant, invitee_email, i64::from(most) + 1).await?;
    let one_more = usize::try_from(most).ok().and_then(|most| newest.get(most));
    let Some(free_at) = one_more.map(|made_at| made_at + HOUR_MS).filter(|free_at| *free_at > now) else {
        return Ok(());
    };
    let wait_s = u64::try_from(free_at - now).unwrap_or(1).div_ceil(1_000);
    let message = format!("this address made {most} bookings within an hour, which is the most; wait");
    Err(Refusal::new(Code::RateLimited, message).param("inviteeEmail").retry_after_s(wait_s).into())
}
