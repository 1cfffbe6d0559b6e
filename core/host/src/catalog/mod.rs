//! The registry: which tools and resources this process has, under which names, and how they are published.
//!
//! A catalog is a value that never changes. A pack that is replaced makes a new one, which is swapped in; a
//! running call keeps the one it began with.
//!
//! Spec: P-20, the catalog.

mod manifest;
mod publish;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use didi_plugin_api::{
    abi::{Reply, code, phase},
    desc::{Mode, PackDesc, Profile, ResourceDesc, ToolDesc},
    export::Opened,
    lint,
};
use serde_json::{Value, value::RawValue};

pub(crate) use self::publish::current_mode;
pub use self::{
    manifest::manifest,
    publish::{ListView, REQUEST_ID_PATTERN},
};
use crate::{
    dispatch::job_key::MANNERS,
    loader::{Candidate, Gate, Pack, Refused, Row, State},
    services::{OPERATIONS, Services},
};

/// Who answers for a tool or a resource.
#[derive(Clone)]
pub enum Owner {
    /// The host itself.
    Host(Arc<Opened>),
    /// A pack.
    Pack(Arc<Pack>),
}

impl Owner {
    /// Runs an entry in a phase.
    pub fn call(&self, entry: u32, phase: u32, args: &[u8], services: &Services) -> Reply {
        match self {
            Owner::Host(opened) => opened.call(entry, phase, args, services.as_host()),
            Owner::Pack(pack) => {
                pack.call(entry, phase, args, services).unwrap_or_else(|refused| {
                    Reply::new(code::FAULT, format!("can't be run: {refused}"))
                })
            }
        }
    }

    /// The pack's name; `host` for the host itself.
    pub fn name(&self) -> &str {
        match self {
            Owner::Host(_) => "host",
            Owner::Pack(pack) => &pack.stamp.pack,
        }
    }
}

/// A tool as it is served.
pub struct Tool {
    /// What its pack declares, but for the schemas, which are kept as they are published.
    pub desc: ToolDesc,
    /// The published input schema: the pack's, with the host's arguments and bounds.
    pub input_schema: Value,
    /// The published output schema: the pack's, with what the host stamps on answers.
    pub output_schema: Option<Value>,
    /// Arguments of the tool's own whose names say elsewhere how a call is made.
    own_manners: Vec<&'static str>,
    owner: Owner,
    entry: u32,
}

impl Tool {
    /// Runs the tool.
    pub fn run(&self, args: &[u8], services: &Services) -> Reply {
        self.owner.call(self.entry, phase::RUN, args, services)
    }

    /// Reads the tool's target.
    pub fn preview(&self, args: &[u8], services: &Services) -> Reply {
        self.owner.call(self.entry, phase::PREVIEW, args, services)
    }

    /// Whether an argument that says how a call is made is one of the tool's own, and so not the host's to take.
    pub fn owns(&self, manner: &str) -> bool {
        self.own_manners.contains(&manner)
    }

    /// The pack that it comes from.
    pub fn pack(&self) -> &str {
        self.owner.name()
    }

    /// The way in which it answers while no engine is attached; `None` when it then can't.
    pub fn offline_mode(&self) -> Option<Mode> {
        self.desc.modes.iter().copied().find(|mode| *mode != Mode::Live)
    }
}

/// A resource as it is served.
pub struct Resource {
    /// What its pack declares.
    pub desc: ResourceDesc,
    owner: Owner,
    entry: u32,
}

impl Resource {
    /// Reads it, with the value of its template's variable.
    pub fn read(&self, variable: &str, services: &Services) -> Reply {
        self.owner.call(self.entry, phase::RESOURCE, variable.as_bytes(), services)
    }

    /// The value of the template's variable in a URI; an empty string for a plain resource.
    pub fn matches<'u>(&self, uri: &'u str) -> Option<&'u str> {
        let Some((head, rest)) = self.desc.uri.split_once('{') else {
            return (self.desc.uri == uri).then_some("");
        };
        let (_, tail) = rest.split_once('}')?;
        uri.strip_prefix(head)?.strip_suffix(tail)
    }

    /// Whether it is a template.
    pub fn is_template(&self) -> bool {
        self.desc.uri.contains('{')
    }
}

/// All that this process serves.
#[derive(Default)]
pub struct Catalog {
    tools: Vec<Arc<Tool>>,
    names: BTreeMap<String, Arc<Tool>>,
    resources: Vec<Arc<Resource>>,
    rows: Vec<Row>,
    listings: [OnceLock<Arc<RawValue>>; publish::LISTINGS],
}

