//! Who wants to hear about changes, and the watcher that looks for them.
//!
//! A legacy client subscribes to single resources and hears of changed lists as such; a modern one opens a
//! `subscriptions/listen` request that says what it wants. Files are looked at only while somebody listens.
//!
//! Spec: P-16, subscriptions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Map, Value, json};

use super::{
    Server, discover, era,
    era::Terms,
    resources::{unknown, uri_of},
    respond::Responder,
};
use crate::{cancel::Cancel, front::stdio::Output, jsonrpc, jsonrpc::ProtocolError};

/// How often watched files are looked at.
const POLL: Duration = Duration::from_millis(200);

/// Resources that one client may subscribe to.
const MAX_SUBSCRIBED: usize = 256;

/// Open `subscriptions/listen` requests.
const MAX_LISTENERS: usize = 32;

/// Size, modification time and identity of a file; `None` when it is not there.
type Stamp = Option<(u64, Option<SystemTime>, u64)>;

/// What one `subscriptions/listen` request wants.
struct Listener {
    tools: bool,
    resources: bool,
    uris: BTreeSet<String>,
    responder: Responder,
}

/// Subscriptions of this process.
pub struct Subscriptions {
    output: Arc<Output>,
    inner: Arc<Mutex<Inner>>,
    watching: AtomicBool,
    stop: Cancel,
}

#[derive(Default)]
struct Inner {
    legacy: BTreeSet<String>,
    listeners: Vec<Listener>,
    files: BTreeMap<String, (PathBuf, Stamp)>,
}

impl Subscriptions {
    /// Nobody listens yet.
    pub fn new(output: Arc<Output>) -> Self {
        Subscriptions {
            output,
            inner: Arc::default(),
            watching: AtomicBool::new(false),
            stop: Cancel::default(),
        }
    }

    /// Tells of changed lists: legacy clients once initialized, modern ones where they listen.
    pub fn lists_changed(&self, initialized: bool, tools: bool, resources: bool) {
        let inner = self.lock();
        for (changed, name) in [(tools, "tools"), (resources, "resources")] {
            if !changed {
                continue;
            }
            let method = format!("notifications/{name}/list_changed");
            if initialized {
                self.output.send(&jsonrpc::outgoing_line(None, &method, &json!({})));
            }
            for listener in &inner.listeners {
                let wanted = if name == "tools" { listener.tools } else { listener.resources };
                if wanted {
                    listener.notify(&self.output, &method, json!({}));
                }
            }
        }
    }

