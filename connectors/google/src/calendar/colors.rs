//! Colours of events: Google has a table of a few, each with a number.

use std::collections::BTreeMap;

use connector_sdk::Context;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The name of the connection's setting in which `check` keeps the table.
pub const SETTING: &str = "eventColors";

/// Colours that a table has at most.
const MAX_COLORS: usize = 64;

/// The table as `colors.get` has answered it for years, for a connection that has none.
const DEFAULT: [(&str, &str); 11] = [
    ("1", "#a4bdfc"),
    ("2", "#7ae7bf"),
    ("3", "#dbadff"),
    ("4", "#ff887c"),
    ("5", "#fbd75b"),
    ("6", "#ffb878"),
    ("7", "#46d6db"),
    ("8", "#e1e1e1"),
    ("9", "#5484ed"),
    ("10", "#51b749"),
    ("11", "#dc2127"),
];

/// The answer of `colors.get`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ColorTable {
    event: BTreeMap<String, ColorPair>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ColorPair {
    background: String,
}

impl ColorTable {
    /// The backgrounds of events by number, those that are `#rrggbb`.
    pub fn event_palette(self) -> Map<String, Value> {
        let colors = self.event.into_iter().filter(|(_, pair)| channels(&pair.background).is_some());
        colors.take(MAX_COLORS).map(|(id, pair)| (id, Value::String(pair.background))).collect()
    }
}

/// The colours that events can have: number and `#rrggbb`.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette(Vec<(String, String)>);

impl Default for Palette {
    fn default() -> Self {
        Palette(DEFAULT.iter().map(|(id, hex)| ((*id).to_owned(), (*hex).to_owned())).collect())
    }
}

impl Palette {
    /// The palette that `check` kept, else Google's usual one.
    pub fn of_connection(context: &Context) -> Self {
        let kept = context.connection.settings.get(SETTING).and_then(Value::as_object);
        let colors: Vec<(String, String)> = kept
            .into_iter()
            .flatten()
            .filter_map(|(id, hex)| Some((id.clone(), hex.as_str()?.to_owned())))
            .take(MAX_COLORS)
            .collect();
        if colors.is_empty() { Palette::default() } else { Palette(colors) }
    }

    /// The colour of this number, as `#rrggbb`.
    pub fn hex(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == id).map(|(_, hex)| hex.as_str())
    }

    /// The number of the colour nearest to `#rrggbb`, and whether it is exactly that one. None where the text is no colour.
    pub fn nearest(&self, hex: &str) -> Option<(&str, bool)> {
        let wanted = channels(hex)?;
        let distance = |other: &str| {
            let other = channels(other)?;
            Some(wanted.iter().zip(other).map(|(a, b)| (a - b).pow(2)).sum::<i64>())
        };
        let measured = self.0.iter().filter_map(|(id, hex)| Some((id.as_str(), distance(hex)?)));
        measured.min_by_key(|(_, distance)| *distance).map(|(id, distance)| (id, distance == 0))
    }
}

/// Red, green and blue of `#rrggbb`.
fn channels(hex: &str) -> Option<[i64; 3]> {
    let is_hex = |digits: &&str| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = i64::from_str_radix(hex.strip_prefix('#').filter(is_hex)?, 16).ok()?;
    Some([number >> 16, (number >> 8) & 0xFF, number & 0xFF])
}

#[cfg(test)]
mod tests {
    use super::{Palette, channels};

    #[test]
    fn a_colour_becomes_the_nearest_of_the_table() {
        let palette = Palette::default();
        assert_eq!(palette.nearest("#dc2127"), Some(("11", true)));
        assert_eq!(palette.nearest("#ff0000"), Some(("11", false)));
        assert_eq!(palette.hex("11"), Some("#dc2127"));
        assert_eq!((palette.hex("99"), palette.nearest("red")), (None, None));
        assert_eq!((channels("#-12345"), channels("#12345")), (None, None));
    }
}
