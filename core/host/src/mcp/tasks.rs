//! The tasks extension: jobs as modern clients see them.
//!
//! Spec: P-8, jobs.

use serde_json::{Map, Value, json};

use super::{Server, discover, era, era::Terms};
use crate::{
    answer::CallResult,
    jobs::{Job, KEPT_FOR, POLL_INTERVAL_MS, Status},
    jsonrpc::ProtocolError,
    source,
};

/// A job's members as a task.
fn members(job: &Job) -> Value {
    let (status, updated_ms) = job.status();
    json!({
        "taskId": job.id,
        "status": status.as_str(),
        "createdAt": source::iso8601(job.created_ms),
        "lastUpdatedAt": source::iso8601(updated_ms),
        "ttlMs": u64::try_from(KEPT_FOR.as_millis()).unwrap_or(u64::MAX),
        "pollIntervalMs": POLL_INTERVAL_MS,
    })
}

fn answer(result_type: &str, task: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("resultType".into(), result_type.into());
    if let Value::Object(task) = task {
        whole.extend(task);
    }
    whole.insert("_meta".into(), json!({era::SERVER_INFO_KEY: discover::server_info()}));
    Value::Object(whole)
}

/// The result of a call that goes on as a task.
pub(super) fn created(job: &Job) -> Value {
    answer("task", members(job))
}

impl Server {
    pub(super) fn task(
        &self,
        method: &str,
        terms: &Terms,
        params: &Map<String, Value>,
    ) -> Result<Value, ProtocolError> {
        if !terms.declares(era::TASKS_EXTENSION) {
            let message =
                format!("`{method}` needs the client capability `{}`", era::TASKS_EXTENSION);
            let required = json!({"extensions": {era::TASKS_EXTENSION: {}}});
            return Err(ProtocolError::new(era::MISSING_CAPABILITY, message)
                .data(json!({"requiredCapabilities": required})));
        }
        let dispatcher = self.dispatcher();
        let id = params.get("taskId").and_then(Value::as_str);
        let Some(job) = id.and_then(|id| dispatcher.jobs.get(id)) else {
            let mut data = json!({"field": "taskId"});
            if let Some(id) = id {
                data["taskId"] = crate::text::clip(id).into();
            }
            return Err(ProtocolError::params("no such task is kept").data(data));
        };
        match method {
            "tasks/cancel" => job.cancel(),
            "tasks/get" => return Ok(self.state(terms, &job)),
            // No task here asks its client for anything.
            _ => {}
        }
        Ok(answer("complete", json!({})))
    }

    fn state(&self, terms: &Terms, job: &Job) -> Value {
        let mut task = members(job);
        if job.status().0 == Status::Completed
            && let Some(outcome) = job.wait(std::time::Duration::ZERO)
        {
            let mut outcome = outcome;
            if let Err(refusal) = &mut outcome.body {
                crate::answer::floor::fill(refusal, &job.tool);
            }
            let result = CallResult::of(outcome, self.economy(terms), Some("complete"));
            task["result"] = json!(result);
        }
        answer("complete", task)
    }
}
