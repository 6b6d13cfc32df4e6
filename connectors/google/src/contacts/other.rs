//! Other contacts: people whom the account has exchanged mail with. Google lists them, and cannot be asked for one.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::contacts::ContactSource;
use model::wire::Source;

use crate::api::ask;
use crate::contacts::native::PeoplePage;
use crate::contacts::record::{deleted_source, head_of, listed_person};
use crate::roots;

/// The members that other contacts have.
pub const OTHER_FIELDS: &str = "emailAddresses,metadata,names,phoneNumbers,photos";

/// Other contacts of a page when one is looked for; Google's most.
const PAGE_SIZE: &str = "1000";
/// Pages that are looked through.
const MAX_PAGES: usize = 50;

/// Returns one other contact. Fails with `not-found` where the list does not have it.
pub fn get(context: &Context, name: &str) -> Outcome<Source> {
    let found = find(context, &[name])?.into_iter().next();
    found.ok_or_else(|| Failure::not_found("the account has no such other contact"))
}

/// Returns many other contacts; those that the list does not have are gone.
pub fn get_many(context: &Context, names: &[String]) -> Outcome<Vec<Source>> {
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut sources = find(context, &wanted)?;
    let missing = wanted.iter().filter(|name| !sources.iter().any(|source| source.external_id == **name));
    let missing: Vec<Source> = missing.map(|name| deleted_source(name)).collect();
    sources.extend(missing);
    Ok(sources)
}

/// Looks through the list until all of these are found. Fails where it is too long to be looked through.
fn find(context: &Context, names: &[&str]) -> Outcome<Vec<Source>> {
    let mut found = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..MAX_PAGES {
        if found.len() >= names.len() {
            return Ok(found);
        }
        let mut query = vec![("readMask", OTHER_FIELDS), ("pageSize", PAGE_SIZE)];
        query.extend(token.as_deref().map(|token| ("pageToken", token)));
        let request = Request::get(roots::people(&["otherContacts"], &query)?);
        let page: PeoplePage = ask(context, request, "listing the other contacts")?;
        for record in &page.other_contacts {
            if names.contains(&head_of(record).resource_name.as_str()) {
                found.extend(listed_person(record, ContactSource::Suggested));
            }
        }
        token = page.next_page_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(found);
        }
    }
    Err(Failure::unavailable("the account has too many other contacts to find one"))
}
