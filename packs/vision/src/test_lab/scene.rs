//! The text of a lab.
//!
//! Spec: P-55, pictures.

use std::fmt::Write;

use super::subject::{Standing, Subject};

/// What the cameras look at, and how far away they are, in metres.
const LOOK_AT: [f64; 3] = [0.0, 1.0, 0.0];
const DISTANCE: f64 = 5.0;
/// Height of an orthographic picture, in metres.
const PICTURE_SIZE: f64 = 4.0;
/// Where a camera stands, by its name.
const CAMERAS: [(&str, [f64; 3]); 6] = [
    ("front", [0.0, 0.0, 1.0]),
    ("back", [0.0, 0.0, -1.0]),
    ("left", [-1.0, 0.0, 0.0]),
    ("right", [1.0, 0.0, 0.0]),
    ("top", [0.0, 1.0, 0.0]),
    ("isometric", [1.0, 0.816_496_580_927_726, 1.0]),
];

/// Background, ambient energy, light colour and light energy of a lighting.
struct Lighting {
    background: [f64; 3],
    ambient: f64,
    light: [f64; 3],
    energy: f64,
}

pub(super) struct Lab<'l> {
    pub(super) uid: Option<String>,
    pub(super) target: &'l str,
    pub(super) subject: &'l Subject,
    pub(super) environment: &'l str,
    pub(super) orthographic: bool,
    pub(super) camera_rig: &'l [String],
}

impl Lab<'_> {
    /// The whole file.
    pub(super) fn text(&self) -> String {
        let mut out = self.header();
        self.resources(&mut out);
        self.root(&mut out);
        self.surroundings(&mut out);
        self.subject(&mut out);
        for (at, (name, from)) in self.cameras().into_iter().enumerate() {
            self.camera(&mut out, name, from, at == 0);
        }
        out
    }

    /// The cameras that the lab has, as node paths.
    pub(super) fn camera_names(&self) -> Vec<String> {
        self.cameras().into_iter().map(|(name, _)| format!("Cameras/{}", capital(name))).collect()
    }

    /// The known ones of the rig, each once; a front camera where none is known.
    fn cameras(&self) -> Vec<(&'static str, [f64; 3])> {
        let mut found: Vec<(&str, [f64; 3])> = vec![];
        for wanted in self.camera_rig {
            let known = CAMERAS.iter().find(|(name, _)| name == wanted);
            found.extend(known.filter(|one| !found.contains(one)));
        }
        if found.is_empty() {
            found.push(CAMERAS[0]);
        }
        found
    }

    fn header(&self) -> String {
        let uid = self.uid.as_ref().map(|uid| format!(" uid={}", quoted(uid)));
        format!("[gd_scene format=3{}]\n", uid.unwrap_or_default())
    }

    fn resources(&self, out: &mut String) {
        if self.subject.is_in_scene() {
            let uid = self.subject.uid.as_ref().map(|uid| format!("uid={} ", quoted(uid)));
            let kind = quoted(&self.subject.type_name);
            let (uid, path) = (uid.unwrap_or_default(), quoted(self.target));
            add(out, &format!("\n[ext_resource type={kind} {uid}path={path} id=\"1_target\"]\n"));
        }
        let light = lighting(self.environment);
        add(
            out,
            &format!(
                "\n[sub_resource type=\"Environment\" id=\"Environment_lab\"]\nbackground_mode = 1\n\
                 background_color = {}\nambient_light_source = 2\n\
                 ambient_light_color = Color(1, 1, 1, 1)\nambient_light_energy = {}\n",
                color(light.background),
                number(light.ambient)
            ),
        );
        add(
            out,
            "\n[sub_resource type=\"PlaneMesh\" id=\"PlaneMesh_ground\"]\nsize = Vector2(20, 20)\n",
        );
        if self.subject.standing == Standing::Material {
            add(out, "\n[sub_resource type=\"SphereMesh\" id=\"SphereMesh_target\"]\n");
        }
    }

    fn root(&self, out: &mut String) {
        let rig: Vec<String> = self.camera_rig.iter().map(|name| quoted(name)).collect();
        add(
            out,
            &format!(
                "\n[node name=\"DidiTestLab\" type=\"Node3D\"]\nmetadata/camera_rig = \
                 PackedStringArray({})\nmetadata/environment = {}\n\
                 metadata/target_resource_path = {}\n",
                rig.join(", "),
                quoted(self.environment),
                quoted(self.target)
            ),
        );
    }

    fn surroundings(&self, out: &mut String) {
        let light = lighting(self.environment);
        add(
            out,
            "\n[node name=\"WorldEnvironment\" type=\"WorldEnvironment\" parent=\".\"]\n\
             environment = SubResource(\"Environment_lab\")\n",
        );
        add(
            out,
            &format!(
                "\n[node name=\"KeyLight\" type=\"DirectionalLight3D\" parent=\".\"]\ntransform = {}\n\
                 light_color = {}\nlight_energy = {}\nshadow_enabled = true\n",
                transform([2.0, 4.0, 3.0], [0.0, 0.0, 0.0]),
                color(light.light),
                number(light.energy)
            ),
        );
        add(
            out,
            "\n[node name=\"Ground\" type=\"MeshInstance3D\" parent=\".\"]\n\
             mesh = SubResource(\"PlaneMesh_ground\")\n",
        );
    }

    fn subject(&self, out: &mut String) {
        let lifted = "transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0)\n";
        let node = match self.subject.standing {
            Standing::Named => return,
            Standing::Instance => {
                "\n[node name=\"Target\" parent=\".\" instance=ExtResource(\"1_target\")]\n"
                    .to_owned()
            }
            Standing::Mesh => "\n[node name=\"Target\" type=\"MeshInstance3D\" parent=\".\"]\n\
                               mesh = ExtResource(\"1_target\")\n"
                .to_owned(),
            Standing::Material => format!(
                "\n[node name=\"Target\" type=\"MeshInstance3D\" parent=\".\"]\n{lifted}\
                 material_override = ExtResource(\"1_target\")\n\
                 mesh = SubResource(\"SphereMesh_target\")\n"
            ),
            Standing::Texture => format!(
                "\n[node name=\"Target\" type=\"Sprite3D\" parent=\".\"]\n{lifted}\
                 texture = ExtResource(\"1_target\")\n"
            ),
        };
        add(out, &node);
    }

    fn camera(&self, out: &mut String, name: &str, from: [f64; 3], current: bool) {
        if current {
            add(out, "\n[node name=\"Cameras\" type=\"Node3D\" parent=\".\"]\n");
        }
        let eye = [0, 1, 2].map(|axis| LOOK_AT[axis] + from[axis] * DISTANCE);
        add(
            out,
            &format!(
                "\n[node name={} type=\"Camera3D\" parent=\"Cameras\"]\ntransform = {}\n",
                quoted(&capital(name)),
                transform(eye, LOOK_AT)
            ),
        );
        if self.orthographic {
            add(out, &format!("projection = 1\nsize = {}\n", number(PICTURE_SIZE)));
        }
        if current {
            add(out, "current = true\n");
        }
    }
}

