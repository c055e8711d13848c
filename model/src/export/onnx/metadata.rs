//! What an engine's author must know about a net, as texts in the file: `docs/export.md` explains each.

use rules::{Color, Variant};
use serde_json::{Value, json};

use crate::net_file::checksum;
use crate::{Encoding, NetMeta, NetShape, Weights};

/// Version of names, shapes and metadata of exported graphs.
pub const EXPORT_FORMAT: u32 = 1;

/// The metadata of a net, by key.
pub fn of(weights: &Weights, meta: &NetMeta, variant: &Variant) -> Vec<(&'static str, String)> {
    let encoding = Encoding::new(variant);
    vec![
        ("format", EXPORT_FORMAT.to_string()),
        ("variant", meta.variant.clone()),
        ("variant_toml", meta.variant_toml.clone()),
        ("encoding_version", meta.encoding_version.to_string()),
        ("encoding_hash", meta.encoding_hash.clone()),
        ("board", board(variant).to_string()),
        ("planes", json!(encoding.plane_names()).to_string()),
        ("rights", rights(variant).to_string()),
        ("policy", policy(variant).to_string()),
        ("net_id", meta.net_id.clone()),
        ("net_step", meta.step.to_string()),
        ("net_hash", checksum(weights)),
    ]
}

/// Size and the name of the lowest rank.
fn board(variant: &Variant) -> Value {
    json!({
        "files": variant.files(),
        "ranks": variant.ranks(),
        "first_rank": variant.first_rank(),
        "start_fen": variant.start_fen(),
        "entries": variant.most_entries(Color::White),
    })
}

/// By letter of the FEN's castling field: the squares of the men that it says have not moved, White's and Black's; for a
/// letter that stands for an entered man, the letter of that man.
fn rights(variant: &Variant) -> Value {
    let letters = variant.right_letters().into_iter().map(|right| {
        let squares = Color::ALL.map(|color| {
            let names = right.squares[color].into_iter();
            names
                .map(|square| variant.square_name(square))
                .collect::<Vec<_>>()
        });
        let entered = right
            .entered
            .map(|role| variant.roles()[role.index()].letter);
        let value = match entered {
            Some(letter) => json!({ "entered": letter }),
            None => json!({ "white": squares[0], "black": squares[1] }),
        };
        (right.letter.to_string(), value)
    });
    Value::Object(letters.collect())
}

/// What the dimensions of the policy stand for.
fn policy(variant: &Variant) -> Value {
    let shape = NetShape::new(variant);
    let letter = |role: &rules::Role| variant.roles()[role.index()].letter;
    let mut kinds = vec!["plain".to_owned()];
    let promotions = variant.promotion_roles().iter();
    kinds.extend(promotions.map(|role| format!("promotion {}", letter(role))));
    if variant.can_castle() {
        kinds.push("castling".to_owned());
    }
    json!({
        "cells": shape.cells(),
        "hand": variant.hand_roles().iter().map(letter).collect::<Vec<char>>(),
        "kinds": kinds,
    })
}
