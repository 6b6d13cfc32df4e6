//! A calendar object's text as a tree that keeps every byte, read in one pass and to a limited depth.
//!
//! Not by the library's own recovering reader, though line by line with its tokenizer: that one calls itself for every component inside
//! another, and it reads a folded line without a colon again from each of its folds.

use std::borrow::Cow;

use ical::tree::codec::mode::Escaper;
use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;

use crate::ical::lines::{is_named, line};

/// Deepest nesting of components. RFC 5545 has three levels: VCALENDAR, VEVENT or VTIMEZONE, VALARM or DAYLIGHT.
const MAX_DEPTH: usize = 16;

/// The first VCALENDAR. Lines that are no content lines are kept as they are; a component without an end means that bytes are missing.
/// The error names the fault, never the content.
pub fn read(data: &str) -> Result<IcalCst<'_>, String> {
    let mut rest = data.as_bytes();
    let mut open: Vec<IcalCst<'_>> = Vec::new();
    let mut found = None;
    while !is_blank(rest) {
        let Ok((line, tail)) = IcalLine::take(rest) else {
            let (text, tail) = rest.split_at(count_unstructured(rest));
            if let Some(component) = open.last_mut() {
                component.items.push(IcalItem::Opaque(Cow::Borrowed(text)));
            }
            rest = tail;
            continue;
        };
        rest = tail;
        if line.name.get().eq_ignore_ascii_case("BEGIN") {
            if open.len() >= MAX_DEPTH {
                return Err("its components are nested too deep".into());
            }
            open.push(IcalCst { begin: Some(line), items: Vec::new(), end: None, trailing: "".into() });
        } else if line.name.get().eq_ignore_ascii_case("END") {
            // An end that nothing began, and what stands outside of all components, is no part of the object.
            let Some(mut closed) = open.pop() else { continue };
            closed.end = Some(line);
            match open.last_mut() {
                Some(parent) => parent.items.push(IcalItem::Component(Box::new(closed))),
                None if found.is_none() && is_named(&closed, "VCALENDAR") => found = Some(closed),
                None => {}
            }
        } else if let Some(component) = open.last_mut() {
            component.items.push(IcalItem::Prop(line));
        }
    }
    if !open.is_empty() {
        return Err("a component has no end".into());
    }
    let mut calendar = found.ok_or("it is not a VCALENDAR")?;
    // The blank lines at the end of the text; they are the object's only if nothing else follows it, and no program writes anything
    // after it.
    calendar.trailing = Cow::Borrowed(str::from_utf8(rest).unwrap_or_default());
    let escaper = escaper(&calendar);
    stamp(&mut calendar, escaper);
    Ok(calendar)
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// How many bytes the line takes that the tokenizer refuses, with blank lines before it and its folds: none of them has a colon, so none
/// of them is a content line.
fn count_unstructured(rest: &[u8]) -> usize {
    let line_end = |from: usize| {
        let rest = rest.get(from..).unwrap_or_default();
        from + rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1)
    };
    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let mut end = line_end(blank);
    while matches!(rest.get(end), Some(b' ' | b'\t')) {
        end = line_end(end);
    }
    end
}

/// How texts are escaped: the version says, which the tokenizer of a line does not know.
fn escaper(calendar: &IcalCst) -> Escaper {
    let version = line(calendar, "VERSION").map(|line| line.raw_value_str().into_owned()).unwrap_or_default();
    Escaper::for_version_str(version.split(';').next().unwrap_or_default())
}

/// Recursion is as deep as components nest: [`MAX_DEPTH`].
fn stamp(component: &mut IcalCst, escaper: Escaper) {
    for item in &mut component.items {
        match item {
            IcalItem::Prop(line) => {
                line.value.escaper = escaper;
                line.params.iter_mut().for_each(|param| param.escaper = escaper);
            }
            IcalItem::Component(child) => stamp(child, escaper),
            IcalItem::Opaque(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use ical::tree::cst::IcalCst;

    use super::read;

    fn library(text: &str) -> IcalCst<'_> {
        IcalCst::parse_recovering(text).calendars.into_iter().next().unwrap()
    }

    #[test]
    fn it_reads_as_the_library_does() {
        for body in [
            "VERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:a\\, b\r\n c\r\nEND:VEVENT\r\n",
            "VERSION:1.0\r\nBEGIN:VEVENT\r\nSUMMARY:a\\, b\\;\r\nEND:VEVENT\r\n",
            "\r\n\r\nX:1\r\n no colon\r\nno colon\r\n at all\r\n\t here\r\n\r\nY:2\r\n \r\n",
            "\r\n  dangling\r\n  Z:1\r\nA;ENCODING=QUOTED-PRINTABLE:a=\r\n b=\r\n c\r\n d\r\n",
            "BEGIN:VEVENT\r\nBEGIN:VALARM\r\nX\r\nEND:VALARM\r\nEND:VEVENT\r\nBEGIN:VTODO\r\nEND:WRONG\r\n",
            "\n\rA:b\n\n",
        ] {
            for end in ["END:VCALENDAR\r\n", "END:VCALENDAR", "END:VCALENDAR\r\n\r\n"] {
                let text = format!("BEGIN:VCALENDAR\r\n{body}{end}");
                let (ours, theirs) = (read(&text).unwrap(), library(&text));
                assert_eq!(String::from_utf8_lossy(&ours.to_bytes()), text);
                assert_eq!(format!("{:?}", ours.decode()), format!("{:?}", theirs.decode()), "{text:?}");
            }
        }
    }

    #[test]
    fn what_is_cut_or_nested_too_deep_is_refused() {
        let nested = |count: usize| {
            let (begin, end) = ("BEGIN:X\r\n".repeat(count), "END:X\r\n".repeat(count));
            format!("BEGIN:VCALENDAR\r\n{begin}{end}END:VCALENDAR\r\n")
        };
        assert!(read(&nested(super::MAX_DEPTH - 1)).is_ok());
        assert_eq!(read(&nested(100_000)).unwrap_err(), "its components are nested too deep");
        assert_eq!(read("BEGIN:VCALENDAR\r\nX:1\r\n").unwrap_err(), "a component has no end");
        assert_eq!(read("BEGIN:VCARD\r\nEND:VCARD\r\n").unwrap_err(), "it is not a VCALENDAR");
        assert_eq!(read("X\r\n\r\n").unwrap_err(), "it is not a VCALENDAR");
    }
}
