use super::*;

fn command(name: &str, tags: &[&str], package: &str) -> Command {
    Command {
        name: name.into(),
        description: format!("Does {name}."),
        tags: tags.iter().map(ToString::to_string).collect(),
        package: package.into(),
        main_thread_required: true,
        runtime_only: false,
        parameters: vec![],
        schema: json!({"type": "object"}),
    }
}

fn book() -> Vec<Command> {
    vec![
        command("zip", &["assets/import", "build"], "B"),
        command("Add", &["assets"], "B"),
        command("bake", &["baking/lighting"], "A"),
        command("bare", &[], "A"),
        command("assetsx_tool", &["assetsx"], "A"),
    ]
}

fn listed(query: &str) -> Value {
    let wish = Wish::read(&Query::read(query)).unwrap();
    list(&book(), &wish, json!({"port": 1}))
}

fn names(body: &Value) -> Vec<&str> {
    body["commands"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn without_a_query_all_is_listed_in_full_by_name() {
    let body = listed("");
    // Ordinal: capitals come first.
    assert_eq!(names(&body), ["Add", "assetsx_tool", "bake", "bare", "zip"]);
    assert!(body["commands"][0].get("parameters").is_some());
    assert_eq!(body["count"], 5);
    assert_eq!((&body["offset"], &body["limit"]), (&json!(0), &Value::Null));
    assert_eq!(body["server"]["port"], 1);
}

#[test]
fn filters_combine_and_compare_without_case() {
    assert_eq!(names(&listed("tag=ASSETS")), ["Add", "zip"]);
    assert_eq!(names(&listed("query=IMPORT")), ["zip"]);
    assert_eq!(names(&listed("query=does%20b&tag=baking")), ["bake"]);
    assert_eq!(names(&listed("query=%C3%A9")), [""; 0]);
    assert_eq!(names(&listed("tag=")).len(), 5);
}

#[test]
fn pages_are_cut_after_sorting() {
    let body = listed("detail=compact&sort=package&order=desc&offset=1&limit=2");
    assert_eq!(names(&body), ["Add", "bare"]);
    assert_eq!((&body["count"], &body["total"]), (&json!(2), &json!(5)));
    assert_eq!((&body["offset"], &body["limit"]), (&json!(1), &json!(2)));
    assert!(body["commands"][0].get("parameters").is_none());
    assert_eq!(names(&listed("limit=0")), [""; 0]);
    assert_eq!(names(&listed("offset=9")), [""; 0]);
}

#[test]
fn the_tree_of_tags_has_a_command_in_every_node_of_its_tags() {
    let body = listed("detail=compact&group_by=tag");
    assert!(body.get("commands").is_none());
    let groups = body["groups"].as_array().unwrap();
    let tags: Vec<_> = groups.iter().map(|node| node["tag"].as_str().unwrap()).collect();
    assert_eq!(tags, ["", "assets", "assetsx", "baking", "build"]);
    assert_eq!(groups[0]["commands"][0]["name"], "bare");
    assert_eq!(groups[1]["count"], 2);
    assert_eq!(groups[1]["commands"].as_array().unwrap().len(), 1);
    let child = &groups[1]["children"][0];
    assert_eq!(
        (&child["tag"], &child["commands"][0]["name"]),
        (&json!("assets/import"), &json!("zip"))
    );
    assert_eq!(groups[3]["commands"], json!([]));
    assert_eq!(groups[3]["count"], 1);
    assert_eq!(groups[4]["commands"][0]["name"], "zip");
}

#[test]
fn packages_are_flat_groups() {
    let body = listed("detail=compact&group_by=PACKAGE&limit=3");
    let groups = body["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!((&groups[0]["package"], &groups[0]["count"]), (&json!("A"), &json!(2)));
    assert!(groups[0].get("children").is_none());
}

#[test]
fn other_values_are_refused_with_the_accepted_ones() {
    let refused = |query: &str| {
        let reply = Wish::read(&Query::read(query)).unwrap_err();
        assert_eq!(reply.status, 400);
        reply.outcome.unwrap_err().details
    };
    assert_eq!(
        refused("detail=short"),
        "Unknown detail value 'short'. Accepted values: compact, full"
    );
    assert_eq!(
        refused("detail=full&detail=full").split('.').next().unwrap(),
        "Unknown detail value 'full,full'"
    );
    assert!(refused("group_by=area").ends_with("flat, package, tag"));
    assert!(refused("sort=size").ends_with("name, package"));
    assert!(refused("order=up").ends_with("asc, desc"));
    for query in ["limit=-1", "offset=x", "limit=1.5", "offset=+1", "limit=99999999999"] {
        assert!(refused(query).contains("Expected a non-negative integer"), "{query}");
    }
}

#[test]
fn omitted_nulls_are_asked_for_by_true_alone() {
    let asked = |query: &str| Query::read(query).omit_nulls();
    assert_eq!(asked(""), (false, None));
    assert_eq!(asked("omit_nulls=TRUE"), (true, None));
    assert_eq!(asked("OMIT_NULLS=False"), (false, None));
    for query in ["omit_nulls=1", "omit_nulls", "omit_nulls=", "omit_nulls=true&omit_nulls=true"] {
        let (omit, warning) = asked(query);
        assert!(!omit && warning.unwrap().contains("Accepted values: true, false"), "{query}");
    }
}
