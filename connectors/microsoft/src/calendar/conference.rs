//! Online meetings of events.

use model::calendar::{Conference, ConferencePhone, ConferenceProvider, ConferenceStatus};

use crate::calendar::native;

/// Graph's name of the meetings of Teams.
pub const TEAMS: &str = "teamsForBusiness";

/// Whether the meeting of an event is still without a link to join.
pub fn is_pending(event: &native::Event) -> bool {
    event.is_online_meeting == Some(true) && event.join_url().is_none()
}

/// Returns the online meeting of an event.
pub fn conference_from(theirs: &native::Event) -> Option<Conference> {
    let join_url = theirs.join_url();
    if join_url.is_none() && theirs.is_online_meeting != Some(true) {
        return None;
    }
    let status = if join_url.is_some() { ConferenceStatus::Ready } else { ConferenceStatus::Pending };
    Some(Conference {
        provider: provider_of(theirs.online_meeting_provider.as_deref(), join_url),
        status,
        join_url: join_url.map(str::to_owned),
        phones: theirs.online_meeting.as_ref().map(phones_of).unwrap_or_default(),
        ..Conference::default()
    })
}

/// Meetings of other services have an address alone.
fn provider_of(name: Option<&str>, join_url: Option<&str>) -> ConferenceProvider {
    if name == Some(TEAMS) {
        return ConferenceProvider::Teams;
    }
    let host = join_url.and_then(|url| url.split('/').nth(2)).unwrap_or_default().to_ascii_lowercase();
    let known = [
        ("teams.microsoft.com", ConferenceProvider::Teams),
        ("teams.live.com", ConferenceProvider::Teams),
        ("meet.google.com", ConferenceProvider::GoogleMeet),
        ("zoom.us", ConferenceProvider::Zoom),
        ("webex.com", ConferenceProvider::Webex),
    ];
    let is_of =
        |domain: &str| host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    let found = known.into_iter().find(|(domain, _)| is_of(domain));
    found.map_or(ConferenceProvider::Other, |(_, provider)| provider)
}

/// The id of a meeting of Teams is what callers dial.
fn phones_of(theirs: &native::OnlineMeeting) -> Vec<ConferencePhone> {
    let listed = theirs.phones.iter().flatten().filter_map(|phone| phone.number.clone());
    let free = theirs.toll_free_numbers.iter().flatten().cloned();
    let mut numbers: Vec<String> = theirs.toll_number.iter().cloned().chain(free).chain(listed).collect();
    numbers.retain(|number| !number.is_empty());
    let mut distinct: Vec<String> = Vec::new();
    for number in numbers {
        if !distinct.contains(&number) {
            distinct.push(number);
        }
    }
    let phone = |number| ConferencePhone { number, pin: theirs.conference_id.clone(), region: None };
    distinct.into_iter().map(phone).collect()
}
