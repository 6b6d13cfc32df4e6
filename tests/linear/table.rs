//! The parsers, and the tokens of their grammars: whole ones, and truncated ones after which a parser searches for the rest.

/// A parser of the guest.
pub struct Row {
    /// The test that covers it.
    pub part: &'static str,
    pub parser: &'static str,
    /// Groups of tokens, with a bar between them.
    pub tokens: &'static [&'static str],
    /// The shorter of the two lengths that are compared.
    pub bytes: usize,
}

/// Long enough that fixed costs do not hide the cost per byte.
const INPUT_BYTES: usize = 16 << 10;

const fn row(part: &'static str, parser: &'static str, tokens: &'static [&'static str]) -> Row {
    Row { part, parser, tokens, bytes: INPUT_BYTES }
}

/// A row whose parser reads at most twice this length of any input.
const fn bounded(
    part: &'static str,
    parser: &'static str,
    tokens: &'static [&'static str],
    bytes: usize,
) -> Row {
    Row { part, parser, tokens, bytes }
}

pub const ROWS: &[Row] = &[
    row("html", "html.safe", &[TAGS, MARKUP, REFERENCES]),
    row("html", "html.style", &[STYLES, REFERENCES]),
    row("html", "html.sheet", &[SHEETS, STYLES]),
    row("html", "html.address", &[ADDRESSES, REFERENCES, STYLES]),
    row("html", "html.text", &[TAGS, MARKUP, REFERENCES]),
    row("html", "html.plain", &[TAGS, MARKUP, REFERENCES]),
    row("html", "html.visible", &[TAGS, MARKUP, REFERENCES, STYLES]),
    row("html", "html.snippet", &[TAGS, MARKUP, REFERENCES]),
    row("html", "html.content_ids", &[CONTENT_IDS]),
    // At most 8 KiB of a text are read for its snippet.
    bounded("html", "text.snippet", &[SPACES, REFERENCES], 4 << 10),
    row("html", "ical.html", &[TAGS, MARKUP, REFERENCES]),
    row("mime", "mime.message", &[HEADERS, BOUNDARIES, WORDS]),
    row("mime", "mime.multipart", &[BOUNDARIES, HEADERS, SPACES]),
    row("mime", "mime.attachment", &[BOUNDARIES, HEADERS]),
    row("mime", "mime.header", &[HEADERS, WORDS, FOLDS]),
    row("fields", "field.subject", &[WORDS, FOLDS, SPACES]),
    row("fields", "field.to", &[MAILBOXES, WORDS, FOLDS]),
    // `limits::PARAMETER_BYTES`: 4 KiB of a type and of a disposition are read.
    bounded("fields", "field.content_type", &[PARAMETERS, WORDS, FOLDS], 2_000),
    bounded("fields", "field.content_disposition", &[PARAMETERS, WORDS, FOLDS], 2_000),
    row("fields", "field.date", &[DATES, FOLDS, MAILBOXES]),
    row("fields", "field.references", &[IDS, FOLDS, MAILBOXES]),
    row("fields", "field.others", &[IDS, PARAMETERS, FOLDS]),
    row("parts", "part.base64", &[BASE64, SPACES]),
    row("parts", "part.quoted_printable", &[QUOTED, SPACES]),
    row("parts", "part.text", &[QUOTED, SPACES, CHARSETS]),
    row("parts", "part.html", &[TAGS, SPACES, CHARSETS]),
    row("parts", "part.uuencode", &[UUENCODED, SPACES]),
    row("parts", "part.utf_7", &[CHARSETS, BASE64]),
    row("parts", "part.iso_2022_jp", &[CHARSETS, SPACES]),
    row("parts", "part.shifted_charsets", &[CHARSETS, SHIFTS]),
    row("parts", "part.other_charsets", &[CHARSETS, SPACES]),
    row("reports", "report.delivery", &[BLOCKS, FOLDS, BOUNDARIES]),
    row("reports", "report.complaint", &[BLOCKS, FOLDS, BOUNDARIES]),
    row("reports", "report.recipients", &[MAILBOXES, BLOCKS, FOLDS]),
    row("reports", "report.exim", &[BOUNCES, BLOCKS]),
    row("reports", "report.qmail", &[BOUNCES, BLOCKS]),
    row("reports", "threads.message_ids", &[IDS, FOLDS, MAILBOXES]),
    // The base of a subject is computed from its first 2,000 bytes.
    bounded("reports", "threads.subject", &[SUBJECTS, SPACES], 1_000),
    // An address in a message has 998 bytes at most (`limits::TOKEN_BYTES`).
    bounded("reports", "address", &[LABELS], 450),
    bounded("reports", "address.domain", &[LABELS], 450),
    row("reports", "file_name", &[NAMES, LABELS]),
    row("reports", "check", &[PARAMETERS, SPACES, LABELS, CONTENT_IDS]),
    row("reports", "build", &[SPACES, QUOTED, LABELS]),
    // `MAX_RULE_BYTES`: a rule of 4 KiB is read.
    bounded("recurrence", "recurrence.rule", &[RULES, LISTS], 2_000),
    bounded("recurrence", "recurrence.part", &[LISTS, RULES], 1_900),
    row("recurrence", "recurrence.dates", &[LISTS, DATES]),
    row("recurrence", "recurrence.lines", &[RULE_LINES, RULES, LISTS]),
    row("recurrence", "recurrence.names", &[NAMES, LISTS, LABELS]),
    row("calendars", "ical.object", &[COMPONENTS, LINES, FOLDED]),
    row("calendars", "ical.components", &[COMPONENTS, LINES, FOLDED]),
    row("calendars", "ical.event", &[LINES, FOLDED, EVENT_LINES]),
    row("calendars", "ical.exceptions", &[EXCEPTIONS, EVENT_LINES, LINES]),
    row("calendars", "ical.alarm", &[EVENT_LINES, FOLDED, COMPONENTS]),
    row("calendars", "ical.todo", &[LINES, FOLDED, EVENT_LINES]),
    row("calendars", "ical.zone", &[ZONES, FOLDED]),
    row("calendars", "ical.zoned", &[EVENT_LINES, ZONED]),
    row("calendars", "ical.recurrence", &[EVENT_LINES, RULE_LINES, FOLDED]),
    row("calendars", "ical.busy", &[BUSY, FOLDED]),
    row("contacts", "vcard.object", &[CARDS, CARD_LINES, FOLDED]),
    row("contacts", "vcard.lines", &[CARD_LINES, FOLDED, CARDS]),
    row("contacts", "vcard.photo", &[BASE64, FOLDED]),
    row("contacts", "vcard.value", &[VALUES, FOLDED, QUOTED]),
    row("webdav", "xml.document", &[XML, REFERENCES]),
    row("webdav", "xml.tag", &[XML_TAG, REFERENCES]),
    row("webdav", "xml.multistatus", &[MULTISTATUS, XML]),
    row("webdav", "xml.response", &[MULTISTATUS, XML]),
    row("imap", "imap.values", &[IMAP]),
    row("imap", "imap.structure", &[IMAP, STRUCTURES]),
    row("imap", "imap.response", &[RESPONSES, IMAP]),
    row("imap", "imap.fetch", &[IMAP, STRUCTURES, FETCHED]),
    row("imap", "imap.status", &[CODES, IMAP]),
    row("imap", "imap.list", &[CODES, IMAP]),
    row("imap", "imap.search", &[SETS, IMAP]),
    row("imap", "imap.names", &[MAILBOX_NAMES, IMAP]),
    row("imap", "imap.uids", &[SETS]),
    row("imap", "imap.date", &[DATES, SETS]),
    row("sessions", "imap.session.new", &[UNTAGGED, CODES]),
    row("sessions", "imap.session.search", &[UNTAGGED, SETS]),
    row("sessions", "imap.session.get", &[UNTAGGED, IMAP]),
    row("sessions", "imap.session.changes", &[UNTAGGED, SETS]),
    row("sessions", "smtp.reply", &[REPLIES]),
    row("jmap", "jmap.answers", &[JSON, ANSWERS]),
    row("jmap", "jmap.members", &[JSON, MEMBERS]),
    row("jmap", "jmap.email", &[MEMBERS, EMAIL]),
    row("jmap", "jmap.text", &[WORDS, FOLDS, DATES, SPACES]),
    row("requests", "request.json", &[JSON, REQUESTS]),
    row("requests", "request.members", &[MEMBERS, REQUESTS, ITEMS]),
    row("requests", "request.items", &[ITEMS, JSON]),
    row("requests", "request.names", &[NAMES, LABELS]),
];

