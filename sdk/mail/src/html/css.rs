//! Declarations of CSS by which a writer hides an element, read as browsers read them: escapes and comments are resolved, `!important` and
//! the last valid value win.

use cssparser::{ParseError, Parser, Token};

use crate::html::colors::{ColorStyle, function_digits};
use crate::html::values::{Effect, NAMES, PROPERTIES, Property, effect, is_clear};

/// Tokens of one value that are looked at: the longest values that hide something have fewer.
const MAX_VALUE_TOKENS: usize = 24;

/// One value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DeclaredValue {
    effect: Effect,
    is_important: bool,
}

/// The declarations that apply to an element, as far as they hide it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style([Option<DeclaredValue>; PROPERTIES], ColorStyle);

impl Style {
    /// The declarations of a `style` attribute.
    pub fn parse(text: &str) -> Style {
        let mut style = Style::default();
        style.read(&mut Parser::new(text));
        style
    }

    /// The declarations of a `style` attribute that hide, among those that are kept.
    pub fn parse_kept(text: &str) -> Style {
        use Property::*;
        let mut style = Style::parse(&harmless(text));
        // Of the others none is kept, or it does nothing without one that is not.
        let kept = [FontSize, Color, MarginLeft, MarginTop, TextIndent];
        for (property, slot) in style.0.iter_mut().enumerate() {
            if !kept.iter().any(|kept| *kept as usize == property) {
                *slot = None;
            }
        }
        style.1 = ColorStyle::default();
        style
    }

    /// The style of an element that is hidden until a declaration shows it.
    pub fn undisplayed() -> Style {
        let mut style = Style::default();
        style.declare(Property::Display, DeclaredValue { effect: Effect::Hides, is_important: false });
        style
    }

    /// Adds the declarations up to the end of the block, or of the text. Returns whether there is a block among them, which is none.
    pub fn read(&mut self, parser: &mut Parser<'_>) -> bool {
        let mut has_block = false;
        loop {
            let known = match parser.next() {
                Ok(Token::Ident(name)) => properties(name),
                Ok(Token::Semicolon) => continue,
                Ok(Token::CurlyBracketBlock) => {
                    has_block = true;
                    continue;
                }
                Ok(_) => None,
                Err(_) => return has_block,
            };
            let (value, is_before_block) = value(parser);
            has_block |= is_before_block;
            let Some((name, properties)) = known else { continue };
            let Some((Token::Colon, value)) = value.split_first() else { continue };
            let (value, is_important) = match value {
                [value @ .., Token::Delim('!'), Token::Ident(word)]
                    if word.eq_ignore_ascii_case("important") =>
                {
                    (value, true)
                }
                // Not valid with any other word behind it.
                _ if value.contains(&Token::Delim('!')) => continue,
                _ => (value, false),
            };
            self.1.declare(name, value, is_important);
            for property in properties {
                if let Some(effect) = effect(name, *property, value) {
                    self.declare(*property, DeclaredValue { effect, is_important });
                }
            }
        }
    }

    /// Adds declarations that come later or weigh more.
    pub fn extend(&mut self, later: &Style) {
        self.1.extend(&later.1);
        for (own, later) in self.0.iter_mut().zip(&later.0) {
            if let Some(declared) = later
                && own.is_none_or(|own| declared.is_important || !own.is_important)
            {
                *own = Some(*declared);
            }
        }
    }

