//! Lists. On narrow screens each row becomes a card: the first column is its heading, the state stands above, and the rest are terms and values.

use service::locale::html::Html;

/// A table that is put together row by row.
pub struct RowTable {
    columns: Vec<&'static str>,
    html: Html,
}

/// A cell of a row.
pub enum TableCell {
    /// A value with the column's name beside it on cards.
    Plain(Html),
    /// The state of the row.
    State(Html),
    /// A link or a form that does something with the row.
    End(Html),
}

impl RowTable {
    /// A table with a caption and the names of its columns; an empty name is a column of buttons.
    pub fn new(caption: &str, columns: &[&'static str]) -> RowTable {
        let mut html = Html::default();
        html.raw("<table class=\"rows\" role=\"table\"><caption>").text(caption);
        html.raw("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
        for column in columns {
            html.raw("<th scope=\"col\" role=\"columnheader\">").text(column).raw("</th>");
        }
        html.raw("</tr></thead><tbody role=\"rowgroup\">\n");
        RowTable { columns: columns.to_vec(), html }
    }

    /// Adds a row.
    pub fn row(&mut self, heading: &Html, cells: Vec<TableCell>) {
        add_row(&mut self.html, &self.columns, heading, cells);
    }

    /// Adds the table to a page.
    pub fn add_to(&self, html: &mut Html) {
        html.html(&self.html).raw("</tbody></table>\n");
    }
}

/// Adds a row of a table with these columns, as `RowTable::row` does: for rows that come to a page later.
pub fn add_row(html: &mut Html, columns: &[&'static str], heading: &Html, cells: Vec<TableCell>) {
    html.raw("<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">").html(heading).raw("</th>");
    let labels = columns.iter().skip(1).copied().chain(std::iter::repeat(""));
    for (cell, label) in cells.into_iter().zip(labels) {
        match cell {
            TableCell::Plain(value) => {
                html.raw("<td role=\"cell\" data-label=\"").text(label).raw("\"><span>");
                html.html(&value).raw("</span></td>");
            }
            TableCell::State(value) => {
                html.raw("<td role=\"cell\" class=\"state\">").html(&value).raw("</td>");
            }
            TableCell::End(value) => {
                html.raw("<td role=\"cell\" class=\"end\">").html(&value).raw("</td>");
            }
        }
    }
    html.raw("</tr>\n");
}

/// A cell of text that others chose.
pub fn name_cell(text: &str) -> TableCell {
    let mut html = Html::default();
    html.raw("<bdi>").text(text).raw("</bdi>");
    TableCell::Plain(html)
}

/// A cell of text that is written from left to right.
pub fn id_cell(text: &str) -> TableCell {
    let mut html = Html::default();
    html.raw("<span class=\"id\" dir=\"ltr\">").text(text).raw("</span>");
    TableCell::Plain(html)
}

/// The heading of a row: a name that leads to its page.
pub fn linked_name(href: &str, name: &str) -> Html {
    let mut html = Html::default();
    html.raw("<a href=\"").text(href).raw("\"><bdi>").text(name).raw("</bdi></a>");
    html
}
