//! Throw-away copies of the fixture projects.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

#[cfg(unix)]
use rustix::process::Signal;
use tempfile::TempDir;

use crate::tests_folder;

/// The files of a project by their path from its root, with their bytes.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// A copy of a project, removed when it goes out of scope together with what still runs in it: a game outlives the
/// editor or the server that started it, and a test that fails.
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
    sessions: Option<PathBuf>,
}

impl Project {
    /// A copy of `fixtures/projects/<name>`, links kept as links; `empty` is a project file alone.
    ///
    /// # Panics
    /// When there is no such fixture, or it can't be copied.
    pub fn copy(name: &str) -> Self {
        let folder = TempDir::with_prefix("didi-project-").expect("a temporary folder can be made");
        let root = folder.path().join("project");
        if name == "empty" {
            fs::create_dir(&root).expect("the project's folder can be made");
            fs::write(root.join("project.godot"), "config_version=5\n").expect("it can be written");
        } else {
            let source = tests_folder().join("fixtures/projects").join(name);
            copy_tree(&source, &root)
                .unwrap_or_else(|error| panic!("`{}`: {error}", source.display()));
        }
        Project { folder, sessions: None }
    }

    /// The small game.
    pub fn sample() -> Self {
        Project::copy("sample")
    }

    /// What real projects carry.
    pub fn studio() -> Self {
        Project::copy("studio")
    }

    /// Scenes that instance and inherit each other, with everything that can name a file or a node.
    pub fn harbor() -> Self {
        Project::copy("harbor")
    }

    /// A project file and nothing else.
    pub fn empty() -> Self {
        Project::copy("empty")
    }

    /// The project's folder.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The processes that name the project's folder, by their ids; none where the system does not tell.
    pub fn processes(&self) -> Vec<u32> {
        let root = self.root().to_string_lossy().into_owned();
        let names_it = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&root)
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(names_it).collect()
    }

    /// The folder around the project, for files that must stay outside.
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// The same project, whose engines meet those of another one in one folder of descriptors, as on one machine.
    #[must_use]
    pub fn meeting(mut self, other: &Project) -> Self {
        self.sessions = Some(other.sessions_folder());
        self
    }

    /// Where this project's engines publish themselves.
    pub fn sessions_folder(&self) -> PathBuf {
        self.sessions.clone().unwrap_or_else(|| self.outside().join("sessions"))
    }

    /// A file of the project by its path from the root.
    pub fn file(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches("res://"))
    }

    /// A file's text; `None` when there is no such file.
    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.file(path)).ok()
    }

    /// Writes a file, and the folders that it needs.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.file(path);
        let folder = file.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).expect("the file's folder can be made");
        fs::write(&file, text).expect("the file can be written");
    }

    /// Writes a scene of one node of a type, with its script: both files have the node's name in lower case.
    ///
    /// # Panics
    /// When they can't be written.
    pub fn write_scripted(&self, node: &str, kind: &str, script: impl AsRef<[u8]>) {
        let name = node.to_lowercase();
        self.write(&format!("{name}.gd"), script);
        let scene = format!(
            "[gd_scene load_steps=2 format=3]\n\n[ext_resource type=\"Script\" path=\"res://{name}.gd\" id=\"1\"]\n\n\
             [node name=\"{node}\" type=\"{kind}\"]\nscript = ExtResource(\"1\")\n"
        );
        self.write(&format!("{name}.tscn"), scene);
    }

    /// Has the game begin in another scene.
    ///
    /// # Panics
    /// When the project's settings name no main scene of the fixture's.
    pub fn set_main_scene(&self, path: &str) {
        const FIXTURE: &str = "res://levels/meadow.tscn";
        let settings = self.text("project.godot").expect("a project has settings");
        assert!(settings.contains(FIXTURE), "the fixture begins in {FIXTURE}");
        self.write("project.godot", settings.replace(FIXTURE, path));
    }

    /// Adds a line to the settings of the fixture's last section, which is that of rendering.
    ///
    /// # Panics
    /// When the project's settings can't be read or written.
    pub fn set_rendering(&self, line: &str) {
        let settings = self.text("project.godot").expect("a project has settings");
        assert_eq!(
            settings.rsplit("\n[").next().map(|last| last.starts_with("rendering]")),
            Some(true)
        );
        self.write("project.godot", format!("{settings}{line}\n"));
    }

    /// Lays a plugin of the editor and enables it.
    ///
    /// # Panics
    /// When the project's settings can't be read or written.
    pub fn add_plugin(&self, name: &str, script: &str) {
        self.write(&format!("addons/{name}/{name}.gd"), script);
        let about = format!(
            "[plugin]\n\nname=\"{name}\"\ndescription=\"\"\nauthor=\"\"\nversion=\"1\"\nscript=\"{name}.gd\"\n"
        );
        self.write(&format!("addons/{name}/plugin.cfg"), about);
        let settings = self.text("project.godot").expect("a project has settings");
        let enabled = format!(
            "\n[editor_plugins]\n\nenabled=PackedStringArray(\"res://addons/{name}/plugin.cfg\")\n"
        );
        self.write("project.godot", settings + &enabled);
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        #[cfg(unix)]
        for pid in self.processes() {
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(crate::process::pid_of(pid), Signal::KILL);
        }
    }
}

impl Project {
    /// Every file but those of the server (`.didi`) and the engine (`.godot`).
    ///
    /// # Panics
    /// When a file can't be read.
    pub fn tree(&self) -> Tree {
        let root = self.root();
        let mut tree = Tree::new();
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).expect("a folder of the project can be read") {
                let path = entry.expect("a folder of the project can be read").path();
                let name = path.strip_prefix(&root).expect("it was found below the root");
                let name = name.to_string_lossy().replace('\\', "/");
                if name == ".didi" || name == ".godot" {
                } else if path.is_dir() {
                    open.push(path);
                } else {
                    tree.insert(name, fs::read(path).expect("a file of the project can be read"));
                }
            }
        }
        tree
    }

    /// Makes the files be those of a tree; what has the bytes already is not touched.
    ///
    /// # Panics
    /// When a file can't be written or removed.
    pub fn restore(&self, tree: &Tree) {
        let now = self.tree();
        for name in now.keys().filter(|name| !tree.contains_key(*name)) {
            fs::remove_file(self.file(name)).expect("the file can be removed");
        }
        for (name, bytes) in tree.iter().filter(|(name, bytes)| now.get(*name) != Some(*bytes)) {
            self.write(name, bytes);
        }
    }
}

/// Copies a folder with everything in it; links stay links.
///
/// # Errors
/// Whatever the file system refuses.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            copy_link(&source, &target)?;
        } else if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(source)?, target)
}

#[cfg(not(unix))]
fn copy_link(source: &Path, target: &Path) -> io::Result<()> {
    // A link needs a privilege there; what it points at serves as well.
    if source.is_dir() { copy_tree(source, target) } else { fs::copy(source, target).map(|_| ()) }
}