const TAGS: &str = "\
    <p>|</p>|<b>|<i>|<a href=x>|<a |<div>|</div>|<table>|<tr>|<td>|</table>|<li>|<ul>|<pre>\n|<img src=x>|\
    <font color=red>|<span style=\"color:red\">|<h1>|<br>|<x§>|</x§>|<select>|<svg>|<math>|<template>|<form>|<button>|\
    <nobr>";
const MARKUP: &str = "\
    <!--x!>-->|<!--|-->|--!>|<!-|<!|<![CDATA[|]]>|<?|</|<|>|<script>|</script|<style>|</style>|@import url(|<title>|\
    <textarea>|<xmp>|<iframe>|<noembed>|<p a§=b |=\"|='|\"|/| x|\0|é|<plaintext|<!doctype |-";
const REFERENCES: &str = "\
    &#|&#x|&am|&amp|&amp;|&|&not|&notit;|&CounterClockwiseContourIntegra|&#9|&#xfffffff|;|&a§";
const STYLES: &str = "\
    color:red;|:|;|(|)|[|{|}|rgb(|url(|/*|*/|\\|'|a:b;|width:1px;|background-color:|!important|-|@media|font:a,|#fff|\
    margin:-1px;|p§:x;|,| ";
const SHEETS: &str = "\
    p{|.a{|.a,|#a|}|{|display:none|;|@media screen{|@media |print{|.a§{opacity:0}|.a.b§{color:transparent}|:|*|\\|/*|*/|'|<!--|\
    -->|,| |!important|(|[|</style><style>|<p class=a>|<p class=\"b a§\">|</p>";
