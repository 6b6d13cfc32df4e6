//! The native side of the benchmark of mapping: built with the profile that components are built with, so that the sandbox is
//! all that differs. `mapping DATA`, where DATA is a file with JSON of [`Data`]; for each line on standard input it maps one
//! page and prints the nanoseconds that it took.

use std::collections::HashMap;
use std::io::BufRead;
use std::time::Instant;

use connector_dav::Dav;
use connector_sdk::http::{Request, Response};
use connector_sdk::surface;
use connector_sdk::testing::{Recorded, body, response};
use serde::Deserialize;

/// A server's answers.
#[derive(Deserialize)]
struct Data {
    /// The answer to the listing of changes.
    listing: String,
    /// The answer to each multiget, by the first href that it asks for.
    batches: HashMap<String, String>,
    /// The body of the call.
    body: String,
}

fn main() {
    let path = std::env::args().nth(1).expect("the file with the data");
    let data: Data =
        serde_json::from_slice(&std::fs::read(path).expect("the data")).expect("JSON of the data");
    let call = data.body.clone();
    let answer = move |asked: &Request| -> Result<Response, _> {
        let asked = body(asked);
        let asked = std::str::from_utf8(&asked).expect("UTF-8");
        let first = asked.split_once("<D:href>").and_then(|(_, rest)| rest.split_once("</D:href>"));
        let text = first.map_or(&data.listing, |(href, _)| &data.batches[href]);
        Ok(response(207, &[("content-type", "application/xml")], text))
    };
    let host = Recorded::answering(answer);
    for line in std::io::stdin().lock().lines() {
        line.expect("a line");
        let request =
            connector_sdk::CallRequest { op: "events".into(), body: call.clone(), ..Default::default() };
        let started = Instant::now();
        let answer = surface::calendar::changes::<Dav>(&host, request).expect("a page");
        let taken = started.elapsed();
        host.requests.borrow_mut().clear();
        assert!(answer.body.len() > call.len(), "the page holds something");
        println!("{}", taken.as_nanos());
    }
}
