//! Converts an `Event` to a VEVENT: writes only the properties of the changed fields.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use model::Instant;
use model::calendar::{Event, EventStatus, ShowAs, Visibility};
use model::wire::Warning;

use crate::collection::changed::FieldSet;
use crate::ical::lines::{keyword, line, lines, param, raw_line, remove, set_line, set_param, set_text};
use crate::ical::notes::set_description;
use crate::ical::people::{set_attendees, set_organizer};
use crate::ical::read::Reader;
use crate::ical::time::{Clock, date_line, is_floating, local, utc_line, zoned_line};
use crate::ical::zones::Zone;
use crate::ical::{alarms, colors, conference, extra};

/// The fields that define the times of an event.
const TIMES: [&str; 7] = ["start", "end", "timeZone", "endTimeZone", "allDay", "startDate", "endDate"];
/// Fields that iCalendar has no property for.
const UNKNOWN: [&str; 7] =
    ["htmlLink", "eventKind", "hideAttendees", "guestsCanModify", "guestsCanInvite", "capacity", "creator"];

impl FieldSet<'_> {
    /// Whether one of the times changes.
    pub fn moves(&self) -> bool {
        TIMES.iter().any(|name| self.has(name))
    }

    /// Whether the change is significant for attendees, so that SEQUENCE is incremented (RFC 5546 section 2.1.4).
    pub fn is_significant(&self) -> bool {
        self.moves() || self.has("recurrence") || self.has("status") || self.has("location")
    }
}

/// The context of a write beside the event, and its results.
pub struct Writer<'c> {
    pub reader: &'c Reader,
    /// The object before the change, to resolve its TZIDs.
    pub clock: Clock<'c>,
    pub now: Instant,
    /// The zones that were used, which the object must define.
    pub zones: Vec<(String, Timestamp)>,
    pub warnings: Vec<Warning>,
}

impl<'c> Writer<'c> {
    pub fn new(reader: &'c Reader, calendar: &'c IcalCst<'c>, now: Instant) -> Self {
        Writer { reader, clock: reader.clock(calendar), now, zones: Vec::new(), warnings: Vec::new() }
    }

    /// Writes the changed fields to the component.
    pub fn apply(&mut self, component: &mut IcalCst, event: &Event, changed: &FieldSet) {
        if changed.moves() {
            self.set_times(component, event);
        }
        if changed.has("recurrence") {
            self.set_recurrence(component, &event.recurrence);
        }
        set_texts(component, event, changed);
        self.set_states(component, event, changed);
        if changed.has("organizer")
            && let Some(organizer) = &event.organizer
            && let Some(email) = &organizer.email
        {
            set_organizer(component, email, organizer.name.as_deref());
        }
        if changed.has("attendees") {
            set_attendees(component, &event.attendees);
            if !event.attendees.is_empty() && line(component, "ORGANIZER").is_none() {
                match self.reader.selves.mail() {
                    Some(mail) => set_organizer(component, mail, None),
                    None => self.warn(
                        "organizer_unknown",
                        "the account has no address, so the event has no organizer",
                        "organizer",
                    ),
                }
            }
        }
        if changed.has("conference") {
            conference::set_conference(component, event.conference.as_ref());
        }
        if changed.has("reminders") {
            let length_s = (event.end.as_millis() - event.start.as_millis()) / 1000;
            let names = (event.title.as_deref(), self.reader.selves.mail());
            alarms::set_reminders(component, &event.reminders, names, length_s);
        }
        if changed.has("attachments") {
            set_attachments(component, event);
        }
        for name in UNKNOWN.iter().filter(|name| changed.has(name)) {
            self.warn("field_not_supported", "iCalendar has no such field", name);
        }
    }

    pub fn warn(&mut self, code: &str, message: &str, target: &str) {
        self.warnings.push(Warning {
            code: code.into(),
            message: message.into(),
            target: Some(target.into()),
        });
    }

