//! Calendars: listing, making, changing, deleting.

use connector_sdk::{Answer, Context, Failure, Outcome, code, http};
use model::calendar::{AccessRole, Calendar, IncludeInAvailability};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Item, JsonText, Mutated, Source, Sources, Warning,
};
use url::Url;

use crate::calendar::{Session, list_setting, stable_id};
use crate::ical::colors;
use crate::ical::lines::{components, line, line_text};
use crate::ical::resource::{empty, parse, print};
use crate::ical::write::Changed;
use crate::ical::zones::{ZoneCache, definition};
use crate::webdav::multistatus::{Member, Multistatus};
use crate::webdav::xml::{APPLE, CALDAV, DAV, Element, escape};
use crate::webdav::{Name, qualified, request, text_element};

/// What is read of a calendar.
const NAMES: [Name; 10] = [
    (DAV, "resourcetype"),
    (DAV, "displayname"),
    (DAV, "owner"),
    (DAV, "current-user-privilege-set"),
    (CALDAV, "calendar-description"),
    (CALDAV, "supported-calendar-component-set"),
    (CALDAV, "calendar-timezone"),
    (CALDAV, "calendar-timezone-id"),
    (CALDAV, "schedule-calendar-transp"),
    (APPLE, "calendar-color"),
];

pub fn list(cx: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
    let session = Session::new(cx, None)?;
    let mut homes: Vec<Url> =
        list_setting(cx, "calendarHomeUrls").filter_map(|home| session.client.url(home).ok()).collect();
    if homes.is_empty() {
        homes.push(session.client.base().clone());
    }
    let mut found = Vec::new();
    for home in &homes {
        let listed = session.client.propfind(home, "1", &NAMES, "listing calendars")?;
        found.extend(listed.responses.iter().filter_map(|member| session.calendar(home, member)));
    }
    let default = session.default_calendar();
    // A server need not name a default; something has to be the one that is meant when nobody says which.
    let primary =
        default.filter(|id| found.iter().any(|(found, _)| found == id)).or_else(|| first_usable(&found));
    let sources = found
        .into_iter()
        .map(|(id, mut calendar)| {
            calendar.is_primary = primary.as_ref() == Some(&id);
            source(id, &calendar)
        })
        .collect::<Outcome<Vec<Source>>>()?;
    Ok(Answer::whole(Sources { sources, enumeration: true }))
}

fn first_usable(found: &[(String, Calendar)]) -> Option<String> {
    let last = |id: &str| id.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_lowercase();
    let writable = || found.iter().filter(|(_, calendar)| calendar.is_owned && !calendar.read_only);
    let named =
        writable().find(|(id, _)| ["default", "calendar", "personal", "home"].contains(&last(id).as_str()));
    named.or_else(|| writable().min_by(|a, b| a.0.cmp(&b.0))).map(|(id, _)| id.clone())
}

fn source(id: String, calendar: &Calendar) -> Outcome<Source> {
    let body = JsonText::of(calendar).map_err(|error| Failure::new(code::INTERNAL, error.to_string()))?;
    let item = Item { external_id: id.clone(), body, ..Item::default() };
    Ok(Source { external_id: id, items: vec![item], ..Source::default() })
}

pub fn create(cx: &Context, args: CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let session = Session::new(cx, None)?;
    let mut home = session.client.base().clone();
    if !home.path().ends_with('/') {
        home.set_path(&format!("{}/", home.path()));
    }
    let name = stable_id(cx, "calendar");
    let url = home
        .join(&format!("{name}/"))
        .map_err(|_| Failure::invalid("settings.calendarHomeUrl is no folder"))?;
    let components = format!(
        "<{0}><C:comp name=\"VEVENT\"/></{0}>",
        qualified((CALDAV, "supported-calendar-component-set"))
    );
    let set = components + &properties(&args.body, &Changed(&args.changed)).set;
    let body = format!("<C:mkcalendar><D:set><D:prop>{set}</D:prop></D:set></C:mkcalendar>");
    let response = cx.send(request("MKCALENDAR", &url, "0", &body))?;
    let mut warnings = Vec::new();
    match response.status {
        200 | 201 => {}
        // Taken: the first attempt of this very create made it.
        403 | 405 | 409 if session.read_calendar(&url).is_ok() => {}
        // RFC 4791 section 5.3.1.1: one property that the server does not take fails the whole request.
        207 | 403 | 424 => {
            let plain = text_element((DAV, "displayname"), &args.body.name);
            let body = format!("<C:mkcalendar><D:set><D:prop>{plain}</D:prop></D:set></C:mkcalendar>");
            let again = cx.send(request("MKCALENDAR", &url, "0", &body))?;
            if !again.is_success() {
                return Err(session.client.failure(&again, "creating a calendar"));
            }
            warnings = session.patch(&url, &args.body, &Changed(&args.changed))?;
        }
        _ => return Err(session.client.failure(&response, "creating a calendar")),
    }
    session.mutated(&url, warnings)
}

