//! The seeded messages as tables. Days count back from the day on which the account is made, times are UTC. Senders and
//! recipients are the same in every seeded account, except among the three themselves: there one sends and the others receive.

/// A sender or recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The account's owner.
    Me,
    /// One of the three, by number.
    Colleague(usize),
    /// Name and address.
    Other(&'static str, &'static str),
}

/// Extra parts of a message besides its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MessageExtra {
    Nothing,
    /// The text as HTML, too.
    Html,
    /// HTML with an embedded picture.
    Picture,
    /// HTML with remote pictures.
    Remote,
    /// A PDF file of this name.
    Pdf(&'static str),
    /// A table of this name.
    Csv(&'static str),
    /// An invitation to a meeting, on this day from today and at this hour.
    Invitation(i64, i8),
    /// Charset, and subject and text in it, base64.
    Charset(&'static str, &'static str, &'static str),
    /// Another message.
    Forwarded,
    /// Answered by a machine.
    Automatic,
}

/// One message.
pub struct Letter {
    pub id: &'static str,
    pub from: Who,
    pub to: &'static [Who],
    pub cc: &'static [Who],
    pub subject: &'static str,
    pub text: &'static str,
    /// The message that it answers.
    pub answers: Option<&'static str>,
    pub day: i64,
    /// Hour and minute.
    pub at: (i64, i64),
    /// None: the sent folder for the owner's messages, else the inbox.
    pub folder: Option<&'static str>,
    pub labels: &'static [&'static str],
    pub is_unread: bool,
    pub is_starred: bool,
    pub is_draft: bool,
    pub trimming: MessageExtra,
}

const fn letter(
    id: &'static str,
    (day, hour, minute): (i64, i64, i64),
    from: Who,
    to: &'static [Who],
    subject: &'static str,
    text: &'static str,
) -> Letter {
    Letter {
        id,
        from,
        to,
        cc: &[],
        subject,
        text,
        answers: None,
        day,
        at: (hour, minute),
        folder: None,
        labels: &[],
        is_unread: false,
        is_starred: false,
        is_draft: false,
        trimming: MessageExtra::Nothing,
    }
}

const fn to(answers: &'static str, letter: Letter) -> Letter {
    Letter { answers: Some(answers), ..letter }
}

const fn cc(cc: &'static [Who], letter: Letter) -> Letter {
    Letter { cc, ..letter }
}

const fn within(folder: &'static str, letter: Letter) -> Letter {
    Letter { folder: Some(folder), ..letter }
}

const fn labelled(labels: &'static [&'static str], letter: Letter) -> Letter {
    Letter { labels, ..letter }
}

const fn unread(letter: Letter) -> Letter {
    Letter { is_unread: true, ..letter }
}

const fn starred(letter: Letter) -> Letter {
    Letter { is_starred: true, ..letter }
}

const fn draft(letter: Letter) -> Letter {
    Letter { is_draft: true, folder: Some("drafts"), ..letter }
}

const fn with(trimming: MessageExtra, letter: Letter) -> Letter {
    Letter { trimming, ..letter }
}

const ALICE: Who = Who::Colleague(0);
const BOB: Who = Who::Colleague(1);
const CAROL: Who = Who::Colleague(2);
const ME: Who = Who::Me;
const TO_ME: &[Who] = &[ME];
const DANA: Who = Who::Other("Dana Petrov", "dana@customer.example");
const TO_DANA: &[Who] = &[DANA];
const JUERGEN: Who = Who::Other("Jürgen Müller", "juergen.mueller@mueller.example");
const FRANCOISE: Who = Who::Other("Françoise Lefèvre", "francoise@lefevre.example");
const HANAKO: Who = Who::Other("佐藤 花子", "hanako.sato@tdesign.example");
const DMITRI: Who = Who::Other("Дмитрий Соколов", "dmitri@post.example");
const LAYLA: Who = Who::Other("ليلى حداد", "layla@beirutmedia.example");
const XIAOMING: Who = Who::Other("王小明", "xiaoming.wang@bjtech.example");
const ERIK: Who = Who::Other("Erik Holm", "erik@sandbox.test");
const INES: Who = Who::Other("Inês Sousa", "ines@sandbox.test");
const HUGO: Who = Who::Other("Hugo Peña", "hugo@sandbox.test");
const BANK: Who = Who::Other("Harbour Bank", "no-reply@bank.example");
const HOTEL: Who = Who::Other("Hotel Adler", "reservations@adler.example");
const BUILDS: Who = Who::Other("Builds", "builds@sandbox.test");
const PRINCE: Who = Who::Other("Barrister J. Okafor", "urgent.transfer@inheritance.example");
const PILLS: Who = Who::Other("", "deals@cheap-watches.example");

