//! Points where mistakes are easy: coasts, borders, enclaves, poles, the antimeridian.

use geo::{Area, Code, Kind};
use model::place::PlaceId;

use crate::{ATLAS, at};

fn country_at(lat: f64, lon: f64) -> Option<&'static str> {
    let found = ATLAS.at(at(lat, lon));
    found.into_iter().find(|boundary| boundary.kind == Kind::Country).and_then(|country| country.code(Code::Country))
}

fn province_at(lat: f64, lon: f64) -> Option<&'static str> {
    let found = ATLAS.at(at(lat, lon));
    found.into_iter().find(|boundary| boundary.kind == Kind::Province).map(|province| &*province.name)
}

#[test]
fn enclaves_are_countries_of_their_own() {
    for (lat, lon, country) in [
        (41.9022, 12.4533, "VA"),
        (41.9036, 12.4500, "VA"),
        (41.8986, 12.4769, "IT"),
        (41.9022, 12.4663, "IT"),
        (-29.6, 28.2, "LS"),
        (-29.12, 26.21, "ZA"),
        (-30.9, 28.0, "ZA"),
        (43.94, 12.46, "SM"),
        (44.06, 12.57, "IT"),
        (46.0, 8.95, "CH"),
        (39.75, 45.00, "AZ"),
        (54.71, 20.51, "RU"),
        (4.55, 114.2, "BN"),
        (-5.55, 12.20, "AO"),
    ] {
        assert_eq!(country_at(lat, lon), Some(country), "{lat},{lon}");
    }
}

#[test]
fn both_sides_of_borders() {
    for (lat, lon, country, province) in [
        (31.760, -106.487, "US", "Texas"),
        (31.730, -106.485, "MX", "Chihuahua"),
        (42.331, -83.046, "US", "Michigan"),
        (42.305, -83.035, "CA", "Ontario"),
        (32.552, -117.043, "US", "California"),
        (32.525, -117.030, "MX", "Baja California"),
        (39.114, -94.627, "US", "Kansas"),
        (39.099, -94.578, "US", "Missouri"),
        (32.461, -84.988, "US", "Georgia"),
        (32.471, -85.010, "US", "Alabama"),
        (45.631, -122.671, "US", "Washington"),
        (45.590, -122.680, "US", "Oregon"),
        (47.560, 7.590, "CH", "Basel-Stadt"),
        (47.612, 7.661, "DE", "Baden-Württemberg"),
        (41.15, 29.05, "TR", "Istanbul"),
        (40.98, 29.10, "TR", "Istanbul"),
        (-25.54, -54.58, "BR", "Paraná"),
        (-25.51, -54.65, "PY", "Alto Paraná"),
        (1.46, 103.76, "MY", "Johor"),
        (1.30, 103.85, "SG", "Central Singapore"),
    ] {
        assert_eq!(country_at(lat, lon), Some(country), "{lat},{lon}");
        assert_eq!(province_at(lat, lon), Some(province), "{lat},{lon}");
    }
}

#[test]
fn coasts_piers_and_harbors_belong_to_the_land() {
    for (lat, lon, country, province) in [
        (34.0083, -118.4987, "US", Some("California")),
        (41.8917, -87.5997, "US", Some("Illinois")),
        (50.8143, -0.1370, "GB", Some("Brighton and Hove")),
        (-33.8568, 151.2153, "AU", Some("New South Wales")),
        (22.2930, 114.1690, "HK", Some("Yau Tsim Mong")),
        (43.2951, 5.3450, "FR", Some("Bouches-du-Rhône")),
        (52.1150, 4.2650, "NL", Some("Zuid-Holland")),
        (36.1100, -5.3450, "GI", Some("Gibraltar")),
        (12.5170, -70.0450, "AW", None),
        (-54.28, -36.51, "GS", None),
    ] {
        assert_eq!(country_at(lat, lon), Some(country), "{lat},{lon}");
        if province.is_some() {
            assert_eq!(province_at(lat, lon), province, "{lat},{lon}");
        }
    }
}

#[test]
fn the_open_sea_is_nowhere() {
    for (lat, lon) in [(0.0, 0.0), (40.0, -40.0), (-50.0, 100.0), (20.0, -140.0), (85.0, 0.0), (-60.0, -150.0)] {
        assert!(ATLAS.at(at(lat, lon)).is_empty(), "{lat},{lon}");
    }
}

