//! The parts of the project that `cargo xtask bench loop` edits, each with the narrowest test of it.

/// A part of the project.
pub struct Part {
    /// The name of the part in the results.
    pub name: &'static str,
    /// The file to edit and the crate that it belongs to, for each layout of the project; the first that exists counts.
    pub files: &'static [(&'static str, &'static str)],
    /// The crate that `cargo check` is asked for.
    pub check: &'static str,
    /// The test that shows that the part still works.
    pub test: Test,
}

/// The narrowest test of a part.
pub enum Test {
    /// A filter on `tests/api`, built with the features of the workspace.
    Api(&'static str),
    /// A filter on the unit tests of the crate of the edited file, built with `-p`.
    Unit(&'static str),
}

/// The parts, in the order of the results.
pub const PARTS: [Part; 10] = [
    Part {
        name: "api",
        files: &[("host/src/api/v1/calendars/events.rs", "switchboard")],
        check: "switchboard",
        test: Test::Api("calendars::events::create_an_event"),
    },
    Part {
        name: "resources",
        files: &[
            ("host/service/src/resources/events/write.rs", "service"),
            ("host/src/resources/events/write.rs", "switchboard"),
        ],
        check: "switchboard",
        test: Test::Api("calendars::events::a_patch_is_a_merge_patch"),
    },
    Part {
        name: "sync",
        files: &[("host/service/src/sync/pull.rs", "service"), ("host/src/sync/pull.rs", "switchboard")],
        check: "switchboard",
        test: Test::Api("calendars::sync::a_replica_follows_the_calendar"),
    },
    Part {
        name: "storage",
        files: &[
            ("host/storage/src/items/list.rs", "storage"),
            ("host/src/storage/items/list.rs", "switchboard"),
        ],
        check: "switchboard",
        test: Test::Unit("items::list::"),
    },
    Part {
        name: "runtime",
        files: &[
            ("host/runtime/src/outbound/origins.rs", "runtime"),
            ("host/src/runtime/outbound/origins.rs", "switchboard"),
        ],
        check: "switchboard",
        test: Test::Unit("outbound::origins::"),
    },
    Part {
        name: "sandbox-provider",
        files: &[
            ("host/sandbox-provider/src/journal.rs", "sandbox-provider"),
            ("host/src/sandbox_provider/journal.rs", "switchboard"),
        ],
        check: "switchboard",
        test: Test::Unit("journal::"),
    },
    Part {
        name: "merging",
        files: &[
            ("host/merging/src/nicknames.rs", "merging"),
            ("host/src/merging/nicknames.rs", "switchboard"),
        ],
        check: "switchboard",
        test: Test::Unit("nicknames::"),
    },
    Part {
        name: "sdk/model",
        files: &[("sdk/model/src/instant.rs", "model")],
        check: "switchboard",
        test: Test::Unit("instant::"),
    },
    Part {
        name: "sdk/mail",
        files: &[("sdk/mail/src/address.rs", "mail")],
        check: "switchboard",
        test: Test::Unit("address::"),
    },
    Part {
        name: "connectors/dav",
        files: &[("connectors/dav/src/ical/lines.rs", "connector-dav")],
        check: "connector-dav",
        test: Test::Unit("lines::"),
    },
];
