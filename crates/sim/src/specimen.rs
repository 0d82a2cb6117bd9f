//! One good request as it came, as a model for more like it.

use bytes::Bytes;
use http::HeaderMap;

use crate::call::Call;

#[derive(Clone, Debug)]
pub struct Specimen {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Specimen {
    pub(crate) fn of(call: &Call<'_>) -> Self {
        Self { path: call.path.to_owned(), headers: call.headers.clone(), body: Bytes::copy_from_slice(call.body) }
    }
}
