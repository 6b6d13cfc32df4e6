//! The target of an event write: the event itself, one instance, all from one instance on, or a whole series; and the event that the
//! connector gets for it.

use base::error::{Code, Result, invalid};
use base::input::validate;
use model::calendar::{Event, EventType};
use model::wire::calendar::{EventTarget, RecurrenceScope};
use recurrence::Caps;
use serde_json::Value;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::resources::events::instance::EventIdTarget;
use crate::resources::events::instances;
use crate::writes::etag::ExpectedEtag;

/// The target of an event write.
pub struct WriteTarget {
    pub target: EventTarget,
    /// The event that the caller's patch is applied to.
    pub current: Event,
    /// The row whose etag counts.
    pub versioned: Item,
    /// The series of an instance.
    pub series: Option<(Item, Event)>,
}

impl WriteTarget {
    /// The row whose record the provider changes: the series' row if there is a series and the scope is not `this`.
    fn changed_row(&self) -> &Item {
        let series = self.series.as_ref().filter(|_| self.target.scope != RecurrenceScope::This);
        series.map_or(&self.versioned, |(row, _)| row)
    }

    /// The target with the provider's version that the caller requires. `expected` refers to the event in the path, even if the provider
    /// changes the record of its series.
    // Contract silent: whose etag counts where an exception is changed with a scope of more. That of the event in the path, as for all
    // other instances; the provider is held to the version of the series that is stored here.
    pub fn expecting(&self, expected: &ExpectedEtag) -> EventTarget {
        EventTarget { if_match: expected.provider_etag(self.changed_row()), ..self.target.clone() }
    }

    /// The event in the path, with the record to read again when the provider has another version.
    pub fn conflicting(&self) -> Item {
        Item { source_id: self.changed_row().source_id.clone(), ..self.versioned.clone() }
    }
}

/// Finds the series of an exception or an instance, if a change with this scope changes the series.
pub async fn find_series(
    app: &App,
    asker: &RequestContext,
    item: &Item,
    scope: RecurrenceScope,
) -> Result<Option<Item>> {
    let Some(id) = item.series_id.as_deref().filter(|_| scope != RecurrenceScope::This) else {
        return Ok(None);
    };
    Ok(items::find(app.db.reader(), &asker.tenant, ResourceKind::Event.as_str(), id).await?)
}

/// Determines the target. The scope defaults to `this` for an instance and `all` for a series.
pub async fn aim(
    app: &App,
    asker: &RequestContext,
    named: &EventIdTarget,
    scope: Option<RecurrenceScope>,
) -> Result<WriteTarget> {
    let item = named.item();
    let current: Event = serde_json::from_str(&item.body)?;
    let series = match (named, &item.series_id) {
        (EventIdTarget::Occurrence { series, .. }, _) => Some((**series).clone()),
        (EventIdTarget::Stored(_), Some(id)) => {
            items::find(app.db.reader(), &asker.tenant, ResourceKind::Event.as_str(), id).await?
        }
        _ => None,
    };
    let is_series = item.is_series;
    let is_lone = is_lone(&item, &current);
    let scope = match (scope, is_series, series.is_some()) {
        (scope, ..) if is_lone => lone_scope(scope)?,
        (Some(RecurrenceScope::This | RecurrenceScope::ThisAndFollowing), true, _) => {
            let message = "this is a series: use the id of an instance, or recurrenceScope all";
            return Err(invalid(Code::InvalidParameter, "recurrenceScope", message));
        }
        (Some(scope), _, true) => scope,
        (None, _, true) => RecurrenceScope::This,
        _ => RecurrenceScope::All,
    };
    let changed = series.as_ref().filter(|_| scope != RecurrenceScope::This).unwrap_or(&item);
    let mut target = EventTarget { source: Some(changed.source_id.clone()), scope, ..EventTarget::default() };
    let series = series.map(|s| serde_json::from_str::<Event>(&s.body).map(|e| (s, e))).transpose()?;
    if (series.is_some() || is_lone) && scope != RecurrenceScope::All {
        target.recurrence_id.clone_from(&current.recurrence_id);
        target.original_start = current.original_start;
        if scope == RecurrenceScope::ThisAndFollowing && is_first(series.as_ref(), &current)? {
            // From the first instance on means all of them: nothing is split off.
            target =
                EventTarget { scope: RecurrenceScope::All, source: target.source, ..EventTarget::default() };
        }
    }
    Ok(WriteTarget { target, current, versioned: item, series })
}

/// Whether this is an instance whose series is unknown here: the account was invited to this instance alone (RFC 4791 section 4.1).
pub fn is_lone(item: &Item, event: &Event) -> bool {
    item.series_id.is_none() && event.event_type == EventType::Exception
}

