//! Icons of the panel. A page refers to them by name; its frame contains the used ones.

use service::locale::html::Html;

/// An icon of 20 × 20 px, always beside a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelIcon {
    Alert,
    Back,
    Building,
    Chart,
    Check,
    Clock,
    Copy,
    Cross,
    Done,
    Dot,
    Gear,
    Globe,
    Half,
    Home,
    Key,
    List,
    Logo,
    Menu,
    Next,
    Pause,
    Person,
    Ring,
    Search,
    Server,
}

/// Each icon with its name and its shapes.
const DRAWINGS: [(PanelIcon, &str, &str); 24] = [
    (
        PanelIcon::Alert,
        "alert",
        "<circle cx=\"10\" cy=\"10\" r=\"7.25\"/><path d=\"M10 6.25v4.5M10 13.6v.05\"/>",
    ),
    (PanelIcon::Back, "back", "<path d=\"M12 4.5 6.5 10l5.5 5.5\"/>"),
    (
        PanelIcon::Building,
        "building",
        "<path d=\"M4 17V4.5h8V17M12 8.5h4V17M2.5 17h15M6.75 7.5h2.5m-2.5 3h2.5m-2.5 3h2.5\"/>",
    ),
    (PanelIcon::Chart, "chart", "<path d=\"M3.5 16.5h13M6 13.5v-4m4 4v-8m4 8v-6\"/>"),
    (PanelIcon::Check, "check", "<path d=\"m4.5 10.5 3.75 3.75 7.5-8\"/>"),
    (PanelIcon::Clock, "clock", "<circle cx=\"10\" cy=\"10\" r=\"7.25\"/><path d=\"M10 6v4.25l2.75 1.6\"/>"),
    (
        PanelIcon::Copy,
        "copy",
        "<rect x=\"7\" y=\"7\" width=\"10\" height=\"10\" rx=\"2\"/><path d=\"M13 7V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h2\"/>",
    ),
    (PanelIcon::Cross, "cross", "<path d=\"m5.5 5.5 9 9m0-9-9 9\"/>"),
    (
        PanelIcon::Done,
        "done",
        "<circle cx=\"10\" cy=\"10\" r=\"7.25\"/><path d=\"m6.75 10.25 2.4 2.4 4.2-4.7\"/>",
    ),
    (PanelIcon::Dot, "dot", "<circle cx=\"10\" cy=\"10\" r=\"5\" fill=\"currentColor\"/>"),
    (
        PanelIcon::Gear,
        "gear",
        "<circle cx=\"10\" cy=\"10\" r=\"2.5\"/><path d=\"M10 2.75v2m0 10.5v2M2.75 10h2m10.5 0h2M4.9 4.9l1.4 1.4m7.4 7.4 1.4 1.4m0-10.2-1.4 1.4m-7.4 7.4-1.4 1.4\"/>",
    ),
    (
        PanelIcon::Globe,
        "globe",
        "<circle cx=\"10\" cy=\"10\" r=\"7.25\"/><path d=\"M2.75 10h14.5M10 2.75c4 4.3 4 10.2 0 14.5-4-4.3-4-10.2 0-14.5\"/>",
    ),
    (
        PanelIcon::Half,
        "half",
        "<circle cx=\"10\" cy=\"10\" r=\"6\"/><path d=\"M10 4a6 6 0 0 0 0 12z\" fill=\"currentColor\"/>",
    ),
    (PanelIcon::Home, "home", "<path d=\"m3 9.5 7-6.25 7 6.25M5 8.25V16.5h10V8.25\"/>"),
    (
        PanelIcon::Key,
        "key",
        "<circle cx=\"6.5\" cy=\"13.5\" r=\"3.5\"/><path d=\"m9 11 7.5-7.5M13.5 6.5 16 9\"/>",
    ),
    (
        PanelIcon::List,
        "list",
        "<path d=\"M7 5.5h9.5M7 10h9.5M7 14.5h9.5M3.5 5.5h.05M3.5 10h.05M3.5 14.5h.05\"/>",
    ),
    (
        PanelIcon::Logo,
        "logo",
        "<path d=\"M3 6.5h7.5M3 13.5h4\"/><circle cx=\"13\" cy=\"6.5\" r=\"2.5\"/><circle cx=\"9.5\" cy=\"13.5\" r=\"2.5\"/><path d=\"M12 13.5h5M15.5 6.5H17\"/>",
    ),
    (PanelIcon::Menu, "menu", "<path d=\"M3.5 6h13m-13 4h13m-13 4h13\"/>"),
    (PanelIcon::Next, "next", "<path d=\"M8 4.5 13.5 10 8 15.5\"/>"),
    (PanelIcon::Pause, "pause", "<path d=\"M7 5v10m6-10v10\"/>"),
    (
        PanelIcon::Person,
        "user",
        "<circle cx=\"10\" cy=\"7\" r=\"3.25\"/><path d=\"M3.75 17c.6-3.4 3.1-5 6.25-5s5.65 1.6 6.25 5\"/>",
    ),
    (PanelIcon::Ring, "ring", "<circle cx=\"10\" cy=\"10\" r=\"6\"/>"),
    (PanelIcon::Search, "search", "<circle cx=\"9\" cy=\"9\" r=\"5.5\"/><path d=\"m13 13 4 4\"/>"),
    (
        PanelIcon::Server,
        "server",
        "<rect x=\"3\" y=\"3.5\" width=\"14\" height=\"5.5\" rx=\"1.75\"/><rect x=\"3\" y=\"11\" width=\"14\" height=\"5.5\" rx=\"1.75\"/><path d=\"M6 6.25h.05M6 13.75h.05\"/>",
    ),
];

impl PanelIcon {
    fn name(self) -> &'static str {
        DRAWINGS.iter().find(|(icon, ..)| *icon == self).map_or("", |(_, name, _)| *name)
    }
}

/// Adds an icon, which screen readers skip.
pub fn icon(html: &mut Html, icon: PanelIcon) {
    html.raw("<svg class=\"i\" aria-hidden=\"true\"><use href=\"#i-").raw(icon.name()).raw("\"/></svg>");
}

/// Returns the shapes of the icons that these parts of a page use.
pub fn sprite(used_in: &[&Html]) -> Html {
    let mut html = Html::default();
    html.raw("<svg class=\"sprite\" aria-hidden=\"true\">");
    for (_, name, shapes) in DRAWINGS {
        let reference = format!("<use href=\"#i-{name}\"/>");
        if used_in.iter().any(|part| part.as_str().contains(&reference)) {
            html.raw("<symbol id=\"i-")
                .raw(name)
                .raw("\" viewBox=\"0 0 20 20\">")
                .raw(shapes)
                .raw("</symbol>");
        }
    }
    html.raw("</svg>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_the_drawings_that_it_uses() {
        let mut body = Html::default();
        icon(&mut body, PanelIcon::Key);
        let sprite = sprite(&[&body]);
        assert!(sprite.as_str().contains("<symbol id=\"i-key\""), "{}", sprite.as_str());
        assert_eq!(sprite.as_str().matches("<symbol").count(), 1);
        let mut names: Vec<&str> = DRAWINGS.iter().map(|(_, name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DRAWINGS.len());
    }
}
