//! Support of the tests: the built server as a process, fixtures, redaction.
