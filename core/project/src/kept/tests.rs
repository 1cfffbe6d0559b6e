//! A value is believed only while the file is the one that it was made of.

use std::{
    fs,
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use didi_plugin_api::{prelude::*, testkit::Kit};
use tempfile::TempDir;

use super::{Kept, SETTLED};
use crate::walk::File;

static CONTENTS: LazyLock<Kept<String>> = LazyLock::new(Kept::default);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Names {
    #[schemars(length(max = 8), inner(length(max = 8)))]
    names: Vec<String>,
}

/// A pack whose tool answers the contents of files, and how many of them it read.
struct Reader;

impl ToolPack for Reader {
    fn open() -> Result<Self, String> {
        Ok(Reader)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![Tool::new("file_contents", "Reads files whole.", Effects::READS, contents)]
    }
}

fn contents(ctx: &Ctx<'_>, args: Names) -> ToolResult {
    let at = |name: &String| {
        let place = ctx.project().resolve(&format!("res://{name}"), "names")?;
        Ok(File::at(&place).unwrap())
    };
    let files = args.names.iter().map(at).collect::<Result<Vec<_>, Refusal>>()?;
    let read = AtomicUsize::new(0);
    let values = CONTENTS.of(ctx, &files, |file| {
        read.fetch_add(1, Ordering::Relaxed);
        fs::read_to_string(&file.real).unwrap()
    })?;
    let contents: Vec<&str> = values.iter().map(|value| value.as_str()).collect();
    Answer::of(json!({ "contents": contents, "read": read.into_inner() }))
}

/// A project, and the tool over it.
struct Lab {
    folder: TempDir,
    kit: Kit,
}

impl Lab {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("project.godot"), "config_version=5\n").unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let kit = Kit::open::<Reader>(folder.path());
        Lab { folder, kit }
    }

    /// The contents of these files, and how many of them were read, so long from now by the host's clock.
    fn read(&self, names: &[&str], later: Duration) -> (Vec<String>, u64) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + later;
        self.kit.set_now_ms(u64::try_from(now.as_millis()).unwrap());
        let answer = self.kit.call("file_contents", &json!({ "names": names })).unwrap();
        let contents = serde_json::from_value(answer["contents"].clone()).unwrap();
        (contents, answer["read"].as_u64().unwrap())
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn only_a_file_that_changed_is_read_again() {
    let lab = Lab::new(&[("a.gd", "one"), ("b.gd", "two"), ("c.gd", "three")]);
    let names = ["a.gd", "b.gd", "c.gd"];
    assert_eq!(lab.read(&names, LONG).1, 3);
    assert_eq!(lab.read(&names, LONG).1, 0);
    fs::write(lab.folder.path().join("b.gd"), "TWO").unwrap();
    let (contents, made) = lab.read(&names, LONG);
    assert_eq!((contents, made), (vec!["one".into(), "TWO".into(), "three".into()], 1));
}

#[test]
fn a_change_of_the_same_size_with_its_time_put_back_is_seen() {
    let lab = Lab::new(&[("a.gd", "one")]);
    let place = lab.folder.path().join("a.gd");
    let time = fs::metadata(&place).unwrap().modified().unwrap();
    lab.read(&["a.gd"], LONG);
    fs::write(&place, "two").unwrap();
    fs::File::options().write(true).open(&place).unwrap().set_modified(time).unwrap();
    assert_eq!(lab.read(&["a.gd"], LONG), (vec!["two".into()], 1));
}

#[test]
fn a_file_put_in_the_place_of_another_is_another() {
    let lab = Lab::new(&[("a.gd", "one"), ("b.gd", "two")]);
    let place = |name: &str| lab.folder.path().join(name);
    lab.read(&["a.gd", "b.gd"], LONG);
    fs::rename(place("b.gd"), place("a.gd")).unwrap();
    assert_eq!(lab.read(&["a.gd"], LONG), (vec!["two".into()], 1));
}

#[test]
fn a_file_that_has_just_changed_is_not_kept() {
    let lab = Lab::new(&[("a.gd", "one")]);
    assert_eq!(lab.read(&["a.gd"], Duration::ZERO).1, 1);
    assert_eq!(lab.read(&["a.gd"], Duration::ZERO).1, 1);
    assert_eq!(lab.read(&["a.gd"], SETTLED + Duration::from_secs(1)).1, 1);
    assert_eq!(lab.read(&["a.gd"], Duration::ZERO).1, 0);
}
