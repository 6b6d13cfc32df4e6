//! Addresses of contacts and their folders.

use connector_sdk::Outcome;
use connector_sdk::http::Request;

use crate::contacts::dates::ANNIVERSARY;
use crate::odata::root;

/// The external id of the default book. Graph knows its folder by this name, and does not list it.
pub const DEFAULT_BOOK: &str = "contacts";

const FOLDERS: &str = "contactFolders";
const CONTACTS: &str = "contacts";

/// Returns an address below the list of folders.
pub fn folders(below: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    root::me(&[&[FOLDERS][..], below].concat(), query)
}

/// Returns the path of a folder's contacts below the account.
pub fn path(book: &str) -> [&str; 3] {
    [FOLDERS, book, CONTACTS]
}

/// Returns an address below the contacts of a folder.
pub fn contacts(book: &str, below: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    root::me(&[&path(book)[..], below].concat(), query)
}

/// Returns the request for a contact with the one property that Graph has no name for.
pub fn contact_request(book: &str, id: &str) -> Outcome<Request> {
    let expand = format!("singleValueExtendedProperties($filter=id eq '{ANNIVERSARY}')");
    Ok(Request::get(contacts(book, &[id], &[("$expand", &expand)])?))
}

/// Returns the request for the description of a contact's picture.
pub fn picture_request(book: &str, id: &str) -> Outcome<Request> {
    Ok(Request::get(contacts(book, &[id, "photo"], &[])?))
}
