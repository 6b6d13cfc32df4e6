//! Sessions of operators. Table: `migrations/0094_operators.sql`. A cookie's value is stored as an HMAC alone.

use anyhow::Result;

use crate::Tx;
use crate::sql::{On, Reader, Row, query};

/// The method of a session whose second factor has not been verified yet.
pub const HALF: &str = "half";

/// A session as stored.
#[derive(Clone, Debug)]
pub struct OperatorSession {
    /// HMAC of the cookie.
    pub hash: String,
    pub id: String,
    pub operator_id: String,
    /// The proof with which the session began: `password`, `code`, `recovery`, `link`, `oidc`, or `half`.
    pub method: String,
    pub created_at: i64,
    pub seen_at: i64,
    /// When the session ends, even if it is in use; milliseconds since 1970.
    pub ends_at: i64,
    /// The last time at which the operator proved their identity.
    pub fresh_at: i64,
    pub ip: String,
    pub user_agent: String,
    /// JSON: a code and ids.
    pub flash: Option<String>,
    /// The subject for which failed codes of a half session are counted.
    pub subject: Option<String>,
    /// Codes of a half session that were wrong.
    pub wrong_codes: i64,
}

impl OperatorSession {
    /// Whether the code of the second factor is still missing.
    pub fn is_half(&self) -> bool {
        self.method == HALF
    }
}

fn session(row: &Row<'_>) -> Result<OperatorSession> {
    Ok(OperatorSession {
        hash: row.get("hash")?,
        id: row.get("id")?,
        operator_id: row.get("operator_id")?,
        method: row.get("method")?,
        created_at: row.get("created_at")?,
        seen_at: row.get("seen_at")?,
        ends_at: row.get("ends_at")?,
        fresh_at: row.get("fresh_at")?,
        ip: row.get("ip")?,
        user_agent: row.get("user_agent")?,
        flash: row.get("flash")?,
        subject: row.get("subject")?,
        wrong_codes: row.get("wrong_codes")?,
    })
}

/// The session with this hash.
pub async fn find(on: impl Into<On<'_>>, hash: &str) -> Result<Option<OperatorSession>> {
    query("select * from operator_sessions where hash = $1").bind(hash).fetch_optional(on, session).await
}

/// The sessions of an operator, newest first, half ones among them.
pub async fn list(reader: &Reader, operator_id: &str, limit: i64) -> Result<Vec<OperatorSession>> {
    query("select * from operator_sessions where operator_id = $1 order by created_at desc limit $2")
        .bind(operator_id)
        .bind(limit)
        .fetch_all(reader, session)
        .await
}

/// Writes a new session.
pub async fn insert(tx: &mut Tx, s: &OperatorSession) -> Result<()> {
    let sql = "insert into operator_sessions (hash, id, operator_id, method, created_at, seen_at, ends_at, fresh_at, ip, user_agent, flash, \
               subject, wrong_codes) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    query(sql)
        .bind(&s.hash)
        .bind(&s.id)
        .bind(&s.operator_id)
        .bind(&s.method)
        .bind(s.created_at)
        .bind(s.seen_at)
        .bind(s.ends_at)
        .bind(s.fresh_at)
        .bind(&s.ip)
        .bind(&s.user_agent)
        .bind(&s.flash)
        .bind(&s.subject)
        .bind(s.wrong_codes)
        .execute(tx)
        .await?;
    Ok(())
}

/// Records that a session was used.
pub async fn note_use(tx: &mut Tx, hash: &str, at: i64) -> Result<()> {
    let sql = "update operator_sessions set seen_at = $2 where hash = $1 and seen_at < $2";
    query(sql).bind(hash).bind(at).execute(tx).await?;
    Ok(())
}

/// Records that the operator proved their identity again.
pub async fn set_fresh(tx: &mut Tx, id: &str, at: i64) -> Result<()> {
    query("update operator_sessions set fresh_at = $2 where id = $1").bind(id).bind(at).execute(tx).await?;
    Ok(())
}

/// Gives a session another cookie. Returns false when the session is over.
pub async fn set_hash(tx: &mut Tx, id: &str, hash: &str) -> Result<bool> {
    let sql = "update operator_sessions set hash = $2 where id = $1";
    Ok(query(sql).bind(id).bind(hash).execute(tx).await? == 1)
}

/// Sets the notice that the next page shows.
pub async fn set_flash(tx: &mut Tx, id: &str, flash: &str) -> Result<()> {
    query("update operator_sessions set flash = $2 where id = $1").bind(id).bind(flash).execute(tx).await?;
    Ok(())
}

/// Removes the notice. Returns false when it is no longer this one: another page shows it.
pub async fn take_flash(tx: &mut Tx, id: &str, flash: &str) -> Result<bool> {
    let sql = "update operator_sessions set flash = null where id = $1 and flash = $2";
    Ok(query(sql).bind(id).bind(flash).execute(tx).await? == 1)
}

/// Counts a wrong code of a half session. Returns how many there were; none when the session is over.
pub async fn count_wrong_code(tx: &mut Tx, hash: &str) -> Result<Option<i64>> {
    let sql = "update operator_sessions set wrong_codes = wrong_codes + 1 where hash = $1 and method = 'half' \
               returning wrong_codes";
    query(sql).bind(hash).fetch_optional(tx, |row| row.get("wrong_codes")).await
}

/// Ends a session by its cookie. Returns false when there is none.
pub async fn remove(tx: &mut Tx, hash: &str) -> Result<bool> {
    Ok(query("delete from operator_sessions where hash = $1").bind(hash).execute(tx).await? == 1)
}

/// Ends one session of an operator. Returns false when there is none.
pub async fn remove_one(tx: &mut Tx, operator_id: &str, id: &str) -> Result<bool> {
    let sql = "delete from operator_sessions where id = $1 and operator_id = $2";
    Ok(query(sql).bind(id).bind(operator_id).execute(tx).await? == 1)
}

/// Ends the sessions of an operator but one of them. Returns how many it ended.
pub async fn remove_all(tx: &mut Tx, operator_id: &str, but: Option<&str>) -> Result<u64> {
    let sql = "delete from operator_sessions where operator_id = $1 and id <> $2";
    query(sql).bind(operator_id).bind(but.unwrap_or_default()).execute(tx).await
}

/// Ends the oldest sessions of an operator, half ones or whole ones, so that the newest `keep` stay. Knowledge of a password
/// without a code ends no whole session.
pub async fn trim(tx: &mut Tx, operator_id: &str, is_half: bool, keep: i64) -> Result<u64> {
    let sql = "delete from operator_sessions where operator_id = $1 and case when method = 'half' then cast(1 as bigint) else 0 end = $2 \
               and created_at < (select min(created_at) from (select created_at from operator_sessions where operator_id = $1 \
               and case when method = 'half' then cast(1 as bigint) else 0 end = $2 order by created_at desc limit $3) as newest)";
    query(sql).bind(operator_id).bind(i64::from(is_half)).bind(keep).execute(tx).await
}

/// Removes at most `limit` sessions that were over before then. Returns how many it removed.
pub async fn expire(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from operator_sessions where hash in \
               (select hash from operator_sessions where ends_at < $1 order by ends_at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
