//! The event type's part of every view of the page. Of a host only what the event type shows to invitees.

use model::scheduling::event_type::{EventType, MeetingPlaceKind};
use service::locale::html::Html;
use service::locale::{Language, dates};

use crate::api::book::hosts;
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::subject::{BookableEventType, BookingToMove, PageRequest};
use crate::api::book::texts::controls::controls;
use crate::api::book::texts::fields::Texts;
use crate::api::book::texts::texts;

/// Characters of a description that are shown; the rest is folded.
const MAX_ABOUT: usize = 140;
/// Length of a heading, in characters, from which its font is smaller.
const LONG_HEADING: usize = 60;
/// Length of one of its words, in characters, from which its font is smaller.
const LONG_WORD: usize = 20;

/// The name of a kind of place, without its address, link or number.
pub fn place(kind: MeetingPlaceKind, texts: &Texts) -> &'static str {
    let [in_person, phone_host, phone_invitee, google_meet, teams, zoom, link] = texts.places;
    match kind {
        MeetingPlaceKind::InPerson => in_person,
        MeetingPlaceKind::PhoneHost => phone_host,
        MeetingPlaceKind::PhoneInvitee => phone_invitee,
        MeetingPlaceKind::GoogleMeet => google_meet,
        MeetingPlaceKind::Teams => teams,
        MeetingPlaceKind::Zoom => zoom,
        MeetingPlaceKind::Link => link,
    }
}

/// A number of minutes.
pub fn minutes(minutes: i64, texts: &Texts) -> String {
    format!("{minutes}{}", texts.minutes)
}

/// The image of the event type's link, such as a logo; empty if there is none. Its height is reserved before it is loaded.
pub fn logo(event_type: &EventType) -> Html {
    let mut html = Html::default();
    if let Some(url) = &event_type.link.logo_url {
        html.raw("<img class=\"logo\" alt=\"\" src=\"").text(url).raw("\">\n");
    }
    html
}

/// The hosts and the event type's title as the page's heading.
pub fn title(event_type: &EventType, language: Language) -> Html {
    heading(event_type, language, &hosts::names(event_type, language), &event_type.title)
}

/// The hosts and the event type's title, with the action as the page's heading.
pub fn title_of_deed(event_type: &EventType, language: Language, deed: &str) -> Html {
    let mut line = Html::default();
    line.raw("<bdi>").text(&event_type.title).raw("</bdi>");
    heading(event_type, language, &line, deed)
}

/// The hosts' images, a line and below it the heading.
fn heading(event_type: &EventType, language: Language, line: &Html, text: &str) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"title\">").html(&hosts::faces(event_type, language)).raw("<div>");
    if !line.as_str().is_empty() {
        html.raw("<p class=\"soft\">").html(line).raw("</p>");
    }
    html.raw(if is_long(text) { "<h1 class=\"long\" dir=\"auto\">" } else { "<h1 dir=\"auto\">" });
    html.text(text).raw("</h1></div></div>\n");
    html
}

fn is_long(heading: &str) -> bool {
    heading.chars().count() >= LONG_HEADING
        || heading.split_whitespace().any(|word| word.chars().count() >= LONG_WORD)
}

/// The length of the meeting, unless there are several to choose from, and the kinds of its places.
pub fn facts(event_type: &EventType, language: Language) -> Html {
    let texts = texts(language);
    let mut html = Html::default();
    let mut kinds: Vec<MeetingPlaceKind> = event_type.locations.iter().map(|found| found.kind).collect();
    kinds.dedup();
    let has_one_duration = event_type.duration_options.is_empty();
    if kinds.is_empty() && !has_one_duration {
        return html;
    }
    html.raw("<ul class=\"meta\">");
    if has_one_duration {
        html.raw("<li>").html(&icon(PageIcon::Clock)).text(&minutes(event_type.duration_minutes, texts));
        html.raw("</li>");
    }
    for kind in kinds {
        html.raw("<li>").html(&icon(icon_of(kind))).text(place(kind, texts)).raw("</li>");
    }
    html.raw("</ul>\n");
    html
}

