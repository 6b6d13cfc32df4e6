//! Failed sign-ins since the last success, by address or device. Table: `migrations/0094_operators.sql`. Unknown addresses are
//! counted like all others, so that a wait does not reveal which addresses have an account.

use anyhow::Result;

use crate::Tx;
use crate::sql::query;

/// The tries of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignInTries {
    pub tries: i64,
    /// Milliseconds since 1970; before then tries are neither checked nor counted.
    pub wait_until: i64,
}

/// The tries of a subject, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, subject: &str, now: i64) -> Result<SignInTries> {
    let sql = "insert into sign_in_failures (subject, tries, wait_until, at) values ($1, 0, 0, $2) \
               on conflict (subject) do update set at = excluded.at returning tries, wait_until";
    query(sql)
        .bind(subject)
        .bind(now)
        .fetch_one(tx, |row| Ok(SignInTries { tries: row.get("tries")?, wait_until: row.get("wait_until")? }))
        .await
}

/// Sets the tries of a subject that is locked.
pub async fn set(tx: &mut Tx, subject: &str, tries: SignInTries) -> Result<()> {
    let sql = "update sign_in_failures set tries = $2, wait_until = $3 where subject = $1";
    query(sql).bind(subject).bind(tries.tries).bind(tries.wait_until).execute(tx).await?;
    Ok(())
}

/// Forgets the tries of a subject: it signed in.
pub async fn remove(tx: &mut Tx, subject: &str) -> Result<()> {
    query("delete from sign_in_failures where subject = $1").bind(subject).execute(tx).await?;
    Ok(())
}

/// Removes at most `limit` rows of subjects whose last try was before then; returns how many.
pub async fn expire(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from sign_in_failures where subject in \
               (select subject from sign_in_failures where at < $1 order by at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
