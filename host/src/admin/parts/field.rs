//! Form fields with their labels, hints and errors.

use std::collections::BTreeMap;

use crate::admin::parts::icon::{PanelIcon, icon};
use crate::admin::texts::FrameTexts;
use service::locale::html::Html;

/// The errors of a form, by field id.
#[derive(Debug, Default)]
pub struct FormFaults {
    texts: BTreeMap<&'static str, String>,
    order: Vec<&'static str>,
}

impl FormFaults {
    /// Records the error of a field; of several errors the first counts.
    pub fn add(&mut self, id: &'static str, text: impl Into<String>) {
        if !self.texts.contains_key(id) {
            self.texts.insert(id, text.into());
            self.order.push(id);
        }
    }

    /// Returns errors with a single entry.
    pub fn of(id: &'static str, text: impl Into<String>) -> FormFaults {
        let mut faults = FormFaults::default();
        faults.add(id, text);
        faults
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the error of a field.
    pub fn text(&self, id: &str) -> Option<&str> {
        self.texts.get(id).map(String::as_str)
    }

    /// Adds the error summary, which links to the fields.
    pub fn summary(&self, html: &mut Html, texts: &FrameTexts) {
        if self.is_empty() {
            return;
        }
        html.raw("<div class=\"note bad\" role=\"alert\">");
        icon(html, PanelIcon::Alert);
        html.raw("<div>").element("h2", texts.check_fields).raw("<ul>");
        for id in &self.order {
            html.raw("<li><a href=\"#").raw(id).raw("\">");
            html.text(self.text(id).unwrap_or_default()).raw("</a></li>");
        }
        html.raw("</ul></div></div>\n");
    }
}

/// A single-line field.
pub struct InputField<'f> {
    /// The name of the field, and the id of its control.
    pub id: &'static str,
    /// `text`, `email`, `password`, `file`.
    pub kind: &'static str,
    pub label: &'f str,
    pub value: &'f str,
    pub hint: Option<&'f str>,
    /// The value of `autocomplete`.
    pub autocomplete: &'static str,
    pub is_required: bool,
    /// Whether the value is written from left to right in every language.
    pub is_ltr: bool,
}

impl<'f> InputField<'f> {
    /// Creates a required text field.
    pub fn text(id: &'static str, label: &'f str, value: &'f str) -> InputField<'f> {
        InputField {
            id,
            kind: "text",
            label,
            value,
            hint: None,
            autocomplete: "off",
            is_required: true,
            is_ltr: false,
        }
    }

    /// Creates a required email field.
    pub fn email(id: &'static str, label: &'f str, value: &'f str, autocomplete: &'static str) -> Self {
        InputField { kind: "email", autocomplete, is_ltr: true, ..InputField::text(id, label, value) }
    }

    /// Creates a required password field, whose value is never shown again.
    pub fn password(id: &'static str, label: &'f str, autocomplete: &'static str) -> Self {
        InputField { kind: "password", autocomplete, ..InputField::text(id, label, "") }
    }

    /// Adds a hint.
    pub fn with_hint(self, hint: &'f str) -> Self {
        InputField { hint: Some(hint), ..self }
    }

    /// Makes the field optional.
    pub fn optional(self) -> Self {
        InputField { is_required: false, ..self }
    }

    /// Makes the field left-to-right, for ids, codes and addresses.
    pub fn ltr(self) -> Self {
        InputField { is_ltr: true, ..self }
    }

    /// Adds the field, with its error.
    pub fn add_to(&self, html: &mut Html, texts: &FrameTexts, faults: &FormFaults) {
        let fault = faults.text(self.id);
        label(html, texts, self.id, self.label, self.is_required, fault);
        html.raw("<input id=\"").raw(self.id).raw("\" name=\"").raw(self.id).raw("\" type=\"").raw(self.kind);
        html.raw("\"");
        // Browsers do not autofill files, and the attribute is not allowed on them.
        if self.kind != "file" {
            html.raw(" autocomplete=\"").raw(self.autocomplete).raw("\"");
        }
        if !self.value.is_empty() {
            html.raw(" value=\"").text(self.value).raw("\"");
        }
        html.raw(if self.is_ltr { " dir=\"ltr\"" } else { " dir=\"auto\"" });
        html.raw(if self.is_required { " required" } else { "" });
        described(html, self.id, fault.is_some(), self.hint.is_some());
        html.raw(">");
        hint(html, self.id, self.hint);
    }
}

/// An optional multi-line field.
pub struct LinesField<'f> {
    pub id: &'static str,
    pub label: &'f str,
    pub value: &'f str,
    pub hint: &'f str,
}

impl LinesField<'_> {
    /// Adds the field, with its error.
    pub fn add_to(&self, html: &mut Html, texts: &FrameTexts, faults: &FormFaults) {
        let fault = faults.text(self.id);
        label(html, texts, self.id, self.label, false, fault);
        html.raw("<textarea id=\"")
            .raw(self.id)
            .raw("\" name=\"")
            .raw(self.id)
            .raw("\" dir=\"ltr\" rows=\"3\"");
        described(html, self.id, fault.is_some(), true);
        // HTML ignores a line feed directly after the tag.
        html.raw(">\n").text(self.value).raw("</textarea>");
        hint(html, self.id, Some(self.hint));
    }
}

