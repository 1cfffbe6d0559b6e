//! Two server processes on one project: what both change at once is neither lost nor given away twice.
//!
//! Spec: P-41, P-51.

use std::{collections::BTreeMap, time::Instant};

use didi_tests::{Project, Server};
use serde_json::{Value, json};

/// Boards, and the tasks on each: a thousand claims in all.
const BOARDS: usize = 100;
const TASKS: usize = 10;
/// Settings that the two write in all.
const SETTINGS: usize = 200;

fn two(project: &Project) -> [Server; 2] {
    [Server::over_project(&project.root()), Server::over_project(&project.root())]
}

/// Makes the boards: one through the tool, the others as copies of its file.
fn lay_boards(project: &Project, server: &mut Server) {
    for task in 0..TASKS {
        let new = json!({"board": "b0", "title": "work", "task_id": format!("t{task}")});
        let made = server.call("blackboard_task_create", new);
        assert_eq!(made["isError"], false, "{made}");
    }
    let board = project.text(".didi/blackboard/b0.json").unwrap();
    for number in 1..BOARDS {
        project.write(&format!(".didi/blackboard/b{number}.json"), &board);
    }
}

/// Both servers claim every task of a board by its name, all sent before the first answer is looked at.
fn claims_of(servers: &mut [Server; 2], board: &str) -> BTreeMap<String, Vec<&'static str>> {
    let names = ["ann", "bob"];
    let mut sent = vec![];
    for task in 0..TASKS {
        for (server, agent) in servers.iter_mut().zip(names) {
            let task_id = format!("t{task}");
            let claim = json!({"board": board, "agent_id": agent, "task_id": task_id});
            sent.push((server.ask_tool("blackboard_task_claim", claim), agent, task_id));
        }
    }
    let mut winners: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for (id, agent, task) in sent {
        let server = &mut servers[usize::from(agent == names[1])];
        let answer = server.answer(id);
        let result = &answer["result"];
        let won = result["structuredContent"]["claimed"] == true;
        let lost = result["isError"] == true && answer.to_string().contains("already_leased");
        assert!(won != lost, "{agent} {task}: {answer}");
        winners.entry(task).or_default().extend(won.then_some(agent));
    }
    winners
}

#[test]
fn of_a_thousand_claims_each_has_one_winner() {
    let project = Project::empty();
    let mut servers = two(&project);
    lay_boards(&project, &mut servers[0]);
    let start = Instant::now();
    let mut won: BTreeMap<&str, usize> = BTreeMap::new();
    for number in 0..BOARDS {
        let board = format!("b{number}");
        let winners = claims_of(&mut servers, &board);
        assert_eq!(winners.len(), TASKS);
        let list = servers[number % 2].call("blackboard_task_list", json!({"board": board}));
        for (task, agents) in &winners {
            let [agent] = agents[..] else { panic!("`{task}` of `{board}` went to {agents:?}") };
            *won.entry(agent).or_default() += 1;
            assert_eq!(holder(&list, task), agent, "`{task}` of `{board}`");
        }
    }
    eprintln!("{won:?} in {:?}", start.elapsed());
    assert_eq!(won.values().sum::<usize>(), 1000);
    assert!(won.len() == 2, "the two never met: {won:?}");
}

/// Who holds a task by the list that a server gives.
fn holder<'l>(list: &'l Value, task: &str) -> &'l str {
    let tasks = list["structuredContent"]["tasks"].as_array().unwrap();
    let found = tasks.iter().find(|one| one["task_id"] == task);
    found.and_then(|one| one["lease"]["agent_id"].as_str()).unwrap_or_default()
}

#[test]
fn of_two_hundred_settings_none_is_lost() {
    let project = Project::sample();
    let before = project.text("project.godot").unwrap();
    let mut servers = two(&project);
    let start = Instant::now();
    let mut sent = vec![];
    for number in 0..SETTINGS {
        let setting =
            json!({"setting": format!("proof/two/k{number:03}"), "value": number, "create": true});
        let server = number % 2;
        sent.push((server, servers[server].ask_tool("project_set_setting", setting)));
    }
    for (server, id) in sent {
        let answer = servers[server].answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    eprintln!("{SETTINGS} settings in {:?}", start.elapsed());
    let after = project.text("project.godot").unwrap();
    for number in 0..SETTINGS {
        assert!(after.contains(&format!("\ntwo/k{number:03}={number}\n")), "k{number:03}");
    }
    let kept: Vec<&str> = after.lines().filter(|line| !line.starts_with("two/k")).collect();
    let mut expected: Vec<&str> = before.lines().collect();
    expected.extend(["", "[proof]", ""]);
    assert_eq!(kept, expected, "nothing else changed");
}
