//! The programs and the hosters that most bounces are from.

use crate::report::formats::format::Shape::{Alone, Angle, Leading, Transcript, Within};
use crate::report::formats::format::{Format, NONE, delayed, failed, label, list};

pub const FORMATS: &[Format] = &[
    // zoho.com; sisimai Lhost::Zoho.
    Format {
        name: "Zoho",
        openings: &["this message was created automatically by mail delivery"],
        lists: &[list("this is a permanent error.", Leading)],
        labels: &[label("address:")],
        ..NONE
    },
    // mail.ru: Exim with a Russian text above; sisimai Lhost::MailRu.
    Format {
        name: "mail.ru",
        openings: &[
            "\u{43f}\u{438}\u{441}\u{44c}\u{43c}\u{43e} \u{441}\u{43e}\u{437}\u{434}\u{430}\u{43d}\u{43e} \u{430}\u{432}\u{442}\u{43e}\u{43c}\u{430}\u{442}\u{438}\u{447}\u{435}\u{441}\u{43a}\u{438}",
        ],
        lists: &[
            failed("\u{43f}\u{43e}\u{43b}\u{443}\u{447}\u{430}\u{442}\u{435}\u{43b}\u{44f}\u{43c}:", Leading),
            failed("failed:", Leading),
        ],
        ..NONE
    },
    // Exim: deliver.c as sisimai Lhost::Exim quotes it; GMX, 1&1 and MX Logic word theirs alike (GMX, EinsUndEins, MXLogic).
    Format {
        name: "Exim",
        openings: &[
            "this message was created automatically by mail delivery",
            "could not be delivered to one or more of its",
            "a message that you have sent could not be delivered",
            "a message that you sent has not yet been delivered",
            "a message that you sent was rejected",
        ],
        lists: &[
            failed("failed:", Leading),
            delayed("message has not yet been delivered is", Leading),
            delayed("message has not yet been delivered are", Leading),
            delayed("has not yet been delivered to", Leading),
        ],
        reasons: &["for the following reason:", "reason:"],
        ..NONE
    },
    // Postfix: sisimai Lhost::Postfix, Yandex. Of the warning's text, and that Zimbra sends the same: unconfirmed.
    Format {
        name: "Postfix",
        openings: &[
            "this is the mail system at",
            "this is the postfix",
            "i'm sorry to have to inform you that",
            "yandex mail system",
        ],
        lists: &[
            list("this is the mail system", Angle),
            list("this is the postfix", Angle),
            list("i'm sorry to have to inform you", Angle),
            list("mail system", Angle),
        ],
        ..NONE
    },
    // qmail: qmail-send.c and qmail-remote.c as sisimai Lhost::qmail quotes them; Mailman SimpleMatch.
    Format {
        name: "qmail",
        openings: &[
            "hi. this is the",
            "this is the qmail-send program",
            "i'm afraid i wasn't able to deliver your message",
            "this is the machine generated message from mail service",
        ],
        lists: &[list("this is the", Angle), list("i'm afraid i wasn't able", Angle)],
        ..NONE
    },
    // sendmail: savemail.c as sisimai Lhost::Sendmail and V5sendmail quote it; McAfee, X1 (the same headings, other dashes).
    Format {
        name: "sendmail",
        openings: &[
            "the following addresses had permanent fatal errors",
            "the following addresses had transient non-fatal errors",
            "the following addresses had delivery",
            "the following addresses have delivery notifications",
            "transcript of session follows -",
        ],
        lists: &[
            failed("had permanent fatal errors", Leading),
            delayed("had transient non-fatal errors", Leading),
            list("the following addresses had delivery", Leading),
            list("transcript of session follows", Transcript),
        ],
        ..NONE
    },
    // AOL: Mailman Bouncers.AOL.
    Format {
        name: "AOL",
        openings: &[
            "your mail to the following recipients could not be delivered",
            "mail to the following recipients could not be delivered",
        ],
        lists: &[list("following recipients could not be delivered", Alone)],
        ..NONE
    },
    // Exchange 5.5 to 2003, "Internet Mail Service"; sisimai Lhost::Exchange2003. The words of 2003 itself: unconfirmed.
    Format {
        name: "Exchange 2003",
        openings: &[
            "did not reach some or all of the intended recipients",
            "did not reach the following recipient",
        ],
        lists: &[
            list("recipient(s) could not be reached", Leading),
            list("did not reach the following recipient", Leading),
        ],
        ..NONE
    },
    // Exchange 2007 and later, Exchange Online; sisimai Lhost::Exchange2007. The German words, and those of a delay: unconfirmed.
    Format {
        name: "Exchange 2007",
        openings: &[
            "delivery has failed to these recipients",
            "delivery is delayed to these recipients",
            "diagnostic information for administrators",
            "\u{fc}bermittlung an folgende empf\u{e4}nger",
        ],
        lists: &[
            failed("delivery has failed to these recipients", Within),
            delayed("delivery is delayed to these recipients", Within),
            list("folgende empf\u{e4}nger oder", Within),
            list("diagnostic information for administrators", Leading),
        ],
        ..NONE
    },
    // Gmail since 2016; sisimai Lhost::GSuite.
    Format {
        name: "Gmail 2016",
        openings: &[
            "your message wasn't delivered to",
            "** address not found **",
            "** message blocked **",
            "** delivery incomplete **",
            "** message not delivered **",
            "** recipient inbox full **",
        ],
        labels: &[
            label("message wasn't delivered to"),
            label("problem delivering your message to"),
            label("problem while delivering your message to"),
            label("message to"),
        ],
        reasons: &["the response from the remote server was:", "the response was:"],
        ..NONE
    },
    // Gmail before; sisimai Lhost::Gmail. Outlook.com, the SMTP service of IIS and gateways have the same first words (Lhost::Outlook, X3).
    Format {
        name: "Gmail, Outlook.com",
        openings: &[
            "delivery to the following recipient",
            "this is an automatically generated delivery status notification",
            "delievery to the following recipient",
        ],
        lists: &[
            failed("failed permanently", Alone),
            failed("recipients failed", Alone),
            failed("recipient failed", Alone),
            failed("was aborted", Alone),
            delayed("has been delayed", Alone),
            delayed("have been delayed", Alone),
        ],
        reasons: &["that the other server returned was:", "turned was:", "technical details:"],
        ..NONE
    },
    // Yahoo!; sisimai Lhost::Yahoo, X2.
    Format {
        name: "Yahoo",
        openings: &[
            "sorry, we were unable to deliver your message",
            "unable to deliver message to the following address",
        ],
        lists: &[list("unable to deliver", Angle)],
        ..NONE
    },
    // Courier: sisimai Lhost::Courier. The lists of a delay: unconfirmed.
    Format {
        name: "Courier",
        openings: &[
            "this is a delivery status notification from",
            "undeliverable mail",
            "delays in delivering your message",
        ],
        lists: &[
            failed("recipients cannot be delivered", Angle),
            delayed("not been delivered to the following recipients", Angle),
            delayed("recipients has been delayed", Angle),
        ],
        ..NONE
    },
];
