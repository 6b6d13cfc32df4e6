//! A Google discovery document: judges a request by its path, method, parameters and body, and an answer by its schema.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::oracle::schema::{Misfit, Schemas, check_parameter};
use crate::oracle::{Side, Violation};

/// A discovery document.
pub struct Discovery {
    document: Value,
    service_path: String,
    methods: Vec<DiscoveryMethod>,
}

/// A method of a discovery document.
#[derive(Clone, Debug)]
pub struct DiscoveryMethod {
    /// As in `calendar.events.list`.
    pub id: String,
    /// Scopes of which a token needs one.
    pub scopes: Vec<String>,
    verb: String,
    path: Vec<PathSegment>,
    parameters: Value,
    request: Option<String>,
    response: Option<String>,
}

#[derive(Clone, Debug)]
enum PathSegment {
    Text(String),
    Parameter(PathParameter),
}

/// A parameter of a path: one segment, or as many as its pattern has, as in `^people/[^/]+$`.
#[derive(Clone, Debug)]
struct PathParameter {
    name: String,
    /// The fixed segments at its beginning.
    prefix: Vec<String>,
    /// The fixed text behind it in its last segment, as in `:updateContact`.
    suffix: String,
}

/// A method of the document, and the parameters that a path gives it.
#[derive(Clone, Debug)]
pub struct MatchedCall<'d> {
    pub method: &'d DiscoveryMethod,
    pub path: BTreeMap<String, String>,
}

/// Loads the document `name`, such as `calendar.v3`, from a folder.
///
/// # Errors
/// The file is missing, or it is no discovery document.
pub fn load(folder: &Path, name: &str) -> Result<Discovery> {
    let file = folder.join(format!("{name}.json"));
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    Discovery::parse(&text).with_context(|| format!("{} is no discovery document", file.display()))
}

impl Discovery {
    /// Parses a document.
    ///
    /// # Errors
    /// The text is no JSON, or it has no methods.
    pub fn parse(text: &str) -> Result<Discovery> {
        let document: Value = serde_json::from_str(text)?;
        let service_path = document["servicePath"].as_str().context("no servicePath")?.to_owned();
        let mut methods = Vec::new();
        collect(&document, &mut methods);
        anyhow::ensure!(!methods.is_empty(), "no methods");
        Ok(Discovery { document, service_path, methods })
    }

    /// Finds the method of a path that begins with the document's service path; `segments` are percent-decoded. Of two that fit, the one
    /// with more fixed segments wins.
    pub fn find(&self, verb: &str, segments: &[String]) -> Option<MatchedCall<'_>> {
        let service: Vec<&str> = self.service_path.split('/').filter(|part| !part.is_empty()).collect();
        let (prefix, rest) = segments.split_at_checked(service.len())?;
        if prefix != service.as_slice() {
            return None;
        }
        let fits = self.methods.iter().filter(|method| method.verb == verb);
        let matches = fits.filter_map(|method| Some(MatchedCall { method, path: method.match_path(rest)? }));
        matches.min_by_key(|call| call.path.len())
    }

    /// Judges a request.
    ///
    /// # Errors
    /// The document has no such method, parameter or member, or a value that it forbids.
    pub fn request(
        &self,
        verb: &str,
        segments: &[String],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Result<MatchedCall<'_>, Violation> {
        let unknown = || Violation {
            side: Side::Request,
            place: format!("{verb} /{}", segments.join("/")),
            fault: "the document has no such method".to_owned(),
        };
        let call = self.find(verb, segments).ok_or_else(unknown)?;
        let method = call.method;
        let violation = |at: &str, fault: String| Violation {
            side: Side::Request,
            place: format!("{}: {at}", method.id),
            fault,
        };
        let of_misfit = |misfit: Misfit| violation(&misfit.at, misfit.fault);
        for (name, value) in &call.path {
            check_parameter(&method.parameters[name.as_str()], value, &format!("path.{name}"))
                .map_err(of_misfit)?;
        }
        for (at, (name, value)) in query.iter().enumerate() {
            let own = method.parameters.get(name).filter(|spec| spec["location"] == "query");
            let Some(spec) = own.or_else(|| self.document["parameters"].get(name)) else {
                return Err(violation(&format!("query.{name}"), "unknown parameter".to_owned()));
            };
            let is_second = query.iter().take(at).any(|(before, _)| before == name);
            if is_second && spec["repeated"] != true {
                return Err(violation(&format!("query.{name}"), "given twice".to_owned()));
            }
            check_parameter(spec, value, &format!("query.{name}")).map_err(of_misfit)?;
        }
        for (name, spec) in method.parameters.as_object().into_iter().flatten() {
            let is_missing = spec["location"] == "query"
                && spec["required"] == true
                && !query.iter().any(|(given, _)| given == name);
            if is_missing {
                return Err(violation(&format!("query.{name}"), "missing".to_owned()));
            }
        }
        let schemas = Schemas { schemas: &self.document["schemas"], side: Side::Request };
        match (&method.request, body) {
            (Some(name), Some(body)) => schemas.check_named(name, body).map_err(of_misfit)?,
            (None, Some(_)) => return Err(violation("body", "this method takes no body".to_owned())),
            (_, None) => {}
        }
        Ok(call)
    }

    /// Judges an answer with a status of success; `body` is none where it is empty.
    ///
    /// # Errors
    /// The body has a member or a value that the document forbids, or there is one where none belongs.
    pub fn answer(&self, method: &DiscoveryMethod, body: Option<&Value>) -> Result<(), Violation> {
        let violation = |at: &str, fault: String| Violation {
            side: Side::Answer,
            place: format!("{}: {at}", method.id),
            fault,
        };
        let schemas = Schemas { schemas: &self.document["schemas"], side: Side::Answer };
        match (&method.response, body) {
            (Some(name), Some(body)) => {
                schemas.check_named(name, body).map_err(|misfit| violation(&misfit.at, misfit.fault))
            }
            (None, None) => Ok(()),
            (Some(_), None) => Err(violation("body", "missing".to_owned())),
            (None, Some(_)) => Err(violation("body", "this method answers none".to_owned())),
        }
    }

    /// The schemas of the document, by name.
    pub fn schemas(&self) -> &Value {
        &self.document["schemas"]
    }

    /// The name of the schema of a method's answer; none where it has no body.
    pub fn response_schema<'m>(&self, method: &'m DiscoveryMethod) -> Option<&'m str> {
        method.response.as_deref()
    }

    /// The most bytes that a method takes by its upload route; none where it has no such route.
    pub fn upload_limit(&self, method: &DiscoveryMethod) -> Option<usize> {
        let upload = &find_spec(&self.document, &method.id)?["mediaUpload"];
        upload["maxSize"].as_str().and_then(|text| text.parse().ok())
    }

    /// The method with this id.
    pub fn method(&self, id: &str) -> Option<&DiscoveryMethod> {
        self.methods.iter().find(|method| method.id == id)
    }
}

