//! The content of a message, before it is rendered as plain text and as HTML.

use crate::bookings::brand::MailColors;
use crate::locale::Language;

/// The parts of a message, in their order.
#[derive(Clone, Debug)]
pub struct NoticeContent {
    pub language: Language,
    pub colors: MailColors,
    /// The change in a few words.
    pub state: &'static str,
    /// The change as a sentence.
    pub sentence: String,
    /// The booking's title from the reader's side.
    pub title: String,
    /// Whether the sentence replaces the title as the heading, because it asks the reader to act.
    pub asks: bool,
    /// The preview line beside the subject in mail programs: the time of the meeting.
    pub preview: String,
    pub facts: Vec<MessageFact>,
    pub buttons: Vec<MessageButton>,
    /// Sentences about the buttons.
    pub remarks: Vec<String>,
    /// The invitee's texts, after everything that they could imitate.
    pub words: Vec<MessageFact>,
    /// Ways to change the booking.
    pub links: Vec<MessageLink>,
    /// The time until which these links work.
    pub deadline: Option<String>,
}

/// A label with its value.
#[derive(Clone, Debug, Default)]
pub struct MessageFact {
    pub label: String,
    pub lines: Vec<FactLine>,
    /// Whether the lines are another person's text, to be rendered so that none of them looks like a line of the message.
    pub is_quoted: bool,
}

/// A line of a fact, with a link if it has an address.
#[derive(Clone, Debug, Default)]
pub struct FactLine {
    pub text: String,
    pub url: Option<String>,
}

/// A button. It opens a page and changes nothing by itself, because mail programs open the addresses of a mail.
#[derive(Clone, Debug)]
pub struct MessageButton {
    pub label: &'static str,
    pub url: String,
    pub weight: ButtonWeight,
}

/// The style of a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonWeight {
    Main,
    Plain,
    Danger,
}

/// A link in the small print.
#[derive(Clone, Debug)]
pub struct MessageLink {
    pub label: &'static str,
    pub url: String,
}

impl MessageFact {
    /// A fact with these lines.
    pub fn new(label: impl Into<String>, lines: impl IntoIterator<Item = String>) -> MessageFact {
        let lines = lines.into_iter().map(|text| FactLine { text, url: None }).collect();
        MessageFact { label: label.into(), lines, is_quoted: false }
    }

    /// A fact with another person's text, of any number of lines.
    pub fn quoted(label: impl Into<String>, text: &str) -> MessageFact {
        let plain = plain(text);
        MessageFact { is_quoted: true, ..MessageFact::new(label, plain.lines().map(str::to_owned)) }
    }

    /// Adds a line with a link.
    pub fn linked(mut self, text: impl Into<String>, url: String) -> MessageFact {
        self.lines.push(FactLine { text: text.into(), url: Some(url) });
        self
    }
}

/// The text without control characters except whitespace, and with line feeds as line ends.
pub fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\u{2028}', '\u{2029}'], "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

/// The text in one line.
pub fn one_line(text: &str) -> String {
    plain(text).replace('\n', " ")
}