/// A drop-down list: values with their labels.
pub struct SelectField<'f> {
    pub id: &'static str,
    pub label: &'f str,
    pub options: &'f [(&'f str, &'f str)],
    pub chosen: &'f str,
}

impl SelectField<'_> {
    /// Adds the field, with its error.
    pub fn add_to(&self, html: &mut Html, texts: &FrameTexts, faults: &FormFaults) {
        let fault = faults.text(self.id);
        label(html, texts, self.id, self.label, true, fault);
        html.raw("<select id=\"").raw(self.id).raw("\" name=\"").raw(self.id).raw("\"");
        described(html, self.id, fault.is_some(), false);
        html.raw(">");
        for (value, word) in self.options {
            html.raw("<option value=\"").text(value).raw("\"");
            html.raw(if *value == self.chosen { " selected>" } else { ">" }).text(word).raw("</option>");
        }
        html.raw("</select></div>\n");
    }
}

/// Adds radio buttons, each with a description: value, label, description.
pub fn radios(
    html: &mut Html,
    id: &'static str,
    legend: &str,
    options: &[(&str, &str, &str)],
    chosen: &str,
    faults: &FormFaults,
) {
    html.raw("<fieldset class=\"scopes\" id=\"").raw(id).raw("\"><legend>").text(legend).raw("</legend>");
    fault_line(html, id, faults.text(id));
    for (value, word, sentence) in options {
        html.raw("<label class=\"check\"><input type=\"radio\" name=\"")
            .raw(id)
            .raw("\" value=\"")
            .text(value);
        html.raw(if *value == chosen { "\" checked>" } else { "\">" });
        html.raw("<span>").text(word).raw("<small>").text(sentence).raw("</small></span></label>");
    }
    html.raw("</fieldset>\n");
}

/// Adds a hidden field.
pub fn hidden(html: &mut Html, name: &'static str, value: &str) {
    html.raw("<input type=\"hidden\" name=\"").raw(name).raw("\" value=\"").text(value).raw("\">");
}

fn label(
    html: &mut Html,
    texts: &FrameTexts,
    id: &'static str,
    text: &str,
    is_required: bool,
    fault: Option<&str>,
) {
    html.raw("<div class=\"field\"><label for=\"").raw(id).raw("\">").text(text);
    if !is_required {
        html.raw(" <span class=\"optional\">").text(texts.optional).raw("</span>");
    }
    html.raw("</label>");
    fault_line(html, id, fault);
}

/// Adds the error of a field.
pub fn fault_line(html: &mut Html, id: &'static str, fault: Option<&str>) {
    let Some(text) = fault else { return };
    html.raw("<p class=\"error\" id=\"").raw(id).raw("-error\">");
    icon(html, PanelIcon::Alert);
    html.raw("<span>").text(text).raw("</span></p>");
}

fn described(html: &mut Html, id: &'static str, has_fault: bool, has_hint: bool) {
    if has_fault {
        html.raw(" aria-invalid=\"true\"");
    }
    match (has_fault, has_hint) {
        (false, false) => {}
        (true, false) => {
            html.raw(" aria-describedby=\"").raw(id).raw("-error\"");
        }
        (false, true) => {
            html.raw(" aria-describedby=\"").raw(id).raw("-hint\"");
        }
        (true, true) => {
            html.raw(" aria-describedby=\"").raw(id).raw("-error ").raw(id).raw("-hint\"");
        }
    }
}

fn hint(html: &mut Html, id: &'static str, text: Option<&str>) {
    if let Some(text) = text {
        html.raw("<p class=\"hint\" id=\"").raw(id).raw("-hint\">").text(text).raw("</p>");
    }
    html.raw("</div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::texts::texts;
    use service::locale::Language;

    #[test]
    fn a_fault_stands_at_its_field_and_in_the_summary() {
        let texts = texts(Language::English).frame;
        let faults = FormFaults::of("name", "Enter a name.");
        let mut html = Html::default();
        faults.summary(&mut html, texts);
        InputField::text("name", "Name", "\"><b>").with_hint("Hint").add_to(&mut html, texts, &faults);
        let page = html.as_str();
        assert!(page.contains("<a href=\"#name\">Enter a name.</a>"), "{page}");
        assert!(page.contains("value=\"&quot;&gt;&lt;b&gt;\""), "{page}");
        assert!(page.contains("aria-invalid=\"true\" aria-describedby=\"name-error name-hint\""), "{page}");
    }

    #[test]
    fn a_password_is_never_shown_again() {
        let mut html = Html::default();
        let field = InputField::password("password", "Password", "new-password");
        field.add_to(&mut html, texts(Language::English).frame, &FormFaults::default());
        assert!(!html.as_str().contains("value="), "{}", html.as_str());
    }
}
