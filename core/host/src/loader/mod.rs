//! From files in pack folders to packs that can be called.
//!
//! Six gates, in order; nothing of a pack runs in this process before the fifth, and the fifth is entered on
//! the first call and not at start:
//!
//! 1. [`mod@file`]: name, regular file, no link, owner and mode.
//! 2. [`mod@file`] and [`cache`]: digest, pin list, private copy named by the digest.
//! 3. [`image`]: the headers promise nothing past the end.
//! 4. [`image`]: the stamp, its api and target; then, once per unseen digest, the [`trial`] in a child.
//! 5. [`open`]: the library is mapped and its layout compared both ways.
//! 6. [`trial`]: the descriptor document, as the trial child wrote it down; tools and names by the catalog.
//!
//! A refusal leaves the host running and is one line that names the pack, the versions and the cure.
//!
//! Spec: P-31, gates of the loader.

pub mod cache;
pub mod file;
pub mod image;
pub mod open;
pub mod pins;
pub mod probe;
pub mod trial;

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
};

use didi_plugin_api::{
    abi::{PackV1Ref, Reply},
    desc::PackDesc,
};
use serde::{Deserialize, Serialize};

use self::{
    cache::{Cache, Known},
    file::PackFile,
    image::Stamp,
    pins::Pins,
};
use crate::services::Services;

/// A folder that packs are looked for in.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
    /// Whether it may hold other libraries, which are then passed over and not refused.
    pub shared: bool,
}

/// Which gate refused a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Name, kind, owner or mode of the file.
    File,
    /// Digest or pin list.
    Pin,
    /// The file is not whole.
    Image,
    /// The stamp.
    Stamp,
    /// The trial load in a child.
    Trial,
    /// The interface's layout.
    Layout,
    /// The descriptor document.
    Descriptor,
}

/// Why a pack is not served: one line without a final stop, the cure included.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refused {
    /// The gate that refused it.
    pub gate: Gate,
    /// What is wrong and how to put it right.
    pub reason: String,
}

impl Refused {
    pub(crate) fn new(gate: Gate, reason: impl Into<String>) -> Self {
        // Words of a pack or of the system may hold line ends; a refusal is one line.
        let one_line = |letter: char| if letter.is_control() { ' ' } else { letter };
        Refused { gate, reason: reason.into().chars().map(one_line).collect() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reason)
    }
}

/// A file that did not pass its gates.
pub struct Unfit {
    /// What the file says of itself, where that could be read.
    pub stamp: Option<Stamp>,
    /// Why it is not served.
    pub refused: Refused,
}

/// A pack that passed its gates. Its library is mapped on the first call and never unmapped.
pub struct Pack {
    /// The file that was taken up.
    pub file: PathBuf,
    /// SHA-256 of the file.
    pub sha256: String,
    /// What the file says of itself.
    pub stamp: Stamp,
    /// What the pack declares.
    pub desc: PackDesc,
    copy: PathBuf,
    root: OnceLock<Result<PackV1Ref, Refused>>,
}

impl Pack {
    /// Runs an entry in a phase, on the calling thread.
    ///
    /// # Errors
    /// When the library can't be mapped any more.
    pub fn call(
        &self,
        entry: u32,
        phase: u32,
        args: &[u8],
        services: &Services,
    ) -> Result<Reply, Refused> {
        let root = self.root.get_or_init(|| {
            cache::verify(&self.copy, &self.sha256)?;
            let root = open::open(&self.copy, &self.stamp.pack, &self.stamp.api)?;
            let described = open::describe(root, &self.stamp.pack)?;
            self.check_unchanged(&described).map(|()| root)
        });
        let root = root.as_ref().map_err(Clone::clone)?;
        Ok(root.call()(entry, phase, args.into(), services.as_host()))
    }

    /// Entries are numbers, so a pack that now declares something else would run another tool than asked for.
    fn check_unchanged(&self, described: &[u8]) -> Result<(), Refused> {
        // As values: the order of members may change from one process to the next.
        let document = |desc: &PackDesc| serde_json::to_value(desc).ok();
        let now = serde_json::from_slice(described).ok();
        if now.is_some_and(|now| document(&now) == document(&self.desc)) {
            return Ok(());
        }
        Err(Refused::new(
            Gate::Descriptor,
            format!(
                "pack `{}` declares something else than in its trial; what it declares must not depend on the \
                 environment: mend it, and run `didi packs check` on it",
                self.stamp.pack
            ),
        ))
    }
}

/// What became of one file.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The file.
    pub file: PathBuf,
    /// `loaded`, `refused` or `shadowed`.
    pub state: State,
    /// What the file says of itself, where it could be read.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
    /// SHA-256 of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Tools that it serves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Why it, or some of its tools, are not served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Refused>,
}

/// How a file fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Served.
    Loaded,
    /// Not served; the reasons say why.
    Refused,
    /// A folder searched earlier has a pack of the same name.
    Shadowed,
}

/// A file with what the gates made of it.
pub struct Candidate {
    /// The file.
    pub file: PathBuf,
    /// Place of its folder in the search order.
    pub folder: usize,
    /// The pack, or why it is none.
    pub result: Result<Arc<Pack>, Box<Unfit>>,
    /// Why the file as it now lies there is none, where the pack taken up before goes on.
    pub kept: Option<Refused>,
}

