//! Rules of `<style>` elements that hide: those whose selector is of one element (`p`, `.a`, `td.a.b`, `#c`), for every screen. All others
//! may show, and hide nothing: whether they apply is unknown here.

use std::collections::HashMap;

use cssparser::{ParseError, Parser, Token};

use crate::characters::cut_at;
use crate::html::css::Style;
use crate::html::references::decoded;
use crate::html::selector::{Selector, Specificity};
use crate::html::token::{Attributes, Token as Markup, Tokens};

/// Most bytes of style sheets that are read.
const SHEET_BYTES: usize = 256 << 10;

/// Most rules that are kept.
const MAX_RULES: usize = 4_000;

/// Tokens of a rule's selectors that are read.
const MAX_SELECTOR_TOKENS: usize = 512;

/// Names of one element that rules are for.
const MAX_NAMES: usize = 64;

/// Deepest nesting of `@media` and its likes.
const MAX_NESTING: usize = 4;

/// Most rules and classes that are looked at for the elements of a document.
const MAX_WORK: usize = 200_000;

/// Elements whose rules are remembered, and the bytes of their attributes.
const MAX_REMEMBERED: usize = 4_096;
const REMEMBERED_BYTES: usize = 256;

/// At-rules whose rules may apply.
const CONDITIONAL: [&str; 8] =
    ["-moz-document", "container", "document", "layer", "media", "scope", "starting-style", "supports"];

/// The rules of a document.
#[derive(Default)]
pub struct Sheet {
    /// Numbers of the names in selectors: `*`, elements, `#` with an id, `.` with a class. All are in lower case.
    names: HashMap<String, usize>,
    /// The rules that apply, by one of the names that an element of theirs has.
    sure: HashMap<usize, Vec<Rule>>,
    /// The declarations of rules that may apply, as far as they show, by such a name.
    unsure: HashMap<usize, Style>,
    count: usize,
    /// Rules nested in other rules, which are not read: they may show anything.
    is_nested: bool,
    /// A limit was met: there may be rules that show anything.
    is_cut: bool,
    is_quirky: bool,
    work: usize,
    remembered: HashMap<String, ElementRules>,
}

struct Rule {
    names: Vec<usize>,
    weight: Specificity,
    /// Position among the rules: of two of equal weight, the later one wins.
    order: usize,
    style: Style,
}

/// The declarations of rules for one element.
#[derive(Clone, Copy, Default)]
pub struct ElementRules {
    pub is_any: bool,
    pub sure: Style,
    /// Declarations that may show an element which others hide.
    pub unsure: Style,
}

impl Sheet {
    /// Reads the style sheets of a document.
    pub fn from_html(html: &str) -> Sheet {
        let mut sheet = Sheet { is_quirky: is_quirky(html), ..Sheet::default() };
        let bytes = html.as_bytes();
        let is_style =
            |at: usize| bytes.get(at + 1..at + 6).is_some_and(|name| name.eq_ignore_ascii_case(b"style"));
        if !memchr::memchr_iter(b'<', bytes).any(is_style) {
            return sheet;
        }
        let mut room = SHEET_BYTES;
        for token in Tokens::new(html) {
            let Markup::Style(media, css) = token else { continue };
            let is_sure = media.is_none_or(|media| is_for_screens(&mut Parser::new(&decoded(media))));
            let read = cut_at(css, room);
            room -= read.len();
            sheet.is_cut |= read.len() < css.len();
            sheet.read(&mut Parser::new(read), 0, is_sure);
        }
        if sheet.is_nested {
            sheet.sure.values_mut().flatten().for_each(|rule| rule.style = rule.style.showing());
        }
        sheet
    }

    /// Whether browsers show the document as they did before there were standards.
    pub fn is_quirky(&self) -> bool {
        self.is_quirky
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && !self.is_cut
    }

    /// The declarations that the rules have for an element of this name, lower case. None where they are unknown: then nothing is hidden.
    pub fn rules(&mut self, element: &str, attributes: &Attributes<'_>) -> Option<ElementRules> {
        if self.is_cut || self.work > MAX_WORK {
            return None;
        }
        if self.count == 0 {
            return Some(ElementRules::default());
        }
        let value = |name: &str| attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let (class, id) = (value("class").unwrap_or_default(), value("id"));
        let is_short = class.len() + id.unwrap_or_default().len() <= REMEMBERED_BYTES;
        let key = is_short.then(|| [element, class, id.unwrap_or_default()].join("\0"));
        if let Some(rules) = key.as_ref().and_then(|key| self.remembered.get(key)) {
            return Some(*rules);
        }
        let (rules, work) = self.rules_of(&self.names_of(element, class, id)?);
        self.work += work;
        if let Some(key) = key
            && self.remembered.len() < MAX_REMEMBERED
        {
            self.remembered.insert(key, rules);
        }
        Some(rules)
    }

