//! The Didi server as a library; the binary is a thin shell around it.
