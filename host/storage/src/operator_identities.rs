//! Identities of operators at the OpenID provider: the issuer, and the provider's name for the person, which never changes; an email address
//! does. Table: `migrations/0094_operators.sql`.

use anyhow::Result;

use crate::Tx;
use crate::operators::{Operator, operator};
use crate::sql::{On, Row, query};

/// An identity at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorIdentity {
    pub issuer: String,
    pub subject: String,
}

fn identity(row: &Row<'_>) -> Result<OperatorIdentity> {
    Ok(OperatorIdentity { issuer: row.get("oidc_issuer")?, subject: row.get("oidc_subject")? })
}

/// The operator with this identity.
pub async fn find_operator(on: impl Into<On<'_>>, i: &OperatorIdentity) -> Result<Option<Operator>> {
    let sql = "select * from operators where oidc_issuer = $1 and oidc_subject = $2";
    query(sql).bind(&i.issuer).bind(&i.subject).fetch_optional(on, operator).await
}

/// The identity of an operator.
pub async fn find(on: impl Into<On<'_>>, operator_id: &str) -> Result<Option<OperatorIdentity>> {
    let sql = "select oidc_issuer, oidc_subject from operators where id = $1 and oidc_subject is not null";
    query(sql).bind(operator_id).fetch_optional(on, identity).await
}

/// Gives an operator without an identity this one. Returns false when they have one, or another operator has this one. Call it under
/// `operators::lock_all`.
pub async fn insert(tx: &mut Tx, operator_id: &str, i: &OperatorIdentity, now: i64) -> Result<bool> {
    if find_operator(&mut *tx, i).await?.is_some() {
        return Ok(false);
    }
    let sql = "update operators set oidc_issuer = $2, oidc_subject = $3, updated_at = $4 where id = $1 and oidc_subject is null";
    let set = query(sql).bind(operator_id).bind(&i.issuer).bind(&i.subject).bind(now).execute(tx).await?;
    Ok(set == 1)
}

/// Takes the identity of an operator away. Returns false when there was none.
pub async fn remove(tx: &mut Tx, operator_id: &str, now: i64) -> Result<bool> {
    let sql = "update operators set oidc_issuer = null, oidc_subject = null, updated_at = $2 where id = $1 and oidc_subject is not null";
    Ok(query(sql).bind(operator_id).bind(now).execute(tx).await? == 1)
}
