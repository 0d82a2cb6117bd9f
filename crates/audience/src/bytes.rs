//! Numbers, texts and bitmaps as bytes, the pieces that the sections of a snapshot are made of.
//!
//! Taking a piece shortens the input, and gives `None` when the input does not begin with one.

use roaring::RoaringBitmap;

pub(crate) fn put_number(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

pub(crate) fn take_number(input: &mut &[u8]) -> Option<u32> {
    let (number, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(u32::from_le_bytes(*number))
}

pub(crate) fn put_count(out: &mut Vec<u8>, count: usize) {
    put_number(out, u32::try_from(count).expect("nothing in the index is longer than 32 bits can count"));
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_count(out, text.len());
    out.extend(text.as_bytes());
}

pub(crate) fn take_text<'a>(input: &mut &'a [u8]) -> Option<&'a str> {
    let length = take_number(input)? as usize;
    str::from_utf8(input.split_off(..length)?).ok()
}

pub(crate) fn put_bitmap(out: &mut Vec<u8>, channels: &RoaringBitmap) {
    out.reserve(channels.serialized_size());
    channels.serialize_into(out).expect("memory takes everything that is written to it");
}

pub(crate) fn take_bitmap(input: &mut &[u8]) -> Option<RoaringBitmap> {
    RoaringBitmap::deserialize_from(input).ok()
}