const LAUNCH: &str = "Launch plan for the spring release";
const OFFSITE: &str = "Offsite in May";

/// Among the three.
#[rustfmt::skip]
pub const TEAM: &[Letter] = &[
    letter("team-launch-1", (41, 8, 2), ALICE, &[BOB, CAROL], LAUNCH, "Hi both,\n\nhere is a first sketch of the launch plan. The date is open, the scope should be clear by Friday.\n\nWhat do you think?\nAlice\n"),
    to("team-launch-1", letter("team-launch-2", (41, 14, 30), BOB, &[ALICE], "Re: Launch plan for the spring release", "I would cut the import and ship two weeks earlier.\n\nBob\n")),
    to("team-launch-2", cc(&[BOB], letter("team-launch-3", (40, 5, 12), CAROL, &[ALICE], "Re: Launch plan for the spring release", "The import is what Customer Example waits for. Can we ask Dana first?\n\nCarol\n"))),
    to("team-launch-3", letter("team-launch-4", (40, 9, 45), ALICE, &[BOB, CAROL], "Re: Launch plan for the spring release", "Good point. I write to her today.\n\nAlice\n")),
    with(MessageExtra::Pdf("launch-plan-v2.pdf"), to("team-launch-4", starred(letter("team-launch-5", (12, 10, 0), ALICE, &[BOB, CAROL], "Re: Launch plan for the spring release", "Version two with the dates is attached. Please read it before Thursday.\n\nAlice\n")))),
    letter("team-offsite-1", (25, 13, 20), BOB, &[ALICE, CAROL], OFFSITE, "Shall we meet in Lisbon this time? Inês knows a house near the sea.\n\nBob\n"),
    with(MessageExtra::Html, to("team-offsite-1", letter("team-offsite-2", (24, 6, 40), CAROL, &[BOB, ALICE], "Re: Offsite in May", "Lisbon sounds lovely. From Bengaluru it is one stop only.\n\nCarol\n"))),
    to("team-offsite-2", letter("team-offsite-3", (24, 9, 5), ALICE, &[BOB, CAROL], "Re: Offsite in May", "Then let us take the second week of May. Who books?\n\nAlice\n")),
    with(MessageExtra::Csv("costs.csv"), to("team-offsite-3", letter("team-offsite-4", (2, 15, 55), BOB, &[ALICE, CAROL], "Re: Offsite in May", "I do. The costs are attached, flights not included.\n\nBob\n"))),
    letter("team-lunch-1", (1, 8, 30), CAROL, &[ALICE, BOB], "Notes of the review", "The notes of yesterday's review:\n- ship the importer behind a switch\n- Bob looks at the slow query\n- next review in two weeks\n"),
    to("team-lunch-1", unread(letter("team-lunch-2", (1, 15, 10), BOB, &[CAROL, ALICE], "Re: Notes of the review", "The slow query was a missing index. Fixed.\n\nBob\n"))),
];

