//! The kinds of events that webhooks can get, patterns over them, and the matcher from events to subscriptions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::{iter, slice};

use crate::webhooks::event_head::EventHead;

/// The event that tests a webhook. Only that webhook gets it, whatever its filters.
pub const TEST: &str = "webhook.test";
/// The origin of events from an initial sync.
const BACKFILL: &str = "backfill";
/// The pattern of all kinds except those that must be named exactly.
const ALL: &str = "*";
/// Kinds that patterns exclude: they are frequent, and few receivers want them.
const NAMED_EXACTLY: [&str; 1] = ["connection.token_refreshed"];

/// The events of one surface of the API: a key that may read the surface may get them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Connections,
    Email,
    Calendar,
    Contacts,
    Tasks,
    Scheduling,
    Webhooks,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 7] = [
        Family::Connections,
        Family::Email,
        Family::Calendar,
        Family::Contacts,
        Family::Tasks,
        Family::Scheduling,
        Family::Webhooks,
    ];

    /// The name, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Family::Connections => "connections",
            Family::Email => "email",
            Family::Calendar => "calendar",
            Family::Contacts => "contacts",
            Family::Tasks => "tasks",
            Family::Scheduling => "scheduling",
            Family::Webhooks => "webhooks",
        }
    }

    /// The scope that a key needs to get these events.
    pub fn read_scope(self) -> &'static str {
        match self {
            Family::Connections => "connections.read",
            Family::Email => "email.read",
            Family::Calendar => "calendar.read",
            Family::Contacts => "contacts.read",
            Family::Tasks => "tasks.read",
            Family::Scheduling => "scheduling.read",
            Family::Webhooks => "webhooks.read",
        }
    }
}

/// The kinds below a name: `created` below `calendar.event` is `calendar.event.created`.
static KINDS: [(Family, &str, &[&str]); 20] = [
    (
        Family::Connections,
        "connection",
        &["created", "updated", "reauth_required", "degraded", "recovered", "revoked", "token_refreshed"],
    ),
    (Family::Connections, "sync", &["started", "completed", "failed", "reset"]),
    (
        Family::Email,
        "email.message",
        &[
            "created",
            "updated",
            "deleted",
            "sent",
            "send_failed",
            "bounced",
            "complaint",
            "opened",
            "link_clicked",
            "replied",
        ],
    ),
    (Family::Email, "email.thread", &["updated"]),
    (Family::Email, "email.draft", CHANGES),
    (Family::Email, "email.folder", CHANGES),
    (Family::Email, "email.label", CHANGES),
    (Family::Calendar, "calendar", CHANGES),
    (Family::Calendar, "calendar.event", CHANGES),
    (Family::Calendar, "calendar.event", &["rsvp_changed"]),
    (Family::Calendar, "calendar.watch", &["expiring", "expired"]),
    (Family::Contacts, "contact", CHANGES),
    (Family::Contacts, "contact_book", CHANGES),
    (Family::Contacts, "contact_group", CHANGES),
    (Family::Tasks, "task_list", CHANGES),
    (Family::Tasks, "task", CHANGES),
    (Family::Tasks, "task", &["completed"]),
    (
        Family::Scheduling,
        "booking",
        &[
            "created",
            "updated",
            "pending",
            "confirmed",
            "rescheduled",
            "cancelled",
            "rejected",
            "expired",
            "reminder",
            "completed",
            "no_show",
            "calendar_write_failed",
        ],
    ),
    (Family::Scheduling, "event_type", CHANGES),
    (Family::Webhooks, "webhook", &["test", "disabled"]),
];

const CHANGES: &[&str] = &["created", "updated", "deleted"];

/// Every kind, in the order of the table.
pub fn all() -> impl Iterator<Item = String> {
    KINDS.iter().flat_map(|(_, name, ends)| ends.iter().map(move |end| format!("{name}.{end}")))
}

/// Whether this is a kind, a name with `.*` for all kinds below it at any depth (`calendar.*` includes `calendar.event.created`), or `*`.
pub fn is_known(pattern: &str) -> bool {
    pattern == ALL
        || match pattern.strip_suffix(".*") {
            Some(above) => KINDS.iter().any(|(_, name, _)| is_at_or_below(name, above)),
            None => is_kind(pattern),
        }
}