    /// Writes DTSTART and DTEND. Keeps another client's name of the zone if it means the same zone.
    fn set_times(&mut self, component: &mut IcalCst, event: &Event) {
        let days = event.all_day.then(|| {
            let day = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Date>().ok());
            (day(&event.start_date), day(&event.end_date))
        });
        if let Some((Some(first), after)) = days {
            let after = after.filter(|after| *after > first).or_else(|| first.tomorrow().ok());
            let lasts_as_before = line(component, "DURATION").is_some()
                && after.is_some_and(|after| self.days(component) == Some(first.duration_until(after)));
            put_time(component, date_line("DTSTART", first));
            if lasts_as_before {
                return;
            }
            remove(component, "DURATION");
            if let Some(after) = after {
                put_time(component, date_line("DTEND", after));
            }
            return;
        }
        let start = self.time_line(component, "DTSTART", "DTSTART", event.start, &event.time_zone);
        let length = |event: &Event| event.end.as_millis() - event.start.as_millis();
        let old = self.reader.event(component, None, &self.clock).ok();
        let lasts_as_before = old.is_some_and(|old| !old.all_day && length(&old) == length(event));
        if line(component, "DURATION").is_some() && lasts_as_before && event.end_time_zone.is_none() {
            put_time(component, start);
            return;
        }
        let end_zone = event.end_time_zone.as_deref().unwrap_or(&event.time_zone);
        let shape = if line(component, "DTEND").is_some() { "DTEND" } else { "DTSTART" };
        let end = self.time_line(component, "DTEND", shape, event.end, end_zone);
        remove(component, "DURATION");
        if event.end <= event.start {
            // DTEND must be later than DTSTART (RFC 5545 section 3.8.2.2), so an event without length has none (section 3.6.1).
            put_time(component, start);
            remove(component, "DTEND");
        } else if is_floating(&start) == is_floating(&end) {
            put_time(component, start);
            put_time(component, end);
        } else {
            let start = self.anchor(start, "DTSTART", event.start);
            let end = self.anchor(end, "DTEND", event.end);
            put_time(component, start);
            put_time(component, end);
        }
    }

    /// The current length of an all-day event.
    fn days(&self, component: &IcalCst) -> Option<SignedDuration> {
        let old = self.reader.event(component, None, &self.clock).ok()?;
        let first: Date = old.start_date?.parse().ok()?;
        let after: Date = old.end_date?.parse().ok()?;
        Some(first.duration_until(after))
    }

    /// Converts a floating time to the calendar's zone, because start and end must both be floating or neither (RFC 5545 section 3.8.2.2).
    fn anchor(&mut self, time: IcalLine<'static>, name: &str, at: Instant) -> IcalLine<'static> {
        if !is_floating(&time) {
            return time;
        }
        let home = self.clock.home.clone();
        if home.name == "UTC" {
            return utc_line(name, at);
        }
        self.zones.push((home.name.clone(), at.timestamp()));
        zoned_line(name, at, &home, &home.name)
    }

    /// A time property in this zone, spelled as the property `like` of the component where that is the same zone.
    pub fn time_line(
        &mut self,
        component: &IcalCst,
        name: &str,
        like: &str,
        at: Instant,
        zone: &str,
    ) -> IcalLine<'static> {
        let wanted = Zone::from_name(zone);
        let shown = wanted.local(at.timestamp());
        // The second occurrence of a repeated local time can only be written in UTC.
        let is_local = wanted.instant(shown) == Some(at.timestamp());
        let existing = line(component, like).filter(|line| line.raw_value_str().trim().len() == 15);
        if let Some(existing) = existing.filter(|_| is_local) {
            match param(existing, "TZID") {
                Some(tzid) => {
                    let has = self.clock.zone(&tzid, wanted.local(at.timestamp()).year());
                    if has.is_iana() && has.name == wanted.name {
                        return zoned_line(name, at, &has, &tzid);
                    }
                    // The model shows a zone without an IANA name as UTC.
                    let is_told_as = !has.is_iana() && has.is_known() && wanted.name == "UTC";
                    if is_told_as && has.exact_local(at.timestamp()).is_some() {
                        return zoned_line(name, at, &has, &tzid);
                    }
                }
                None if self.clock.home.name == wanted.name => {
                    return raw_line(name, &[], &local(shown));
                }
                None => {}
            }
        }
        if wanted.name == "UTC" || !is_local {
            return utc_line(name, at);
        }
        self.zones.push((wanted.name.clone(), at.timestamp()));
        zoned_line(name, at, &wanted, &wanted.name)
    }

    fn set_states(&mut self, component: &mut IcalCst, event: &Event, changed: &FieldSet) {
        if changed.has("status") {
            let status = match event.status {
                EventStatus::Confirmed => "CONFIRMED",
                EventStatus::Tentative => "TENTATIVE",
                EventStatus::Cancelled => "CANCELLED",
            };
            set_line(component, raw_line("STATUS", &[], status));
        }
        if changed.has("showAs") {
            set_show_as(component, event.show_as);
        }
        if changed.has("visibility") {
            match event.visibility {
                Visibility::Default => remove(component, "CLASS"),
                Visibility::Public => set_line(component, raw_line("CLASS", &[], "PUBLIC")),
                Visibility::Private => set_line(component, raw_line("CLASS", &[], "PRIVATE")),
                Visibility::Confidential => set_line(component, raw_line("CLASS", &[], "CONFIDENTIAL")),
            }
        }
        if changed.has("color") {
            match event.color.as_deref().and_then(colors::nearest) {
                Some((name, exact)) => {
                    set_line(component, raw_line("COLOR", &[], name));
                    if !exact {
                        self.warn(
                            "color_changed",
                            &format!("iCalendar has named colours only; {name} is the nearest"),
                            "color",
                        );
                    }
                }
                None => remove(component, "COLOR"),
            }
        }
    }
}

