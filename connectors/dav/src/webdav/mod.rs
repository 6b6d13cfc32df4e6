//! WebDAV (RFC 4918) over the host's `http`, shared by calendars, address books and task lists. This module does not depend on the content
//! of resources.

pub mod components;
pub mod discovery;
pub mod multistatus;
pub mod xml;

use connector_sdk::{Context, Failure, Outcome, code, http};
use url::Url;

use crate::webdav::multistatus::Multistatus;
use crate::webdav::xml::{APPLE, CALDAV, CALENDARSERVER, CARDDAV, DAV, Element, escape};

/// The maximum number of redirects that discovery follows.
const MAX_REDIRECTS: usize = 5;
/// The maximum size of an answer, in bytes: its bytes and its parsed tree together fit the memory class "standard".
const MAX_ANSWER_BYTES: u32 = 8 << 20;

/// A namespace and a local name.
pub type Name = (&'static str, &'static str);

/// The client for the server of a connection.
pub struct Client<'a> {
    pub cx: &'a Context<'a>,
    /// The URL that relative ids are resolved against.
    base: Url,
}

impl<'a> Client<'a> {
    /// Creates a client for the server that the user entered.
    pub fn new(cx: &'a Context<'a>) -> Outcome<Self> {
        let given = ["serverUrl", "calendarHomeUrl", "addressbookHomeUrl"];
        let given = given
            .into_iter()
            .find_map(|name| cx.setting(name))
            .ok_or_else(|| Failure::invalid("settings.serverUrl is missing"))?;
        let base =
            Url::parse(given).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let mut base = base.ok_or_else(|| {
            Failure::invalid(
                "settings.serverUrl must be an absolute http or https URL, such as https://dav.example.com/",
            )
        })?;
        base.set_fragment(None);
        // Credentials come from the host; those in a URL would end up in logs.
        if !base.username().is_empty() || base.password().is_some() {
            return Err(Failure::invalid("settings.serverUrl must not contain a user name or password"));
        }
        Ok(Client { cx, base })
    }

    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Whether a URL is on the server that the user entered, or on another one that the host has accepted for the account: iCloud has
    /// accounts on different servers.
    pub fn reaches(&self, url: &Url) -> bool {
        url.origin() == self.base.origin() || self.cx.is_accepted(&url.origin().ascii_serialization())
    }

    /// The URL of an external id. Ids are paths made by [`Client::id`], without query and without `.` and `..`.
    pub fn url(&self, id: &str) -> Outcome<Url> {
        let is_plain = |url: &Url| url.query().is_none() && url.fragment().is_none() && !has_step(id);
        let url = self.base.join(id).ok().filter(|url| self.reaches(url) && is_plain(url));
        url.ok_or_else(|| Failure::not_found("there is nothing with this id at the provider"))
    }

    /// The external id of a URL: the normalized path, because servers write the same href in different ways.
    pub fn id(&self, url: &Url) -> String {
        let path = normal_path(url.path());
        if url.origin() == self.base.origin() {
            path
        } else {
            format!("{}{path}", url.origin().ascii_serialization())
        }
    }

    /// The external id of an href, relative to the URL `at`.
    pub fn id_of(&self, at: &Url, href: &str) -> Option<String> {
        at.join(href).ok().map(|url| self.id(&url))
    }

    /// Sends a `PROPFIND` without following redirects.
    pub fn propfind(&self, url: &Url, depth: &str, names: &[Name], doing: &str) -> Outcome<Multistatus> {
        self.multistatus(request("PROPFIND", url, depth, &propfind_body(names)), doing)
    }

    /// Sends a `PROPFIND` and follows redirects. Returns the final URL and the answer.
    pub fn propfind_following(&self, url: &Url, names: &[Name]) -> Outcome<(Url, http::Response)> {
        let mut at = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.cx.send(request("PROPFIND", &at, "0", &propfind_body(names)));
            let response = response.map_err(|failure| match failure.code.as_str() {
                // The host allows only the origins that the user entered and those that it has accepted.
                code::FORBIDDEN if !self.reaches(&at) => elsewhere(&at),
                _ => failure,
            })?;
            let target = response
                .header("location")
                .filter(|_| response.is_redirect())
                .and_then(|to| at.join(to).ok());
            match target {
                Some(mut next) if matches!(next.scheme(), "http" | "https") => {
                    next.set_fragment(None);
                    at = next;
                }
                _ => return Ok((at, response)),
            }
        }
        Err(Failure::unavailable(format!("the provider redirects more than {MAX_REDIRECTS} times")))
    }

    /// Sends a `REPORT` whose answer is a multistatus.
    pub fn report(&self, url: &Url, depth: &str, body: &str, doing: &str) -> Outcome<Multistatus> {
        self.multistatus(request("REPORT", url, depth, body), doing)
    }

    fn multistatus(&self, request: http::Request, doing: &str) -> Outcome<Multistatus> {
        let response = self.cx.send(request)?;
        if response.status != 207 {
            return Err(self.failure(&response, doing));
        }
        Multistatus::read(&response, doing)
    }

    /// Sends a write. Fails with `unavailable` if the answer is a web page: a 200 from a proxy or login service does not confirm the write,
    /// and a resource that is wrongly considered deleted would never be reported again.
    pub fn write(&self, request: http::Request) -> Outcome<http::Response> {
        let response = self.cx.send(request)?;
        match is_web_page(&response) {
            true => {
                Err(Failure::unavailable("the provider's answer is a web page, as of a proxy or a login"))
            }
            false => Ok(response),
        }
    }

    /// Returns the failure for an unexpected status, with the violated preconditions in its detail.
    pub fn failure(&self, response: &http::Response, doing: &str) -> Failure {
        let failure = self.cx.failure(response, doing);
        match conditions(response) {
            conditions if conditions.is_empty() => failure,
            conditions => failure.with_detail(serde_json::json!({ "conditions": conditions })),
        }
    }
}

