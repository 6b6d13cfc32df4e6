//! Instances that a series shall not have: Graph takes no dates with a rule, so each is deleted by itself.

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome, code};
use jiff::civil::{Date, DateTime};
use model::Instant;
use model::calendar::Event;
use model::wire::Warning;

use crate::api::execute;
use crate::calendar::instance::{InstanceName, find_instance};
use crate::calendar::mapping::cancelled_day;
use crate::calendar::native;
use crate::calendar::patch::is_exdate;
use crate::calendar::read::read_event;
use crate::calendar::roots::events;
use crate::calendar::times::{UTC, local_start, midnight, zone};

/// Instances that one call deletes.
const MAX_DELETED: usize = 30;

/// Returns the instances that the lines of a series exclude.
pub fn excluded_instances(event: &Event) -> Vec<InstanceName> {
    let lines = event.recurrence.iter().filter(|line| is_exdate(line));
    lines.flat_map(|line| instances_of(line, event)).collect()
}

fn instances_of(line: &str, event: &Event) -> Vec<InstanceName> {
    let Some((head, values)) = line.rsplit_once(':') else { return Vec::new() };
    let zone_name = head.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.eq_ignore_ascii_case("TZID").then(|| value.trim_matches('"').to_owned())
    });
    let zone_name = zone_name.unwrap_or_else(|| event.time_zone.clone());
    values.split(',').filter_map(|value| instance_of(value.trim(), &zone_name, event)).collect()
}

fn instance_of(value: &str, zone_name: &str, event: &Event) -> Option<InstanceName> {
    let (text, zone_name) = match value.strip_suffix(['Z', 'z']) {
        Some(text) => (text, UTC),
        None => (value, zone_name),
    };
    if event.all_day || text.len() == 8 {
        let day = Date::strptime("%Y%m%d", text.get(..8)?).ok()?;
        if event.all_day {
            let at = midnight(day, &zone(&event.time_zone)).ok();
            return Some(InstanceName { recurrence_id: Some(day.to_string()), at });
        }
        return name_of(day.to_datetime(local_start(event).time()), &event.time_zone, event);
    }
    name_of(DateTime::strptime("%Y%m%dT%H%M%S", text).ok()?, zone_name, event)
}

fn name_of(local: DateTime, zone_name: &str, event: &Event) -> Option<InstanceName> {
    let at: Instant = zone(zone_name).to_zoned(local).ok()?.timestamp().into();
    let own = zone(&event.time_zone).to_datetime(at.timestamp());
    let recurrence_id = own.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    Some(InstanceName { recurrence_id: Some(recurrence_id), at: Some(at) })
}

/// Returns the days on which a series does not take place at Graph.
pub fn cancelled_days(theirs: &native::Event) -> Vec<Date> {
    theirs.cancelled_occurrences.iter().flatten().filter_map(|id| cancelled_day(id)).collect()
}

/// Deletes those of these instances that the series still has, and returns it as it is then.
pub fn exclude(
    context: &Context,
    calendar: &str,
    series: native::Event,
    wanted: &[InstanceName],
    warnings: &mut Vec<Warning>,
) -> Outcome<native::Event> {
    let there = cancelled_days(&series);
    let is_missing = |name: &&InstanceName| name.local_day().is_some_and(|day| !there.contains(&day));
    let missing: Vec<&InstanceName> = wanted.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(series);
    }
    for (number, name) in missing.into_iter().enumerate() {
        if number == MAX_DELETED {
            warnings.push(too_many_warning());
            break;
        }
        let deleted = find_instance(context, calendar, &series.id, name).and_then(|id| {
            execute(context, Request::delete(events(calendar, &[&id], &[])?), "deleting the instance")
        });
        match deleted {
            // The rule has no such instance: there is nothing to exclude.
            Err(failure) if failure.code == code::NOT_FOUND => {}
            done => done?,
        }
    }
    read_event(context, calendar, &series.id)
}

fn too_many_warning() -> Warning {
    Warning {
        code: "exclusions_incomplete".to_owned(),
        message: format!("only {MAX_DELETED} excluded instances of a series can be deleted at once"),
        target: Some("recurrence".to_owned()),
    }
}