/// Takes packs up, and remembers those that it took up before.
pub struct Loader {
    folders: Vec<Folder>,
    pins: Option<Pins>,
    cache: Cache,
    known: Mutex<BTreeMap<String, Arc<Pack>>>,
    serving: Mutex<BTreeMap<PathBuf, Arc<Pack>>>,
}

impl Loader {
    /// A loader over folders in search order.
    pub fn new(folders: Vec<Folder>, pins: Option<Pins>, cache: PathBuf) -> Self {
        let (known, serving) = (Mutex::default(), Mutex::default());
        Loader { folders, pins, cache: Cache::new(cache), known, serving }
    }

    /// The folders in search order.
    pub fn folders(&self) -> &[Folder] {
        &self.folders
    }

    /// Puts every file of the folders through the gates, in parallel; the order is that of the search.
    pub fn load(&self) -> Vec<Candidate> {
        let files = self.files();
        let next = Mutex::new(files.iter().enumerate());
        let found = Mutex::new(Vec::with_capacity(files.len()));
        let threads = thread::available_parallelism().map_or(2, usize::from).min(files.len());
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let one = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((place, (folder, file))) = one else { break };
                        let result = self.take(file);
                        let candidate =
                            Candidate { file: file.clone(), folder: *folder, result, kept: None };
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.push((place, candidate));
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(place, _)| *place);
        let mut found: Vec<_> = found.into_iter().map(|(_, candidate)| candidate).collect();
        self.keep_replaced(&mut found);
        found
    }

    /// A file that was replaced by a bad one, or is being written just now, costs nobody the pack that was
    /// taken up from it before. A file that is gone takes its pack along.
    fn keep_replaced(&self, found: &mut [Candidate]) {
        let mut serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::take(&mut *serving);
        for candidate in found {
            if let (Err(unfit), Some(pack)) = (&candidate.result, before.get(&candidate.file)) {
                candidate.kept = Some(unfit.refused.clone());
                candidate.result = Ok(Arc::clone(pack));
            }
            if let Ok(pack) = &candidate.result {
                serving.insert(candidate.file.clone(), Arc::clone(pack));
            }
        }
    }

    /// Puts one file through the gates. `fresh` repeats the trial of a digest that was seen before.
    ///
    /// # Errors
    /// The first gate's refusal.
    pub fn check(&self, file: &Path) -> Result<Arc<Pack>, Box<Unfit>> {
        self.take_with(file, true)
    }

    fn take(&self, file: &Path) -> Result<Arc<Pack>, Box<Unfit>> {
        self.take_with(file, false)
    }

    fn take_with(&self, path: &Path, fresh: bool) -> Result<Arc<Pack>, Box<Unfit>> {
        let plain = |refused| Box::new(Unfit { stamp: None, refused });
        let mut file = file::open(path).map_err(plain)?;
        let sha256 = file.digest().map_err(plain)?;
        if let Some(pins) = &self.pins {
            pins.check(path, &sha256).map_err(plain)?;
        }
        if !fresh && let Some(pack) = self.remembered(&sha256, path) {
            return Ok(pack);
        }
        let known = self.cache.known(&sha256, path, file.size()).filter(|_| !fresh);
        let known = match known {
            Some(known) => known,
            None => self.try_new(path, &mut file, &sha256)?,
        };
        let Known { stamp, copy, result } = known;
        let desc = match result {
            Ok(desc) => desc,
            Err(refused) => return Err(Box::new(Unfit { stamp: Some(stamp), refused })),
        };
        let root = OnceLock::new();
        let pack = Pack { file: path.to_owned(), sha256, stamp, desc, copy, root };
        let pack = Arc::new(pack);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(pack.sha256.clone(), Arc::clone(&pack));
        Ok(pack)
    }

    /// Gates 3, 4 and the trial, for a digest that was not seen before.
    fn try_new(&self, path: &Path, file: &mut PackFile, sha256: &str) -> Result<Known, Box<Unfit>> {
        let plain = |refused| Box::new(Unfit { stamp: None, refused });
        let bytes = file.bytes(sha256).map_err(plain)?;
        image::check_whole(&bytes).map_err(plain)?;
        let stamp = image::stamp(&bytes).map_err(plain)?;
        let stamped = |refused| Box::new(Unfit { stamp: Some(stamp.clone()), refused });
        image::check_stamp(&stamp).map_err(stamped)?;
        let copy = self.cache.copy(sha256, path, &bytes).map_err(stamped)?;
        drop(bytes);
        let result = self.cache.describe(sha256, &copy, &stamp);
        Ok(Known { stamp, copy, result })
    }

    /// A pack of the same bytes keeps its library, and with it what the pack holds in memory.
    fn remembered(&self, sha256: &str, file: &Path) -> Option<Arc<Pack>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(sha256).filter(|pack| pack.file == file).cloned()
    }

    /// Candidate files with the place of their folder, sorted by name inside each folder.
    pub fn files(&self) -> Vec<(usize, PathBuf)> {
        let mut files = vec![];
        for (place, folder) in self.folders.iter().enumerate() {
            let entries = fs::read_dir(&folder.path).into_iter().flatten().flatten();
            let mut here: Vec<PathBuf> = entries
                .map(|entry| entry.path())
                .filter(|path| file::looks_like_a_pack(path, folder.shared))
                .collect();
            here.sort();
            files.extend(here.into_iter().map(|path| (place, path)));
        }
        files
    }
}
