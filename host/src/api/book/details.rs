//! The form in which an invitee fills in who they are, and the same form again with what stands in the way.

use http::StatusCode;
use model::Instant;
use model::scheduling::event_type::{EventType, MeetingPlaceKind, Question, QuestionKind};

use crate::api::book::about;
use crate::api::book::choice::Choice;
use crate::api::book::form::{self, FormFields};
use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::{BookableEventType, PageRequest};
use crate::api::book::texts::fields::Texts;
use crate::api::book::texts::texts;
use crate::locale::dates;
use crate::locale::html::Html;

/// A mistake in a form, or one reason why it was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFault {
    /// The id of the control at fault; none: the booking as a whole.
    pub control: Option<String>,
    pub text: &'static str,
}

/// The reasons why a form was not taken.
#[derive(Clone, Debug)]
pub struct FormFault {
    /// At least one, in the order of the form.
    pub faults: Vec<ControlFault>,
    pub status: StatusCode,
    pub retry_after_s: Option<u64>,
    /// The same form is sent again: its token tells that it is the same.
    pub keeps_token: bool,
}

/// What the form is filled with.
pub struct BookingFormView<'a> {
    pub start: Instant,
    pub fields: &'a FormFields,
    /// The form's token.
    pub token: String,
    pub fault: Option<FormFault>,
    /// Times to choose from instead of `start`, which is taken. Empty: `start` can be booked, or nothing near it can.
    pub others: Vec<Instant>,
}

/// The page with the form.
pub fn page(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> HtmlPage {
    let (texts, event_type) = (texts(visit.language), &subject.bookable.body);
    let mut html = Html::default();
    if let Some(fault) = &sheet.fault {
        html.html(&alert(fault, sheet, event_type, texts));
    }
    let when = visit.span(sheet.start, subject.end(sheet.start), &subject.zone);
    html.raw("<dl>\n").described(texts.when, &when);
    html.described(texts.duration, &about::minutes(subject.minutes, texts)).raw("</dl>\n");
    let day = dates::local(sheet.start, &subject.zone).date;
    let back = Choice { day: Some(day), ..visit.choice.standing() }.link();
    html.raw("<p>").link(&back, texts.change_time).raw("</p>\n");
    html.element("h2", texts.details);
    html.raw("<form method=\"post\" action=\"").text(&visit.choice.standing().link()).raw("\">\n");
    html.html(&controls(visit, subject, sheet));
    html.raw("<button>").text(texts.book).raw("</button>\n</form>\n");
    let mut page = HtmlPage::new(event_type.title.clone(), html).of(event_type);
    if sheet.fault.is_none() {
        page = page.with_fact("page", "details").with_fact("start", sheet.start.to_string());
        page = page.with_fact("end", subject.end(sheet.start).to_string());
    }
    if let Some(fault) = &sheet.fault {
        page = page.with_status(fault.status);
        if let Some(seconds) = fault.retry_after_s {
            page = page.retry_after_s(seconds);
        }
    }
    page
}

/// The reasons, each with a link to its control.
fn alert(fault: &FormFault, sheet: &BookingFormView<'_>, event_type: &EventType, texts: &Texts) -> Html {
    // The start has a control only where there are others to choose from.
    let has_control = |id: &&str| *id != form::START || !sheet.others.is_empty();
    let control = |one: &ControlFault| one.control.as_deref().filter(has_control).map(str::to_owned);
    let mut html = Html::default();
    html.raw("<div class=\"alert\" role=\"alert\">\n");
    // Who only opens the page has sent nothing, and may come back to a time that is their own by now.
    if !sheet.fields.first(form::TOKEN).is_empty() {
        let is_in_fields =
            fault.faults.iter().all(|one| one.control.as_deref().is_some_and(|id| id != form::START));
        let title = if is_in_fields { texts.check_fields } else { texts.not_booked };
        html.raw("<p><strong>").text(title).raw("</strong></p>\n");
    }
    html.raw("<ul>\n");
    for one in &fault.faults {
        html.raw("<li>");
        let label = one.control.as_deref().and_then(|id| label_of(event_type, id));
        let text = label.map_or(one.text.to_owned(), |label| format!("{label}: {}", one.text));
        match control(one) {
            Some(id) => html.link(&format!("#{id}"), &text),
            None => html.text(&text),
        };
        html.raw("</li>\n");
    }
    html.raw("</ul>\n</div>\n");
    html
}

/// The label of the question that a control is of: its fault alone would not say which one it is.
fn label_of<'e>(event_type: &'e EventType, control: &str) -> Option<&'e str> {
    let question = event_type.questions.iter().find(|question| form::field_of(question) == control)?;
    Some(&question.label)
}

