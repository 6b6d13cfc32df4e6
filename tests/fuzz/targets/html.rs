//! A sender's HTML: the cleaned HTML neither acts nor loads anything, when parsed as a browser does; and cleaning it again changes
//! nothing.

#![no_main]

use html5ever::tendril::TendrilSink as _;
use html5ever::{Attribute, ParseOpts, QualName, local_name, ns};
use libfuzzer_sys::fuzz_target;
use mail::html::{DEPTH, Safe, safe, visible};
use mail::read::limits::SNIPPET_CHARS;
use mail::text::{is_ignorable, snippet};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// Elements that act, load or change the meaning of others.
const ACTIVE: [&str; 22] = [
    "applet", "audio", "base", "button", "embed", "form", "frame", "frameset", "iframe", "input", "link",
    "math", "meta", "noscript", "object", "script", "select", "style", "svg", "template", "textarea",
    "video",
];

/// The functions that a style may call.
const COLOURS: [&str; 4] = ["rgb", "rgba", "hsl", "hsla"];

fuzz_target!(|bytes: &[u8]| {
    let html = String::from_utf8_lossy(bytes);
    let cid = |id: &str| (id.len() % 2 == 0).then(|| format!("/v1/attachments/{}", id.len()));
    let shown = safe(&html, &Safe { images: false, cid: &cid });
    check(&fragment(&shown), false);
    let shown = safe(&html, &Safe { images: true, ..Safe::default() });
    let tree = fragment(&shown);
    check(&tree, true);
    let again = safe(&shown, &Safe { images: true, ..Safe::default() });
    if shown != again {
        assert_eq!(nodes(&tree), nodes(&fragment(&again)), "what is safe was changed");
    }
    let seen = visible(&html).text;
    assert!(!seen.contains(is_ignorable), "{seen:?}");
    let line = snippet(None, Some(&html));
    assert!(line.chars().count() <= SNIPPET_CHARS && !line.contains(char::is_control), "{line:?}");
});

/// Parses the HTML as a fragment of a page.
fn fragment(html: &str) -> RcDom {
    let context = QualName::new(None, ns!(html), local_name!("div"));
    html5ever::parse_fragment(RcDom::default(), ParseOpts::default(), context, Vec::new(), true).one(html)
}

/// Returns all nodes in order, with their depth; attributes by name, since their order has no meaning. The text of a `style` is rewritten
/// with each cleaning, number by number: only its presence is compared.
fn nodes(tree: &RcDom) -> Vec<(usize, String)> {
    let mut nodes = Vec::new();
    let mut open: Vec<(Handle, usize)> = vec![(tree.document.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        open.extend(node.children.borrow().iter().rev().map(|child| (child.clone(), depth + 1)));
        let shown = match &node.data {
            NodeData::Element { name, attrs, .. } => {
                let attrs = attrs.borrow();
                let shown = |attr: &Attribute| match &*attr.name.local {
                    "style" => "style".to_owned(),
                    name => format!("{name}={:?}", attr.value.trim()),
                };
                let mut attributes: Vec<String> = attrs.iter().map(shown).collect();
                attributes.sort();
                format!("<{} {}>", name.local, attributes.join(" "))
            }
            NodeData::Text { contents } => format!("{:?}", &**contents.borrow()),
            _ => String::new(),
        };
        nodes.push((depth, shown));
    }
    nodes
}

fn check(tree: &RcDom, images: bool) {
    // The document and the root of the fragment are not part of the HTML.
    let mut open: Vec<(Handle, usize)> = vec![(tree.document.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        assert!(depth <= DEPTH + 2, "elements too deep");
        open.extend(node.children.borrow().iter().map(|child| (child.clone(), depth + 1)));
        match &node.data {
            NodeData::Element { name, attrs, .. } => {
                let element = &*name.local;
                assert!(name.ns.ends_with("/xhtml"), "{element} of {}", name.ns);
                assert!(!ACTIVE.contains(&element), "{element}");
                for attribute in attrs.borrow().iter() {
                    check_attribute(element, &attribute.name.local, &attribute.value, images);
                }
            }
            NodeData::Comment { .. } | NodeData::ProcessingInstruction { .. } => panic!("a comment is left"),
            NodeData::Document | NodeData::Doctype { .. } | NodeData::Text { .. } => {}
        }
    }
}

fn check_attribute(element: &str, name: &str, value: &str, images: bool) {
    assert!(!name.starts_with("on"), "{element} {name}");
    assert!(!["id", "class", "name", "srcset", "background", "action"].contains(&name), "{element} {name}");
    // Browsers ignore controls and blanks before a scheme, and line breaks and tabs in it.
    let url: String = value.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let url = url.to_ascii_lowercase();
    let begins = |schemes: &[&str]| schemes.iter().any(|scheme| url.starts_with(scheme));
    let good = match name {
        "href" => element == "a" && begins(&["http:", "https:", "mailto:", "tel:"]),
        "src" if images => element == "img" && begins(&["http:", "https:", "data:image/"]),
        "src" => element == "img" && begins(&["/v1/attachments/", "data:image/"]),
        "data-src" => element == "img" && !images && begins(&["http:", "https:"]),
        "style" => {
            let is_colour = |name: &str| COLOURS.iter().any(|colour| name.ends_with(colour));
            !url.contains('@') && calls(&url).all(is_colour)
        }
        _ => true,
    };
    assert!(good, "{element} {name}={value:?}");
}

/// Returns the text before each opening bracket.
fn calls(style: &str) -> impl Iterator<Item = &str> {
    let pieces = style.split('(');
    pieces.take(style.matches('(').count())
}
