//! The name of an application in the addresses of its booking pages, `/book/{handle}/{slug}`: its id without the prefix, or a name that the
//! operator set. An application with a name can also be addressed by its id.

use base::error::Result;
use base::ids::Kind;
use storage::scheduling::applications;

use crate::app::App;

/// Fewest and most characters of a name that an operator sets.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=40;
/// Path segments that `/book/` itself uses.
const RESERVED: [&str; 2] = ["assets", "embed"];
/// Characters of an id without its prefix.
const ID_LENGTH: usize = 26;

/// The application's handle: the one that was set, else the default derived from its id.
pub async fn for_application(app: &App, application_id: &str) -> Result<String> {
    let given = applications::handle(app.db.reader(), application_id).await?;
    Ok(given.unwrap_or_else(|| from_id(application_id)))
}

/// The default handle of an application: its id without the prefix, in lower case.
pub fn from_id(application_id: &str) -> String {
    let unique = application_id.split_once('_').map_or(application_id, |(_, unique)| unique);
    unique.to_ascii_lowercase()
}

/// The application id of a handle from `from_id`; none if it is no such handle.
pub fn application_of(handle: &str) -> Option<String> {
    has_form_of_id(handle).then(|| format!("{}_{}", Kind::Application.prefix(), handle.to_ascii_uppercase()))
}

fn has_form_of_id(handle: &str) -> bool {
    handle.len() == ID_LENGTH && handle.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Validates a handle that an operator sets.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn parse(text: &str) -> std::result::Result<String, String> {
    let is_inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let fits = LENGTHS.contains(&text.len())
        && text.bytes().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if !fits {
        return Err(format!(
            "a handle has {} to {} characters: lower-case letters, digits and - (neither first nor last)",
            LENGTHS.start(),
            LENGTHS.end()
        ));
    }
    if RESERVED.contains(&text) {
        return Err(format!("\"{text}\" is an address of the service itself: choose another handle"));
    }
    if has_form_of_id(text) {
        return Err(format!(
            "{ID_LENGTH} letters and digits are the form of an application's id: choose another handle, or write --clear for the id"
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_a_word_that_nothing_else_has() {
        for good in
            ["acme", "a-1", "123", "north--east", "xxxxxxxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxx-x"]
        {
            assert_eq!(parse(good).as_deref(), Ok(good));
        }
        for bad in ["", "b", "ab", "Acme", "a_b", "a.b", "a/b", "-ab", "ab-", "ümlaut", "assets", "embed"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse(&"x".repeat(40)).is_ok() && parse(&"x".repeat(41)).is_err());
        let said = parse("01jq8z6v9c4t7r2m5n8p3k1w0x").unwrap_err();
        assert!(said.contains("--clear"), "{said}");
    }

    #[test]
    fn a_handle_of_an_id_leads_back_to_it() {
        let id = "app_01JQ8Z6V9C4T7R2M5N8P3K1W0X";
        assert_eq!(application_of(&from_id(id)).as_deref(), Some(id));
        for other in ["acme", "01jq8z6v9c4t7r2m5n8p3k1w0", "01jq8z6v9c4t-r2m5n8p3k1w0x"] {
            assert_eq!(application_of(other), None, "{other}");
        }
    }
}
