//! The mailbox: its content, and a message that is written, sent to oneself, received, moved and deleted.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::demo::walk::{Walk, list, text};

/// The time limit until a message to oneself arrives.
const DELIVERY: Duration = Duration::from_secs(60);

impl Walk {
    /// Lists, writes a draft with a file, sends it, and finds it again as its recipient.
    pub fn write_to_oneself(&mut self) -> Result<()> {
        let connection = self.connection().to_owned();
        let path = format!("/v1/email/folders?connection_id={connection}");
        let folders = self.ask("List the folders", "GET", &path, &[], None)?.expect(&[200])?;
        let with_role = |role: &str| list(&folders).ok()?.iter().find(|f| f["role"] == role).cloned();
        ensure!(with_role("inbox").is_some(), "there is no inbox");
        let path = format!("/v1/email/messages?connection_id={connection}&limit=3");
        self.ask("The newest messages", "GET", &path, &[], None)?.expect(&[200])?;
        let subject = format!("Switchboard demo {}", std::process::id());
        let mut draft = json!({
            "connectionId": connection,
            "to": [{ "email": self.address() }],
            "subject": subject,
            "body": { "text": "See the file.", "html": "<p>See the <b>file</b>.</p>" },
            "attachments": [{ "filename": "notes.txt", "contentType": "text/plain", "contentBase64": "bm90ZXM=" }],
        });
        if !self.is_address_known() {
            draft["from"] = json!([{ "email": self.address() }]);
        }
        let draft =
            self.ask("Write a draft", "POST", "/v1/email/drafts", &[], Some(&draft))?.expect(&[201])?;
        ensure!(draft["status"] == "draft", "the draft is none");
        let path = format!("/v1/email/drafts/{}/send", text(&draft, "id")?);
        let sent = self.ask("Send it", "POST", &path, &[("idempotency-key", "demo-send-1")], None)?;
        let sent = sent.expect(&[202])?;
        let again = self.ask("Send it again: refused", "POST", &path, &[], None)?.expect(&[409])?;
        ensure!(again["error"]["code"] == "draft_already_sent", "the code is not draft_already_sent");
        let id = text(&sent, "id")?;
        let delivered = self.until("How far did it get?", &format!("/v1/email/messages/{id}"), |m| {
            Some(m["delivery"]["state"] == "sent")
        })?;
        ensure!(delivered["delivery"]["recipients"][0]["status"] == "accepted", "no recipient was accepted");
        self.receive(&subject, &with_role)?;
        let path = format!("/v1/email/messages/{id}?permanent=true");
        self.ask("Destroy the copy that was sent", "DELETE", &path, &[], None)?.expect(&[204])?;
        Ok(())
    }

    /// Finds the message in the inbox, fetches its file, moves it to the trash, and destroys it.
    fn receive(&mut self, subject: &str, with_role: &dyn Fn(&str) -> Option<Value>) -> Result<()> {
        let inbox = text(&with_role("inbox").context("there is no inbox")?, "id")?;
        let query = subject.replace(' ', "+");
        let path = format!(
            "/v1/email/messages?connection_id={}&folder_id={inbox}&subject={query}&limit=1",
            self.connection()
        );
        let arrived = self.until("Has it arrived?", &path, |page| Some(!list(page).ok()?.is_empty()))?;
        let message = &list(&arrived)?[0];
        let path = format!("/v1/email/messages/{}", text(message, "id")?);
        let message = self.ask("Read it", "GET", &path, &[], None)?.expect(&[200])?;
        ensure!(message["body"]["safeHtml"].is_string(), "there is nothing that can be shown");
        let file = text(&message["attachments"][0], "downloadUrl")?;
        let file = self.ask("Its file", "GET", &file, &[], None)?.expect(&[200])?;
        ensure!(file["contentBase64"] == "bm90ZXM=", "the file is another one");
        let body = json!({ "unread": false, "starred": true, "etag": message["etag"] });
        let read = self.ask("Mark it", "PATCH", &path, &[], Some(&body))?.expect(&[200])?;
        ensure!(read["starred"] == true && read["unread"] == false, "the marks are not there");
        self.ask("Into the trash", "DELETE", &path, &[], None)?.expect(&[204])?;
        self.ask("And gone", "DELETE", &path, &[], None)?.expect(&[204])?;
        self.ask("Read it: not found", "GET", &path, &[], None)?.expect(&[404])?;
        Ok(())
    }

    /// Repeats a request until the answer is as expected.
    pub fn until(
        &mut self,
        title: &str,
        path: &str,
        is_so: impl Fn(&Value) -> Option<bool>,
    ) -> Result<Value> {
        let start = Instant::now();
        loop {
            let answer =
                self.ask(title, "GET", path, &[("cache-control", "no-cache")], None)?.expect(&[200])?;
            if is_so(&answer) == Some(true) {
                return Ok(answer);
            }
            if start.elapsed() > DELIVERY {
                bail!("not so after {} s", DELIVERY.as_secs());
            }
            sleep(Duration::from_millis(300));
        }
    }
}
