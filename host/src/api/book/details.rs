//! The form for an invitee's details, also shown again with errors.

use http::StatusCode;
use model::Instant;
use model::scheduling::event_type::{EventType, MeetingPlaceKind};
use service::locale::dates;
use service::locale::html::Html;
use service::locale::meeting_time::meeting_time;

use crate::api::book::choice::Choice;
use crate::api::book::form_controls::{ControlFault, ControlWriter};
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::layout::{HtmlPage, SheetShape};
use crate::api::book::other_times::{OtherTime, by_day};
use crate::api::book::subject::{BookableEventType, PageRequest};
use crate::api::book::texts::outcomes::outcomes;
use crate::api::book::texts::texts;
use crate::api::book::{about, form, hosts};
use crate::web::form::FormFields;

/// The reasons why a form was not taken.
#[derive(Clone, Debug)]
pub struct FormFault {
    /// At least one, in the order of the form.
    pub faults: Vec<ControlFault>,
    pub status: StatusCode,
    pub retry_after_s: Option<u64>,
    /// Whether the same form is sent again, with the same token.
    pub keeps_token: bool,
}

impl FormFault {
    /// Whether the time can no longer be booked.
    pub fn is_of_time(&self) -> bool {
        self.faults.iter().any(|one| one.control.as_deref() == Some(form::START))
    }
}

/// The data of the form.
pub struct BookingFormView<'a> {
    pub start: Instant,
    pub fields: &'a FormFields,
    /// The form's token.
    pub token: String,
    pub fault: Option<FormFault>,
    /// Times to choose from instead of `start`, which is taken. Empty: `start` can be booked, or there is no free time near it.
    pub others: Vec<Instant>,
}

impl BookingFormView<'_> {
    fn is_taken(&self) -> bool {
        self.fault.as_ref().is_some_and(FormFault::is_of_time)
    }

    /// Whether a form was sent. A visitor who only opens its page may come back to a time that is already their own booking.
    fn was_sent(&self) -> bool {
        !self.fields.first(form::TOKEN).is_empty()
    }
}

