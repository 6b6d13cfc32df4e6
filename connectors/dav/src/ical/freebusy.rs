//! VFREEBUSY: what `free-busy-query` and the scheduling outbox answer, and the question to the latter.

use ical::tree::cst::IcalCst;
use ical::value::duration::IcalDuration;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::Instant;
use model::calendar::{BusyInterval, ShowAs};

use crate::ical::lines::{components, lines, param, raw_line, text_line};
use crate::ical::resource::{empty, parse, print};
use crate::ical::time::{utc, utc_line};

/// The busy times in an object with VFREEBUSY.
pub fn busy(data: &str) -> Result<Vec<BusyInterval>, String> {
    let calendar = parse(data)?;
    let mut all = Vec::new();
    for component in components(&calendar, "VFREEBUSY") {
        for line in lines(component, "FREEBUSY") {
            let kind = param(line, "FBTYPE").unwrap_or_default().to_ascii_uppercase();
            let show_as = match kind.as_str() {
                "FREE" => continue,
                "BUSY-TENTATIVE" => ShowAs::Tentative,
                "BUSY-UNAVAILABLE" => ShowAs::Oof,
                // RFC 5545 section 3.2.9: an unknown kind is BUSY.
                _ => ShowAs::Busy,
            };
            let value = line.raw_value_str();
            let periods = value.split(',').filter_map(period);
            all.extend(periods.map(|(start, end)| BusyInterval { start, end, show_as }));
        }
    }
    Ok(all)
}

/// `start/end` or `start/duration`, in UTC.
fn period(text: &str) -> Option<(Instant, Instant)> {
    let (start, end) = text.trim().split_once('/')?;
    let start = instant(start)?;
    let end = match instant(end) {
        Some(end) => end,
        None => start.checked_add(SignedDuration::from_secs(IcalDuration(end.into()).seconds()?)).ok()?,
    };
    (end > start).then(|| (Instant::from(start), Instant::from(end)))
}

fn instant(text: &str) -> Option<Timestamp> {
    let local = text.trim().strip_suffix(['Z', 'z'])?;
    let local = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S", local).ok()?;
    TimeZone::UTC.to_timestamp(local).ok()
}

/// The question for an attendee's busy times (RFC 6638 section 5): the body of the POST to the outbox.
pub fn request(
    uid: &str,
    organizer: &str,
    attendee: &str,
    (start, end): (Instant, Instant),
    now: Instant,
) -> String {
    let mut calendar = empty();
    calendar.push_line(raw_line("METHOD", &[], "REQUEST"));
    let mut query = IcalCst::empty("VFREEBUSY");
    query.push_line(text_line("UID", uid));
    query.push_line(utc_line("DTSTAMP", now));
    query.push_line(raw_line("DTSTART", &[], &utc(start)));
    query.push_line(raw_line("DTEND", &[], &utc(end)));
    query.push_line(raw_line("ORGANIZER", &[], &format!("mailto:{organizer}")));
    query.push_line(raw_line("ATTENDEE", &[], &format!("mailto:{attendee}")));
    calendar.push_component(query);
    print(&calendar)
}

#[cfg(test)]
mod tests {
    use super::busy;

    #[test]
    fn periods_have_ends_or_durations_and_kinds() {
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VFREEBUSY\r\n\
            FREEBUSY:20260301T090000Z/20260301T100000Z,20260301T110000Z/PT30M\r\n\
            FREEBUSY;FBTYPE=BUSY-TENTATIVE:20260302T090000Z/PT1H\r\n\
            FREEBUSY;FBTYPE=FREE:20260303T090000Z/PT1H\r\nFREEBUSY:nonsense,20260304T100000Z/20260304T090000Z\r\n\
            END:VFREEBUSY\r\nEND:VCALENDAR\r\n";
        let all: Vec<String> =
            busy(text).unwrap().iter().map(|b| format!("{} {} {:?}", b.start, b.end, b.show_as)).collect();
        assert_eq!(
            all,
            [
                "2026-03-01T09:00:00.000Z 2026-03-01T10:00:00.000Z Busy",
                "2026-03-01T11:00:00.000Z 2026-03-01T11:30:00.000Z Busy",
                "2026-03-02T09:00:00.000Z 2026-03-02T10:00:00.000Z Tentative"
            ]
        );
    }
}
