//! VEVENT → `Event`.

use std::rc::Rc;

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use jiff::civil::Date;
use model::Instant;
use model::calendar::{
    Event, EventAttachment, EventStatus, EventType, Location, ShowAs, TimeZoneRules, Visibility,
};
use model::wire::{Item, ItemError, JsonText};
use recurrence::days_and_seconds;

use crate::ical::lines::{keyword, line, line_text, lines, param, text};
use crate::ical::notes::description_html;
use crate::ical::people::{Selves, attendees, organizer};
use crate::ical::resource::{EVENT, events, parse, sequence};
use crate::ical::rules::recurrence_lines;
use crate::ical::select::{Selection, is_ranged, original, original_instant};
use crate::ical::time::{Clock, Moment, day_after, time_after};
use crate::ical::zones::{Definitions, Zone, ZoneCache};
use crate::ical::{alarms, colors, conference, extra, ignored, zone_warnings};
use crate::text::without_prefix;

/// The context of parsing. One is used for a whole call, because it caches zones.
pub struct Reader {
    pub selves: Selves,
    pub zones: ZoneCache,
    /// The calendar's zone, for floating times and all-day events.
    pub home: Rc<Zone>,
}

impl Reader {
    pub fn new(selves: Selves, time_zone: Option<&str>) -> Self {
        Reader {
            selves,
            zones: ZoneCache::default(),
            home: Rc::new(Zone::from_name(time_zone.unwrap_or("UTC"))),
        }
    }

    /// The items of a resource: the series (or single event) under `external_id`, its exceptions under `external_id#recurrenceId`.
    /// Empty where the resource has no VEVENT. An error where the series or the single event cannot be read, or nothing can;
    /// unreadable exceptions and duplicates are warnings.
    pub fn items(&self, external_id: &str, data: &str) -> Result<Vec<Item>, ItemError> {
        let unreadable = |message: String| ItemError { code: "unreadable".into(), message };
        let calendar = parse(data).map_err(unreadable)?;
        let clock = self.clock(&calendar);
        let all = events(&calendar);
        let selection = self.select(&calendar, &clock);
        let reference = selection.reference.as_ref();
        let mut items = Vec::with_capacity(all.len());
        // The series comes first, because its exceptions refer to it.
        if let Some(event) = selection.main.and_then(|at| all.get(at)) {
            items.push(self.item(external_id, event, (None, false), &clock).map_err(unreadable)?);
        }
        let series = selection.main.map(|_| external_id.to_owned());
        for exception in &selection.exceptions {
            let Some(event) = exception.at.and_then(|at| all.get(at)) else { continue };
            let mut item =
                self.item(external_id, event, (reference, series.is_some()), &clock).map_err(unreadable)?;
            item.warnings.splice(0..0, ignored::for_exception(exception));
            items.push(Item { series_external_id: series.clone(), ..item });
        }
        match (items.first_mut(), all.first()) {
            (Some(first), _) => {
                let of_main = ignored::for_main(selection.superseded.len(), selection.foreign, "event");
                first.warnings.splice(0..0, of_main.into_iter().chain(ignored::for_unreadable(&selection)));
            }
            (None, Some(event)) => {
                let why = self.event(event, reference, &clock).err();
                return Err(unreadable(why.unwrap_or_else(|| "none of its events can be read".into())));
            }
            (None, None) => {}
        }
        Ok(items)
    }

    /// Selects the current VEVENTs.
    pub fn select(&self, calendar: &IcalCst, clock: &Clock) -> Selection {
        Selection::from_calendar(calendar, EVENT, clock, &|event| times(event, clock).is_ok())
    }

    /// Converts a VEVENT to an item. `reference` is the form of an exception's recurrence id.
    fn item(
        &self,
        external_id: &str,
        event: &IcalCst,
        (reference, has_series): (Option<&Moment>, bool),
        clock: &Clock,
    ) -> Result<Item, String> {
        let mut body = self.event(event, reference, clock)?;
        // Without the series, the later instances are unknown.
        body.applies_to_following &= has_series;
        let own_id = match &body.recurrence_id {
            Some(id) => instance_id(external_id, id),
            None => external_id.to_owned(),
        };
        Ok(Item {
            external_id: own_id,
            body: JsonText::of(&body).map_err(|error| error.to_string())?,
            provider_data: extra::extra(event),
            warnings: zone_warnings::warnings(event, clock),
            ..Item::default()
        })
    }

