//! `docs/openapi.json`, held true: what the server answers is documented, and validates.

use std::fs;

use didi_tests::{http::Response, repository};
use serde_json::{Value, json};

/// The document.
pub(super) struct Document(Value);

impl Document {
    pub(super) fn read() -> Self {
        let text = fs::read_to_string(repository().join("docs/openapi.json")).unwrap();
        Document(serde_json::from_str(&text).unwrap())
    }

    /// Every response of a path and method is documented with its status and the schema of its body.
    pub(super) fn check(&self, method: &str, path: &str, response: &Response) {
        let path = path.split('?').next().unwrap().to_lowercase();
        let what = format!("{method} {path} {}", response.status);
        // What is refused before the path is looked at is refused alike everywhere.
        let paths = &self.0["paths"];
        let known = if paths[&path].is_object() { path.as_str() } else { "/api/status" };
        let operations = paths[known].as_object().unwrap();
        // A method that a path does not have is answered as the one that it has says.
        let operation = operations
            .get(&method.to_lowercase())
            .or_else(|| (response.status != 200).then(|| operations.values().next()).flatten());
        let operation = operation.unwrap_or_else(|| panic!("{what}: no such method"));
        let documented = &operation["responses"][response.status.to_string()];
        let documented = self.followed(documented);
        assert!(documented.is_object(), "{what} is not documented");
        let kind = response.header("content-type").unwrap();
        let schema = &documented["content"][kind]["schema"];
        assert!(schema.is_object(), "{what}: {kind} is not documented");
        let whole = json!({"allOf": [schema], "components": self.0["components"]});
        if let Err(error) = jsonschema::validate(&whole, &response.json()) {
            panic!("{what}: {error} at {}: {}", error.instance_path(), response.text());
        }
    }

    fn followed<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(place) => self.0.pointer(place.trim_start_matches('#')).unwrap(),
            None => value,
        }
    }
}

#[test]
fn the_document_has_every_endpoint_with_its_one_method() {
    let document = Document::read();
    let mut found: Vec<String> = vec![];
    for (path, operations) in document.0["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            found.push(format!("{method} {path}"));
        }
    }
    found.sort();
    let want = [
        "get /api/commands",
        "get /api/dialog",
        "get /api/editor_status",
        "get /api/job",
        "get /api/progress",
        "get /api/status",
        "get /api/test-status",
        "post /api/exec",
        "post /api/job/cancel",
    ];
    assert_eq!(found, want);
}
