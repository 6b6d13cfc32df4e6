//! Icons of the booking page. A page refers to them by name; its frame contains the used ones.

use service::locale::html::Html;

/// An icon of 20 × 20 px, beside a word or in a control that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageIcon {
    Alert,
    Back,
    Calendar,
    Check,
    Clock,
    Cross,
    Dot,
    Globe,
    Half,
    Mail,
    Next,
    Phone,
    Pin,
    Text,
    User,
    Video,
}

/// The reference to an icon, and its shapes.
struct Drawing {
    icon: PageIcon,
    /// The reference as written in a page, with its quotes, which are escaped in other texts.
    reference: &'static str,
    symbol: &'static str,
}

static DRAWINGS: [Drawing; 16] = [
    Drawing {
        icon: PageIcon::Alert,
        reference: "\"#i-alert\"",
        symbol: "<symbol id=\"i-alert\" viewBox=\"0 0 20 20\"><circle cx=\"10\" cy=\"10\" r=\"7.25\"/><path d=\"M10 6.25v4.5M10 13.6v.05\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Back,
        reference: "\"#i-back\"",
        symbol: "<symbol id=\"i-back\" viewBox=\"0 0 20 20\"><path d=\"M12 4.5 6.5 10l5.5 5.5\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Calendar,
        reference: "\"#i-cal\"",
        symbol: "<symbol id=\"i-cal\" viewBox=\"0 0 20 20\"><rect x=\"3\" y=\"4\" width=\"14\" height=\"13\" rx=\"2.25\"/><path d=\"M3 8h14M6.75 2.5V5m6.5-2.5V5\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Check,
        reference: "\"#i-check\"",
        symbol: "<symbol id=\"i-check\" viewBox=\"0 0 20 20\"><path d=\"m4.5 10.5 3.75 3.75 7.5-8\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Clock,
        reference: "\"#i-clock\"",
        symbol: "<symbol id=\"i-clock\" viewBox=\"0 0 20 20\"><circle cx=\"10\" cy=\"10\" r=\"7.25\"/><path d=\"M10 6v4.25l2.75 1.6\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Cross,
        reference: "\"#i-cross\"",
        symbol: "<symbol id=\"i-cross\" viewBox=\"0 0 20 20\"><path d=\"m5.5 5.5 9 9m0-9-9 9\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Dot,
        reference: "\"#i-dot\"",
        symbol: "<symbol id=\"i-dot\" viewBox=\"0 0 20 20\"><circle cx=\"10\" cy=\"10\" r=\"5\" fill=\"currentColor\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Globe,
        reference: "\"#i-globe\"",
        symbol: "<symbol id=\"i-globe\" viewBox=\"0 0 20 20\"><circle cx=\"10\" cy=\"10\" r=\"7.25\"/><path d=\"M2.75 10h14.5M10 2.75c4 4.3 4 10.2 0 14.5-4-4.3-4-10.2 0-14.5\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Half,
        reference: "\"#i-half\"",
        symbol: "<symbol id=\"i-half\" viewBox=\"0 0 20 20\"><circle cx=\"10\" cy=\"10\" r=\"6\"/><path d=\"M10 4a6 6 0 0 0 0 12z\" fill=\"currentColor\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Mail,
        reference: "\"#i-mail\"",
        symbol: "<symbol id=\"i-mail\" viewBox=\"0 0 20 20\"><rect x=\"2.5\" y=\"4.5\" width=\"15\" height=\"11\" rx=\"2\"/><path d=\"m3 6 7 5 7-5\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Next,
        reference: "\"#i-next\"",
        symbol: "<symbol id=\"i-next\" viewBox=\"0 0 20 20\"><path d=\"M8 4.5 13.5 10 8 15.5\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Phone,
        reference: "\"#i-phone\"",
        symbol: "<symbol id=\"i-phone\" viewBox=\"0 0 20 20\"><path d=\"M5 3.25h2.5l1.25 3.5L7 8.25a9.5 9.5 0 0 0 4.75 4.75l1.5-1.75 3.5 1.25V15a1.75 1.75 0 0 1-1.9 1.75C8.6 16.2 3.8 11.4 3.25 5.15A1.75 1.75 0 0 1 5 3.25Z\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Pin,
        reference: "\"#i-pin\"",
        symbol: "<symbol id=\"i-pin\" viewBox=\"0 0 20 20\"><path d=\"M10 17.5s5.75-4.9 5.75-9.25a5.75 5.75 0 0 0-11.5 0C4.25 12.6 10 17.5 10 17.5Z\"/><circle cx=\"10\" cy=\"8.25\" r=\"2\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Text,
        reference: "\"#i-text\"",
        symbol: "<symbol id=\"i-text\" viewBox=\"0 0 20 20\"><path d=\"M3.5 5.5h13m-13 4.5h13m-13 4.5h8\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::User,
        reference: "\"#i-user\"",
        symbol: "<symbol id=\"i-user\" viewBox=\"0 0 20 20\"><circle cx=\"10\" cy=\"7\" r=\"3.25\"/><path d=\"M3.75 17c.6-3.4 3.1-5 6.25-5s5.65 1.6 6.25 5\"/></symbol>",
    },
    Drawing {
        icon: PageIcon::Video,
        reference: "\"#i-video\"",
        symbol: "<symbol id=\"i-video\" viewBox=\"0 0 20 20\"><rect x=\"2.5\" y=\"5\" width=\"10\" height=\"10\" rx=\"2\"/><path d=\"m12.5 9 5-2.75v7.5L12.5 11\"/></symbol>",
    },
];

/// Renders an icon. Arrows are mirrored in right-to-left pages.
pub fn icon(icon: PageIcon) -> Html {
    let is_arrow = matches!(icon, PageIcon::Back | PageIcon::Next);
    let mut html = Html::default();
    if let Some(drawing) = DRAWINGS.iter().find(|drawing| drawing.icon == icon) {
        html.raw(if is_arrow { "<svg class=\"i flip\"" } else { "<svg class=\"i\"" });
        html.raw(" aria-hidden=\"true\"><use href=").raw(drawing.reference).raw("/></svg>");
    }
    html
}

/// Returns the shapes of the icons that a page uses; empty if it uses none.
pub fn sprite(page: &Html) -> Html {
    let used = DRAWINGS.iter().filter(|drawing| page.as_str().contains(drawing.reference));
    let mut symbols = Html::default();
    for drawing in used {
        symbols.raw(drawing.symbol);
    }
    let mut html = Html::default();
    if !symbols.as_str().is_empty() {
        html.raw("<svg class=\"sprite\" aria-hidden=\"true\">").html(&symbols).raw("</svg>\n");
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_the_drawings_that_it_uses() {
        let mut page = Html::default();
        assert_eq!(sprite(&page).as_str(), "");
        page.html(&icon(PageIcon::Back)).text("\"#i-globe\"").html(&icon(PageIcon::Clock));
        assert!(
            page.as_str().starts_with("<svg class=\"i flip\" aria-hidden=\"true\"><use href=\"#i-back\"/>")
        );
        let sprite = sprite(&page);
        assert_eq!(sprite.as_str().matches("<symbol ").count(), 2);
        for id in ["id=\"i-back\"", "id=\"i-clock\""] {
            assert!(sprite.as_str().contains(id), "{id}");
        }
    }

    #[test]
    fn a_drawing_is_found_by_its_reference() {
        for Drawing { icon, reference, symbol } in &DRAWINGS {
            let id = reference.replace('#', "");
            assert!(symbol.starts_with(&format!("<symbol id={id} viewBox=\"0 0 20 20\">")), "{icon:?}");
        }
    }
}
