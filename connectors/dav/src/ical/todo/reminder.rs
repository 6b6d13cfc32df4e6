//! VALARM as the one reminder that a task has: the first alarm that shows something or makes a sound at a known time. Other
//! alarms are not shown and not touched.

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use ical::value::duration::IcalDuration;
use jiff::SignedDuration;
use model::Instant;

use crate::ical::alarms::display;
use crate::ical::lines::{
    components, components_mut, is_named, keyword, line, param, raw_line, remove, set_line,
};
use crate::ical::time::{Clock, utc};
use crate::ical::todo::times::TodoTimes;

/// The time that Apple gives an alarm that shall not ring by time: one that rings at a place, or never.
const NEVER: &str = "19760401T005545Z";

/// When the task reminds.
pub fn reminder(todo: &IcalCst, times: &TodoTimes, clock: &Clock) -> Option<Instant> {
    components(todo, "VALARM").find_map(|alarm| rings_at(alarm, times, clock))
}

fn rings_at(alarm: &IcalCst, times: &TodoTimes, clock: &Clock) -> Option<Instant> {
    let by_place = line(alarm, "X-APPLE-PROXIMITY").is_some();
    if by_place || !matches!(keyword(alarm, "ACTION")?.as_str(), "DISPLAY" | "AUDIO") {
        return None;
    }
    let trigger = line(alarm, "TRIGGER")?;
    let raw = trigger.raw_value_str();
    let value = raw.trim();
    if value == NEVER {
        return None;
    }
    if let Some(moment) = clock.read(trigger) {
        return moment.instant(clock);
    }
    let offset = IcalDuration(value.into()).seconds()?;
    let from_end = param(trigger, "RELATED").is_some_and(|related| related.eq_ignore_ascii_case("END"));
    // RFC 5545 section 3.8.6.3 wants the property that the alarm counts from. Clients that know no start count from DUE.
    let anchor = if from_end { times.due.as_ref() } else { times.start.as_ref().or(times.due.as_ref()) };
    let at = anchor?.instant(&clock.home)?;
    at.checked_add(SignedDuration::from_secs(offset)).ok().map(Instant::from)
}

/// Makes the task remind then. The alarm that did keeps its id and its words; none of them stays where there shall be none.
pub fn set_reminder(
    todo: &mut IcalCst,
    wanted: Option<Instant>,
    title: &str,
    times: &TodoTimes,
    clock: &Clock,
) {
    let Some(wanted) = wanted else {
        todo.items.retain(|item| match item {
            IcalItem::Component(alarm) if is_named(alarm, "VALARM") => {
                rings_at(alarm, times, clock).is_none()
            }
            _ => true,
        });
        return;
    };
    match first(todo, times, clock) {
        // iCalendar has whole seconds.
        Some((_, at)) if at.as_millis() / 1000 == wanted.as_millis() / 1000 => {}
        Some((alarm, _)) => {
            set_line(alarm, trigger(wanted));
            // It was dismissed for the old time (RFC 9074 section 6.1).
            remove(alarm, "ACKNOWLEDGED");
        }
        None => {
            todo.push_component(display(trigger(wanted), title));
        }
    }
}

/// Gives the alarm that rang by the `old` times an absolute trigger at that time, independent of the times that change.
pub fn detach(todo: &mut IcalCst, old: &TodoTimes, clock: &Clock) {
    if let Some((alarm, at)) = first(todo, old, clock) {
        set_line(alarm, trigger(at));
    }
}

fn first<'c, 'a>(
    todo: &'c mut IcalCst<'a>,
    times: &TodoTimes,
    clock: &Clock,
) -> Option<(&'c mut IcalCst<'a>, Instant)> {
    components_mut(todo, "VALARM").find_map(|alarm| rings_at(alarm, times, clock).map(|at| (alarm, at)))
}

fn trigger(at: Instant) -> IcalLine<'static> {
    raw_line("TRIGGER", &[("VALUE", "DATE-TIME")], &utc(at))
}
