//! Uploads of lists that take their time: in chunks, with restarts in between, broken off, and of lists that go meanwhile.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use http::Method;
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::lists::{create, download, lines, list, upload};

/// Sends a file in chunks, as clients do that do not know its length.
pub(crate) fn send_in_chunks(app: &TestApp, path: &str, chunks: impl Iterator<Item = Vec<u8>>) -> TcpStream {
    let address = app.url("").strip_prefix("http://").unwrap().to_owned();
    let request = app.master().request(Method::PUT, path).body(()).unwrap();
    let authorization = request.headers()["authorization"].to_str().unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = format!(
        "PUT {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {authorization}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    for chunk in chunks {
        send_chunk(&mut stream, &chunk);
    }
    stream
}

pub(crate) fn send_chunk(stream: &mut TcpStream, chunk: &[u8]) {
    stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).unwrap();
    stream.write_all(chunk).unwrap();
    stream.write_all(b"\r\n").unwrap();
}

/// Waits until so many rows of lists are stored.
pub(crate) async fn stores_rows(app: &TestApp, n_rows: i64) {
    while row_counts(app.engine().store()).await["list_member"] < n_rows {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn end(mut stream: TcpStream) -> String {
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_file_arrives_in_chunks_and_survives_restarts_at_every_step() {
    on_each_database(async |app| {
        const N_ROWS: usize = 50_000;
        create(&app, "crowd").await;
        // Longer in all than any other body may be.
        let row = |n: usize| format!("named_user,{n:0>120}\r\n");
        let chunks =
            (0..N_ROWS / 100).map(|chunk| (chunk * 100..(chunk + 1) * 100).flat_map(|n| row(n).into_bytes()).collect());
        let stream = tokio::task::block_in_place(|| send_in_chunks(&app, "/api/lists/crowd/csv", chunks));
        let answer = tokio::task::block_in_place(|| end(stream));
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        let mut app = app;
        let mut n_steps = 0;
        while app.engine().worker().step().await.unwrap() {
            n_steps += 1;
            assert_eq!(list(&app, "crowd").await["status"] == "ready", n_steps == 6, "after step {n_steps}");
            app = app.restart().await;
        }
        assert_eq!(n_steps, 6, "other jobs get their turn");
        assert_eq!(row_counts(app.engine().store()).await["named_user"], i64::try_from(N_ROWS).unwrap());
        let rows = download(&app, "crowd").await;
        assert_eq!((rows.len(), rows.last().unwrap().as_str()), (N_ROWS, row(N_ROWS - 1).trim_end()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_breaks_off_is_forgotten() {
    on_each_database(async |app| {
        create(&app, "vip").await;
        upload(&app, "vip", "named_user,kim").await.expect(202);
        app.step_all().await;
        let chunks =
            (0..5).map(|chunk| (0..1000).flat_map(|n| format!("named_user,{chunk}-{n}\n").into_bytes()).collect());
        let mut stream = tokio::task::block_in_place(|| send_in_chunks(&app, "/api/lists/vip/csv", chunks));
        // Some rows are stored by now; then the process ends.
        stores_rows(&app, 2000).await;
        assert_eq!(list(&app, "vip").await["status"], "processing");
        stream.shutdown(std::net::Shutdown::Both).unwrap();
        let _ = stream.read(&mut [0; 1]);
        let app = app.restart().await;
        app.advance(std::time::Duration::from_secs(2 * 60 * 60));
        app.step_all().await;
        assert_eq!(list(&app, "vip").await["status"], "failure");
        assert_eq!(download(&app, "vip").await, lines(&["named_user,kim"]));
        assert_eq!(row_counts(app.engine().store()).await["list_member"], 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_is_refused_for_its_content_even_if_its_list_has_gone() {
    on_each_database(async |app| {
        create(&app, "vip").await;
        let rows = (0..3000).flat_map(|n| format!("named_user,{n}\n").into_bytes()).collect();
        let chunks = std::iter::once(rows);
        let mut stream = tokio::task::block_in_place(|| send_in_chunks(&app, "/api/lists/vip/csv", chunks));
        // The rest is stored with the last row.
        stores_rows(&app, 2000).await;
        app.master().delete("/api/lists/vip").await.expect(204);
        send_chunk(&mut stream, b"human,kim\n");
        let answer = tokio::task::block_in_place(|| end(stream));
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    })
    .await;
}
