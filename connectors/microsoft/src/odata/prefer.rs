//! `Prefer`: one header with all preferences of a request (RFC 7240, section 2). Of two headers Graph reads one.

use connector_sdk::http::Request;

const HEADER: &str = "prefer";
/// Ids that stay when an item is moved (Microsoft Graph, "Get immutable identifiers for Outlook resources").
const IMMUTABLE_IDS: &str = "IdType=\"ImmutableId\"";

/// A preference beside that for immutable ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer<'a> {
    /// Items of a page of a delta. Without it a page has ten, whatever `$top` says; it goes with each page.
    PageSize(u32),
    /// Bodies as text, not as HTML.
    TextBodies,
    /// Bodies in HTML as they are, with what Graph takes for unsafe.
    UnsafeHtml,
    /// Times of events in this zone, by its Windows or IANA name. Without it they are in UTC.
    TimeZone(&'a str),
}

/// Returns the request with these preferences, and with that for immutable ids. They replace those that it had.
pub fn with(mut request: Request, prefers: &[Prefer]) -> Request {
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(HEADER));
    let mut value = IMMUTABLE_IDS.to_owned();
    for prefer in prefers {
        value.push_str(", ");
        value.push_str(&written(*prefer));
    }
    request.header(HEADER, value)
}

/// Returns the request with the preference for immutable ids, where it has no preferences yet.
pub fn ensure(request: Request) -> Request {
    match request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(HEADER)) {
        true => request,
        false => with(request, &[]),
    }
}

fn written(prefer: Prefer) -> String {
    match prefer {
        Prefer::PageSize(items) => format!("odata.maxpagesize={items}"),
        Prefer::TextBodies => "outlook.body-content-type=\"text\"".to_owned(),
        Prefer::UnsafeHtml => "outlook.allow-unsafe-html".to_owned(),
        Prefer::TimeZone(name) => {
            // A quotation mark would end the value. No zone's name has one.
            let name: String = name.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
            format!("outlook.timezone=\"{name}\"")
        }
    }
}

#[cfg(test)]
mod tests {
    use connector_sdk::http::Request;

    use super::{Prefer, ensure, with};

    fn preferences(request: &Request) -> Vec<&str> {
        let all = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("prefer"));
        all.map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn all_preferences_are_one_header() {
        let request = with(Request::get("https://x.test"), &[Prefer::PageSize(50), Prefer::TextBodies]);
        let expected = "IdType=\"ImmutableId\", odata.maxpagesize=50, outlook.body-content-type=\"text\"";
        assert_eq!(preferences(&request), [expected]);
        assert_eq!(preferences(&ensure(request.clone())), [expected]);
        let replaced = with(request, &[Prefer::TimeZone("W. Europe\" Standard Time"), Prefer::UnsafeHtml]);
        let expected =
            "IdType=\"ImmutableId\", outlook.timezone=\"W. Europe Standard Time\", outlook.allow-unsafe-html";
        assert_eq!(preferences(&replaced), [expected]);
    }

    #[test]
    fn a_request_without_preferences_gets_the_one_for_immutable_ids() {
        assert_eq!(preferences(&ensure(Request::get("https://x.test"))), ["IdType=\"ImmutableId\""]);
    }
}