/// With everybody else.
#[rustfmt::skip]
pub const LETTERS: &[Letter] = &[
    letter("quote-1", (40, 10, 15), ME, TO_DANA, "Import and launch date", "Dear Dana,\n\nwould you rather have the import in spring, or the release two weeks earlier?\n"),
    to("quote-1", labelled(&["label-customers"], letter("quote-2", (39, 7, 50), DANA, TO_ME, "Re: Import and launch date", "Hello,\n\nthe import, please. Could you also send us a quote for twenty more seats?\n\nDana Petrov\nHead of Operations\n"))),
    with(MessageExtra::Pdf("quote-2026-118.pdf"), to("quote-2", letter("quote-3", (38, 12, 5), ME, TO_DANA, "Re: Import and launch date", "The quote is attached. It holds for thirty days.\n"))),
    to("quote-3", labelled(&["label-customers", "label-finance"], starred(letter("quote-4", (31, 9, 30), DANA, TO_ME, "Re: Import and launch date", "Thank you, we order as quoted. The purchase order follows by post.\n\nDana\n")))),
    to("quote-4", unread(labelled(&["label-customers"], letter("quote-5", (1, 7, 15), DANA, TO_ME, "Re: Import and launch date", "One more question: does the importer read our old address books, too?\n\nDana\n")))),
    with(MessageExtra::Charset("iso-8859-1", "UmVjaG51bmcgZvxyIE3kcno=", "U2VociBnZWVocnRlIERhbWVuIHVuZCBIZXJyZW4sCgphbmJlaSBkaWUgUmVjaG51bmcgZvxyIGRlbiBN5HJ6LiBXaXIgYml0dGVuIHVtIFphaGx1bmcgYmlubmVuIDE0IFRhZ2VuLgoKTWl0IGZyZXVuZGxpY2hlbiBHcvzfZW4KSvxyZ2VuIE38bGxlcgo="), labelled(&["label-finance"], letter("invoice-1", (17, 11, 0), JUERGEN, TO_ME, "", ""))),
    to("invoice-1", letter("invoice-2", (16, 8, 20), ME, &[JUERGEN], "Re: Rechnung für März", "Vielen Dank, die Rechnung ist bezahlt.\n")),
    with(MessageExtra::Picture, letter("sketch-1", (29, 16, 40), FRANCOISE, TO_ME, "Une première esquisse", "Bonjour,\n\nvoici une première esquisse de la façade. Dites-moi ce que vous en pensez.\n\nFrançoise\n")),
    to("sketch-1", letter("sketch-2", (28, 9, 10), ME, &[FRANCOISE], "Re: Une première esquisse", "Merci beaucoup, la couleur est parfaite.\n")),
    with(MessageExtra::Charset("iso-2022-jp", "GyRCQkckQTlnJG8kOyROO3FOQRsoQg==", "GyRCOjRGIzJWO1IkRyQ5ISMbKEIKGyRCQGhGfCROQkckQTlnJG8kOyROO3FOQSRyJCpBdyRqJDckXiQ5ISMkNDNORyckLyRAJDUkJCEjGyhCCg=="), letter("japan-1", (22, 1, 30), HANAKO, TO_ME, "", "")),
    with(MessageExtra::Charset("koi8-r", "8sHT0MnTwc7JxSDQz8XaxM/X", "5M/C0tnKIMTFztghCvfZ09nMwcAg0sHT0MnTwc7JxSDQz8XaxM/XIM7BIM3Byi4g88/Pwt3J1MUsIMvBy8/KIMTFztgg0M/EyM/EydQuCuTNydTSycog88/Lz8zP1wo="), letter("trains-1", (20, 12, 0), DMITRI, TO_ME, "", "")),
    with(MessageExtra::Charset("gb18030", "yP3Uwrfdsai82w==", "zfXQocP3o7oKuL28/srHyP3UwrfdtcSxqLzboaMK"), letter("prices-1", (19, 3, 5), XIAOMING, TO_ME, "", "")),
    letter("interview-1", (14, 18, 22), LAYLA, TO_ME, "طلب مقابلة", "مرحبا،\nهل يمكننا إجراء مقابلة قصيرة الأسبوع القادم؟\nليلى\n"),
    starred(letter("licence-1", (33, 9, 0), ERIK, TO_ME, "Licence of the parser", "The licence of the new parser is fine for us, as long as we name the authors.\n\nErik\n")),
    within("projects-launch", letter("risks-1", (30, 8, 45), HUGO, TO_ME, "Risks that support sees", "1. The importer is slow with large books.\n2. Nobody finds the export.\n\nHugo\n")),
    to("risks-1", letter("risks-2", (30, 9, 20), ME, &[HUGO], "Re: Risks that support sees", "Thank you! I put both into the plan.\n")),
    within("projects", letter("budget-1", (27, 10, 30), INES, TO_ME, "Budget of the second quarter", "Please send me your numbers by the end of the month.\n\nInês\n")),
    with(MessageExtra::Csv("q2-numbers.csv"), to("budget-1", letter("budget-2", (23, 17, 5), ME, &[INES], "Re: Budget of the second quarter", "Here they are.\n"))),
    with(MessageExtra::Forwarded, letter("forward-1", (13, 13, 13), HUGO, TO_ME, "Fwd: It does not work", "See below. Can somebody of your team have a look?\n\nHugo\n")),
    with(MessageExtra::Invitation(6, 14), unread(letter("invitation-1", (3, 9, 40), DANA, TO_ME, "Invitation: Importer walkthrough", "Let us walk through the importer together.\n"))),
    with(MessageExtra::Automatic, letter("away-1", (38, 12, 6), DANA, TO_ME, "Automatic reply: Import and launch date", "I am travelling and answer on Monday.\n")),
    with(MessageExtra::Remote, labelled(&["label-finance"], letter("statement-1", (10, 6, 0), BANK, TO_ME, "Your statement is ready", "Your statement of last month is ready. Sign in to read it.\n"))),
    with(MessageExtra::Pdf("Bestätigung.pdf"), labelled(&["label-later"], letter("hotel-1", (9, 19, 47), HOTEL, TO_ME, "Ihre Buchung – Hotel Adler", "Guten Tag,\n\nIhre Buchung ist bestätigt. Wir freuen uns auf Ihren Besuch!\n"))),
    within("archive", letter("welcome-1", (88, 9, 0), INES, TO_ME, "Welcome to the sandbox", "Everything here is made up. Have fun!\n\nInês\n")),
    within("archive", with(MessageExtra::Html, letter("badge-1", (87, 14, 20), HUGO, TO_ME, "Your badge", "Your badge is ready at the desk.\n"))),
    within("trash", letter("cake-1", (15, 13, 59), HUGO, TO_ME, "Cake in the kitchen", "First come, first served.\n")),
    within("trash", letter("parking-1", (6, 7, 31), HUGO, TO_ME, "A car blocks the gate", "The grey one. Please move it.\n")),
    within("junk", unread(letter("junk-1", (18, 2, 11), PRINCE, TO_ME, "URGENT: your inheritance of 14 MILLION", "Dearest friend,\n\nkindly send your bank details today.\n"))),
    within("junk", unread(with(MessageExtra::Remote, letter("junk-2", (7, 4, 44), PILLS, TO_ME, "Luxury watches -90%", "Only today! Watches of all makers.\n")))),
    within("junk", letter("junk-3", (35, 23, 1), PILLS, TO_ME, "You won!!!", "Click to get your prize.\n")),
    draft(letter("draft-1", (2, 16, 30), ME, TO_DANA, "Address books", "Dear Dana,\n\nyes, the importer reads vCard files and\n")),
    draft(letter("draft-2", (5, 11, 12), ME, &[], "Ideas for the offsite", "- surfing\n- tiles\n")),
];