pub fn update(cx: &Context, args: CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let session = Session::new(cx, None)?;
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let url = session.client.url(id)?;
    let warnings = session.patch(&url, &args.body, &Changed(&args.changed))?;
    session.mutated(&url, warnings)
}

pub fn delete(cx: &Context, args: CollectionDelete) -> Outcome<Mutated> {
    let session = Session::new(cx, None)?;
    let url = session.client.url(&args.source)?;
    let response = cx.send(http::Request::delete(url.as_str()))?;
    match response.status {
        200..=299 | 404 | 410 => {}
        _ => return Err(session.client.failure(&response, "deleting this calendar")),
    }
    let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
    Ok(Mutated { sources: vec![gone], ..Mutated::default() })
}

/// Properties to set (as XML) and to remove.
struct Properties {
    set: String,
    remove: Vec<Name>,
}

fn properties(calendar: &Calendar, changed: &Changed) -> Properties {
    let mut all = Properties { set: String::new(), remove: Vec::new() };
    let mut text = |field: &str, name: Name, value: Option<&str>| {
        if changed.has(field) {
            match value.filter(|value| !value.is_empty()) {
                Some(value) => all.set.push_str(&text_element(name, value)),
                None => all.remove.push(name),
            }
        }
    };
    text("name", (DAV, "displayname"), Some(&calendar.name));
    text("description", (CALDAV, "calendar-description"), calendar.description.as_deref());
    text("color", (APPLE, "calendar-color"), calendar.color.as_deref());
    let zone = calendar.time_zone.as_deref().and_then(zone_object);
    text("timeZone", (CALDAV, "calendar-timezone"), zone.as_deref());
    if changed.has("includeInAvailability") {
        let word = if calendar.include_in_availability == IncludeInAvailability::None {
            "transparent"
        } else {
            "opaque"
        };
        let name = qualified((CALDAV, "schedule-calendar-transp"));
        all.set.push_str(&format!("<{name}><C:{}/></{name}>", escape(word)));
    }
    all
}

/// `calendar-timezone` (RFC 4791 section 5.2.2): an object with one VTIMEZONE.
fn zone_object(name: &str) -> Option<String> {
    let zone = recurrence::zone(name).ok()?;
    let mut calendar = empty();
    calendar
        .push_component(definition(zone.iana_name()?, jiff::Timestamp::from_second(1_767_225_600).ok()?)?);
    Some(print(&calendar))
}

