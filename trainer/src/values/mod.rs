//! What each man is worth.
