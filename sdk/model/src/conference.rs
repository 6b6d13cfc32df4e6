//! The online meeting of an event.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;

/// An online meeting of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Conference {
    /// The service that hosts the meeting.
    pub provider: ConferenceProvider,
    /// Whether the meeting exists already.
    pub status: ConferenceStatus,
    /// The URL at which people join the meeting; null until the service has created the meeting.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub join_url: Option<String>,
    /// The meeting's id at the service; null if it has none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub meeting_id: Option<String>,
    /// The passcode to join; null if none is needed.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub passcode: Option<String>,
    /// The numbers to dial in.
    pub phones: Vec<ConferencePhone>,
    /// The id of the request that created the meeting; null if the provider has none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub create_request_id: Option<String>,
}

/// A service for online meetings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ConferenceProvider {
    /// Google Meet.
    GoogleMeet,
    /// Microsoft Teams.
    Teams,
    /// Zoom.
    Zoom,
    /// Cisco Webex.
    Webex,
    /// Another service.
    #[default]
    Other,
}

/// The state of a requested meeting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ConferenceStatus {
    /// The service has not created it yet.
    Pending,
    /// People can join.
    #[default]
    Ready,
    /// The service could not create it.
    Failed,
}

/// A number to dial in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ConferencePhone {
    /// The phone number.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub number: String,
    /// The PIN to enter after dialing; null if none is needed.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub pin: Option<String>,
    /// The country or region of the number; null if it is not known.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub region: Option<String>,
}
