//! Places.

use serde_json::json;

use crate::openapi::{Area, query};
use crate::page_size::PageSize;
use crate::routes::location::{Feature, Features};
use crate::routes::regions::Regions;

const TYPES: [&str; 4] = ["country", "province", "county", "city"];

pub(super) fn area() -> Area {
    let mut area = Area::new("Location", "Countries, provinces, counties and cities, which audiences can select by.");
    area.get("/api/location", "Find places by name", "What the name may mean, the likeliest first; up to 100.")
        .takes(query::text("q", "The name, in any language.").required().example("Portland"))
        .takes(kind())
        .bare::<Features>("The places.");
    area.get(
        "/api/location/from-alias",
        "Find places by alias",
        "One alias gives one place, several give a list of those that exist.",
    )
    .takes(query::text("country", "Two letters of ISO 3166-1.").example("PT"))
    .takes(query::text("province", "A code of ISO 3166-2.").example("CA-ON"))
    .takes(query::text("us_state", "The letters of a state of the USA.").example("OR"))
    .takes(query::text("state", "The same."))
    .takes(query::text("hasc", "A hierarchical administrative subdivision code.").example("US.OR"))
    .takes(query::text("fips_10-4", "A code of FIPS 10-4.").example("US41"))
    .bare_with(either, "The place, or the places.")
    .refuses(404, "There is no place with the only alias (40401).");
    area.get(
        "/api/location/{place}",
        "Find places by point, box or id",
        "Everything around a point, the smallest first; everything that a box touches, up to 1,000; or one place by its id, with \
         its outline if there is a `zoom`.",
    )
    .takes(kind())
    .takes(query::number("zoom", 1..=20, "How fine the outline is: for a map of the earth `256 * 2^zoom` pixels wide."))
    .bare_with(either, "The place, or the places.");
    area.get("/api/regions", "List regions", "The service takes events about regions, and keeps no catalogue of them.")
        .takes(query::number("start", 0..=u32::MAX, "How many to skip.").default(json!(0)))
        .takes(query::limit(PageSize::REGIONS))
        .ok::<Regions>("An empty list.");
    area.get("/api/regions/{region_id}", "Look up a region", "There are none: always answered with 404.")
        .refuses(404, "There is no such region (40401).");
    area
}

fn kind() -> query::Parameter {
    query::choice("type", &TYPES, "Only places of this kind.")
}

fn either(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"anyOf": [generator.subschema_for::<Features>(), generator.subschema_for::<Feature>()]})
}