/// The icon of a kind of place.
pub fn icon_of(kind: MeetingPlaceKind) -> PageIcon {
    match kind {
        MeetingPlaceKind::InPerson => PageIcon::Pin,
        MeetingPlaceKind::PhoneHost | MeetingPlaceKind::PhoneInvitee => PageIcon::Phone,
        MeetingPlaceKind::GoogleMeet
        | MeetingPlaceKind::Teams
        | MeetingPlaceKind::Zoom
        | MeetingPlaceKind::Link => PageIcon::Video,
    }
}

/// The description: its beginning, and the rest folded.
pub fn description(event_type: &EventType, language: Language) -> Html {
    let mut html = Html::default();
    let Some(text) = event_type.description.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
        return html;
    };
    let (beginning, rest) = fold(text);
    html.raw("<p class=\"about\" dir=\"auto\">").text(&beginning).raw("</p>\n");
    if let Some(rest) = rest {
        html.raw("<details><summary>").text(controls(language).read_more).raw("</summary>");
        html.raw("<p class=\"about\" dir=\"auto\">").text(rest).raw("</p></details>\n");
    }
    html
}

/// The beginning of a text, cut after a sentence or a word, and the rest, if the text is long.
fn fold(text: &str) -> (String, Option<&str>) {
    if text.chars().count() <= MAX_ABOUT {
        return (text.to_owned(), None);
    }
    let (mut after_sentence, mut after_word) = (None, None);
    for ((at, c), next) in text.char_indices().zip(text.chars().skip(1)).take(MAX_ABOUT) {
        let end = at + c.len_utf8();
        if c == '\n' || "。！？".contains(c) || (".!?؟".contains(c) && next.is_whitespace()) {
            after_sentence = Some(end);
        }
        if next.is_whitespace() {
            after_word = Some(end);
        }
    }
    // A text without blanks, such as an address, is not cut.
    let Some((beginning, rest)) = after_sentence.or(after_word).and_then(|end| text.split_at_checked(end))
    else {
        return (text.to_owned(), None);
    };
    let mark = if after_sentence.is_some() { "" } else { "…" };
    (format!("{}{mark}", beginning.trim_end()), Some(rest.trim_start()))
}

/// The current time of the booking to be rescheduled, and its status.
pub fn present_time(visit: &PageRequest, subject: &BookableEventType, moved: &BookingToMove) -> Html {
    let texts = texts(visit.language);
    let parts = dates::span_parts(moved.start, moved.end, &subject.zone, visit.language, visit.hours);
    let mut html = Html::default();
    html.raw("<div class=\"was\"><p class=\"soft\">").text(texts.present_time).raw("</p><p><strong>");
    html.text(&parts.day).raw("</strong><br>").text(&parts.times).raw("</p></div>\n");
    html.raw("<p class=\"about soft\">").text(controls(visit.language).keeps_time);
    if subject.bookable.body.requires_confirmation {
        html.raw(" ").text(texts.confirms_again);
    }
    html.raw("</p>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_is_folded_after_a_sentence() {
        let short = "Half an hour.";
        assert_eq!(fold(short), (short.to_owned(), None));
        let rest = "x ".repeat(100);
        let text = format!("Two sentences. Here is one more, v1.5. {rest}");
        assert_eq!(fold(&text), ("Two sentences. Here is one more, v1.5.".to_owned(), Some(rest.as_str())));
        let japanese = format!("三十分です。{}", "あ".repeat(200));
        assert_eq!(fold(&japanese).0, "三十分です。");
    }

    #[test]
    fn a_long_sentence_is_folded_after_a_word() {
        let text = "word ".repeat(40);
        let (beginning, rest) = fold(text.trim());
        assert!(beginning.ends_with("word…") && beginning.chars().count() <= MAX_ABOUT + 1, "{beginning}");
        assert!(rest.is_some_and(|rest| rest.starts_with("word ")), "{rest:?}");
        let address = format!("https://example.org/{}", "x".repeat(200));
        assert_eq!(fold(&address), (address.clone(), None));
    }

    #[test]
    fn a_heading_is_smaller_if_it_or_a_word_of_it_is_long() {
        assert!(!is_long("Product consultation"));
        assert!(is_long("Datenschutz-Folgenabschätzung"));
        assert!(is_long("A consultation about the next steps, with all who have a part in it"));
    }
}
