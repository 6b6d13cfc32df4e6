//! Values of CSS by which a writer hides an element. A value that cannot be judged shows: text that a reader may see is never left out.

use cssparser::Token;

use Effect::{AsParent, Hides, Shows};

/// Largest size in pixels that shows nothing.
const UNSEEN_PX: f32 = 1.0;

/// Least distance in pixels to the left or up that moves an element off every screen. To the right and down, readers scroll to it.
const OFF_SCREEN_PX: f32 = 1_000.0;

/// The same from the right or lower end of a window, which may be wide.
const OFF_WIDE_SCREEN_PX: f32 = 5_000.0;

/// A property by whose value an element or its text is hidden, or is seen all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    Display,
    /// Hides: `display` makes it a box, which has a height. Shows: it makes it something else.
    Boxed,
    Visibility,
    Opacity,
    FontSize,
    Color,
    /// Shows: its text is seen without a colour, by its shadow or background.
    Painted,
    Overflow,
    Height,
    MaxHeight,
    MinHeight,
    Width,
    MaxWidth,
    MinWidth,
    /// Shows: it may grow beyond its height or width.
    Flex,
    PaddingTop,
    PaddingRight,
    PaddingBottom,
    PaddingLeft,
    /// Shows: a padding takes a margin back.
    FarPadding,
    /// Hides: offsets move it.
    Position,
    /// Hides: it is a box by its position.
    OutOfFlow,
    Left,
    Top,
    Right,
    Bottom,
    MarginLeft,
    MarginTop,
    /// Moves the first line alone, so that it hides no element; but a value that moves it off screen is not kept.
    TextIndent,
    /// Shows: an element that is hidden at first may appear later.
    Animation,
}

/// Number of variants of `Property`.
pub const PROPERTIES: usize = 30;

/// How a value leaves an element, as far as it is about this property; together with others, or by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Hides,
    Shows,
    /// As the element around it.
    AsParent,
}

/// The properties as CSS names them, sorted, with those here that each sets.
pub const NAMES: [(&str, &[Property]); 46] = [
    ("-webkit-animation", &[Property::Animation]),
    ("-webkit-animation-name", &[Property::Animation]),
    ("-webkit-background-clip", &[Property::Painted]),
    ("-webkit-text-fill-color", &[Property::Painted]),
    ("-webkit-text-stroke", &[Property::Painted]),
    ("-webkit-text-stroke-color", &[Property::Painted]),
    ("-webkit-text-stroke-width", &[Property::Painted]),
    ("animation", &[Property::Animation]),
    ("animation-name", &[Property::Animation]),
    ("background", &[Property::Painted]),
    ("background-clip", &[Property::Painted]),
    ("background-color", &[]),
    ("background-image", &[]),
    ("bottom", &[Property::Bottom]),
    ("color", &[Property::Color]),
    ("display", &[Property::Display, Property::Boxed]),
    ("flex", &[Property::Flex]),
    ("flex-basis", &[Property::Flex]),
    ("flex-grow", &[Property::Flex]),
    ("font", &[Property::FontSize]),
    ("font-size", &[Property::FontSize]),
    ("height", &[Property::Height]),
    ("left", &[Property::Left]),
    ("margin", &[Property::MarginTop, Property::MarginLeft]),
    ("margin-left", &[Property::MarginLeft]),
    ("margin-top", &[Property::MarginTop]),
    ("max-height", &[Property::MaxHeight]),
    ("max-width", &[Property::MaxWidth]),
    ("min-height", &[Property::MinHeight]),
    ("min-width", &[Property::MinWidth]),
    ("opacity", &[Property::Opacity]),
    ("overflow", &[Property::Overflow]),
    ("overflow-x", &[Property::Overflow]),
    ("overflow-y", &[Property::Overflow]),
    (
        "padding",
        &[
            Property::PaddingTop,
            Property::PaddingRight,
            Property::PaddingBottom,
            Property::PaddingLeft,
            Property::FarPadding,
        ],
    ),
    ("padding-bottom", &[Property::PaddingBottom, Property::FarPadding]),
    ("padding-left", &[Property::PaddingLeft, Property::FarPadding]),
    ("padding-right", &[Property::PaddingRight, Property::FarPadding]),
    ("padding-top", &[Property::PaddingTop, Property::FarPadding]),
    ("position", &[Property::Position, Property::OutOfFlow]),
    ("right", &[Property::Right]),
    ("text-indent", &[Property::TextIndent]),
    ("text-shadow", &[Property::Painted]),
    ("top", &[Property::Top]),
    ("visibility", &[Property::Visibility]),
    ("width", &[Property::Width]),
];

