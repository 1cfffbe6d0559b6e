//! The server's end of the bridge: engines that can be attached, the routes to those that are, and calls over
//! them.
//!
//! [`link`] is one connection, [`route`] one engine held by this process, [`routes`] the table of them, and
//! [`failure`] how a call over one can fail. What both ends agree on is `didi-wire`; which tool may call what is
//! left to dispatch.
//!
//! Spec: P-9, routes.

pub mod failure;
pub mod link;
pub mod route;
pub mod routes;

pub use failure::Failure;
pub use route::Route;
pub use routes::Routes;
