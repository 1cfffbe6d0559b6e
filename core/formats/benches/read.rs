//! How fast a scene of 13 MB is read, as the lossless model alone and as the whole view, and edited in one line.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use didi_formats::document::Document;
use didi_formats::scene::{Place, Scene};

/// Nodes with the properties of a real level: transforms, strings, resources and long arrays.
fn level() -> String {
    let mut text = "[gd_scene format=4 uid=\"uid://bench\"]\n\n[ext_resource type=\"Script\" \
        path=\"res://lamp.gd\" id=\"1_lamp\"]\n\n[node name=\"Level\" type=\"Node3D\"]\n"
        .to_owned();
    let mut index = 0;
    while text.len() < 13_000_000 {
        index += 1;
        let _ = write!(
            text,
            "\n[node name=\"Lamp{index}\" type=\"Node3D\" parent=\".\" unique_id={index}]\n\
             transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, {index}.5, 0, -{index}.25)\n\
             script = ExtResource(\"1_lamp\")\nhint = \"Lamp number {index}, lit at night\"\n\
             colours = [Color(1, 0.5, 0, 1), Color(0, 0, 0, 1)]\n"
        );
        if index % 50 == 0 {
            text.push_str("path = PackedVector3Array(0, 0, 0");
            for step in 0..600 {
                let _ = write!(text, ", {step}.125, 0, -{step}");
            }
            text.push_str(")\n");
        }
    }
    text
}

fn read(criterion: &mut Criterion) {
    let text = level();
    let mut group = criterion.benchmark_group("13 MB scene");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    group.bench_function("document", |bench| {
        bench.iter(|| black_box(Document::parse(black_box(text.as_bytes()))));
    });
    group.bench_function("scene", |bench| {
        bench.iter(|| black_box(Scene::parse(black_box(text.as_bytes()))));
    });
    group.bench_function("one property set", |bench| {
        bench.iter(|| {
            let source = black_box(text.as_bytes());
            let scene = Scene::parse(source).expect("the level is a scene");
            let last = Place::Node(scene.nodes().len() - 1);
            let edit = scene.set_property(last, "hint", "\"out\"").expect("it has the property");
            black_box(edit.apply(source))
        });
    });
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
