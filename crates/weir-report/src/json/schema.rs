//! The published form of a result, made of its types.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use weir_model::JudgedResult;

use super::JSON_SCHEMA_VERSION;

/// The text of docs/result.schema.json.
pub(super) fn published() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings
        .into_generator()
        .into_root_schema_for::<JudgedResult>();
    let mut schema = schema;
    let version = json!({ "description": "Version of this schema.", "const": JSON_SCHEMA_VERSION });
    let object = schema.ensure_object();
    object.insert(
        "title".into(),
        format!("A result of Weir, version {JSON_SCHEMA_VERSION}").into(),
    );
    object.insert(
        "$comment".into(),
        "What `weir report --format json` writes, made of Weir's types by `make schema`. A key that is added keeps \
         the version; one that is removed, renamed or means something else raises it."
            .into(),
    );
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.insert("json_schema_version".into(), version);
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.insert(0, "json_schema_version".into());
    }
    let mut schema = Value::from(schema);
    let mut parts = Vec::new();
    parts_of_others(&schema, &mut parts);
    close(&mut schema, &parts, false);
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

const DEFINITIONS: &str = "#/$defs/";

/// Names of the definitions that another schema adds properties to: they may not be closed by themselves.
fn parts_of_others(schema: &Value, parts: &mut Vec<String>) {
    if let (Some(Value::String(reference)), Some(_)) =
        (schema.get("$ref"), schema.get("properties"))
    {
        parts.extend(reference.strip_prefix(DEFINITIONS).map(str::to_owned));
    }
    match schema {
        Value::Object(keys) => keys
            .values()
            .for_each(|inner| parts_of_others(inner, parts)),
        Value::Array(items) => items.iter().for_each(|inner| parts_of_others(inner, parts)),
        _ => {}
    }
}

/// Forbids keys that no property names, so that a misspelt key of a document is an objection; `is_part`: an outer
/// schema does that.
fn close(schema: &mut Value, parts: &[String], is_part: bool) {
    match schema {
        Value::Object(keys) => {
            let has_properties = keys.contains_key("properties");
            for (key, inner) in keys.iter_mut() {
                match (key.as_str(), inner) {
                    ("$defs", Value::Object(definitions)) => {
                        for (name, definition) in definitions {
                            close(definition, parts, parts.contains(name));
                        }
                    }
                    ("oneOf", Value::Array(branches)) => {
                        for branch in branches {
                            close(branch, parts, has_properties);
                        }
                    }
                    (_, inner) => close(inner, parts, false),
                }
            }
            if has_properties && !is_part && !keys.contains_key("additionalProperties") {
                keys.insert("unevaluatedProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, parts, false)),
        _ => {}
    }
}
