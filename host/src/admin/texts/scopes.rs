//! Scopes in words: a sentence for each.

/// Scopes by surface, and what keys may do in a few words.
pub struct ScopeTexts {
    /// The surfaces in the order of the form: heading, and scopes with their sentences.
    pub surfaces: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    pub everything: &'static str,
    pub reads_everything: &'static str,
    /// The words before the surfaces that a key may read, write and both.
    pub reads: &'static str,
    pub writes: &'static str,
    pub and: &'static str,
    /// The surfaces within a sentence, by the first part of their scopes.
    pub names: &'static [(&'static str, &'static str)],
    /// The words for scopes that neither read nor write a surface.
    pub sends: &'static str,
    pub books: &'static str,
    pub sees_busy: &'static str,
    pub tracks: &'static str,
    pub nothing: &'static str,
}

pub static ENGLISH: ScopeTexts = ScopeTexts {
    surfaces: &[
        (
            "Mail",
            &[
                ("email.read", "Read messages, threads, folders, drafts and attachments."),
                (
                    "email.write",
                    "Change, move and delete messages; create drafts and folders. Includes reading.",
                ),
                ("email.send", "Send messages. Does not include reading."),
                ("email.track", "Track opens and clicks of sent messages."),
            ],
        ),
        (
            "Calendars",
            &[
                ("calendar.read", "Read calendars and events. Includes busy times."),
                ("calendar.write", "Create, change and delete events. Includes reading."),
                ("calendar.freebusy", "See when people are busy, without any details."),
            ],
        ),
        (
            "Contacts",
            &[
                ("contacts.read", "Read contacts, groups and photos."),
                ("contacts.write", "Create, change and delete contacts. Includes reading."),
            ],
        ),
        (
            "Tasks",
            &[
                ("tasks.read", "Read task lists and tasks."),
                ("tasks.write", "Create, change and delete tasks. Includes reading."),
            ],
        ),
        (
            "Scheduling",
            &[
                ("scheduling.read", "Read event types, schedules and bookings."),
                (
                    "scheduling.write",
                    "Create and change event types and schedules, decide on bookings. Includes reading and booking.",
                ),
                ("scheduling.book", "See free times and book them. Fit for a key in a web page."),
            ],
        ),
        (
            "Accounts",
            &[
                ("connections.read", "List connected accounts and their state."),
                ("connections.write", "Connect, refresh and disconnect accounts."),
            ],
        ),
        (
            "Events and webhooks",
            &[
                ("webhooks.read", "List webhooks and deliveries."),
                ("webhooks.write", "Create, change and delete webhooks; replay events."),
                ("events.read", "Read the event log and its live stream."),
            ],
        ),
        (
            "Administration",
            &[
                ("api_keys.write", "Create and revoke keys that may do no more than this one."),
                ("usage.read", "Read usage figures."),
            ],
        ),
    ],
    everything: "Reads and writes everything",
    reads_everything: "Reads everything",
    reads: "Reads",
    writes: "Reads and writes",
    and: "and",
    names: &[
        ("email", "mail"),
        ("calendar", "calendars"),
        ("contacts", "contacts"),
        ("tasks", "tasks"),
        ("scheduling", "scheduling"),
        ("connections", "accounts"),
        ("webhooks", "webhooks"),
        ("events", "events"),
        ("api_keys", "keys"),
        ("usage", "usage"),
    ],
    sends: "Sends mail",
    books: "Books times",
    sees_busy: "Sees busy times",
    tracks: "Tracks mail",
    nothing: "Nothing",
};

#[cfg(test)]
mod tests {
    use base::scopes;

    use super::*;

    #[test]
    fn every_scope_has_one_sentence() {
        let mut named: Vec<&str> =
            ENGLISH.surfaces.iter().flat_map(|(_, scopes)| *scopes).map(|(scope, _)| *scope).collect();
        named.sort_unstable();
        let mut all = scopes::ALL;
        all.sort_unstable();
        assert_eq!(named, all);
        for scope in scopes::ALL {
            let surface = scope.split('.').next().unwrap();
            assert!(ENGLISH.names.iter().any(|(name, _)| *name == surface), "{scope}");
        }
    }
}
