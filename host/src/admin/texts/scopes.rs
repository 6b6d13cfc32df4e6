//! Scopes in words: a sentence for each.

/// Scopes by surface, and what keys may do in a few words.
pub struct ScopeTexts {
    /// The surfaces in the order of the form: heading, and scopes with their sentences.
    pub surfaces: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    pub everything: &'static str,
    pub reads_everything: &'static str,
    /// The words for surfaces that a key may read, and for those that it may read and write.
    pub reads: &'static str,
    pub writes: &'static str,
    /// A list of names within a sentence with one more, and with the last one.
    pub list_more: &'static str,
    pub list_last: &'static str,
    /// Several things that a key may do, with one more.
    pub acts_more: &'static str,
    /// The surfaces within a sentence, by the first part of their scopes.
    pub names: &'static [(&'static str, &'static str)],
    /// The words for scopes that neither read nor write a surface.
    pub sends: &'static str,
    pub books: &'static str,
    pub sees_busy: &'static str,
    pub tracks: &'static str,
    pub runs_operators: &'static str,
    pub installs_connectors: &'static str,
    pub nothing: &'static str,
}

#[cfg(test)]
impl ScopeTexts {
    /// The words with the names of their fields, or the scopes that they are for.
    pub fn fields(&self) -> Vec<(&'static str, &'static str)> {
        let mut all = Vec::new();
        for (heading, scopes) in self.surfaces {
            all.push(("heading", *heading));
            all.extend_from_slice(scopes);
        }
        all.extend([
            ("everything", self.everything),
            ("reads_everything", self.reads_everything),
            ("reads", self.reads),
            ("writes", self.writes),
            ("list_more", self.list_more),
            ("list_last", self.list_last),
            ("acts_more", self.acts_more),
        ]);
        all.extend_from_slice(self.names);
        all.extend([
            ("sends", self.sends),
            ("books", self.books),
            ("sees_busy", self.sees_busy),
            ("tracks", self.tracks),
            ("runs_operators", self.runs_operators),
            ("installs_connectors", self.installs_connectors),
            ("nothing", self.nothing),
        ]);
        all
    }
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
    reads: "Reads {names}",
    writes: "Reads and writes {names}",
    list_more: "{a}, {b}",
    list_last: "{a} and {b}",
    acts_more: "{a}; {b}",
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
        ("admin", "the installation"),
    ],
    sends: "Sends mail",
    books: "Books times",
    sees_busy: "Sees busy times",
    tracks: "Tracks mail",
    runs_operators: "Manages operators",
    installs_connectors: "Installs connectors",
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
