//! `bench list`: memory and speed of the upload of a long list.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use model::ids::ChannelId;
use serde_json::json;
use store::Value;

use crate::Size;
use crate::http::{Connection, request};
use crate::loading::{self, Users, user_name};
use crate::population::Population;
use crate::report::{self, duration, mebibytes, number, percent};
use crate::server::{Server, device_authorization, master_authorization};

/// Each a named user with a channel of its own.
const ROWS: u32 = 1_000_000;
const MOST_ABOVE_IDLE: u64 = 100 * 1000 * 1000;
const ROWS_PER_WRITE: u32 = 4096;
/// How long the list may take to be ready after its upload.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_rows = size.of(ROWS);
    let all = number(f64::from(n_rows));
    report::heading(format_args!("A list of {all} named users, uploaded over HTTP"))?;
    let folder = tempfile::tempdir()?;
    loading::load(folder.path(), &Population::new(), n_rows, Users::OneEach).await?;
    // Stopped once more with its index loaded, so that it starts from a snapshot.
    load_index(Server::start(folder.path())?).await?.stop()?;
    let bare = bare_rows(n_rows).await?;
    report::line("bare rows with a name each, 4,096 a commit, per second", &number(bare))?;
    let server = load_index(Server::start(folder.path())?).await?;
    let idle = server.process().memory()?;
    report::line("server when idle", &mebibytes(idle.resident))?;
    server.process().forget_peak()?;

    let (began, cpu) = (Instant::now(), server.process().cpu()?);
    let mut connection = Connection::open(server.address).await?;
    let master = master_authorization();
    let list = json!({"name": "bench"}).to_string();
    connection.expect(&request("POST", "/api/lists", &master, &list)).await?;
    upload(&mut connection, &master, n_rows).await?;
    let uploaded = (began.elapsed(), server.process().memory()?);
    report::line("until the upload is answered", &duration(uploaded.0))?;
    report::line("rows per second until then", &number(f64::from(n_rows) / uploaded.0.as_secs_f64()))?;

    wait_until_ready(&mut connection, &master, n_rows).await?;
    let (ready, memory) = (began.elapsed(), server.process().memory()?);
    report::line("until everybody is on the list", &duration(ready))?;
    let rate = f64::from(n_rows) / ready.as_secs_f64();
    report::line("rows per second until then", &number(rate))?;
    report::line("of bare rows", &percent(rate / bare))?;
    let cpu = server.process().cpu()?.saturating_sub(cpu);
    report::line("rows per CPU-second of the server", &number(f64::from(n_rows) / cpu.as_secs_f64().max(0.01)))?;
    for (name, memory) in [("during the upload", uploaded.1), ("until everybody is on the list", memory)] {
        let above = memory.peak.saturating_sub(idle.resident);
        let text = format!("most memory above idle, {name}");
        report::goal(&text, &mebibytes(above), "at most 95 MiB", above <= MOST_ABOVE_IDLE)?;
    }
    server.stop()
}

/// The least that a list of as many names costs: how many rows a database takes a second that has nothing else to do.
async fn bare_rows(n_rows: u32) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    Server::start(folder.path())?.stop()?;
    let (store, app) = loading::open(folder.path()).await?;
    let create = "create table if not exists bare_row (name text primary key)";
    store.write(app, move |tx| tx.execute(create, &[])).await?;
    let began = Instant::now();
    for first in (0..n_rows).step_by(ROWS_PER_WRITE as usize) {
        let rows = first..n_rows.min(first.saturating_add(ROWS_PER_WRITE));
        let names: Vec<[Value; 1]> = rows.map(|ordinal| [Value::from(user_name(ordinal))]).collect();
        let insert = "insert into bare_row (name) values ($1)";
        store.write(app, move |tx| tx.execute_many(insert, &names)).await?;
    }
    let rate = f64::from(n_rows) / began.elapsed().as_secs_f64();
    store.close().await;
    Ok(rate)
}

/// Sends a request that needs the index.
async fn load_index(server: Server) -> Result<Server> {
    let path = format!("/api/channels/{}", ChannelId::random());
    let mut connection = Connection::open(server.address).await?;
    let status = connection.call(&request("GET", &path, &device_authorization(), "")).await?.status;
    ensure!(status == 404, "A channel that does not exist was answered with {status}.");
    Ok(server)
}

async fn upload(connection: &mut Connection, authorization: &str, n_rows: u32) -> Result<()> {
    let head = format!(
        "PUT /api/lists/bench/csv HTTP/1.1\r\nHost: bench\r\nAuthorization: {authorization}\r\n\
         Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    connection.send(head.as_bytes()).await?;
    for first in (0..n_rows).step_by(ROWS_PER_WRITE as usize) {
        let rows = first..n_rows.min(first.saturating_add(ROWS_PER_WRITE));
        let text: String = rows.map(|ordinal| format!("named_user,{}\r\n", user_name(ordinal))).collect();
        connection.send(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await?;
    }
    connection.send(b"0\r\n\r\n").await?;
    let answer = connection.answer().await?;
    let text = String::from_utf8_lossy(answer.body);
    ensure!(answer.status == 202, "The upload was answered with {}: {text}", answer.status);
    Ok(())
}

async fn wait_until_ready(connection: &mut Connection, authorization: &str, n_rows: u32) -> Result<()> {
    let began = Instant::now();
    loop {
        let list = connection.expect(&request("GET", "/api/lists/bench", authorization, "")).await?;
        if list["status"] == "ready" {
            ensure!(list["channel_count"] == json!(n_rows), "The list is ready without everybody: {list}");
            return Ok(());
        }
        ensure!(began.elapsed() < PATIENCE, "The list is still not ready: {list}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
