//! A bar chart by day. Sizes are attributes, because the content security policy forbids inline styles. Outcomes are CSS classes, and
//! failures are hatched, so that they are not distinguished by color alone.

use service::locale::html::Html;

/// CSS classes of the segments of a bar, from bottom to top.
const CLASSES: [&str; 4] = ["ok", "refused", "limited", "failed"];
/// Index of the hatched segment.
const HATCHED: usize = 3;
/// Minimum height of a segment that is not empty, in 1/10,000 of the chart's height.
const MIN_HEIGHT: i64 = 50;
/// Number of grid lines above the base line.
const LINES: i64 = 4;

/// A bar.
pub struct PlotBar {
    /// The day shown below it.
    pub label: String,
    /// Amounts from bottom to top: succeeded, refused, limited, failed.
    pub parts: [i64; 4],
}

/// Bars side by side.
pub struct BarPlot<'p> {
    /// The text alternative of the chart.
    pub sentence: &'p str,
    pub bars: &'p [PlotBar],
    /// Labels of the segments, in order.
    pub legend: [&'p str; 4],
}

impl BarPlot<'_> {
    /// Adds the chart; a page can have only one, because its pattern has an id.
    pub fn add_to(&self, html: &mut Html) {
        let largest = self.bars.iter().map(|bar| bar.parts.iter().sum::<i64>()).max().unwrap_or_default();
        let step = step_of(largest);
        html.raw("<figure class=\"stack\"><div class=\"plot\"><div class=\"y\" aria-hidden=\"true\">");
        for line in (0..=LINES).rev() {
            html.raw("<span>").text(&compact(line * step)).raw("</span>");
        }
        let width = (self.bars.len() * 10).to_string();
        html.raw("</div><svg viewBox=\"0 0 ")
            .text(&width)
            .raw(" 100\" preserveAspectRatio=\"none\" role=\"img\"");
        html.raw(" aria-label=\"").text(self.sentence).raw("\"><defs><pattern id=\"hatch\" width=\"1.5\" ");
        html.raw("height=\"4\" patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" d=\"M0 4 1.5 0\"/>");
        html.raw("</pattern></defs>");
        for y in ["0.5", "25", "50", "75"] {
            html.raw("<line x1=\"0\" x2=\"")
                .text(&width)
                .raw("\" y1=\"")
                .raw(y)
                .raw("\" y2=\"")
                .raw(y)
                .raw("\"/>");
        }
        for (place, bar) in self.bars.iter().enumerate() {
            add_bar(html, place, bar, step * LINES);
        }
        html.raw("</svg>");
        self.add_days(html);
        html.raw("</div>");
        self.add_legend(html);
        html.raw("</figure>\n");
    }

    /// Adds the labels of the first, the middle and the last day.
    fn add_days(&self, html: &mut Html) {
        let shown = [Some(0), Some(self.bars.len() / 2), self.bars.len().checked_sub(1)];
        html.raw("<div class=\"x\" aria-hidden=\"true\">");
        for bar in shown.into_iter().flatten().filter_map(|place| self.bars.get(place)) {
            html.raw("<span>").text(&bar.label).raw("</span>");
        }
        html.raw("</div>");
    }

    fn add_legend(&self, html: &mut Html) {
        html.raw("<ul class=\"legend\">");
        for (place, (class, word)) in CLASSES.into_iter().zip(self.legend).enumerate() {
            html.raw("<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"").raw(class);
            html.raw("\" width=\"10\" height=\"10\"/>");
            if place == HATCHED {
                html.raw("<rect fill=\"url(#hatch)\" width=\"10\" height=\"10\"/>");
            }
            html.raw("</svg>").text(word).raw("</li>");
        }
        html.raw("</ul>");
    }
}

/// Adds the segments of a bar; `top` is the amount at the upper edge.
fn add_bar(html: &mut Html, place: usize, bar: &PlotBar, top: i64) {
    let mut foot = 10_000;
    for (part, (class, amount)) in CLASSES.into_iter().zip(bar.parts).enumerate() {
        if amount <= 0 {
            continue;
        }
        let height = (amount.saturating_mul(10_000) / top.max(1)).max(MIN_HEIGHT);
        foot -= height;
        html.raw("<rect class=\"").raw(class).raw("\"");
        add_place(html, place, foot, height);
        if part == HATCHED {
            html.raw("<rect fill=\"url(#hatch)\"");
            add_place(html, place, foot, height);
        }
    }
}

/// Adds the position and size of a rectangle, and closes the element.
fn add_place(html: &mut Html, place: usize, foot: i64, height: i64) {
    let hundredths = |n: i64| format!("{}.{:02}", n.max(0) / 100, n.max(0) % 100);
    html.raw(" x=\"").text(&format!("{}.5", place * 10 + 1)).raw("\" y=\"").text(&hundredths(foot));
    html.raw("\" width=\"7\" height=\"").text(&hundredths(height)).raw("\"/>");
}

/// Returns the amount between two grid lines: 1, 2 or 5 times a power of ten.
fn step_of(largest: i64) -> i64 {
    let mut power = 1_i64;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if step.saturating_mul(LINES) >= largest {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Formats a round amount in short form: `1.5k`.
fn compact(amount: i64) -> String {
    let (unit, letter) = match amount {
        1_000_000.. => (1_000_000, "M"),
        1_000.. => (1_000, "k"),
        _ => return amount.to_string(),
    };
    match amount / (unit / 10) % 10 {
        0 => format!("{}{letter}", amount / unit),
        tenth => format!("{}.{tenth}{letter}", amount / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_round_amounts() {
        for (largest, step) in [(0, 1), (4, 1), (5, 2), (8, 2), (9, 5), (21, 10), (31_000, 10_000)] {
            assert_eq!(step_of(largest), step, "{largest}");
        }
        assert!(step_of(i64::MAX) > 0);
        let words = [0, 999, 1_000, 1_500, 20_000, 1_000_000, 2_500_000].map(compact);
        assert_eq!(words, ["0", "999", "1k", "1.5k", "20k", "1M", "2.5M"]);
    }

    #[test]
    fn parts_stand_upon_each_other_and_words_are_text() {
        let hostile = "\"><script>alert(1)</script>";
        let bars = [
            PlotBar { label: hostile.to_owned(), parts: [3, 0, 0, 1] },
            PlotBar { label: "2 March".to_owned(), parts: [0; 4] },
        ];
        let mut html = Html::default();
        let legend = [hostile, "Refused", "Limited", "Failed"];
        BarPlot { sentence: hostile, bars: &bars, legend }.add_to(&mut html);
        let plot = html.as_str();
        assert!(!plot.contains("<script"), "{plot}");
        assert_eq!(plot.matches("&lt;script&gt;").count(), 3, "{plot}");
        let ok = "<rect class=\"ok\" x=\"1.5\" y=\"25.00\" width=\"7\" height=\"75.00\"/>";
        let failed = "<rect class=\"failed\" x=\"1.5\" y=\"0.00\" width=\"7\" height=\"25.00\"/>";
        assert!(plot.contains(ok) && plot.contains(failed), "{plot}");
        assert_eq!(
            plot.matches(" x=\"").count(),
            3,
            "the failures are hatched, and nothing stands on the other day"
        );
        assert!(!plot.contains("style="), "{plot}");
    }
}
