//! `lifecycle.check`: from URL and credentials to the account, the homes of its collections and its addresses. CalDAV and CardDAV
//! are looked for each, and one of them is enough.

use connector_sdk::{Context, Failure, Outcome, code, http};
use model::wire::Account;
use serde_json::{Map, Value, json};
use url::Url;

use crate::calendar::notify::{KEEPS_SILENCE, keeps_silence};
use crate::contacts::VERSIONS;
use crate::contacts::books::versions_at;
use crate::text::without_prefix;
use crate::webdav::discovery::{AccountLocation, CALENDARS, CONTACTS, Service, discover};
use crate::webdav::multistatus::Member;
use crate::webdav::xml::{CALDAV, DAV, Element};
use crate::webdav::{Client, elsewhere, origin_of};

/// The properties of the principal.
#[derive(Default)]
struct Principal {
    url: Option<Url>,
    /// Each with its service's [`Service::setting`].
    homes: Vec<(&'static str, Url)>,
    addresses: Vec<String>,
    outbox: Option<Url>,
    inbox: Option<Url>,
    name: Option<String>,
}

impl Principal {
    fn homes(&self, service: &Service) -> impl Iterator<Item = &Url> {
        self.homes.iter().filter(|(setting, _)| *setting == service.setting).map(|(_, home)| home)
    }

    fn home(&self, service: &Service) -> Option<Url> {
        self.homes(service).next().cloned()
    }

    /// The origins of everything that later calls use, but for the given server's own.
    fn origins(&self, base: &Url) -> Vec<String> {
        let places = [&self.url, &self.outbox, &self.inbox].into_iter().flatten();
        let places = places.chain(self.homes.iter().map(|(_, home)| home));
        let other = places.filter(|url| url.origin() != base.origin());
        let mut origins: Vec<String> = other.map(|url| url.origin().ascii_serialization()).collect();
        origins.sort();
        origins.dedup();
        origins
    }