impl Session<'_> {
    /// PROPPATCH; a property that the server does not take becomes a warning, unless it took none.
    fn patch(&self, url: &Url, calendar: &Calendar, changed: &Changed) -> Outcome<Vec<Warning>> {
        let Properties { set, remove } = properties(calendar, changed);
        if set.is_empty() && remove.is_empty() {
            return Ok(Vec::new());
        }
        let set = if set.is_empty() { set } else { format!("<D:set><D:prop>{set}</D:prop></D:set>") };
        let gone: String = remove.iter().map(|name| format!("<{}/>", qualified(*name))).collect();
        let gone =
            if gone.is_empty() { gone } else { format!("<D:remove><D:prop>{gone}</D:prop></D:remove>") };
        let body = format!("<D:propertyupdate>{set}{gone}</D:propertyupdate>");
        let response = self.cx().send(request("PROPPATCH", url, "0", &body))?;
        if response.status != 207 {
            return if response.is_success() {
                Ok(Vec::new())
            } else {
                Err(self.client.failure(&response, "changing this calendar"))
            };
        }
        let member = Multistatus::read(&response, "changing this calendar")?.single();
        // Removing what is not there is no failure (RFC 4918 section 14.23).
        let refused: Vec<_> = member.refused.iter().filter(|(_, _, status)| *status != 404).collect();
        if let Some((_, name, status)) = refused.iter().find(|(_, _, status)| *status != 424) {
            let failure =
                Failure::invalid(format!("the provider does not let {name} of this calendar be changed"));
            return Err(Failure { http_status: Some(*status), ..failure });
        }
        Ok(Vec::new())
    }

    fn read_calendar(&self, url: &Url) -> Outcome<(String, Calendar)> {
        let member = self.client.propfind(url, "0", &NAMES, "reading a calendar")?.single();
        self.calendar(url, &member).ok_or_else(|| Failure::not_found("there is no calendar with this id"))
    }

    fn mutated(&self, url: &Url, warnings: Vec<Warning>) -> Outcome<Mutated> {
        let (id, mut calendar) = self.read_calendar(url)?;
        calendar.is_primary = self.default_calendar().as_ref() == Some(&id);
        Ok(Mutated {
            item: Some(id.clone()),
            sources: vec![source(id, &calendar)?],
            warnings,
            ..Mutated::default()
        })
    }

    /// `schedule-default-calendar-URL` (RFC 6638 section 9.2) of the inbox.
    fn default_calendar(&self) -> Option<String> {
        let inbox = self.client.url(self.cx().setting("scheduleInboxUrl")?).ok()?;
        let names = [(CALDAV, "schedule-default-calendar-URL")];
        let member = self.client.propfind(&inbox, "0", &names, "finding the default calendar").ok()?.single();
        let href = member.property(CALDAV, "schedule-default-calendar-URL")?.hrefs().next()?.to_owned();
        self.client.id_of(&inbox, &href)
    }

    /// A member of a home as a calendar; none where it is something else, or holds no events.
    fn calendar(&self, at: &Url, member: &Member) -> Option<(String, Calendar)> {
        member.property(DAV, "resourcetype")?.child(CALDAV, "calendar")?;
        let kinds = member.property(CALDAV, "supported-calendar-component-set");
        let holds_events = |kinds: &Element| {
            let mut names = kinds.all(CALDAV, "comp").filter_map(|kind| kind.attribute("name"));
            kinds.children.is_empty() || names.any(|name| name.eq_ignore_ascii_case("VEVENT"))
        };
        if !kinds.is_none_or(holds_events) {
            return None;
        }
        let id = self.client.id_of(at, &member.href)?;
        let role = self.role(at, member);
        let folder = id.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let transparent = member
            .property(CALDAV, "schedule-calendar-transp")
            .is_some_and(|transparency| transparency.child(CALDAV, "transparent").is_some());
        let calendar = Calendar {
            name: member.text(DAV, "displayname").map_or(folder, str::to_owned),
            description: member.text(CALDAV, "calendar-description").map(str::to_owned),
            time_zone: time_zone(member),
            color: member.text(APPLE, "calendar-color").and_then(colors::hex),
            is_owned: role == AccessRole::Owner,
            read_only: matches!(role, AccessRole::Reader | AccessRole::FreeBusyReader),
            access_role: role,
            include_in_availability: if transparent {
                IncludeInAvailability::None
            } else {
                IncludeInAvailability::All
            },
            ..Calendar::default()
        };
        Some((id, calendar))
    }

    /// RFC 3744: what the account may do; the owner's right where the server has no access control.
    fn role(&self, at: &Url, member: &Member) -> AccessRole {
        let principal = self.cx().setting("principalUrl").and_then(|url| self.client.url(url).ok());
        let owner = member.property(DAV, "owner").and_then(|owner| owner.hrefs().next()).map(str::to_owned);
        let owned = match (principal, owner) {
            (Some(principal), Some(owner)) => {
                self.client.id_of(at, &owner) == Some(self.client.id(&principal))
            }
            _ => true,
        };
        let Some(privileges) = member.property(DAV, "current-user-privilege-set") else {
            return if owned { AccessRole::Owner } else { AccessRole::Writer };
        };
        let may = |namespace: &str, name: &str| {
            privileges.all(DAV, "privilege").any(|privilege| privilege.child(namespace, name).is_some())
        };
        let writes = may(DAV, "all") || may(DAV, "write") || may(DAV, "write-content") || may(DAV, "bind");
        match (writes, may(DAV, "all") || may(DAV, "read")) {
            (true, _) if owned => AccessRole::Owner,
            (true, _) => AccessRole::Writer,
            (false, true) => AccessRole::Reader,
            (false, false) => AccessRole::FreeBusyReader,
        }
    }
}

/// The calendar's zone: by name (RFC 7809) or from its VTIMEZONE.
fn time_zone(member: &Member) -> Option<String> {
    if let Some(zone) =
        member.text(CALDAV, "calendar-timezone-id").and_then(|name| recurrence::zone(name).ok())
    {
        return zone.iana_name().map(str::to_owned);
    }
    let data = &member.property(CALDAV, "calendar-timezone")?.text;
    let calendar = parse(data.trim_start()).ok()?;
    let tzid =
        components(&calendar, "VTIMEZONE").next().and_then(|zone| line(zone, "TZID")).map(line_text)?;
    let zone = ZoneCache::default().zone(&calendar, &tzid, 2026);
    zone.is_iana().then(|| zone.name.clone())
}