#[test]
fn poles() {
    for lon in [-180.0, -90.0, 0.0, 77.7, 180.0] {
        assert_eq!(country_at(-90.0, lon), Some("AQ"), "{lon}");
        assert_eq!(country_at(90.0, lon), None, "{lon}");
    }
    let cap = ATLAS.touching(Area::between(at(-90.0, -180.0), at(-89.0, 180.0)), None, 10);
    assert_eq!(cap.iter().map(|found| found.kind).collect::<Vec<_>>(), [Kind::Country, Kind::Province]);
}

#[test]
fn the_antimeridian_is_one_meridian() {
    for (lat, lon, country) in [
        (-16.80, 180.0, "FJ"),
        (-16.80, -180.0, "FJ"),
        (-16.80, 179.99, "FJ"),
        (-16.80, -179.99, "FJ"),
        (66.5, 180.0, "RU"),
        (66.5, -180.0, "RU"),
        (66.5, 179.5, "RU"),
        (66.5, -179.5, "RU"),
        (71.2, -179.5, "RU"),
        (51.88, -176.65, "US"),
        (51.95, 179.5, "US"),
        (-43.95, -176.55, "NZ"),
    ] {
        assert_eq!(country_at(lat, lon), Some(country), "{lat},{lon}");
    }
}

#[test]
fn boxes_across_the_antimeridian() {
    let countries = |a, b| {
        let found = ATLAS.touching(Area::between(a, b), Some(Kind::Country), 100);
        let mut codes: Vec<_> = found.into_iter().filter_map(|country| country.code(Code::Country)).collect();
        codes.sort_unstable();
        codes
    };
    assert_eq!(countries(at(-20.0, 177.0), at(-15.0, -178.0)), ["FJ"]);
    assert_eq!(countries(at(-15.0, 177.0), at(-20.0, -178.0)), ["FJ"]);
    assert_eq!(countries(at(51.0, 172.0), at(53.0, -165.0)), ["US"]);
    // The other way round it is most of the earth.
    let around = countries(at(-20.0, -178.0), at(-15.0, 177.0));
    assert!(["AU", "BO", "BR", "FJ", "MZ", "TO", "VU"].iter().all(|code| around.contains(code)), "{around:?}");
    // Two corners, in whichever order.
    let portland = [(45.40, -122.80), (45.60, -122.50), (45.40, -122.50), (45.60, -122.80)];
    for (n, opposite) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
        let (a, b) = (at(portland[n].0, portland[n].1), at(portland[opposite].0, portland[opposite].1));
        let found = ATLAS.touching(Area::between(a, b), Some(Kind::City), 100);
        assert_eq!(&*found[0].name, "Portland");
        assert_eq!(countries(a, b), ["US"]);
    }
}

/// These were published by the service whose API this is.
#[test]
fn bounds_and_centroids_are_those_of_the_census() {
    let found = ATLAS.named("San Francisco", Some(Kind::City), 1)[0];
    let extent = found.extent;
    assert_eq!((extent.south, extent.west), (37_639_830, -123_173_825));
    assert_eq!((extent.north, extent.east), (37_929_824, -122_281_780));
    assert_eq!((extent.lat, extent.lon), (37_759_715, -122_693_976));
}

#[test]
fn ids_stay_what_they_are() {
    for (id, name, kind) in [
        ("1HGisoo6JVvALmvCgUjfvc", "Germany", Kind::Country),
        ("3rLKvwbgum8VtFjn6sYCpb", "Oregon", Kind::Province),
        ("4M2wpjfWbpQKNam4b99ZjH", "Bayern", Kind::Province),
        ("48L6AdGyBoBTSnDhmmWV1T", "Multnomah", Kind::County),
        ("6j6G4aQocxwBkBw9RtJM5o", "San Francisco", Kind::City),
        ("7WYx76bWmheR4BwcMDGNuc", "Paris", Kind::City),
    ] {
        let found = ATLAS.by_id(PlaceId::from_text(id).unwrap()).unwrap();
        assert_eq!((&*found.name, found.kind), (name, kind));
    }
    let mut ids: Vec<_> = ATLAS.boundaries().map(|boundary| boundary.id).collect();
    let n = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), n);
    assert!(ATLAS.by_id(PlaceId(7)).is_none());
}

#[test]
fn codes_name_places() {
    for (kind, code, name) in [
        (Code::UsState, "CA", "California"),
        (Code::UsState, "or", "Oregon"),
        (Code::State, "TX", "Texas"),
        (Code::Hasc, "US.CA", "California"),
        (Code::Fips, "US06", "California"),
        (Code::Country, "DE", "Germany"),
        (Code::Province, "DE-BE", "Berlin"),
        (Code::Province, "US-PR", "Puerto Rico"),
    ] {
        assert_eq!(ATLAS.by_code(kind, code).map(|found| &*found.name), Some(name), "{code}");
    }
    assert!(ATLAS.by_code(Code::UsState, "XX").is_none());
}