impl DiscoveryMethod {
    fn match_path(&self, segments: &[String]) -> Option<BTreeMap<String, String>> {
        let mut parameters = BTreeMap::new();
        let mut rest = segments;
        for wanted in &self.path {
            rest = match wanted {
                PathSegment::Text(text) => rest.split_first().filter(|(given, _)| *given == text)?.1,
                PathSegment::Parameter(parameter) => {
                    let (value, behind) = parameter.take(rest)?;
                    parameters.insert(parameter.name.clone(), value);
                    behind
                }
            };
        }
        rest.is_empty().then_some(parameters)
    }
}

impl PathSegment {
    /// Parses a segment of a method's path, such as `{+resourceName}:updateContact`.
    fn parse(segment: &str, parameters: &Value) -> PathSegment {
        let parts = segment.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, suffix)) = parts else { return PathSegment::Text(segment.to_owned()) };
        let name = name.trim_start_matches('+');
        let pattern = parameters[name]["pattern"].as_str().unwrap_or_default();
        let fixed =
            pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix("/[^/]+$")).unwrap_or_default();
        let prefix = fixed.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        PathSegment::Parameter(PathParameter { name: name.to_owned(), prefix, suffix: suffix.to_owned() })
    }
}

impl PathParameter {
    /// The value that the first segments give the parameter, and the segments behind them.
    fn take<'s>(&self, segments: &'s [String]) -> Option<(String, &'s [String])> {
        let (prefix, rest) = segments.split_at_checked(self.prefix.len())?;
        let (last, behind) = rest.split_first()?;
        let own = last.strip_suffix(self.suffix.as_str()).filter(|own| !own.is_empty())?;
        let mut value = prefix.to_vec();
        value.push(own.to_owned());
        (prefix == self.prefix).then(|| (value.join("/"), behind))
    }
}

/// Finds the document's description of a method, in a resource or in those inside it.
fn find_spec<'d>(resource: &'d Value, id: &str) -> Option<&'d Value> {
    let mut own = resource["methods"].as_object().into_iter().flat_map(|all| all.values());
    let mut inner = resource["resources"].as_object().into_iter().flat_map(|all| all.values());
    own.find(|spec| spec["id"] == id).or_else(|| inner.find_map(|resource| find_spec(resource, id)))
}

/// Collects the methods of a resource and of the resources inside it.
fn collect(resource: &Value, methods: &mut Vec<DiscoveryMethod>) {
    for spec in resource["methods"].as_object().into_iter().flat_map(|all| all.values()) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let path = spec["path"].as_str().unwrap_or_default().split('/');
        let path = path.map(|segment| PathSegment::parse(segment, &spec["parameters"]));
        methods.push(DiscoveryMethod {
            id: text(&spec["id"]).unwrap_or_default(),
            scopes: spec["scopes"].as_array().into_iter().flatten().filter_map(text).collect(),
            verb: text(&spec["httpMethod"]).unwrap_or_default(),
            path: path.collect(),
            parameters: spec["parameters"].clone(),
            request: text(&spec["request"]["$ref"]),
            response: text(&spec["response"]["$ref"]),
        });
    }
    for inner in resource["resources"].as_object().into_iter().flat_map(|all| all.values()) {
        collect(inner, methods);
    }
}
