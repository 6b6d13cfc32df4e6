//! RRULE, RDATE, EXDATE and EXRULE, of events and of to-dos: as the model has them, and back without touching lines that stay.

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;

use crate::ical::lines::{lines, param, raw_line, set_param};
use crate::ical::time::Clock;
use crate::ical::write::Writer;

/// The properties that make a component recur.
const NAMES: [&str; 4] = ["RRULE", "RDATE", "EXDATE", "EXRULE"];

/// The lines that make a component recur, as the model has them: unfolded, with IANA zones. All of them, also where RFC 5545 wants one
/// RRULE and no EXRULE (RFC 2445 had them): what they mean, and whether they can be read, is for whoever expands the series.
pub fn recurrence_lines(component: &IcalCst, clock: &Clock) -> Vec<String> {
    NAMES.iter().flat_map(|name| lines(component, name)).map(|line| recurrence_line(line, clock)).collect()
}

/// One of them.
pub fn recurrence_line(line: &IcalLine, clock: &Clock) -> String {
    let name = line.name.get().to_ascii_uppercase();
    let mut plain = raw_line(&name, &[], line.raw_value_str().trim());
    if name == "RDATE" || name == "EXDATE" {
        if let Some(kind) = param(line, "VALUE").filter(|kind| !kind.eq_ignore_ascii_case("DATE-TIME")) {
            set_param(&mut plain, "VALUE", Some(&kind.to_ascii_uppercase()));
        }
        if let Some(tzid) = param(line, "TZID") {
            let zone = clock.zone(&tzid, year(line));
            set_param(&mut plain, "TZID", Some(&zone.name));
        }
    }
    let params: String = plain.params.iter().map(|param| format!(";{param}")).collect();
    format!("{name}{params}:{}", plain.raw_value_str())
}

/// Whether a property of this name makes a component recur.
pub fn is_rule(name: &str) -> bool {
    NAMES.iter().any(|rule| rule.eq_ignore_ascii_case(name))
}

fn year(line: &IcalLine) -> i16 {
    line.raw_value_str().trim().get(..4).and_then(|year| year.parse().ok()).unwrap_or(2000)
}

impl Writer<'_> {
    /// The lines that make a component recur: those that already say one of these stay as they are.
    pub fn set_recurrence(&mut self, component: &mut IcalCst, wanted: &[String]) {
        let mut missing: Vec<String> =
            wanted.iter().map(|line| clean(line)).filter(|line| !line.is_empty()).collect();
        let clock = &self.clock;
        component.items.retain(|item| {
            let IcalItem::Prop(line) = item else { return true };
            if !is_rule(line.name.get()) {
                return true;
            }
            let said = recurrence_line(line, clock);
            match missing.iter().position(|line| *line == said) {
                Some(at) => {
                    missing.remove(at);
                    true
                }
                None => false,
            }
        });
        for text in missing {
            let is_one = text.split([';', ':']).next().is_some_and(is_rule);
            if !is_one || component.push_raw(&text).is_err() {
                self.warn("recurrence_ignored", "a line of recurrence is no content line", "recurrence");
                continue;
            }
            let tzid = text.split([';', ':']).find_map(|part| part.strip_prefix("TZID="));
            if let Some(tzid) = tzid {
                self.zones.push((tzid.trim_matches('"').to_owned(), self.now.timestamp()));
            }
        }
    }
}

/// A recurrence line without anything that could begin another property.
fn clean(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}
