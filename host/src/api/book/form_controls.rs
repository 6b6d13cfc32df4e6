//! The controls of the booking form: label, error, control and hint, with the values that were typed before. A control's id is the name of
//! its field; the ids of its error and its hint have prefixes that no name has, since a question's key may end in anything.

use model::scheduling::event_type::{EventType, MeetingPlaceKind, Question, QuestionKind};
use service::locale::html::Html;

use crate::api::book::about;
use crate::api::book::form;
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::texts::fields::Texts;
use crate::api::book::texts::outcomes::OutcomeTexts;
use crate::web::form::FormFields;

/// An error in a form, or another reason why it was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFault {
    /// The id of the invalid control; none: the booking as a whole.
    pub control: Option<String>,
    pub text: &'static str,
}

/// A control of the form.
struct Input<'a> {
    id: &'a str,
    label: &'a str,
    kind: &'static str,
    autofill: &'static str,
    hint: Option<&'static str>,
    is_required: bool,
}

impl<'a> Input<'a> {
    fn new(id: &'a str, label: &'a str, kind: &'static str) -> Self {
        Input { id, label, kind, autofill: "off", hint: None, is_required: false }
    }

    fn autofilled(self, autofill: &'static str) -> Self {
        Input { autofill, ..self }
    }

    fn required(self, is_required: bool) -> Self {
        Input { is_required, ..self }
    }
}

/// Writes the controls of a form with the values that were typed before, and with its errors.
pub struct ControlWriter<'a> {
    pub texts: &'static Texts,
    pub own: &'static OutcomeTexts,
    pub fields: &'a FormFields,
    pub faults: &'a [ControlFault],
}

