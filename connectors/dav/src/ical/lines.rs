//! Content lines by name: reading, and the edits that leave every other byte of a component alone. ical-rs keeps the bytes; this
//! adds the few moves that a property by name needs, whether or not the library has a type for it.

use ical::tree::codec::mode::Escaper;
use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::leaf::IcalLeaf;
use ical::tree::line::IcalLine;
use ical::tree::param::node::IcalParamNode;
use ical::tree::wire::IcalWire;

use crate::text;

/// The component's name, upper case.
pub fn component_name(component: &IcalCst) -> String {
    component
        .begin
        .as_ref()
        .map(|begin| begin.raw_value_str().trim().to_ascii_uppercase())
        .unwrap_or_default()
}

/// Whether the component has this name.
pub fn is_named(component: &IcalCst, name: &str) -> bool {
    component.begin.as_ref().is_some_and(|begin| begin.raw_value_str().trim().eq_ignore_ascii_case(name))
}

/// The direct subcomponents of this name.
pub fn components<'c, 'a>(parent: &'c IcalCst<'a>, name: &'c str) -> impl Iterator<Item = &'c IcalCst<'a>> {
    parent.items.iter().filter_map(move |item| match item {
        IcalItem::Component(child) if is_named(child, name) => Some(&**child),
        _ => None,
    })
}

/// The same, to change them.
pub fn components_mut<'c, 'a>(
    parent: &'c mut IcalCst<'a>,
    name: &'c str,
) -> impl Iterator<Item = &'c mut IcalCst<'a>> {
    parent.items.iter_mut().filter_map(move |item| match item {
        IcalItem::Component(child) if is_named(child, name) => Some(&mut **child),
        _ => None,
    })
}

/// All property lines.
pub fn all_lines<'c, 'a>(component: &'c IcalCst<'a>) -> impl Iterator<Item = &'c IcalLine<'a>> {
    component.items.iter().filter_map(|item| match item {
        IcalItem::Prop(line) => Some(line),
        _ => None,
    })
}

/// The property lines of this name.
pub fn lines<'c, 'a>(component: &'c IcalCst<'a>, name: &'c str) -> impl Iterator<Item = &'c IcalLine<'a>> {
    all_lines(component).filter(move |line| line.name.get().eq_ignore_ascii_case(name))
}

/// The first property line of this name.
pub fn line<'c, 'a>(component: &'c IcalCst<'a>, name: &'c str) -> Option<&'c IcalLine<'a>> {
    lines(component, name).next()
}

/// The first property of this name as text; empty counts as missing.
pub fn text(component: &IcalCst, name: &str) -> Option<String> {
    line(component, name).map(line_text).filter(|text| !text.trim().is_empty())
}

/// A line's whole value, unescaped.
pub fn line_text(line: &IcalLine) -> String {
    line.value.decode().into_owned()
}

/// The first property of this name as written, upper case: for values out of a closed list.
pub fn keyword(component: &IcalCst, name: &str) -> Option<String> {
    line(component, name)
        .map(|line| line.raw_value_str().trim().to_ascii_uppercase())
        .filter(|word| !word.is_empty())
}

/// A parameter's first value, without quotes and with RFC 6868 resolved.
pub fn param(line: &IcalLine, name: &str) -> Option<String> {
    let node = line.params.iter().find(|node| node.name.get().eq_ignore_ascii_case(name))?;
    Some(text::param(node.values.first()?.get())).filter(|text| !text.is_empty())
}

/// Replaces a line's value by TEXT.
pub fn put_text(line: &mut IcalLine, value: &str) {
    line.value.set(&[text::plain(value)]);
    unfold(line);
}

/// Forgets where a line that changes was folded: at the same place there may now be the middle of a character.
fn unfold(line: &mut IcalLine) {
    line.wire = IcalWire::default();
}

/// Sets or removes a parameter; one that is there keeps its place.
pub fn set_param(line: &mut IcalLine, name: &str, value: Option<&str>) {
    let at = line.params.iter().position(|node| node.name.get().eq_ignore_ascii_case(name));
    if at.is_some() || value.is_some() {
        unfold(line);
    }
    match (at, value.map(param_leaf)) {
        (Some(at), Some(leaf)) => line.params[at].values = vec![leaf],
        (Some(at), None) => drop(line.params.remove(at)),
        (None, Some(leaf)) => line.params.push(IcalParamNode {
            name: IcalLeaf::from(name.to_owned()),
            values: vec![leaf],
            escaper: Escaper::Modern,
        }),
        (None, None) => {}
    }
}

fn param_leaf(value: &str) -> IcalLeaf<'static> {
    IcalLeaf::from(text::raw_param(value))
}

/// A new line whose value is written as it is; line breaks and other controls are dropped, so that a value can never begin
/// another property.
pub fn raw_line(name: &str, params: &[(&str, &str)], value: &str) -> IcalLine<'static> {
    let mut line = IcalLine::text(name.to_owned(), text::one_line(value));
    for (name, value) in params {
        set_param(&mut line, name, Some(value));
    }
    line
}

/// A new line whose value is TEXT (RFC 5545 section 3.3.11).
pub fn text_line(name: &str, value: &str) -> IcalLine<'static> {
    let mut line = IcalLine::text(name.to_owned(), "");
    put_text(&mut line, value);
    line
}

/// Several values of TEXT in one line, as CATEGORIES has them.
pub fn set_list<S: AsRef<str>>(line: &mut IcalLine, values: &[S]) {
    let values: Vec<String> = values.iter().map(|value| text::plain(value.as_ref())).collect();
    line.value.set(&values);
    unfold(line);
}