    /// Ends every `subscriptions/listen` request with an answer, and the watcher.
    pub fn end(&self) {
        self.stop.raise();
        for listener in std::mem::take(&mut self.lock().listeners) {
            let meta = listener.meta();
            listener.responder.result(&json!({"resultType": "complete", "_meta": meta}));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches a file for a URI from now on; what is there already is not told.
    fn watch(&self, uri: &str, file: PathBuf) {
        let stamp = stamp_of(&file);
        self.lock().files.entry(uri.to_owned()).or_insert((file, stamp));
        if self.watching.swap(true, Ordering::SeqCst) {
            return;
        }
        let (inner, output, stop) =
            (Arc::clone(&self.inner), Arc::clone(&self.output), self.stop.clone());
        thread::spawn(move || {
            while !stop.wait(POLL) {
                look(&mut inner.lock().unwrap_or_else(PoisonError::into_inner), &output);
            }
        });
    }
}

/// Looks at every watched file once, and forgets requests that were cancelled.
fn look(inner: &mut Inner, output: &Output) {
    inner.listeners.retain(|listener| !listener.responder.cancel().is_raised());
    let Inner { legacy, listeners, files } = inner;
    files.retain(|uri, _| {
        legacy.contains(uri) || listeners.iter().any(|listener| listener.uris.contains(uri))
    });
    for (uri, (file, stamp)) in files {
        let now = stamp_of(file);
        if *stamp == now {
            continue;
        }
        *stamp = now;
        let method = "notifications/resources/updated";
        if legacy.contains(uri) {
            output.send(&jsonrpc::outgoing_line(None, method, &json!({"uri": uri})));
        }
        for listener in listeners.iter().filter(|listener| listener.uris.contains(uri)) {
            listener.notify(output, method, json!({"uri": uri}));
        }
    }
}

#[cfg(unix)]
fn identity(found: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    found.ino()
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> u64 {
    0
}

fn stamp_of(file: &PathBuf) -> Stamp {
    let found = fs::metadata(file).ok()?;
    Some((found.len(), found.modified().ok(), identity(&found)))
}

impl Listener {
    fn meta(&self) -> Value {
        json!({era::SUBSCRIPTION_KEY: self.responder.id(), era::SERVER_INFO_KEY: discover::server_info()})
    }

    fn notify(&self, output: &Output, method: &str, mut params: Value) {
        if !self.responder.cancel().is_raised() {
            params["_meta"] = json!({era::SUBSCRIPTION_KEY: self.responder.id()});
            output.send(&jsonrpc::outgoing_line(None, method, &params));
        }
    }
}

impl Server {
    /// `resources/subscribe`.
    pub(super) fn subscribe(
        &self,
        terms: &Terms,
        params: &Map<String, Value>,
    ) -> Result<Value, ProtocolError> {
        let uri = uri_of(params)?;
        let file = self.watched_file(terms, uri)?;
        {
            let mut inner = self.subscriptions.lock();
            if inner.legacy.len() >= MAX_SUBSCRIBED {
                return Err(ProtocolError::params(format!(
                    "{MAX_SUBSCRIBED} resources are subscribed to, which is all"
                )));
            }
            inner.legacy.insert(uri.to_owned());
        }
        self.subscriptions.watch(uri, file);
        Ok(json!({}))
    }

    /// `resources/unsubscribe`; a resource that was not subscribed to is a success, too.
    pub(super) fn unsubscribe(&self, params: &Map<String, Value>) -> Result<Value, ProtocolError> {
        let uri = uri_of(params)?;
        self.subscriptions.lock().legacy.remove(uri);
        Ok(json!({}))
    }

    /// `subscriptions/listen`: acknowledges, and stays open.
    pub(super) fn listen(
        &self,
        terms: &Terms,
        params: &Map<String, Value>,
        mut responder: Responder,
    ) {
        let Some(wanted) = params.get("notifications").and_then(Value::as_object) else {
            return responder.error(&ProtocolError::params("`notifications` has to be an object"));
        };
        if wanted.contains_key("taskIds") && !terms.declares(era::TASKS_EXTENSION) {
            let required = json!({"extensions": {era::TASKS_EXTENSION: {}}});
            let error =
                ProtocolError::new(era::MISSING_CAPABILITY, "`taskIds` needs the tasks extension")
                    .data(json!({"requiredCapabilities": required}));
            return responder.error(&error);
        }
        let wants = |name: &str| wanted.get(name) == Some(&Value::Bool(true));
        let mut files = vec![];
        for uri in
            wanted.get("resourceSubscriptions").and_then(Value::as_array).into_iter().flatten()
        {
            let Some(uri) = uri.as_str() else {
                return responder
                    .error(&ProtocolError::params("`resourceSubscriptions` takes URIs"));
            };
            // A resource that can't be watched is left out of the honoured subset.
            if let Ok(file) = self.watched_file(terms, uri)
                && files.len() < MAX_SUBSCRIBED
            {
                files.push((uri.to_owned(), file));
            }
        }
        responder.detach();
        let listener = Listener {
            tools: wants("toolsListChanged"),
            resources: wants("resourcesListChanged"),
            uris: files.iter().map(|(uri, _)| uri.clone()).collect(),
            responder,
        };
        let mut inner = self.subscriptions.lock();
        inner.listeners.retain(|one| !one.responder.cancel().is_raised());
        if inner.listeners.len() >= MAX_LISTENERS {
            let error = ProtocolError::params(format!(
                "{MAX_LISTENERS} requests listen already, which is all"
            ));
            return listener.responder.error(&error);
        }
        let honoured = honoured(&listener);
        let params = json!({"notifications": honoured});
        listener.notify(&self.output, "notifications/subscriptions/acknowledged", params);
        inner.listeners.push(listener);
        drop(inner);
        for (uri, file) in files {
            self.subscriptions.watch(&uri, file);
        }
    }

    /// The file behind a subscribable resource.
    fn watched_file(&self, terms: &Terms, uri: &str) -> Result<PathBuf, ProtocolError> {
        let dispatcher = self.dispatcher();
        let catalog = dispatcher.catalog();
        let Some((resource, variable)) = catalog.resource(uri) else {
            return Err(unknown(uri, terms));
        };
        let Some(watch) = &resource.desc.watch else {
            let message = "this resource has no changes to subscribe to";
            return Err(ProtocolError::params(message).data(json!({"uri": uri})));
        };
        let file = match watch
            .split_once('{')
            .and_then(|(head, rest)| Some((head, rest.split_once('}')?.1)))
        {
            Some((head, tail)) => format!("res://{head}{variable}{tail}"),
            None => format!("res://{watch}"),
        };
        let root = dispatcher.shared.files.root();
        let place = root
            .resolve(&file)
            .map_err(|fault| ProtocolError::params(fault.to_string()).data(json!({"uri": uri})))?;
        Ok(place.real().to_owned())
    }
}

fn honoured(listener: &Listener) -> Value {
    let mut honoured = Map::new();
    if listener.tools {
        honoured.insert("toolsListChanged".into(), true.into());
    }
    if listener.resources {
        honoured.insert("resourcesListChanged".into(), true.into());
    }
    if !listener.uris.is_empty() {
        honoured.insert("resourceSubscriptions".into(), json!(listener.uris));
    }
    Value::Object(honoured)
}
