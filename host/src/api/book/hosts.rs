//! The hosts of an event type on its page: with the names and images that it gives them. If an image cannot be loaded, the host's initials
//! below it are visible.

use model::scheduling::event_type::EventType;
use service::locale::Language;
use service::locale::html::Html;

use crate::api::book::texts::controls::controls;
use crate::web::csp::image_source;

/// Most hosts that a page shows. If there are more, the last position shows how many.
const MAX_SHOWN: usize = 3;

/// A host whom the page shows.
struct PageHost<'e> {
    name: Option<&'e str>,
    /// The address of the image. It can be on any site, which the page's policy then allows.
    picture: Option<&'e str>,
}

impl PageHost<'_> {
    /// Whether there is an image, or initials in its place.
    fn has_face(&self) -> bool {
        self.picture.is_some() || !initials(self.name.unwrap_or_default()).is_empty()
    }
}

/// The hosts of a page.
struct PageHosts<'e> {
    shown: Vec<PageHost<'e>>,
    /// Number of hosts that are not shown.
    others: usize,
}

impl PageHosts<'_> {
    /// The hosts with a name or a picture.
    fn for_event_type(event_type: &EventType) -> PageHosts<'_> {
        let mut shown = Vec::new();
        for host in &event_type.hosts {
            let picture = host.avatar_url.as_deref().filter(|url| image_source(url).is_some());
            let name = host.display_name.as_deref().filter(|name| !name.trim().is_empty());
            if name.is_some() || picture.is_some() {
                shown.push(PageHost { name, picture });
            }
        }
        let all = shown.len();
        if all > MAX_SHOWN {
            shown.truncate(MAX_SHOWN - 1);
        }
        PageHosts { others: all - shown.len(), shown }
    }
}

/// The addresses of the images in `faces`.
pub fn pictures(event_type: &EventType) -> Vec<String> {
    let hosts = PageHosts::for_event_type(event_type);
    hosts.shown.into_iter().filter_map(|host| host.picture.map(str::to_owned)).collect()
}

/// The hosts' images or initials; empty if the event type gives none.
pub fn faces(event_type: &EventType, language: Language) -> Html {
    let PageHosts { shown, others } = PageHosts::for_event_type(event_type);
    let shown: Vec<&PageHost<'_>> = shown.iter().filter(|host| host.has_face()).collect();
    let mut html = Html::default();
    if let ([host], 0) = (shown.as_slice(), others) {
        return face(host, language);
    }
    if shown.is_empty() {
        return html;
    }
    html.raw("<span class=\"faces\">");
    for host in shown {
        html.html(&face(host, language));
    }
    if others > 0 {
        html.raw("<span class=\"face\" aria-hidden=\"true\">+").text(&others.to_string()).raw("</span>");
    }
    html.raw("</span>");
    html
}

/// The hosts' names, each with a text direction of its own; empty if none has one.
pub fn names(event_type: &EventType, language: Language) -> Html {
    let PageHosts { shown, others } = PageHosts::for_event_type(event_type);
    let controls = controls(language);
    let mut html = Html::default();
    for (n, name) in shown.iter().filter_map(|host| host.name).enumerate() {
        html.raw(if n > 0 { controls.comma } else { "" }).raw("<bdi>").text(name).raw("</bdi>");
    }
    if others > 0 && !html.as_str().is_empty() {
        let [before, after] = controls.other_hosts;
        html.raw(before).text(&others.to_string()).raw(after);
    }
    html
}

/// The image over the initials.
// Contract silent: what stands for a picture where it cannot be seen. Beside the name it says nothing more. Where the event type gives no
// name, it is all that there is, and is told to be a picture.
fn face(host: &PageHost<'_>, language: Language) -> Html {
    let (hidden, alt) = match host.name {
        Some(_) => (" aria-hidden=\"true\"", ""),
        None => ("", controls(language).picture_of_host),
    };
    let mut html = Html::default();
    html.raw("<span class=\"face\"")
        .raw(hidden)
        .raw("><span>")
        .text(&initials(host.name.unwrap_or_default()));
    html.raw("</span>");
    if let Some(url) = host.picture {
        // Its size is reserved, and it is loaded when it comes into view.
        html.raw("<img alt=\"").text(alt).raw("\" src=\"").text(url);
        html.raw("\" width=\"48\" height=\"48\" loading=\"lazy\" decoding=\"async\">");
    }
    html.raw("</span>");
    html
}

/// The first letter of the first word and, in scripts with capital letters, of the last: in others two adjacent letters would be read as a
/// word.
fn initials(name: &str) -> String {
    let has_case = |letter: char| letter.is_uppercase() || letter.is_lowercase();
    let mut letters = name.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    let Some(first) = letters.next() else { return String::new() };
    let last = letters.next_back().filter(|last| has_case(first) && has_case(*last));
    first.to_uppercase().chain(last.into_iter().flat_map(char::to_uppercase)).collect()
}

#[cfg(test)]
mod tests {
    use model::scheduling::event_type::Host;

    use super::*;

    #[test]
    fn initials_are_letters_of_the_first_and_the_last_word() {
        for (name, letters) in [
            ("Alice", "A"),
            ("ada lovelace", "AL"),
            ("Dr. Ángela  de la Cruz", "DC"),
            ("Jean-Luc (Paris)", "JP"),
            ("Room 7", "R"),
            ("山田 太郎", "山"),
            ("ليلى حسن", "ل"),
            ("🙂 !", ""),
            ("", ""),
        ] {
            assert_eq!(initials(name), letters, "{name}");
        }
    }

    fn event_type(hosts: usize) -> EventType {
        let host = |n: usize| Host {
            display_name: Some(format!("Host {n}")),
            avatar_url: Some(format!("https://pictures.example/{n}.png")),
            ..Host::default()
        };
        EventType { hosts: (0..hosts).map(host).collect(), ..EventType::default() }
    }

    #[test]
    fn of_many_hosts_the_first_are_shown_and_the_others_counted() {
        let numbers = |hosts: usize| {
            let event_type = event_type(hosts);
            let faces = faces(&event_type, Language::English);
            let count = |part: &str| faces.as_str().matches(part).count();
            (pictures(&event_type).len(), count("<img "), count("class=\"face\""))
        };
        assert_eq!([0, 1, 3, 4, 100].map(numbers), [(0, 0, 0), (1, 1, 1), (3, 3, 3), (2, 2, 3), (2, 2, 3)]);
        assert!(faces(&event_type(100), Language::English).as_str().contains(">+98</span>"));
        let all = "<bdi>Host 0</bdi>, <bdi>Host 1</bdi>, <bdi>Host 2</bdi>";
        assert_eq!(names(&event_type(3), Language::English).as_str(), all);
        let many = "<bdi>Host 0</bdi>, <bdi>Host 1</bdi> and 98 others";
        assert_eq!(names(&event_type(100), Language::English).as_str(), many);
    }
}
