//! Inputs that repeat a piece of a grammar, to expose parsers that are not linear.

use std::collections::BTreeSet;
use std::fmt;

/// In a token: the number of the repetition, for tokens that must differ each time.
pub const NUMBER: char = '§';

/// Different inputs for each parser.
pub const COUNT: usize = 220;

/// A scalable input of repeated pieces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    /// Once, at the beginning.
    head: String,
    /// As often as fits.
    first: String,
    /// Repeated after that, in the other half: the combined cost of two long halves.
    second: String,
}

impl Pattern {
    /// An input of about this many bytes.
    pub fn input(&self, bytes: usize) -> Vec<u8> {
        let mut input = self.head.clone();
        let halves = if self.second.is_empty() { 1 } else { 2 };
        for (at, piece) in [&self.first, &self.second].into_iter().enumerate().take(halves) {
            let end = input.len() + (bytes * (at + 1) / halves).saturating_sub(input.len());
            let mut number = 0;
            while input.len() < end {
                number += 1;
                input.push_str(&piece.replace(NUMBER, &number.to_string()));
            }
        }
        input.into_bytes()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.head.is_empty() {
            write!(f, "{:?}, then ", self.head)?;
        }
        write!(f, "{:?} again and again", self.first)?;
        if !self.second.is_empty() {
            write!(f, ", then {:?} as often", self.second)?;
        }
        Ok(())
    }
}

/// Returns each token alone; then, drawn from a fixed seed, runs of two to four tokens, a token before many of another, and many of one
/// before many of another.
pub fn patterns(parser: &str, tokens: &[&str]) -> Vec<Pattern> {
    assert!(tokens.iter().all(|token| !token.is_empty()), "{parser}: {tokens:?}");
    let pattern = |head: &str, first: &str, second: &str| Pattern {
        head: head.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
    };
    let mut all: BTreeSet<Pattern> = tokens.iter().map(|token| pattern("", token, "")).collect();
    let mut random =
        Random(parser.bytes().fold(0x5EED, |seed: u64, byte| seed.wrapping_mul(31) ^ u64::from(byte)));
    while all.len() < COUNT {
        let mut token = || tokens[random.below(tokens.len())];
        let (a, b, c, d) = (token(), token(), token(), token());
        all.insert(match random.below(8) {
            0 => pattern("", &[a, b].concat(), ""),
            1 => pattern("", &[a, b, c].concat(), ""),
            2 => pattern("", &[a, b, c, d].concat(), ""),
            3 => pattern(a, b, ""),
            4 => pattern(a, &[b, c].concat(), ""),
            5 => pattern("", &[a, b].concat(), &[c, d].concat()),
            6 => pattern(a, b, c),
            _ => pattern("", a, b),
        });
    }
    all.into_iter().collect()
}

/// SplitMix64: repeatable, which is enough.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)) >> 16;
        usize::try_from(z).unwrap_or_default() % end
    }
}