    /// Adds declarations of which it is unknown whether they apply: what one of them shows is shown.
    pub fn unite(&mut self, other: &Style) {
        self.1.unite(&other.1);
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            let Some(other) = other else { continue };
            let own_or_other = own.unwrap_or(*other);
            *own = Some(DeclaredValue {
                effect: if other.effect == Effect::Shows { Effect::Shows } else { own_or_other.effect },
                is_important: other.is_important || own_or_other.is_important,
            });
        }
    }

    /// The declarations that hide nothing by themselves.
    pub fn showing(&self) -> Style {
        let effects = self.0.map(|slot| slot.filter(|declared| declared.effect != Effect::Hides));
        Style(effects, self.1.unsure())
    }

    /// Shows what declarations of `showing` may show; only the important ones, or all.
    pub fn undo(&mut self, showing: &Style, is_important_only: bool) {
        self.1.undo(&showing.1, is_important_only);
        for (own, other) in self.0.iter_mut().zip(&showing.0) {
            let Some(other) = other else { continue };
            let is_own_important = own.is_some_and(|own| own.is_important);
            if !other.is_important && (is_important_only || is_own_important) {
                continue;
            }
            if matches!(
                (own.map(|own| own.effect), other.effect),
                (Some(Effect::Hides), Effect::Shows | Effect::AsParent)
                    | (None | Some(Effect::AsParent), Effect::Shows)
            ) {
                *own = Some(DeclaredValue { effect: other.effect, is_important: is_own_important });
            }
        }
    }

    fn declare(&mut self, property: Property, declared: DeclaredValue) {
        if let Some(slot) = self.0.get_mut(property as usize)
            && slot.is_none_or(|own| declared.is_important || !own.is_important)
        {
            *slot = Some(declared);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none) && self.1.is_empty()
    }

    /// The colours that the declarations set.
    pub fn colors(&self) -> &ColorStyle {
        &self.1
    }

    /// The effect of the property's value; none where no declaration has one.
    pub fn effect(&self, property: Property) -> Option<Effect> {
        self.0.get(property as usize).copied().flatten().map(|declared| declared.effect)
    }
}

/// The properties that a declaration of this name sets, with the name as it stands in `NAMES`.
fn properties(name: &str) -> Option<(&'static str, &'static [Property])> {
    NAMES.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known))
}

/// The tokens up to the end of the declaration, and whether a block ends it: it is no value, and what follows it is another declaration.
fn value<'i>(parser: &mut Parser<'i>) -> (Vec<Token<'i>>, bool) {
    let mut value = Vec::new();
    while let Ok(token) = parser.next() {
        let token = match token {
            Token::Semicolon => return (value, false),
            Token::CurlyBracketBlock => return (value, true),
            token => token.clone(),
        };
        if value.len() >= MAX_VALUE_TOKENS {
            continue;
        }
        let color = match &token {
            // Behind the colon.
            Token::Function(name) if value.len() == 1 => color_function(name, parser),
            _ => None,
        };
        value.push(color.unwrap_or(token));
    }
    (value, false)
}

/// Reads the arguments of this function. Returns the same colour without a function, if it is one that is known.
fn color_function<'i>(name: &str, parser: &mut Parser<'_>) -> Option<Token<'i>> {
    let color = parser.parse_nested_block(|block| {
        let mut arguments = Vec::new();
        while let Ok(token) = block.next() {
            if arguments.len() < MAX_VALUE_TOKENS {
                arguments.push(token.clone());
            }
        }
        let color = match is_clear(name, &arguments) {
            true => Some(Token::Ident("transparent".into())),
            false => function_digits(name, &arguments).map(|digits| Token::Hash(digits.into())),
        };
        Ok::<Option<Token<'i>>, ParseError<()>>(color)
    });
    color.unwrap_or_default()
}

/// Words with which old browsers run or fetch something out of a declaration. None has a place in one that stays.
const ACTING: [&str; 7] =
    ["url", "expression", "javascript", "import", "behavior", "-moz-binding", "position"];