/// The family of a known kind or of a known pattern with `.*`; none for `*`, which covers all.
pub fn family_of(pattern: &str) -> Option<Family> {
    if !is_known(pattern) {
        return None;
    }
    let name = first_part(pattern);
    KINDS.iter().find(|(_, known, _)| first_part(known) == name).map(|(family, ..)| *family)
}

fn is_kind(text: &str) -> bool {
    let Some((name, end)) = text.rsplit_once('.') else { return false };
    KINDS.iter().any(|(_, known, ends)| *known == name && ends.contains(&end))
}

fn is_at_or_below(name: &str, above: &str) -> bool {
    name.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The part before the first dot. All kinds with the same first part are of one family.
fn first_part(name: &str) -> &str {
    name.split_once('.').map_or(name, |(first, _)| first)
}

/// The parent name: `calendar.event` for `calendar.event.created`.
fn parent(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(parent, _)| parent)
}

/// The ancestors of a name, nearest first: `calendar.event` and `calendar` for `calendar.event.created`.
fn above(name: &str) -> impl Iterator<Item = &str> {
    iter::successors(parent(name), |name| parent(name))
}

/// The filters of one subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// The webhook's id.
    pub id: String,
    /// Kinds and patterns; an event needs to match one of them.
    pub event_types: Vec<String>,
    /// Connections to which events are limited; empty: all, and events without a connection.
    pub connection_ids: Vec<String>,
    /// The connections that the subscription's API key is bound to: only events of no other connection match. Empty: the key is not bound.
    pub bound_to: Vec<String>,
    /// Names of the families that its key may read. Empty: none.
    pub families: Vec<String>,
    /// Whether events of an initial sync are included.
    pub include_backfill: bool,
}

/// An index from events to subscriptions, built once from all subscriptions of an application.
pub struct Matcher {
    subscriptions: Vec<Subscription>,
    by_id: HashMap<String, usize>,
    /// Indices into `subscriptions`: by exact kind, by the name before `.*`, and of those with `*`. For any kind, a subscription is in at
    /// most one of the lists that apply.
    exact: HashMap<String, Vec<usize>>,
    below: HashMap<String, Vec<usize>>,
    all: Vec<usize>,
}

struct Subscription {
    id: String,
    connection_ids: HashSet<String>,
    bound_to: HashSet<String>,
    families: HashSet<String>,
    include_backfill: bool,
}

impl Matcher {
    /// Builds the matcher of these subscriptions, whose ids are distinct.
    pub fn new(all: &[SubscriptionFilter]) -> Matcher {
        let mut matcher = Matcher {
            subscriptions: Vec::with_capacity(all.len()),
            by_id: HashMap::with_capacity(all.len()),
            exact: HashMap::new(),
            below: HashMap::new(),
            all: Vec::new(),
        };
        for (place, wanted) in all.iter().enumerate() {
            matcher.file(place, &wanted.event_types);
            let set = |texts: &[String]| -> HashSet<String> { texts.iter().cloned().collect() };
            matcher.by_id.insert(wanted.id.clone(), place);
            matcher.subscriptions.push(Subscription {
                id: wanted.id.clone(),
                connection_ids: set(&wanted.connection_ids),
                bound_to: set(&wanted.bound_to),
                families: set(&wanted.families),
                include_backfill: wanted.include_backfill,
            });
        }
        matcher
    }

    /// Adds a subscription to the lists of its patterns, except patterns that another one of it covers.
    fn file(&mut self, place: usize, event_types: &[String]) {
        let patterns: BTreeSet<&str> = event_types.iter().map(String::as_str).collect();
        let has_all = patterns.contains(ALL);
        if has_all {
            self.all.push(place);
        }
        let names: HashSet<&str> = patterns.iter().filter_map(|pattern| pattern.strip_suffix(".*")).collect();
        let is_covered = |name: &str| has_all || above(name).any(|above| names.contains(above));
        for name in names.iter().filter(|name| !is_covered(name)) {
            self.below.entry((*name).to_owned()).or_default().push(place);
        }
        let kinds = patterns.iter().filter(|pattern| !pattern.ends_with('*'));
        for kind in kinds.filter(|kind| NAMED_EXACTLY.contains(kind) || !is_covered(kind)) {
            self.exact.entry((*kind).to_owned()).or_default().push(place);
        }
    }

