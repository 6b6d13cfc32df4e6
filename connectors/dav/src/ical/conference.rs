//! CONFERENCE (RFC 7986) and what vendors wrote before it.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use model::calendar::{Conference, ConferencePhone, ConferenceProvider, ConferenceStatus};

use crate::ical::lines::{line, line_text, lines, param, raw_line, remove, set_param};
use crate::text::without_prefix;

/// Properties that hold a join link without being CONFERENCE.
const VENDOR: [&str; 3] =
    ["X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL", "X-MICROSOFT-ONLINEMEETINGCONFLINK"];

pub fn conference(event: &IcalCst) -> Option<Conference> {
    let is_phone = |line: &&IcalLine| without_prefix(line_text(line).trim(), "tel:").is_some();
    let join = lines(event, "CONFERENCE").find(|line| !is_phone(line));
    let join = join.or_else(|| VENDOR.iter().find_map(|name| line(event, name)));
    let url = join.map(|line| line_text(line).trim().to_owned()).filter(|url| !url.is_empty());
    let phone = |line: &IcalLine| {
        let number = without_prefix(line_text(line).trim(), "tel:")?.to_owned();
        Some(ConferencePhone { number, pin: None, region: param(line, "LABEL") })
    };
    let phones: Vec<ConferencePhone> = lines(event, "CONFERENCE").filter_map(phone).collect();
    if url.is_none() && phones.is_empty() {
        return None;
    }
    let provider = url.as_deref().map(provider).unwrap_or_default();
    Some(Conference {
        provider,
        status: ConferenceStatus::Ready,
        join_url: url,
        phones,
        ..Conference::default()
    })
}

/// The provider of a conference link, by its host.
fn provider(url: &str) -> ConferenceProvider {
    let host =
        url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_lowercase)).unwrap_or_default();
    let under =
        |domain: &str| host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    if under("meet.google.com") {
        ConferenceProvider::GoogleMeet
    } else if under("teams.microsoft.com") || under("teams.live.com") {
        ConferenceProvider::Teams
    } else if under("zoom.us") || under("zoom.com") {
        ConferenceProvider::Zoom
    } else if under("webex.com") {
        ConferenceProvider::Webex
    } else {
        ConferenceProvider::Other
    }
}

/// Writes the conference as RFC 7986 has it, in place of any old one.
pub fn set_conference(event: &mut IcalCst, conference: Option<&Conference>) {
    remove(event, "CONFERENCE");
    for name in VENDOR {
        remove(event, name);
    }
    let Some(conference) = conference else { return };
    if let Some(url) = &conference.join_url {
        event.push_line(raw_line("CONFERENCE", &[("VALUE", "URI"), ("FEATURE", "VIDEO")], url));
    }
    for phone in &conference.phones {
        let mut line = raw_line(
            "CONFERENCE",
            &[("VALUE", "URI"), ("FEATURE", "PHONE")],
            &format!("tel:{}", phone.number),
        );
        set_param(&mut line, "LABEL", phone.region.as_deref());
        event.push_line(line);
    }
}
