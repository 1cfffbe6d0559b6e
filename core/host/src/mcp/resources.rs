//! Resources: lists, templates, reads.
//!
//! Spec: P-15, resources.

use std::sync::Arc;

use didi_plugin_api::{
    desc::{Mode, ResourceDesc},
    outcome::Answer,
    refusal::Refusal,
};
use didi_wire::descriptor;
use serde_json::{Map, Value, json};

use super::{
    Server,
    discover::{KEEP_MS, complete},
    era::{LEGACY_NO_RESOURCE, Terms},
    list::{engine_kind, refuse_cursor},
    page,
};
use crate::{
    bridge::Route,
    cancel::Cancel,
    catalog::Resource,
    dispatch::{Caller, Dispatcher, kind::allows, route::engine_of, run::read_reply},
    jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS, ProtocolError},
    services::Services,
    text::clip,
};

/// Longest URI that is looked at, in bytes.
const MAX_URI_BYTES: usize = 2048;

impl Server {
    pub(super) fn list_resources(
        &self,
        terms: &Terms,
        params: &Map<String, Value>,
    ) -> Result<Value, ProtocolError> {
        refuse_cursor(params)?;
        let dispatcher = self.dispatcher();
        let engine = engine_kind(terms, &dispatcher.shared.routes);
        let catalog = dispatcher.catalog();
        let mut resources = vec![];
        for resource in catalog.resources() {
            for (uri, name) in instances(&resource.desc) {
                resources.push(listed(&resource.desc, &uri, &name, engine));
            }
        }
        if self.shows_page(terms) {
            resources.push(page::listed());
        }
        Ok(complete(terms, json!({"resources": resources}), Some((0, "private"))))
    }

    pub(super) fn list_templates(
        &self,
        terms: &Terms,
        params: &Map<String, Value>,
    ) -> Result<Value, ProtocolError> {
        refuse_cursor(params)?;
        let catalog = self.dispatcher().catalog();
        let templates: Vec<Value> = catalog
            .resources()
            .iter()
            .filter(|resource| resource.is_template())
            .map(|resource| {
                let desc = &resource.desc;
                json!({
                    "uriTemplate": desc.uri,
                    "name": desc.name,
                    "title": desc.title,
                    "description": desc.description,
                    "mimeType": desc.mime_type,
                })
            })
            .collect();
        let result = json!({"resourceTemplates": templates});
        Ok(complete(terms, result, Some((KEEP_MS, "public"))))
    }

    pub(super) fn read_resource(
        &self,
        terms: &Terms,
        params: &Map<String, Value>,
        cancel: &Cancel,
    ) -> Result<Value, ProtocolError> {
        let uri = uri_of(params)?;
        if let Some(page) = self.read_page(uri, terms) {
            return Ok(page);
        }
        let dispatcher = self.dispatcher();
        let catalog = dispatcher.catalog();
        let Some((resource, variable)) = catalog.resource(uri) else {
            return Err(unknown(uri, terms));
        };
        let engine =
            engine_for(resource, terms, &dispatcher).map_err(|e| refused(e, uri, terms))?;
        let mode = engine.as_ref().map_or_else(|| offline_mode(resource), |_| Mode::Live);
        let mut services = Services::for_resource(&dispatcher.shared, uri, mode, cancel);
        if let Some(engine) = &engine {
            services = services.reaching(engine, &resource.desc.bridge_methods);
        }
        let reply = resource.read(variable, &services);
        let answer: Answer =
            read_reply(&reply, uri).map_err(|refusal| refused(refusal, uri, terms))?;
        let content = json!({
            "uri": uri,
            "mimeType": resource.desc.mime_type,
            "text": answer.data.get(),
        });
        Ok(complete(terms, json!({"contents": [content]}), Some((0, "private"))))
    }
}

