//! Parameters of functions: few, and each with a name of its own.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use crate::files::{Project, Source};
use crate::ratchet::Offence;
use crate::sizes;

/// Maximum parameters of a function, without `self`.
const MAX_PARAMETERS: usize = 6;

/// Functions with too many parameters. The list counts those of a crate.
pub fn numbers(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.authored() {
        for signature in signatures(file) {
            let number = signature.parameters.len();
            if number > MAX_PARAMETERS {
                let why = format!(
                    "`{}` has {number} parameters, {MAX_PARAMETERS} are allowed: make a type of those that go together",
                    signature.name
                );
                offences.push(Offence::inside(project.crate_of(&file.path), &file.path, signature.line, why));
            }
        }
    }
    offences
}

/// Parameters that are tuples. The list counts those of a crate.
pub fn tuples(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.authored() {
        for signature in signatures(file) {
            for parameter in signature.parameters.iter().filter(|parameter| is_tuple(parameter)) {
                let why = format!(
                    "`{parameter}` of `{}` is a tuple: make it several parameters, or a type with named fields",
                    signature.name
                );
                offences.push(Offence::inside(project.crate_of(&file.path), &file.path, signature.line, why));
            }
        }
    }
    offences
}

/// The parameters of a function without `self`.
struct Signature<'f> {
    name: &'f str,
    line: usize,
    parameters: Vec<String>,
}

/// Returns the functions of a file, outside its test module. Those of an `impl Trait for Type` are skipped: the trait, which may be
/// another crate's, decides their parameters.
fn signatures(file: &Source) -> Vec<Signature<'_>> {
    let lines = file.code();
    let mut found = Vec::new();
    let mut implementation = None;
    for (at, (number, line)) in lines.iter().enumerate() {
        let start = line.trim_start();
        if implementation.as_deref() == Some(*line) {
            implementation = None;
        } else if start.starts_with("impl ") || start.starts_with("impl<") || start.starts_with("unsafe impl")
        {
            let header = lines[at..].iter().map(|(_, line)| *line);
            let is_of_trait = is_of_trait(header);
            // The sources are formatted: the closing brace has the indentation of `impl`.
            implementation = is_of_trait.then(|| format!("{}}}", &line[..line.len() - start.len()]));
        } else if implementation.is_none()
            && let Some(name) = sizes::function(line)
        {
            // The visibility before it may have brackets: `pub(crate)`.
            let (_, first) = line.split_once("fn ").expect("a function begins on this line");
            let following = lines[at + 1..].iter().map(|(_, line)| *line);
            let text = std::iter::once(first).chain(following);
            found.push(Signature { name, line: *number, parameters: parameters(text) });
        }
    }
    found
}

/// These lines begin an `impl Trait for Type` with more than one line.
fn is_of_trait<'l>(lines: impl Iterator<Item = &'l str>) -> bool {
    let mut is_of_trait = false;
    for line in lines {
        is_of_trait |= line.contains(" for ");
        if line.ends_with('{') {
            return is_of_trait;
        }
        if line.ends_with('}') || line.ends_with(';') {
            break;
        }
    }
    false
}

/// Returns the parameters of the function whose declaration continues with these lines after `fn`.
fn parameters<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<String> {
    let mut parameters = vec![String::new()];
    let (mut depth, mut angles, mut is_inside) = (0_usize, 0_usize, false);
    let mut before = ' ';
    'lines: for line in lines {
        let line = line.split(" // ").next().unwrap_or_default().trim();
        for c in line.chars().chain([' ']) {
            match c {
                '<' => angles += 1,
                '>' if before != '-' && before != '=' => angles = angles.saturating_sub(1),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            before = c;
            match c {
                '(' if depth == 1 && angles == 0 && !is_inside => is_inside = true,
                ')' if depth == 0 && angles == 0 && is_inside => break 'lines,
                ',' if depth == 1 && angles == 0 && is_inside => parameters.push(String::new()),
                c if is_inside => parameters.last_mut().expect("there is one").push(c),
                _ => {}
            }
        }
    }
    let trimmed = parameters.iter().map(|parameter| without_attributes(parameter).to_owned());
    trimmed.filter(|parameter| !parameter.is_empty() && !is_self(parameter)).collect()
}

fn without_attributes(parameter: &str) -> &str {
    let parameter = parameter.trim();
    match parameter.strip_prefix("#[").and_then(|attribute| attribute.split_once("] ")) {
        Some((_, rest)) => without_attributes(rest),
        None => parameter,
    }
}