impl ControlWriter<'_> {
    /// The controls of every form of the event type, and those of its questions.
    pub fn all(&self, event_type: &EventType) -> Html {
        let texts = self.texts;
        let mut html = Html::default();
        let name = Input::new(form::NAME, texts.name, "text").autofilled("name").required(true);
        let email = Input::new(form::EMAIL, texts.email, "email").autofilled("email").required(true);
        self.input(&mut html, &name);
        self.input(&mut html, &email);
        self.places(&mut html, event_type);
        let kinds: Vec<MeetingPlaceKind> = event_type.locations.iter().map(|place| place.kind).collect();
        if kinds.contains(&MeetingPlaceKind::PhoneInvitee) {
            let phone = Input::new(form::PHONE, texts.phone, "tel").autofilled("tel");
            // Of several places the chosen one decides.
            let phone = match kinds.len() {
                1 => phone.required(true),
                _ => Input { hint: Some(self.own.if_called), ..phone },
            };
            self.input(&mut html, &phone);
        }
        for question in &event_type.questions {
            self.question(&mut html, question);
        }
        self.textarea(&mut html, &Input::new(form::NOTES, texts.notes, ""));
        html.raw("<div class=\"trap\" aria-hidden=\"true\"><label for=\"website\">").text(texts.leave_empty);
        html.raw(
            "</label><input id=\"website\" name=\"website\" tabindex=\"-1\" autocomplete=\"off\"></div>\n",
        );
        html
    }

    fn fault(&self, id: &str) -> Option<&'static str> {
        self.faults.iter().find(|one| one.control.as_deref() == Some(id)).map(|one| one.text)
    }

    /// The text of a label, and the error below it.
    fn label(&self, html: &mut Html, input: &Input<'_>) {
        html.raw("<div class=\"field\"><label for=\"").text(input.id).raw("\">");
        self.label_text(html, input);
        html.raw("</label>\n");
        self.error(html, input.id);
    }

    fn label_text(&self, html: &mut Html, input: &Input<'_>) {
        html.raw("<bdi>").text(input.label).raw("</bdi>");
        if !input.is_required && input.hint.is_none() {
            html.raw(" <span class=\"optional\">").text(self.texts.optional).raw("</span>");
        }
    }

    fn error(&self, html: &mut Html, id: &str) {
        if let Some(text) = self.fault(id) {
            html.raw("<p class=\"error\" id=\"error-").text(id).raw("\">").html(&icon(PageIcon::Alert));
            html.raw("<span>").text(text).raw("</span></p>\n");
        }
    }

    /// The attributes that every control has.
    fn attributes(&self, html: &mut Html, input: &Input<'_>) {
        html.raw(" id=\"").text(input.id).raw("\" name=\"").text(input.id).raw("\"");
        html.raw(" autocomplete=\"").raw(input.autofill);
        html.raw(match input.kind {
            "email" | "tel" | "number" => "\" dir=\"ltr\"",
            _ => "\" dir=\"auto\"",
        });
        if input.is_required {
            html.raw(" required");
        }
        self.described(html, input.id, input.hint.is_some());
    }

    /// Links a control to its error and its hint, for screen readers.
    fn described(&self, html: &mut Html, id: &str, has_hint: bool) {
        match (self.fault(id).is_some(), has_hint) {
            (true, true) => {
                html.raw(" aria-invalid=\"true\" aria-describedby=\"error-").text(id);
                html.raw(" hint-").text(id).raw("\"");
            }
            (true, false) => {
                html.raw(" aria-invalid=\"true\" aria-describedby=\"error-").text(id).raw("\"");
            }
            (false, true) => {
                html.raw(" aria-describedby=\"hint-").text(id).raw("\"");
            }
            (false, false) => {}
        }
    }

    /// Ends a field, with its hint.
    fn end(html: &mut Html, input: &Input<'_>) {
        if let Some(hint) = input.hint {
            html.raw("<p class=\"hint\" id=\"hint-").text(input.id).raw("\">").text(hint).raw("</p>\n");
        }
        html.raw("</div>\n");
    }

    fn input(&self, html: &mut Html, input: &Input<'_>) {
        self.label(html, input);
        html.raw("<input type=\"").raw(input.kind).raw("\"");
        if input.kind == "number" {
            html.raw(" step=\"any\"");
        }
        self.attributes(html, input);
        html.raw(" value=\"").text(self.fields.first(input.id)).raw("\">\n");
        Self::end(html, input);
    }

    fn textarea(&self, html: &mut Html, input: &Input<'_>) {
        self.label(html, input);
        html.raw("<textarea rows=\"4\"");
        self.attributes(html, input);
        // A browser drops the first line feed.
        html.raw(">\n").text(self.fields.first(input.id)).raw("</textarea>\n");
        Self::end(html, input);
    }

    fn select(&self, html: &mut Html, input: &Input<'_>, options: &[String]) {
        self.label(html, input);
        html.raw("<select");
        self.attributes(html, input);
        html.raw(">\n<option value=\"\">").text(self.texts.please_choose).raw("</option>\n");
        for option in options {
            html.raw("<option");
            html.raw(if self.fields.first(input.id) == option { " selected>" } else { ">" });
            html.text(option).raw("</option>\n");
        }
        html.raw("</select>\n");
        Self::end(html, input);
    }

    /// Checkboxes or radio buttons of one name: value, text, and whether it is chosen.
    fn group(&self, html: &mut Html, input: &Input<'_>, each: &[(String, String, bool)]) {
        html.raw("<fieldset class=\"field\" id=\"").text(input.id).raw("\" tabindex=\"-1\"");
        if self.fault(input.id).is_some() {
            html.raw(" aria-describedby=\"error-").text(input.id).raw("\"");
        }
        html.raw("><legend>");
        self.label_text(html, input);
        html.raw("</legend>\n");
        self.error(html, input.id);
        for (value, text, is_chosen) in each {
            html.raw("<label class=\"check\"><input type=\"").raw(input.kind).raw("\" name=\"");
            html.text(input.id).raw("\" value=\"").text(value).raw("\"");
            html.raw(if *is_chosen { " checked> " } else { "> " });
            html.raw("<bdi>").text(text).raw("</bdi></label>\n");
        }
        html.raw("</fieldset>\n");
    }

    /// The places to choose from, if there are several.
    fn places(&self, html: &mut Html, event_type: &EventType) {
        if event_type.locations.len() < 2 {
            return;
        }
        let typed = self.fields.first(form::PLACE);
        let chosen = if typed.is_empty() { "0" } else { typed };
        let mut each = Vec::new();
        for (number, place) in event_type.locations.iter().enumerate() {
            // Their addresses and numbers are for people who have booked.
            let alike =
                event_type.locations.iter().take(number).filter(|other| other.kind == place.kind).count();
            let name = about::place(place.kind, self.texts);
            let name = if alike > 0 { format!("{name} ({})", alike + 1) } else { name.to_owned() };
            each.push((number.to_string(), name, number.to_string() == chosen));
        }
        self.group(html, &Input::new(form::PLACE, self.texts.place, "radio").required(true), &each);
    }

    fn question(&self, html: &mut Html, question: &Question) {
        let id = form::field_of(question);
        let input = |kind| Input::new(&id, &question.label, kind).required(question.required);
        match question.kind {
            QuestionKind::Text => self.input(html, &input("text")),
            QuestionKind::Number => self.input(html, &input("number")),
            QuestionKind::Phone => self.input(html, &input("tel")),
            QuestionKind::Email => self.input(html, &input("email")),
            QuestionKind::Textarea => self.textarea(html, &input("")),
            QuestionKind::Select => self.select(html, &input(""), &question.options),
            QuestionKind::Multiselect => {
                let chosen = self.fields.all(&id);
                let option = |option: &String| (option.clone(), option.clone(), chosen.contains(option));
                let each: Vec<_> = question.options.iter().map(option).collect();
                self.group(html, &input("checkbox"), &each);
            }
            QuestionKind::Boolean => self.tick_box(html, &id, &question.label),
        }
    }

    /// A checkbox, followed by its label.
    fn tick_box(&self, html: &mut Html, id: &str, label: &str) {
        html.raw("<div class=\"field\">\n");
        self.error(html, id);
        html.raw("<label class=\"check\"><input type=\"checkbox\" id=\"").text(id).raw("\" name=\"");
        html.text(id).raw("\"");
        self.described(html, id, false);
        html.raw(if self.fields.first(id).is_empty() { "> " } else { " checked> " });
        html.raw("<bdi>").text(label).raw("</bdi></label>\n</div>\n");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::api::book::texts::outcomes::outcomes;
    use crate::api::book::texts::texts;
    use service::locale::Language;

    #[test]
    fn ids_are_unique_whatever_the_keys_of_questions_end_in() {
        let question = |key: &str| Question { key: key.to_owned(), ..Question::default() };
        let questions = ["a", "a-error", "a-hint", "error-a"].map(question).to_vec();
        let event_type = EventType { questions, ..EventType::default() };
        let fault =
            |question: &Question| ControlFault { control: Some(form::field_of(question)), text: "Enter it." };
        let faults: Vec<ControlFault> = event_type.questions.iter().map(fault).collect();
        let fields = FormFields::default();
        let (texts, own) = (texts(Language::English), outcomes(Language::English));
        let html = ControlWriter { texts, own, fields: &fields, faults: &faults }.all(&event_type);
        let parts = html.as_str().split(" id=\"").skip(1);
        let ids: Vec<&str> = parts.filter_map(|rest| rest.split('"').next()).collect();
        let distinct: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
        assert!(distinct.contains("error-q.a") && distinct.contains("q.a-error"), "{ids:?}");
    }
}
