//! RRULE, RDATE, EXDATE and EXRULE from the model back into a component, without touching lines that stay.

use ical::tree::cst::{IcalCst, IcalItem};

use crate::ical::rules::{ends_floating, has_days, is_rule, recurrence_line, until_in_utc};
use crate::ical::write::Writer;

impl Writer<'_> {
    /// The lines that make a component recur: those that already say one of these stay as they are.
    pub fn set_recurrence(&mut self, component: &mut IcalCst, wanted: &[String]) {
        let mut missing: Vec<String> =
            wanted.iter().map(|line| clean(line)).filter(|line| !line.is_empty()).collect();
        let clock = &self.clock;
        let has_days = has_days(component, clock);
        let floats = ends_floating(component);
        component.items.retain(|item| {
            let IcalItem::Prop(line) = item else { return true };
            if !is_rule(line.name.get()) {
                return true;
            }
            let said = recurrence_line(line, clock, has_days);
            let told = until_in_utc(&said, clock).filter(|_| floats);
            match missing.iter().position(|line| *line == said || told.as_ref() == Some(line)) {
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