    fn forget(&mut self, service: &Service) {
        self.homes.retain(|(setting, _)| *setting != service.setting);
    }
}

/// A refusal that looking again later would meet again.
fn is_lasting(failure: &Failure) -> bool {
    [code::NOT_FOUND, code::FORBIDDEN, code::UNSUPPORTED, code::INVALID].contains(&failure.code.as_str())
}

pub fn check(cx: &Context) -> Outcome<Account> {
    match account(cx) {
        // Once the host has accepted that server too, it asks again.
        Err(failure)
            if origin_of(&failure)
                .is_some_and(|origin| origin.starts_with("https:") && !cx.is_accepted(origin)) =>
        {
            let known = cx.connection.settings.get("discoveredOrigins").and_then(Value::as_array);
            let known = known.into_iter().flatten().filter_map(|origin| Some(origin.as_str()?.to_owned()));
            let new = origin_of(&failure).map(str::to_owned);
            Ok(Account { discovered_origins: known.chain(new).collect(), ..Account::default() })
        }
        found => found,
    }
}

fn account(cx: &Context) -> Outcome<Account> {
    let client = Client::new(cx)?;
    let mut principal = principal(&client)?;
    let (mut classes, mut is_silent) = (Vec::new(), false);
    if let Some(home) = principal.home(&CALENDARS) {
        (classes, is_silent) = abilities(&client, &home)?;
        // A calendar home on a server without CalDAV does not count, even if the principal names it; the address books may still be good.
        if !classes.iter().any(|class| class == "calendar-access") {
            principal.forget(&CALENDARS);
        }
    }
    let mut versions = None;
    if let Some(home) = principal.home(&CONTACTS) {
        match versions_at(&client, &home) {
            Ok(found) => versions = Some(found),
            // Some servers name a home for address books that they do not have.
            Err(failure) if principal.home(&CALENDARS).is_some() && is_lasting(&failure) => {
                principal.forget(&CONTACTS);
            }
            Err(failure) => return Err(failure),
        }
    }
    let Some((_, home)) = principal.homes.first() else {
        return Err(Failure::invalid(
            "the server at settings.serverUrl does not offer calendars (RFC 4791 calendar-access)",
        ));
    };
    for place in [&mut principal.outbox, &mut principal.inbox] {
        place.take_if(|url| !client.reaches(url));
    }
    let mut settings = settings(&principal, &classes);
    settings.insert(KEEPS_SILENCE.into(), json!(is_silent));
    settings.extend(versions.map(|versions| (VERSIONS.to_owned(), json!(versions))));
    let mails = mails(cx, &principal.addresses);
    let mut aliases = mails.clone();
    aliases.sort();
    aliases.dedup();
    aliases.retain(|alias| Some(alias) != mails.first());
    // Task lists are calendars' collections: where there is none, one can be made.
    let surfaces = [("calendar", &CALENDARS), ("contacts", &CONTACTS), ("tasks", &CALENDARS)];
    let has = |service: &Service| principal.home(service).is_some();
    Ok(Account {
        external_account_id: principal.url.as_ref().unwrap_or(home).to_string(),
        email: mails.first().cloned(),
        aliases,
        display_name: principal.name.clone(),
        time_zone: None,
        surfaces: surfaces.into_iter().filter(|(_, s)| has(s)).map(|(name, _)| name.to_owned()).collect(),
        provider_scopes: Vec::new(),
        settings,
        discovered_origins: principal.origins(client.base()),
    })
}

/// The account's mail addresses, lower case.
fn mails(cx: &Context, addresses: &[String]) -> Vec<String> {
    let given =
        addresses.iter().filter_map(|address| without_prefix(address, "mailto:")).map(str::to_lowercase);
    let username = cx.connection.username.iter().filter(|name| name.contains('@'));
    given.chain(username.map(|name| name.to_lowercase())).collect()
}

/// Finds the principals of both services on this server. Usually one principal names the homes of both; where it does not, the other
/// service is looked for at its own well-known URI.
fn principal(client: &Client) -> Outcome<Principal> {
    let mut all = Principal::default();
    let mut refused = None;
    for service in [&CALENDARS, &CONTACTS] {
        if all.home(service).is_some() {
            continue;
        }
        let found = discover(client, service, all.url.as_ref());
        match found.and_then(|found| take(client, &mut all, found, service)) {
            Ok(()) => {}
            // The service may well be there: it is better to look again later.
            Err(failure) if [code::RATE_LIMITED, code::TIMEOUT].contains(&failure.code.as_str()) => {
                return Err(failure);
            }
            // Wrong credentials are not tried more often than needed: accounts get locked.
            Err(failure) if failure.code == code::AUTH_EXPIRED && all.homes.is_empty() => {
                return Err(failure);
            }
            // Of two refusals the first is reported.
            Err(failure) => refused = refused.or(Some(failure)),
        }
    }
    if !all.homes.is_empty() {
        return Ok(all);
    }
    Err(refused.unwrap_or_else(|| {
        Failure::invalid("the account has neither a calendar home nor an address book home at this provider")
    }))
}

/// Adds the results of the discovery of a service.
fn take(client: &Client, all: &mut Principal, found: AccountLocation, service: &Service) -> Outcome<()> {
    let url = match found {
        AccountLocation::Home(home) => {
            all.homes.push((service.setting, home));
            return Ok(());
        }
        AccountLocation::Principal(url) => url,
    };
    if !client.reaches(&url) {
        return Err(elsewhere(&url));
    }
    let mut read = read(client, url)?;
    let other = read.homes.iter().map(|(_, home)| home).find(|home| !client.reaches(home)).map(elsewhere);
    read.homes.retain(|(setting, home)| client.reaches(home) && all.homes.iter().all(|(s, _)| s != setting));
    let missing = read.homes(service).next().is_none();
    let homes = all.homes.drain(..).chain(read.homes.drain(..)).collect();
    let first = if all.url.is_some() { std::mem::take(all) } else { read };
    *all = Principal { homes, ..first };
    other.filter(|_| missing).map_or(Ok(()), Err)
}

fn read(client: &Client, url: Url) -> Outcome<Principal> {
    let names = [
        CALENDARS.home_set,
        CONTACTS.home_set,
        (CALDAV, "calendar-user-address-set"),
        (CALDAV, "schedule-outbox-URL"),
        (CALDAV, "schedule-inbox-URL"),
        (DAV, "displayname"),
    ];
    let member = client.propfind(&url, "0", &names, "reading the account")?.single();
    let urls =
        |name| hrefs(&member, name).into_iter().filter_map(|href| url.join(&href).ok()).collect::<Vec<_>>();
    let homes = [&CALENDARS, &CONTACTS].into_iter().flat_map(|service| {
        urls(service.home_set).into_iter().map(|home| (service.setting, home)).collect::<Vec<_>>()
    });
    Ok(Principal {
        homes: homes.collect(),
        outbox: urls((CALDAV, "schedule-outbox-URL")).into_iter().next(),
        inbox: urls((CALDAV, "schedule-inbox-URL")).into_iter().next(),
        addresses: hrefs(&member, (CALDAV, "calendar-user-address-set")),
        name: member.text(DAV, "displayname").map(str::to_owned),
        url: Some(url),
    })
}

fn hrefs(member: &Member, (namespace, name): (&str, &str)) -> Vec<String> {
    let element = member.property(namespace, name);
    element.into_iter().flat_map(Element::hrefs).map(str::to_owned).collect()
}

/// The tokens of the `DAV` header (RFC 4918 section 10.1), and whether the server notifies no attendee of a write that asks for it.
fn abilities(client: &Client, home: &Url) -> Outcome<(Vec<String>, bool)> {
    let response = client.cx.send(http::Request::new("OPTIONS", home.as_str()))?;
    if !response.is_success() {
        return Err(client.failure(&response, "asking what the server can do"));
    }
    let headers = response.headers.iter().filter(|(name, _)| name == "dav");
    let classes = headers.flat_map(|(_, value)| value.split(',')).map(|token| token.trim().to_owned());
    Ok((classes.collect(), response.header("server").is_some_and(keeps_silence)))
}

/// Returns the settings that the host sends with every call.
fn settings(principal: &Principal, classes: &[String]) -> Map<String, Value> {
    let mut settings = Map::new();
    for service in [&CALENDARS, &CONTACTS] {
        let homes: Vec<&str> = principal.homes(service).map(Url::as_str).collect();
        if let Some(home) = homes.first() {
            settings.insert(service.setting.into(), json!(home));
        }
        if homes.len() > 1 {
            settings.insert(format!("{}s", service.setting), json!(homes));
        }
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
