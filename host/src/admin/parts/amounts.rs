//! Amounts: how they are written, and tables of a name with a few of them.

use service::locale::Language;
use service::locale::html::Html;

/// The marks before each three digits of a number and before its decimals.
fn marks(language: Language) -> [char; 2] {
    match language {
        Language::German | Language::Spanish => ['.', ','],
        Language::French => ['\u{202f}', ','],
        Language::English | Language::AmericanEnglish | Language::Japanese | Language::Arabic => [',', '.'],
    }
}

/// The digits from which on an amount is in groups. Spanish groups from five on (CLDR 48, `minimumGroupingDigits` of `es`).
fn least_grouped_digits(language: Language) -> usize {
    match language {
        Language::Spanish => 5,
        _ => 4,
    }
}

/// An amount in groups of three digits.
pub fn grouped(amount: i64, language: Language) -> String {
    let [mark, _] = marks(language);
    let digits = amount.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    if amount < 0 {
        text.push('-');
    }
    let is_grouped = digits.len() >= least_grouped_digits(language);
    for (place, digit) in digits.chars().enumerate() {
        if is_grouped && place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(mark);
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in the largest unit of which it is at least one, with one decimal.
pub fn bytes_text(bytes: i64, language: Language) -> String {
    let [_, point] = marks(language);
    let mut unit = 1_i64;
    let mut name = "B";
    for (larger, its_name) in [(1_i64 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB")] {
        if bytes >= larger {
            (unit, name) = (larger, its_name);
        }
    }
    match unit {
        1 => format!("{bytes} B"),
        _ => format!("{}{point}{} {name}", grouped(bytes / unit, language), bytes % unit * 10 / unit),
    }
}

/// A part of a whole in percent, with one decimal.
pub fn share_text(part: i64, whole: i64, language: Language) -> String {
    let [_, point] = marks(language);
    if whole <= 0 {
        return "–".to_owned();
    }
    // German, Spanish and French have a space before the sign.
    let sign = if point == ',' { "\u{a0}%" } else { "%" };
    let tenths = i128::from(part) * 1_000 / i128::from(whole);
    format!("{}{point}{}{sign}", tenths / 10, tenths % 10)
}

/// A table of names with a few amounts each, which stays a table on narrow screens.
pub struct AmountTable(Html);

impl AmountTable {
    /// A table with a caption for readers of screens and the names of its columns.
    pub fn new(caption: &str, columns: &[&'static str]) -> AmountTable {
        let mut html = Html::default();
        html.raw("<table class=\"rows slim\"><caption class=\"sr\">").text(caption);
        html.raw("</caption><thead><tr>");
        for (place, column) in columns.iter().enumerate() {
            html.raw(if place == 0 { "<th scope=\"col\">" } else { "<th scope=\"col\" class=\"amount\">" });
            html.text(column).raw("</th>");
        }
        html.raw("</tr></thead><tbody>\n");
        AmountTable(html)
    }

    /// Adds a row.
    pub fn row(&mut self, heading: &Html, amounts: &[String]) {
        self.0.raw("<tr><th scope=\"row\">").html(heading).raw("</th>");
        for amount in amounts {
            self.0.raw("<td class=\"num amount\">").text(amount).raw("</td>");
        }
        self.0.raw("</tr>\n");
    }

    /// Adds the table to a page.
    pub fn add_to(&self, html: &mut Html) {
        html.html(&self.0).raw("</tbody></table>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_at_a_glance() {
        let english = Language::English;
        let texts = [0, 12, 999, 1_000, 608_591, -1_234_567].map(|amount| grouped(amount, english));
        assert_eq!(texts, ["0", "12", "999", "1,000", "608,591", "-1,234,567"]);
        assert_eq!(grouped(i64::MIN, english), "-9,223,372,036,854,775,808");
        let texts = [0, 1_023, 1_024, 1_536, 5 << 20, (3 << 30) + (1 << 29)];
        let texts = texts.map(|bytes| bytes_text(bytes, english));
        assert_eq!(texts, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 MiB", "3.5 GiB"]);
        let shares = [(961, 1_000), (1, 3), (0, 0)].map(|(part, whole)| share_text(part, whole, english));
        assert_eq!(shares, ["96.1%", "33.3%", "–"]);
    }

    #[test]
    fn amounts_are_written_as_the_language_does() {
        let texts = [Language::German, Language::Spanish, Language::French, Language::Japanese]
            .map(|language| [grouped(12_345, language), bytes_text(1_536, language)].join(" "));
        assert_eq!(texts, ["12.345 1,5 KiB", "12.345 1,5 KiB", "12\u{202f}345 1,5 KiB", "12,345 1.5 KiB"]);
        assert_eq!(share_text(1, 3, Language::French), "33,3\u{a0}%");
        let spanish = [999, 1_000, 9_999, 10_000, -1_234, 1_234_567];
        let spanish = spanish.map(|amount| grouped(amount, Language::Spanish));
        assert_eq!(spanish, ["999", "1000", "9999", "10.000", "-1234", "1.234.567"]);
    }
}
