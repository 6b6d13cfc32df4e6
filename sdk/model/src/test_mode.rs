//! Test mode: bodies of the operations by which test keys make things happen in the accounts of the sandbox.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::sync::Surface;

/// A failure of the sandbox that is planned for the next calls of one connection. At least one of `status`, `delayMs` and `lostAnswer` is
/// needed.
// Contract silent: it has no test mode. Accounts of the sandbox are shared by all applications of a server, so a planned failure hits the calls
// of the application that planned it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["connectionId"])))]
pub struct TestFault {
    /// The id of the connection, which must be of the provider `sandbox`. Other connections of the application to the same account are hit
    /// too.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The status that the provider answers with instead of executing the request, 400 to 599. Null: the request is executed.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: Option<i64>,
    /// The seconds of `Retry-After` in that answer, 1 to 3,600. Null: none.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::test_mode::MAX_RETRY_AFTER_S)))]
    pub retry_after_seconds: Option<i64>,
    /// The milliseconds that the provider waits before it executes the request, at most 120,000. Null: none.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::test_mode::MAX_DELAY_MS)))]
    pub delay_ms: Option<i64>,
    /// Whether the provider executes the request and then breaks the connection instead of an answer.
    pub lost_answer: bool,
    /// The part of the account whose calls fail. Null: all calls.
    pub surface: Option<Surface>,
    /// The calls that pass before the first one that fails, at most 1,000. Null: none.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::test_mode::MAX_CALLS)))]
    pub after: Option<i64>,
    /// The calls that fail, 1 to 1,000. Null: one.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::test_mode::MAX_CALLS)))]
    pub times: Option<i64>,
}

/// A message that arrives in the mailbox of a connection to the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct NewTestMessage {
    /// The id of the connection, which must be of the provider `sandbox`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The subject, at most 998 characters. Null: `Test message`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::mail::MAX_SUBJECT)))]
    pub subject: Option<String>,
    /// The text, at most 65,536 characters. Null: a sentence.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_TEXT)))]
    pub text: Option<String>,
}

/// An event that is to happen in the account of a connection to the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId", "type"])))]
pub struct NewTestEvent {
    /// The id of the connection, which must be of the provider `sandbox`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The type of the event.
    pub r#type: Option<TestEventType>,
}

/// The types of events that can be triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum TestEventType {
    /// A message arrives.
    #[serde(rename = "email.message.created")]
    MessageCreated,
    /// An event is added to the main calendar.
    #[serde(rename = "calendar.event.created")]
    CalendarEventCreated,
    /// A contact is added to the main contact book.
    #[serde(rename = "contact.created")]
    ContactCreated,
    /// A task is added to the main task list.
    #[serde(rename = "task.created")]
    TaskCreated,
}

/// An item that was added to an account of the sandbox. The event follows when the connection is synced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TestItem {
    /// The id of the connection.
    pub connection_id: String,
    /// The type of the event that follows.
    pub r#type: Option<TestEventType>,
    /// The title, name or subject of the item, by which it can be found.
    pub title: String,
}
