//! Selectors of CSS, as far as they are of an element itself.

use cssparser::Token;

/// Classes of a selector that is sure.
const MAX_CLASSES: usize = 4;

/// The specificity (CSS Selectors 4, 17): an id, classes, an element.
pub type Specificity = (bool, usize, bool);

/// The part of a selector that is for an element itself. Names are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    element: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
    /// It is for every element with these names.
    pub is_sure: bool,
    /// Every browser reads it: one that does not skips all selectors of the rule.
    pub is_valid: bool,
}

impl Selector {
    /// The selector as far as it is of an element itself.
    pub fn parse(tokens: &[Token<'_>]) -> Selector {
        let combinators = tokens.iter().filter(|token| is_combinator(token)).count();
        let mut parts: Vec<&[Token<'_>]> = tokens
            .split(|token| matches!(token, Token::WhiteSpace(_)) || is_combinator(token))
            .filter(|part| !part.is_empty())
            .collect();
        let is_whole = combinators < parts.len();
        let Some(own) = parts.pop() else { return Selector::default() };
        let mut selector = Selector::of_element(own);
        selector.is_valid &= is_whole && parts.iter().all(|part| Selector::of_element(part).is_valid);
        selector.is_sure = selector.is_valid
            && combinators == 0
            && selector.classes.len() <= MAX_CLASSES
            && parts.iter().all(|part| is_root(part));
        selector
    }

    /// The names in the part for one element.
    fn of_element(part: &[Token<'_>]) -> Selector {
        let mut selector = Selector { is_valid: true, ..Selector::default() };
        let mut tokens = part.iter().enumerate();
        while let Some((at, token)) = tokens.next() {
            match token {
                Token::Ident(element) if at == 0 => selector.element = Some(element.to_lowercase()),
                Token::Delim('*') if at == 0 => {}
                Token::IDHash(id) if selector.id.is_none() => selector.id = Some(id.to_lowercase()),
                Token::Delim('.') => {
                    if let Some((_, Token::Ident(class))) = tokens.next() {
                        selector.classes.push(class.to_lowercase());
                    } else {
                        selector.is_valid = false;
                    }
                }
                // A pseudo-class or an attribute: what follows may be its own.
                _ => {
                    selector.is_valid = false;
                    break;
                }
            }
        }
        selector
    }

    /// The names, first the one that the fewest elements have.
    pub fn into_names(self) -> impl Iterator<Item = String> {
        let id = self.id.map(|id| format!("#{id}"));
        let classes = self.classes.into_iter().map(|class| format!(".{class}"));
        id.into_iter().chain(classes).chain([self.element.unwrap_or_else(|| "*".to_owned())])
    }

    pub fn weight(&self) -> Specificity {
        (self.id.is_some(), self.classes.len(), self.element.is_some())
    }
}

fn is_combinator(token: &Token<'_>) -> bool {
    matches!(token, Token::Delim('>' | '+' | '~'))
}

/// Elements that everything is in.
fn is_root(part: &[Token<'_>]) -> bool {
    match part {
        [Token::Ident(element)] => ["html", "body"].iter().any(|root| element.eq_ignore_ascii_case(root)),
        [Token::Delim('*')] => true,
        _ => false,
    }
}
