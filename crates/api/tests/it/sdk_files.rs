//! The files of the browser SDK, as pages of any origin load them, and as the package has them.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::Method;
use testkit::app::TestApp;
use testkit::store::Database;

/// Bytes as written, and packed. Pages pay for each of them.
const MOST: [(&str, usize, usize); 8] = [
    ("aerogram.js", 26_600, 8_700),
    ("aerogram-sw.js", 7_200, 2_850),
    ("aerogram-ui.js", 9_600, 3_600),
    ("aerogram.d.ts", 4_600, 2_000),
    ("aerogram-ui.d.ts", 1_000, 600),
    // Nobody loads these but to read them.
    ("aerogram.source.js", 35_600, 11_500),
    ("aerogram-sw.source.js", 9_700, 3_900),
    ("aerogram-ui.source.js", 11_200, 4_200),
];

#[tokio::test]
async fn files_are_small_and_for_everybody() {
    let app = TestApp::on(Database::Sqlite).await;
    for (name, plain_bytes, packed_bytes) in MOST {
        let get = async |path: String, headers: &[(&str, &str)]| {
            let mut request = app.nobody().request(Method::GET, &path);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            app.nobody().send(request.body(Bytes::new()).unwrap()).await
        };
        let plain = get(format!("/sdk/{name}"), &[]).await;
        assert_eq!(plain.status.as_u16(), 200);
        let packed =
            get(format!("/sdk/1/{name}"), &[("accept-encoding", "gzip"), ("origin", "https://shop.example")]).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        let mut unpacked = Vec::new();
        GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
        assert!(plain.body == unpacked, "{name} is the same at both paths");
        assert_eq!(packed.header("access-control-allow-origin"), Some("*"));
        assert_eq!(packed.header("cross-origin-resource-policy"), Some("cross-origin"));
        assert_eq!(packed.header("cache-control"), Some("public, max-age=3600"));
        let is_script = name.ends_with(".js");
        let kind = if is_script { "text/javascript; charset=utf-8" } else { "text/plain; charset=utf-8" };
        assert_eq!(packed.header("content-type"), Some(kind));
        if is_script && !name.contains("source") {
            let text = std::str::from_utf8(&plain.body).unwrap();
            let first = text.lines().next().unwrap();
            assert_eq!(first, format!("// With comments: {}", name.replace(".js", ".source.js")));
            assert!(!text.lines().skip(1).any(|line| line.starts_with("//")));
        }
        let scope = (name == "aerogram-sw.js").then_some("/");
        assert_eq!(packed.header("service-worker-allowed"), scope);
        let tag = packed.header("etag").unwrap();
        assert_eq!(get(format!("/sdk/1/{name}"), &[("if-none-match", tag)]).await.status.as_u16(), 304);
        let (n_plain, n_packed) = (plain.body.len(), packed.body.len());
        assert!(n_plain <= plain_bytes && n_packed <= packed_bytes, "{name} has {n_plain} bytes, {n_packed} packed");
    }
    app.nobody().get("/sdk/nothing.js").await.expect(404);
    app.nobody().get("/sdk/2/aerogram.js").await.expect(404);
    app.stop().await;
}

/// Both join scripts and their parts, and leave none out.
#[tokio::test]
async fn the_package_has_what_is_served() {
    let app = TestApp::on(Database::Sqlite).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/sdk-package");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-package");
    assert!(Command::new(script).arg("0.0.0").arg(&folder).status().unwrap().success());
    for name in ["aerogram.js", "aerogram-sw.js", "aerogram-ui.js", "aerogram.d.ts", "aerogram-ui.d.ts"] {
        let served = app.nobody().get(&format!("/sdk/{}", name.replace(".js", ".source.js"))).await;
        assert_eq!(served.status.as_u16(), 200);
        assert!(served.body == fs::read(folder.join(name)).unwrap(), "{name} is another than the one that is served");
    }
    let page = fs::read_to_string(folder.join("aerogram.js")).unwrap();
    let parts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/parts");
    for part in fs::read_dir(parts).unwrap().map(|part| part.unwrap().path()) {
        assert!(page.contains(&fs::read_to_string(&part).unwrap()), "{} is not served", part.display());
    }
    app.stop().await;
}
