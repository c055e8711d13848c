//! Matches in which other programs play, refereed here.
//!
//! An engine is a program that speaks UCI or CECP (XBoard's protocol). It only proposes moves: whether they are legal, when the
//! game is over and who has won is decided by our own rules, and so is how long it may think. An engine that crashes, falls
//! silent, exceeds its time or proposes an illegal move loses that game, with the reason, and is started anew.
//!
//! 1. [`spec`]: which program, with which options; [`clock`]: how long it may think.
//! 2. [`process`]: the running program, lines in and out; [`dialect`]: moves as the protocols write them.
//! 3. [`client`]: what both protocols have in common; [`uci`] and [`cecp`] speak them.
//! 4. [`player`]: an engine or one of our own contestants; [`referee`] plays the match.

pub mod cecp;
pub mod client;
pub mod clock;
pub mod dialect;
pub mod player;
pub mod process;
pub mod referee;
pub mod spec;
pub mod time_use;
pub mod uci;