/// The effect of the value of a declaration of this name on one of its properties. None where it is not valid: the earlier value stays.
pub fn effect(name: &str, property: Property, value: &[Token<'_>]) -> Option<Effect> {
    let first = value.first()?;
    let single = if value.len() == 1 { Some(first) } else { None };
    if let Some(Token::Ident(word)) = single
        && let Some(effect) = of_any_property(property, word)
    {
        return Some(effect);
    }
    match property {
        Property::Display => display(value),
        Property::Boxed => box_effect(value),
        Property::Visibility => {
            word(single?, &["hidden", "collapse"], &["visible"]).or_else(|| function(first))
        }
        Property::Opacity => match single? {
            Token::Number { value, .. } => Some(hides_if(*value < 0.05)),
            Token::Percentage { unit_value, .. } => Some(hides_if(*unit_value < 0.05)),
            Token::Function(_) => Some(Shows),
            _ => None,
        },
        Property::FontSize if name == "font" => {
            let system = ["caption", "icon", "menu", "message-box", "small-caption", "status-bar"];
            let size = || value.iter().find_map(|token| font_size(token, true));
            single.and_then(|single| word(single, &[], &system)).or_else(size)
        }
        Property::FontSize => font_size(single?, false),
        Property::Color => Some(color(single?)),
        Property::Painted => paint_effect(name, value),
        Property::Overflow => overflow(name, value),
        Property::Height | Property::MaxHeight | Property::Width | Property::MaxWidth => size(single?),
        Property::MinHeight | Property::MinWidth => word(single?, &["auto"], &[]).or_else(|| size(first)),
        Property::Flex => Some(Shows),
        Property::PaddingTop => size(side(value, 0)?),
        Property::PaddingRight => size(side(value, 1)?),
        Property::PaddingBottom => size(side(value, 2)?),
        Property::PaddingLeft => size(side(value, 3)?),
        Property::FarPadding => {
            let is_far = |token: &Token<'_>| {
                !matches!(token, Token::Ident(_) | Token::Percentage { .. })
                    && length(token, |px| px < OFF_SCREEN_PX) == Some(Shows)
            };
            value.iter().any(is_far).then_some(Shows)
        }
        Property::Position => word(single?, &["absolute", "fixed", "relative"], &["static", "sticky"])
            .or_else(|| function(first)),
        Property::OutOfFlow => word(single?, &["absolute", "fixed"], &["static", "sticky", "relative"]),
        Property::Left | Property::Top => length(single?, |px| px <= -OFF_SCREEN_PX),
        Property::Right | Property::Bottom => length(single?, |px| px >= OFF_WIDE_SCREEN_PX),
        Property::MarginTop => length(side(value, 0)?, |px| px <= -OFF_SCREEN_PX),
        Property::MarginLeft => length(side(value, 3)?, |px| px <= -OFF_SCREEN_PX),
        Property::TextIndent => length(first, |px| px <= -OFF_SCREEN_PX),
        Property::Animation => word(first, &["none"], &[]).is_none().then_some(Shows),
    }
}

