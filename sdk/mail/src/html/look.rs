//! How much of an element a reader sees.

use crate::html::colors::Colors;
use crate::html::css::Style;
use crate::html::references::decoded;
use crate::html::sheet::Sheet;
use crate::html::tags::Kind;
use crate::html::token::Attributes;
use crate::html::values::Effect::{Hides, Shows};
use crate::html::values::Property;

/// How much of an element is seen. `mso-hide` hides nothing: writers use it to hide content from Outlook alone. Nor does
/// `aria-hidden`, which is for programs that read aloud.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The element is hidden with everything in it.
    pub is_gone: bool,
    /// Neither text nor pictures. Elements in it may be visible again, and so with the next two.
    is_invisible: bool,
    /// Its text is too small to be read.
    is_tiny: bool,
    /// Its text has no colour.
    is_transparent: bool,
    /// Its text is seen without a colour.
    is_painted: bool,
    /// The colours of its text and background. None where these are not judged.
    colors: Option<Colors>,
}

impl Look {
    /// The look of a page before any style, where colours are judged.
    pub fn page() -> Look {
        Look { colors: Some(Colors::PAGE), ..Look::default() }
    }

    /// The look of a page whose root element has the look `root`. A page that hides all its text by its colours does so by mistake.
    pub fn with_root(self, root: Look) -> Look {
        let colors = self.colors.and(root.colors).filter(|colors| !colors.hide_text());
        Look { colors, ..self }
    }

    /// The look of an element in another one of the look `parent`.
    pub fn for_element(
        name: &str,
        kind: Kind,
        attributes: &Attributes<'_>,
        sheet: &mut Sheet,
        parent: Look,
    ) -> Look {
        let own = value(attributes, "style");
        let is_undisplayed =
            value(attributes, "hidden").is_some() || name == "dialog" && value(attributes, "open").is_none();
        let around = parent.with_defaults(name, attributes, sheet.is_quirky());
        let is_plain = own.is_none() && !is_undisplayed;
        if is_plain && sheet.is_empty() {
            return around;
        }
        let Some(rules) = sheet.rules(name, attributes) else {
            return Look { is_gone: parent.is_gone, ..Look::default() };
        };
        if is_plain && !rules.is_any {
            return around;
        }
        let mut style = if is_undisplayed { Style::undisplayed() } else { Style::default() };
        style.extend(&rules.sure);
        style.undo(&rules.unsure, false);
        if let Some(own) = own {
            style.extend(&Style::parse(&decoded(own)));
        }
        style.undo(&rules.unsure, true);
        around.within(kind, &style)
    }

    /// The look of an element of this name, in a parent of this look, before any style.
    fn with_defaults(self, name: &str, attributes: &Attributes<'_>, is_quirky: bool) -> Look {
        let mut look = self;
        look.colors = self.colors.map(|colors| colors.with_attributes(name, attributes));
        match name {
            "font" => {
                look.is_tiny &= value(attributes, "size").is_none();
                look.is_transparent &= value(attributes, "color").is_none();
            }
            // HTML 15.3.10.
            "table" => look.is_tiny &= !is_quirky,
            "mark" => look.is_transparent = false,
            "a" => look.is_transparent &= value(attributes, "href").is_none(),
            _ => (),
        }
        look
    }

    /// The look of an element with these declarations in one of this look.
    fn within(self, kind: Kind, style: &Style) -> Look {
        use Property::*;
        let shows = |property| style.effect(property) == Some(Shows);
        let hides = |property| style.effect(property) == Some(Hides);
        if shows(Animation) {
            return Look { is_gone: self.is_gone, ..Look::default() };
        }
        // Cells and tables grow with their content, inline elements have no height, and what overflows is seen over a padding.
        let is_box = match kind {
            Kind::Table | Kind::Group | Kind::Row | Kind::Cell | Kind::Void => false,
            _ if style.effect(Boxed).is_some() => hides(Boxed),
            _ => hides(OutOfFlow) || kind != Kind::Inline,
        };
        let is_low = (hides(Height) || hides(MaxHeight))
            && !shows(MinHeight)
            && !shows(PaddingTop)
            && !shows(PaddingBottom);
        let is_narrow = (hides(Width) || hides(MaxWidth))
            && !shows(MinWidth)
            && !shows(PaddingLeft)
            && !shows(PaddingRight);
        let is_clipped = is_box && hides(Overflow) && !shows(Flex) && (is_low || is_narrow);
        let is_moved = hides(Position)
            && (hides(Left)
                || hides(Top)
                || hides(Right) && style.effect(Left).is_none()
                || hides(Bottom) && style.effect(Top).is_none());
        let is_pulled = !matches!(kind, Kind::Group | Kind::Row | Kind::Cell)
            && !shows(FarPadding)
            && (hides(MarginLeft) || hides(MarginTop) && (is_box || kind == Kind::Table));
        // It moves the first line alone, which may be all; so it counts where nothing hidden may be shown.
        let is_indented = self.colors.is_some() && hides(TextIndent) && !shows(FarPadding);
        let inherited = |property, parent| match style.effect(property) {
            Some(Hides) => true,
            Some(Shows) => false,
            _ => parent,
        };
        Look {
            is_gone: self.is_gone
                || hides(Display)
                || hides(Opacity)
                || is_clipped
                || is_moved
                || is_pulled
                || is_indented,
            is_invisible: inherited(Visibility, self.is_invisible),
            is_tiny: inherited(FontSize, self.is_tiny),
            is_transparent: inherited(Color, self.is_transparent),
            is_painted: self.is_painted || shows(Painted),
            colors: self.colors.map(|colors| colors.within(style.colors())),
        }
    }

    pub fn shows_text(self) -> bool {
        // A shadow may have the colour of the background too.
        let is_camouflaged = self.colors.is_some_and(Colors::hide_text);
        let is_without_colour = self.is_transparent && !self.is_painted || is_camouflaged;
        !self.is_gone && !self.is_invisible && !self.is_tiny && !is_without_colour
    }

    pub fn shows_pictures(self) -> bool {
        !self.is_gone && !self.is_invisible
    }

    /// The look of an element of the look `seen` in the output, inside of one with this look, where its `style` stays. None
    /// where that must go: without the declarations that overruled it, it would hide what is seen. An element of no size stays so, for its
    /// blanks; text that is seen in it is written with a size.
    pub fn for_output(self, name: &str, kind: Kind, attributes: &Attributes<'_>, seen: Look) -> Option<Look> {
        let around = self.with_defaults(name, attributes, false);
        let Some(style) = value(attributes, "style") else { return Some(around) };
        let style = Style::parse_kept(&decoded(style));
        let hides = |property| style.effect(property) == Some(Hides);
        let hides_text = hides(Property::FontSize) && !seen.is_tiny;
        if hides_text || hides(Property::Color) || hides(Property::TextIndent) {
            return None;
        }
        let look = around.within(kind, &style);
        (!look.is_gone).then_some(look)
    }

    /// The same look, but invisible.
    pub fn hide(self) -> Look {
        Look { is_gone: true, ..self }
    }
}

fn value<'a>(attributes: &Attributes<'a>, name: &str) -> Option<&'a str> {
    attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}
