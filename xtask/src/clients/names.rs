//! Names in the languages of the clients.

/// Keywords of Python that are names in the API, and could become some.
const PYTHON_KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// `["calendars", "events"]` → `CalendarsEvents`.
pub fn pascal(words: &[String]) -> String {
    words.iter().map(|word| capitalized(word)).collect()
}

/// `after_sequence` → `afterSequence`.
pub fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| whole + &capitalized(part))
}

/// `taskLists` → `task_lists`, `Last-Event-ID` → `last_event_id`; a keyword of Python gets an underscore.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut ends_word = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && ends_word {
            out.push('_');
        }
        ends_word = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        out.push(if letter == '-' { '_' } else { letter.to_ascii_lowercase() });
    }
    if PYTHON_KEYWORDS.contains(&out.as_str()) {
        out.push('_');
    }
    out
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::{camel, pascal, snake};

    #[test]
    fn names_follow_the_language() {
        assert_eq!(pascal(&["taskLists".to_owned(), "tasks".to_owned()]), "TaskListsTasks");
        assert_eq!(camel("after_sequence"), "afterSequence");
        assert_eq!(camel("afterSequence"), "afterSequence");
        assert_eq!(snake("mergeSuggestions"), "merge_suggestions");
        assert_eq!(snake("Last-Event-ID"), "last_event_id");
        assert_eq!(snake("from"), "from_");
    }
}