    /// The names of an element that rules are for. None where there are too many.
    fn names_of(&self, element: &str, class: &str, id: Option<&str>) -> Option<Vec<usize>> {
        let lower = |value: &str| decoded(value).to_lowercase();
        let mut names: Vec<usize> =
            ["*", element].iter().filter_map(|name| self.names.get(*name)).copied().collect();
        names.extend(id.and_then(|id| self.names.get(&format!("#{}", lower(id).trim()))));
        for class in lower(class).split_whitespace() {
            if let Some(name) = self.names.get(&format!(".{class}"))
                && !names.contains(name)
            {
                names.push(*name);
            }
            if names.len() > MAX_NAMES {
                return None;
            }
        }
        Some(names)
    }

    /// The declarations for an element with these names, and how many rules were looked at.
    fn rules_of(&self, names: &[usize]) -> (ElementRules, usize) {
        let mut rules = ElementRules::default();
        let mut work = names.len();
        let mut found: Vec<&Rule> = Vec::new();
        for name in names {
            if let Some(showing) = self.unsure.get(name) {
                rules.unsure.unite(showing);
            }
            for rule in self.sure.get(name).into_iter().flatten() {
                work += 1;
                if rule.names.iter().all(|name| names.contains(name)) {
                    found.push(rule);
                }
            }
        }
        found.sort_by_key(|rule| (rule.weight, rule.order));
        found.iter().for_each(|rule| rules.sure.extend(&rule.style));
        rules.is_any = !rules.sure.is_empty() || !rules.unsure.is_empty();
        (rules, work)
    }

    /// Adds rules up to the end of the block, or of the text. Those of a sheet or block that is not for every screen are not sure.
    fn read(&mut self, parser: &mut Parser<'_>, depth: usize, is_sure: bool) {
        loop {
            match parser.next() {
                Ok(Token::CDO | Token::CDC | Token::Semicolon) => {}
                Ok(Token::AtKeyword(name)) => {
                    let name = name.to_ascii_lowercase();
                    self.read_at_rule(parser, &name, depth, is_sure);
                }
                Ok(token) => {
                    let first = token.clone();
                    self.read_rule(parser, first, is_sure);
                }
                Err(_) => return,
            }
        }
    }

    /// Reads the rules in an at-rule that has some, and skips every other one. Its name was read.
    fn read_at_rule(&mut self, parser: &mut Parser<'_>, name: &str, depth: usize, is_sure: bool) {
        let mut is_sure = is_sure && name == "media";
        loop {
            match parser.next() {
                Ok(Token::CurlyBracketBlock) => break,
                Ok(Token::Semicolon) | Err(_) => return,
                Ok(token) => is_sure &= is_screen(token),
            }
        }
        if !CONDITIONAL.contains(&name) {
            return;
        }
        if depth >= MAX_NESTING {
            self.is_cut = true;
            return;
        }
        let block = parser.parse_nested_block(|block| {
            self.read(block, depth + 1, is_sure);
            Ok::<(), ParseError<()>>(())
        });
        self.is_cut |= block.is_err();
    }

    /// Reads the rule that begins with this token.
    fn read_rule<'i>(&mut self, parser: &mut Parser<'i>, first: Token<'i>, is_sure: bool) {
        let mut selectors = Vec::new();
        let mut token = first;
        while !matches!(token, Token::CurlyBracketBlock) {
            if selectors.len() < MAX_SELECTOR_TOKENS {
                selectors.push(token);
            } else {
                self.is_cut = true;
            }
            token = match parser.next_including_whitespace() {
                Ok(next) => next.clone(),
                Err(_) => return,
            };
        }
        let mut style = Style::default();
        let block = parser.parse_nested_block(|block| Ok::<bool, ParseError<()>>(style.read(block)));
        self.is_nested |= block.unwrap_or(true);
        if style.is_empty() {
            return;
        }
        let selectors: Vec<Selector> =
            selectors.split(|token| matches!(token, Token::Comma)).map(Selector::parse).collect();
        let is_sure = is_sure && selectors.iter().all(|selector| selector.is_valid);
        for selector in selectors {
            self.add(selector, style, is_sure);
        }
    }

    fn add(&mut self, selector: Selector, style: Style, is_sure: bool) {
        let is_sure = is_sure && selector.is_sure;
        let style = if is_sure { style } else { style.showing() };
        if style.is_empty() {
            return;
        }
        if self.count >= MAX_RULES {
            self.is_cut = true;
            return;
        }
        self.count += 1;
        let weight = selector.weight();
        let names: Vec<usize> = selector.into_names().map(|name| self.number(name)).collect();
        let Some(key) = names.first().copied() else { return };
        if is_sure {
            let order = self.count;
            self.sure.entry(key).or_default().push(Rule { names, weight, order, style });
        } else {
            self.unsure.entry(key).or_default().unite(&style);
        }
    }

    fn number(&mut self, name: String) -> usize {
        let next = self.names.len();
        *self.names.entry(name).or_insert(next)
    }
}

/// Whether a document does not begin as those do that follow a standard.
fn is_quirky(html: &str) -> bool {
    let head = cut_at(html.trim_start(), 200).to_ascii_lowercase();
    let kind = head.strip_prefix("<!doctype html").map(str::trim_start);
    let is_standard = kind.is_some_and(|kind| kind.starts_with('>') || kind.contains("xhtml 1."));
    !is_standard
}

