//! Colours of a text and of its background, as far as they are known: a text in the colour of its background is not seen. Pictures and
//! gradients behind a text, and colours that depend on the reader's program, are not judged.

use cssparser::Token;
use cssparser::color::{clamp_floor_256_f32, clamp_unit_f32, parse_hash_color, parse_named_color};

use crate::html::references::decoded;
use crate::html::token::Attributes;

use ColorValue::{Known, Parent, Unknown};

/// Largest difference of one component, of 255, at which a text is not told from its background.
const UNSEEN_DIFFERENCE: u32 = 24;

/// Functions whose colour is known to the reader's program alone.
const FUNCTIONS: [&str; 14] = [
    "attr",
    "color",
    "color-mix",
    "env",
    "hsl",
    "hsla",
    "hwb",
    "lab",
    "lch",
    "light-dark",
    "oklab",
    "oklch",
    "rgb",
    "rgba",
];

/// Words of `background` that are no colours.
const BACKGROUND_WORDS: [&str; 26] = [
    "auto",
    "border-box",
    "bottom",
    "center",
    "contain",
    "content-box",
    "cover",
    "fixed",
    "inherit",
    "initial",
    "left",
    "local",
    "no-repeat",
    "none",
    "padding-box",
    "repeat",
    "repeat-x",
    "repeat-y",
    "revert",
    "right",
    "round",
    "scroll",
    "space",
    "text",
    "top",
    "unset",
];

/// A colour of sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Color {
    components: [u8; 3],
    alpha: u8,
}

impl Color {
    const fn opaque(components: [u8; 3]) -> Color {
        Color { components, alpha: 255 }
    }

    /// The colour that is seen where this one lies over another one, which is opaque.
    fn over(self, below: Color) -> Color {
        let alpha = u32::from(self.alpha);
        let mut components = self.components;
        for (own, below) in components.iter_mut().zip(below.components) {
            let mixed = (u32::from(*own) * alpha + u32::from(below) * (255 - alpha)) / 255;
            *own = u8::try_from(mixed).unwrap_or(u8::MAX);
        }
        Color::opaque(components)
    }
}

/// The value of a property that is a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColorValue {
    Known(Color),
    /// The colour of the element around.
    Parent,
    Unknown,
}

/// A colour that a declaration sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DeclaredColor {
    value: ColorValue,
    is_important: bool,
}

/// The colours that declarations give an element: of its text, of its background, and whether that has a picture (`Unknown`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColorStyle([Option<DeclaredColor>; 3]);

const TEXT: usize = 0;
const BACKGROUND: usize = 1;
const PICTURE: usize = 2;

