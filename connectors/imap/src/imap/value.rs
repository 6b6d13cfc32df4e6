//! Parses the values of IMAP responses (RFC 9051 section 4): atoms, strings, NIL and lists, whatever they mean.
//!
//! A typed grammar refuses a whole response for one unknown or malformed item (an extension's FETCH item, a body structure with a missing
//! field), and its message would be lost. This parser accepts everything with balanced quotes; callers interpret the values.

use std::borrow::Cow;

/// The maximum nesting depth of lists; deeper ones are dropped. Real body structures have a handful of levels.
const MAX_DEPTH: usize = 100;

/// The maximum number of values in a response, to bound memory: a value can take 20 times as many bytes as its text.
const MAX_VALUES: usize = 400_000;

/// A value. Strings without escapes borrow from the response.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Nil,
    /// A word, a number, a flag, or the name of a body section up to its closing bracket.
    Atom(&'a [u8]),
    /// A quoted string or a literal.
    Text(Cow<'a, [u8]>),
    List(Vec<Value<'a>>),
}

impl Value<'_> {
    /// The bytes of an atom or a string.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Atom(bytes) => Some(bytes),
            Value::Text(bytes) => Some(bytes),
            Value::Nil | Value::List(_) => None,
        }
    }

    /// The text of an atom or a string; invalid UTF-8 is replaced.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        self.bytes().map(String::from_utf8_lossy)
    }

    /// The number in an atom or a string.
    pub fn number(&self) -> Option<u64> {
        std::str::from_utf8(self.bytes()?).ok()?.parse().ok()
    }

    /// The values of a list; empty for other values.
    pub fn list(&self) -> &[Value<'_>] {
        match self {
            Value::List(values) => values,
            _ => &[],
        }
    }

    /// Whether the value is this word, in any letter case.
    pub fn is(&self, word: &str) -> bool {
        self.bytes().is_some_and(|bytes| bytes.eq_ignore_ascii_case(word.as_bytes()))
    }
}

enum Token<'a> {
    Open,
    Close,
    Value(Value<'a>),
    End,
}

struct Reader<'a> {
    input: &'a [u8],
    at: usize,
}

/// Parses all values in `input`. None if a string does not end, or if there are too many values. Unclosed lists end with the input, and
/// unmatched closing brackets are skipped.
pub fn read(input: &[u8]) -> Option<Vec<Value<'_>>> {
    let mut reader = Reader { input, at: 0 };
    let mut outer: Vec<Vec<Value<'_>>> = Vec::new();
    let mut values = Vec::new();
    let mut too_deep = 0_usize;
    for _ in 0..MAX_VALUES {
        match reader.token()? {
            Token::Open if outer.len() >= MAX_DEPTH => too_deep += 1,
            Token::Open => outer.push(std::mem::take(&mut values)),
            Token::Close if too_deep > 0 => too_deep -= 1,
            Token::Close => close(&mut outer, &mut values),
            Token::Value(value) if too_deep == 0 => values.push(value),
            Token::Value(_) => {}
            Token::End => {
                while !outer.is_empty() {
                    close(&mut outer, &mut values);
                }
                return Some(values);
            }
        }
    }
    None
}

fn close<'a>(outer: &mut Vec<Vec<Value<'a>>>, values: &mut Vec<Value<'a>>) {
    if let Some(before) = outer.pop() {
        let inner = std::mem::replace(values, before);
        values.push(Value::List(inner));
    }
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    fn token(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        self.at += blank;
        let rest = self.rest();
        match rest.first() {
            None => Some(Token::End),
            Some(b'(') => {
                self.at += 1;
                Some(Token::Open)
            }
            Some(b')') => {
                self.at += 1;
                Some(Token::Close)
            }
            Some(b'"') => self.parse_quoted().map(|text| Token::Value(Value::Text(text))),
            Some(_) => match literal(rest) {
                Some((head, len)) => {
                    let text = rest.get(head..head.checked_add(len)?)?;
                    self.at += head + len;
                    Some(Token::Value(Value::Text(Cow::Borrowed(text))))
                }
                None => Some(Token::Value(self.atom())),
            },
        }
    }

    /// Parses a quoted string, with the escapes `\"` and `\\`.
    fn parse_quoted(&mut self) -> Option<Cow<'a, [u8]>> {
        let text = self.rest().get(1..)?;
        let mut escaped = false;
        let mut len = 0;
        loop {
            match text.get(len)? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    len += 2;
                }
                _ => len += 1,
            }
        }
        self.at += len + 2;
        let text = text.get(..len)?;
        if !escaped {
            return Some(Cow::Borrowed(text));
        }
        let mut out = Vec::with_capacity(len);
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            out.extend(if *byte == b'\\' { bytes.next() } else { Some(byte) });
        }
        Some(Cow::Owned(out))
    }

    /// Parses an atom, up to a blank or a bracket. The `[…]` of a section is part of it: `BODY[HEADER.FIELDS (DATE FROM)]<0>`. In other
    /// atoms `[` is an ordinary character (RFC 9051 section 9, `atom-specials`): `[Gmail]/All`, or a flag or label `[x`.
    fn atom(&mut self) -> Value<'a> {
        let rest = self.rest();
        let mut len = 0;
        while let Some(byte) = rest.get(len) {
            match byte {
                b' ' | b'\t' | b'(' | b')' | b'\r' | b'\n' => break,
                b'[' if names_section(rest.get(..len).unwrap_or_default()) => {
                    let inner = rest.get(len..).unwrap_or_default();
                    let line = inner.iter().take_while(|byte| **byte != b'\n');
                    len += line.take_while(|byte| **byte != b']').count().max(1);
                }
                _ => len += 1,
            }
        }
        let atom = rest.get(..len.max(1).min(rest.len())).unwrap_or_default();
        self.at += atom.len();
        if atom.eq_ignore_ascii_case(b"NIL") { Value::Nil } else { Value::Atom(atom) }
    }
}

