//! Every parser of Switchboard that reads foreign bytes, behind one function, so that a test can count the instructions of each
//! (`tests/linear`). Inputs are arbitrary bytes; results are ignored.

mod calendar;
mod contacts;
mod jmap;
mod mailbox;
mod message;
mod request;
mod series;
/// A file of the fuzz target: a server that sends given data.
#[path = "../../../fuzz/targets/imap_responses/server.rs"]
mod server;
mod webdav;

use std::hint::black_box;

/// A parser's name in the test's table, and its function.
pub type Parser = (&'static str, fn(&[u8]));

mod bindings {
    wit_bindgen::generate!({
        inline: "
            package switchboard:linear;
            world parsers {
                export names: func() -> list<string>;
                export run: func(parser: u32, input: list<u8>);
            }
        ",
        pub_export_macro: true,
    });
}

/// The component's exports.
pub struct Parsers;

impl bindings::Guest for Parsers {
    fn names() -> Vec<String> {
        all().map(|(name, _)| name.to_owned()).collect()
    }

    fn run(parser: u32, input: Vec<u8>) {
        let parser = usize::try_from(parser).ok().and_then(|at| all().nth(at));
        let (_, read) = parser.expect("the host takes the numbers from `names`");
        read(&input);
    }
}

#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "a component's exports are raw memory; wit-bindgen writes them")]
mod exports {
    use super::{Parsers, bindings};

    bindings::export!(Parsers with_types_in bindings);
}

/// All of them, in the order of their numbers.
pub fn all() -> impl Iterator<Item = Parser> {
    let instrument: [Parser; 3] =
        [("test.linear", linear), ("test.quadratic", quadratic), ("test.moves", moves)];
    let parts = [
        calendar::ALL,
        contacts::ALL,
        jmap::ALL,
        mailbox::ALL,
        message::ALL,
        request::ALL,
        series::ALL,
        webdav::ALL,
    ];
    instrument.into_iter().chain(parts.into_iter().flatten().copied())
}

/// A linear computation: the instrument must find it linear.
fn linear(input: &[u8]) {
    black_box(input.iter().map(|byte| usize::from(*byte)).sum::<usize>());
}

/// A quadratic computation: the instrument must find it quadratic.
fn quadratic(input: &[u8]) {
    let same = |byte: &u8| input.iter().filter(|other| *other == byte).count();
    black_box(input.iter().map(same).sum::<usize>());
}

/// A quadratic computation hidden in copies of memory, which are one instruction each.
fn moves(input: &[u8]) {
    let mut rest = input.to_vec();
    while !black_box(&rest).is_empty() {
        rest.remove(0);
    }
}

/// Returns the input as text, with invalid UTF-8 replaced.
fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// The input between a head and a tail.
fn within(head: &str, input: &[u8], tail: &str) -> Vec<u8> {
    [head.as_bytes(), input, tail.as_bytes()].concat()
}

/// Returns the input between a head and a tail, as text.
fn text_within(head: &str, input: &[u8], tail: &str) -> String {
    format!("{head}{}{tail}", text(input))
}