fn hides_if(is_hidden: bool) -> Effect {
    if is_hidden { Hides } else { Shows }
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The effect of a word; none where it is neither of those that hide nor of those that show.
fn word(token: &Token<'_>, hiding: &[&str], showing: &[&str]) -> Option<Effect> {
    let Token::Ident(word) = token else { return None };
    if is_one_of(word, hiding) {
        return Some(Hides);
    }
    is_one_of(word, showing).then_some(Shows)
}

/// The result of a function is unknown here, of `var()` above all.
fn function(token: &Token<'_>) -> Option<Effect> {
    matches!(token, Token::Function(_)).then_some(Shows)
}

/// The effect of the words that every property has.
fn of_any_property(property: Property, word: &str) -> Option<Effect> {
    let is_reverted = is_one_of(word, &["revert", "revert-layer"]);
    if !is_reverted && !is_one_of(word, &["initial", "inherit", "unset"]) {
        return None;
    }
    match property {
        // These can only show: an earlier value may stay.
        Property::Painted | Property::Flex | Property::FarPadding | Property::Animation => None,
        Property::Visibility | Property::FontSize | Property::Color
            if word.eq_ignore_ascii_case("initial") =>
        {
            Some(Shows)
        }
        // Browsers colour links by themselves.
        Property::Color if is_reverted => Some(Shows),
        Property::Visibility | Property::FontSize | Property::Color => Some(AsParent),
        _ => Some(Shows),
    }
}

/// Words that no browser knows show too: others may know them.
fn display(value: &[Token<'_>]) -> Option<Effect> {
    let none = value.iter().find_map(|token| word(token, &["none"], &[]));
    match value {
        [_] if none.is_some() => none,
        [Token::Function(_), ..] => Some(Shows),
        _ if none.is_some() => None,
        _ => value.iter().all(|token| matches!(token, Token::Ident(_))).then_some(Shows),
    }
}

fn box_effect(value: &[Token<'_>]) -> Option<Effect> {
    let boxes =
        ["block", "flex", "flow-root", "grid", "inline-block", "inline-flex", "inline-grid", "list-item"];
    match value {
        [single] if word(single, &["none"], &[]).is_some() => None,
        [single] => word(single, &boxes, &[]).or(Some(Shows)),
        _ => Some(Shows),
    }
}

fn color(token: &Token<'_>) -> Effect {
    match token {
        Token::Ident(word) if word.eq_ignore_ascii_case("transparent") => Hides,
        Token::Ident(word) if word.eq_ignore_ascii_case("currentcolor") => AsParent,
        Token::Hash(digits) | Token::IDHash(digits) => hides_if(match digits.len() {
            4 => digits.ends_with('0'),
            8 => digits.ends_with("00"),
            _ => false,
        }),
        _ => Shows,
    }
}

/// Whether the arguments of this function are a colour that is invisible.
pub fn is_clear(function: &str, arguments: &[Token<'_>]) -> bool {
    let (first, second, third, alpha) = match arguments {
        [a, Token::Comma, b, Token::Comma, c, Token::Comma, alpha] => (a, b, c, alpha),
        [a, b, c, Token::Delim('/'), alpha] => (a, b, c, alpha),
        _ => return false,
    };
    let is_number = |token: &Token<'_>| matches!(token, Token::Number { .. });
    let is_percentage = |token: &Token<'_>| matches!(token, Token::Percentage { .. });
    let is_valid = if is_one_of(function, &["rgb", "rgba"]) {
        [first, second, third].into_iter().all(is_number)
            || [first, second, third].into_iter().all(is_percentage)
    } else {
        is_one_of(function, &["hsl", "hsla"])
            && is_number(first)
            && is_percentage(second)
            && is_percentage(third)
    };
    is_valid
        && match alpha {
            Token::Number { value, .. } => *value <= 0.0,
            Token::Percentage { unit_value, .. } => *unit_value <= 0.0,
            _ => false,
        }
}

fn paint_effect(name: &str, value: &[Token<'_>]) -> Option<Effect> {
    let plain = ["none", "transparent", "border-box", "padding-box", "content-box"];
    let is_text = |token: &Token<'_>| word(token, &[], &["text"]).is_some();
    match name {
        "background" => value.iter().any(is_text).then_some(Shows),
        _ => value.iter().any(|token| word(token, &plain, &[]).is_none()).then_some(Shows),
    }
}

/// Hidden in one direction, it is hidden or scrolls in the other one too, but for `clip`.
fn overflow(name: &str, value: &[Token<'_>]) -> Option<Effect> {
    let clips = |token: &Token<'_>| word(token, &["clip"], &[]).is_some();
    let hides = |token: &Token<'_>| word(token, &["hidden", "auto", "scroll", "overlay"], &[]).is_some();
    let is_visible = |token: &Token<'_>| word(token, &[], &["visible"]).is_some();
    if value.iter().any(|token| function(token).is_some()) {
        return Some(Shows);
    }
    if value.len() > 2 || !value.iter().all(|token| clips(token) || hides(token) || is_visible(token)) {
        return None;
    }
    Some(hides_if(value.iter().any(hides) || name == "overflow" && value.iter().all(clips)))
}

/// The value of this side, counted from the upper one clockwise, of one to four.
fn side<'a, 'i>(value: &'a [Token<'i>], at: usize) -> Option<&'a Token<'i>> {
    let opposite = if at == 3 { 1 } else { 0 };
    value.get(at).or_else(|| value.get(opposite)).or_else(|| value.first())
}

/// Whether text of this size can be read. None: it is no size, or of `font` another part.
fn font_size(token: &Token<'_>, is_shorthand: bool) -> Option<Effect> {
    const WORDS: [&str; 8] =
        ["xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large"];
    let of_parent = |times: f32| {
        let effect = if times > 1.5 { Shows } else { AsParent };
        (times >= 0.0).then_some(if times <= 0.05 { Hides } else { effect })
    };
    match token {
        Token::Ident(name) if is_one_of(name, &["larger", "smaller", "math"]) => Some(AsParent),
        Token::Ident(_) => word(token, &[], &WORDS),
        Token::Percentage { unit_value, .. } => of_parent(*unit_value),
        Token::Dimension { value, unit, .. } if is_one_of(unit, &["em", "ex", "ch", "cap", "ic", "lh"]) => {
            of_parent(*value)
        }
        // Of `font` a number can be the weight, which is 1 to 1000.
        Token::Number { value, .. } if is_shorthand => (value.abs() < f32::EPSILON).then_some(Hides),
        _ => size(token),
    }
}

/// Whether an element of this height or width is invisible.
fn size(token: &Token<'_>) -> Option<Effect> {
    match token {
        Token::Percentage { unit_value, .. } => Some(hides_if(*unit_value <= 0.0)),
        Token::Number { value, .. } | Token::Dimension { value, .. } if *value < 0.0 => None,
        _ => length(token, |px| px <= UNSEEN_PX),
    }
}

/// Whether a length hides by its pixels: an em has 16 and a hundredth of the window 8. Those that depend on more show.
fn length(token: &Token<'_>, hides: impl Fn(f32) -> bool) -> Option<Effect> {
    const UNITS: [(&str, f32); 13] = [
        ("px", 1.0),
        ("pt", 1.33),
        ("pc", 16.0),
        ("in", 96.0),
        ("cm", 37.8),
        ("mm", 3.78),
        ("q", 0.945),
        ("em", 16.0),
        ("rem", 16.0),
        ("ex", 8.0),
        ("ch", 8.0),
        ("vw", 8.0),
        ("vh", 8.0),
    ];
    match token {
        Token::Ident(_) | Token::Percentage { .. } | Token::Function(_) => Some(Shows),
        // Without a unit it is valid in old documents alone.
        Token::Number { value, .. } if value.abs() < f32::EPSILON => Some(hides_if(hides(0.0))),
        Token::Number { value, .. } => (!hides(*value)).then_some(Shows),
        Token::Dimension { value, unit, .. } => {
            match UNITS.into_iter().find(|(known, _)| unit.eq_ignore_ascii_case(known)) {
                Some((_, px)) => Some(hides_if(hides(value * px))),
                None => (value.abs() > f32::EPSILON).then_some(Shows),
            }
        }
        _ => None,
    }
}
