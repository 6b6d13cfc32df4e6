//! The extract of Microsoft's own client (tests/peers/graph_oracle.py): judges a request to Graph by its path, verb, parameters and body,
//! and an answer by its model.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::oracle::odata_models::OdataModels;
use crate::oracle::schema::Misfit;
use crate::oracle::{Side, Violation};

/// Parameters that links in answers bring, which no description has.
const TOKENS: [&str; 2] = ["$skiptoken", "$deltatoken"];

/// The extract.
pub struct Odata {
    methods: Vec<OdataMethod>,
    models: OdataModels,
}

/// A verb on a path.
#[derive(Clone, Debug)]
pub struct OdataMethod {
    /// As in `GET users/{}/messages`.
    pub id: String,
    verb: String,
    path: Vec<String>,
    query: Vec<String>,
    body: Option<String>,
    answer: Option<String>,
}

/// A verb as the extract has it.
#[derive(Deserialize)]
struct MethodText {
    query: Vec<String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    answer: Option<String>,
}

/// A request to be judged.
#[derive(Clone, Copy, Debug)]
pub struct OdataRequest<'r> {
    pub verb: &'r str,
    /// The path behind the version, with brackets and casts taken away, beginning with `users` or `subscriptions`.
    pub path: &'r [String],
    pub query: &'r [(String, String)],
    /// The body, where it is JSON.
    pub body: Option<&'r Value>,
}

/// Loads the extract.
///
/// # Errors
/// The file is missing, or it is no extract.
pub fn load_extract(file: &Path) -> Result<Odata> {
    let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    Odata::parse(&text).with_context(|| format!("{} is no extract of Graph", file.display()))
}

impl Odata {
    /// Parses an extract.
    ///
    /// # Errors
    /// The text is no JSON, or it has no methods.
    pub fn parse(text: &str) -> Result<Odata> {
        let mut extract: Value = serde_json::from_str(text)?;
        let mut methods = Vec::new();
        for (path, verbs) in extract["paths"].as_object().context("no paths")? {
            for (verb, method) in verbs.as_object().context("no verbs")? {
                let method = MethodText::deserialize(method)?;
                methods.push(OdataMethod {
                    id: format!("{verb} {path}"),
                    verb: verb.clone(),
                    path: path.split('/').map(str::to_owned).collect(),
                    query: method.query,
                    body: method.body,
                    answer: method.answer,
                });
            }
        }
        anyhow::ensure!(!methods.is_empty(), "no methods");
        let models = OdataModels::new(extract["models"].take(), extract["enums"].take());
        Ok(Odata { methods, models })
    }

    /// Finds the method of a path. Of two that fit, the one with more fixed segments wins.
    pub fn find(&self, verb: &str, path: &[String]) -> Option<&OdataMethod> {
        let fits = self.methods.iter().filter(|method| method.verb == verb && method.fits(path));
        fits.min_by_key(|method| method.path.iter().filter(|segment| *segment == "{}").count())
    }

    /// Judges a request.
    ///
    /// # Errors
    /// The extract has no such path, verb, parameter or member, or a value that it forbids.
    pub fn request(&self, request: OdataRequest<'_>) -> Result<&OdataMethod, Violation> {
        let unknown = || Violation {
            side: Side::Request,
            place: format!("{} /{}", request.verb, request.path.join("/")),
            fault: "no such path and verb".to_owned(),
        };
        let method = self.find(request.verb, request.path).ok_or_else(unknown)?;
        let violation = |misfit: Misfit| Violation {
            side: Side::Request,
            place: format!("{}: {}", method.id, misfit.at),
            fault: misfit.fault,
        };
        for (index, (name, value)) in request.query.iter().enumerate() {
            let at = format!("query.{name}");
            let fault = |fault: &str| violation(Misfit { at: at.clone(), fault: fault.to_owned() });
            let is_token = request.verb == "GET" && TOKENS.contains(&name.as_str());
            if !is_token && !method.query.contains(name) {
                return Err(fault("unknown parameter"));
            }
            if request.query.iter().take(index).any(|(before, _)| before == name) {
                return Err(fault("given twice"));
            }
            self.check_parameter(method, name, value)
                .map_err(|text| violation(Misfit { at, fault: text }))?;
        }
        match (&method.body, request.body) {
            (Some(kind), Some(body)) if kind != "bytes" => {
                self.models.check(Side::Request, kind, body).map_err(violation)?;
            }
            (None, Some(body)) if body.as_object().is_none_or(|members| !members.is_empty()) => {
                let fault = "takes no body".to_owned();
                return Err(violation(Misfit { at: "body".to_owned(), fault }));
            }
            _ => {}
        }
        Ok(method)
    }

