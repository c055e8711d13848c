//! Matches between players of different strength, and the Elo scale that they are measured on.

pub mod elo;
pub mod ladder;
pub mod normal;
pub mod pentanomial;