/// A recurring message.
pub struct Bulletin {
    pub id: &'static str,
    pub from: Who,
    /// The list, by the domain of its List-ID; empty: it is not from a list.
    pub list: &'static str,
    /// Before the number of the issue.
    pub subject: &'static str,
    pub text: &'static str,
    pub every: i64,
    pub count: i64,
    pub at: (i64, i64),
    /// How many of the newest are unread.
    pub unread: i64,
    pub trimming: MessageExtra,
}

/// Lists and machines.
pub const BULLETINS: &[Bulletin] = &[
    Bulletin {
        id: "weekly",
        from: Who::Other("Protocol Weekly", "weekly@protocols.example"),
        list: "weekly.protocols.example",
        subject: "Protocol Weekly #",
        text: "This week: a new draft on mailbox synchronisation, and why time zones are hard.\n",
        every: 7,
        count: 9,
        at: (6, 30),
        unread: 2,
        trimming: MessageExtra::Remote,
    },
    Bulletin {
        id: "shop",
        from: Who::Other("Liffey Books", "news@liffey.example"),
        list: "news.liffey.example",
        subject: "New at Liffey Books, no. ",
        text: "New on our shelves: three novels, a cookbook and a history of the envelope.\n",
        every: 21,
        count: 4,
        at: (15, 0),
        unread: 1,
        trimming: MessageExtra::Html,
    },
    Bulletin {
        id: "builds",
        from: BUILDS,
        list: "",
        subject: "Build failed: nightly ",
        text: "Step 3 of 9 failed.\n\n    error: the disk is full\n\nThis message was sent by a machine.\n",
        every: 11,
        count: 6,
        at: (2, 0),
        unread: 0,
        trimming: MessageExtra::Nothing,
    },
];
