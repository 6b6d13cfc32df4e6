//! Files of comma-separated values, which are opened by spreadsheets.

/// Characters with which a spreadsheet begins a formula, those of full width included.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Adds a line to a file. Each cell is in quotes, and an apostrophe stands before what a spreadsheet would take for a formula.
pub fn add_line(file: &mut String, cells: &[&str]) {
    for (place, cell) in cells.iter().enumerate() {
        file.push_str(if place == 0 { "\"" } else { ",\"" });
        // Control characters become spaces, and some spreadsheets skip spaces before a formula.
        let text = cell.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
        if text.starts_with(FORMULA) || cell.starts_with(['\t', '\r', '\n']) {
            file.push('\'');
        }
        for c in cell.chars() {
            match c {
                '"' => file.push_str("\"\""),
                c if c.is_control() => file.push(' '),
                c => file.push(c),
            }
        }
        file.push('"');
    }
    file.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::add_line;

    fn line(cell: &str) -> String {
        let mut file = String::new();
        add_line(&mut file, &["a", cell]);
        file
    }

    #[test]
    fn no_cell_is_a_formula_or_ends_its_line() {
        for formula in ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", " =1", "＝1", "\t=1", "\rx", "\0 =1"] {
            let line = line(formula);
            assert!(line.starts_with("\"a\",\"'"), "{line}");
        }
        assert_eq!(line("say \"hi\", Ada"), "\"a\",\"say \"\"hi\"\", Ada\"\r\n");
        assert_eq!(line("a\r\nb,c"), "\"a\",\"a  b,c\"\r\n");
        assert_eq!(line("2026-03-01"), "\"a\",\"2026-03-01\"\r\n");
    }
}
