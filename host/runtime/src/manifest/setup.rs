//! `[[setup]]`: the steps by which an operator gets a client at the provider. They are texts for people: nothing that a connector may do
//! comes from them.

use anyhow::{anyhow, ensure};
use serde::{Deserialize, Serialize};

use crate::http_url;

/// Steps of one provider at most, and characters of the text of one.
const MAX_STEPS: usize = 20;
const MAX_STEP_TEXT: usize = 500;

/// A step by which an operator gets ready for a provider. Steps are shown in the order of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupStep {
    /// One or two sentences.
    pub text: String,
    /// The provider's page for the step, an https URL. Default: none.
    #[serde(default)]
    pub link: Option<String>,
    /// The value that people copy at this step. Default: none.
    #[serde(default)]
    pub copy: Option<SetupCopy>,
}

/// A value that an operator enters at the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupCopy {
    /// The address to which the provider sends users back.
    Callback,
}

/// Checks all steps. `has_callback`: users return to an address, because accounts are opened by OAuth.
pub(super) fn check(steps: &[SetupStep], has_callback: bool) -> anyhow::Result<()> {
    let count = steps.len();
    ensure!(count <= MAX_STEPS, "setup: has {count} steps, at most {MAX_STEPS} are allowed");
    for (at, step) in steps.iter().enumerate() {
        let has_words = step.text.contains(char::is_alphanumeric);
        ensure!(has_words, "setup[{at}].text: must have a letter or a digit");
        let length = step.text.chars().count();
        ensure!(
            length <= MAX_STEP_TEXT,
            "setup[{at}].text: has {length} characters, at most {MAX_STEP_TEXT} are allowed"
        );
        if let Some(link) = &step.link {
            // A browser reads `https:a` as a path of the page that it stands on.
            ensure!(link.starts_with("https://"), "setup[{at}].link: must begin with https://");
            http_url::parse(link).map_err(|why| anyhow!("setup[{at}].link: {why}"))?;
        }
        let is_callback = step.copy == Some(SetupCopy::Callback);
        ensure!(
            has_callback || !is_callback,
            "setup[{at}].copy: there is no callback address without \"oauth\" in auth.kinds"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;

    const HEAD: &str = "name = \"notes\"\nversion = \"0.1.0\"\ntitle = \"Notes\"\nsurfaces = [\"tasks@1.0.0\"]\n\
                        [auth]\nkinds = [\"oauth\"]\nauthorize_url = \"https://notes.example/authorize\"\n\
                        token_url = \"https://notes.example/token\"\n";

    fn manifest(steps: &str) -> anyhow::Result<Manifest> {
        Manifest::parse(&format!("{HEAD}{steps}"))
    }

    fn refusal(steps: &str) -> String {
        format!("{:#}", manifest(steps).expect_err("it is refused"))
    }

    #[test]
    fn steps_are_read_in_their_order() {
        let steps = "[[setup]]\ntext = \"Create a project.\"\nlink = \"https://console.notes.example/new?from=a\"\n\
                     [[setup]]\ntext = \"Enter this address.\"\ncopy = \"callback\"\n";
        let read = manifest(steps).expect("a manifest");
        let first = SetupStep {
            text: "Create a project.".to_owned(),
            link: Some("https://console.notes.example/new?from=a".to_owned()),
            copy: None,
        };
        let second =
            SetupStep { text: "Enter this address.".to_owned(), link: None, copy: Some(SetupCopy::Callback) };
        assert_eq!(read.setup, [first, second]);
        assert!(manifest("").expect("a manifest").setup.is_empty(), "a manifest needs no steps");
    }

    /// The links of a manifest become links of a page: nothing else than an address of a page is taken.
    #[test]
    fn links_are_https() {
        for wrong in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "http://notes.example/",
            "//notes.example/",
            "/admin/",
            "https:notes",
            "https://user@notes.example/",
            "https://notes.example/#x",
            "https://notes.example/a b",
            "https:\\\\\\\\notes.example",
            "",
        ] {
            let error = refusal(&format!("[[setup]]\ntext = \"Open it.\"\nlink = \"{wrong}\"\n"));
            assert!(error.contains("setup[0].link"), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn a_fault_of_a_step_names_its_field() {
        for (steps, said) in [
            ("[[setup]]\ntext = \"…\"\n".to_owned(), "setup[0].text: must have a letter or a digit"),
            (
                format!("[[setup]]\ntext = \"a\"\n[[setup]]\ntext = \"{}\"\n", "ü".repeat(501)),
                "setup[1].text: has 501 characters, at most 500",
            ),
            (
                "[[setup]]\ntext = \"a\"\ncopy = \"secret\"\n".to_owned(),
                "setup[0].copy: \"secret\" is not known; use \"callback\"",
            ),
            ("[[setup]]\ntext = \"a\"\nurl = \"https://a.example\"\n".to_owned(), "url"),
            ("[[setup]]\ntext = \"a\\u202Eb\"\n".to_owned(), "setup[0].text: the character U+202E"),
            ("[[setup]]\ntext = \"a\"\n".repeat(21), "setup: has 21 steps, at most 20"),
        ] {
            let error = refusal(&steps);
            assert!(error.contains(said), "{steps}: {error}");
        }
        let longest = format!("[[setup]]\ntext = \"{}\"\n", "ü".repeat(500));
        assert!(manifest(&longest).is_ok());
        let basic = "name = \"notes\"\nversion = \"0.1.0\"\ntitle = \"Notes\"\nsurfaces = [\"tasks@1.0.0\"]\n\
                     auth = { kind = \"basic\" }\n[[setup]]\ntext = \"a\"\n";
        assert!(Manifest::parse(basic).is_ok());
        let error = Manifest::parse(&format!("{basic}copy = \"callback\"\n")).expect_err("it is refused");
        assert!(format!("{error:#}").contains("setup[0].copy: there is no callback address"), "{error:#}");
    }
}
