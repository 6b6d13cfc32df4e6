//! Recurrence lines (RFC 5545) as Google keeps them: RRULE, EXRULE, RDATE and EXDATE, with `TZID` and `VALUE=DATE`.

use crate::calendar::times::known_zone;

const NAMES: [&str; 4] = ["RRULE", "EXRULE", "RDATE", "EXDATE"];

/// Returns the lines of a series in the model's form: names in capitals, zones by their IANA names. Lines of other names are left out.
pub fn lines(recurrence: &[String]) -> Vec<String> {
    recurrence.iter().filter_map(|text| RecurrenceLine::parse(text)).map(|line| line.text()).collect()
}

/// Returns the lines of a series in Google's form, of an event in this zone. A local date without a zone would be one of the calendar's.
pub fn google_lines(recurrence: &[String], time_zone: &str, all_day: bool) -> Vec<String> {
    let lines = recurrence.iter().filter_map(|text| RecurrenceLine::parse(text));
    lines
        .map(|mut line| {
            if line.has_dates() {
                line.define_dates(time_zone, all_day);
            }
            line.text()
        })
        .collect()
}

struct RecurrenceLine<'a> {
    name: String,
    /// `NAME=value`, in order.
    params: Vec<String>,
    value: &'a str,
}

impl<'a> RecurrenceLine<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (head, value) = split_value(text.trim())?;
        let mut parts = head.split(';');
        let name = parts.next()?.trim().to_ascii_uppercase();
        let params = parts.map(|param| with_iana_zone(param.trim())).collect();
        NAMES.contains(&name.as_str()).then_some(RecurrenceLine { name, params, value: value.trim() })
    }

    fn has_dates(&self) -> bool {
        self.name.ends_with("DATE")
    }

    fn has_param(&self, name: &str) -> bool {
        self.params.iter().any(|param| param_name(param).eq_ignore_ascii_case(name))
    }

    /// Adds the type to dates without a parameter.
    fn define_dates(&mut self, time_zone: &str, all_day: bool) {
        let is_utc = self.value.ends_with(['Z', 'z']);
        if all_day && !self.has_param("VALUE") {
            self.params.push("VALUE=DATE".to_owned());
        } else if !all_day && !is_utc && !self.has_param("TZID") && !self.has_param("VALUE") {
            self.params.push(format!("TZID={time_zone}"));
        }
    }

    fn text(&self) -> String {
        let params: String = self.params.iter().map(|param| format!(";{param}")).collect();
        format!("{}{params}:{}", self.name, self.value)
    }
}

/// Splits a line at the colon before its value: a colon in quotes is part of a parameter.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let mut is_quoted = false;
    let at = text.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b':' && !is_quoted
    })?;
    let (head, value) = text.split_at_checked(at)?;
    Some((head, value.strip_prefix(':')?))
}

fn param_name(param: &str) -> &str {
    param.split_once('=').map_or(param, |(name, _)| name)
}

/// The parameter with its zone's IANA name, where it is a zone that has one.
fn with_iana_zone(param: &str) -> String {
    let zone = param.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("TZID"));
    match zone.and_then(|(_, zone)| known_zone(zone.trim_matches('"'))) {
        Some(known) => format!("TZID={known}"),
        None => param.to_owned(),
    }
}
