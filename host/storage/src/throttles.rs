//! Waits that providers request for connections, as a whole or in parts. Tables: `migrations/0032_provider_throttling.sql` and
//! `migrations/0092_connection_throttles.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::sql::{On, query};

/// A wait that a provider requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// A bucket of `[limits]` of the connector's manifest; empty: the whole account.
    pub bucket: String,
    /// The end of the wait, ms since 1970; a past time has no effect.
    pub until: i64,
}

/// The waits of a live connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionThrottles {
    pub provider: String,
    /// At most one of each bucket.
    pub waits: Vec<Throttle>,
}

/// The waits of a live connection, including those that are over. None: there is no such connection.
pub async fn find(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    connection_id: &str,
) -> Result<Option<ConnectionThrottles>> {
    let sql = "select c.provider, c.throttled_until, t.bucket, t.until from connections c \
               left join connection_throttles t on t.connection_id = c.id \
               where c.organization_id = $1 and c.application_id = $2 and c.id = $3 and c.deleted_at is null";
    let of = query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(connection_id);
    let rows = of.fetch_all(on, |row| {
        let of_account: Option<i64> = row.get("throttled_until")?;
        let of_bucket: (Option<String>, Option<i64>) = (row.get("bucket")?, row.get("until")?);
        Ok((row.get::<String>("provider")?, of_account, of_bucket))
    });
    let mut found: Option<ConnectionThrottles> = None;
    for (provider, of_account, (bucket, until)) in rows.await? {
        let throttles = found.get_or_insert_with(|| {
            let whole = |until| Throttle { bucket: String::new(), until };
            ConnectionThrottles { provider, waits: of_account.map(whole).into_iter().collect() }
        });
        throttles.waits.extend(bucket.zip(until).map(|(bucket, until)| Throttle { bucket, until }));
    }
    Ok(found)
}

/// Stores the wait until then, unless a longer one is stored already.
pub async fn set(tx: &mut Tx, tenant: &Tenant, connection_id: &str, wait: &Throttle) -> Result<()> {
    // A wait of the whole account stays in its column: hosts of the version before read and write it there.
    let sql = match wait.bucket.is_empty() {
        true => {
            "update connections set throttled_until = $1 where organization_id = $2 and application_id = $3 \
             and id = $4 and deleted_at is null and coalesce(throttled_until, 0) < $1"
        }
        false => {
            "insert into connection_throttles (connection_id, bucket, until) \
             select id, cast($5 as text), cast($1 as bigint) from connections \
             where organization_id = $2 and application_id = $3 and id = $4 and deleted_at is null \
             on conflict (connection_id, bucket) do update set until = excluded.until \
             where connection_throttles.until < excluded.until"
        }
    };
    let of = query(sql).bind(wait.until).bind(&tenant.organization_id).bind(&tenant.application_id);
    let of = of.bind(connection_id);
    let of = if wait.bucket.is_empty() { of } else { of.bind(&wait.bucket) };
    of.execute(&mut *tx).await?;
    Ok(())
}
