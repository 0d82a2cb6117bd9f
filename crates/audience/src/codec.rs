//! Bitmaps as bytes, in the portable format that every Roaring library reads.

use roaring::RoaringBitmap;

#[derive(Debug, thiserror::Error)]
pub enum CorruptBitmap {
    #[error("a stored bitmap cannot be read")]
    Unreadable(#[source] std::io::Error),
    #[error("a stored bitmap is followed by {0} bytes that do not belong to it")]
    TooLong(usize),
}

pub fn encode(channels: &RoaringBitmap) -> Vec<u8> {
    let mut compact = channels.clone();
    // Neighbors mostly change together: a block of which all were sent takes a few bytes.
    compact.optimize();
    let mut bytes = Vec::with_capacity(compact.serialized_size());
    compact.serialize_into(&mut bytes).expect("memory takes everything that is written to it");
    bytes
}

pub fn decode(mut bytes: &[u8]) -> Result<RoaringBitmap, CorruptBitmap> {
    let channels = RoaringBitmap::deserialize_from(&mut bytes).map_err(CorruptBitmap::Unreadable)?;
    if bytes.is_empty() { Ok(channels) } else { Err(CorruptBitmap::TooLong(bytes.len())) }
}
