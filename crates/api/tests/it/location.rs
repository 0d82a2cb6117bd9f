//! Looking up places by name, by point, by box, by id and by alias.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

async fn found(app: &TestApp, path: &str) -> Vec<Value> {
    let reply = app.master().get(&format!("/api/location/{path}")).await.expect(200);
    let keys: Vec<&String> = reply.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["features"], "{path}");
    reply["features"].as_array().unwrap().clone()
}

fn names(features: &[Value]) -> Vec<&str> {
    features.iter().map(|feature| feature["properties"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn places_are_found_by_name_point_and_box() {
    on_each_database(async |app| {
        let by_name = found(&app, "?q=San%20Francisco&type=city").await;
        let city = json!({
            "type": "Feature",
            "id": "6j6G4aQocxwBkBw9RtJM5o",
            "bounds": [37.63983, -123.173825, 37.929824, -122.28178],
            "centroid": [37.759715, -122.693976],
            "properties": {
                "name": "San Francisco",
                "boundary_type": "city",
                "boundary_type_string": "City/Place",
                "source": "tiger.census.gov",
                "context": {"us_state": "CA", "us_state_name": "California", "country": "US", "country_name": "United States"},
            },
        });
        assert_eq!(by_name[0], city);
        assert_eq!(found(&app, "37.7749,-122.4194?type=city").await, std::slice::from_ref(&city));
        assert_eq!(found(&app, "37.77,-122.42,37.78,-122.41?type=city").await, std::slice::from_ref(&city));
        assert_eq!(found(&app, "37.77,-122.42,37.78,-122.41&type=city").await, std::slice::from_ref(&city));
        assert_eq!(app.master().get("/api/location/6j6G4aQocxwBkBw9RtJM5o").await.expect(200), city);
        let mut outlined = app.master().get("/api/location/6j6G4aQocxwBkBw9RtJM5o?zoom=20").await.expect(200);
        let geometry = outlined.as_object_mut().unwrap().remove("geometry").unwrap();
        assert_eq!(outlined, city);
        assert_eq!(geometry["type"], "MultiPolygon");
        let corners = geometry["coordinates"].as_array().unwrap().iter().flat_map(|polygon| polygon[0].as_array().unwrap());
        let corners: Vec<(f64, f64)> =
            corners.map(|corner| (corner[0].as_f64().unwrap(), corner[1].as_f64().unwrap())).collect();
        let least = |of: fn(&(f64, f64)) -> f64| corners.iter().map(of).fold(f64::INFINITY, f64::min);
        assert!((least(|corner| corner.0) + 123.173_825).abs() < 0.01, "longitude comes first");
        assert!((least(|corner| corner.1) - 37.639_83).abs() < 0.01);
        for zoom in ["0", "21", "x"] {
            let refused = app.master().get(&format!("/api/location/6j6G4aQocxwBkBw9RtJM5o?zoom={zoom}")).await.expect(400);
            assert_eq!(refused["details"]["path"], "zoom");
        }

        let all = found(&app, "37.7749,-122.4194").await;
        assert_eq!(names(&all), ["San Francisco", "San Francisco", "California", "United States"]);
        let types: Vec<&Value> = all.iter().map(|feature| &feature["properties"]["boundary_type_string"]).collect();
        assert_eq!(types, ["City/Place", "County", "State/Province", "Country"]);
        let state = &all[2]["properties"];
        assert_eq!(state["abbr"], "CA");
        let aliases = json!({"us_state": "CA", "state": "CA", "province": "US-CA", "hasc": "US.CA", "fips_10-4": "US06"});
        assert_eq!(state["aliases"], aliases);
        let lyon = &found(&app, "?q=lyon&type=city").await[0]["properties"];
        assert_eq!(lyon["context"]["country"], "FR");
        assert_eq!(lyon["context"]["province_name"], "Rhône");
        assert_eq!(lyon["source"], "geonames.org");

        assert_eq!(names(&found(&app, "?q=MUENCHEN").await)[0], "Munich");
        assert_eq!(names(&found(&app, "?q=protland&type=city").await)[0], "Portland");
        assert_eq!(names(&found(&app, "-20,177,-15,-178?type=country").await), ["Fiji"]);
        assert_eq!(found(&app, "?q=a").await.len(), 100);
        assert_eq!(found(&app, "-90,-180,90,180").await.len(), 1000);
        for nothing in ["?q=xqzzyqx", "0,0", "90,0?type=country"] {
            assert_eq!(found(&app, nothing).await, Vec::<Value>::new(), "{nothing}");
        }
        assert_eq!(found(&app, "37.7749,-122.4194,37.7750,-122.4193?type=CITY").await, std::slice::from_ref(&city));
    })
    .await;
}

#[tokio::test]
async fn regions_are_found_as_provinces() {
    on_each_database(async |app| {
        for (name, code) in
            [("Catalonia", "ES-CT"), ("England", "GB-ENG"), ("toscana", "IT-52"), ("Bretagne", "FR-BRE")]
        {
            let region = &found(&app, &format!("?q={name}&type=province")).await[0];
            let properties = &region["properties"];
            assert_eq!(
                (&properties["boundary_type"], &properties["aliases"]["province"]),
                (&json!("province"), &json!(code))
            );
            let by_code = app.master().get(&format!("/api/location/from-alias?province={code}")).await.expect(200);
            assert_eq!(by_code["id"], region["id"]);
        }
        let around = found(&app, "41.39,2.17?type=province").await;
        assert_eq!(names(&around), ["Barcelona", "Catalonia"]);
        let context = json!({"region": "ES-CT", "region_name": "Catalonia", "country": "ES", "country_name": "Spain"});
        assert_eq!(around[0]["properties"]["context"], context);
        let city = &found(&app, "?q=Barcelona,%20Catalonia&type=city").await[0]["properties"];
        let expected = (&json!("Barcelona"), &json!("Catalonia"));
        assert_eq!((&city["context"]["province_name"], &city["context"]["region_name"]), expected);
    })
    .await;
}

#[tokio::test]
async fn places_are_found_by_their_aliases() {
    on_each_database(async |app| {
        let one = app.master().get("/api/location/from-alias?us_state=or").await.expect(200);
        assert_eq!(one["properties"]["name"], "Oregon");
        let several = found(&app, "from-alias?us_state=CA&us_state=OR&country=DE").await;
        assert_eq!(names(&several), ["Germany", "California", "Oregon"]);
        app.master().get("/api/location/from-alias?us_state=XX").await.expect(404);
        let refused = app.master().get("/api/location/from-alias?us_zip=97201&us_state=OR").await.expect(400);
        assert_eq!(refused["details"]["path"], "us_zip", "{refused}");
        app.master().get("/api/location/from-alias").await.expect(400);
        // A code that the eight provinces of a region share, none of which is meant by it.
        app.master().get("/api/location/from-alias?hasc=ES.AN").await.expect(404);
        let cadiz = &found(&app, "36.53,-6.29?type=province").await[0]["properties"];
        assert_eq!((&cadiz["aliases"]["hasc"], &cadiz["aliases"]["province"]), (&Value::Null, &json!("ES-CA")));
        app.master().get("/api/location/0000000000000000000007").await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    on_each_database(async |app| {
        for (path, words) in [
            ("", "name"),
            ("?q=", "name"),
            ("?type=city", "name"),
            ("?q=Portland&type=planet", "country, province, county, city"),
            ("-122.67,45.52", "swapped"),
            ("91,200", "latitude"),
            ("45.52,181", "longitude"),
            ("45.52", "two numbers"),
            ("45.52,-122.67,45.6", "two numbers"),
            ("45.52,-122.67,-122.5,45.6", "swapped"),
            ("north,west", "numbers"),
            ("NaN,0", "numbers"),
            ("45.52,", "numbers"),
            ("45.52,-122.67?type=zip", "country, province, county, city"),
        ] {
            let refused = app.master().get(&format!("/api/location/{path}")).await.expect(400);
            let is_missing = words == "name";
            assert_eq!(refused["error_code"], if is_missing { 40202 } else { 40000 }, "{path}");
            let text = refused.to_string();
            assert!(text.contains(words), "{path}: {text}");
        }
        app.device().get("/api/location/?q=Portland").await.expect(401);
    })
    .await;
}