/// The declarations without escapes, words that act, functions other than colours, and margins that pull a text over its surroundings. Their
/// names are in lower case, which is all that ammonia compares them with.
pub fn harmless(value: &str) -> String {
    let is_plain = |declaration: &&str| {
        let lower = declaration.to_ascii_lowercase();
        let mut functions = lower.split('(').rev().skip(1);
        let is_colour =
            |head: &str| ["rgb", "rgba", "hsl", "hsla"].iter().any(|name| head.trim_end().ends_with(name));
        let is_pulled = lower.trim_start().starts_with("margin")
            && lower.split([':', ' ']).any(|word| word.starts_with('-'));
        !lower.contains(['\\', '@', '<'])
            && !ACTING.iter().any(|word| lower.contains(word))
            && functions.all(is_colour)
            && !is_pulled
    };
    let in_lower_case = |declaration: &str| match declaration.split_once(':') {
        Some((name, value)) => format!("{}:{value}", name.to_ascii_lowercase()),
        None => declaration.to_owned(),
    };
    value.split(';').filter(is_plain).map(in_lower_case).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::{Style, harmless};
    use crate::html::values::Effect::{AsParent, Hides, Shows};
    use crate::html::values::{NAMES, PROPERTIES, Property};

    #[test]
    fn each_property_has_a_slot() {
        assert!(NAMES.is_sorted_by_key(|entry| entry.0));
        assert_eq!(Property::Animation as usize + 1, PROPERTIES);
        let mut properties = NAMES.iter().flat_map(|(_, properties)| properties.iter());
        assert!(properties.all(|property| (*property as usize) < PROPERTIES));
    }

    #[test]
    fn a_declaration_that_is_kept_is_kept_in_whatever_case_it_is_written() {
        assert_eq!(harmless("Font-Size:13px;COLOR : Red;Position:fixed"), "font-size:13px;color : Red");
    }

    #[test]
    fn the_last_valid_value_wins_and_important_ones_before_it() {
        for (style, effect) in [
            ("display:none", Some(Hides)),
            ("DISPLAY : NONE", Some(Hides)),
            ("d\\69splay:no\\6e e", Some(Hides)),
            ("dis/**/play:none", None),
            ("display/**/:/**/none/**/", Some(Hides)),
            ("display:none;display:block", Some(Shows)),
            ("display:block;display:none", Some(Hides)),
            ("display:none!important;display:block", Some(Hides)),
            ("display:block ! IMPORTANT;display:none", Some(Shows)),
            ("display:none;display:-webkit-box", Some(Shows)),
            ("display:none;display:inherit", Some(Shows)),
            ("display:none;display:var(--x)", Some(Shows)),
            ("display:block;display:none x", Some(Shows)),
            ("display:none !ie", None),
            ("color:red}display:none", None),
            ("color:red;};display:none", Some(Hides)),
            ("background:url(;display:none)", None),
            ("background:';display:none'", None),
            ("xdisplay:none", None),
            ("", None),
        ] {
            assert_eq!(Style::parse(style).effect(Property::Display), effect, "{style}");
        }
    }

    #[test]
    fn sizes_that_nobody_can_read_are_found() {
        for (style, effect) in [
            ("font-size:0", Some(Hides)),
            ("font-size:0px !important", Some(Hides)),
            ("font-size:1px", Some(Hides)),
            ("font-size:0.5pt", Some(Hides)),
            ("font-size:2px", Some(Shows)),
            ("font-size:0em", Some(Hides)),
            ("font-size:1em", Some(AsParent)),
            ("font-size:0;font-size:100%", Some(AsParent)),
            ("font-size:16em", Some(Shows)),
            ("font-size:0;font-size:-1px", Some(Hides)),
            ("font-size:14px", Some(Shows)),
            ("font-size:small", Some(Shows)),
            ("font-size:calc(14px)", Some(Shows)),
            ("font:0/0 a", Some(Hides)),
            ("font:bold 12px/1.5 Arial", Some(Shows)),
            ("font:400 1px Arial", Some(Hides)),
            ("font:400 1em Arial", Some(AsParent)),
            ("font:menu", Some(Shows)),
            ("font:calc(14px) Arial", Some(Shows)),
        ] {
            assert_eq!(Style::parse(style).effect(Property::FontSize), effect, "{style}");
        }
    }

    #[test]
    fn colours_of_which_nothing_is_seen_are_found() {
        for (color, effect) in [
            ("transparent", Hides),
            ("#0000", Hides),
            ("#12345600", Hides),
            ("#123450", Shows),
            ("rgba(0,0,0,0)", Hides),
            ("rgb(0 0 0 / 0%)", Hides),
            ("hsla(0, 0%, 0%, .0)", Hides),
            ("rgba(0,0,0,0.5)", Shows),
            ("rgba(0 0 0 0)", Shows),
            ("rgb(0,0,0)", Shows),
            ("var(--x)", Shows),
            ("red", Shows),
            ("inherit", AsParent),
        ] {
            let style = format!("color:transparent;color:{color}");
            assert_eq!(Style::parse(&style).effect(Property::Color), Some(effect), "{color}");
        }
    }

    #[test]
    fn values_of_any_length_are_read_within_bounds() {
        for piece in ["(", "{", "[", "a:", "\\", "'", "/*", "!", "display:none!", "url(", "color:rgb("] {
            let style = Style::parse(&piece.repeat(100_000));
            assert!(style.effect(Property::Opacity).is_none(), "{piece}");
        }
    }
}
