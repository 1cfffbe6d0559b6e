//! A tool and a resource as a pack writes them down.
//!
//! A pack is a list of [`Tool`]s. Each names its effects, because a forgotten effect would still be published
//! as a claim; everything else has the quiet default: full profile, local, never asks, unbounded, no job.
//!
//! Spec: P-20, what a tool declares.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    ctx::Ctx,
    desc::{Confirmation, Effects, Mode, Profile, ResourceDesc, SessionKind, ToolDesc, Work},
    outcome::{Target, ToolResult},
    refusal::{Code, Refusal, codes},
    schema,
};

pub(crate) type RunHandler = Box<dyn Fn(&Ctx<'_>, &[u8]) -> ToolResult + Send + Sync>;
pub(crate) type ReadHandler = Box<dyn Fn(&Ctx<'_>, &str) -> ToolResult + Send + Sync>;
pub(crate) type PreviewHandler =
    Box<dyn Fn(&Ctx<'_>, &[u8]) -> Result<Target, Refusal> + Send + Sync>;

/// The bridge method that reads what a change would land on, beside what properties hold.
const PROBE: &str = "scene.getProperty";

/// A pack: tools and resources. The value is made once and lives as long as the process.
pub trait ToolPack: Send + Sync + Sized + 'static {
    /// Opens the pack. An error, or a panic, refuses it.
    ///
    /// # Errors
    /// A sentence for the person who installed the pack.
    fn open() -> Result<Self, String>;

    /// The tools, in listing order.
    fn tools(&'static self) -> Vec<Tool>;

    /// The resources.
    fn resources(&'static self) -> Vec<Resource> {
        vec![]
    }

    /// Host operations that the pack can't do without, beside those of plugin-api's own methods.
    fn needs(&'static self) -> Vec<String> {
        vec![]
    }
}

/// One tool: its declaration and its handlers.
pub struct Tool {
    pub(crate) desc: ToolDesc,
    pub(crate) run: RunHandler,
    pub(crate) preview: Option<PreviewHandler>,
}

impl Tool {
    /// A tool with typed arguments.
    ///
    /// `about` tells a model when to use it. `A` publishes the input schema; `run` is called with arguments
    /// that fit it.
    pub fn new<A, F>(name: &str, about: &str, effects: Effects, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        F: Fn(&Ctx<'_>, A) -> ToolResult + Send + Sync + 'static,
    {
        Tool {
            desc: ToolDesc {
                name: name.into(),
                legacy_names: vec![],
                title: title_of(name),
                description: about.into(),
                input_schema: schema::of_input::<A>(),
                output_schema: None,
                profile: Profile::Full,
                modes: vec![Mode::Local],
                sessions: vec![],
                bridge_methods: vec![],
                effects,
                confirmation: Confirmation::Never,
                previews: false,
                bound: None,
                follow_ups: vec![],
                job: false,
                sections: vec![],
                codes: vec![],
            },
            run: Box::new(move |ctx, raw| run(ctx, arguments(raw)?)),
            preview: None,
        }
    }

    /// A tool that an engine of one of these kinds answers whole: its arguments are a bridge method's parameters,
    /// and what the method says is the answer.
    pub fn of_engine<A>(
        name: &str,
        about: &str,
        effects: Effects,
        kinds: &[SessionKind],
        method: &'static str,
    ) -> Self
    where
        A: DeserializeOwned + Serialize + JsonSchema,
    {
        Tool::new(name, about, effects, move |ctx, args: A| ctx.answer_of_engine(method, args))
            .modes(&[Mode::Live])
            .live(kinds, &[method])
    }

    /// Previews through the engine: the checks of `method` run on the call's own arguments, and what is there now is
    /// read. `subject` names the target.
    #[must_use]
    pub fn probed<A>(mut self, method: &'static str, subject: fn(&A) -> &str) -> Self
    where
        A: DeserializeOwned + Serialize + 'static,
    {
        self.desc.bridge_methods.push(PROBE.into());
        self.preview(move |ctx, args: A| {
            let probe = json!({"mutation": {"method": method, "params": args}});
            let mut said = ctx.bridge_call(PROBE, probe)?;
            Ok(Target::read(subject(&args), true, said["before"].take()))
        })
    }

    /// The same tool with a check of its arguments before they are sent, and before the preview that it has by now.
    #[must_use]
    pub fn checked<A, F>(mut self, check: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(&A) -> Result<(), Refusal> + Send + Sync + Clone + 'static,
    {
        let (run, before_run) = (self.run, check.clone());
        self.run = Box::new(move |ctx, raw| {
            before_run(&arguments(raw)?)?;
            run(ctx, raw)
        });
        self.preview = self.preview.map(|preview| -> PreviewHandler {
            Box::new(move |ctx, raw| {
                check(&arguments(raw)?)?;
                preview(ctx, raw)
            })
        });
        self
    }

    /// Shown in the core profile, too.
    #[must_use]
    pub fn core(mut self) -> Self {
        self.desc.profile = Profile::Core;
        self
    }

    /// A title other than the name in words.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.desc.title = title.into();
        self
    }

    /// An older name that still reaches the tool.
    #[must_use]
    pub fn legacy(mut self, name: &str) -> Self {
        self.desc.legacy_names.push(name.into());
        self
    }

    /// The ways in which it can answer, best first.
    #[must_use]
    pub fn modes(mut self, modes: &[Mode]) -> Self {
        self.desc.modes = modes.to_vec();
        self
    }

    /// The kinds of engine that serve its live path, and the bridge methods that it may use.
    #[must_use]
    pub fn live(mut self, kinds: &[SessionKind], methods: &[&str]) -> Self {
        self.desc.sessions = kinds.to_vec();
        self.desc.bridge_methods = methods.iter().map(|method| (*method).into()).collect();
        self
    }

    /// When it has to be confirmed. Settings of a host may raise this, never lower it.
    #[must_use]
    pub fn confirm(mut self, rule: Confirmation) -> Self {
        self.desc.confirmation = rule;
        self
    }

    /// Reads the target of a change: the same checks as the call itself, and nothing is changed.
    #[must_use]
    pub fn preview<A, F>(mut self, preview: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(&Ctx<'_>, A) -> Result<Target, Refusal> + Send + Sync + 'static,
    {
        self.desc.previews = true;
        self.preview = Some(Box::new(move |ctx, raw| preview(ctx, arguments(raw)?)));
        self
    }

    /// What can cut the answer short. Every success then says `truncated`.
    #[must_use]
    pub fn bounded(mut self, by: &str) -> Self {
        self.desc.bound = Some(by.into());
        self
    }

    /// Work that a success can leave undone.
    #[must_use]
    pub fn leaves(mut self, work: &[Work]) -> Self {
        self.desc.follow_ups = work.to_vec();
        self
    }

    /// Can run as a job under a `request_id`.
    #[must_use]
    pub fn job(mut self) -> Self {
        self.desc.job = true;
        self
    }

    /// Sections of the answer that a caller can choose with `fields`.
    #[must_use]
    pub fn sections(mut self, names: &[&str]) -> Self {
        self.desc.sections = names.iter().map(|name| (*name).into()).collect();
        self
    }

    /// The shape of a success. Declare it only where a test checks it against a real answer.
    #[must_use]
    pub fn output<O: JsonSchema>(mut self) -> Self {
        self.desc.output_schema = Some(schema::of_output::<O>());
        self
    }

    /// Codes of its refusals, beside those that were named before.
    #[must_use]
    pub fn refuses(mut self, codes: &[Code]) -> Self {
        for code in codes {
            if !self.desc.codes.contains(code) {
                self.desc.codes.push(code.clone());
            }
        }
        self
    }
}

fn arguments<A: DeserializeOwned>(raw: &[u8]) -> Result<A, Refusal> {
    serde_json::from_slice(raw).map_err(|error| {
        Refusal::new(
            codes::INVALID_ARGUMENTS,
            format!("the arguments do not fit the tool: {error}"),
        )
        .field("arguments")
    })
}

/// `scene_get_hierarchy` reads `Scene get hierarchy`.
fn title_of(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// One resource, or a template of several: its declaration and its handler.
pub struct Resource {
    pub(crate) desc: ResourceDesc,
    pub(crate) read: ReadHandler,
}

impl Resource {
    /// A JSON resource. `read` gets the value of the template's variable, or an empty string.
    pub fn new<F>(uri: &str, name: &str, about: &str, read: F) -> Self
    where
        F: Fn(&Ctx<'_>, &str) -> ToolResult + Send + Sync + 'static,
    {
        Resource {
            desc: ResourceDesc {
                uri: uri.into(),
                instances: vec![],
                name: name.into(),
                title: title_of(&name.replace('-', "_")),
                description: about.into(),
                mime_type: "application/json".into(),
                modes: vec![Mode::Local],
                sessions: vec![],
                bridge_methods: vec![],
                watch: None,
            },
            read: Box::new(read),
        }
    }

    /// Lists these values of the template's variable.
    #[must_use]
    pub fn listed(mut self, instances: &[&str]) -> Self {
        self.desc.instances = instances.iter().map(|value| (*value).into()).collect();
        self
    }

    /// The ways in which it can answer.
    #[must_use]
    pub fn modes(mut self, modes: &[Mode]) -> Self {
        self.desc.modes = modes.to_vec();
        self
    }

    /// The kinds of engine that it can be read from, and the bridge methods that a read may reach.
    #[must_use]
    pub fn live(mut self, kinds: &[SessionKind], methods: &[&str]) -> Self {
        self.desc.sessions = kinds.to_vec();
        self.desc.bridge_methods = methods.iter().map(|method| (*method).into()).collect();
        self
    }

    /// A file below the project whose change is announced to subscribers.
    #[must_use]
    pub fn watched(mut self, file: &str) -> Self {
        self.desc.watch = Some(file.into());
        self
    }
}