const ADDRESSES: &str = "\
    a.b/|%41|%|?a=b|#|@|xn--|é|..|//| |:|[|]|\\|a§.|\t|&amp;a=b";
const CONTENT_IDS: &str = "\
    cid:|cid:x|cid:x\"|cid|:|\"|é| |src=\"cid:a§@b\" |%40|cid:%40|CID:|cid:cid:|x|<img src=|>|'|cid:x'|url(cid:x)";
const SPACES: &str = "\
    a| |\t|\r\n|\n|\r|\n\n|a b |é|\u{200b}|\u{a0}|\0|a=b";
const HEADERS: &str = "\
    A: b\r\n|A:b\n|Subject: x\r\n|X-§: y\r\n|To: a@b.example\r\n|no colon\r\n|: empty\r\n|\r\n|Received: from a by b\r\n|\
    Content-Type: multipart/mixed; boundary=c\r\n|Content-Type: text/html\r\n|Content-Transfer-Encoding: base64\r\n|\
    Content-ID: <x>\r\n|Content-Disposition: attachment; filename=a\r\n|References: <a@b>\r\n|A: =?utf-8?q?x?=\r\n|\
    é: x\r\n";
const BOUNDARIES: &str = "\
    --b\r\n|--b--\r\n|--b|--|--b x\r\n|--bb\r\n|--b--x\r\n|--b \t\r\n|-|\n--|\r\n--b\r\n\r\n|--c\r\n|\
    --b\r\nContent-Type: multipart/mixed; boundary=c§\r\n\r\n--c§\r\n|--b\r\nContent-Type: message/rfc822\r\n\r\n|\
    --b\r\nContent-Type: text/html\r\n\r\n<p>x\r\n|text\r\n|--b\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n+\r\n|\
    --b\r\nContent-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR\r\n|\
    --b\r\nContent-Type: image/png\r\nContent-ID: <a§>\r\n\r\nx\r\n";
const WORDS: &str = "\
    =?|?=|=?utf-8?q?|=?utf-8?b?|=?utf-8?q?=C3=BC?=|=?utf-8?b?w7w=?= |=?a|?|q?|=|=C3|_|=?iso-2022-jp?b?GyRC?= |\
    =?x-§?q?a?= |=?utf-8*en?q?x?=|=?utf-7?q?+?=|=?koi8-r?q?=C1?=\r\n ";