fn is_self(parameter: &str) -> bool {
    let name = without_reference(parameter);
    name == "self" || name.starts_with("self:")
}

/// `&'a mut (A, B)` → `(A, B)`.
fn without_reference(text: &str) -> &str {
    let mut text = text.trim().trim_start_matches('&');
    if text.starts_with('\'') {
        text = text.split_once(' ').map_or("", |(_, rest)| rest);
    }
    text.strip_prefix("mut ").unwrap_or(text)
}

/// The type of a parameter is a tuple, or a reference to one.
fn is_tuple(parameter: &str) -> bool {
    let Some(inner) = without_reference(type_of(parameter)).strip_prefix('(') else { return false };
    let mut depth = 0_usize;
    for (at, c) in inner.char_indices() {
        match c {
            '(' | '[' | '<' | '{' => depth += 1,
            '>' if inner[..at].ends_with('-') => {}
            ')' | ']' | '>' | '}' if depth > 0 => depth -= 1,
            ',' if depth == 0 => return true,
            // `(dyn A + B)`, or `()`.
            ')' => return false,
            _ => {}
        }
    }
    false
}

/// Returns the text after the first `:` outside brackets that is no part of `::`.
fn type_of(parameter: &str) -> &str {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in parameter.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && before != ':' && !parameter[at + 1..].starts_with(':') => {
                return &parameter[at + 1..];
            }
            _ => {}
        }
        before = c;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::{is_tuple, signatures};
    use crate::files::Source;

    /// The functions of a text, each as its name and its parameters.
    fn functions(text: &str) -> Vec<(String, Vec<String>)> {
        let source = Source::new("a.rs", text);
        let found = signatures(&source);
        found.into_iter().map(|signature| (signature.name.to_owned(), signature.parameters)).collect()
    }

    #[test]
    fn parameters_are_read_without_self() {
        let text = "pub(crate) async fn f(&mut self, a: u8) {}\nfn g() -> (u8, u8) {}\nfn h(self: Arc<Self>, (a, b): (u8, u8)) {}\n\
                    impl A {\n    fn i(&'a self, b: B<u8, u16>) {}\n}\n";
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expected = [
            ("f".to_owned(), names(&["a: u8"])),
            ("g".to_owned(), names(&[])),
            ("h".to_owned(), names(&["(a, b): (u8, u8)"])),
            ("i".to_owned(), names(&["b: B<u8, u16>"])),
        ];
        assert_eq!(functions(text), expected);
    }

    #[test]
    fn parameters_stand_on_several_lines() {
        let text = "fn f<F: Fn(u8) -> bool, const N: usize>(\n    #[cfg(test)] a: u8,\n    // A comment, with a comma.\n\
                    \x20   b: F, // And, one.\n    c: impl Fn(u8, u8) -> Option<u8>,\n) -> Result<(u8, u8)>\nwhere\n    F: Sync,\n{\n}\n";
        let found = functions(text);
        assert_eq!(found[0].1, ["a: u8", "b: F", "c: impl Fn(u8, u8) -> Option<u8>"]);
    }

    #[test]
    fn what_a_trait_demands_counts_once() {
        let text = "trait A {\n    fn a(&self, b: (u8, u8));\n}\nimpl<T> A for B<T>\nwhere\n    T: Send,\n{\n    fn a(&self, b: (u8, u8)) {}\n}\n\
                    impl B {\n    fn c() {}\n}\nimpl C for D {}\nfn e() {}\n#[cfg(test)]\nmod tests {\n    fn f() {}\n}\n";
        let names: Vec<String> = functions(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "c", "e"]);
    }

    #[test]
    fn a_tuple_is_a_tuple_behind_a_reference() {
        for parameter in ["(a, b): (A, B)", "pair: &(A, B)", "pair: &'a mut (A, Vec<B>)", "one: (A,)"] {
            assert!(is_tuple(parameter), "{parameter}");
        }
        for parameter in
            ["a: ()", "a: &(dyn A + Send)", "Path((a, b)): Path<(A, B)>", "a: &[(A, B)]", "f: fn(A, B)"]
        {
            assert!(!is_tuple(parameter), "{parameter}");
        }
        assert!(is_tuple("(a, Some::<B>(b)): (A, Option<B>)") && !is_tuple("a: (fn(A, B))"));
    }
}