/// The bytes of an answer that are searched for HTML.
const PAGE_START: usize = 1 << 10;

/// Whether an answer with status 200 is an HTML page. With 201, servers send HTML pages themselves.
fn is_web_page(response: &http::Response) -> bool {
    let start = response.body.get(..PAGE_START).unwrap_or(&response.body);
    let start =
        String::from_utf8_lossy(start).trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    let is_html = start.starts_with('<') && ["<html", "<!doctype html"].iter().any(|tag| start.contains(tag));
    response.status == 200 && is_html
}

/// Whether a segment of a path is `.` or `..`, spelled in any way (WHATWG, URL, section 4.4).
fn has_step(path: &str) -> bool {
    let is_step = |segment: &str| matches!(segment.to_lowercase().replace("%2e", ".").as_str(), "." | "..");
    path.split(['/', '\\', '?', '#']).any(is_step)
}

/// The failure for an account on another server than the one that the user entered.
pub fn elsewhere(url: &Url) -> Failure {
    let place = url.origin().ascii_serialization();
    Failure::invalid(format!("the provider keeps this account at {place}; give that as settings.serverUrl"))
        .with_detail(serde_json::json!({ "origin": place }))
}

/// Returns the origin of the server in a failure of [`elsewhere`].
pub fn origin_of(failure: &Failure) -> Option<&str> {
    failure.detail.as_ref()?.get("origin")?.as_str()
}

/// The elements of a `DAV:error` body (RFC 4918 section 16): the violated preconditions.
pub fn conditions(response: &http::Response) -> Vec<String> {
    let error = Element::parse(&response.body).ok().filter(|root| root.is(DAV, "error"));
    let children = error.map(|error| error.children).unwrap_or_default();
    children
        .into_iter()
        .map(|child| child.name.into_owned())
        .filter(|name| name != "responsedescription")
        .collect()
}

/// A request with an XML body.
pub fn request(method: &str, url: &Url, depth: &str, body: &str) -> http::Request {
    let mut request = http::Request::new(method, url.as_str())
        .header("depth", depth)
        .body("application/xml; charset=utf-8", document(body));
    request.max_bytes = Some(MAX_ANSWER_BYTES);
    request
}

/// The XML document around a body with the prefixes `D`, `C`, `CR`, `CS` and `A`. All are declared on the root element, used or not,
/// because strict servers refuse a mix of a default namespace and prefixes.
fn document(body: &str) -> String {
    let root = body.find(['>', '/', ' ']).unwrap_or(body.len());
    let (open, rest) = body.split_at(root);
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>{open} xmlns:D=\"{DAV}\" xmlns:C=\"{CALDAV}\" \
         xmlns:CR=\"{CARDDAV}\" xmlns:CS=\"{CALENDARSERVER}\" xmlns:A=\"{APPLE}\"{rest}"
    )
}

/// The name with the prefix that [`request`] declares.
pub fn qualified((namespace, name): Name) -> String {
    let prefix = match namespace {
        CALDAV => "C",
        CARDDAV => "CR",
        CALENDARSERVER => "CS",
        APPLE => "A",
        _ => "D",
    };
    format!("{prefix}:{name}")
}

/// `<D:prop>` with these names.
pub fn prop(names: &[Name]) -> String {
    let inside: String = names.iter().map(|name| format!("<{}/>", qualified(*name))).collect();
    format!("<D:prop>{inside}</D:prop>")
}

fn propfind_body(names: &[Name]) -> String {
    format!("<D:propfind>{}</D:propfind>", prop(names))
}

/// An element with text inside.
pub fn text_element(name: Name, text: &str) -> String {
    let name = qualified(name);
    format!("<{name}>{}</{name}>", escape(text))
}

/// Normalizes a path (RFC 3986 section 6.2.2): decodes unnecessary escapes, and writes the others in upper case.
fn normal_path(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| path.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                if byte.is_ascii_alphanumeric() || b"-._~@:!$&'()*+,=".contains(&byte) {
                    out.push(char::from(byte));
                } else {
                    out.push_str(&format!("%{byte:02X}"));
                }
                at += 3;
            }
            None => {
                let character = path.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('/');
                out.push(character);
                at += character.len_utf8();
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{document, normal_path, prop};
    use crate::webdav::xml::{CALDAV, DAV, Element};

    #[test]
    fn one_path_has_one_spelling() {
        assert_eq!(normal_path("/a%40b/%7euser/x%2fy%20z.ics"), "/a@b/~user/x%2Fy%20z.ics");
        assert_eq!(normal_path("/100%"), "/100%");
        assert_eq!(normal_path("/%zz"), "/%zz");
    }

    #[test]
    fn bodies_are_documents_with_every_prefix_declared() {
        let body = document(&format!("<D:propfind>{}</D:propfind>", prop(&[(CALDAV, "calendar-data")])));
        let root = Element::parse(body.as_bytes()).unwrap();
        assert!(root.is(DAV, "propfind") && root.contains(CALDAV, "calendar-data"), "{body}");
        assert!(Element::parse(document("<D:a attribute=\"1\"/>").as_bytes()).is_ok());
        assert!(Element::parse(document("<D:a/>").as_bytes()).is_ok());
    }
}
