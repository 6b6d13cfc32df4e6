//! The hosts of an event type, as its page shows them: by the names that it gives them, and with their pictures where it has some. A
//! picture that cannot be loaded leaves the host's initials, which lie below it.

use model::scheduling::event_type::EventType;

use crate::api::book::layout;
use crate::api::book::texts::controls::controls;
use crate::api::book::texts::texts;
use crate::locale::Language;
use crate::locale::html::Html;

/// Pictures of hosts that a page loads: of the first who have one. Each can be on a site of its own, which the page's policy names.
const MAX_PICTURES: usize = 5;

/// A host whom the page shows.
struct PageHost<'e> {
    name: Option<&'e str>,
    /// The address of the picture.
    picture: Option<&'e str>,
}

fn shown(event_type: &EventType) -> Vec<PageHost<'_>> {
    let (mut all, mut left) = (Vec::new(), MAX_PICTURES);
    for host in &event_type.hosts {
        let may_load = |url: &&str| left > 0 && layout::image_source(url).is_some();
        let picture = host.avatar_url.as_deref().filter(may_load);
        left -= usize::from(picture.is_some());
        let name = host.display_name.as_deref().filter(|name| !name.trim().is_empty());
        if name.is_some() || picture.is_some() {
            all.push(PageHost { name, picture });
        }
    }
    all
}

/// The addresses of the pictures in `row`.
pub fn pictures(event_type: &EventType) -> Vec<String> {
    shown(event_type).into_iter().filter_map(|host| host.picture.map(str::to_owned)).collect()
}

/// The row of the hosts in a description list; nothing where the event type says nothing of them.
pub fn row(event_type: &EventType, language: Language) -> Html {
    let (hosts, term) = (shown(event_type), texts(language).host);
    let mut html = Html::default();
    if hosts.iter().all(|host| host.picture.is_none()) {
        let names: Vec<&str> = hosts.iter().filter_map(|host| host.name).collect();
        if !names.is_empty() {
            html.described(term, &names.join(", "));
        }
        return html;
    }
    html.raw("<dt>").text(term).raw("</dt><dd><ul class=\"hosts\">\n");
    for host in &hosts {
        html.raw("<li>").html(&face(host, language));
        if let Some(name) = host.name {
            html.raw("<bdi>").text(name).raw("</bdi>");
        }
        html.raw("</li>\n");
    }
    html.raw("</ul></dd>\n");
    html
}

/// The picture over the initials.
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
        // Its place is as large before it is loaded, and it is loaded when it comes into view.
        html.raw("<img alt=\"").text(alt).raw("\" src=\"").text(url);
        html.raw("\" width=\"32\" height=\"32\" loading=\"lazy\" decoding=\"async\">");
    }
    html.raw("</span>");
    html
}

/// The first letter of the first word and, in scripts that have capital letters, of the last: in others two letters side by side would
/// be read as a word.
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

    #[test]
    fn so_many_pictures_are_loaded() {
        let host = |n: usize| Host {
            display_name: Some(format!("Host {n}")),
            avatar_url: Some(format!("https://pictures.example/{n}.png")),
            ..Host::default()
        };
        let event_type = EventType { hosts: (0..100).map(host).collect(), ..EventType::default() };
        assert_eq!(pictures(&event_type).len(), MAX_PICTURES);
        let row = row(&event_type, Language::English);
        assert_eq!(row.as_str().matches("<img ").count(), MAX_PICTURES);
        assert_eq!(row.as_str().matches("class=\"face\"").count(), 100);
    }
}
