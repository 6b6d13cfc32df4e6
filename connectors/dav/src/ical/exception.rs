//! The RECURRENCE-ID and EXDATE of an instance, spelled in the form of the series' DTSTART.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;

use crate::ical::lines::{line, param, raw_line, set_param};

/// A line with another value and name, its zone and value type kept.
pub fn like(shape: &IcalLine, name: &str, value: &str) -> IcalLine<'static> {
    let mut line = raw_line(name, &[], value);
    for name in ["VALUE", "TZID"] {
        set_param(&mut line, name, param(shape, name).as_deref());
    }
    line
}

/// The RECURRENCE-ID of an instance, `id` as the model has it, in a series that starts like `start`.
pub fn id_line(start: &IcalLine, id: &str) -> IcalLine<'static> {
    let digits: String = id.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let is_utc = start.raw_value_str().trim().ends_with(['Z', 'z']);
    let zone = if is_utc && digits.len() > 8 { "Z" } else { "" };
    like(start, "RECURRENCE-ID", &format!("{digits}{zone}"))
}

/// The instance with RECURRENCE-ID, which is DTSTART as it stands before any change (RFC 5545 section 3.8.4.4: the same type and
/// zone).
pub fn exception_with_id(mut exception: IcalCst<'_>) -> IcalCst<'_> {
    let id =
        line(&exception, "DTSTART").map(|start| like(start, "RECURRENCE-ID", start.raw_value_str().trim()));
    if let Some(id) = id {
        exception.push_line(id);
    }
    exception
}