fn add(out: &mut String, text: &str) {
    out.push_str(text);
}

fn lighting(name: &str) -> Lighting {
    let warm = [1.0, 0.78, 0.55];
    let white = [1.0, 1.0, 1.0];
    match name {
        "outdoor_day" => {
            Lighting { background: [0.53, 0.74, 0.92], ambient: 0.8, light: white, energy: 1.4 }
        }
        "sunset" => {
            Lighting { background: [0.85, 0.5, 0.35], ambient: 0.4, light: warm, energy: 1.1 }
        }
        "night" => Lighting {
            background: [0.02, 0.03, 0.07],
            ambient: 0.1,
            light: [0.6, 0.7, 1.0],
            energy: 0.3,
        },
        _ => Lighting { background: [0.5, 0.5, 0.5], ambient: 0.6, light: white, energy: 1.0 },
    }
}

/// A string by the engine's rules: raw UTF-8, with the backslash and the quote escaped.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn color([red, green, blue]: [f64; 3]) -> String {
    format!("Color({}, {}, {}, 1)", number(red), number(green), number(blue))
}

/// At most six decimals, and no zeros at the end.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A transform at `eye` whose negative Z axis points to `target`. The engine writes the basis by rows.
fn transform(eye: [f64; 3], target: [f64; 3]) -> String {
    let back = unit([0, 1, 2].map(|axis| eye[axis] - target[axis]));
    // Straight down there is no sideways of the sky; the picture's top is then north.
    let up = if back[1].abs() > 0.999 { [0.0, 0.0, -1.0] } else { [0.0, 1.0, 0.0] };
    let right = unit(cross(up, back));
    let up = cross(back, right);
    let mut out = "Transform3D(".to_owned();
    for axis in 0..3 {
        for column in [right, up, back] {
            // Writing into a String can't fail.
            let _ = write!(out, "{}, ", number(column[axis]));
        }
    }
    let origin = eye.map(number).join(", ");
    format!("{out}{origin})")
}

fn cross(one: [f64; 3], other: [f64; 3]) -> [f64; 3] {
    [
        one[1] * other[2] - one[2] * other[1],
        one[2] * other[0] - one[0] * other[2],
        one[0] * other[1] - one[1] * other[0],
    ]
}

fn unit(vector: [f64; 3]) -> [f64; 3] {
    let length = vector.iter().map(|part| part * part).sum::<f64>().sqrt();
    vector.map(|part| part / length)
}
