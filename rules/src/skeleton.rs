//! Signatures of the parts that follow.
#![allow(missing_docs, unused_variables)]

use std::sync::Arc;

use crate::*;

#[derive(Debug)]
pub struct Variant {}

impl Variant {
    pub fn by_name(name: &str) -> Result<Arc<Variant>, VariantError> {
        unimplemented!()
    }
    pub fn from_toml(text: &str) -> Result<Arc<Variant>, VariantError> {
        unimplemented!()
    }
    pub fn builtin_names() -> &'static [&'static str] {
        unimplemented!()
    }
    pub fn name(&self) -> &str {
        unimplemented!()
    }
    pub fn title(&self) -> &str {
        unimplemented!()
    }
    pub fn files(&self) -> u8 {
        unimplemented!()
    }
    pub fn ranks(&self) -> u8 {
        unimplemented!()
    }
    pub fn board(&self) -> Bitboard {
        unimplemented!()
    }
    pub fn roles(&self) -> &[RoleInfo] {
        unimplemented!()
    }
    pub fn role_by_letter(&self, letter: char) -> Option<Role> {
        unimplemented!()
    }
    pub fn start(&self) -> Position {
        unimplemented!()
    }
    pub fn start_fen(&self) -> &str {
        unimplemented!()
    }
    pub fn toml(&self) -> &str {
        unimplemented!()
    }
    pub fn hand_roles(&self) -> &[Role] {
        unimplemented!()
    }
    pub fn promotion_roles(&self) -> &[Role] {
        unimplemented!()
    }
    pub fn can_castle(&self) -> bool {
        unimplemented!()
    }
    pub fn square_name(&self, square: Square) -> String {
        unimplemented!()
    }
    pub fn parse_square(&self, name: &str) -> Option<Square> {
        unimplemented!()
    }
    pub fn move_text(&self, position: &Position, mv: Move) -> String {
        unimplemented!()
    }
    pub fn parse_move(&self, position: &Position, text: &str) -> Result<Move, MoveTextError> {
        unimplemented!()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {}

impl Position {
    pub fn from_fen(variant: &Variant, fen: &str) -> Result<Position, FenError> {
        unimplemented!()
    }
    pub fn fen(&self, variant: &Variant) -> String {
        unimplemented!()
    }
    pub fn turn(&self) -> Color {
        unimplemented!()
    }
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        unimplemented!()
    }
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        unimplemented!()
    }
    pub fn by_color(&self, color: Color) -> Bitboard {
        unimplemented!()
    }
    pub fn occupied(&self) -> Bitboard {
        unimplemented!()
    }
    pub fn halfmove_clock(&self) -> u16 {
        unimplemented!()
    }
    pub fn fullmove_number(&self) -> u32 {
        unimplemented!()
    }
    pub fn ep_square(&self) -> Option<Square> {
        unimplemented!()
    }
    pub fn rights(&self) -> Bitboard {
        unimplemented!()
    }
    pub fn hand(&self, color: Color, role: Role) -> u8 {
        unimplemented!()
    }
    pub fn entries_due(&self, color: Color) -> u8 {
        unimplemented!()
    }
    pub fn legal_moves(&self, variant: &Variant) -> Vec<Move> {
        unimplemented!()
    }
    pub fn legal_moves_into(&self, variant: &Variant, moves: &mut Vec<Move>) {
        unimplemented!()
    }
    pub fn play(&self, variant: &Variant, mv: Move) -> Position {
        unimplemented!()
    }
    pub fn is_check(&self, variant: &Variant) -> bool {
        unimplemented!()
    }
    pub fn key(&self) -> u64 {
        unimplemented!()
    }
    pub fn status(&self, variant: &Variant) -> Status {
        unimplemented!()
    }
    pub fn mirror(&self, variant: &Variant) -> Position {
        unimplemented!()
    }
    pub fn with_piece(
        &self,
        variant: &Variant,
        square: Square,
        piece: Option<Piece>,
    ) -> Result<Position, PositionError> {
        unimplemented!()
    }
}

#[derive(Clone, Debug)]
pub struct Game {}

impl Game {
    pub fn new(variant: Arc<Variant>, position: Position) -> Game {
        unimplemented!()
    }
    pub fn position(&self) -> &Position {
        unimplemented!()
    }
    pub fn variant(&self) -> &Arc<Variant> {
        unimplemented!()
    }
    pub fn play(&mut self, mv: Move) {
        unimplemented!()
    }
    pub fn repetitions(&self) -> u8 {
        unimplemented!()
    }
    pub fn history_keys(&self) -> &[u64] {
        unimplemented!()
    }
    pub fn status(&self) -> Status {
        unimplemented!()
    }
    pub fn outcome(&self) -> Option<Outcome> {
        unimplemented!()
    }
}

pub fn perft(variant: &Variant, position: &Position, depth: u32) -> u64 {
    unimplemented!()
}

pub fn divide(variant: &Variant, position: &Position, depth: u32) -> Vec<(Move, u64)> {
    unimplemented!()
}