    /// Judges the answer of a method; `body` is none where it has no JSON in it.
    ///
    /// # Errors
    /// The model has no such member, or a value that it forbids; or there is an answer where the method has none.
    pub fn answer(&self, method: &OdataMethod, body: Option<&Value>) -> Result<(), Violation> {
        let violation = |misfit: Misfit| Violation {
            side: Side::Answer,
            place: format!("{}: {}", method.id, misfit.at),
            fault: misfit.fault,
        };
        let whole = |fault: &str| violation(Misfit { at: "body".to_owned(), fault: fault.to_owned() });
        match (method.answer.as_deref(), body) {
            // Lengths of lists are plain text.
            (None | Some("bytes" | "integer"), None) => Ok(()),
            (Some("bytes" | "integer"), Some(_)) => Err(whole("JSON where the method answers none")),
            (Some(kind), Some(body)) => self.models.check(Side::Answer, kind, body).map_err(violation),
            (None, Some(_)) => Err(whole("the method answers no body")),
            (Some(_), None) => Err(whole("missing")),
        }
    }

    fn check_parameter(&self, method: &OdataMethod, name: &str, value: &str) -> Result<(), String> {
        match name {
            "$top" | "$skip" => match value.parse::<u32>() {
                Ok(_) => Ok(()),
                Err(_) => Err(format!("number expected, got {value:?}")),
            },
            "$count" if value != "true" && value != "false" => {
                Err(format!("boolean expected, got {value:?}"))
            }
            "$select" => self.check_names(method, value.split(',')),
            "$expand" => self.check_names(method, outer_names(value).into_iter()),
            _ => Ok(()),
        }
    }

    /// Checks that the items of an answer have members of these names.
    fn check_names<'n>(
        &self,
        method: &OdataMethod,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<(), String> {
        let item = method.answer.as_deref().and_then(|answer| self.models.item_of(answer));
        let Some(item) = item else { return Ok(()) };
        for name in names.map(str::trim) {
            if !self.models.has_path(&item, name) {
                return Err(format!("{item} has no member {name}"));
            }
        }
        Ok(())
    }
}

impl OdataMethod {
    /// Whether a body of another kind than JSON may stand in the place of this one: messages can be MIME.
    pub fn takes_mime(&self) -> bool {
        let ends = [
            "messages",
            "sendMail",
            "reply",
            "replyAll",
            "forward",
            "createReply",
            "createReplyAll",
            "createForward",
        ];
        self.verb == "POST" && self.path.last().is_some_and(|last| ends.contains(&last.as_str()))
    }

    /// Whether the body is bytes.
    pub fn takes_bytes(&self) -> bool {
        self.body.as_deref() == Some("bytes")
    }

    fn fits(&self, path: &[String]) -> bool {
        self.path.len() == path.len()
            && self.path.iter().zip(path).all(|(pattern, segment)| fits_segment(pattern, segment))
    }
}

/// Whether a segment has the form of a pattern, as in `reminderView(StartDateTime={},EndDateTime={})`.
fn fits_segment(pattern: &str, segment: &str) -> bool {
    let Some((first, others)) = pattern.split_once("{}") else { return pattern == segment };
    let Some(mut rest) = segment.strip_prefix(first) else { return false };
    let Some((middle, last)) = others.rsplit_once("{}") else { return rest.ends_with(others) };
    for part in middle.split("{}") {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// The names in a value of `$expand`, without what stands in brackets behind them.
fn outer_names(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| part.split('(').next().unwrap_or(part)).collect()
}
