use super::*;

struct Bench {
    folder: tempfile::TempDir,
    checkpoints: Checkpoints,
}

#[allow(clippy::disallowed_methods, reason = "a test's own folder")]
impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["project", "checkpoints"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        let checkpoints = Checkpoints::new(folder.path().join("checkpoints"));
        let bench = Bench { folder, checkpoints };
        bench.write("kept.txt", "the same");
        bench
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.project().join(name), text).unwrap();
    }

    fn take(&mut self) -> String {
        let project = self.project();
        self.checkpoints.take(&project, "test").unwrap()
    }

    fn spoil(&self, id: &str, path: &str, text: &str) {
        let file = self.folder.path().join("checkpoints").join(id).join(path);
        fs::write(file, text).unwrap();
    }
}

#[test]
fn a_checkpoint_of_the_same_files_is_the_newest_one() {
    let mut bench = Bench::new();
    let first = bench.take();
    assert_eq!(bench.take(), first);
    bench.write("new.txt", "new");
    assert_ne!(bench.take(), first);
    assert_eq!(bench.checkpoints.kept().len(), 2);
}

#[test]
fn five_are_kept_and_nothing_is_left_of_the_others() {
    let mut bench = Bench::new();
    let ids: Vec<String> = (0..8)
        .map(|number| {
            bench.write("counter.txt", &number.to_string());
            bench.take()
        })
        .collect();
    let kept: Vec<_> = bench.checkpoints.kept().iter().map(|one| &one.checkpoint_id).collect();
    assert_eq!(kept, ids[3..].iter().collect::<Vec<_>>());
    let mut names: Vec<String> = fs::read_dir(bench.folder.path().join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ids[3..]);
}

#[test]
fn a_checkpoint_is_unpacked_byte_for_byte() {
    let mut bench = Bench::new();
    let id = bench.take();
    let before = files::list(&bench.project()).unwrap();
    bench.write("kept.txt", "another");
    bench.write("new.txt", "new");
    bench.take();
    let to = bench.folder.path().join("restored");
    bench.checkpoints.unpack(&id, &to).unwrap();
    assert_eq!(files::list(&to).unwrap(), before, "and no file of it has several names");
}

#[test]
fn what_was_changed_in_a_checkpoint_is_not_unpacked() {
    for (path, text) in [("files/kept.txt", "spoilt"), ("manifest.json", "{}")] {
        let mut bench = Bench::new();
        let id = bench.take();
        bench.spoil(&id, path, text);
        let to = bench.folder.path().join("restored");
        assert!(bench.checkpoints.unpack(&id, &to).is_err(), "{path}");
        assert!(!to.exists(), "{path}: nothing is left");
    }
    let bench = Bench::new();
    assert!(bench.checkpoints.unpack("cp-none", &bench.folder.path().join("x")).is_err());
}