/// Sets a time. An equal one keeps its bytes, including parameters of other clients.
fn put_time(component: &mut IcalCst, wanted: IcalLine<'static>) {
    let same = |existing: &IcalLine| {
        existing.raw_value_str().trim() == wanted.raw_value_str()
            && param(existing, "TZID") == param(&wanted, "TZID")
    };
    if !line(component, wanted.name.get()).is_some_and(same) {
        set_line(component, wanted);
    }
}

fn set_texts(component: &mut IcalCst, event: &Event, changed: &FieldSet) {
    if changed.has("title") {
        set_text(component, "SUMMARY", event.title.as_deref());
    }
    if changed.has("description") || changed.has("descriptionHtml") {
        // Both forms are the same description: the one that the caller did not change has the old value.
        let html = event.description_html.as_deref().filter(|_| changed.has("descriptionHtml"));
        set_description(component, event.description.as_deref(), html);
    }
    if changed.has("location") || changed.has("locations") {
        let named = event.locations.iter().flatten().find_map(|place| place.name.as_deref());
        set_text(component, "LOCATION", event.location.as_deref().or(named));
        remove(component, "X-APPLE-STRUCTURED-LOCATION");
        remove(component, "GEO");
        let geo = event.locations.iter().flatten().find_map(|place| place.geo.as_deref());
        let geo = geo.filter(|_| changed.has("locations")).and_then(|geo| geo.split_once(','));
        if let Some((lat, lon)) = geo
            && let (Ok(lat), Ok(lon)) = (lat.trim().parse::<f64>(), lon.trim().parse::<f64>())
        {
            set_line(component, raw_line("GEO", &[], &format!("{lat};{lon}")));
        }
    }
}

fn set_show_as(component: &mut IcalCst, show_as: ShowAs) {
    let free = matches!(show_as, ShowAs::Free | ShowAs::WorkingElsewhere);
    set_line(component, raw_line("TRANSP", &[], if free { "TRANSPARENT" } else { "OPAQUE" }));
    let outlook = match show_as {
        ShowAs::Busy => "BUSY",
        ShowAs::Free => "FREE",
        ShowAs::Tentative => "TENTATIVE",
        ShowAs::Oof => "OOF",
        ShowAs::WorkingElsewhere => "WORKINGELSEWHERE",
    };
    let plain = matches!(show_as, ShowAs::Busy | ShowAs::Free);
    if !plain || keyword(component, "X-MICROSOFT-CDO-BUSYSTATUS").is_some() {
        set_line(component, raw_line("X-MICROSOFT-CDO-BUSYSTATUS", &[], outlook));
    }
}

/// Sets the attachments by URL. Inline content is not part of the model and is kept.
fn set_attachments(component: &mut IcalCst, event: &Event) {
    let url = |line: &IcalLine| line.raw_value_str().trim().to_owned();
    let wanted = |at: &str| event.attachments.iter().any(|attachment| attachment.url.as_deref() == Some(at));
    let kept: Vec<String> = lines(component, "ATTACH").map(url).collect();
    component.items.retain(|item| match item {
        ical::tree::cst::IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case("ATTACH") => {
            extra::is_inline(line) || wanted(&url(line))
        }
        _ => true,
    });
    for attachment in &event.attachments {
        let Some(url) = attachment.url.as_deref().filter(|url| !kept.iter().any(|kept| kept == url)) else {
            continue;
        };
        let mut line = raw_line("ATTACH", &[], url);
        set_param(&mut line, "FMTTYPE", attachment.mime_type.as_deref());
        set_param(&mut line, "FILENAME", attachment.title.as_deref());
        component.push_line(line);
    }
}
