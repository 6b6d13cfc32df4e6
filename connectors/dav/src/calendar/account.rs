//! `lifecycle.check`: from URL and credentials to the account, its calendar homes and its addresses.

use connector_sdk::{Context, Failure, Outcome, http};
use model::wire::Account;
use serde_json::{Map, Value, json};
use url::Url;

use crate::calendar::Session;
use crate::webdav::discovery::{Found, Service, discover};
use crate::webdav::multistatus::Member;
use crate::webdav::xml::{CALDAV, DAV, Element};

/// CalDAV to WebDAV's discovery.
const SERVICE: Service = Service {
    well_known: "caldav",
    home_set: (CALDAV, "calendar-home-set"),
    collection: (CALDAV, "calendar"),
};

/// What the principal says.
#[derive(Default)]
struct Principal {
    url: Option<Url>,
    homes: Vec<Url>,
    addresses: Vec<String>,
    outbox: Option<Url>,
    inbox: Option<Url>,
    name: Option<String>,
}

pub fn check(cx: &Context) -> Outcome<Account> {
    let session = Session::new(cx, None)?;
    let principal = match discover(&session.client, &SERVICE)? {
        Found::Principal(url) => principal(&session, url)?,
        Found::Home(url) => Principal { homes: vec![url], ..Principal::default() },
    };
    let origin = session.client.base().origin();
    if let Some(elsewhere) = principal.homes.iter().find(|home| home.origin() != origin) {
        let place = elsewhere.origin().ascii_serialization();
        return Err(Failure::invalid(format!(
            "the provider keeps these calendars at {place}; give that as settings.serverUrl"
        )));
    }
    let home = principal
        .homes
        .first()
        .ok_or_else(|| Failure::invalid("the account has no calendar home at this provider"))?;
    let classes = classes(&session, home)?;
    if !classes.iter().any(|class| class == "calendar-access") {
        return Err(Failure::invalid(
            "the server at settings.serverUrl does not offer calendars (RFC 4791 calendar-access)",
        ));
    }
    let mails: Vec<String> = principal
        .addresses
        .iter()
        .filter_map(|address| {
            address
                .get(..7)
                .filter(|s| s.eq_ignore_ascii_case("mailto:"))
                .map(|_| address[7..].to_lowercase())
        })
        .chain(
            cx.connection.username.iter().filter(|name| name.contains('@')).map(|name| name.to_lowercase()),
        )
        .collect();
    let mut aliases = mails.clone();
    aliases.sort();
    aliases.dedup();
    aliases.retain(|alias| Some(alias) != mails.first());
    Ok(Account {
        external_account_id: principal.url.as_ref().unwrap_or(home).to_string(),
        email: mails.first().cloned(),
        aliases,
        display_name: principal.name.clone(),
        time_zone: None,
        surfaces: vec!["calendar".into()],
        provider_scopes: Vec::new(),
        settings: settings(&principal, home, &classes),
    })
}

fn principal(session: &Session, url: Url) -> Outcome<Principal> {
    let names = [
        (CALDAV, "calendar-home-set"),
        (CALDAV, "calendar-user-address-set"),
        (CALDAV, "schedule-outbox-URL"),
        (CALDAV, "schedule-inbox-URL"),
        (DAV, "displayname"),
    ];
    if url.origin() != session.client.base().origin() {
        let place = url.origin().ascii_serialization();
        return Err(Failure::invalid(format!(
            "the provider keeps this account at {place}; give that as settings.serverUrl"
        )));
    }
    let member = session.client.propfind(&url, "0", &names, "reading the account")?.single();
    let urls = |name: &str| {
        hrefs(&member, name).into_iter().filter_map(|href| url.join(&href).ok()).collect::<Vec<_>>()
    };
    Ok(Principal {
        homes: urls("calendar-home-set"),
        outbox: urls("schedule-outbox-URL").into_iter().next(),
        inbox: urls("schedule-inbox-URL").into_iter().next(),
        addresses: hrefs(&member, "calendar-user-address-set"),
        name: member.text(DAV, "displayname").map(str::to_owned),
        url: Some(url),
    })
}

fn hrefs(member: &Member, name: &str) -> Vec<String> {
    let element = member.property(CALDAV, name);
    element.into_iter().flat_map(Element::hrefs).map(str::to_owned).collect()
}

/// The tokens of the `DAV` header (RFC 4918 section 10.1).
fn classes(session: &Session, home: &Url) -> Outcome<Vec<String>> {
    let response = session.cx().send(http::Request::new("OPTIONS", home.as_str()))?;
    if !response.is_success() {
        return Err(session.client.failure(&response, "asking what the server can do"));
    }
    let headers = response.headers.iter().filter(|(name, _)| name == "dav");
    Ok(headers.flat_map(|(_, value)| value.split(',')).map(|token| token.trim().to_owned()).collect())
}

/// What comes back with every call.
fn settings(principal: &Principal, home: &Url, classes: &[String]) -> Map<String, Value> {
    let mut settings = Map::new();
    settings.insert("calendarHomeUrl".into(), json!(home.as_str()));
    if principal.homes.len() > 1 {
        settings.insert(
            "calendarHomeUrls".into(),
            json!(principal.homes.iter().map(Url::as_str).collect::<Vec<_>>()),
        );
    }
    let urls = [
        ("principalUrl", &principal.url),
        ("scheduleOutboxUrl", &principal.outbox),
        ("scheduleInboxUrl", &principal.inbox),
    ];
    for (name, url) in urls {
        if let Some(url) = url {
            settings.insert(name.into(), json!(url.as_str()));
        }
    }
    if !principal.addresses.is_empty() {
        settings.insert("calendarUserAddresses".into(), json!(principal.addresses));
    }
    settings.insert("davClasses".into(), json!(classes));
    settings
}
