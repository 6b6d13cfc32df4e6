//! Names in manifests that become parts of file names and addresses.

/// Whether `name` is 1 to 40 of a-z, 0-9 and `-`, not starting with `-`.
pub(super) fn is_name(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !name.starts_with('-')
}