const FOLDS: &str = "\
    \r\n |\r\n\t|\n | |\t|a|a b|\r|é|\r\n \r\n ";
const MAILBOXES: &str = "\
    (|)|<|>|\"|\\|\\\"|@|,|;|:|a@b.example, |A <a@b.example>, |\"A B\" <a@b.example>,|g: a@b.example;|(c)|<>|[|]|.|\
    u§@b.example, |a |<@a,@b:c@d.example>,";
const PARAMETERS: &str = "\
    ;|=|\"|'|*|*0|*0*=|; a*0=b|; a*§*=utf-8''%41|; a*=utf-8'en'%C3%BC|%|%4|;x§=y|; name=\"x\"|\\|\\\"|/|; boundary=b|\
    ; filename*1=c|,|(|)|; a*§=b|''";
const DATES: &str = "\
    Mon, |1 Jan 2026 |12:00:00 |+0000|-0100 |(CET)|(|)|9|99|2026|:|,|01-Jan-2026 |Z|T|é|20260301T090000Z,|Jan";
const IDS: &str = "\
    <a@b>|<|>|a@b |@|<a§@b> |<a@b|<>|,|;|(x)|\"|\\|<mailto:a@b.example>, |no;";
const BASE64: &str = "\
    QUJD|Q|QU|==|=|\r\n|QUJD\r\n|-|+|/|é| |+AGE-|&|QQ==";
const UUENCODED: &str = "\
    begin 644 a\n|begin 644 a\r\n|begin |#0V%T\n|M\n|`\n|end\n|end|#0V%T|\n|M0V%T0V%T\n| |~\n|begin 6444 a\n|be";
const SHIFTS: &str = "\
    \u{e}|\u{f}|\u{1b}$)C|\u{1b}$)|\u{1b}|~{|~}|~~|~\n|~|\n|!!|a";
const QUOTED: &str = "\
    =41|=|==|=4|=\r\n|= |=  \r\n|=\t| |\r\n|a| \r\n|=zz|é|=0D=0A|\n";
const CHARSETS: &str = "\
    +AGE-|+|-|+AGEA|\u{1b}$B|\u{1b}(B|\u{1b}|é|ü|<meta charset=utf-8>|charset=|\u{feff}|\0a|~{|~}|\u{1b}(J";
const BLOCKS: &str = "\
    \n\n|\r\n\r\n|\n\r\n|Final-Recipient: rfc822; a@b.example\r\n|Action: failed\r\n|Status: 5.1.1\r\n|\
    Diagnostic-Code: smtp; 550 5.1.1 no\r\n|Original-Recipient: rfc822;|Remote-MTA: dns; x\r\n|\
    Final-Recipient: rfc822; u§@b.example\r\n\r\n|;|5.|5.1.|Original-Rcpt-To: <a@b.example>\r\n|Reporting-MTA: dns; y\r\n|\
    x|\r\n";
const BOUNCES: &str = "\
    u§@b.example: 550 5.1.1 no\r\n|<u§@b.example>:\r\n|<|>:\r\n|u1@b.example|@|\n\n|\r\n\r\n|\
    --- Below this line is a copy of the message|------ This is a copy of|Message-ID: <a@b>\r\n|5.1.1 |5.|text |\r\n|x|\
    --- Below";
const SUBJECTS: &str = "\
    Re: |re:|[a]|[|]|[fwd: |(fwd)|Re[2]: |Re(2): |Re [|Re(|AW: |x|\u{56de}\u{590d}\u{ff1a}|Fwd: [a] |Re|:|(";
const LABELS: &str = "\
    a|a.|.|é|xn--|xn--a.|ü.|日本|-|_|\"|\\|+|=?|\u{308}|ß|0|é§.";
const NAMES: &str = "\
    Europe/|/|Berlin|W. Europe Standard Time| |.|..|a.b|\\|\u{202e}|é|\u{301}|\0|20260301T090000Z|_";
const RULES: &str = "\
    FREQ=DAILY;|FREQ=YEARLY;|BYDAY=MO,TU;|BYDAY=|;|=|COUNT=10;|UNTIL=20261231T000000Z;|INTERVAL=2;|BYMONTH=1,2;|\
    BYSETPOS=-1;|X§=1;|BYYEARDAY=|BYHOUR=|WKST=MO;|RSCALE=GREGORIAN;|A=B;|BYSECOND=1;| ";
