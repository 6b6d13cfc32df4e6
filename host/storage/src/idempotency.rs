//! Claims and answers of idempotent writes. Table: `migrations/0006_idempotency.sql`.

use anyhow::Result;

use crate::sql::{Reader, Row, query};

use crate::LockRank;
use crate::Tx;

/// A claimed key, as stored.
#[derive(Clone, Debug)]
pub struct StoredClaim {
    pub fingerprint: String,
    pub fence: String,
    pub owner: String,
    pub lease_until: i64,
    /// When the key was first claimed, in milliseconds since 1970; none: an earlier version of this program claimed it.
    pub first_claimed_at: Option<i64>,
    /// End of the lease of the host that claimed, in milliseconds since 1970; none: no host has this id.
    pub owner_until: Option<i64>,
    pub answer: Option<StoredAnswer>,
}

/// The answer to replay. `headers` and `body` are sealed by the caller.
#[derive(Clone, Debug)]
pub struct StoredAnswer {
    pub status: i64,
    pub headers: String,
    pub body: String,
}

/// A claim of an idempotency key, to be inserted.
pub struct NewClaim<'a> {
    pub application_id: &'a str,
    pub scope: &'a str,
    pub fingerprint: &'a str,
    pub fence: &'a str,
    pub owner: &'a str,
    pub now: i64,
    pub lease_until: i64,
}

/// Claims a key. False: it is already claimed.
pub async fn insert(tx: &mut Tx, c: &NewClaim<'_>) -> Result<bool> {
    let sql = "insert into idempotency (application_id, scope, fingerprint, fence, owner, claimed_at, lease_until, first_claimed_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $6) on conflict (application_id, scope) do nothing";
    let done = query(sql)
        .bind(c.application_id)
        .bind(c.scope)
        .bind(c.fingerprint)
        .bind(c.fence)
        .bind(c.owner)
        .bind(c.now)
        .bind(c.lease_until)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// Takes over an unanswered claim from its fence; returns false when the claim has changed since it was read.
pub async fn take_over(tx: &mut Tx, c: &NewClaim<'_>, from_fence: &str) -> Result<bool> {
    let sql = "update idempotency set fence = $1, owner = $2, claimed_at = $3, lease_until = $4 \
               where application_id = $5 and scope = $6 and fence = $7 and answered_at is null";
    let done = query(sql)
        .bind(c.fence)
        .bind(c.owner)
        .bind(c.now)
        .bind(c.lease_until)
        .bind(c.application_id)
        .bind(c.scope)
        .bind(from_fence)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

fn claim(row: &Row<'_>) -> Result<StoredClaim> {
    let answered: Option<i64> = row.get("answered_at")?;
    let answer = match answered {
        None => None,
        Some(_) => Some(StoredAnswer {
            status: row.get("status")?,
            headers: row.get("headers")?,
            body: row.get("answer")?,
        }),
    };
    Ok(StoredClaim {
        fingerprint: row.get("fingerprint")?,
        fence: row.get("fence")?,
        owner: row.get("owner")?,
        lease_until: row.get("lease_until")?,
        first_claimed_at: row.get("first_claimed_at")?,
        owner_until: row.get("owner_until")?,
        answer,
    })
}

pub async fn find(reader: &Reader, application_id: &str, scope: &str) -> Result<Option<StoredClaim>> {
    let sql = "select fingerprint, fence, owner, lease_until, first_claimed_at, answered_at, status, headers, answer, \
               (select h.lease_until from hosts h where h.id = idempotency.owner) as owner_until from idempotency \
               where application_id = $1 and scope = $2";
    query(sql).bind(application_id).bind(scope).fetch_optional(reader, claim).await
}

/// Stores the answer, in the transaction of the effect. False: the claim is no longer this fence's, so the effect must not
/// be committed either.
pub async fn answer(tx: &mut Tx, key: (&str, &str, &str), answer: &StoredAnswer, now: i64) -> Result<bool> {
    tx.takes(LockRank::Idempotency)?;
    let sql = "update idempotency set answered_at = $1, status = $2, headers = $3, answer = $4 \
               where application_id = $5 and scope = $6 and fence = $7 and answered_at is null";
    let done = query(sql)
        .bind(now)
        .bind(answer.status)
        .bind(&answer.headers)
        .bind(&answer.body)
        .bind(key.0)
        .bind(key.1)
        .bind(key.2)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// Extends the lease of an unanswered claim, now owned by this host: its request still runs.
pub async fn renew(tx: &mut Tx, key: [&str; 3], owner: &str, lease_until: i64) -> Result<()> {
    let [application_id, scope, fence] = key;
    let sql = "update idempotency set owner = $1, lease_until = $2 \
               where application_id = $3 and scope = $4 and fence = $5 and answered_at is null";
    query(sql)
        .bind(owner)
        .bind(lease_until)
        .bind(application_id)
        .bind(scope)
        .bind(fence)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Expires an unanswered claim, so that it can be taken over at once.
pub async fn expire(tx: &mut Tx, application_id: &str, scope: &str, fence: &str) -> Result<()> {
    let sql = "update idempotency set lease_until = 0 where application_id = $1 and scope = $2 and fence = $3 \
               and answered_at is null";
    query(sql).bind(application_id).bind(scope).bind(fence).execute(&mut *tx).await?;
    Ok(())
}

/// Deletes a claim that had no effect, so that the same key can be tried again.
pub async fn delete(tx: &mut Tx, application_id: &str, scope: &str, fence: &str) -> Result<()> {
    query("delete from idempotency where application_id = $1 and scope = $2 and fence = $3 and answered_at is null")
        .bind(application_id)
        .bind(scope)
        .bind(fence)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Removes all answers, as if the process had died before each commit. For tests of retries.
pub async fn unanswer_all(tx: &mut Tx) -> Result<()> {
    query("update idempotency set answered_at = null, status = null, headers = null, answer = null")
        .execute(&mut *tx)
        .await?;
    Ok(())
}
