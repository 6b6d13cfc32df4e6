//! Reports in the manner of each program, all of them made up: what the text says, and what has to be read from it.

/// Hard, or soft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Hard,
    Soft,
}

pub use Is::{Hard, Soft};

/// A report of a program to people.
pub struct Sample {
    pub name: &'static str,
    /// Fields of the header besides the usual ones.
    pub header: &'static str,
    pub said: &'static str,
    /// The line before the message that came back.
    pub mark: &'static str,
    /// Address, kind and status.
    pub told: &'static [(&'static str, Is, Option<&'static str>)],
}

const DAEMON: &str = "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nSubject: Undelivered mail\n";
const POSTMASTER: &str = "From: Postmaster <postmaster@mx.example>\nSubject: Undeliverable mail\n";
const EXIM: &str = "Return-Path: <>\nFrom: Mail Delivery System <Mailer-Daemon@mx.example>\n\
    Subject: Mail delivery failed: returning message to sender\nAuto-Submitted: auto-replied\n";

const fn sample(
    name: &'static str,
    header: &'static str,
    said: &'static str,
    mark: &'static str,
    told: &'static [(&'static str, Is, Option<&'static str>)],
) -> Sample {
    Sample { name, header, said, mark, told }
}

pub const SAMPLES: &[Sample] = &[
    sample(
        "Exim",
        "Return-Path: <>\nFrom: Mail Delivery System <Mailer-Daemon@mx.example>\nSubject: Mail delivery failed\n\
            X-Failed-Recipients: ada@one.example, bob@two.example, cy@three.example\n",
        "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\n\
            recipients. This is a permanent error. The following address(es) failed:\n\n  ada@one.example\n    (generated from team@list.example)\n    host mx.one.example [192.0.2.1]\n\
            \x20   SMTP error from remote mail server after RCPT TO:<ada@one.example>:\n    550 5.1.1 nobody of that name\n  bob@two.example\n    mailbox is full: retry timeout exceeded\n\n\
            \x20 cy@three.example\n    Unrouteable address\n",
        "------ This is a copy of the message, including all the headers. ------",
        &[
            ("ada@one.example", Hard, Some("5.1.1")),
            ("bob@two.example", Hard, Some("5.2.2")),
            ("cy@three.example", Hard, None),
        ],
    ),
    sample(
        "Exim without its field",
        EXIM,
        "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\n\
            recipients. This is a permanent error. The following address(es) failed:\n\n  ada@one.example\n    all relevant MX records point to non-existent hosts\n",
        "------ This is a copy of the message's headers. ------",
        &[("ada@one.example", Hard, Some("5.1.2"))],
    ),
    sample(
        "Exim warning",
        "Return-Path: <>\nFrom: Mail Delivery System <Mailer-Daemon@mx.example>\nSubject: Warning: message 1abCde-000001-AB delayed 24 hours\n",
        "This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\n\
            recipients after more than 24 hours on the queue on mx.example.\n\nThe message identifier is:     1abCde-000001-AB\n\nThe address to which the message has not yet been delivered is:\n\n\
            \x20 ada@one.example\n    Delay reason: connection timed out\n\nNo action is required on your part. Delivery attempts will continue for\nsome time.\n",
        "------ This is a copy of the message's headers. ------",
        &[("ada@one.example", Soft, Some("4.4.1"))],
    ),
    sample(
        "GMX",
        "Return-Path: <>\nFrom: \"Mail Delivery System\" <mailer-daemon@gmx.example>\nSubject: Mail delivery failed\nX-GMX-Antispam: 0\n",
        "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of\nits recipients. This is a permanent error. The following address\nfailed:\n\n\
            \"ada@one.example\":\nSMTP error from remote server after RCPT command:\nhost: mx.one.example\n5.1.1 <ada@one.example>... nobody here\n",
        "--- The header of the original message is following. ---",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "1&1",
        "From: \"Mail Delivery System\" <mailer-daemon@kundenserver.example>\nSubject: Mail delivery failed: returning message to sender\n",
        "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its recipients.\n\nThe following address failed:\n\n\
            \x20 ada@one.example\n\nFor the following reason:\n\n  Mail size limit exceeded.\n",
        "--- The header of the original message is following. ---",
        &[("ada@one.example", Hard, Some("5.3.4"))],
    ),
    sample(
        "Zoho",
        "From: mailer-daemon@mail.zoho.example\nSubject: Undelivered Mail Returned to Sender\n",
        "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\n\
            ada@one.example Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 nobody here\nbob@two.example Over quota, ERROR_CODE :552\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1")), ("bob@two.example", Hard, Some("5.2.2"))],
    ),
    sample(
        "mail.ru",
        "Return-Path: <>\nFrom: mailer-daemon@corp.mail.ru\nSubject: Mail failure.\n",
        "\u{42d}\u{442}\u{43e} \u{43f}\u{438}\u{441}\u{44c}\u{43c}\u{43e} \u{441}\u{43e}\u{437}\u{434}\u{430}\u{43d}\u{43e} \u{430}\u{432}\u{442}\u{43e}\u{43c}\u{430}\u{442}\u{438}\u{447}\u{435}\u{441}\u{43a}\u{438}\n\n\
            This message was created automatically by mail delivery software.\n\nThe following address(es) failed:\n\n ada@one.example\n   host mx.one.example [192.0.2.1]: 550 no such user\n",
        "------ This is a copy of the message, including all the headers. ------",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Postfix",
        DAEMON,
        "This is the mail system at host mx.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n\
            For further assistance, please send mail to postmaster.\n\n                   The mail system\n\n<ada@one.example>: host mx.one.example[192.0.2.1] said: 550\n\
            \x20   <ada@one.example>: Recipient address rejected: user unknown (in reply to\n    RCPT TO command)\n\n<bob@two.example> (expanded from <team@list.example>): host\n    mx.two.example[192.0.2.2] said: 552 5.3.4 too much of it (in reply to end of DATA command)\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1")), ("bob@two.example", Hard, Some("5.3.4"))],
    ),
    sample(
        "Postfix warning",
        "Return-Path: <>\nFrom: Mail Delivery System <MAILER-DAEMON@mx.example>\nSubject: Delayed Mail (still being retried)\n",
        "This is the mail system at host mx.example.\n\n####\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n####\n\nYour message could not be delivered for more than 4 hours.\nIt will be retried until it is 5 days old.\n\n\
            \x20                  The mail system\n\n<ada@one.example>: delivery temporarily suspended: connect to\n    mx.one.example[192.0.2.1]:25: Connection refused\n",
        "----- Message header follows -----",
        &[("ada@one.example", Soft, Some("4.4.1"))],
    ),
    sample(
        "Zimbra",
        "Return-Path: <>\nFrom: MAILER-DAEMON@zimbra.example (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n",
        "This is the mail system at host zimbra.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients.\n\n\
            <ada@one.example>: Host or domain name not found. Name service error for\n    name=one.example type=A: Host not found\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.2"))],
    ),
    sample(
        "qmail",
        "Return-Path: <>\nFrom: MAILER-DAEMON@qmail.example\nSubject: failure notice\n",
        "Hi. This is the qmail-send program at qmail.example.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n\
            <ada@one.example>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 5.7.1 not wanted\nGiving up on 192.0.2.1.\n\n<bob@two.example>:\nSorry, no mailbox here by that name. (#5.1.1)\n",
        "--- Below this line is a copy of the message.",
        &[("ada@one.example", Hard, Some("5.7.1")), ("bob@two.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "sendmail",
        "Return-Path: <>\nFrom: Mail Delivery Subsystem <MAILER-DAEMON@mx.example>\nSubject: Returned mail: see transcript for details\n",
        "The original message was received at Tue, 3 Mar 2026 09:00:00 +0100\nfrom desk.example [192.0.2.9]\n\n   ----- The following addresses had permanent fatal errors -----\n<ada@one.example>\n    (reason: 550 5.1.1 <ada@one.example>... User unknown)\n<bob@two.example>\n    (reason: 552 5.2.2 over quota)\n\n\
            \x20  ----- The following addresses had transient non-fatal errors -----\n<cy@three.example>\n    (expanded from: <team@list.example>)\n\n   ----- Transcript of session follows -----\n... while talking to mx.one.example.:\n>>> RCPT To:<ada@one.example>\n<<< 550 5.1.1 <ada@one.example>... User unknown\n<cy@three.example>... Deferred: Connection timed out with mx.three.example.\n",
        "   ----- Original message follows -----",
        &[
            ("ada@one.example", Hard, Some("5.1.1")),
            ("bob@two.example", Hard, Some("5.2.2")),
            ("cy@three.example", Soft, Some("4.4.1")),
        ],
    ),
    sample(
        "sendmail 5",
        "From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example>\nSubject: Returned mail: User unknown\n",
        "   ----- Transcript of session follows -----\nWhile talking to mx.one.example:\n>>> RCPT To:<ada@one.example>\n<<< 550 <ada@one.example>, User Unknown\n550 <ada@one.example>... User unknown\n",
        "   ----- Unsent message follows -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "AOL",
        "From: Mail Delivery Subsystem <MAILER-DAEMON@aol.example>\nSubject: Returned mail\n",
        "Your mail to the following recipients could not be delivered because they are not accepting mail:\n\n    ada@one.example\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, None)],
    ),
    sample(
        "Exchange 5.5",
        "From: System Administrator <postmaster@mx.example>\nSubject: Undeliverable: Hello\nX-Mailer: Internet Mail Service (5.5.2653.19)\n",
        "Your message\n\n  To:      ada@one.example\n  Subject: Hello\n  Sent:    Tue, 3 Mar 2026 09:00:00 +0100\n\ndid not reach the following recipient(s):\n\nada@one.example on Tue, 3 Mar 2026 09:00:02 +0100\n    The recipient name is not recognized\n\tMSEXCH:IMS:ORG:SITE:SERVER 0 (000C05A6) Unknown Recipient\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Exchange 2003",
        "Return-Path: <>\nFrom: postmaster@mx.example\nSubject: Undeliverable: Hello\n",
        "Your message did not reach some or all of the intended recipients.\n\n      Subject:\tHello\n      Sent:\t3/3/2026 9:00 AM\n\nThe following recipient(s) could not be reached:\n\n      ada@one.example on 3/3/2026 9:00 AM\n            The e-mail account does not exist at the organization this message was sent to.\n            <mx.one.example #5.1.1 smtp;550 5.1.1 nobody>\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Exchange 2010",
        "From: Microsoft Exchange <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@corp.example>\nSubject: Undeliverable: Hello\n",
        "Delivery has failed to these recipients or groups:\n\nAda L. (ada@one.example)\nThe e-mail address you entered couldn't be found.\n\nBob (bob@two.example)\nThe mailbox of the recipient takes no more.\n\n\nDiagnostic information for administrators:\n\nGenerating server: ex.corp.example\n\nada@one.example\n#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##\n\nbob@two.example\n#554 5.2.2 mailbox full ##\n",
        "Original message headers:",
        &[("ada@one.example", Hard, Some("5.1.1")), ("bob@two.example", Hard, Some("5.2.2"))],
    ),
    sample(
        "Exchange 2010 delay",
        "Return-Path: <>\nFrom: postmaster@corp.example\nSubject: Delivery delayed:Hello\n",
        "Delivery is delayed to these recipients or groups:\n\nada@one.example<mailto:ada@one.example>\n\nSubject: Hello\n\nThis message hasn't been delivered yet. Delivery will continue to be attempted.\n",
        "----- Original message -----",
        &[("ada@one.example", Soft, None)],
    ),
    sample(
        "Gmail",
        "Return-Path: <>\nFrom: Mail Delivery Subsystem <mailer-daemon@googlemail.example>\nSubject: Delivery Status Notification (Failure)\n",
        "Delivery to the following recipient failed permanently:\n\n     ada@one.example\n\nTechnical details of permanent failure:\nGoogle tried to deliver your message, but it was rejected by the server for the recipient domain one.example by mx.one.example. [192.0.2.1].\n\nThe error that the other server returned was:\n550 5.1.1 <ada@one.example>... nobody here\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Gmail warning",
        "Return-Path: <>\nFrom: Mail Delivery Subsystem <mailer-daemon@googlemail.example>\nSubject: Delivery Status Notification (Delay)\n",
        "This is an automatically generated Delivery Status Notification\n\nTHIS IS A WARNING MESSAGE ONLY.\n\nYOU DO NOT NEED TO RESEND YOUR MESSAGE.\n\nDelivery to the following recipient has been delayed:\n\n     ada@one.example\n\nMessage will be retried for 2 more day(s)\n\nTechnical details of temporary failure:\nThe error that the other server returned was:\n450 4.2.2 full for now\n",
        "----- Message header follows -----",
        &[("ada@one.example", Soft, Some("4.2.2"))],
    ),
    sample(
        "Gmail 2016",
        "Return-Path: <>\nFrom: Mail Delivery Subsystem <mailer-daemon@googlemail.example>\nSubject: Delivery Status Notification (Failure)\nIn-Reply-To: <sent@sender.example>\nAuto-Submitted: auto-replied\n",
        "** Address not found **\n\nYour message wasn't delivered to ada@one.example because the address couldn't be found. Check for typos or unnecessary spaces and try again.\n\nThe response from the remote server was:\n550 5.1.1 nobody here\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Outlook.com",
        "Return-Path: <>\nFrom: postmaster@mail.hotmail.example\nSubject: Delivery Status Notification (Failure)\n",
        "This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       ada@one.example\n       bob@two.example\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, None), ("bob@two.example", Hard, None)],
    ),
    sample(
        "Yahoo",
        "From: MAILER-DAEMON@yahoo.example\nSubject: Failure Notice\n",
        "Sorry, we were unable to deliver your message to the following address.\n\n<ada@one.example>:\nRemote host said: 550 5.1.1 <ada@one.example>... nobody [RCPT_TO]\n",
        "--- Below this line is a copy of the message.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Yahoo for others",
        "From: MAILER-DAEMON@sbc.example\nSubject: Delivery failure\n",
        "Message from sbc.example.\nUnable to deliver message to the following address(es).\n\n<ada@one.example>:\nThis user doesn't have a sbc.example account (ada@one.example) [0]\n",
        "--- Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Courier",
        "From: \"Courier mail server at mx.example\" <postmaster@mx.example>\nSubject: NOTICE: mail delivery status.\n",
        "This is a delivery status notification from mx.example,\nrunning the Courier mail server, version 1.0.\n\n---------------------------------------------------------------------------\n                           UNDELIVERABLE MAIL\n\nYour message to the following recipients cannot be delivered:\n\n<ada@one.example>:\n    mx.one.example [192.0.2.1]:\n>>> RCPT TO:<ada@one.example>\n<<< 550 5.1.1 nobody here\n\n---------------------------------------------------------------------------\n",
        "Message headers follow:",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "CommuniGate Pro",
        "Return-Path: <>\nFrom: MAILER-DAEMON@cgp.example\nSubject: Undeliverable mail: Hello\n",
        "Failed to deliver to '<ada@one.example>'\nLOCAL module(account ada) reports:\n account is full (quota exceeded)\n",
        "Original message header:",
        &[("ada@one.example", Hard, Some("5.2.2"))],
    ),
    sample(
        "MailEnable",
        "From: \"Postmaster\" <postmaster@me.example>\nSubject: Message Delivery Failure\n",
        "MailEnable: Message could not be delivered to some recipients.\nThe following recipient(s) could not be reached:\n\n\tRecipient: [SMTP:ada@one.example]\n\tReason: Remote SMTP Server Returned: 550 no such user\n\n",
        "Message headers follow:",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "IMail",
        "Return-Path: <>\nFrom: \"Postmaster\" <postmaster@imail.example>\nSubject: Undeliverable Mail\n",
        "User mailbox exceeds allowed size: ada@one.example\nundeliverable to bob@two.example\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.2.2")), ("bob@two.example", Hard, None)],
    ),
    sample(
        "MDaemon",
        "From: MDaemon@md.example\nSubject: Permanent Delivery Failure\n",
        "The following addresses did NOT receive a copy of your message:\n\n> ada@one.example\n\nFailed address: ada@one.example\n\n--- Session Transcript ---\n<-- 550 5.1.1 nobody here\n",
        "--- Original message follows ---",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "GroupWise",
        "Return-Path: <>\nFrom: Mailer-Daemon@gw.example\nSubject: Mail Delivery failure\n",
        "The message that you sent was undeliverable to the following:\n\tada@one.example (550 5.1.1 nobody here)\n\tbob@two.example (User not on post office)\n\n",
        "Possibly truncated original message follows:",
        &[("ada@one.example", Hard, Some("5.1.1")), ("bob@two.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Domino",
        "Return-Path: <>\nFrom: Postmaster@domino.example\nSubject: DELIVERY FAILURE: User ada (ada@one.example) not listed in Domino Directory\n",
        "Your message\n\n  Subject: Hello\n\nwas not delivered to:\n\n  ada@one.example\n\nbecause:\n\n  User ada (ada@one.example) not listed in Domino Directory\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Amazon SES",
        "Return-Path: <>\nFrom: MAILER-DAEMON@email-bounces.ses.example\nSubject: Delivery Status Notification (Failure)\n",
        "An error occurred while trying to deliver the mail to the following recipients:\nada@one.example\nbob@two.example\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, None), ("bob@two.example", Hard, None)],
    ),
    sample(
        "Amazon SES with a reason",
        "Return-Path: <>\nFrom: MAILER-DAEMON@email-bounces.ses.example\nSubject: Delivery Status Notification (Failure)\n",
        "The following message to <ada@one.example> was undeliverable.\nThe reason for the problem:\n5.1.0 - Unknown address error 550-'no such user'\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.0"))],
    ),
    sample(
        "SendGrid",
        "Return-Path: <apps@sendgrid.example>\nFrom: MAILER-DAEMON@sendgrid.example\nSubject: Undelivered Mail Returned to Sender\n",
        "This is an automatically generated message from SendGrid.\n\nI'm sorry to have to tell you that your message was not able to be\ndelivered to one of its intended recipients.\n\nada:000000:<ada@one.example> : 192.0.2.250 : mx.one.example:[192.0.2.1] :\n   550 5.1.1 nobody  in RCPT TO\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Mimecast",
        "Return-Path: <>\nFrom: postmaster@gate.example\nSubject: [Postmaster] Email Delivery Failure\n",
        "We had trouble delivering your message. Full details follow:\n\nSubject: 'Hello'\n\n1 error(s):\n\nSMTP Server <mx.one.example> rejected recipient <ada@one.example>\n  (Error following RCPT command). It responded as follows: [550 5.1.1 nobody]\n\nThe following recipients returned permanent errors: ada@one.example.\n",
        "The original message headers are:",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "Symantec",
        "Return-Path: <>\nFrom: Symantec_AntiVirus_for_SMTP_Gateways <postmaster@gate.example>\nSubject: Undeliverable mail\n",
        "Your message could not be delivered to the following recipients:\n\nada@one.example: 554 5.7.1 blocked by policy\n\n",
        "Original message follows:",
        &[("ada@one.example", Hard, Some("5.7.1"))],
    ),
    sample(
        "Mercury",
        "From: Mail Administrator <postmaster@mercury.example>\nSubject: Delivery failure notification\n",
        "With one or more addresses in your message there was trouble.\nThe following problems were encountered:\n\n*** <ada@one.example>\n    550 no such user here\n",
        "Returned message follows:",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "OpenSMTPD",
        "Return-Path: <>\nFrom: Mailer Daemon <MAILER-DAEMON@smtpd.example>\nSubject: Delivery status notification: error\n",
        "    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\nada@one.example: 550 5.2.2 no room\n",
        "    Below is a copy of the original message:",
        &[("ada@one.example", Hard, Some("5.2.2"))],
    ),
    sample(
        "dma",
        "Return-Path: <>\nFrom: MAILER-DAEMON <>\nSubject: Mail delivery failed\n",
        "This is the DragonFly Mail Agent v0.13 at df.example.\n\nThere was an error delivering your mail to <ada@one.example>.\n\nmx.one.example [192.0.2.1] did not like our RCPT TO:\n552 5.2.2 no room\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.2.2"))],
    ),
    sample(
        "James",
        "Return-Path: <>\nFrom: postmaster@james.example\nSubject: [BOUNCE]\n",
        "Hi. This is the James mail server at james.example.\n\nMessage details:\n  Subject: Hello\n  MAIL FROM: me@sender.example\n  RCPT TO: ada@one.example\n\nError message below:\n550 - Requested action not taken: no such user here\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "MailFoundry",
        POSTMASTER,
        "Unable to deliver message to: <ada@one.example>\nDelivery failed for the following reason:\nServer mx.one.example[192.0.2.1] failed with: 550 no such user\n\nThis has been a permanent failure.\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "MailMarshal",
        POSTMASTER,
        "Your message:\n   From:    me@sender.example\n   Subject: Hello\nCould not be delivered because of\n\n550 5.1.1 User unknown\n\nThe following recipients were affected:\n   ada@one.example\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "SurfControl",
        DAEMON,
        "Your message could not be sent.\nA transcript of the attempts to send the message follows.\nThe number of attempts made: 1\nAddressed To: ada@one.example\n\nTue, 3 Mar 2026\nFailed to send to identified host,\n",
        "Original message follows.",
        &[("ada@one.example", Hard, None)],
    ),
    sample(
        "InterScan",
        "From: \"InterScan MSS\" <postmaster@iss.example>\nSubject: Mail could not be delivered\n",
        "Sent <<< RCPT TO:<ada@one.example>\nReceived >>> 550 5.1.1 nobody here\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "smail",
        DAEMON,
        "|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n ada@one.example ... unknown host\n",
        "|------------------------- Message text follows: ------------------------|",
        &[("ada@one.example", Hard, Some("5.1.2"))],
    ),
    sample(
        "Messaging Server",
        "Return-Path: <>\nFrom: postmaster@sun.example\nSubject: Delivery Notification: Delivery has failed\n",
        "This report relates to a message you sent with the following header fields:\n\n  Date: Tue, 3 Mar 2026 09:00:00 +0100\n  Subject: Hello\n\nYour message cannot be delivered to the following recipients:\n\n  Recipient address: ada@one.example\n  Reason: Remote SMTP server has rejected address\n  Diagnostic code: smtp;550 5.1.1 nobody here\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "LSMTP",
        "Return-Path: <>\nFrom: MAILER-DAEMON@lsmtp.example\nSubject: Undelivered mail\n",
        "The following message could not be handed over.\n\n--> Error description:\n\nError-for:  ada@one.example;\nError-Code: 3;\nError-Text: 550 no such user\n\nError-End: One error reported.\n",
        "Original message follows.",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
    sample(
        "German",
        "Return-Path: <>\nFrom: Mailsystem <mailer-daemon@t-online.example>\nSubject: Unzustellbar\n",
        "Ihre Nachricht konnte nicht zugestellt werden.\nFolgende Empf\u{e4}nger wurden nicht erreicht:\n\n   ada@one.example\n     550 Postfach voll\n",
        "Urspr\u{fc}ngliche Nachricht:",
        &[("ada@one.example", Hard, Some("5.2.2"))],
    ),
    sample(
        "an unknown program",
        "Return-Path: <>\nFrom: Mailer-Daemon <mailer-daemon@odd.example>\nSubject: Returned mail\n",
        "Dear sender,\n\nyour mail could not be delivered to these recipients:\n\n  <ada@one.example>\n     said 550 user unknown\n",
        "----- Original message -----",
        &[("ada@one.example", Hard, Some("5.1.1"))],
    ),
];