#[test]
fn a_code_names_one_place() {
    let mut n_codes = 0;
    for boundary in ATLAS.boundaries() {
        for (kind, code) in &boundary.codes {
            let found = ATLAS.by_code(*kind, code).unwrap();
            assert_eq!(found.id, boundary.id, "{code} is {} and {}", found.name, boundary.name);
            n_codes += 1;
        }
    }
    assert!(n_codes > 11_000, "{n_codes}");
    // Codes that several provinces of a region share, and what stands for no code at all.
    for (kind, code) in [
        (Code::Hasc, "ES.AN"),
        (Code::Hasc, "ES.CT"),
        (Code::Fips, "IT09"),
        (Code::Fips, "SI00"),
        (Code::Fips, "DR00"),
        (Code::Fips, "MB**"),
        (Code::Province, "BA-BIH"),
    ] {
        assert!(ATLAS.by_code(kind, code).is_none(), "{code}");
    }
    // Neighbors to which the source gives the same code do not take it away.
    for (code, name) in [("AU-NSW", "New South Wales"), ("CO-CUN", "Cundinamarca"), ("SB-CH", "Choiseul")] {
        assert_eq!(ATLAS.by_code(Code::Province, code).map(|found| &*found.name), Some(name), "{code}");
    }
}

#[test]
fn names_are_found_however_they_are_written() {
    let first = |name: &str, kind| {
        let found = ATLAS.named(name, kind, 10);
        let first = found.first().unwrap_or_else(|| panic!("nothing is called {name}"));
        let country = ATLAS.parents(first).last().unwrap_or(first);
        format!("{} {}", first.name, country.code(Code::Country).unwrap())
    };
    for (name, found) in [
        ("PORTLAND", "Portland US"),
        ("münchen", "Munich DE"),
        ("MUNCHEN", "Munich DE"),
        ("koln", "Köln DE"),
        ("東京", "Tokyo JP"),
        ("москва", "Moscow RU"),
        ("sao paulo", "São Paulo BR"),
        ("são paulo", "São Paulo BR"),
        ("NYC", "New York US"),
        ("san fransisco", "San Francisco US"),
        ("protland", "Portland US"),
        ("st johns", "St. John's CA"),
        ("los ange", "Los Angeles US"),
        ("washington d.c.", "Washington US"),
        ("Washington, D.C.", "Washington US"),
        ("Paris, France", "Paris FR"),
        ("Paris, Texas", "Paris US"),
        ("Paris, TX, USA", "Paris US"),
        ("london, ontario", "London CA"),
        ("münchen, deutschland", "Munich DE"),
    ] {
        assert_eq!(first(name, Some(Kind::City)), found, "{name}");
    }
    for (name, found) in [
        ("deutschland", "Germany DE"),
        ("COTE D'IVOIRE", "Côte d’Ivoire CI"),
        ("ivory coast", "Côte d’Ivoire CI"),
        ("uk", "United Kingdom GB"),
        ("USA", "United States US"),
        ("中国", "China CN"),
        ("Grmany", "Germany DE"),
    ] {
        assert_eq!(first(name, Some(Kind::Country)), found, "{name}");
    }
    assert_eq!(first("bavaria", Some(Kind::Province)), "Bayern DE");
    for nothing in ["", "  ", "--", "xqzzyqx"] {
        assert!(ATLAS.named(nothing, None, 10).is_empty(), "{nothing}");
    }
}

#[test]
fn exact_names_come_before_beginnings_and_these_before_likenesses() {
    let names = |name: &str| ATLAS.named(name, None, 100);
    let portland = names("portland");
    let cities = portland.iter().filter(|found| found.kind == Kind::City);
    let states: Vec<&str> = cities.take(3).map(|found| &*ATLAS.parent(found).unwrap().name).collect();
    assert_eq!(states, ["Oregon", "Maine", "Texas"]);
    let first_longer = portland.iter().position(|found| found.name.len() > "Portland".len()).unwrap();
    assert!(portland[first_longer..].iter().all(|found| &*found.name != "Portland"));
    assert!(portland[..first_longer].windows(2).all(|pair| pair[0].population >= pair[1].population));
    assert_eq!(ATLAS.named("a", None, 7).len(), 7);
}