const LISTS: &str = "\
    ,|MO,|1,|-1SU,|20260301T090000Z,|20260301,|20260301T090000Z/PT1H,|/|PT1H,|P|-|+|é|53MO,|366,|T|Z|0";
const RULE_LINES: &str = "\
    RRULE:FREQ=DAILY\n|EXDATE:20260301T090000Z\n|RDATE;VALUE=DATE:20260301\n|EXDATE;TZID=Europe/Berlin:20260301T090000\n|\
    RDATE;VALUE=PERIOD:20260301T090000Z/PT1H\n|\n|X:\n|;X=\"|\"|:|EXDATE;TZID=|EXRULE:FREQ=DAILY\n|;A§=b|EXDATE:";
const COMPONENTS: &str = "\
    BEGIN:VEVENT\r\n|END:VEVENT\r\n|BEGIN:VTODO\r\n|END:VTODO\r\n|BEGIN:VALARM\r\n|END:VALARM\r\n|BEGIN:VCALENDAR\r\n|\
    END:VCALENDAR\r\n|BEGIN:X§\r\nEND:X§\r\n|BEGIN:|END:|BEGIN\r\n|\
    BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260301T090000Z\r\nEND:VEVENT\r\n|BEGIN:VTIMEZONE\r\nTZID:A§\r\nEND:VTIMEZONE\r\n|\
    BEGIN:VTODO\r\nUID:1\r\nEND:VTODO\r\n";
const FOLDED: &str = "\
    \r\n |\n |\r\n\t|\r\n|\n|\r| | x\r\n|x|x\r\n|\r\n \r\n|=\r\n|\u{feff}|é";
const LINES: &str = "\
    A:b\r\n|A;X=|;X=\"|\"|,|;|:|\\|\\n|\\,|^n|A;ENCODING=QUOTED-PRINTABLE:a=\r\n|X-A§:b\r\n|SUMMARY:x\r\n|no colon\r\n|\
    ;A§=b|DESCRIPTION:|CATEGORIES:a,b\r\n|COMMENT:x\r\n";
const EVENT_LINES: &str = "\
    RRULE:FREQ=DAILY\r\n|EXDATE:20260301T090000Z\r\n|EXDATE;TZID=Home:20260301T090000\r\n|\
    EXDATE;TZID=A§:20260301T090000\r\n|RDATE;VALUE=DATE:20260301\r\n|\
    ATTENDEE;CN=A;PARTSTAT=ACCEPTED:mailto:a@b.example\r\n|ATTENDEE:mailto:u§@b.example\r\n|\
    ORGANIZER:mailto:a@b.example\r\n|ATTACH;VALUE=BINARY;ENCODING=BASE64:QUJD\r\n|\
    BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n|DTEND:20260301T100000Z\r\n|DURATION:PT1H\r\n|\
    TRIGGER:-PT5M\r\n|X-ALT-DESC;FMTTYPE=text/html:<p>x\r\n|RELATED-TO:1\r\n|CONFERENCE:https://x.example\r\n|\
    RDATE;TZID=Europe/Berlin:20260301T090000\r\n";
const EXCEPTIONS: &str = "\
    BEGIN:VEVENT\r\nUID:1\r\nRECURRENCE-ID:20260301T090000Z\r\nDTSTART:20260301T100000Z\r\nEND:VEVENT\r\n|\
    BEGIN:VEVENT\r\n|END:VEVENT\r\n|\
    BEGIN:VEVENT\r\nUID:1\r\nRECURRENCE-ID;TZID=Europe/Berlin:20260301T090000\r\nDTSTART:20260301T100000Z\r\nEND:VEVENT\r\n|\
    BEGIN:VEVENT\r\nUID:1\r\nRECURRENCE-ID;TZID=A§:20260301T090000\r\nDTSTART:20260301T100000Z\r\nEND:VEVENT\r\n|\
    BEGIN:VTIMEZONE\r\nTZID:A§\r\nBEGIN:STANDARD\r\nDTSTART:20000101T000000\r\nTZOFFSETFROM:+0000\r\nTZOFFSETTO:+0000\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n|\
    X:y\r\n";
