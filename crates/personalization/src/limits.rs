//! What a template may cost. All of it is far beyond what a message needs.

/// Blocks inside blocks, and helpers inside helpers.
pub const DEPTH: usize = 16;
/// Tags of one text.
pub const TAGS: usize = 1_000;
/// Bytes of one rendered text, and of all that one recipient gets together in one message.
pub const OUTPUT_BYTES: usize = 256 * 1024;
/// Tags and helpers that are carried out for one text: those inside loops count once for every turn.
pub const STEPS: usize = 20_000;
/// The same for all texts of a push that one recipient gets.
pub const STEPS_OF_ALL: usize = 100_000;
/// Mistakes of one text that are reported.
pub const MISTAKES: usize = 20;