impl Catalog {
    /// A catalog of the host's own tools and of the packs that passed their gates.
    pub fn build(host: &Arc<Opened>, candidates: Vec<Candidate>) -> Self {
        let mut building = Building::default();
        building.add_host(host);
        for candidate in candidates {
            building.add(candidate);
        }
        building.catalog
    }

    /// The tools in listing order.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// A tool by its name or a legacy name.
    pub fn find(&self, name: &str) -> Option<&Arc<Tool>> {
        self.names.get(name)
    }

    /// Whether a profile's list shows this name.
    pub fn shows(&self, profile: Profile, name: &str) -> bool {
        self.find(name).is_some_and(|tool| match profile {
            Profile::Full => true,
            Profile::Core => tool.desc.profile == Profile::Core && tool.desc.name == name,
        })
    }

    /// The resources in listing order.
    pub fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
    }

    /// The resource behind a URI, with the value of its template's variable.
    pub fn resource<'u>(&self, uri: &'u str) -> Option<(&Arc<Resource>, &'u str)> {
        self.resources.iter().find_map(|one| one.matches(uri).map(|variable| (one, variable)))
    }

    /// What became of each pack file.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether another catalog publishes the same tools.
    pub fn same_tools(&self, other: &Catalog) -> bool {
        let published = |catalog: &Catalog| -> Vec<String> {
            catalog.tools.iter().map(|tool| publish::identity(tool)).collect()
        };
        published(self) == published(other)
    }

    /// Whether another catalog publishes the same resources.
    pub fn same_resources(&self, other: &Catalog) -> bool {
        let published = |catalog: &Catalog| -> Vec<Option<String>> {
            catalog.resources.iter().map(|one| serde_json::to_string(&one.desc).ok()).collect()
        };
        published(self) == published(other)
    }
}

#[derive(Default)]
struct Building {
    catalog: Catalog,
    packs: BTreeMap<String, usize>,
    taken: BTreeMap<String, String>,
}

impl Building {
    fn add_host(&mut self, host: &Arc<Opened>) {
        // The host's own descriptor was made by this very build.
        let Ok(desc) = serde_json::from_slice::<PackDesc>(host.descriptor()) else { return };
        let (tools, _) = read_tools(&desc);
        for (entry, tool) in tools {
            self.add_tool(&Owner::Host(Arc::clone(host)), entry, tool);
        }
        self.add_resources(&Owner::Host(Arc::clone(host)), &desc);
    }

    fn add(&mut self, candidate: Candidate) {
        let mut row = Row {
            file: candidate.file,
            state: State::Refused,
            stamp: None,
            sha256: None,
            tools: vec![],
            reasons: vec![],
        };
        match candidate.result {
            Err(unfit) => {
                row.stamp = unfit.stamp;
                row.reasons.push(unfit.refused);
            }
            Ok(pack) => {
                row.stamp = Some(pack.stamp.clone());
                row.sha256 = Some(pack.sha256.clone());
                row.reasons.extend(candidate.kept.map(|Refused { gate, reason }| {
                    let kept = "its replacement is refused, and the pack taken up before goes on";
                    Refused { gate, reason: format!("{kept}: {reason}") }
                }));
                self.add_pack(&pack, candidate.folder, &mut row);
            }
        }
        self.catalog.rows.push(row);
    }

    fn add_pack(&mut self, pack: &Arc<Pack>, folder: usize, row: &mut Row) {
        let name = &pack.stamp.pack;
        if let Some(first) = self.packs.get(name) {
            if *first != folder {
                row.state = State::Shadowed;
                return;
            }
            row.reasons.push(Refused::new(
                Gate::Descriptor,
                format!("pack `{name}` is in this folder twice; remove one of the files"),
            ));
            return;
        }
        let (tools, mut reasons) = read_tools(&pack.desc);
        row.reasons.append(&mut reasons);
        if let Some(refused) = self.clash(pack, &tools) {
            row.reasons.push(refused);
            return;
        }
        self.packs.insert(name.clone(), folder);
        row.state = State::Loaded;
        let owner = Owner::Pack(Arc::clone(pack));
        for (entry, tool) in tools {
            row.tools.push(tool.name.clone());
            self.add_tool(&owner, entry, tool);
        }
        row.reasons.append(&mut self.add_resources(&owner, &pack.desc));
    }

