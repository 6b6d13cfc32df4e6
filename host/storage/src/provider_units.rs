//! Units of providers' quotas that connections used, by day and by bucket of the connector's limits. Table:
//! `migrations/0093_provider_units_and_times.sql`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::LockRank;
use crate::Tx;
use crate::dialect::{each_text_of, insert_rows, one_of};
use crate::json_text;
use crate::sql::{Reader, query};
use crate::statement_rows::{self, RowValues};

/// A bucket of a connection on a day, whose units are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitBucket {
    pub connection_id: String,
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    /// The bucket's name in `[limits]` of the connector's manifest.
    pub bucket: String,
}

/// Units of an application's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitCount {
    pub tenant: Tenant,
    pub of: UnitBucket,
    pub units: i64,
}

/// Units of a connection over several days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitTotal {
    pub connection_id: String,
    pub units: i64,
}

/// Days from one to another, both included: `YYYY-MM-DD`, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayRange<'d> {
    pub from: &'d str,
    pub to: &'d str,
}

/// Adds to counts. No two may have the same bucket and day; all hosts pass them in the order of `UnitBucket`, in which rows are
/// locked.
pub async fn add(tx: &mut Tx, counts: &[UnitCount]) -> Result<()> {
    tx.takes(LockRank::Usage)?;
    let sql = insert_rows!(
        tx,
        "provider_units",
        [
            connection_id "$1" "text", day "$2" "text", bucket "$3" "text", organization_id "$4" "text",
            application_id "$5" "text", units "$6" "bigint"
        ],
        " on conflict (connection_id, day, bucket) do update set units = provider_units.units + excluded.units"
    );
    let rows = counts.iter().map(|count| {
        RowValues::new()
            .bind(&count.of.connection_id)
            .bind(&count.of.day)
            .bind(&count.of.bucket)
            .bind(&count.tenant.organization_id)
            .bind(&count.tenant.application_id)
            .bind(count.units)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// The connections of an application with the most units on these days, in descending order; `limit` at most. For each day only
/// so many buckets count, those with the most units: no more are read, however many there are.
pub async fn largest(
    reader: &Reader,
    tenant: &Tenant,
    days: &[String],
    limit: usize,
) -> Result<Vec<UnitTotal>> {
    let sql = each_text_of!(
        reader,
        "select (select string_agg(connection_id || ' ' || cast(units as text), ',') from (select connection_id, units \
         from provider_units where application_id = $2 and organization_id = $3 and day = value \
         order by units desc, connection_id desc limit $4) as most) as buckets",
        "$1",
        ""
    );
    let of_days: Vec<Option<String>> = query(sql)
        .bind(json_text(days))
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(reader, |row| row.get("buckets"))
        .await?;
    let mut units: BTreeMap<&str, i64> = BTreeMap::new();
    for bucket in of_days.iter().flatten().flat_map(|buckets| buckets.split(',')) {
        let Some((connection_id, used)) = bucket.split_once(' ') else { continue };
        let total = units.entry(connection_id).or_default();
        *total = total.saturating_add(used.parse::<i64>()?);
    }
    let total =
        |(connection_id, units): (&str, i64)| UnitTotal { connection_id: connection_id.to_owned(), units };
    let mut totals: Vec<UnitTotal> = units.into_iter().map(total).collect();
    // With equal units, the smaller id comes first: the sort is stable.
    totals.sort_by_key(|total| Reverse(total.units));
    totals.truncate(limit);
    Ok(totals)
}

/// The counts of these connections of an application on these days, in no order.
pub async fn of_connections(
    reader: &Reader,
    tenant: &Tenant,
    connection_ids: &[&str],
    days: DayRange<'_>,
) -> Result<Vec<UnitCount>> {
    // As an expression, so that rows are found by their connections and not among all of the application.
    let sql = one_of!(
        reader,
        "select connection_id, day, bucket, units from provider_units where day >= $2 and day <= $3 \
         and organization_id = $4 and application_id || '' = $5 and connection_id",
        "$1"
    );
    query(sql)
        .bind(json_text(connection_ids))
        .bind(days.from)
        .bind(days.to)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_all(reader, |row| {
            let of = UnitBucket {
                connection_id: row.get("connection_id")?,
                day: row.get("day")?,
                bucket: row.get("bucket")?,
            };
            Ok(UnitCount { tenant: tenant.clone(), of, units: row.get("units")? })
        })
        .await
}
