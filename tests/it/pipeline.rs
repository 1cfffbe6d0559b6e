//! The Unity Pipeline's server as a process, spoken to by a plain client: one table of requests, jobs, batches, the end.

mod approval;
mod batch;
#[cfg(unix)]
mod gates;
mod jobs;
mod life;
mod openapi;
mod strain;
mod table;
