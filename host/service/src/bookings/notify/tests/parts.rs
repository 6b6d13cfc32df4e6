//! The two parts of each message: text of 72 columns that has every link and answer, and HTML that loads nothing.

use model::scheduling::booking::BookingStatus;
use model::scheduling::event_type::{Question, QuestionKind};
use serde_json::json;

use super::{facts, key};
use crate::bookings::host_decision::DecisionUrls;
use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::kind::{MailKind, MailRole};
use crate::bookings::notify::message_text::{self, MessageText};
use crate::locale::Language;

const ROLES: [MailRole; 3] = [MailRole::Invitee, MailRole::Guests, MailRole::Hosts];
const KINDS: [MailKind; 9] = [
    MailKind::Pending,
    MailKind::Confirmed,
    MailKind::Rescheduled,
    MailKind::Conference,
    MailKind::AllDay,
    MailKind::Cancelled,
    MailKind::Rejected,
    MailKind::Expired,
    MailKind::Reminder(60),
];
/// Largest part of a message without long answers, in bytes.
const MAX_PART: usize = 6 << 10;

/// A booking with answers of each kind.
fn answered() -> MessageContext {
    let question = |key: &str, label: &str, kind| Question {
        key: key.to_owned(),
        label: label.to_owned(),
        kind,
        ..Question::default()
    };
    let mut facts = MessageContext { language: Language::English, ..facts() };
    facts.event_type.questions = vec![
        question("size", "Team size", QuestionKind::Select),
        question("topic", "What would you like to talk about?", QuestionKind::Textarea),
    ];
    facts.booking.answers = [
        ("size".to_owned(), json!("11–100")),
        ("topic".to_owned(), json!("How we move 40 mailboxes from our old system, and what that costs us.")),
    ]
    .into();
    facts
}

/// A booking that the host is asked to confirm.
fn asked() -> MessageContext {
    let mut facts = answered();
    facts.booking.status = BookingStatus::Pending;
    let page = "https://book.example.org/book/h/secret";
    let urls = DecisionUrls { confirm: format!("{page}/confirm"), decline: format!("{page}/decline") };
    facts.decision = Some(urls);
    facts
}

/// The addresses in an HTML part.
fn addresses(html: &str) -> Vec<String> {
    let hrefs = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    hrefs.map(|href| href.replace("&amp;", "&")).collect()
}

fn each_message(facts: &MessageContext) -> Vec<MessageText> {
    let of = |role| KINDS.map(|kind| message_text::of_change(facts, &key(kind, role), false));
    ROLES.into_iter().flat_map(of).collect()
}

/// Mail programs do not adapt tables to phones, hide images, and reveal to the sender when a part is loaded.
#[test]
fn html_has_no_table_and_loads_nothing() {
    for facts in [answered(), asked()] {
        for MessageText { html, .. } in each_message(&facts) {
            for absent in ["<table", "<img", "src=", "url(", "<script", "<link", "@import", "<form"] {
                assert!(!html.contains(absent), "{absent}: {html}");
            }
            let count = |part: &str| html.matches(part).count();
            assert_eq!(count("http"), count("href=\"http") + count(">http"), "{html}");
            assert!(html.len() <= MAX_PART, "{} bytes: {html}", html.len());
        }
    }
}

/// The plain text has the same content: every address and every answer.
#[test]
fn text_has_every_link_and_answer_of_the_html() {
    for facts in [answered(), asked()] {
        for MessageText { text, html, .. } in each_message(&facts) {
            for address in addresses(&html).iter().filter(|address| !address.starts_with("mailto:")) {
                assert!(text.contains(address.as_str()), "{address} is not in {text}");
            }
            assert_eq!(text.contains("11–100"), html.contains("11–100"), "{text}");
        }
    }
    let hosts = message_text::of_change(&asked(), &key(MailKind::Pending, MailRole::Hosts), false);
    for answer in
        ["Team size:\n> 11–100\n", "What would you like to talk about?:\n> How we move 40 mailboxes"]
    {
        assert!(hosts.text.contains(answer), "{answer} is not in {}", hosts.text);
    }
}

/// An answer that the host offers is no stranger's text. Free text goes to the hosts only, because the invitee's address is not verified.
#[test]
fn an_invitee_reads_the_answers_that_were_chosen() {
    let invitees = message_text::of_change(&answered(), &key(MailKind::Confirmed, MailRole::Invitee), false);
    assert!(invitees.text.contains("Team size: 11–100\n"), "{}", invitees.text);
    assert!(invitees.html.contains("11–100"), "{}", invitees.html);
    assert!(!invitees.text.contains("mailboxes") && !invitees.html.contains("mailboxes"));
}