/// The same out of a line's value: trimmed, without empty ones.
pub fn list(line: &IcalLine) -> Vec<String> {
    let values = line.value.decode_list();
    values.iter().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
}

/// Sets the value of the first property of this name and keeps its parameters and its place; a new one goes behind the
/// properties. A value that it has already keeps its bytes. Not for TEXT: see [`set_text`].
pub fn set_value(component: &mut IcalCst<'_>, name: &str, value: &str) {
    let existing = component.items.iter_mut().find(|item| is_line(item, name));
    match existing {
        Some(IcalItem::Prop(line)) if line.raw_value_str().trim() == value => {}
        Some(IcalItem::Prop(line)) => put_text(line, value),
        _ => drop(component.push_line(raw_line(name, &[], value))),
    }
}

/// Puts this line in the place of the first of its name and drops the others; a new one goes behind the properties.
pub fn set_line(component: &mut IcalCst<'_>, line: IcalLine<'static>) {
    let name = line.name.get().to_owned();
    let at = component.items.iter().position(|item| is_line(item, &name));
    let Some(at) = at else {
        component.push_line(line);
        return;
    };
    component.items[at] = IcalItem::Prop(line);
    let mut index = 0;
    component.items.retain(|item| {
        index += 1;
        index - 1 <= at || !is_line(item, &name)
    });
}

/// Sets a TEXT property, keeping the parameters that still hold: a language does, a pointer to another form of the old text
/// (ALTREP) does not. None removes it.
pub fn set_text(component: &mut IcalCst<'_>, name: &str, value: Option<&str>) {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        remove(component, name);
        return;
    };
    let existing = component.items.iter_mut().find(|item| is_line(item, name));
    match existing {
        Some(IcalItem::Prop(line)) => {
            put_text(line, value);
            set_param(line, "ALTREP", None);
        }
        _ => set_line(component, text_line(name, value)),
    }
}

/// Removes every property of this name.
pub fn remove(component: &mut IcalCst<'_>, name: &str) {
    component.items.retain(|item| !is_line(item, name));
}

fn is_line(item: &IcalItem, name: &str) -> bool {
    matches!(item, IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use ical::tree::cst::IcalCst;

    use super::{param, raw_line, set_line, set_param, set_text, text, text_line};

    fn print_text(component: &IcalCst) -> String {
        String::from_utf8(component.to_bytes()).unwrap()
    }

    #[test]
    fn parameters_are_quoted_and_read_back() {
        for value in ["plain", "Doe, Jane", "say \"hi\" ^ now", "^n is not a break", "a:b;c", "two\nlines"] {
            let line = raw_line("ATTENDEE", &[("CN", value)], "mailto:a@example.com");
            let mut event = IcalCst::empty("VEVENT");
            event.push_line(line);
            let bytes = event.to_bytes();
            let read = IcalCst::parse(&bytes).unwrap();
            assert_eq!(param(super::line(&read, "ATTENDEE").unwrap(), "cn").as_deref(), Some(value));
        }
    }

    #[test]
    fn a_value_cannot_begin_another_property() {
        let mut event = IcalCst::empty("VEVENT");
        event.push_line(raw_line("URL", &[], "https://x/\r\nATTENDEE:mailto:evil@example.com"));
        event.push_line(text_line("SUMMARY", "a\r\nB:c\u{0}\rD:e"));
        event.push_line(raw_line("X-A", &[("X-P", "a\r\nB:c")], ""));
        let text = print_text(&event);
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.contains("SUMMARY:a\\nB:cD:e\r\n"), "{text}");
    }

    #[test]
    fn setting_keeps_the_place_and_drops_doubles() {
        let raw = "BEGIN:VEVENT\r\nA:1\r\nSUMMARY;LANGUAGE=de;ALTREP=\"cid:x\":old\r\nB:2\r\nSUMMARY:double\r\nEND:VEVENT\r\n";
        let mut event = IcalCst::parse(raw).unwrap();
        set_text(&mut event, "SUMMARY", Some("new"));
        assert!(print_text(&event).contains("A:1\r\nSUMMARY;LANGUAGE=de:new\r\nB:2\r\n"));
        set_line(&mut event, text_line("SUMMARY", "x"));
        assert_eq!(print_text(&event), "BEGIN:VEVENT\r\nA:1\r\nSUMMARY:x\r\nB:2\r\nEND:VEVENT\r\n");
        set_text(&mut event, "SUMMARY", None);
        assert_eq!(text(&event, "SUMMARY"), None);
    }

    #[test]
    fn a_line_that_changes_is_folded_anew() {
        let old =
            format!("BEGIN:VEVENT\r\nSUMMARY:{}\r\n {}\r\nEND:VEVENT\r\n", "a".repeat(65), "b".repeat(65));
        let mut event = IcalCst::parse(&old).unwrap();
        // As long as the old one, with a character where that was folded.
        let new = format!("{}ü{}", "a".repeat(64), "b".repeat(64));
        set_text(&mut event, "SUMMARY", Some(&new));
        assert_eq!(text(&IcalCst::parse(&print_text(&event)).unwrap(), "SUMMARY"), Some(new));
    }

    #[test]
    fn a_parameter_is_replaced_in_place() {
        let mut line =
            raw_line("ATTENDEE", &[("PARTSTAT", "NEEDS-ACTION"), ("CN", "A")], "mailto:a@example.com");
        set_param(&mut line, "partstat", Some("ACCEPTED"));
        set_param(&mut line, "RSVP", None);
        assert_eq!(line.to_string(), "ATTENDEE;PARTSTAT=ACCEPTED;CN=A:mailto:a@example.com\r\n");
    }
}