    /// A need that this host can't meet, or a tool that somebody else registered before.
    fn clash(&self, pack: &Pack, tools: &[(u32, ToolDesc)]) -> Option<Refused> {
        let (name, version) = (&pack.stamp.pack, &pack.stamp.version);
        let unmet: Vec<_> = (pack.desc.needs.iter())
            .filter(|need| !OPERATIONS.contains(&need.as_str()))
            .map(|need| format!("`{need}`"))
            .collect();
        if !unmet.is_empty() {
            let unmet = unmet.join(", ");
            return Some(Refused::new(
                Gate::Descriptor,
                format!(
                    "pack `{name}` {version} needs host operations that this host lacks ({unmet}); update didi"
                ),
            ));
        }
        let mut own = BTreeSet::new();
        for tool in tools.iter().flat_map(|(_, tool)| names_of(tool)) {
            let first = self.taken.get(tool).map(String::as_str);
            let first = first.or_else(|| (!own.insert(tool)).then_some(name));
            if let Some(first) = first {
                return Some(Refused::new(
                    Gate::Descriptor,
                    format!(
                        "tool `{tool}` of pack `{name}` {version} is already registered by pack `{first}`; rename it or remove one pack"
                    ),
                ));
            }
        }
        None
    }

    fn add_tool(&mut self, owner: &Owner, entry: u32, mut desc: ToolDesc) {
        for name in names_of(&desc) {
            self.taken.insert(name.to_owned(), owner.name().to_owned());
        }
        let own = &desc.input_schema["properties"];
        let tool = Arc::new(Tool {
            own_manners: MANNERS.into_iter().filter(|name| own.get(*name).is_some()).collect(),
            input_schema: publish::stamp_input(&mut desc),
            output_schema: publish::stamp_output(&mut desc),
            owner: owner.clone(),
            entry,
            desc,
        });
        for name in names_of(&tool.desc) {
            self.catalog.names.insert(name.to_owned(), Arc::clone(&tool));
        }
        self.catalog.tools.push(tool);
    }

    /// Takes the resources in, and answers why some were not.
    fn add_resources(&mut self, owner: &Owner, desc: &PackDesc) -> Vec<Refused> {
        let mut reasons = vec![];
        for (entry, document) in (0..).zip(&desc.resources) {
            match self.read_resource(document.get()) {
                Ok(desc) => {
                    let resource = Resource { desc, owner: owner.clone(), entry };
                    self.catalog.resources.push(Arc::new(resource));
                }
                Err(why) => {
                    let uri = word(document, "uri");
                    let pack = owner.name();
                    let why = format!("resource `{uri}` of pack `{pack}` is left out: {why}");
                    reasons.push(Refused::new(Gate::Descriptor, why));
                }
            }
        }
        reasons
    }

    fn read_resource(&self, document: &str) -> Result<ResourceDesc, String> {
        let desc = serde_json::from_str::<ResourceDesc>(document)
            .map_err(|error| format!("its declaration can't be read: {error}"))?;
        match self.catalog.resources.iter().find(|one| one.desc.uri == desc.uri) {
            Some(first) => {
                Err(format!("it is already registered by pack `{}`", first.owner.name()))
            }
            None => Ok(desc),
        }
    }
}

/// A word of a document that is refused.
fn word(document: &RawValue, name: &str) -> String {
    let read: Value = serde_json::from_str(document.get()).unwrap_or_default();
    read[name].as_str().unwrap_or("?").to_owned()
}

fn names_of(tool: &ToolDesc) -> impl Iterator<Item = &str> {
    std::iter::once(tool.name.as_str()).chain(tool.legacy_names.iter().map(String::as_str))
}

/// The tools that can be served, with their entry numbers, and why others can't.
fn read_tools(desc: &PackDesc) -> (Vec<(u32, ToolDesc)>, Vec<Refused>) {
    let mut tools = vec![];
    let mut reasons = vec![];
    for (entry, document) in (0..).zip(&desc.tools) {
        let refuse = |why: String| {
            let name = word(document, "name");
            Refused::new(
                Gate::Descriptor,
                format!("tool `{name}` of pack `{}` is left out: {why}", desc.name),
            )
        };
        match serde_json::from_str::<ToolDesc>(document.get()) {
            Ok(tool) => {
                let found = lint::tool(&tool);
                if found.is_empty() {
                    tools.push((entry, tool));
                } else {
                    reasons.push(refuse(found.join("; ")));
                }
            }
            // A word that this host does not know: guessing what it allows would be worse.
            Err(error) => reasons.push(refuse(format!("its declaration can't be read: {error}"))),
        }
    }
    (tools, reasons)
}