fn controls(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> Html {
    let (texts, event_type) = (texts(visit.language), &subject.bookable.body);
    let writer = Writer { texts, sheet };
    let mut html = Html::default();
    html.html(&times(visit, subject, sheet));
    hidden(&mut html, form::TOKEN, &sheet.token);
    writer.input(&mut html, &Input::new(form::NAME, texts.name, "text").autofilled("name").required(true));
    writer
        .input(&mut html, &Input::new(form::EMAIL, texts.email, "email").autofilled("email").required(true));
    writer.places(&mut html, event_type);
    let kinds: Vec<MeetingPlaceKind> = event_type.locations.iter().map(|place| place.kind).collect();
    if kinds.contains(&MeetingPlaceKind::PhoneInvitee) {
        // One of several places: whether it is needed is known when the place was chosen.
        let phone = Input::new(form::PHONE, texts.phone, "tel").autofilled("tel");
        writer.input(&mut html, &phone.required(kinds.len() == 1));
    }
    for question in &event_type.questions {
        writer.question(&mut html, question);
    }
    writer.textarea(&mut html, &Input::new(form::NOTES, texts.notes, ""));
    html.raw("<div class=\"trap\" aria-hidden=\"true\"><label for=\"website\">").text(texts.leave_empty);
    html.raw("</label><input id=\"website\" name=\"website\" tabindex=\"-1\" autocomplete=\"off\"></div>\n");
    html
}

/// The start: fixed, or a choice of others where it is taken.
fn times(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> Html {
    let mut html = Html::default();
    if sheet.others.is_empty() {
        hidden(&mut html, form::START, &sheet.start.to_string());
        return html;
    }
    html.raw("<fieldset id=\"start\"><legend>").text(texts(visit.language).other_times).raw("</legend>\n");
    for other in &sheet.others {
        let name = visit.span(*other, subject.end(*other), &subject.zone);
        html.raw("<label><input type=\"radio\" name=\"start\" required value=\"").text(&other.to_string());
        html.raw("\"> ").text(&name).raw("</label>\n");
    }
    html.raw("</fieldset>\n");
    html
}

fn hidden(html: &mut Html, name: &'static str, value: &str) {
    html.raw("<input type=\"hidden\" name=\"").raw(name).raw("\" value=\"").text(value).raw("\">\n");
}

/// A control of the form. Its id is the name of its field.
struct Input<'a> {
    id: &'a str,
    label: &'a str,
    kind: &'static str,
    autofill: &'static str,
    is_required: bool,
}

impl<'a> Input<'a> {
    fn new(id: &'a str, label: &'a str, kind: &'static str) -> Self {
        Input { id, label, kind, autofill: "off", is_required: false }
    }

    fn autofilled(self, autofill: &'static str) -> Self {
        Input { autofill, ..self }
    }

    fn required(self, is_required: bool) -> Self {
        Input { is_required, ..self }
    }
}

/// Writes controls with what was filled in before.
struct Writer<'a> {
    texts: &'static Texts,
    sheet: &'a BookingFormView<'a>,
}

