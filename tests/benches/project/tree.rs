//! Projects for the benchmarks: the same bytes each time.

use std::{fmt::Write as _, fs, path::Path};

/// Words of which scripts and scenes are made.
const WORDS: [&str; 12] = [
    "speed",
    "health",
    "player",
    "enemy",
    "weapon",
    "position",
    "velocity",
    "update_state",
    "target",
    "timer",
    "camera",
    "damage",
];

/// Bytes of a picture.
const PICTURE_BYTES: usize = 160_000;

/// A source of numbers that are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    /// A uid as the engine writes it.
    fn uid(&mut self) -> String {
        let letters = b"abcdefghijklmnopqrstuvwxy012345678";
        (0..12).fold("uid://".to_owned(), |uid, _| {
            uid + std::str::from_utf8(&letters[self.below(34)..][..1]).unwrap()
        })
    }

    /// A size around `average`, up to twice of it.
    fn size(&mut self, average: usize) -> usize {
        self.below(average * 2)
    }
}

/// A project of so many files and about so many bytes: scripts, scenes, resources, pictures, tables.
pub(crate) fn project(root: &Path, files: usize, bytes: usize) {
    let mut numbers = Numbers(7);
    // Most bytes of a game are pictures and sounds; one file in ten is one here.
    let average = (bytes - files / 10 * PICTURE_BYTES) / (files / 10 * 9);
    for index in 0..files {
        let folder = format!("d{:03}", index / 50);
        fs::create_dir_all(root.join(&folder)).unwrap();
        let place = |ending: &str| root.join(format!("{folder}/f{index:05}.{ending}"));
        let size = numbers.size(average);
        match index % 10 {
            0..4 => {
                fs::write(place("gd"), script(&mut numbers, index, files, size)).unwrap();
                fs::write(place("gd.uid"), numbers.uid() + "\n").unwrap();
            }
            4..7 => fs::write(place("tscn"), nodes(&mut numbers, files, size)).unwrap(),
            7 => fs::write(place("tres"), arrays(&mut numbers, size)).unwrap(),
            8 => {
                fs::write(place("png"), vec![0x89; PICTURE_BYTES]).unwrap();
                let import =
                    format!("[remap]\n\nimporter=\"texture\"\nuid=\"{}\"\n", numbers.uid());
                fs::write(place("png.import"), import).unwrap();
            }
            _ => {
                let numbers = (0..size / 6).map(|_| numbers.below(9999).to_string());
                fs::write(place("json"), format!("[{}]", numbers.collect::<Vec<_>>().join(", ")))
                    .unwrap();
            }
        }
    }
    let settings = "config_version=5\n\n[application]\n\nconfig/name=\"Large\"\n";
    fs::write(root.join("project.godot"), settings).unwrap();
}

/// The script of every tenth index has a class, and is what others name.
fn named(numbers: &mut Numbers, files: usize) -> String {
    let index = numbers.below(files / 10) * 10;
    format!("res://d{:03}/f{index:05}.gd", index / 50)
}

fn script(numbers: &mut Numbers, index: usize, files: usize, size: usize) -> String {
    let mut text = String::new();
    if index.is_multiple_of(10) {
        let _ = writeln!(text, "class_name C{index:05}");
    }
    text.push_str("extends Node\n\n");
    while text.len() < size {
        let (word, other) = (numbers.word(), numbers.word());
        let _ = writeln!(text, "var {word}_{} := {}\n", numbers.below(1000), numbers.below(9999));
        let _ = writeln!(
            text,
            "func do_{other}_{}(x):\n\tvar y = x + {}\n\treturn y * 2 # {word}\n",
            numbers.below(100_000),
            numbers.below(99)
        );
        if numbers.below(50) == 0 {
            let _ = writeln!(
                text,
                "const P{} = preload(\"{}\")",
                numbers.below(1_000_000),
                named(numbers, files)
            );
        }
    }
    text
}

fn nodes(numbers: &mut Numbers, files: usize, size: usize) -> String {
    let mut text = format!(
        "[gd_scene load_steps=2 format=3 uid=\"{}\"]\n\n[ext_resource type=\"Script\" path=\"{}\" id=\"1_a\"]\n\n\
         [node name=\"Root\" type=\"Node2D\"]\nscript = ExtResource(\"1_a\")\n",
        numbers.uid(),
        named(numbers, files)
    );
    let mut count = 0;
    while text.len() < size {
        count += 1;
        let _ = write!(
            text,
            "\n[node name=\"N{count}\" type=\"Sprite2D\" parent=\".\"]\nposition = Vector2({}, {})\n\
             scale = Vector2(1.5, 2)\n",
            numbers.below(999),
            numbers.below(999)
        );
    }
    text
}

fn arrays(numbers: &mut Numbers, size: usize) -> String {
    let mut text = format!(
        "[gd_resource type=\"Resource\" format=3 uid=\"{}\"]\n\n[resource]\n",
        numbers.uid()
    );
    while text.len() < size {
        let values: Vec<String> = (0..50).map(|_| numbers.below(999).to_string()).collect();
        let _ =
            writeln!(text, "metadata/m{} = PackedFloat32Array({})", text.len(), values.join(", "));
    }
    text
}

/// A project whose only scene has so many bytes, in nodes as a level has them; the last is called `Last`.
pub(crate) fn scene(root: &Path, bytes: usize) {
    fs::create_dir_all(root).unwrap();
    let settings = "config_version=5\n\n[application]\n\nconfig/name=\"Level\"\n";
    fs::write(root.join("project.godot"), settings).unwrap();
    let mut text =
        "[gd_scene format=4 uid=\"uid://bench0level0\"]\n\n[node name=\"Level\" type=\"Node3D\"]\n"
            .to_owned();
    let mut index = 0;
    while text.len() < bytes {
        index += 1;
        let _ = write!(
            text,
            "\n[node name=\"Lamp{index}\" type=\"Node3D\" parent=\".\" unique_id={index}]\n\
             transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, {index}.5, 0, -{index}.25)\n\
             metadata/hint = \"Lamp number {index}, lit at night\"\n\
             metadata/colours = [Color(1, 0.5, 0, 1), Color(0, 0, 0, 1)]\n"
        );
        if index % 50 == 0 {
            text.push_str("metadata/path = PackedVector3Array(0, 0, 0");
            for step in 0..600 {
                let _ = write!(text, ", {step}.125, 0, -{step}");
            }
            text.push_str(")\n");
        }
    }
    text.push_str("\n[node name=\"Last\" type=\"Node3D\" parent=\".\"]\n");
    fs::write(root.join("level.tscn"), text).unwrap();
}
