//! The content of a report: a message and its recipients.

use model::email::tracking::BounceKind;

/// Most recipients that are read from one report.
pub const RECIPIENTS: usize = 1_000;

/// Longest diagnostic, bytes.
pub const DIAGNOSTIC_BYTES: usize = 2_048;

/// A report about one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryReport {
    /// The kind of the report: a delivery status or a complaint.
    pub kind: ReportKind,
    /// In the form that a standard describes, not guessed from a text.
    pub is_standard: bool,
    /// The Message-ID of the message that it is about, without angle brackets, where the report has it.
    pub message_id: Option<String>,
    /// The envelope's id that the sender chose (RFC 3461 ENVID).
    pub envelope_id: Option<String>,
    /// The server that reports.
    pub reporting_mta: Option<String>,
    /// A complaint's type (RFC 5965 3.5): `abuse`.
    pub feedback_type: Option<String>,
    /// At most 1,000.
    pub recipients: Vec<ReportedRecipient>,
}

/// The kind of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportKind {
    /// How the delivery went.
    #[default]
    Delivery,
    /// A recipient called it spam.
    Complaint,
}

/// The report on one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedRecipient {
    /// The address that it was sent to, if the report names it beside `final_recipient`.
    pub original_recipient: Option<String>,
    /// The address at which delivery was tried, after forwarding.
    pub final_recipient: Option<String>,
    /// `failed`, `delayed`, `delivered`, `relayed`, `expanded`; lower case, empty where the report has none.
    pub action: String,
    /// RFC 3463: `5.1.1`.
    pub status: Option<String>,
    /// The other server's answer, its type stripped; at most 2,048 bytes.
    pub diagnostic: Option<String>,
    /// The server that gave the diagnostic (RFC 3464 2.3.5).
    pub remote_mta: Option<String>,
    /// Hard: it failed for good. Soft: it is delayed, or failed for now. None: it is no failure.
    pub bounce: Option<BounceKind>,
}