    pub fn clock<'c>(&'c self, calendar: &'c IcalCst<'c>) -> Clock<'c> {
        let defined = Definitions::default();
        Clock { calendar, zones: &self.zones, defined, home: self.home.clone() }
    }

    /// Converts a VEVENT. For an exception, `series` is the start of its series or a substitute, see [`Selection::reference`].
    pub fn event(&self, event: &IcalCst, series: Option<&Moment>, clock: &Clock) -> Result<Event, String> {
        let times = times(event, clock)?;
        let exception = line(event, "RECURRENCE-ID");
        let instance =
            exception.map(|line| clock.read(line).ok_or("RECURRENCE-ID cannot be read")).transpose()?;
        let recurrence = if exception.is_some() { Vec::new() } else { recurrence_lines(event, clock) };
        let attendees = attendees(event, &self.selves);
        let length_s = (times.end.as_millis() - times.start.as_millis()) / 1000;
        let mut body = Event {
            i_cal_uid: text(event, "UID"),
            sequence: sequence(event),
            event_type: match (exception, recurrence.is_empty()) {
                (Some(_), _) => EventType::Exception,
                (None, false) => EventType::Series,
                (None, true) => EventType::Single,
            },
            recurrence_id: instance.as_ref().and_then(|at| original(at, series, clock)),
            original_start: instance.as_ref().and_then(|at| original_instant(at, series, clock)),
            applies_to_following: series.is_some() && is_ranged(event),
            title: text(event, "SUMMARY"),
            description: text(event, "DESCRIPTION"),
            description_html: description_html(event),
            location: text(event, "LOCATION"),
            locations: locations(event),
            color: text(event, "COLOR").and_then(|color| colors::hex(&color)),
            status: match keyword(event, "STATUS").as_deref() {
                Some("TENTATIVE") => EventStatus::Tentative,
                Some("CANCELLED") => EventStatus::Cancelled,
                _ => EventStatus::Confirmed,
            },
            show_as: show_as(event),
            visibility: match keyword(event, "CLASS").as_deref() {
                None => Visibility::Default,
                Some("PUBLIC") => Visibility::Public,
                Some("CONFIDENTIAL") => Visibility::Confidential,
                // RFC 5545 section 3.8.1.3: an unknown class is private.
                Some(_) => Visibility::Private,
            },
            organizer: organizer(event, &self.selves),
            my_response: attendees
                .iter()
                .find(|attendee| attendee.is_self)
                .map(|attendee| attendee.response_status),
            attendees,
            recurrence,
            conference: conference::conference(event),
            reminders: alarms::reminders(event, length_s),
            attachments: attachments(event),
            ..Event::default()
        };
        times.into_event(&mut body);
        body.busy = body.derived_busy();
        Ok(body)
    }
}

/// The external id of an instance that has its own VEVENT.
pub fn instance_id(external_id: &str, recurrence_id: &str) -> String {
    format!("{external_id}#{recurrence_id}")
}

/// The times of an event.
struct EventTimes {
    start: Instant,
    end: Instant,
    zone: String,
    end_zone: Option<String>,
    /// The rules of a zone without an IANA name.
    rules: Option<Rc<TimeZoneRules>>,
    days: Option<(Date, Date)>,
    /// A DURATION with days, which are calendar days.
    length: Option<String>,
}

impl EventTimes {
    fn into_event(self, event: &mut Event) {
        event.start = self.start;
        event.end = self.end;
        event.time_zone = self.zone;
        event.end_time_zone = self.end_zone;
        let recurs = event.event_type == EventType::Series || event.applies_to_following;
        event.time_zone_rules = self.rules.filter(|_| recurs).map(|rules| (*rules).clone());
        event.all_day = self.days.is_some();
        event.start_date = self.days.map(|(first, _)| first.to_string());
        event.end_date = self.days.map(|(_, after)| after.to_string());
        event.duration = self.length.filter(|_| event.event_type == EventType::Series);
    }
}