const ZONES: &str = "\
    BEGIN:STANDARD\r\nDTSTART:20000101T000000\r\nTZOFFSETFROM:+0000\r\nTZOFFSETTO:+0000\r\nEND:STANDARD\r\n|\
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\n|RDATE:20000101T000000\r\n|\
    BEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nTZOFFSETFROM:+0000\r\nTZOFFSETTO:+0000\r\nEND:STANDARD\r\n|\
    BEGIN:DAYLIGHT\r\n|END:DAYLIGHT\r\n|BEGIN:STANDARD\r\n|END:STANDARD\r\n|TZID:Home\r\n|X-LIC-LOCATION:Nowhere\r\n|\
    TZNAME:X§\r\n|DTSTART:20000101T000000\r\n|TZOFFSETFROM:+0000\r\n|TZOFFSETTO:+0000\r\n|COMMENT:x\r\n|\
    RDATE:20000101T000000,|20010101T000000,";
const ZONED: &str = "\
    DTSTART;TZID=Home:20260301T090000\r\n|EXDATE;TZID=Home:20270301T090000\r\n|EXDATE;TZID=Home:2§0301T090000\r\n|\
    RDATE;TZID=\"Home\":20260301T090000\r\n|RECURRENCE-ID;TZID=Home:20260301T090000\r\n|\
    EXDATE;TZID=Nowhere§:20260301T090000\r\n|EXDATE;TZID=Home:|20260301T090000,|X:y\r\n";
const BUSY: &str = "\
    FREEBUSY:20260301T090000Z/PT1H\r\n|FREEBUSY;FBTYPE=FREE:|20260301T090000Z/20260301T100000Z,|FREEBUSY:|,|/|PT1H|P|\
    DTSTART:20260301T090000Z\r\n|;X=\"|\"|:|BEGIN:VFREEBUSY\r\n|END:VFREEBUSY\r\n|\\|X§:y\r\n";
const CARDS: &str = "\
    BEGIN:VCARD\r\n|END:VCARD\r\n|VERSION:3.0\r\n|VERSION:2.1\r\n|VERSION:4.0\r\n|AGENT:\r\nBEGIN:VCARD\r\n|\
    BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A\r\nEND:VCARD\r\n|BEGIN:|END:|KIND:group\r\n|FN:A\r\n";
const CARD_LINES: &str = "\
    TEL;TYPE=home,work:1\r\n|EMAIL:a@b.example\r\n|item§.TEL:1\r\nitem§.X-ABLabel:x\r\n|item1.X-ABLabel:_$!<Home>!$_\r\n|\
    item1.EMAIL:a@b.example\r\n|ADR:;;a;b;c;d;e\r\n|N:a;b;c;d;e\r\n|ORG:a;b\r\n|CATEGORIES:a,b\r\n|NOTE:x\r\n|\
    NOTE;ENCODING=QUOTED-PRINTABLE:=C3=BC=\r\n|PHOTO;ENCODING=b:QUJD\r\n|PHOTO:data:image/png;base64,|;X=\"|\"|,|;|:|\\|\
    X-SOCIALPROFILE;TYPE=x:y\r\n|MEMBER:urn:uuid:§\r\n|X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:1\r\n|\
    IMPP;X-SERVICE-TYPE=Skype:skype:a\r\n|BDAY:19800101\r\n|RELATED:x\r\n|URL:x\r\n|;A§=b|X-ABDATE:20200101\r\n|\
    no colon\r\n|RELATED;TYPE=friend:x\r\n|TITLE:x\r\n|ROLE:x\r\n";
const VALUES: &str = "\
    ;|,|\\|\\;|\\,|\\n|a|a;b;|a,b,|é|:|=|=C3|--|T|1|^n|\"|data:| ";
const XML: &str = "\
    <a>|</a>|<a/>|<a b=\"c\"/>|<a xmlns:p§=\"u§\">|<a xmlns=\"u§\">|<p1:a/>|<a§/>|<|>|<!--|-->|<!-- x -->|<![CDATA[|]]>|\
    <![CDATA[x]]>|<?x?>|<?|text|&lt;|&#65;|</|\"|<a b=\"|x |é|<d:x/>|]|-";
