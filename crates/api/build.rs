//! Packs the OpenAPI document: the program carries a tenth of its size, and sends it as it is to callers that take gzip.

use std::io::Write;
use std::path::Path;
use std::{env, error, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

const DOCUMENT: &str = "../../docs/openapi.json";

#[expect(clippy::disallowed_methods, reason = "Cargo tells build scripts by a variable where to write")]
fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let folder = env::var("OUT_DIR")?;
    let mut encoder =
        GzEncoder::new(fs::File::create(Path::new(&folder).join("openapi.json.gz"))?, Compression::best());
    encoder.write_all(&fs::read(DOCUMENT)?)?;
    encoder.finish()?.flush()?;
    Ok(())
}
