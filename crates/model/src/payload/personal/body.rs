//! Bodies other than pushes whose texts differ from device to device. They are made for one device at a time.

use std::collections::BTreeSet;

use personalization::{Unrenderable, ValueMap};
use serde_json::Value;

use super::VaryingTexts;
use super::walk::{Filler, Marker, marks_in};
use crate::json::Json;
use crate::time::UtcMillis;

/// A body with marks where something is filled in.
#[derive(Clone, Debug)]
pub struct PersonalizedBody {
    marked: Json,
    texts: VaryingTexts,
}

impl PersonalizedBody {
    /// Its names are the caller's own: they make neither HTML of a text nor a URL.
    pub fn new(body: &Value) -> Self {
        let mut marker = Marker::default();
        let marked = marker.body(&Json::from(body));
        Self { marked, texts: VaryingTexts { texts: marker.texts, global: ValueMap::new() } }
    }

    /// The names under which values of the device are looked for.
    pub fn names(&self) -> BTreeSet<String> {
        self.texts.names()
    }

    pub fn filled(&self, values: &ValueMap, now: UtcMillis) -> Result<Value, Unrenderable> {
        let texts = self.texts.rendered(marks_in(&self.marked).into_iter(), values, now)?;
        Ok(Filler { texts: &texts }.push(&self.marked).to_value())
    }
}
