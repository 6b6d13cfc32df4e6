//! Units of providers' quotas that connections used, and the rest of their limits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use base::tenant::Tenant;
use jiff::civil::Date;
use model::application::{ProviderUnits, UnitLimit, UnitsOfDay};
use runtime::AccountLimits;
use storage::connections::{self, Connection};
use storage::provider_units::{self, DayRange, UnitCount};

use crate::app::App;
use crate::connections::operator_values::OperatorValues;

/// Most buckets of connections in a report.
const MAX_SHOWN: usize = 100;

/// Units by day, for each bucket of a connection.
type UnitsByBucket = BTreeMap<(String, String), BTreeMap<String, i64>>;

/// Loads the buckets of a tenant's connections with the most units on these days, in descending order. The largest counts of each day
/// decide which connections these are. `bound_to`: the only connections that the caller may see; empty: all of them. Deleted connections
/// are left out, and so are counts of other hosts from the last minute.
pub async fn load_units(
    app: &App,
    tenant: &Tenant,
    bound_to: &[String],
    days: DayRange<'_>,
) -> Result<Vec<ProviderUnits>> {
    let is_seen = |id: &String| bound_to.is_empty() || bound_to.contains(id);
    let mut pending = app.usage.units.pending_of(tenant);
    pending.retain(|count| {
        (days.from..=days.to).contains(&count.of.day.as_str()) && is_seen(&count.of.connection_id)
    });
    let reader = app.db.reader();
    let ids: Vec<String> = if bound_to.is_empty() {
        let stored = provider_units::largest(reader, tenant, &each_day(days)?, MAX_SHOWN).await?;
        let stored = stored.into_iter().map(|total| total.connection_id);
        let ids: BTreeSet<String> = stored.chain(most_used(&pending)).collect();
        ids.into_iter().collect()
    } else {
        bound_to.to_vec()
    };
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let connections = connections::of_ids(reader, tenant, &ids).await?;
    let names: Vec<&str> = connections.iter().map(|connection| connection.id.as_str()).collect();
    let counts = provider_units::of_connections(reader, tenant, &names, days).await?;
    let units = added_up(counts.into_iter().chain(pending));
    let limits = limits_of(app, tenant, &connections).await?;
    let now = app.now();
    let mut shown: Vec<ProviderUnits> = connections
        .iter()
        .flat_map(|connection| {
            let used = app.runtime.used_units(&connection.id, now);
            of_connection(connection, &units, limits.get(&connection.provider).map(Arc::as_ref), &used)
        })
        .collect();
    shown.sort_by(|a, b| b.units.cmp(&a.units).then_with(|| name_of(a).cmp(&name_of(b))));
    shown.truncate(MAX_SHOWN);
    Ok(shown)
}

/// Returns the days, each as it is stored.
fn each_day(days: DayRange<'_>) -> Result<Vec<String>> {
    let (mut day, last): (Date, Date) = (days.from.parse()?, days.to.parse()?);
    let mut all = Vec::new();
    while day <= last {
        all.push(day.to_string());
        let Ok(next) = day.tomorrow() else { break };
        day = next;
    }
    Ok(all)
}

fn name_of(units: &ProviderUnits) -> (&str, &str) {
    (&units.connection_id, &units.bucket)
}

/// Returns the connections of the largest counts, at most `MAX_SHOWN`.
fn most_used(pending: &[UnitCount]) -> BTreeSet<String> {
    let mut counts: Vec<&UnitCount> = pending.iter().collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.units));
    counts.into_iter().take(MAX_SHOWN).map(|count| count.of.connection_id.clone()).collect()
}

fn added_up(counts: impl Iterator<Item = UnitCount>) -> UnitsByBucket {
    let mut units = UnitsByBucket::new();
    for UnitCount { of, units: more, .. } in counts {
        let days = units.entry((of.connection_id, of.bucket)).or_default();
        let of_day = days.entry(of.day).or_default();
        *of_day = of_day.saturating_add(more);
    }
    units
}

/// Returns the limits of an account at each of these connections' providers: the operator's, else those of the connector's manifest.
async fn limits_of(
    app: &App,
    tenant: &Tenant,
    connections: &[Connection],
) -> Result<BTreeMap<String, Arc<AccountLimits>>> {
    let providers: BTreeSet<&str> = connections.iter().map(|one| one.provider.as_str()).collect();
    let mut limits = BTreeMap::new();
    for provider in providers {
        let Some(loaded) = app.runtime.find(provider) else { continue };
        let given = OperatorValues::load(app, tenant, provider).await?.limits;
        let of_provider = given.unwrap_or_else(|| Arc::new(loaded.manifest.limits.clone()));
        limits.insert(provider.to_owned(), of_provider);
    }
    Ok(limits)
}

/// Returns the figures of a connection, by bucket. `used`: units that its limits have not returned yet.
fn of_connection(
    connection: &Connection,
    units: &UnitsByBucket,
    limits: Option<&AccountLimits>,
    used: &BTreeMap<String, u64>,
) -> Vec<ProviderUnits> {
    let first = (connection.id.clone(), String::new());
    let own = units.range(first..).take_while(|((id, _), _)| *id == connection.id);
    let figures = own.map(|((_, bucket), days)| {
        let rate = limits.and_then(|limits| limits.rates.iter().find(|rate| rate.name == *bucket));
        let limit = rate.map(|rate| {
            let units = i64::from(rate.units);
            let used = used.get(bucket).map_or(0, |used| i64::try_from(*used).unwrap_or(i64::MAX));
            UnitLimit { units, seconds: i64::from(rate.per_s), remaining: units.saturating_sub(used).max(0) }
        });
        ProviderUnits {
            connection_id: connection.id.clone(),
            provider: connection.provider.clone(),
            bucket: bucket.clone(),
            units: days.values().fold(0, |sum: i64, units| sum.saturating_add(*units)),
            days: days.iter().map(|(day, units)| UnitsOfDay { day: day.clone(), units: *units }).collect(),
            limit,
        }
    });
    figures.collect()
}
