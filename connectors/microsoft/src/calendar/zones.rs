//! Names of time zones: Graph gives Windows names and IANA's, and takes Windows names for certain.

use recurrence::{iana_from_windows, iana_zone, windows_from_iana};

/// The zone of a mailbox that has none that is known.
const FALLBACK: &str = "UTC";
/// The beginning of names of Outlook's own, such as `tzone://Microsoft/Utc`.
const OWN_NAMES: &str = "tzone://microsoft/";

/// Returns the IANA name of a zone that Graph names. `mailbox`: the IANA name of the mailbox's zone, which counts where Graph gives a zone
/// of somebody's own (`tzone://Microsoft/Custom`), or none at all.
pub fn zone_from(name: &str, mailbox: &str) -> String {
    let name = name.trim();
    let lower = name.to_ascii_lowercase();
    let found = match lower.strip_prefix(OWN_NAMES) {
        Some("utc") => Some("UTC"),
        Some(_) => None,
        None if lower == "utc" => Some("UTC"),
        None => iana_from_windows(name),
    };
    let iana = || iana_zone(name).ok()?.iana_name().map(str::to_owned);
    let mailbox = || Some(mailbox.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
    found.map(str::to_owned).or_else(iana).or_else(mailbox).unwrap_or_else(|| FALLBACK.to_owned())
}

/// Returns the name under which Graph takes a zone: the Windows name, else the IANA name itself, most of which it takes too.
pub fn zone_to(iana: &str) -> String {
    windows_from_iana(iana).unwrap_or(iana).to_owned()
}
