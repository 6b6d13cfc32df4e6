//! VTODO (RFC 5545 section 3.6.2) to `model::tasks::Task` and back, under the same rules as events: reading is forgiving, writing
//! changes the properties of the fields that were changed.
//!
//! Where the two differ:
//!
//! - **Exceptions** (RECURRENCE-ID) of a recurring to-do are no tasks: a `Task` cannot say which instance of which series it is,
//!   so one would look like a separate task, and deleting or completing it would mean something else. They keep their bytes, and
//!   `providerData` counts them.
//! - **Status.** VTODO has four. `waiting` and `deferred` are written as the nearest, with a warning.
//! - **Start and due.** One value type for both and the start first (RFC 5545 section 3.8.2.3); strict servers refuse the rest.
//!   See `times`.

pub mod carry;
pub mod edit;
pub mod extra;
pub mod people;
pub mod read;
pub mod reader;
pub mod reminder;
pub mod schedule;
pub mod state;
pub mod times;
pub mod write;