impl Writer<'_> {
    fn fault(&self, id: &str) -> Option<&'static str> {
        let mut faults = self.sheet.fault.iter().flat_map(|fault| &fault.faults);
        faults.find(|one| one.control.as_deref() == Some(id)).map(|one| one.text)
    }

    /// The text of a label, and the error below it.
    fn label(&self, html: &mut Html, input: &Input<'_>) {
        html.raw("<label for=\"").text(input.id).raw("\">").text(input.label);
        self.optional(html, input);
        html.raw("</label>\n");
        self.error(html, input.id);
    }

    fn optional(&self, html: &mut Html, input: &Input<'_>) {
        if !input.is_required {
            html.raw(" <span class=\"muted\">").text(self.texts.optional).raw("</span>");
        }
    }

    fn error(&self, html: &mut Html, id: &str) {
        if let Some(text) = self.fault(id) {
            html.raw("<p class=\"error\" id=\"").text(id).raw("-error\">").text(text).raw("</p>\n");
        }
    }

    /// The attributes that every control has.
    fn attributes(&self, html: &mut Html, input: &Input<'_>) {
        html.raw(" id=\"").text(input.id).raw("\" name=\"").text(input.id).raw("\"");
        html.raw(" autocomplete=\"").raw(input.autofill).raw("\"");
        if input.is_required {
            html.raw(" required");
        }
        self.described(html, input.id);
    }

    /// Names the error of a control for who hears the page.
    fn described(&self, html: &mut Html, id: &str) {
        if self.fault(id).is_some() {
            html.raw(" aria-invalid=\"true\" aria-describedby=\"").text(id).raw("-error\"");
        }
    }

    fn input(&self, html: &mut Html, input: &Input<'_>) {
        html.raw("<div class=\"field\">\n");
        self.label(html, input);
        html.raw("<input type=\"").raw(input.kind).raw("\"");
        if input.kind == "number" {
            html.raw(" step=\"any\"");
        }
        self.attributes(html, input);
        html.raw(" value=\"").text(self.sheet.fields.first(input.id)).raw("\">\n</div>\n");
    }

    fn textarea(&self, html: &mut Html, input: &Input<'_>) {
        html.raw("<div class=\"field\">\n");
        self.label(html, input);
        html.raw("<textarea rows=\"4\"");
        self.attributes(html, input);
        // A browser drops the first line feed.
        html.raw(">\n").text(self.sheet.fields.first(input.id)).raw("</textarea>\n</div>\n");
    }

    fn select(&self, html: &mut Html, input: &Input<'_>, options: &[String]) {
        html.raw("<div class=\"field\">\n");
        self.label(html, input);
        html.raw("<select");
        self.attributes(html, input);
        html.raw(">\n<option value=\"\">").text(self.texts.please_choose).raw("</option>\n");
        for option in options {
            html.raw("<option");
            html.raw(if self.sheet.fields.first(input.id) == option { " selected>" } else { ">" });
            html.text(option).raw("</option>\n");
        }
        html.raw("</select>\n</div>\n");
    }

    /// Boxes or knobs of one name: value, text, and whether it is chosen.
    fn group(&self, html: &mut Html, input: &Input<'_>, each: &[(String, String, bool)]) {
        html.raw("<fieldset id=\"").text(input.id).raw("\" tabindex=\"-1\"");
        if self.fault(input.id).is_some() {
            html.raw(" aria-describedby=\"").text(input.id).raw("-error\"");
        }
        html.raw("><legend>").text(input.label);
        self.optional(html, input);
        html.raw("</legend>\n");
        self.error(html, input.id);
        for (value, text, is_chosen) in each {
            html.raw("<label><input type=\"").raw(input.kind).raw("\" name=\"").text(input.id);
            html.raw("\" value=\"").text(value).raw("\"");
            html.raw(if *is_chosen { " checked> " } else { "> " }).text(text).raw("</label>\n");
        }
        html.raw("</fieldset>\n");
    }

    /// Where to meet, if there is a choice.
    fn places(&self, html: &mut Html, event_type: &EventType) {
        if event_type.locations.len() < 2 {
            return;
        }
        let typed = self.sheet.fields.first(form::PLACE);
        let chosen = if typed.is_empty() { "0" } else { typed };
        let mut each = Vec::new();
        for (number, place) in event_type.locations.iter().enumerate() {
            // Their addresses and numbers are told to those who booked.
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
                let chosen = self.sheet.fields.all(&id);
                let option = |option: &String| (option.clone(), option.clone(), chosen.contains(option));
                let each: Vec<_> = question.options.iter().map(option).collect();
                self.group(html, &input("checkbox"), &each);
            }
            QuestionKind::Boolean => {
                html.raw("<div class=\"field check\">\n");
                self.error(html, &id);
                html.raw("<label><input type=\"checkbox\" id=\"")
                    .text(&id)
                    .raw("\" name=\"")
                    .text(&id)
                    .raw("\"");
                self.described(html, &id);
                html.raw(if self.sheet.fields.first(&id).is_empty() { "> " } else { " checked> " });
                html.text(&question.label).raw("</label>\n</div>\n");
            }
        }
    }
}
