//! Less common programs, gateways, and at last their common phrases.

use crate::report::formats::format::Shape::{Alone, Leading, Within};
use crate::report::formats::format::{Format, Label, NONE, delayed, failed, label, list, reason};

pub const FORMATS: &[Format] = &[
    // CommuniGate Pro: samples in the rules of open bounce handlers (BounceHandler of twisted1919). The words of a delay: unconfirmed.
    Format {
        name: "CommuniGate Pro",
        openings: &["failed to deliver to", "message delivery to"],
        labels: &[
            label("failed to deliver to"),
            Label { phrase: "delivery delayed to", is_delayed: Some(true), is_reason: false },
        ],
        ..NONE
    },
    // MailEnable; Mailman SimpleMatch.
    Format {
        name: "MailEnable",
        openings: &[
            "mailenable: message could not be delivered",
            "message could not be delivered to some recipients",
        ],
        labels: &[label("recipient: ")],
        ..NONE
    },
    // IMail; sisimai Lhost::IMailServer. Its labels are all that it writes.
    Format {
        name: "IMail",
        openings: &[
            "unknown user:",
            "unknown host:",
            "undeliverable to",
            "invalid final delivery userid",
            "user mailbox exceeds allowed size",
            "delivery failed ",
        ],
        is_common: true,
        labels: &[
            reason("unknown user:"),
            reason("unknown host:"),
            reason("invalid final delivery userid:"),
            reason("user mailbox exceeds allowed size:"),
            reason("undeliverable to"),
            reason("recipients on"),
        ],
        reasons: &["body of message generated response:"],
        ..NONE
    },
    // MDaemon; Mailman SimpleMatch. `Failed address` and the attached message: unconfirmed.
    Format {
        name: "MDaemon",
        openings: &[
            "the following addresses did not receive a copy of your message",
            "the attached message had permanent fatal delivery errors",
            "the attached message had permanent non-fatal delivery errors",
            "failed address:",
        ],
        lists: &[list("did not receive a copy of your message", Leading)],
        labels: &[label("failed address:"), label("failed recipient:")],
        reasons: &["session transcript"],
        ..NONE
    },
    // GroupWise Internet Agent; the bounce reader of sympa.
    Format {
        name: "GroupWise",
        openings: &["the message that you sent was undeliverable to the following"],
        lists: &[list("undeliverable to the following", Leading)],
        ..NONE
    },
    // HCL Domino; sisimai Lhost::Domino. Notes clients: Lhost::Notes.
    Format {
        name: "Domino",
        openings: &["your message", "------- failure reasons", "failure reasons"],
        is_common: true,
        lists: &[list("was not delivered to", Alone), list("failure reasons", Alone)],
        reasons: &["because:"],
        ..NONE
    },
    // Amazon SES; sisimai Lhost::AmazonSES.
    Format {
        name: "Amazon SES",
        openings: &[
            "the following message to <",
            "an error occurred while trying to deliver the mail to the following",
        ],
        lists: &[list("an error occurred while trying to deliver", Alone)],
        labels: &[label("the following message to")],
        reasons: &["the reason for the problem:"],
        ..NONE
    },
    // SendGrid; sisimai Lhost::SendGrid.
    Format {
        name: "SendGrid",
        openings: &["this is an automatically generated message from sendgrid"],
        lists: &[list("from sendgrid", Within)],
        ..NONE
    },
    // A gateway that sisimai has as Lhost::X6; that it is Mimecast's: unconfirmed.
    Format {
        name: "Mimecast",
        openings: &["we had trouble delivering your message"],
        labels: &[
            label("rejected recipient"),
            label("returned permanent errors:"),
            Label { phrase: "returned temporary errors:", is_delayed: Some(true), is_reason: false },
        ],
        ..NONE
    },
    // Symantec Messaging Gateway (Brightmail): unconfirmed, but for the list of Mailman SimpleMatch (`could not be delivered to`).
    Format {
        name: "Symantec",
        openings: &[
            "the message you sent could not be delivered to the following",
            "your message could not be delivered to the following recipient",
            "your message to the following recipient",
        ],
        lists: &[
            list("delivered to the following", Leading),
            list("your message to the following recipient", Leading),
        ],
        reasons: &["reason:"],
        ..NONE
    },
    // Mercury/32 and others whose administrators write the text: unconfirmed.
    Format {
        name: "Mercury",
        openings: &[
            "the following problems were encountered",
            "delivery failed for the following",
            "with one or more addresses in your message",
        ],
        lists: &[
            list("problems were encountered", Within),
            list("delivery failed for the following", Within),
            list("addresses in your message", Within),
        ],
        labels: &[label("failed to deliver to"), label("addressee:")],
        ..NONE
    },
    // OpenSMTPD: smtpd/bounce.c as sisimai Lhost::OpenSMTPD quotes it. The words of a delay: unconfirmed.
    Format {
        name: "OpenSMTPD",
        openings: &["this is the mailer-daemon, please do not reply", "attempting to deliver a message for"],
        lists: &[failed("the following list of recipients", Leading), delayed("for more than", Leading)],
        ..NONE
    },
    // DragonFly Mail Agent; sisimai Lhost::DragonFly.
    Format {
        name: "dma",
        openings: &["this is the dragonfly mail agent"],
        labels: &[label("error delivering your mail to")],
        reasons: &["did not like our"],
        ..NONE
    },
    // Apache James: mailets of AbstractNotify; sisimai Lhost::ApacheJames.
    Format {
        name: "James",
        openings: &["hi. this is the james mail server", "message details:"],
        is_common: true,
        labels: &[label("rcpt to:")],
        reasons: &["error message below:"],
        ..NONE
    },
    // MailFoundry; sisimai Lhost::MailFoundry.
    Format {
        name: "MailFoundry",
        openings: &["unable to deliver message to: <"],
        labels: &[label("unable to deliver message to:")],
        reasons: &["delivery failed for the following reason:"],
        ..NONE
    },
    // MailMarshal (Trustwave); sisimai Lhost::MailMarshalSMTP.
    Format {
        name: "MailMarshal",
        openings: &["could not be delivered because of"],
        lists: &[list("the following recipients were affected", Alone)],
        reasons: &["could not be delivered because of"],
        ..NONE
    },
    // SurfControl E-mail Filter; sisimai Lhost::SurfControl.
    Format {
        name: "SurfControl",
        openings: &[
            "your message could not be sent.",
            "a transcript of the attempts to send the message follows",
        ],
        labels: &[label("addressed to:")],
        ..NONE
    },
    // InterScan (Trend Micro); sisimai Lhost::InterScanMSS, Mailman SimpleMatch.
    Format {
        name: "InterScan",
        openings: &["message from interscan", "unable to deliver message to <", "sent <<< rcpt to:"],
        labels: &[label("rcpt to:"), label("unable to deliver message to")],
        ..NONE
    },
    // smail 3; Mailman SimpleMatch.
    Format {
        name: "smail",
        openings: &["failed addresses follow:", "---- failed recipients ----"],
        lists: &[list("failed addresses follow", Leading), list("failed recipients", Leading)],
        ..NONE
    },
    // Oracle (Sun, iPlanet) Messaging Server and PMDF; sisimai Lhost::MessagingServer.
    Format {
        name: "Messaging Server",
        openings: &["this report relates to a message you sent with the following header fields"],
        labels: &[label("recipient address:")],
        ..NONE
    },
    // LSMTP; Mailman SimpleMatch.
    Format {
        name: "LSMTP",
        openings: &["--> error description:", "error description:"],
        is_common: true,
        labels: &[label("error-for:")],
        ..NONE
    },
    // EarthLink and hosters; Mailman SimpleMatch.
    Format {
        name: "EarthLink",
        openings: &["sorry, unable to deliver your message to"],
        lists: &[list("unable to deliver your message to", Leading)],
        labels: &[label("unable to deliver your message to")],
        ..NONE
    },
    // eYou and other Chinese hosters; Mailman SimpleMatch.
    Format {
        name: "eYou",
        openings: &["this is the deliver program at"],
        lists: &[list("this is the deliver program", Leading)],
        ..NONE
    },
    // German hosters (GMX, WEB.DE, 1&1, T-Online): unconfirmed.
    Format {
        name: "German",
        openings: &[
            "folgende empf\u{e4}nger",
            "folgenden empf\u{e4}nger",
            "folgenden adresse",
            "folgende adresse",
            "ihre nachricht konnte nicht",
            "ihre e-mail konnte nicht",
            "diese nachricht wurde automatisch",
            "diese e-mail wurde automatisch",
        ],
        lists: &[
            list("empf\u{e4}nger", Within),
            list("folgende adresse", Within),
            list("folgenden adresse", Within),
            list("zugestellt werden:", Within),
        ],
        reasons: &["grund:", "aus folgendem grund", "der grund daf\u{fc}r:"],
        ..NONE
    },
    // The rest: words that most programs use in some order.
    Format {
        name: "any",
        openings: &[
            "undeliverable",
            "could not be delivered",
            "couldn't be delivered",
            "was not delivered",
            "not be delivered",
            "unable to deliver",
            "delivery failed",
            "delivery has failed",
            "returned mail",
            "nicht zugestellt",
            "unzustellbar",
            "non remis",
            "no se pudo entregar",
            "could not deliver",
        ],
        is_common: true,
        lists: &[
            list("deliver", Within),
            list("recipient", Within),
            list("following", Within),
            list("zugestellt", Within),
        ],
        labels: &[
            label("deliver your message to"),
            label("deliver message to"),
            label("delivered to"),
            label("recipient:"),
            label("addressed to"),
        ],
        ..NONE
    },
];
