//! Names of time zones, from Graph and to it.

use connector_microsoft::{zone_from, zone_to};

#[test]
fn a_zone_is_read_by_any_of_its_names() {
    let rows = [
        ("W. Europe Standard Time", "Europe/Berlin"),
        ("w. europe standard time", "Europe/Berlin"),
        ("Pacific Standard Time", "America/Los_Angeles"),
        ("UTC", "UTC"),
        ("Utc", "UTC"),
        ("tzone://Microsoft/Utc", "UTC"),
        // IANA names are given back as they were written.
        ("Africa/Nairobi", "Africa/Nairobi"),
        ("europe/vienna", "Europe/Vienna"),
    ];
    for (name, expected) in rows {
        assert_eq!(zone_from(name, "Asia/Tokyo"), expected, "{name}");
    }
}

/// A zone of somebody's own has no name that says where it is.
#[test]
fn a_zone_without_a_name_is_that_of_the_mailbox() {
    for name in ["tzone://Microsoft/Custom", "Customized Time Zone", "", "  "] {
        assert_eq!(zone_from(name, "Asia/Tokyo"), "Asia/Tokyo", "{name}");
        assert_eq!(zone_from(name, ""), "UTC", "{name}");
    }
}

#[test]
fn a_zone_is_written_by_its_windows_name() {
    let rows = [
        ("Europe/Berlin", "W. Europe Standard Time"),
        ("Europe/Vienna", "W. Europe Standard Time"),
        ("Asia/Calcutta", "India Standard Time"),
        ("US/Eastern", "Eastern Standard Time"),
        ("UTC", "UTC"),
        ("Etc/UTC", "UTC"),
        // Windows has none: Graph takes many IANA names too.
        ("Antarctica/Troll", "Antarctica/Troll"),
    ];
    for (iana, expected) in rows {
        assert_eq!(zone_to(iana), expected, "{iana}");
    }
}

/// A zone that is written and read again has the same clock, though it may have another name.
#[test]
fn a_written_zone_has_the_same_clock() {
    let at = "2026-07-01T12:00:00Z".parse().expect("an instant");
    for iana in ["Europe/Vienna", "America/Toronto", "Asia/Kolkata", "Australia/Melbourne", "Africa/Cairo"] {
        let back = zone_from(&zone_to(iana), "UTC");
        let offset = |name: &str| recurrence::zone(name).expect("a zone").to_offset(at);
        assert_eq!(offset(&back), offset(iana), "{iana} came back as {back}");
    }
}
