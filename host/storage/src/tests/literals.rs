//! The pieces of SQL in the sources of `storage/`: each has to be part of a statement that was run.

#![expect(clippy::string_slice, reason = "at borders that `find`, `chars` and `char_indices` gave")]

use std::path::Path;

/// The literals of all files that are, or may be, a piece of SQL; each with the file that it is in.
pub fn pieces() -> Vec<(String, String)> {
    let mut found = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found
}

fn read(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "tests" => read(&path, found),
            // Statements that differ between the engines are run on each by the code that uses them.
            false if name.ends_with(".rs") && name != "dialect.rs" => {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                let pieces = literals(code).into_iter().filter(|piece| is_sql(piece));
                found.extend(pieces.map(|piece| (name.clone(), piece)));
            }
            _ => {}
        }
    }
}

fn is_sql(text: &str) -> bool {
    let keywords = ["select ", "insert ", "update ", "delete ", "with ", "and ", "where ", "order by "];
    let has_parameter = text.split('$').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    has_parameter || keywords.iter().any(|word| text.trim_start().starts_with(word))
}

/// The string literals of Rust code, without those in lines for PostgreSQL alone.
fn literals(code: &str) -> Vec<String> {
    let (mut found, mut at, mut line) = (Vec::new(), 0, 0);
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        at += match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '\'' if rest.starts_with("'\"'") => 3,
            '"' => {
                let (text, length) = literal(&rest[1..]);
                if !code[line..at].contains("Postgres(_) =>") {
                    found.push(text);
                }
                length + 1
            }
            other => other.len_utf8(),
        };
        line = code[..at].rfind('\n').map_or(0, |n| n + 1).max(line);
    }
    found
}

/// The text of a literal whose opening quote is passed, and where its closing quote ends.
fn literal(code: &str) -> (String, usize) {
    let (mut text, mut rest) = (String::new(), code.char_indices().peekable());
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => match rest.next() {
                // The end of the line and the indentation of the next one are no part of it.
                Some((_, '\n')) => while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                Some((_, other)) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    (text, code.len())
}

#[test]
fn literals_are_found_as_the_compiler_reads_them() {
    let code = "// \"no\"\nlet a = \"select \\\n   1\"; f(\"x\", '\"', \"y\\\"z\");\nTx::Postgres(_) => \"no\",\nb(\"c\")\n";
    assert_eq!(literals(code), ["select 1", "x", "y\"z", "c"]);
}