/// The URI of a request.
pub(super) fn uri_of(params: &Map<String, Value>) -> Result<&str, ProtocolError> {
    match params.get("uri").and_then(Value::as_str) {
        Some(uri) if uri.len() <= MAX_URI_BYTES => Ok(uri),
        Some(_) => Err(ProtocolError::params(format!("`uri` has more than {MAX_URI_BYTES} bytes"))),
        None => Err(ProtocolError::params("`uri` has to be a string")),
    }
}

/// A resource that is not there: which part of the URI is wrong, where that can be told.
pub(super) fn unknown(uri: &str, terms: &Terms) -> ProtocolError {
    let shown = clip(uri);
    let message = if uri.contains(['?', '#']) {
        format!("`{shown}` has a query string or a fragment, which resources here do not take")
    } else if uri.starts_with("blackboard://") {
        format!("`{shown}` names no board resource; the kinds are `state` and `tasks`")
    } else {
        format!("no resource `{shown}` is there")
    };
    let code = if terms.is_modern() { INVALID_PARAMS } else { LEGACY_NO_RESOURCE };
    ProtocolError::new(code, message).data(json!({"uri": uri}))
}

fn refused(refusal: Refusal, uri: &str, terms: &Terms) -> ProtocolError {
    let Refusal { code, message, data } = refusal;
    let number = match code.status {
        404 if !terms.is_modern() => LEGACY_NO_RESOURCE,
        500.. => INTERNAL_ERROR,
        _ => INVALID_PARAMS,
    };
    let mut details = Map::new();
    details.insert("uri".into(), uri.into());
    details.insert("code".into(), code.name.into());
    details.extend(*data);
    ProtocolError::new(number, message).data(Value::Object(details))
}

/// The engine that a resource is read from, where it has a live path and one of a kind that it takes is there.
fn engine_for(
    resource: &Resource,
    terms: &Terms,
    dispatcher: &Dispatcher,
) -> Result<Option<Arc<Route>>, Refusal> {
    if !resource.desc.modes.contains(&Mode::Live) {
        return Ok(None);
    }
    let caller =
        Caller { modern: terms.stateless, session: terms.session.clone(), ..Caller::default() };
    if let Some(recovery) = &dispatcher.shared.recovery {
        recovery.ensure_editor();
    }
    let route = engine_of(&caller, &dispatcher.shared.routes)?;
    Ok(route.filter(|route| allows(&resource.desc.sessions, route.kind())))
}

fn offline_mode(resource: &Resource) -> Mode {
    let modes = &resource.desc.modes;
    modes.iter().copied().find(|mode| *mode != Mode::Live).unwrap_or(Mode::Local)
}

/// What the list shows of a resource: itself, or the named instances of a template.
fn instances(desc: &ResourceDesc) -> Vec<(String, String)> {
    let Some((head, rest)) = desc.uri.split_once('{') else {
        return vec![(desc.uri.clone(), desc.name.clone())];
    };
    let tail = rest.split_once('}').map_or("", |(_, tail)| tail);
    let instance =
        |value: &String| (format!("{head}{value}{tail}"), format!("{}-{value}", desc.name));
    desc.instances.iter().map(instance).collect()
}

fn listed(
    desc: &ResourceDesc,
    uri: &str,
    name: &str,
    engine: Option<descriptor::SessionKind>,
) -> Value {
    let live =
        desc.modes.contains(&Mode::Live) && engine.is_some_and(|kind| allows(&desc.sessions, kind));
    let current = desc.modes.iter().find(|mode| (**mode == Mode::Live) == live).copied();
    json!({
        "uri": uri,
        "name": name,
        "title": desc.title,
        "description": desc.description,
        "mimeType": desc.mime_type,
        "_meta": {"didi": {
            "executionModes": desc.modes,
            "implemented": true,
            "currentMode": current.map_or("unavailable", Mode::as_str),
            "liveAvailable": live,
            "editorConnected": engine == Some(descriptor::SessionKind::Editor),
            "subscribable": desc.watch.is_some(),
        }},
    })
}
