//! Text that commands write: answers to stdout, notes to stderr.

use std::io::Write;

use anyhow::{Context, Result};

/// Writes an answer to stdout. A reader that stops early (`| head`) is no error.
pub fn answer(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match writeln!(stdout, "{}", text.trim_end()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e).context("cannot write to stdout"),
        _ => Ok(()),
    }
}

/// A command line that can be pasted into a shell.
pub fn command_line(program: &str, arguments: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:@,+%".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words: Vec<String> = arguments.iter().map(quoted).collect();
    format!("{program} {}", words.join(" "))
}

/// Writes a line to stderr. A closed terminal ends no command.
pub fn print_note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Lines with columns as wide as their widest cell.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{command_line, table};

    #[test]
    fn words_of_a_command_line_are_quoted_where_a_shell_would_read_them() {
        let words = ["--host=db.internal", "--file=it's here", ""].map(str::to_owned);
        assert_eq!(command_line("pg_dump", &words), r"pg_dump --host=db.internal '--file=it'\''s here' ''");
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "c".to_owned()]];
        assert_eq!(table(&rows), "a     b\nlong  c\n");
    }
}
