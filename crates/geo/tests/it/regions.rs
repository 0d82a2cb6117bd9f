//! Regions above provinces: found by name as provinces, and around the points of their provinces.

use geo::{Boundary, Code, Kind};

use crate::{ATLAS, at};

fn named(name: &str) -> Option<&'static Boundary> {
    ATLAS.named(name, Some(Kind::Province), 1).first().copied()
}

#[test]
fn regions_are_found_by_their_names() {
    for (name, code) in [
        ("Catalonia", "ES-CT"),
        ("Catalunya", "ES-CT"),
        ("cataluna", "ES-CT"),
        ("Katalonien", "ES-CT"),
        ("England", "GB-ENG"),
        ("Scotland", "GB-SCT"),
        ("Cymru", "GB-WLS"),
        ("Northern Ireland", "GB-NIR"),
        ("Andalucía", "ES-AN"),
        ("Basque Country", "ES-PV"),
        ("Tuscany", "IT-52"),
        ("Lombardia", "IT-25"),
        ("Bretagne", "FR-BRE"),
        ("ile de france", "FR-IDF"),
        ("Corsica", "FR-20R"),
        ("Flanders", "BE-VLG"),
    ] {
        let found = named(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(found.code(Code::Province), Some(code), "{name} is {}", found.name);
        assert_eq!(ATLAS.by_code(Code::Province, code).map(|region| region.id), Some(found.id));
        assert!(found.population > 100_000, "{name}");
    }
    // Others keep their names.
    for (name, code) in
        [("Bavaria", "DE-BY"), ("Barcelona", "ES-B"), ("Kent", "GB-KEN"), ("Paris", "FR-75"), ("Oregon", "US-OR")]
    {
        assert_eq!(named(name).and_then(|found| found.code(Code::Province)), Some(code), "{name}");
    }
    assert_eq!(&*ATLAS.named("Barcelona, Catalonia", Some(Kind::City), 1)[0].name, "Barcelona");
}

#[test]
fn a_region_is_around_the_points_of_its_provinces() {
    for (lat, lon, expected) in [
        (41.39, 2.17, ["Barcelona", "Catalonia", "Spain"]),
        (51.27, 0.52, ["Kent", "England", "United Kingdom"]),
        (55.95, -3.19, ["Edinburgh", "Scotland", "United Kingdom"]),
        (43.77, 11.25, ["Firenze", "Tuscany", "Italy"]),
        (48.11, -1.68, ["Ille-et-Vilaine", "Brittany", "France"]),
        (51.22, 4.40, ["Antwerp", "Flanders", "Belgium"]),
    ] {
        let found = ATLAS.at(at(lat, lon));
        let land: Vec<&str> = found.iter().filter(|place| place.kind != Kind::City).map(|place| &*place.name).collect();
        assert_eq!(land, expected);
    }
    let madrid = ATLAS.at(at(40.42, -3.70));
    assert_eq!(madrid.iter().filter(|place| place.kind == Kind::Province).count(), 1, "one province is no region");
}

#[test]
fn a_region_has_an_extent_and_an_outline_of_its_provinces() {
    let catalonia = named("Catalonia").unwrap();
    let extent = catalonia.extent;
    assert!((40_400_000..40_700_000).contains(&extent.south) && (42_700_000..43_000_000).contains(&extent.north));
    assert!((0..400_000).contains(&extent.west) && (3_200_000..3_500_000).contains(&extent.east));
    assert!((extent.south..extent.north).contains(&extent.lat) && (extent.west..extent.east).contains(&extent.lon));
    let outline = ATLAS.outline(catalonia.id, 10).unwrap();
    let largest = outline.0.iter().map(|polygon| polygon[0].len()).max().unwrap();
    assert!(largest > 50, "{largest}");
    assert!(outline.0.len() < 20, "its provinces are one: {}", outline.0.len());
}
