//! Rows of a list as they come: server-sent events (WHATWG HTML, section 9.2) that the script of the page puts above the others.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderName, HeaderValue, header};
use service::locale::html::Html;
use service::webhooks::live_list::{LiveList, LivePiece};
use storage::webhooks::replay_lines::TimedLine;

/// Tells reverse proxies to pass on each piece at once.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Lets a browser open the list again after two seconds.
const RETRY: &str = "retry: 2000\n";

/// Makes the row of an event.
pub type RowFn = Box<dyn Fn(&TimedLine) -> Html + Send + Sync>;

/// A list that is watched, with the rows that its events have on the page.
pub struct LiveRows {
    pub list: LiveList,
    pub row: RowFn,
}

impl LiveRows {
    /// The response, whose body goes on as long as the list.
    pub fn response(self) -> Response {
        let row = self.row;
        let pieces = self.list.pieces().map(move |piece| Ok::<_, Infallible>(encode(&piece, &*row)));
        let mut response = Response::new(Body::from_stream(pieces));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
        response
    }
}

/// A piece as the browser receives it.
fn encode(piece: &LivePiece, row: &dyn Fn(&TimedLine) -> Html) -> Bytes {
    let text = match piece {
        LivePiece::Lines(lines, position) => {
            let mut text = format!("id: {position}\nevent: rows\n");
            for timed in lines {
                append_data(&mut text, row(timed).as_str());
            }
            text
        }
        LivePiece::Beat(position) => format!("{RETRY}id: {position}\n"),
        LivePiece::Again => RETRY.to_owned(),
        LivePiece::Over => "event: over\ndata: over\n".to_owned(),
    };
    Bytes::from(text + "\n")
}

/// Appends markup, each line of it as one of `data`.
fn append_data(text: &mut String, markup: &str) {
    for line in markup.split(['\n', '\r']).filter(|line| !line.is_empty()) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::log::Light;

    fn line(resource_id: &str) -> TimedLine {
        let line = Light {
            sequence: 7,
            id: "ev_1".to_owned(),
            connection_id: None,
            account_ids: None,
            entry_type: "task.created".to_owned(),
            resource_id: resource_id.to_owned(),
            origin: "api".to_owned(),
        };
        TimedLine { line, at: 0 }
    }

    fn text(piece: &LivePiece) -> String {
        let row = |timed: &TimedLine| {
            let mut html = Html::default();
            html.raw("<tr>\n").text(&timed.line.resource_id).raw("</tr>\n");
            html
        };
        String::from_utf8(encode(piece, &row).to_vec()).unwrap()
    }

    #[test]
    fn a_piece_is_one_event_whatever_its_rows_hold() {
        let lines = vec![line("tsk_2"), line("x\n\nevent: over\rdata: y")];
        assert_eq!(
            text(&LivePiece::Lines(lines, 9)),
            "id: 9\nevent: rows\ndata: <tr>\ndata: tsk_2</tr>\ndata: <tr>\ndata: x\ndata: event: overdata: y</tr>\n\n"
        );
        assert_eq!(text(&LivePiece::Beat(9)), "retry: 2000\nid: 9\n\n");
        assert_eq!(text(&LivePiece::Again), "retry: 2000\n\n");
        assert_eq!(text(&LivePiece::Over), "event: over\ndata: over\n\n");
    }
}
