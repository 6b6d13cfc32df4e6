//! The filter of a replay: events that the subscription matches as it is now, narrowed by the replay's own parameters.

use model::webhook::NewWebhookReplay;
use storage::log::Light;
use storage::webhooks::Webhook;
use storage::webhooks::replay_lines::TimedLine;

use crate::webhooks::notification_types::{self, Matcher, SubscriptionFilter};
use crate::webhooks::replay::selection::Period;

/// The filters of a subscription and of a replay of it.
pub struct EventFilter {
    subscription: Matcher,
    /// Kinds and patterns; empty: all.
    event_types: Vec<String>,
    /// None: events of any time.
    period: Option<Period>,
}

impl EventFilter {
    pub fn new(webhook: &Webhook, asked: &NewWebhookReplay) -> EventFilter {
        let wanted = SubscriptionFilter {
            id: webhook.id.clone(),
            event_types: webhook.event_types.clone(),
            connection_ids: webhook.connection_ids.clone(),
            bound_to: webhook.bound_to.clone(),
            families: webhook.families.clone(),
            include_backfill: webhook.include_backfill,
        };
        EventFilter {
            subscription: Matcher::new(&[wanted]),
            event_types: asked.event_types.clone(),
            period: Period::from_request(asked),
        }
    }

    /// Whether the subscription matches this event.
    pub fn is_wanted(&self, line: &Light) -> bool {
        self.subscription.matching(line.into()).next().is_some()
    }

    /// Whether the event has one of the replay's types.
    pub fn has_type(&self, line: &Light) -> bool {
        self.event_types.is_empty() || self.event_types.iter().any(|pattern| names(pattern, &line.entry_type))
    }

    /// Whether a replay of a range sends this event. Test events are only replayed by id.
    pub fn admits(&self, timed: &TimedLine) -> bool {
        timed.line.entry_type != notification_types::TEST
            && self.period.is_none_or(|period| period.contains(timed.at))
            && self.has_type(&timed.line)
            && self.is_wanted(&timed.line)
    }
}

/// Whether a known pattern (`*`, `calendar.*`) or kind matches this kind.
fn names(pattern: &str, kind: &str) -> bool {
    let is_below = |above: &str| kind.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'));
    pattern == "*" || pattern == kind || pattern.strip_suffix(".*").is_some_and(is_below)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_pattern_names_the_kinds_below_it() {
        let kind = "calendar.event.created";
        for pattern in ["*", "calendar.*", "calendar.event.*", kind] {
            assert!(names(pattern, kind), "{pattern}");
        }
        for pattern in ["calendar.created", "calendar.event.updated", "task.*", "calendar.event.created.*"] {
            assert!(!names(pattern, kind), "{pattern}");
        }
        assert!(!names("task.*", "task_list.created"));
    }
}
