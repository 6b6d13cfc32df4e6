//! Conferences of events.

use model::calendar::{Conference, ConferencePhone, ConferenceProvider, ConferenceStatus};
use serde_json::{Value, json};

use crate::calendar::native;

/// Google's name of the conferences that it makes.
pub const MEET: &str = "hangoutsMeet";

/// Returns the request for a conference of an event. A repetition under the same id makes no second one.
pub fn request_for(request_id: &str) -> Value {
    json!({ "createRequest": { "requestId": request_id, "conferenceSolutionKey": { "type": MEET } } })
}

/// Whether the conference of an event is still being made.
pub fn is_pending(event: &native::Event) -> bool {
    let request = event.conference_data.as_ref().and_then(|data| data.create_request.as_ref());
    request.is_some_and(|request| request.status.status_code.as_deref() == Some("pending"))
}

/// Returns the conference of an event.
pub fn conference_from(theirs: &native::Event) -> Option<Conference> {
    let Some(data) = &theirs.conference_data else {
        let join_url = theirs.hangout_link.clone()?;
        return Some(Conference {
            provider: ConferenceProvider::GoogleMeet,
            join_url: Some(join_url),
            ..Conference::default()
        });
    };
    let video = data.entry_points.iter().find(|point| point.entry_point_type == "video");
    let join_url = video.and_then(|point| point.uri.clone()).or_else(|| theirs.hangout_link.clone());
    let phones = data.entry_points.iter().filter(|point| point.entry_point_type == "phone");
    let request = data.create_request.as_ref();
    Some(Conference {
        provider: provider_of(data, join_url.as_deref()),
        status: status_of(request),
        meeting_id: data.conference_id.clone().or_else(|| video?.meeting_code.clone()),
        passcode: video.and_then(|point| {
            let codes = [&point.passcode, &point.password, &point.access_code, &point.pin];
            codes.into_iter().find_map(Clone::clone)
        }),
        phones: phones.filter_map(phone_from).collect(),
        create_request_id: request.and_then(|request| request.request_id.clone()),
        join_url,
    })
}

fn status_of(request: Option<&native::CreateRequest>) -> ConferenceStatus {
    match request.and_then(|request| request.status.status_code.as_deref()) {
        Some("pending") => ConferenceStatus::Pending,
        Some("failure") => ConferenceStatus::Failed,
        _ => ConferenceStatus::Ready,
    }
}

/// Conferences of add-ons have a name alone, and an address.
fn provider_of(data: &native::ConferenceData, join_url: Option<&str>) -> ConferenceProvider {
    let requested =
        data.create_request.as_ref().and_then(|request| request.conference_solution_key.kind.as_deref());
    let kind = data.conference_solution.key.kind.as_deref().or(requested);
    if kind == Some(MEET) {
        return ConferenceProvider::GoogleMeet;
    }
    let name = data.conference_solution.name.as_deref().unwrap_or_default().to_ascii_lowercase();
    let host = join_url.and_then(|url| url.split('/').nth(2)).unwrap_or_default().to_ascii_lowercase();
    let known = [
        ("zoom", "zoom.us", ConferenceProvider::Zoom),
        ("webex", "webex.com", ConferenceProvider::Webex),
        ("teams", "teams.microsoft.com", ConferenceProvider::Teams),
    ];
    let is_of =
        |domain: &str| host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    let found = known.into_iter().find(|(word, domain, _)| name.contains(word) || is_of(domain));
    found.map_or(ConferenceProvider::Other, |(_, _, provider)| provider)
}

fn phone_from(point: &native::EntryPoint) -> Option<ConferencePhone> {
    let number = point.uri.as_deref().and_then(|uri| uri.strip_prefix("tel:"));
    // Behind a comma stand tones to be dialled.
    let number = number.map(|number| number.split([',', ';']).next().unwrap_or(number));
    Some(ConferencePhone {
        number: number.map(str::to_owned).or_else(|| point.label.clone())?,
        pin: point.pin.clone().or_else(|| point.access_code.clone()),
        region: point.region_code.clone(),
    })
}