fn times(event: &IcalCst, clock: &Clock) -> Result<EventTimes, String> {
    let start = clock.moment(event, "DTSTART").ok_or("DTSTART is missing or cannot be read")?;
    let end = clock.moment(event, "DTEND");
    let duration = line(event, "DURATION").map(|line| line.raw_value_str().trim().to_owned());
    match &start {
        Moment::Day(first) => all_day(*first, end, duration, clock),
        Moment::Time { local, zone } => {
            let outside = || "DTSTART is out of range".to_owned();
            let at = start.instant(clock).ok_or_else(outside)?;
            let mut length = None;
            let (until, end_zone) = match (&end, duration) {
                (Some(end), _) => {
                    let name = match end {
                        Moment::Time { zone: other, .. } if other.name != zone.name => {
                            Some(other.name.clone())
                        }
                        _ => None,
                    };
                    (end.instant(clock).ok_or("DTEND is out of range")?, name)
                }
                (None, Some(duration)) => {
                    let until = Instant::from(time_after(*local, zone, at.timestamp(), &duration)?);
                    let has_days = days_and_seconds(&duration).is_some_and(|(days, _)| days > 0);
                    length = has_days.then_some(duration);
                    (until, None)
                }
                (None, None) => (at, None),
            };
            let (end, rules) = (until.max(at), zone.rules().cloned());
            Ok(EventTimes { start: at, end, zone: zone.name.clone(), end_zone, rules, days: None, length })
        }
    }
}

fn all_day(
    first: Date,
    end: Option<Moment>,
    duration: Option<String>,
    clock: &Clock,
) -> Result<EventTimes, String> {
    let next = first.tomorrow().map_err(|_| "DTSTART is out of range")?;
    let after = match (end, duration) {
        (Some(Moment::Day(day)), _) => day,
        (Some(Moment::Time { local, .. }), _) => local.date(),
        (None, Some(duration)) => day_after(first, &duration)?,
        (None, None) => next,
    };
    let after = after.max(next);
    let midnight = |day: Date| Moment::Day(day).instant(clock).ok_or("a day is out of range");
    Ok(EventTimes {
        start: midnight(first)?,
        end: midnight(after)?,
        zone: clock.home.name.clone(),
        end_zone: None,
        rules: None,
        days: Some((first, after)),
        length: None,
    })
}

/// TRANSP is the standard property; Outlook's is more detailed, and used unless it contradicts TRANSP.
fn show_as(event: &IcalCst) -> ShowAs {
    let transparency = keyword(event, "TRANSP");
    let outlook = keyword(event, "X-MICROSOFT-CDO-BUSYSTATUS");
    match (transparency.as_deref(), outlook.as_deref()) {
        (Some("TRANSPARENT"), Some("WORKINGELSEWHERE"))
        | (None | Some("OPAQUE"), Some("WORKINGELSEWHERE")) => ShowAs::WorkingElsewhere,
        (Some("TRANSPARENT"), _) | (None, Some("FREE")) => ShowAs::Free,
        (_, Some("TENTATIVE")) => ShowAs::Tentative,
        (_, Some("OOF")) => ShowAs::Oof,
        _ => ShowAs::Busy,
    }
}

fn locations(event: &IcalCst) -> Option<Vec<Location>> {
    let apple = line(event, "X-APPLE-STRUCTURED-LOCATION");
    let from_apple = apple.and_then(|line| {
        let value = line_text(line);
        without_prefix(value.trim(), "geo:").map(str::to_owned)
    });
    let from_geo = text(event, "GEO").map(|geo| geo.replace(';', ","));
    let geo = from_apple.or(from_geo)?;
    let title = apple.and_then(|line| param(line, "X-TITLE"));
    let address = apple.and_then(|line| param(line, "X-ADDRESS"));
    Some(vec![Location {
        name: title.or_else(|| text(event, "LOCATION")),
        address,
        uri: None,
        geo: Some(geo),
    }])
}

fn attachments(event: &IcalCst) -> Vec<EventAttachment> {
    let attachment = |line: &IcalLine| EventAttachment {
        title: param(line, "FILENAME").or_else(|| param(line, "X-FILENAME")).or_else(|| param(line, "LABEL")),
        url: Some(line.raw_value_str().trim().to_owned()),
        mime_type: param(line, "FMTTYPE"),
    };
    lines(event, "ATTACH").filter(|line| !extra::is_inline(line)).map(attachment).collect()
}
