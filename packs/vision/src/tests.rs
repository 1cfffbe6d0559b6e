//! What the live tools of pictures send to the engine, and what they refuse before they send anything.
