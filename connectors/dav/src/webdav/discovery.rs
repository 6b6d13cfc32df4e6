//! From the URL that a user types to the account's principal, for CalDAV and CardDAV: RFC 6764 section 6 (well-known URI, current-user-principal).

use connector_sdk::{Failure, Outcome, code};
use url::Url;

use crate::webdav::multistatus::Multistatus;
use crate::webdav::xml::{CALDAV, CARDDAV, DAV, Element};
use crate::webdav::{Client, Name};

/// The service to look for.
pub struct Service {
    /// The last segment of its well-known URI.
    pub well_known: &'static str,
    /// The principal's property that names its homes.
    pub home_set: Name,
    /// The `DAV:resourcetype` of its collections.
    pub collection: Name,
    /// The connection's setting with the home of its collections; with an `s`, where there are several, the one with all of them.
    pub setting: &'static str,
}

/// CalDAV (RFC 4791): calendars and task lists.
pub const CALENDARS: Service = Service {
    well_known: "caldav",
    home_set: (CALDAV, "calendar-home-set"),
    collection: (CALDAV, "calendar"),
    setting: "calendarHomeUrl",
};

/// CardDAV (RFC 6352): address books.
pub const CONTACTS: Service = Service {
    well_known: "carddav",
    home_set: (CARDDAV, "addressbook-home-set"),
    collection: (CARDDAV, "addressbook"),
    setting: "addressbookHomeUrl",
};

/// The location of the account.
pub enum AccountLocation {
    /// The principal of the credentials; homes are among its properties.
    Principal(Url),
    /// No principal, but collections of the service are here.
    Home(Url),
}

/// Tries the given URL, the well-known URI and the server's root. The given path comes first where there is one: a server may
/// host several services, and the user pointed at one. A `known` principal is skipped: it has no home of this service.
pub fn discover(client: &Client, service: &Service, known: Option<&Url>) -> Outcome<AccountLocation> {
    let given = client.base().clone();
    let at = |path: &str| {
        let mut url = given.clone();
        url.set_path(path);
        url.set_query(None);
        url
    };
    let well_known = at(&format!("/.well-known/{}", service.well_known));
    let candidates = match given.path() {
        "" | "/" => vec![well_known, at("/")],
        _ => vec![given.clone(), well_known, at("/")],
    };
    let mut refused = None;
    for candidate in candidates {
        match locate_account(client, service, &candidate) {
            Ok(Some(AccountLocation::Principal(url))) if Some(&url) == known => {}
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(failure) if is_final(&failure) => return Err(failure),
            Err(failure) => refused = Some(failure),
        }
    }
    Err(refused.unwrap_or_else(|| {
        Failure::invalid(
            "no CalDAV or CardDAV service was found at settings.serverUrl; give the server's own URL",
        )
    }))
}

/// Trying another path cannot help.
fn is_final(failure: &Failure) -> bool {
    [code::AUTH_EXPIRED, code::RATE_LIMITED, code::TIMEOUT].contains(&failure.code.as_str())
        || failure.http_status.is_none()
}

fn locate_account(client: &Client, service: &Service, url: &Url) -> Outcome<Option<AccountLocation>> {
    let names =
        [(DAV, "current-user-principal"), (DAV, "principal-URL"), (DAV, "resourcetype"), service.home_set];
    let (at, response) = client.propfind_following(url, &names)?;
    match response.status {
        207 => {}
        // Not there, or something that does not speak WebDAV at all.
        400 | 404 | 405 | 410 | 501 => return Ok(None),
        200..=399 => return Ok(None),
        _ => return Err(client.failure(&response, "looking for the account")),
    }
    let member = Multistatus::read(&response, "looking for the account")?.single();
    let first = |element: Option<&Element>| {
        element.and_then(|e| e.hrefs().next()).and_then(|href| at.join(href).ok())
    };
    if let Some(principal) = first(member.property(DAV, "current-user-principal")) {
        return Ok(Some(AccountLocation::Principal(principal)));
    }
    let unauthenticated = member.property(DAV, "current-user-principal");
    if unauthenticated.is_some_and(|element| element.child(DAV, "unauthenticated").is_some()) {
        return Err(Failure::new(
            code::AUTH_EXPIRED,
            "the provider treats the credentials as unauthenticated",
        ));
    }
    // RFC 5397 is not implemented: this may be the principal itself, or a place with collections.
    if first(member.property(service.home_set.0, service.home_set.1)).is_some() {
        return Ok(Some(AccountLocation::Principal(at)));
    }
    Ok(is_home(client, service, &at)?.then_some(AccountLocation::Home(at)))
}

fn is_home(client: &Client, service: &Service, url: &Url) -> Outcome<bool> {
    let Ok(inside) = client.propfind(url, "1", &[(DAV, "resourcetype")], "looking for collections") else {
        return Ok(false);
    };
    let (namespace, name) = service.collection;
    let is_collection =
        |kind: Option<&Element>| kind.is_some_and(|kind| kind.child(namespace, name).is_some());
    Ok(inside.responses.iter().any(|member| is_collection(member.property(DAV, "resourcetype"))))
}
