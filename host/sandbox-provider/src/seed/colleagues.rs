//! The three accounts that work together.

/// A colleague with a full calendar.
pub struct Colleague {
    pub mail: &'static str,
    pub name: &'static str,
    pub zone: &'static str,
}

/// The three.
pub const PEOPLE: &[Colleague] = &[
    Colleague { mail: "alice@sandbox.test", name: "Alice Berger", zone: "Europe/Berlin" },
    Colleague { mail: "bob@sandbox.test", name: "Bob Carter", zone: "America/New_York" },
    Colleague { mail: "carol@sandbox.test", name: "Carol Iyer", zone: "Asia/Kolkata" },
];
