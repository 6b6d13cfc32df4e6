//! `/system/connector-uploads`: the form that a connector is uploaded with. It is checked at once; the page that follows asks whether to install
//! it.

use base::error::{Code, Error, Result, refuse};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::connector_uploads::{self, CONNECTOR};
use service::manage::connectors::may_change;

use crate::admin::form_token::TOKEN;
use crate::admin::pages::connectors::{INSTALL, PATH, UPLOADS};
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::code::code;
use crate::admin::parts::field::{FormFaults, InputField, hidden};
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::note::{alert, note};
use crate::admin::upload::{COMPONENT, MANIFEST};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The form.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(page(visit, &Html::default(), &FormFaults::default()).into())
}

/// The form after an upload that does not wait any more.
pub fn gone(visit: &Visit) -> PanelPage {
    let mut said = Html::default();
    alert(&mut said, visit.texts.connectors.upload_gone);
    page(visit, &said, &FormFaults::default()).with_status(StatusCode::CONFLICT)
}

/// The page with the form. Where each host has connectors of its own, it shows the command for each of them in the form's place.
fn page(visit: &Visit, said: &Html, faults: &FormFaults) -> PanelPage {
    let (t, frame) = (visit.texts.connectors, visit.texts.frame);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(PATH), t.title)], t.upload);
    head(&mut body, t.upload, None);
    if !may_change(&visit.app) {
        note(&mut body, BadgeTone::Neutral, t.several_hosts);
        code(&mut body, frame, INSTALL, t.copy);
        return PanelPage::new(t.upload, Some(MenuEntry::Connectors), body);
    }
    body.html(said);
    faults.summary(&mut body, frame);
    body.element("p", t.upload_text);
    body.raw("<form class=\"form stack\" method=\"post\" enctype=\"multipart/form-data\" action=\"");
    body.text(&visit.link(UPLOADS)).raw("\">");
    // The token comes first: without it no file is read.
    hidden(&mut body, TOKEN, &visit.token());
    for (id, label, hint) in [
        (MANIFEST, t.upload_manifest, t.upload_manifest_hint),
        (COMPONENT, t.upload_component, t.upload_component_hint),
    ] {
        let field = InputField { kind: "file", ..InputField::text(id, label, "") };
        field.with_hint(hint).add_to(&mut body, frame, faults);
    }
    body.raw("<div class=\"actions\"><button>").text(t.upload_send).raw("</button>");
    body.raw("<a class=\"button plain\" href=\"").text(&visit.link(PATH)).raw("\">").text(frame.cancel);
    body.raw("</a></div></form>\n");
    PanelPage::new(t.upload, Some(MenuEntry::Connectors), body)
}

/// Checks the files that arrived.
pub async fn receive(visit: &Visit) -> Result<View> {
    let t = visit.texts.connectors;
    let Some(files) = &visit.files else {
        return Err(refuse(Code::UnsupportedMediaType, "this page takes a form with files alone"));
    };
    let mut faults = FormFaults::default();
    for (id, is_there) in [(MANIFEST, files.parts.has_manifest), (COMPONENT, files.parts.has_component)] {
        if !is_there {
            faults.add(id, t.upload_missing);
        }
    }
    if !faults.is_empty() {
        return Ok(page(visit, &Html::default(), &faults).with_status(StatusCode::BAD_REQUEST).into());
    }
    match connector_uploads::keep(&visit.app, files.folder()).await {
        Ok(id) => Ok(View::see_other(format!("{UPLOADS}/{id}"))),
        Err(Error::Refused(refusal)) if refusal.param.as_deref() == Some(CONNECTOR) => {
            Ok(refused(visit, &refusal.message).into())
        }
        Err(e) => Err(e),
    }
}

/// The form after a connector that no host would accept, with the reason as the runtime words it: it may quote the connector.
pub fn refused(visit: &Visit, reason: &str) -> PanelPage {
    let mut said = Html::default();
    alert(&mut said, visit.texts.connectors.upload_refused);
    said.raw("<div class=\"code\"><pre tabindex=\"0\" dir=\"ltr\">").text(reason).raw("</pre></div>\n");
    page(visit, &said, &FormFaults::default()).with_status(StatusCode::BAD_REQUEST)
}