/// The scope of a change of such an instance.
// Contract silent: what "all" and "following" are where the series is not here. Nobody knows which of the others the account has a part
// in, and to change one where all were meant would be half of what was asked for: so it is refused.
pub fn lone_scope(scope: Option<RecurrenceScope>) -> Result<RecurrenceScope> {
    match scope {
        None | Some(RecurrenceScope::This) => Ok(RecurrenceScope::This),
        Some(_) => {
            let message =
                "the series of this instance is not in the calendar: leave recurrenceScope out, or use this";
            Err(invalid(Code::InvalidParameter, "recurrenceScope", message))
        }
    }
}

fn is_first(series: Option<&(Item, Event)>, instance: &Event) -> Result<bool> {
    let Some((_, event)) = series else { return Ok(false) };
    let parsed = recurrence::Series::parse(event).map_err(|e| instances::refusal(&e.into()))?;
    let first = recurrence::first(&parsed, Caps::default()).map_err(|e| instances::refusal(&e))?;
    Ok(first.is_some_and(|f| Some(f.start) == instance.original_start))
}

/// The event for the connector: for a whole series the series itself, moved as the instance was; for the following instances the first of
/// the new series with the rest of the rule.
pub fn aimed(aim: &WriteTarget, mut wanted: Event, changed: &[String]) -> Result<Event> {
    wanted.busy = wanted.derived_busy();
    let Some((_, series)) = &aim.series else {
        if is_lone(&aim.versioned, &aim.current) {
            // Contract silent: what a recurrence of one instance is. It is the series' (RFC 5545 section 3.8.4.4), which is not here.
            if !wanted.recurrence.is_empty() {
                let message = "an instance cannot recur, and its series is not in the calendar; make a new event that recurs";
                return Err(invalid(Code::InvalidRecurrence, "recurrence", message));
            }
            wanted.event_type = EventType::Exception;
            return Ok(wanted);
        }
        let recurs = !wanted.recurrence.is_empty();
        wanted.event_type = if recurs { EventType::Series } else { EventType::Single };
        return Ok(wanted);
    };
    match aim.target.scope {
        RecurrenceScope::This => {
            wanted.event_type = EventType::Exception;
            Ok(wanted)
        }
        RecurrenceScope::ThisAndFollowing => {
            if !changed.iter().any(|f| f == "recurrence") {
                let parsed = recurrence::Series::parse(series).map_err(|e| instances::refusal(&e.into()))?;
                let id = aim.current.recurrence_id.clone().unwrap_or_default();
                wanted.recurrence = recurrence::remainder_from(&parsed, &id, Caps::default())
                    .map_err(|e| instances::refusal(&e))?;
            }
            wanted.event_type = EventType::Series;
            wanted.recurrence_id = None;
            wanted.original_start = None;
            Ok(wanted)
        }
        RecurrenceScope::All => moved_series(series, &aim.current, wanted, changed),
    }
}

/// The series with the fields that the caller changed on one instance. A moved instance moves the series by the same local time, so that
/// 9:00 stays 9:00 across a change to daylight saving time.
fn moved_series(series: &Event, instance: &Event, wanted: Event, changed: &[String]) -> Result<Event> {
    let times = ["start", "end", "startDate", "endDate", "allDay"];
    let Value::Object(mut whole) = serde_json::to_value(series)? else { return Ok(wanted) };
    let from = serde_json::to_value(&wanted)?;
    for field in changed.iter().filter(|f| !times.contains(&f.as_str()) && *f != "busy") {
        whole.insert(field.clone(), from.get(field).cloned().unwrap_or_default());
    }
    let mut event: Event = serde_json::from_value(Value::Object(whole))?;
    if changed.iter().any(|f| times.contains(&f.as_str())) {
        if wanted.all_day != series.all_day {
            let message = "allDay of a whole series is changed on the series itself: use its own id";
            return Err(invalid(Code::InvalidParameter, "allDay", message));
        }
        let length = wanted.end.as_millis() - wanted.start.as_millis();
        let tz = match &event.time_zone_rules {
            // The zone is the provider's own; its name is not in `timeZone`.
            Some(_) => recurrence::zone_of(&event).map_err(|e| instances::refusal(&e.into()))?,
            None => validate::zone("timeZone", &event.time_zone)?,
        };
        let local = |i: model::Instant| i.timestamp().to_zoned(tz.clone()).datetime();
        let shift = local(wanted.start).since(local(instance.start)).map_err(anyhow::Error::new)?;
        let moved = local(series.start).checked_add(shift).map_err(anyhow::Error::new)?;
        let start = moved.to_zoned(tz.clone()).map_err(anyhow::Error::new)?;
        event.start = start.timestamp().into();
        event.end = model::Instant::from_millis(event.start.as_millis() + length);
        if event.all_day {
            event.start_date = Some(start.date().to_string());
            let end = event.end.timestamp().to_zoned(tz);
            event.end_date = Some(end.date().to_string());
        }
    }
    event.busy = event.derived_busy();
    Ok(event)
}
