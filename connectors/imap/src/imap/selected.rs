//! A selected mailbox, with the data in the responses to the selection.

use io_imap::types::flag::FlagPerm;
use io_imap::types::response::{Code, Data};
use serde::{Deserialize, Serialize};

use crate::imap::response::{Response, Status};

/// A mailbox that is selected, as the server described it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectedMailbox {
    /// Decoded name.
    #[serde(rename = "n")]
    pub name: String,
    #[serde(rename = "v")]
    pub uid_validity: u32,
    /// EXAMINE was used, or the server says READ-ONLY.
    #[serde(rename = "r")]
    pub read_only: bool,
    /// Flags that can be changed for good, lower case; `\*` for any keyword.
    #[serde(rename = "p")]
    pub permanent_flags: Vec<String>,
    #[serde(skip)]
    pub exists: u32,
    #[serde(skip)]
    pub uid_next: Option<u32>,
    /// None: the mailbox has no modification sequences.
    #[serde(skip)]
    pub highest_modseq: Option<u64>,
}

impl SelectedMailbox {
    /// Stores the data of a response to the selection.
    pub fn learn(&mut self, response: &Response<'_>) {
        match response {
            Response::Data(Data::Exists(count)) => self.exists = *count,
            Response::Status(Status { code: Some(code), .. }) => match code {
                Code::UidValidity(number) => self.uid_validity = number.get(),
                Code::UidNext(number) => self.uid_next = Some(number.get()),
                Code::HighestModSeq(number) => self.highest_modseq = Some(number.get()),
                Code::PermanentFlags(flags) => {
                    self.permanent_flags = flags.iter().take(200).map(permanent_flag).collect();
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// The keyword (lower case) can be set for good here.
    pub fn takes_keyword(&self, keyword: &str) -> bool {
        self.permanent_flags.iter().any(|flag| flag == "\\*" || flag == keyword)
    }
}

fn permanent_flag(flag: &FlagPerm<'_>) -> String {
    match flag {
        FlagPerm::Flag(flag) => flag.to_string().to_lowercase(),
        FlagPerm::Asterisk => "\\*".to_owned(),
    }
}
