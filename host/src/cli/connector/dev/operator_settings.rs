//! Values of a connector's operator settings, which the author gives here: the host reads them from a registration.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, ensure};
use authoring::Fault;
use base::ids::Kind;
use runtime::{LIMITS_SETTING, Manifest};
use serde_json::{Map, Value, json};
use service::app::App;
use service::manage::providers::inputs::Setting;
use storage::oauth_clients::{self, OAuthClient};
use storage::{Db, api_keys};

/// The client id of the registration that holds the values.
const CLIENT_ID: &str = "connector-dev";

/// The settings of a connector with `operator = true`, and their given values.
#[derive(Debug)]
pub struct OperatorSettings {
    /// Names of all such settings, and `limits` if the connector has some.
    names: Vec<String>,
    /// None: a value of an earlier start is removed.
    values: BTreeMap<String, Option<Value>>,
}

impl OperatorSettings {
    /// Moves the operator's settings out of those of the project, and adds those of the command line, which take precedence. Fails for a
    /// setting that is not the operator's, and for limits that the connector does not have.
    pub fn take(
        manifest: &Manifest,
        project: &mut Map<String, Value>,
        given: &[Setting],
    ) -> Result<OperatorSettings> {
        let settings = manifest.settings.iter().filter(|setting| setting.operator);
        let mut names: Vec<String> = settings.map(|setting| setting.name.clone()).collect();
        let mut values = BTreeMap::new();
        for name in &names {
            values.extend(project.remove(name).map(|value| (name.clone(), Some(value))));
        }
        if !manifest.limits.is_empty() {
            names.push(LIMITS_SETTING.to_owned());
        }
        for setting in given {
            if !names.contains(&setting.name) {
                let text = format!("--setting: {} is not a setting with operator = true", setting.name);
                let remedy = "give users' settings in project.toml: [test] settings = { name = \"value\" }";
                return Err(Fault::new(text, remedy).into());
            }
            if let Some(figures) = setting.figures() {
                let fit = manifest.limits.with_figures(figures);
                fit.map_err(|e| anyhow!("--setting: {LIMITS_SETTING}: {e:#}"))?;
            }
            values.insert(setting.name.clone(), setting.value.clone());
        }
        Ok(OperatorSettings { names, values })
    }

    /// Sets a value for an operator setting without one.
    pub fn set_default(&mut self, name: &str, value: &str) {
        if self.names.iter().any(|own| own == name) {
            self.values.entry(name.to_owned()).or_insert_with(|| Some(json!(value)));
        }
    }

    /// Writes the values into the registration of the provider for the application of this key. Values of earlier starts that are not given
    /// now stay.
    pub async fn register(&self, app: &App, key: &str, provider: &str) -> Result<()> {
        if self.values.is_empty() {
            return Ok(());
        }
        let found = api_keys::by_hash(app.db.reader(), &app.keyring.api_key_hash(key)).await?;
        let tenant = found.context("the project's API key is gone")?.tenant;
        let found = oauth_clients::find(app.db.reader(), &tenant, provider).await?;
        let (is_new, now) = (found.is_none(), app.now());
        let mut client = found.unwrap_or_else(|| OAuthClient {
            id: app.new_id(Kind::OAuthClient),
            tenant,
            provider: provider.to_owned(),
            client_id: CLIENT_ID.to_owned(),
            client_secret: None,
            client_auth: Some("none".to_owned()),
            settings: Map::new(),
            endpoints: Map::new(),
            scopes: Map::new(),
            version: 1,
            disabled_at: None,
            created_at: now,
            updated_at: now,
        });
        client.updated_at = now;
        self.put_into(&mut client.settings);
        let is_written = write(&app.db, client, is_new).await?;
        ensure!(
            is_written,
            "another command changed the registration meanwhile; start `connector dev` again"
        );
        Ok(())
    }

    fn put_into(&self, settings: &mut Map<String, Value>) {
        for (name, value) in &self.values {
            match value {
                Some(value) => settings.insert(name.clone(), value.clone()),
                None => settings.remove(name),
            };
        }
    }
}

/// Writes a registration. False: another command has changed it.
async fn write(db: &Db, client: OAuthClient, is_new: bool) -> Result<bool> {
    db.write(move |tx| {
        Box::pin(async move {
            match is_new {
                true => oauth_clients::insert(tx, &client).await,
                false => oauth_clients::update(tx, &client).await,
            }
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use service::manage::providers::inputs::setting;

    fn manifest() -> Manifest {
        Manifest::parse(
            r#"
            name = "notes"
            version = "1.0.0"
            title = "Notes"
            surfaces = ["tasks"]
            hosts = [{ host = "api.example.com" }]
            [[settings]]
            name = "topic"
            operator = true
            description = "."
            [[settings]]
            name = "serverUrl"
            operator = true
            description = "."
            [[settings]]
            name = "folder"
            description = "."
            [limits]
            rates = [{ name = "notes", surfaces = ["tasks"], units = 10, per_s = 60 }]
            "#,
        )
        .expect("a manifest")
    }

    fn taken(project: Value, given: &[&str]) -> Result<(OperatorSettings, Value)> {
        let mut project = project.as_object().expect("an object").clone();
        let given: Vec<Setting> = given.iter().map(|text| setting(text).expect("a setting")).collect();
        let operator = OperatorSettings::take(&manifest(), &mut project, &given)?;
        Ok((operator, Value::Object(project)))
    }

    fn registered(operator: &OperatorSettings, before: Value) -> Value {
        let mut settings = before.as_object().expect("an object").clone();
        operator.put_into(&mut settings);
        Value::Object(settings)
    }

    #[test]
    fn settings_of_the_operator_are_registered_and_no_users() {
        let project = json!({ "topic": "projects/mine/topics/old", "folder": "inbox" });
        let given = ["topic=projects/mine/topics/mail", "limits={\"notes\":{\"units\":5}}"];
        let (mut operator, users) = taken(project, &given).expect("settings");
        assert_eq!(users, json!({ "folder": "inbox" }));
        operator.set_default("serverUrl", "http://127.0.0.1:8081");
        operator.set_default("topic", "other");
        operator.set_default("folder", "other");
        let expected = json!({
            "topic": "projects/mine/topics/mail", "limits": { "notes": { "units": 5 } },
            "serverUrl": "http://127.0.0.1:8081", "kept": 1,
        });
        assert_eq!(registered(&operator, json!({ "kept": 1 })), expected);
    }

    #[test]
    fn a_setting_without_a_value_is_removed() {
        let (operator, _) = taken(json!({}), &["topic="]).expect("settings");
        assert_eq!(registered(&operator, json!({ "topic": "old", "kept": 1 })), json!({ "kept": 1 }));
    }

    #[test]
    fn other_settings_are_refused() {
        for (given, why) in [
            ("folder=inbox", "folder is not a setting with operator = true"),
            ("region=eu", "region is not a setting with operator = true"),
            ("limits={\"drive\":{\"units\":5}}", "the connector has no such bucket"),
        ] {
            let error = format!("{:#}", taken(json!({}), &[given]).expect_err(given));
            assert!(error.contains(why), "{error}");
        }
    }
}
