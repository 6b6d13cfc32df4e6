//! Docstrings of Python, and wrapped text.

/// The widest line of a generated file, in characters.
pub const WIDTH: usize = 100;

/// A keyword argument and its description.
pub struct DocumentedArgument {
    pub name: String,
    pub text: String,
}

/// The lines of a docstring, indented by so many spaces.
pub fn docstring(
    indent: usize,
    summary: &str,
    description: &str,
    arguments: &[DocumentedArgument],
) -> Vec<String> {
    let mut lines = vec![format!("{}.", summary.trim_end_matches('.'))];
    for paragraph in description.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        lines.push(String::new());
        lines.extend(wrap(paragraph, WIDTH - indent));
    }
    if !arguments.is_empty() {
        lines.extend([String::new(), "Args:".to_owned()]);
    }
    for argument in arguments {
        let text = format!("{}: {}.", argument.name, argument.text.trim_end_matches('.'));
        let wrapped = wrap(&text, WIDTH - indent - 4);
        let (first, rest) = wrapped.split_first().expect("wrapped text has a line");
        lines.push(format!("    {first}"));
        if !rest.is_empty() {
            let rest = wrap(&rest.join(" "), WIDTH - indent - 8);
            lines.extend(rest.into_iter().map(|line| format!("        {line}")));
        }
    }
    // A backslash would begin an escape.
    let quotes = if lines.iter().any(|line| line.contains('\\')) { "r\"\"\"" } else { "\"\"\"" };
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, quotes);
    }
    match lines.len() {
        1 => lines[0].push_str("\"\"\""),
        _ => lines.push("\"\"\"".to_owned()),
    }
    let pad = " ".repeat(indent);
    lines.into_iter().map(|line| format!("{pad}{line}").trim_end().to_owned()).collect()
}

/// Splits a text into lines of at most `width` characters; a longer word has a line of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::{DocumentedArgument, docstring, wrap};

    #[test]
    fn text_is_wrapped_at_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("extraordinary", 7), ["extraordinary"]);
    }

    #[test]
    fn a_docstring_ends_on_its_line_or_on_one_of_its_own() {
        assert_eq!(docstring(4, "List events", "", &[]), ["    \"\"\"List events.\"\"\""]);
        let argument = DocumentedArgument { name: "q".to_owned(), text: "Words \\ phrases".to_owned() };
        let lines = docstring(0, "List.", "More.", &[argument]);
        let expected = ["r\"\"\"List.", "", "More.", "", "Args:", "    q: Words \\ phrases.", "\"\"\""];
        assert_eq!(lines, expected);
    }
}