const XML_TAG: &str = "\
    a§=\"b\" |xmlns:p§=\"u\" |xmlns:p=\"u§\" |a=\"b\" |a='b' |=|\"|'|a|a=|a=\"| |\n|xmlns=\"u\" |p:a§=\"b\" |/|é=\"\" |\
    a§=\"&lt;\" |a§ ";
const MULTISTATUS: &str = "\
    <d:response><d:href>/a§</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>|<d:href>/h§</d:href>|\
    <d:status>HTTP/1.1 200 OK</d:status>|\
    <d:propstat><d:prop><d:getetag>x</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>|\
    <d:propstat><d:prop><d:p§/></d:prop><d:status>HTTP/1.1 404 N</d:status></d:propstat>|<d:error><d:x/></d:error>|\
    <d:response>|</d:response>|<d:propstat>|</d:propstat>|<d:prop>|</d:prop>|<d:displayname>|</d:displayname>|\
    <d:sync-token>x</d:sync-token>|<c:calendar-data>BEGIN:VCALENDAR&#13;\n</c:calendar-data>|\
    <d:resourcetype><d:collection/></d:resourcetype>|<d:p§>x</d:p§>";
const IMAP: &str = "\
    (|)|()|\"|\\|\\\"|\"a\" |NIL |{3}\r\nabc|{3+}\r\nabc |{3}|{|{999999}\r\n|~{1}\r\nx |[|]|a |a|BODY[|BODY[1]<0> |\r\n| |\
    1 |é|\\Seen |a§ |BODY[HEADER.FIELDS (A B)] |\0|%|*";
const STRUCTURES: &str = "\
    (\"TEXT\" \"PLAIN\" (\"CHARSET\" \"utf-8\") NIL NIL \"7BIT\" 2 1)|\
    (\"A\" \"B\" NIL NIL NIL \"BASE64\" 9 NIL (\"attachment\" (\"filename\" \"x\")))|((\"A\" \"B\")|\"MIXED\")|\
    BODYSTRUCTURE |(\"MESSAGE\" \"RFC822\" NIL NIL NIL \"7BIT\" 9 (NIL) (|(\"name\" \"v§\")|(\"a\" \"b\" ";
const FETCHED: &str = "\
    UID § |FLAGS (\\Seen \\Draft) |FLAGS (|INTERNALDATE \"17-Jul-1996 02:44:25 -0700\" |RFC822.SIZE 9 |MODSEQ (9) |\
    EMAILID (M1) |BODY[HEADER] {3}\r\nA:b |BODY[§] \"x\" |PREVIEW \"x\" ";
const RESPONSES: &str = "\
    LIST (\\HasNoChildren) \"/\" a|STATUS INBOX (MESSAGES 1 |SEARCH |ESEARCH (TAG \"s1\") UID ALL 1:3|\
    VANISHED (EARLIER) 1:9|1 FETCH (UID 1)|OK [|NO |CAPABILITY |FLAGS (|ENABLED |NAMESPACE ((\"\" \"/\")) |BYE |1,|2:3,|\
    § |\"/\" |]";
const CODES: &str = "\
    ALERT|UIDNEXT 1|PERMANENTFLAGS (|\\* |\\Seen |COPYUID 1 1:2 3:4|1:2,|,|:|1|CAPABILITY |IMAP4rev1 |AUTH=PLAIN |]|[|(|)|\
    \"|BADCHARSET (|x§ | |&|é|APPENDUID 1 |MODIFIED ";
const SETS: &str = "\
    1|,|:|1,|1:2,|§,|§ |§:*,|*|*:1,|4294967295,|0,| |1 2 |99999999999,|-|é|9:1,";
const MAILBOX_NAMES: &str = "\
    &|-|&-|&APw-|&AGE-|&2D3eAA-|&2D0-|a|/|é|&APw|&!!-|,|&U,BTFw-|A§/";
