//! A server of the Pipeline as a process, found as every client finds it: by its descriptor.

use std::{
    path::{Path, PathBuf},
    process::ExitStatus,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    Launch, Project, Server,
    http::{Http, Response},
    server::PATIENCE,
    wait::{until, until_ok},
};

/// Where the descriptor is, below the project.
pub const DESCRIPTOR: &str = ".didi/pipeline/.unity-pipeline-port";

/// A server that serves.
pub struct Pipeline {
    /// Its process.
    pub server: Server,
    /// Its port.
    pub port: u16,
    /// Its token.
    pub token: String,
    place: PathBuf,
}

/// A descriptor, when a whole one is there.
pub fn descriptor(project: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(project.join(DESCRIPTOR)).ok()?;
    serde_json::from_str(&text).ok()
}

impl Pipeline {
    /// Serves a project on a port of the system's choice.
    pub fn over(project: &Project) -> Self {
        Self::start(project, |launch| launch)
    }

    /// The same with more options.
    pub fn start(project: &Project, more: impl FnOnce(Launch) -> Launch) -> Self {
        let launch = Launch::over(project.root()).args(["pipeline", "serve", "--port", "0"]);
        Self::of(more(launch).start(), project)
    }

    /// A process that serves a project's Pipeline.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn of(server: Server, project: &Project) -> Self {
        let place = project.root();
        let pid = server.pid();
        let found = until("the server's descriptor", || {
            descriptor(&place).filter(|found| found["pid"] == pid)
        });
        let port = found["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let token = found["evalToken"].as_str().expect("a token is there").to_owned();
        Pipeline { server, port: port.expect("a port is there"), token, place }
    }

    /// The descriptor as it now is.
    pub fn descriptor(&self) -> Option<Value> {
        descriptor(&self.place)
    }

    /// A connection of its own.
    pub fn connect(&self) -> Http {
        Http::connect(self.port)
    }

    /// The head of a request with the token.
    pub fn head(&self, method: &str, path: &str, length: usize) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Length: {length}\r\n\r\n",
            self.port, self.token
        )
    }

    /// One request on a connection.
    ///
    /// # Panics
    /// When it can't be sent.
    pub fn ask(&self, http: &mut Http, method: &str, path: &str, body: &str) -> Response {
        let request = self.head(method, path, body.len()) + body;
        http.send(request.as_bytes()).expect("the server reads");
        http.response()
    }

    /// A question.
    pub fn get(&self, path: &str) -> Response {
        self.ask(&mut self.connect(), "GET", path, "")
    }

    /// A request to run a command.
    pub fn exec(&self, body: &Value) -> Response {
        self.ask(&mut self.connect(), "POST", "/api/exec", &body.to_string())
    }

    /// The result of a command.
    ///
    /// # Panics
    /// When there is none.
    pub fn result(&self, command: &str, parameters: Value) -> Value {
        let response = self.exec(&json!({"command": command, "parameters": parameters}));
        let mut body = response.json();
        assert!(response.status == 200 && body["success"] == true, "{command}: {body}");
        body["result"].take()
    }

    /// Starts a command as a job; answers its id.
    ///
    /// # Panics
    /// When it is refused.
    pub fn start_job(&self, command: &str, parameters: Value) -> String {
        let body = json!({"command": command, "parameters": parameters, "job": true});
        let answer = self.exec(&body).json();
        assert_eq!(answer["result"]["state"], "queued", "{answer}");
        answer["result"]["jobId"].as_str().expect("a job has an id").to_owned()
    }

    /// A job as it stands.
    pub fn job(&self, id: &str) -> Value {
        self.get(&format!("/api/job?id={id}")).json()
    }

    /// A job once it is in a state, asked for over one connection.
    ///
    /// # Panics
    /// When it does not come to that.
    pub fn job_in(&self, id: &str, state: &str) -> Value {
        let mut http = self.connect();
        until_ok(PATIENCE, || {
            let job = self.ask(&mut http, "GET", &format!("/api/job?id={id}"), "").json();
            if job["state"] == state { Ok(job) } else { Err(format!("it is not {state}: {job}")) }
        })
    }

    /// Ends it as a service manager does, and waits for its end.
    ///
    /// # Panics
    /// When no signal can be sent.
    #[cfg(unix)]
    pub fn terminate(&mut self) -> ExitStatus {
        crate::signal(self.server.pid(), crate::Signal::TERM);
        self.server.wait_for_exit()
    }

    /// Asserts that `/api/status` answers soon.
    ///
    /// # Panics
    /// When it does not.
    pub fn status_is_quick(&self) {
        const SOON: Duration = Duration::from_secs(5);
        let began = Instant::now();
        assert_eq!(self.get("/api/status").json()["status"], "ready");
        assert!(began.elapsed() < SOON, "/api/status took {:?}", began.elapsed());
    }
}