/// The page with the form.
pub fn page(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> HtmlPage {
    let event_type = &subject.bookable.body;
    let mut html = Html::default();
    html.html(&head(visit, subject, sheet)).raw("<div class=\"stack wide\">\n");
    if let Some(fault) = &sheet.fault {
        html.html(&render_error_note(visit, subject, sheet, fault));
    }
    html.html(&form_of(visit, subject, sheet)).raw("</div>\n");
    let page =
        HtmlPage::new(event_type.title.clone(), html).shaped(SheetShape::Two).with_event_type(event_type);
    let page = page.with_pictures(hosts::pictures(event_type));
    let Some(fault) = &sheet.fault else {
        let page = page.with_fact("page", "details").with_fact("start", sheet.start.to_string());
        return page.with_fact("end", subject.end(sheet.start).to_string());
    };
    let page = page.with_status(fault.status);
    match fault.retry_after_s {
        Some(seconds) => page.retry_after_s(seconds),
        None => page,
    }
}

/// The event type with the chosen time, crossed out if it is taken, and the link to the other times.
fn head(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> Html {
    let (texts, event_type) = (texts(visit.language), &subject.bookable.body);
    let time =
        meeting_time(sheet.start, subject.end(sheet.start), &subject.zone, visit.language, visit.hours);
    let mut html = Html::default();
    html.raw("<section class=\"who tight\">\n").html(&about::logo(event_type));
    html.html(&about::title(event_type, visit.language));
    html.raw("<ul class=\"meta\"><li>").html(&icon(PageIcon::Calendar)).raw("<span>");
    html.raw(if sheet.is_taken() { "<s>" } else { "" }).raw("<strong>").text(&time.day);
    html.raw("</strong><br>").text(&time.times).raw(" · ").text(&time.zone);
    html.raw(if sheet.is_taken() { "</s>" } else { "" }).raw("</span></li><li>");
    html.html(&icon(PageIcon::Clock)).text(&about::minutes(subject.minutes, texts)).raw("</li>");
    let mut kinds: Vec<MeetingPlaceKind> = event_type.locations.iter().map(|found| found.kind).collect();
    kinds.dedup();
    for kind in kinds {
        html.raw("<li>").html(&icon(about::icon_of(kind))).text(about::place(kind, texts)).raw("</li>");
    }
    html.raw("</ul>\n");
    if sheet.others.is_empty() {
        html.raw("<p><a href=\"").text(&back(visit, subject, sheet)).raw("\" class=\"button plain small\">");
        html.html(&icon(PageIcon::Back)).text(texts.change_time).raw("</a></p>\n");
    }
    html.raw("</section>\n");
    html
}

/// The address of the other times of the same day.
fn back(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> String {
    let day = dates::local(sheet.start, &subject.zone).date;
    Choice { day: Some(day), ..visit.choice.standing() }.link()
}

/// The reasons why the form was not accepted. Those of controls link to them.
fn render_error_note(
    visit: &PageRequest,
    subject: &BookableEventType,
    sheet: &BookingFormView<'_>,
    fault: &FormFault,
) -> Html {
    let (texts, own) = (texts(visit.language), outcomes(visit.language));
    let mut html = Html::default();
    html.raw(if fault.is_of_time() { "<div class=\"note warn\"" } else { "<div class=\"note bad\"" });
    html.raw(" role=\"alert\" tabindex=\"-1\" autofocus>").html(&icon(PageIcon::Alert)).raw("<div>");
    if fault.is_of_time() {
        html.element("h2", texts.taken).raw("<p>");
        let way = match sheet.others.is_empty() {
            true => back(visit, subject, sheet),
            false => format!("#{}", form::START),
        };
        html.link(&way, own.choose_another);
        if sheet.was_sent() {
            html.raw("<br>").text(own.typed_is_kept);
        }
        html.raw("</p>").html(&mistakes(fault, &subject.bookable.body)).raw("</div></div>\n");
        return html;
    }
    if fault.faults.iter().all(|one| one.control.is_some()) {
        html.element("h2", texts.check_fields).html(&mistakes(fault, &subject.bookable.body));
        html.raw("</div></div>\n");
        return html;
    }
    if sheet.was_sent() {
        html.element("h2", texts.not_booked);
    }
    for one in &fault.faults {
        html.element("p", one.text);
    }
    html.raw("</div></div>\n");
    html
}

/// The errors of controls, each as a link to its control. That of a question names the question.
fn mistakes(fault: &FormFault, event_type: &EventType) -> Html {
    let mut html = Html::default();
    let in_controls = |one: &&ControlFault| one.control.as_deref().is_some_and(|id| id != form::START);
    let faults: Vec<&ControlFault> = fault.faults.iter().filter(in_controls).collect();
    if faults.is_empty() {
        return html;
    }
    html.raw("<ul>\n");
    for ControlFault { control, text } in faults {
        let id = control.as_deref().unwrap_or_default();
        let question = event_type.questions.iter().find(|question| form::field_of(question) == id);
        let text = match question {
            Some(question) => format!("{}: {text}", question.label),
            None => (*text).to_owned(),
        };
        html.raw("<li>").link(&format!("#{id}"), &text).raw("</li>\n");
    }
    html.raw("</ul>");
    html
}

/// The form: times if the chosen one is taken, and the invitee's details.
fn form_of(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> Html {
    let (texts, own) = (texts(visit.language), outcomes(visit.language));
    let mut html = Html::default();
    html.raw("<form class=\"stack wide\" method=\"post\" action=\"");
    html.text(&visit.choice.standing().link());
    // The service reports all errors at once; a browser would only report the first. Only the visitor knows which time is meant.
    html.raw(if sheet.others.is_empty() { "\" novalidate>\n" } else { "\">\n" });
    match sheet.others.is_empty() {
        true => add_hidden_field(&mut html, form::START, &sheet.start.to_string()),
        false => {
            html.html(&times(visit, subject, sheet));
        }
    }
    add_hidden_field(&mut html, form::TOKEN, &sheet.token);
    html.raw("<section class=\"stack\">").element("h2", texts.details);
    let faults = sheet.fault.as_ref().map_or(&[][..], |fault| fault.faults.as_slice());
    let writer = ControlWriter { texts, own, fields: sheet.fields, faults };
    html.html(&writer.all(&subject.bookable.body)).raw("</section>\n");
    html.raw("<button>").text(texts.book).raw("</button>\n</form>\n");
    html
}

/// Other times to choose from, none of them chosen.
fn times(visit: &PageRequest, subject: &BookableEventType, sheet: &BookingFormView<'_>) -> Html {
    let radio = |time: &OtherTime| {
        let mut html = Html::default();
        html.raw("<label><input type=\"radio\" name=\"start\" required value=\"");
        html.text(&time.start.to_string()).raw("\">").html(&time.label).raw("</label>");
        html
    };
    let mut html = Html::default();
    html.raw("<section class=\"stack\" id=\"start\" tabindex=\"-1\">");
    html.element("h2", texts(visit.language).other_times);
    html.html(&by_day(visit, subject, &sheet.others, radio)).raw("<p>");
    html.link(&back(visit, subject, sheet), outcomes(visit.language).show_all).raw("</p></section>\n");
    html
}

fn add_hidden_field(html: &mut Html, name: &'static str, value: &str) {
    html.raw("<input type=\"hidden\" name=\"").raw(name).raw("\" value=\"").text(value).raw("\">\n");
}