/// Whether the media query, which is the rest of the parser's text, is true of every screen.
fn is_for_screens(parser: &mut Parser<'_>) -> bool {
    while let Ok(token) = parser.next() {
        if !is_screen(token) {
            return false;
        }
    }
    true
}

/// Whether this word leaves a media query true of every screen.
fn is_screen(token: &Token<'_>) -> bool {
    let Token::Ident(word) = token else { return false };
    ["all", "only", "screen"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::{ElementRules, Sheet};
    use crate::html::values::Effect::{self, Hides, Shows};
    use crate::html::values::Property;

    /// Whether an element with these attributes is displayed, as far as the style sheet says so.
    fn effect(css: &str, element: &str, class: &str, id: &str) -> Option<Effect> {
        let mut sheet = Sheet::from_html(&format!("<p>x<STYLE type=text/css>{css}</style>"));
        sheet.rules(element, &[("class", class), ("id", id)]).and_then(display_effect)
    }

    fn display_effect(rules: ElementRules) -> Option<Effect> {
        let mut style = rules.sure;
        style.undo(&rules.unsure, false);
        style.effect(Property::Display)
    }

    #[test]
    fn rules_of_one_element_are_applied_by_weight() {
        for (css, hidden) in [
            (".a{display:none}", Some(Hides)),
            ("<!-- .a { display : none } -->", Some(Hides)),
            ("@charset 'x'; p.a, .b { display: none !important; color: red }", Some(Hides)),
            ("#c{display:none}.a{display:block}", Some(Hides)),
            (".a{display:none}.a{display:block}", Some(Shows)),
            (".a{display:none}.b{display:block}.a{display:none}", Some(Hides)),
            (".a{display:none!important}#c{display:block}", Some(Hides)),
            ("body .a, html * .b{display:none}", Some(Hides)),
            ("*{display:none}", Some(Hides)),
            ("p{display:none}", Some(Hides)),
            (".\\61{display:none}", Some(Hides)),
            (".A{display:none}", Some(Hides)),
            ("@media screen{.a{display:none}}", Some(Hides)),
            ("@media all{@media only screen{.a{display:none}}}", Some(Hides)),
            ("@media print{.a{display:none}}", None),
            ("@media screen and (max-width:600px){.a{display:none}}", None),
            ("@supports (display:grid){.a{display:none}}", None),
            (".d .a{display:none}", None),
            (".d>.a{display:none}", None),
            (".a:hover{display:none}", None),
            (".a, ..b{display:none}", None),
            (".a, p::-x{display:none}", None),
            (".a,{display:none}", None),
            (".a.d{display:none}", None),
            (".a[x]{display:none}", None),
            ("div.a{display:none}", None),
            (".a{color:red}", None),
        ] {
            assert_eq!(effect(css, "p", "b a", "c"), hidden, "{css}");
        }
    }

    #[test]
    fn rules_that_may_apply_show_and_hide_nothing() {
        for css in [
            ".d .a{display:block}",
            ".d>p{display:block}",
            "u + .d .b{display:block}",
            "#d:checked~.a{display:block}",
            "p[class~=x]{display:block}",
            "[x]{display:block}",
            ":not(.x){display:block}",
            "@media (min-width:600px){.a{display:block}}",
            "@supports (display:grid){@media print{.a{display:block}}}",
            "@layer x{.a{display:block}}",
            ".d{color:red;.a{display:block}}",
            ".a.e.f.g.h{display:block}",
        ] {
            for sheet in [format!("{css}.a{{display:none}}"), format!(".a{{display:none}}{css}")] {
                assert_ne!(effect(&sheet, "p", "b a", "c"), Some(Hides), "{sheet}");
            }
        }
        let important = ".d .a{display:block}.a{display:none!important}";
        assert_eq!(effect(important, "p", "a", ""), Some(Hides));
    }

    #[test]
    fn only_sheets_for_screens_count() {
        for (media, hidden) in
            [("", Some(Hides)), ("all", Some(Hides)), ("print", None), ("(max-width:1px)", None)]
        {
            let mut sheet = Sheet::from_html(&format!("<style media='{media}'>p{{display:none}}</style>"));
            assert_eq!(sheet.rules("p", &[]).and_then(display_effect), hidden, "{media}");
        }
    }

    #[test]
    fn sheets_of_any_size_are_read_within_bounds() {
        for rule in [".a{display:none}", ".a.b{opacity:0}", "@media all{", "{", ".a,", "*{", "a{b:c;", "<!--"]
        {
            assert_ne!(effect(&rule.repeat(50_000), "p", "x", "y"), Some(Shows), "{rule}");
        }
        let many = |n: usize| format!(".a{n}{{display:none}}");
        let rules = |count: usize| (0..count).map(many).collect::<String>();
        assert_eq!(effect(&rules(3_000), "p", "a7", ""), Some(Hides));
        assert_eq!(effect(&rules(5_000), "p", "a7", ""), None);
        let classes = (0..40).map(|n| format!("x{n} ")).collect::<String>();
        assert_eq!(effect(&rules(30), "p", &format!("{classes} a7"), ""), Some(Hides));
    }
}
