//! DESCRIPTION and its HTML form, of events and of to-dos.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;

use crate::ical::lines::{line_text, lines, param, remove, set_param, set_text, text_line};

/// The HTML form: STYLED-DESCRIPTION (RFC 9073 section 6.5), else what Outlook wrote before it.
pub fn description_html(component: &IcalCst) -> Option<String> {
    let is_html =
        |line: &&IcalLine| param(line, "FMTTYPE").is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"));
    let styled = lines(component, "STYLED-DESCRIPTION").find(is_html);
    let line = styled.or_else(|| lines(component, "X-ALT-DESC").find(is_html));
    line.map(line_text).filter(|html| !html.trim().is_empty())
}

/// Writes both forms; the HTML one that is not given goes, because it would go on saying the old thing.
pub fn set_description(component: &mut IcalCst<'_>, plain: Option<&str>, html: Option<&str>) {
    set_text(component, "DESCRIPTION", plain);
    remove(component, "STYLED-DESCRIPTION");
    remove(component, "X-ALT-DESC");
    if let Some(html) = html.filter(|html| !html.is_empty()) {
        let mut line = text_line("X-ALT-DESC", html);
        set_param(&mut line, "FMTTYPE", Some("text/html"));
        component.push_line(line);
    }
}