impl ColorStyle {
    /// Adds a declaration, if it is one of a colour and valid.
    pub fn declare(&mut self, name: &str, value: &[Token<'_>], is_important: bool) {
        let mut set = |slot: usize, value: Option<ColorValue>| {
            if let (Some(slot), Some(value)) = (self.0.get_mut(slot), value)
                && slot.is_none_or(|own| is_important || !own.is_important)
            {
                *slot = Some(DeclaredColor { value, is_important });
            }
        };
        match (name, value) {
            ("color", [single]) => set(TEXT, color(single)),
            ("background-color", [single]) => set(BACKGROUND, color(single)),
            ("background-image", value) => set(PICTURE, Some(picture(value))),
            ("background", value) => {
                let color = background(value);
                set(BACKGROUND, color);
                set(PICTURE, color.map(|_| picture(value)));
            }
            _ => {}
        }
    }

    /// Adds declarations that come later or weigh more.
    pub fn extend(&mut self, later: &ColorStyle) {
        for (own, later) in self.0.iter_mut().zip(later.0) {
            if let Some(declared) = later
                && own.is_none_or(|own| declared.is_important || !own.is_important)
            {
                *own = later;
            }
        }
    }

    /// Adds declarations of which it is unknown whether they apply.
    pub fn unite(&mut self, other: &ColorStyle) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            let Some(other) = other else { continue };
            let is_important = other.is_important || own.is_some_and(|own| own.is_important);
            *own = Some(DeclaredColor { value: Unknown, is_important });
        }
    }

    /// The same declarations, of which it is unknown whether they apply.
    pub fn unsure(&self) -> ColorStyle {
        ColorStyle(self.0.map(|slot| slot.map(|declared| DeclaredColor { value: Unknown, ..declared })))
    }

    /// Forgets the colours that declarations of `unsure` may change; only the important ones, or all.
    pub fn undo(&mut self, unsure: &ColorStyle, is_important_only: bool) {
        for (own, other) in self.0.iter_mut().zip(unsure.0) {
            let Some(other) = other else { continue };
            let is_own_important = own.is_some_and(|own| own.is_important);
            if other.is_important || !is_important_only && !is_own_important {
                *own = Some(DeclaredColor { value: Unknown, is_important: is_own_important });
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    fn value(&self, slot: usize) -> Option<ColorValue> {
        self.0.get(slot).copied().flatten().map(|declared| declared.value)
    }
}

/// The colours of an element. None: unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    text: Option<Color>,
    background: Option<Color>,
    /// The background of the element around.
    below: Option<Color>,
}

impl Colors {
    /// The colours of a page before any style: black on white.
    pub const PAGE: Colors = Colors {
        text: Some(Color::opaque([0; 3])),
        background: Some(Color::opaque([255; 3])),
        below: Some(Color::opaque([255; 3])),
    };

    /// The colours of an element of this name in one of these colours, before any style.
    pub fn with_attributes(self, name: &str, attributes: &Attributes<'_>) -> Colors {
        let value = |name: &str| attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let mut colors = Colors { below: self.background, ..self };
        match name {
            "font" => colors.text = value("color").map_or(self.text, attribute_color),
            "a" if value("href").is_some() => colors.text = None,
            "mark" | "button" => (colors.text, colors.background) = (None, None),
            "body" | "table" | "tbody" | "thead" | "tfoot" | "tr" | "td" | "th" => {
                colors.background = value("bgcolor").map_or(self.background, attribute_color);
                if value("background").is_some_and(|picture| !picture.trim().is_empty()) {
                    colors.background = None;
                }
                if name == "body" {
                    colors.text = value("text").map_or(self.text, attribute_color);
                }
            }
            _ => {}
        }
        colors
    }

    /// The colours of an element with these declarations, which had these colours before them.
    pub fn within(self, style: &ColorStyle) -> Colors {
        let text = match style.value(TEXT) {
            Some(Known(color)) => Some(color),
            Some(Unknown) => None,
            Some(Parent) | None => self.text,
        };
        let background = match style.value(BACKGROUND) {
            _ if style.value(PICTURE) == Some(Unknown) => None,
            Some(Known(color)) if color.alpha == 255 => Some(color),
            Some(Known(color)) => self.below.map(|below| color.over(below)),
            Some(Unknown) => None,
            Some(Parent) | None => self.background,
        };
        Colors { text, background, ..self }
    }

    /// Whether a text is not told from its background.
    pub fn hide_text(self) -> bool {
        let (Some(text), Some(background)) = (self.text, self.background) else { return false };
        let seen = text.over(background);
        let mut pairs = seen.components.iter().zip(background.components);
        pairs.all(|(own, below)| u32::from(own.abs_diff(below)) <= UNSEEN_DIFFERENCE)
    }
}

/// The colour of a token; none if it is not valid.
fn color(token: &Token<'_>) -> Option<ColorValue> {
    match token {
        Token::Ident(word) => word_color(word),
        Token::Hash(digits) | Token::IDHash(digits) => hash_color(digits).map(Known),
        Token::Function(name) => is_function(name).then_some(Unknown),
        _ => None,
    }
}

fn word_color(word: &str) -> Option<ColorValue> {
    let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is(&["currentcolor", "inherit", "unset"]) {
        return Some(Parent);
    }
    if is(&["initial", "revert", "revert-layer"]) {
        return Some(Unknown);
    }
    if is(&["transparent"]) {
        return Some(Known(Color { components: [0; 3], alpha: 0 }));
    }
    named_color(word).map(Known)
}

fn named_color(name: &str) -> Option<Color> {
    parse_named_color(name).ok().map(|(red, green, blue)| Color::opaque([red, green, blue]))
}

fn hash_color(digits: &str) -> Option<Color> {
    let (red, green, blue, alpha) = parse_hash_color(digits.as_bytes()).ok()?;
    Some(Color { components: [red, green, blue], alpha: clamp_unit_f32(alpha) })
}

fn is_function(name: &str) -> bool {
    name.eq_ignore_ascii_case("var") || FUNCTIONS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The colour in the value of `background`: transparent if it names none. None if it is not valid.
fn background(value: &[Token<'_>]) -> Option<ColorValue> {
    let is_word = |word: &str| BACKGROUND_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut found = Known(Color { components: [0; 3], alpha: 0 });
    for token in value {
        match token {
            Token::Ident(word) if is_word(word) => {}
            Token::Ident(_) | Token::Hash(_) | Token::IDHash(_) => found = color(token)?,
            Token::Function(name) if is_function(name) => found = Unknown,
            _ => {}
        }
    }
    Some(found)
}

/// `Unknown` if the value of `background` or `background-image` has a picture or a gradient.
fn picture(value: &[Token<'_>]) -> ColorValue {
    let is_picture = |token: &Token<'_>| match token {
        Token::UnquotedUrl(_) => true,
        Token::Function(name) => !is_function(name) || name.eq_ignore_ascii_case("var"),
        _ => false,
    };
    if value.iter().any(is_picture) { Unknown } else { Parent }
}

/// The colour of an attribute such as `bgcolor`, which may lack its `#` (WHATWG HTML 2.4.6). None if it is not known.
fn attribute_color(value: &str) -> Option<Color> {
    let value = decoded(value);
    let value = value.trim();
    named_color(value).or_else(|| hash_color(value.strip_prefix('#').unwrap_or(value)))
}

/// The digits of the colour that `rgb()` or `hsl()` has with these arguments. None for other functions and colours that are clear.
pub fn function_digits(function: &str, arguments: &[Token<'_>]) -> Option<String> {
    let (components, alpha) = match arguments {
        [a, Token::Comma, b, Token::Comma, c] | [a, b, c] => ([a, b, c], None),
        [a, Token::Comma, b, Token::Comma, c, Token::Comma, alpha] => ([a, b, c], Some(alpha)),
        [a, b, c, Token::Delim('/'), alpha] => ([a, b, c], Some(alpha)),
        _ => return None,
    };
    let alpha = match alpha {
        None => 1.0,
        Some(Token::Number { value, .. }) => *value,
        Some(Token::Percentage { unit_value, .. }) => *unit_value,
        Some(_) => return None,
    };
    let is = |names: [&str; 2]| names.iter().any(|name| function.eq_ignore_ascii_case(name));
    let [red, green, blue] = match components {
        _ if alpha <= 0.0 => return None,
        [Token::Number { value, .. }, saturation, lightness] if is(["hsl", "hsla"]) => {
            hsl(*value, share(saturation)?, share(lightness)?)
        }
        [Token::Dimension { value, unit, .. }, saturation, lightness]
            if is(["hsl", "hsla"]) && unit.eq_ignore_ascii_case("deg") =>
        {
            hsl(*value, share(saturation)?, share(lightness)?)
        }
        [red, green, blue] if is(["rgb", "rgba"]) => [component(red)?, component(green)?, component(blue)?],
        _ => return None,
    };
    let digits = format!("{red:02x}{green:02x}{blue:02x}");
    Some(if alpha < 1.0 { format!("{digits}{:02x}", clamp_unit_f32(alpha).max(1)) } else { digits })
}

fn component(token: &Token<'_>) -> Option<u8> {
    match token {
        Token::Number { value, .. } => Some(clamp_floor_256_f32(*value)),
        Token::Percentage { unit_value, .. } => Some(clamp_unit_f32(*unit_value)),
        _ => None,
    }
}

fn share(token: &Token<'_>) -> Option<f32> {
    match token {
        Token::Percentage { unit_value, .. } => Some(unit_value.clamp(0.0, 1.0)),
        _ => None,
    }
}

/// The components of a colour by its hue in degrees (CSS Color 4, 7.1).
fn hsl(hue: f32, saturation: f32, lightness: f32) -> [u8; 3] {
    let range = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|shift| {
        let place = (shift + hue / 30.0).rem_euclid(12.0);
        clamp_unit_f32(lightness - range * (place - 3.0).min(9.0 - place).clamp(-1.0, 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::{ColorStyle, Colors};
    use crate::html::css::Style;

    /// Whether text with these declarations is seen in an element with those, on a white page.
    fn is_seen(around: &str, own: &str) -> bool {
        let colors = |style: &str| *Style::parse(style).colors();
        let around = Colors::PAGE.within(&colors(around));
        !around.with_attributes("span", &[]).within(&colors(own)).hide_text()
    }

    #[test]
    fn a_text_in_the_colour_of_its_background_is_hidden() {
        for (around, own) in [
            ("", "color:#fff"),
            ("", "color:WHITE"),
            ("", "color:#f8f8f8"),
            ("", "color:rgb(255, 255 ,255)"),
            ("", "color:rgb(100% 100% 100%)"),
            ("", "color:hsl(120,100%,99%)"),
            ("", "color:rgba(0,0,0,.05)"),
            ("", "color:#0000000a"),
            ("", "background:#000"),
            ("background-color:#123456", "color:#123457"),
            ("background:url(x.png) #fff;background:#fff", "color:#fff"),
            ("color:#fff;background:#000", "background:#fff"),
            ("background:#000", "color:#fff;background:#fff no-repeat"),
            ("color:#fff", ""),
            ("color:red;color:white;color:blurple", "color:inherit"),
            ("color:#fff!important;color:#000", ""),
            ("background:black", "color:#fff;background:white;background:foo"),
            ("background:#fff", "color:#fff;background:rgba(255,255,255,.2)"),
        ] {
            assert!(!is_seen(around, own), "{around} / {own}");
        }
    }

    #[test]
    fn a_text_whose_colours_differ_or_are_unknown_is_seen() {
        for (around, own) in [
            ("", ""),
            ("", "color:#ccc"),
            ("background:#000", "color:#fff"),
            ("background:black", "color:rgb(255,255,255)"),
            ("background:rgba(0,0,0,.8)", "color:#fff"),
            ("background:url(x.png)", "color:#fff"),
            ("background-image:linear-gradient(red,blue)", "color:#fff"),
            ("background:var(--x)", "color:#fff"),
            ("", "color:var(--x)"),
            ("", "color:oklch(1 0 0)"),
            ("color:#fff", "color:initial"),
            ("color:#fff", "color:#000!important;color:#fff"),
            ("background:#00f", "color:#0f0"),
        ] {
            assert!(is_seen(around, own), "{around} / {own}");
        }
    }

    #[test]
    fn declarations_that_may_apply_leave_a_colour_unknown() {
        let mut style = *Style::parse("color:#fff;background:#fff").colors();
        style.undo(&Style::parse("color:#000").colors().unsure(), false);
        assert!(!Colors::PAGE.within(&style).hide_text());
        let mut style = *Style::parse("color:#fff!important").colors();
        style.undo(&Style::parse("color:#000").colors().unsure(), false);
        assert!(Colors::PAGE.within(&style).hide_text());
        assert!(ColorStyle::default().is_empty());
    }

    #[test]
    fn attributes_set_colours_too() {
        let colors =
            |name, attributes: &[(&'static str, &str)]| Colors::PAGE.with_attributes(name, attributes);
        assert!(colors("font", &[("color", "white")]).hide_text());
        assert!(colors("font", &[("color", "FFFFFF")]).hide_text());
        assert!(colors("td", &[("bgcolor", "#000")]).hide_text());
        assert!(!colors("body", &[("bgcolor", "#000"), ("text", "#fff")]).hide_text());
        assert!(!colors("td", &[("bgcolor", "#000"), ("background", "x.png")]).hide_text());
        assert!(!colors("td", &[("bgcolor", "#000")]).with_attributes("a", &[("href", "x")]).hide_text());
    }
}
