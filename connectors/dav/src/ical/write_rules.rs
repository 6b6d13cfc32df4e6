//! RRULE, RDATE, EXDATE and EXRULE from the model back into a component, without touching lines that stay.

use std::collections::HashMap;

use ical::tree::cst::{IcalCst, IcalItem};

use crate::ical::rules::{ends_floating, has_days, is_rule, recurrence_line, until_in_utc};
use crate::ical::write::Writer;

impl Writer<'_> {
    /// The lines that make a component recur: those that already say one of these stay as they are.
    pub fn set_recurrence(&mut self, component: &mut IcalCst, wanted: &[String]) {
        let wanted: Vec<String> =
            wanted.iter().map(|line| clean(line)).filter(|line| !line.is_empty()).collect();
        // The places of each line among them, the last one first.
        let mut places: HashMap<&str, Vec<usize>> = HashMap::with_capacity(wanted.len());
        for (at, line) in wanted.iter().enumerate().rev() {
            places.entry(line).or_default().push(at);
        }
        let mut is_there = vec![false; wanted.len()];
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
            let mut take = |text: &str| places.get_mut(text).and_then(Vec::pop);
            let at = take(&said).or_else(|| told.as_deref().and_then(&mut take));
            at.inspect(|at| is_there[*at] = true).is_some()
        });
        let mut made = Vec::new();
        for text in wanted.iter().zip(is_there).filter(|(_, is_there)| !is_there).map(|(text, _)| text) {
            let is_one = text.split([';', ':']).next().is_some_and(is_rule);
            // Each in its own component: looking for a place among all lines takes longer than reading one.
            let mut alone = IcalCst::empty("VEVENT");
            if !is_one || alone.push_raw(text).is_err() {
                self.warn("recurrence_ignored", "a line of recurrence is no content line", "recurrence");
                continue;
            }
            made.append(&mut alone.items);
            let tzid = text.split([';', ':']).find_map(|part| part.strip_prefix("TZID="));
            if let Some(tzid) = tzid {
                self.zones.push((tzid.trim_matches('"').to_owned(), self.now.timestamp()));
            }
        }
        // Behind the properties (RFC 5545 section 3.6), which end where the first component begins.
        let begins = |item: &IcalItem| match item {
            IcalItem::Component(_) => true,
            IcalItem::Prop(line) => line.name.get().eq_ignore_ascii_case("BEGIN"),
            IcalItem::Opaque(_) => false,
        };
        let at = component.items.iter().position(begins).unwrap_or(component.items.len());
        drop(component.items.splice(at..at, made));
    }
}

/// A recurrence line without anything that could begin another property.
fn clean(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}