#[test]
fn text_has_72_columns() {
    for facts in [answered(), asked()] {
        for MessageText { text, .. } in each_message(&facts) {
            let is_address = |line: &str| line.starts_with("http") && !line.contains(' ');
            for line in text.lines().filter(|line| !is_address(line)) {
                assert!(line.chars().count() <= 72, "{line:?} in {text}");
            }
        }
    }
}

/// A button leads to a page, where the action takes another click: mail programs open the addresses of a mail.
#[test]
fn a_host_reads_who_asks_and_what_the_buttons_do() {
    let message = message_text::of_change(&asked(), &key(MailKind::Pending, MailRole::Hosts), false);
    let heading =
        message.html.split_once("<h1").and_then(|(_, rest)| rest.split_once("</h1>")).expect("an h1").0;
    assert!(heading.ends_with(">Ada &lt;b&gt; would like to book this time.</bdi>"), "{heading}");
    for part in
        ["Waiting for you", "Each button opens a page", "/book/h/secret/confirm", "/book/h/secret/decline"]
    {
        assert!(message.html.contains(part), "{part} is not in {}", message.html);
    }
    assert_eq!(message.html.matches("class=\"m-button").count(), 2, "{}", message.html);
}

#[test]
fn hostile_names_are_text_in_every_part() {
    let hostile = "\"><script>x</script><a href=\"https://evil.example\">\r\nBcc: eve@evil.example";
    let mut facts = asked();
    facts.booking.invitee.name = Some(hostile.to_owned());
    facts.event_type.title = hostile.to_owned();
    facts.booking.title = hostile.to_owned();
    facts.event_type.hosts[0].display_name = Some(hostile.to_owned());
    for MessageText { subject, html, text } in each_message(&facts) {
        assert!(!subject.contains('\n') && !subject.contains('\r'), "{subject:?}");
        assert!(!html.contains("<script") && !html.contains("href=\"https://evil"), "{html}");
        assert!(!text.lines().any(|line| line.starts_with("Bcc:")), "{text}");
    }
}

/// A message offers the actions that the event type still allows its invitee, with their deadline.
#[test]
fn ways_that_are_closed_are_not_offered() {
    let mut facts = answered();
    let read = |facts: &MessageContext| {
        message_text::of_change(facts, &key(MailKind::Reminder(60), MailRole::Invitee), false).text
    };
    facts.event_type.reschedule.min_notice_minutes = 120;
    facts.event_type.cancellation.min_notice_minutes = 120;
    let early = read(&facts);
    assert!(early.contains("/move?") && early.contains("/cancel?"), "{early}");
    assert!(early.ends_with("You can do this until Tuesday, 10 March 2026, 08:00.\n"), "{early}");
    facts.now = facts.booking.start.as_millis() - 60 * 60_000;
    let late = read(&facts);
    assert!(!late.contains("/move?") && !late.contains("/cancel?"), "{late}");
    facts.event_type.cancellation.min_notice_minutes = 0;
    let late = read(&facts);
    assert!(!late.contains("/move?") && late.contains("/cancel?") && !late.contains("until"), "{late}");
}

#[test]
fn a_message_has_the_direction_of_its_language() {
    let facts = MessageContext { language: Language::Arabic, ..answered() };
    let message = message_text::of_change(&facts, &key(MailKind::Confirmed, MailRole::Invitee), false);
    assert!(message.html.starts_with("<!doctype html>\n<html lang=\"ar\" dir=\"rtl\">"), "{}", message.html);
    assert!(message.html.contains("lang=\"ar\" dir=\"rtl\" class=\"m-ground m-text\""), "{}", message.html);
}

/// The main button has the brand's colour, and links the nearest readable one.
#[test]
fn a_message_has_the_colour_of_its_event_type() {
    let mut facts = answered();
    let html = |facts: &MessageContext| {
        message_text::of_change(facts, &key(MailKind::Confirmed, MailRole::Invitee), false).html
    };
    let usual = html(&facts);
    for part in
        ["background:#1257c4;color:#ffffff;", "style=\"color:#1257c4\"", ".m-link{color:#5a98ff!important}"]
    {
        assert!(usual.contains(part), "{part} is not in {usual}");
    }
    facts.event_type.color = Some("#ffd400".to_owned());
    let yellow = html(&facts);
    assert!(yellow.contains("background:#ffd400;color:#000000;"), "{yellow}");
    assert!(!yellow.contains("style=\"color:#ffd400") && !yellow.contains("1257c4"), "{yellow}");
}
