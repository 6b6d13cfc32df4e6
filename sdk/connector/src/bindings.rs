//! The bindings that wit-bindgen generates from `wit/`. They are never named outside this crate: the rest of the SDK turns them into
//! plain types, so that a new wit-bindgen changes this file and nothing in a connector.
//!
//! One world per surface, because wit-bindgen has no optional exports. Each carries its own `component-type` section, and the
//! component linker joins those that `export_connector!` brought in.

/// The imports, and the types that all worlds share.
pub mod imports {
    wit_bindgen::generate!({ world: "imports", path: "wit", generate_all });
}

macro_rules! world {
    ($module:ident, $world:literal, $export:literal) => {
        /// The exports of one surface.
        pub mod $module {
            wit_bindgen::generate!({
                world: $world,
                path: "wit",
                pub_export_macro: true,
                export_macro_name: $export,
                with: {
                    "switchboard:connector/types@1.0.0": crate::bindings::imports::switchboard::connector::types,
                    "switchboard:connector/http@1.0.0": crate::bindings::imports::switchboard::connector::http,
                    "switchboard:connector/log@1.0.0": crate::bindings::imports::switchboard::connector::log,
                    "switchboard:connector/clock@1.0.0": crate::bindings::imports::switchboard::connector::clock,
                    "switchboard:connector/random@1.0.0": crate::bindings::imports::switchboard::connector::random,
                    "switchboard:connector/blob@1.0.0": crate::bindings::imports::switchboard::connector::blob,
                    "switchboard:connector/tcp@1.0.0": crate::bindings::imports::switchboard::connector::tcp,
                    "switchboard:connector/progress@1.0.0": crate::bindings::imports::switchboard::connector::progress,
                    "switchboard:connector/time-zones@1.0.0": crate::bindings::imports::switchboard::connector::time_zones,
                },
            });
        }
    };
}

world!(calendar, "calendar-connector", "export_calendar");
world!(email, "email-connector", "export_email");
world!(contacts, "contacts-connector", "export_contacts");
world!(tasks, "tasks-connector", "export_tasks");
world!(lifecycle, "lifecycle-connector", "export_lifecycle");
world!(watch, "watch-connector", "export_watch");
