//! What a message says, before it is written as plain text and as HTML.

use crate::bookings::brand::MailColors;
use crate::locale::Language;

/// The parts of a message, in the order in which it says them.
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
    /// The sentence stands in place of the title as the heading, for it says what the reader has to do.
    pub asks: bool,
    /// The first line that mail programs show beside the subject: when the meeting is.
    pub preview: String,
    pub facts: Vec<MessageFact>,
    pub buttons: Vec<MessageButton>,
    /// Sentences about the buttons.
    pub remarks: Vec<String>,
    /// Texts of the invitee's, behind everything that looks like them.
    pub words: Vec<MessageFact>,
    /// Ways to change the booking.
    pub links: Vec<MessageLink>,
    /// Until when they lead somewhere.
    pub deadline: Option<String>,
}

/// A label with what is known.
#[derive(Clone, Debug, Default)]
pub struct MessageFact {
    pub label: String,
    pub lines: Vec<FactLine>,
    /// The lines are somebody's own text: none of them looks like a line of the message.
    pub is_quoted: bool,
}

/// A line of a fact; it leads to the address, if it has one.
#[derive(Clone, Debug, Default)]
pub struct FactLine {
    pub text: String,
    pub url: Option<String>,
}

/// A button. It opens a page, and changes nothing by itself: programs open the addresses of a mail.
#[derive(Clone, Debug)]
pub struct MessageButton {
    pub label: &'static str,
    pub url: String,
    pub weight: ButtonWeight,
}

/// How a button looks.
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
    /// A fact of these lines.
    pub fn new(label: impl Into<String>, lines: impl IntoIterator<Item = String>) -> MessageFact {
        let lines = lines.into_iter().map(|text| FactLine { text, url: None }).collect();
        MessageFact { label: label.into(), lines, is_quoted: false }
    }

    /// Somebody's own text, of any number of lines.
    pub fn quoted(label: impl Into<String>, text: &str) -> MessageFact {
        let plain = plain(text);
        MessageFact { is_quoted: true, ..MessageFact::new(label, plain.lines().map(str::to_owned)) }
    }

    /// The same with one more line, which leads to an address.
    pub fn linked(mut self, text: impl Into<String>, url: String) -> MessageFact {
        self.lines.push(FactLine { text: text.into(), url: Some(url) });
        self
    }
}

/// The text without control characters other than those that lay it out; all its lines end with line feeds.
pub fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\u{2028}', '\u{2029}'], "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

/// The text in one line.
pub fn one_line(text: &str) -> String {
    plain(text).replace('\n', " ")
}
