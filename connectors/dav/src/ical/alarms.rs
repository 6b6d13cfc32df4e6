//! VALARM as reminders. An alarm that no reminder can say (after the start, at a fixed time, of an unknown kind) is not shown and
//! not touched.

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use ical::value::duration::IcalDuration;
use model::calendar::{Reminder, ReminderMethod, Reminders};

use crate::ical::lines::{component_name, components, keyword, line, param, raw_line, text_line};

/// Most minutes before the start that a reminder can have: four weeks.
const MAX_MINUTES: i64 = 40_320;

/// The event's reminders; `length_s` is how long it lasts, for alarms that count from its end.
pub fn reminders(event: &IcalCst, length_s: i64) -> Reminders {
    let overrides = components(event, "VALARM").filter_map(|alarm| reminder(alarm, length_s)).collect();
    Reminders { use_default: false, overrides }
}

fn reminder(alarm: &IcalCst, length_s: i64) -> Option<Reminder> {
    let method = match keyword(alarm, "ACTION")?.as_str() {
        "EMAIL" => ReminderMethod::Email,
        "DISPLAY" | "AUDIO" => ReminderMethod::Popup,
        _ => return None,
    };
    let trigger = line(alarm, "TRIGGER")?;
    let raw = trigger.raw_value_str();
    let offset = IcalDuration(raw.trim().into()).seconds()?;
    let from_end = param(trigger, "RELATED").is_some_and(|related| related.eq_ignore_ascii_case("END"));
    let before = if from_end { offset.checked_add(length_s)? } else { offset }.checked_neg()?;
    let minutes_before = before / 60;
    (before % 60 == 0 && (0..=MAX_MINUTES).contains(&minutes_before))
        .then_some(Reminder { method, minutes_before })
}

/// Makes the reminders these: alarms that say one of them stay as they are, others that a reminder can say go, new ones come.
/// `owner` is the account's mail address.
pub fn set_reminders(
    event: &mut IcalCst,
    wanted: &Reminders,
    (title, owner): (Option<&str>, Option<&str>),
    length_s: i64,
) {
    let mut missing: Vec<&Reminder> = wanted.overrides.iter().collect();
    event.items.retain(|item| {
        let IcalItem::Component(alarm) = item else { return true };
        if component_name(alarm) != "VALARM" {
            return true;
        }
        let Some(said) = reminder(alarm, length_s) else { return true };
        match missing.iter().position(|reminder| **reminder == said) {
            Some(at) => {
                missing.remove(at);
                true
            }
            None => false,
        }
    });
    // An empty DESCRIPTION counts as none, which an alarm needs.
    let title = title.filter(|title| !title.trim().is_empty()).unwrap_or("Reminder");
    for reminder in missing {
        event.push_component(alarm(reminder, title, owner));
    }
}

fn alarm(reminder: &Reminder, title: &str, owner: Option<&str>) -> IcalCst<'static> {
    let before = reminder.minutes_before.clamp(0, MAX_MINUTES);
    let trigger = if before == 0 { "PT0S".to_owned() } else { format!("-PT{before}M") };
    let trigger = raw_line("TRIGGER", &[], &trigger);
    match reminder.method {
        ReminderMethod::Popup => display(trigger, title),
        // RFC 5545 section 3.6.6 wants an ATTENDEE; where the account has no address, servers that send mail know whose calendar it is.
        ReminderMethod::Email => {
            let mut alarm = IcalCst::empty("VALARM");
            alarm.push_line(trigger);
            alarm.push_line(raw_line("ACTION", &[], "EMAIL"));
            alarm.push_line(text_line("SUMMARY", title));
            alarm.push_line(text_line("DESCRIPTION", title));
            if let Some(owner) = owner {
                alarm.push_line(raw_line("ATTENDEE", &[], &format!("mailto:{owner}")));
            }
            alarm
        }
    }
}

/// An alarm that shows a text.
pub fn display(trigger: IcalLine<'static>, text: &str) -> IcalCst<'static> {
    let mut alarm = IcalCst::empty("VALARM");
    alarm.push_line(trigger);
    alarm.push_line(raw_line("ACTION", &[], "DISPLAY"));
    alarm.push_line(text_line("DESCRIPTION", text));
    alarm
}
