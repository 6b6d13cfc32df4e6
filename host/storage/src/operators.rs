//! The people who run the installation and the developers of its applications, with their roles in organizations. Tables:
//! `migrations/0094_operators.sql`. An operator is never deleted: the audit log names them.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::LockRank;
use crate::Tx;
use crate::dialect::one_of;
use crate::json;
use crate::json_text;
use crate::sql::{On, Reader, Row, query};

/// An operator as stored.
#[derive(Clone, Debug)]
pub struct Operator {
    pub id: String,
    pub email: String,
    /// The same text for all spellings of the address.
    pub email_key: String,
    pub name: String,
    /// May do everything in the whole installation.
    pub is_admin: bool,
    /// A PHC string. None: the operator signs in by the OpenID provider, or has to set a password by a link first.
    pub password_hash: Option<String>,
    /// The sealed secret of the second factor.
    pub totp_secret: Option<String>,
    /// The last time step whose code was used.
    pub totp_step: i64,
    /// HMACs of unused recovery codes.
    pub recovery: Vec<String>,
    pub language: Option<String>,
    pub time_zone: Option<String>,
    pub theme: Option<String>,
    /// Sessions that began earlier are invalid, ms since 1970.
    pub sessions_from: i64,
    pub last_sign_in_at: Option<i64>,
    pub last_sign_in_ip: Option<String>,
    pub disabled_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

pub(crate) fn operator(row: &Row<'_>) -> Result<Operator> {
    Ok(Operator {
        id: row.get("id")?,
        email: row.get("email")?,
        email_key: row.get("email_key")?,
        name: row.get("name")?,
        is_admin: row.get::<i64>("is_admin")? == 1,
        password_hash: row.get("password_hash")?,
        totp_secret: row.get("totp_secret")?,
        totp_step: row.get("totp_step")?,
        recovery: json(row, "recovery")?,
        language: row.get("language")?,
        time_zone: row.get("time_zone")?,
        theme: row.get("theme")?,
        sessions_from: row.get("sessions_from")?,
        last_sign_in_at: row.get("last_sign_in_at")?,
        last_sign_in_ip: row.get("last_sign_in_ip")?,
        disabled_at: row.get("disabled_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// Locks the set of operators as a whole, before any single operator: a change of admins, roles or disabled operators sees the result of
/// the change before it.
pub async fn lock_all(tx: &mut Tx) -> Result<()> {
    tx.takes_row(LockRank::Operator, "")?;
    let sql = "insert into installation (name, value) values ('operators', '') \
               on conflict (name) do update set value = excluded.value";
    query(sql).execute(tx).await?;
    Ok(())
}

/// The operator with this id.
pub async fn find(on: impl Into<On<'_>>, id: &str) -> Result<Option<Operator>> {
    query("select * from operators where id = $1").bind(id).fetch_optional(on, operator).await
}

/// Finds and locks the operator until the transaction ends.
pub async fn lock(tx: &mut Tx, id: &str) -> Result<Option<Operator>> {
    tx.takes_row(LockRank::Operator, id)?;
    let sql = match tx {
        // SQLite runs write transactions one after the other anyway.
        Tx::Sqlite(_) => "select * from operators where id = $1",
        Tx::Postgres(_) => "select * from operators where id = $1 for no key update",
    };
    query(sql).bind(id).fetch_optional(tx, operator).await
}

/// The operator with this email address, by its `email_key`.
pub async fn by_email(on: impl Into<On<'_>>, email_key: &str) -> Result<Option<Operator>> {
    query("select * from operators where email_key = $1").bind(email_key).fetch_optional(on, operator).await
}

/// Operators after an id, by creation.
pub async fn list(reader: &Reader, after_id: &str, limit: i64) -> Result<Vec<Operator>> {
    query("select * from operators where id > $1 order by id limit $2")
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, operator)
        .await
}

/// Inserts an operator. Returns false if another one has the address.
pub async fn insert(tx: &mut Tx, o: &Operator) -> Result<bool> {
    let sql = "insert into operators (id, email, email_key, name, is_admin, password_hash, totp_step, recovery, language, time_zone, theme, \
               sessions_from, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, 0, '[]', $7, $8, $9, $10, $11, $11) \
               on conflict (email_key) do nothing";
    let written = query(sql)
        .bind(&o.id)
        .bind(&o.email)
        .bind(&o.email_key)
        .bind(&o.name)
        .bind(i64::from(o.is_admin))
        .bind(&o.password_hash)
        .bind(&o.language)
        .bind(&o.time_zone)
        .bind(&o.theme)
        .bind(o.sessions_from)
        .bind(o.created_at)
        .execute(tx)
        .await?;
    Ok(written == 1)
}

/// The roles of an operator, by organization.
pub async fn roles(on: impl Into<On<'_>>, operator_id: &str) -> Result<BTreeMap<String, String>> {
    let sql = "select organization_id, role from operator_roles where operator_id = $1";
    let found = query(sql)
        .bind(operator_id)
        .fetch_all(on, |row| Ok((row.get("organization_id")?, row.get("role")?)))
        .await?;
    Ok(found.into_iter().collect())
}

/// A role of an operator in an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorRole {
    pub operator_id: String,
    pub organization_id: String,
    pub role: String,
}

/// The roles of several operators.
pub async fn roles_of_all(reader: &Reader, operator_ids: &[String]) -> Result<Vec<OperatorRole>> {
    let sql = one_of!(
        reader,
        "select operator_id, organization_id, role from operator_roles where operator_id",
        "$1"
    );
    query(sql)
        .bind(json_text(operator_ids))
        .fetch_all(reader, |row| {
            Ok(OperatorRole {
                operator_id: row.get("operator_id")?,
                organization_id: row.get("organization_id")?,
                role: row.get("role")?,
            })
        })
        .await
}

/// Operators with a role in an organization, each with the role, after an operator's id.
pub async fn members(
    reader: &Reader,
    organization_id: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<(Operator, String)>> {
    let sql = "select o.*, r.role from operator_roles r cross join operators o where r.organization_id = $1 \
               and r.operator_id > $2 and o.id = r.operator_id and o.id > $2 order by r.operator_id limit $3";
    query(sql)
        .bind(organization_id)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, |row| Ok((operator(row)?, row.get("role")?)))
        .await
}

/// Sets the role of an operator in an organization, replacing an earlier one.
pub async fn set_role(tx: &mut Tx, role: &OperatorRole, now: i64) -> Result<()> {
    let sql = "insert into operator_roles (operator_id, organization_id, role, created_at) values ($1, $2, $3, $4) \
               on conflict (operator_id, organization_id) do update set role = excluded.role";
    query(sql)
        .bind(&role.operator_id)
        .bind(&role.organization_id)
        .bind(&role.role)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Removes the role of an operator in an organization. Returns false if there was none.
pub async fn remove_role(tx: &mut Tx, operator_id: &str, organization_id: &str) -> Result<bool> {
    let sql = "delete from operator_roles where operator_id = $1 and organization_id = $2";
    Ok(query(sql).bind(operator_id).bind(organization_id).execute(tx).await? == 1)
}

/// Whether the installation has another admin who can act: not disabled, and with a password or an identity to sign in with, unless this
/// operator has neither. Call it under `lock_all`.
pub async fn has_other_admin(tx: &mut Tx, operator_id: &str) -> Result<bool> {
    let sql = "select o.id from operators o where o.is_admin = 1 and o.disabled_at is null and o.id <> $1 \
               and (o.password_hash is not null or o.oidc_subject is not null or not exists (select 1 from operators s \
               where s.id = $1 and (s.password_hash is not null or s.oidc_subject is not null))) limit 1";
    let found = query(sql).bind(operator_id).fetch_optional(tx, |row| row.get::<String>("id")).await?;
    Ok(found.is_some())
}

/// Whether the organization has another owner who can act, as in `has_other_admin`. Call it under `lock_all`.
pub async fn has_other_owner(tx: &mut Tx, organization_id: &str, operator_id: &str) -> Result<bool> {
    let sql = "select o.id from operator_roles r cross join operators o where r.organization_id = $1 and r.role = 'owner' \
               and r.operator_id <> $2 and o.id = r.operator_id and o.disabled_at is null \
               and (o.password_hash is not null or o.oidc_subject is not null or not exists (select 1 from operators s \
               where s.id = $2 and (s.password_hash is not null or s.oidc_subject is not null))) limit 1";
    let found = query(sql)
        .bind(organization_id)
        .bind(operator_id)
        .fetch_optional(tx, |row| row.get::<String>("id"))
        .await?;
    Ok(found.is_some())
}

/// Replaces the password.
pub async fn set_password(tx: &mut Tx, id: &str, hash: &str, now: i64) -> Result<()> {
    let sql = "update operators set password_hash = $2, updated_at = $3 where id = $1";
    query(sql).bind(id).bind(hash).bind(now).execute(tx).await?;
    Ok(())
}

/// A second factor, as it is stored.
#[derive(Clone, Debug, Default)]
pub struct SecondFactor {
    /// Sealed. None: there is no second factor.
    pub totp_secret: Option<String>,
    /// The time step of the code that confirmed it.
    pub totp_step: i64,
    /// HMACs of recovery codes.
    pub recovery: Vec<String>,
}

/// Replaces the second factor, or removes it.
pub async fn set_second_factor(tx: &mut Tx, id: &str, factor: &SecondFactor, now: i64) -> Result<()> {
    let sql =
        "update operators set totp_secret = $2, totp_step = $3, recovery = $4, updated_at = $5 where id = $1";
    query(sql)
        .bind(id)
        .bind(&factor.totp_secret)
        .bind(factor.totp_step)
        .bind(json_text(&factor.recovery))
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Marks the code of a time step as used. Returns false if a code of this or a later step was already used, on any host.
pub async fn use_step(tx: &mut Tx, id: &str, step: i64) -> Result<bool> {
    let sql = "update operators set totp_step = $2 where id = $1 and totp_step < $2";
    Ok(query(sql).bind(id).bind(step).execute(tx).await? == 1)
}

/// Replaces the unused recovery codes. Returns false if one of them was used since they were read.
pub async fn use_recovery(tx: &mut Tx, id: &str, from: &[String], to: &[String]) -> Result<bool> {
    let sql = "update operators set recovery = $3 where id = $1 and recovery = $2";
    Ok(query(sql).bind(id).bind(json_text(from)).bind(json_text(to)).execute(tx).await? == 1)
}

/// Makes an operator an admin of the installation, or no longer.
pub async fn set_admin(tx: &mut Tx, id: &str, is_admin: bool, now: i64) -> Result<()> {
    let sql = "update operators set is_admin = $2, updated_at = $3 where id = $1";
    query(sql).bind(id).bind(i64::from(is_admin)).bind(now).execute(tx).await?;
    Ok(())
}

/// Disables an operator from a time on, or, with none, enables them again.
pub async fn set_disabled(tx: &mut Tx, id: &str, at: Option<i64>, now: i64) -> Result<()> {
    let sql = "update operators set disabled_at = $2, updated_at = $3 where id = $1";
    query(sql).bind(id).bind(at).bind(now).execute(tx).await?;
    Ok(())
}

/// The settings that an operator chooses for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorProfile {
    pub name: String,
    pub language: Option<String>,
    pub time_zone: Option<String>,
    pub theme: Option<String>,
}

/// Sets the profile.
pub async fn set_profile(tx: &mut Tx, id: &str, profile: &OperatorProfile, now: i64) -> Result<()> {
    let sql = "update operators set name = $2, language = $3, time_zone = $4, theme = $5, updated_at = $6 where id = $1";
    query(sql)
        .bind(id)
        .bind(&profile.name)
        .bind(&profile.language)
        .bind(&profile.time_zone)
        .bind(&profile.theme)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Records the time and address of the last sign-in.
pub async fn note_sign_in(tx: &mut Tx, id: &str, at: i64, ip: &str) -> Result<()> {
    let sql = "update operators set last_sign_in_at = $2, last_sign_in_ip = $3 where id = $1";
    query(sql).bind(id).bind(at).bind(ip).execute(tx).await?;
    Ok(())
}

/// Ends the sessions that began before this time, on all hosts.
pub async fn set_sessions_from(tx: &mut Tx, id: &str, at: i64) -> Result<()> {
    query("update operators set sessions_from = $2 where id = $1").bind(id).bind(at).execute(tx).await?;
    Ok(())
}

/// Returns those of these email keys that operators have.
pub async fn known_addresses(reader: &Reader, email_keys: &[String]) -> Result<Vec<String>> {
    let sql = one_of!(reader, "select email_key from operators where email_key", "$1");
    query(sql).bind(json_text(email_keys)).fetch_all(reader, |row| row.get("email_key")).await
}

/// The names of the existing organizations among these, by id, without the installation's own organization, which has no roles.
pub async fn organization_names(reader: &Reader, ids: &[String]) -> Result<BTreeMap<String, String>> {
    let sql = one_of!(
        reader,
        "select id, name from organizations where id",
        "$1",
        " and id <> coalesce((select value from installation where name = 'operator_organization'), '')"
    );
    let found = query(sql)
        .bind(json_text(ids))
        .fetch_all(reader, |row| Ok((row.get("id")?, row.get("name")?)))
        .await?;
    Ok(found.into_iter().collect())
}