    /// The ids of the subscriptions that match this event, each once.
    pub fn matching(&self, event: EventHead<'_>) -> impl Iterator<Item = &str> {
        let is_test = event.kind == TEST;
        let family = family_of(event.kind).map(Family::as_str);
        let wants = move |s: &&Subscription| is_test || s.takes(family, &event);
        let lists = self.lists(event.kind, event.resource_id).into_iter().flatten();
        lists.filter_map(move |place| self.subscriptions.get(*place)).filter(wants).map(|s| s.id.as_str())
    }

    /// The lists that apply to a kind.
    fn lists(&self, kind: &str, subject: &str) -> Vec<&[usize]> {
        if kind == TEST {
            return self.by_id.get(subject).map(slice::from_ref).into_iter().collect();
        }
        let exact = self.exact.get(kind).map(Vec::as_slice);
        if NAMED_EXACTLY.contains(&kind) {
            return exact.into_iter().collect();
        }
        let below = above(kind).filter_map(|name| self.below.get(name)).map(Vec::as_slice);
        exact.into_iter().chain(below).chain(iter::once(self.all.as_slice())).collect()
    }
}

impl Subscription {
    /// Whether the subscription's rights and filters, apart from the kind, match this event.
    fn takes(&self, family: Option<&str>, event: &EventHead<'_>) -> bool {
        let may_read = family.is_some_and(|family| self.families.contains(family));
        let is_of_these = || event.connection_id.is_some_and(|id| self.connection_ids.contains(id));
        let is_its_own = || event.is_within(|id| self.bound_to.contains(id));
        may_read
            && (self.connection_ids.is_empty() || is_of_these())
            && (self.bound_to.is_empty() || is_its_own())
            && (self.include_backfill || event.origin != BACKFILL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(id: &str, event_types: &[&str]) -> SubscriptionFilter {
        SubscriptionFilter {
            id: id.to_owned(),
            event_types: event_types.iter().map(|text| (*text).to_owned()).collect(),
            families: Family::ALL.iter().map(|family| family.as_str().to_owned()).collect(),
            ..SubscriptionFilter::default()
        }
    }

    fn head<'a>(kind: &'a str, connection_id: Option<&'a str>, origin: &'a str) -> EventHead<'a> {
        EventHead { kind, connection_id, account_ids: None, origin, resource_id: "evt_1" }
    }

    fn matching(matcher: &Matcher, kind: &str) -> Vec<String> {
        let mut ids: Vec<String> =
            matcher.matching(head(kind, Some("conn_1"), "api")).map(str::to_owned).collect();
        ids.sort();
        ids
    }

