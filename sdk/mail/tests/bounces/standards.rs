//! Reports in the standard's form, and in forms that are nearly it.

use crate::samples::{Hard, Is, Soft};

pub struct Standard {
    pub name: &'static str,
    pub from: &'static str,
    /// The message's Content-Type: `multipart/report; report-type=delivery-status`, or a damaged form of it.
    pub content_type: &'static str,
    /// The Content-Type of the part with the blocks; none where there is no such part.
    pub status_type: Option<&'static str>,
    pub text: &'static str,
    pub blocks: &'static str,
    pub told: &'static [(&'static str, Is, Option<&'static str>)],
}

const REPORT: &str = "multipart/report; report-type=delivery-status";
const STATUS: Option<&str> = Some("message/delivery-status");
const DAEMON: &str = "MAILER-DAEMON@mx.example";
const TEXT: &str = "Something went wrong.\n";

const fn standard(
    name: &'static str,
    status_type: Option<&'static str>,
    blocks: &'static str,
    told: &'static [(&'static str, Is, Option<&'static str>)],
) -> Standard {
    Standard { name, from: DAEMON, content_type: REPORT, status_type, text: TEXT, blocks, told }
}

pub const STANDARDS: &[Standard] = &[
    standard(
        "RFC 3464",
        STATUS,
        "Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ada@one.example\nAction: failed\nStatus: 5.1.1\n\nFinal-Recipient: rfc822; bob@two.example\nAction: failed\nStatus: 5.2.2 (mailbox full)\n\nFinal-Recipient: rfc822; cy@three.example\nAction: delayed\nStatus: 4.4.1\n",
        &[
            ("ada@one.example", Hard, Some("5.1.1")),
            ("bob@two.example", Hard, Some("5.2.2")),
            ("cy@three.example", Soft, Some("4.4.1")),
        ],
    ),
    standard(
        "other words for the action",
        STATUS,
        "Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ada@one.example\nAction: failure\nStatus: 5.1.1\n\nFinal-Recipient: rfc822; bob@two.example\nAction: Failed (no such place)\nStatus: 5.1.2\n\nFinal-Recipient: rfc822; cy@three.example\nAction: fail\n\nFinal-Recipient: rfc822; di@four.example\nAction: deferred\n",
        &[
            ("ada@one.example", Hard, Some("5.1.1")),
            ("bob@two.example", Hard, Some("5.1.2")),
            ("cy@three.example", Hard, None),
            ("di@four.example", Soft, None),
        ],
    ),
    standard(
        "odd addresses",
        STATUS,
        "Reporting-MTA: dns;mx.example\n\nFinal-Recipient: rfc822;<ada@one.example>\nAction: failed\n\nFinal-Recipient: rfc822; bob@two.example (Bob)\nAction: failed\n\nFinal-Recipient: X400; /G=Cy/S=Doe/C=xx/\nAction: failed\n\nFinal-Recipient: <di@four.example>\nAction: failed\n",
        &[
            ("ada@one.example", Hard, None),
            ("bob@two.example", Hard, None),
            ("/G=Cy/S=Doe/C=xx/", Hard, None),
            ("di@four.example", Hard, None),
        ],
    ),
    standard(
        "lines of spaces between blocks, folded fields",
        STATUS,
        "Reporting-MTA: dns; mx.example\n   \nFinal-Recipient: rfc822;\n ada@one.example\nAction: failed\nDiagnostic-Code: smtp; 550 5.1.1\n nobody\n\there\n \nFinal-Recipient: rfc822; bob@two.example\nAction: failed\nStatus: 5.1.1\n",
        &[("ada@one.example", Hard, Some("5.1.1")), ("bob@two.example", Hard, Some("5.1.1"))],
    ),
    standard(
        "no lines between blocks",
        STATUS,
        "Reporting-MTA: dns; mx.example\nFinal-Recipient: rfc822; ada@one.example\nAction: failed\nStatus: 5.1.1\nFinal-Recipient: rfc822; bob@two.example\nAction: delayed\nStatus: 4.2.2\n",
        &[("ada@one.example", Hard, Some("5.1.1")), ("bob@two.example", Soft, Some("4.2.2"))],
    ),
    standard(
        "an empty line after each field",
        STATUS,
        "Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ada@one.example\n\nAction: failed\n\nStatus: 5.1.1\n\nFinal-Recipient: rfc822; bob@two.example\n\nAction: delayed\n\nStatus: 4.2.2\n",
        &[("ada@one.example", Hard, Some("5.1.1")), ("bob@two.example", Soft, Some("4.2.2"))],
    ),
    standard(
        "blocks in a text part",
        Some("text/plain; name=details.txt"),
        "Reporting-MTA: dns; mx.example\n\nOriginal-Recipient: rfc822;ada@one.example\nFinal-Recipient: rfc822;ada@one.example\nAction: failed\nDiagnostic-Code: smtp; 552 mailbox full\n",
        &[("ada@one.example", Hard, Some("5.2.2"))],
    ),
    standard(
        "blocks in a file",
        Some("application/octet-stream; name=report.dat"),
        "Final-Recipient: rfc822; ada@one.example\nAction: failed\nStatus: 5.7.1\n",
        &[("ada@one.example", Hard, Some("5.7.1"))],
    ),
    Standard {
        content_type: "multipart/mixed",
        ..standard(
            "a status part in a mixed message",
            STATUS,
            "Final-Recipient: rfc822; ada@one.example\nAction: failed\nStatus: 5.1.1\n",
            &[("ada@one.example", Hard, Some("5.1.1"))],
        )
    },
    Standard {
        text: "Sorry, we were unable to deliver your message to the following address.\n\n<ada@one.example>:\n550: 5.2.1 not any more\n",
        ..standard("no status part", None, "", &[("ada@one.example", Hard, Some("5.2.1"))])
    },
    Standard {
        from: "Mail service <noreply@cloud.example>",
        ..standard(
            "an ordinary sender",
            STATUS,
            "Final-Recipient: rfc822; ada@one.example\nAction: failed\nStatus: 5.1.1\n",
            &[("ada@one.example", Hard, Some("5.1.1"))],
        )
    },
];