/// Whether the bracket after this name opens a section of a message (RFC 9051 section 7.5.2).
fn names_section(name: &[u8]) -> bool {
    let names = [&b"BODY"[..], b"BODY.PEEK", b"BINARY", b"BINARY.PEEK", b"BINARY.SIZE"];
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Parses the announcement of a literal at the start of `rest`: `{12}` or `{12+}` before a line break, with an optional `~` (RFC 3516).
/// Returns the lengths of the announcement, with its line break, and of the literal.
fn literal(rest: &[u8]) -> Option<(usize, usize)> {
    let tilde = usize::from(rest.first() == Some(&b'~'));
    let digits = rest.get(tilde..)?.strip_prefix(b"{")?;
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let len = std::str::from_utf8(digits.get(..count)?).ok()?.parse().ok()?;
    let after = digits.get(count..)?;
    let tail =
        [&b"}\r\n"[..], b"+}\r\n", b"}\n", b"+}\n"].into_iter().find(|tail| after.starts_with(tail))?;
    Some((tilde + 1 + count + tail.len(), len))
}

/// The literal that a line announces at its end: the position of the announcement, and the length of the literal.
pub fn announced_literal(line: &[u8]) -> Option<(usize, u64)> {
    let text = line.strip_suffix(b"\n")?;
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let text = text.strip_suffix(b"}")?;
    let text = text.strip_suffix(b"+").unwrap_or(text);
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (head, number) = text.split_at(text.len() - digits);
    let head = head.strip_suffix(b"{")?;
    let head = head.strip_suffix(b"~").unwrap_or(head);
    Some((head.len(), std::str::from_utf8(number).ok()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, Value, announced_literal, read};

    fn describe(value: &Value<'_>) -> String {
        match value {
            Value::Nil => "NIL".into(),
            Value::List(values) => {
                format!("({})", values.iter().map(describe).collect::<Vec<_>>().join(" "))
            }
            Value::Atom(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Text(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        }
    }

    fn all(input: &str) -> Option<String> {
        read(input.as_bytes()).map(|values| values.iter().map(describe).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn values_are_read_whatever_they_mean() {
        let cases = [
            ("(UID 7 FLAGS (\\Seen $x))", "(UID 7 FLAGS (\\Seen $x))"),
            (r#"("a \"b\" \\c" nil NIL)"#, r#"("a \"b\" \\c" NIL NIL)"#),
            (
                "BODY[HEADER.FIELDS (DATE FROM)]<0> {3}\r\na)b X",
                "BODY[HEADER.FIELDS (DATE FROM)]<0> \"a)b\" X",
            ),
            ("~{2}\r\nab {1+}\r\nc", "\"ab\" \"c\""),
            ("[Gmail]/All x[y", "[Gmail]/All x[y"),
            ("([x y[ $[) body[1.2 (A]<0> z", "([x y[ $[) body[1.2 (A]<0> z"),
            ("(a (b", "(a (b))"),
            ("a) b", "a b"),
            ("{x} {3", "{x} {3"),
            ("", ""),
        ];
        for (input, expected) in cases {
            assert_eq!(all(input).as_deref(), Some(expected), "{input}");
        }
        assert_eq!(all("\"open"), None);
        assert_eq!(all("\"open\\"), None);
        assert_eq!(all("{9}\r\nshort"), None);
    }

    #[test]
    fn hostile_nesting_is_cut_and_too_many_values_are_refused() {
        let deep = format!("{}x{} y", "(".repeat(100_000), ")".repeat(100_000));
        let values = read(deep.as_bytes()).unwrap();
        assert_eq!(values.len(), 2);
        assert_eq!(all(&deep).unwrap().len(), 2 * MAX_DEPTH + 2);
        assert_eq!(read("()".repeat(300_000).as_bytes()), None);
    }

    #[test]
    fn a_line_announces_a_literal() {
        assert_eq!(announced_literal(b"* 1 FETCH (BODY[] {310}\r\n"), Some((18, 310)));
        assert_eq!(announced_literal(b"* 1 FETCH (BINARY[1] ~{3}\r\n"), Some((21, 3)));
        assert_eq!(announced_literal(b"a {3+}\n"), Some((2, 3)));
        for line in ["* OK {3} \r\n", "* OK 3}\r\n", "{99999999999999999999}\r\n", "{}\r\n", "x{3}"] {
            assert_eq!(announced_literal(line.as_bytes()), None, "{line}");
        }
    }
}