const UNTAGGED: &str = "\
    * LIST (\\HasNoChildren) \"/\" a§\r\n|* LIST (\\HasNoChildren) \"/\" INBOX\r\n|\
    * STATUS a§ (MESSAGES 1 UNSEEN 0 UIDNEXT 2 UIDVALIDITY 3)\r\n|* SEARCH §\r\n|* SEARCH 9§ 1 2 3\r\n|\
    * ESEARCH (TAG \"s1\") UID ALL §\r\n|* VANISHED (EARLIER) §\r\n|* § EXISTS\r\n|\
    * § FETCH (UID § FLAGS (\\Seen) MODSEQ (§))\r\n|* 1 FETCH (UID 3 BODY[1] \"x\")\r\n|\
    * 1 FETCH (UID 3 BODY[1] {3}\r\nabc)\r\n|* 1 FETCH (UID 3 BODY[2.MIME] \"\" BODY[2] {9}\r\nQUJDREVGR)\r\n|\
    * OK [UIDNEXT §] x\r\n|* OK x\r\n|* NO [ALERT] x\r\n|* FLAGS (\\Seen)\r\n|* CAPABILITY IMAP4rev1 X§\r\n|* |\r\n|(|\"|\
    {5}\r\n|x\r\n|+ ok\r\n|@ OK done\r\n|@ NO [TRYCREATE] no\r\n|* NAMESPACE NIL NIL NIL\r\n|* § EXPUNGE\r\n|s0 OK x\r\n";
const REPLIES: &str = "\
    250-x\r\n|250 ok\r\n|250-\r\n250|550-5.1.1 no\r\n|550 5.1.1 no\r\n|-| |\r\n|x|250|354 go\r\n|421 bye\r\n|\
    250-5.1.1 \u{e9}\r\n|5.1.1|250-§\r\n|\n|\r|220 hi\r\n250-";
const JSON: &str = "\
    {|}|[|]|\"|:|,|\\|\\\"|\\u00e9|\\ud83d|1|1e9|-|null,|true,|\"a\":|\"a§\":1,|[1],|{\"a\":{}},|\"x\",| |0.|\
    99999999999999999999,|é|\"\\u";
const ANSWERS: &str = "\
    [\"Email/get\",{},\"c0\"],|[\"Email/get\",{\"list\":[{}]},\"c§\"],|[\"error\",{\"type\":\"x\"},\"c1\"],|\
    [\"Email/get\",|{\"list\":[|\"c0\"]|[[";
const MEMBERS: &str = "\
    \"list\":[{}],|\"ids\":[\"a§\"],|\"created\":{\"a§\":{\"id\":\"b\"}},|\"notCreated\":{\"a\":{\"type\":\"x\"}},|\
    \"x§\":{},|\"x§\":[[],[]],|\"newState\":\"s\",|\"updated\":null,|\"destroyed\":[],|\"x§\":\"\\u00e9\",";
const REQUESTS: &str = "\
    0,|[0,|{\"a\":[|\"a_b§\":0,|\"k§\":[0,0,0],|\"metadata\":{\"a_b\":1},|\"tags\":{|\"x_y\":{\"z\":|\"start\":{},|\"attendees\":[{}],|\
    \"reminders\":{\"overrides\":[{\"sound\":1}]},|\"recurrence\":[\"RRULE:FREQ=DAILY\"],|[[],[]],|\"\u{0}\",|\"\\u0000\",";
const ITEMS: &str = "\
    {\"email\":\"a@b.example\"},|{\"email\":\"u§@b.example\",\"x§\":1},|{},|[],|{\"x§\":{\"y§\":[1]}},|\"a@b.example\",|null,|0,|\
    {\"name\":\"é\",\"e_mail\":\"x\"},|{\"email\":[0,0]},";
const EMAIL: &str = "\
    \"k§\":0,|\"to\":[{\"name\":\"A\",\"email\":\"a@b.example\"}],|\
    \"headers\":[{\"name\":\"X-A\",\"value\":\"=?utf-8?q?x?=\"}],|\"bodyValues\":{\"1\":{\"value\":\"x\"}},|\
    \"textBody\":[{\"partId\":\"1\",\"type\":\"text/plain\"}],|\"keywords\":{\"$seen\":true},|\
    \"attachments\":[{\"partId\":\"2\",\"header:Content-Type\":\" a/b; c*0=d\"}],|\"subject\":\"x\",|\
    \"references\":[\"a@b\"],";