    #[test]
    fn kinds_and_patterns_are_known() {
        for kind in all() {
            assert!(is_known(&kind) && family_of(&kind).is_some(), "{kind}");
        }
        for pattern in ["*", "calendar.*", "calendar.event.*", "email.*", "task.*", "webhook.*"] {
            assert!(is_known(pattern), "{pattern}");
        }
        let unknown = [
            "",
            ".*",
            "**",
            "*.created",
            "calendar",
            "calendar*",
            "calen.*",
            "calendar.event",
            "calendar.event.created.*",
            "calendar.event.create",
            "Calendar.*",
        ];
        for pattern in unknown {
            assert!(!is_known(pattern) && family_of(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn a_kind_has_a_family_and_that_has_a_scope() {
        for (pattern, scope) in [
            ("contact_group.updated", "contacts.read"),
            ("task_list.*", "tasks.read"),
            ("calendar.watch.*", "calendar.read"),
            ("event_type.created", "scheduling.read"),
            ("sync.reset", "connections.read"),
        ] {
            assert_eq!(family_of(pattern).map(Family::read_scope), Some(scope), "{pattern}");
        }
        assert_eq!(family_of("*"), None);
        assert!(Family::ALL.iter().all(|family| base::scopes::is_scope(family.read_scope())));
        for kind in all() {
            let mut same = all().filter(|other| first_part(other) == first_part(&kind));
            assert!(same.all(|other| family_of(&other) == family_of(&kind)), "{kind}");
        }
    }

    #[test]
    fn a_pattern_is_any_end_and_a_subscription_comes_once() {
        let matcher = Matcher::new(&[
            wanted("all", &["*", "calendar.*", "calendar.event.created"]),
            wanted("calendar", &["calendar.event.*", "calendar.*", "calendar.event.created"]),
            wanted("created", &["calendar.event.created", "calendar.event.created"]),
            wanted("contact", &["contact.*"]),
        ]);
        assert_eq!(matching(&matcher, "calendar.event.created"), ["all", "calendar", "created"]);
        assert_eq!(matching(&matcher, "calendar.event.deleted"), ["all", "calendar"]);
        assert_eq!(matching(&matcher, "calendar.updated"), ["all", "calendar"]);
        assert_eq!(matching(&matcher, "contact_book.updated"), ["all"]);
        assert!(matching(&matcher, "unheard.of").is_empty());
    }

    #[test]
    fn some_kinds_are_for_those_alone_that_name_them() {
        let named = "connection.token_refreshed";
        let matcher = Matcher::new(&[
            wanted("all", &["*"]),
            wanted("family", &["connection.*"]),
            wanted("named", &["*", named]),
        ]);
        assert_eq!(matching(&matcher, named), ["named"]);
        assert_eq!(matching(&matcher, "connection.updated"), ["all", "family", "named"]);
    }

    #[test]
    fn a_test_is_for_its_own_subscription() {
        let matcher = Matcher::new(&[wanted("wh_1", &["task.*"]), wanted("wh_2", &["*", TEST])]);
        let of = |resource_id| {
            let test = EventHead { resource_id, ..head(TEST, None, "system") };
            matcher.matching(test).collect::<Vec<_>>()
        };
        assert_eq!(of("wh_1"), ["wh_1"]);
        assert_eq!(of("wh_3"), [] as [&str; 0]);
    }

    #[test]
    fn filters_leave_out_connections_families_and_backfill() {
        let ids = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let all = wanted("all", &["*"]);
        let matcher = Matcher::new(&[
            SubscriptionFilter { id: "backfill".to_owned(), include_backfill: true, ..all.clone() },
            SubscriptionFilter { id: "bound".to_owned(), bound_to: ids(&["conn_2"]), ..all.clone() },
            SubscriptionFilter {
                id: "connections".to_owned(),
                connection_ids: ids(&["conn_1"]),
                ..all.clone()
            },
            SubscriptionFilter { id: "tasks".to_owned(), families: ids(&["tasks"]), ..all.clone() },
            SubscriptionFilter { id: "nothing".to_owned(), families: Vec::new(), ..all.clone() },
            all,
        ]);
        let of = |kind, connection_id, origin| {
            let mut ids: Vec<&str> = matcher.matching(head(kind, connection_id, origin)).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(of("task.created", Some("conn_1"), "api"), ["all", "backfill", "connections", "tasks"]);
        assert_eq!(of("calendar.created", Some("conn_2"), "provider"), ["all", "backfill", "bound"]);
        assert_eq!(of("calendar.created", Some("conn_3"), "backfill"), ["backfill"]);
        assert_eq!(of("webhook.disabled", None, "system"), ["all", "backfill"]);
    }

    #[test]
    fn a_bound_subscription_is_told_of_what_names_no_other_connection() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let bound_to = texts(&["conn_1", "conn_2"]);
        let matcher = Matcher::new(&[
            SubscriptionFilter { bound_to, ..wanted("bound", &["booking.*"]) },
            SubscriptionFilter { connection_ids: texts(&["conn_1"]), ..wanted("filtered", &["*"]) },
            wanted("free", &["booking.*"]),
        ]);
        let told = |account_ids: &[&str]| {
            let account_ids = texts(account_ids);
            let booked = head("booking.created", Some("conn_1"), "api");
            let booked = EventHead { account_ids: Some(&account_ids), ..booked };
            let mut ids: Vec<String> = matcher.matching(booked).map(str::to_owned).collect();
            ids.sort();
            ids
        };
        assert_eq!(told(&["conn_1"]), ["bound", "filtered", "free"]);
        assert_eq!(told(&["conn_1", "conn_2"]), ["bound", "filtered", "free"]);
        assert_eq!(told(&["conn_1", "conn_3"]), ["filtered", "free"]);
        assert_eq!(matching(&matcher, "booking.created"), ["filtered", "free"], "it may name any");
    }
}
