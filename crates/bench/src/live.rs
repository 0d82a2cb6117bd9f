//! `bench live`: what an idle live connection takes, how many messages a second of CPU time writes to them, how soon devices that
//! come back are served, and how long a message takes from the request to the socket.

mod sockets;

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use testkit::postgres::Cluster;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::Size;
use crate::http::{Connection, request};
use crate::report::{self, duration, number, percent};
use crate::sample::Sample;
use crate::server::{APP_KEY, Server, device_authorization, master_authorization, operator_authorization};
use crate::usage::thread_cpu;
use sockets::{Device, LastSocket, LiveSocket, file_limit, open_all, raise_files};

const CONNECTIONS: u32 = 100_000;
/// Files that the server needs besides the connections. One app gets half of the others, so that the clients, which are one
/// process with the same limit, have enough.
const OTHER_FILES: u64 = 1_600;
/// Connections of one channel.
const OF_CHANNEL: usize = 4;
const ROUNDS: usize = 6;
/// Messages of a round, at least: CPU time is counted in hundredths of a second.
const MESSAGES_OF_ROUND: u32 = 100_000;
const RESUMES: usize = 10_000;
/// While which nothing happens: CPU time is counted in hundredths of a second, and pings go out every ten minutes.
const IDLE: Duration = Duration::from_secs(30);
const MESSAGES: usize = 300;
/// A server is quiet that takes no more CPU time than this while it is left alone for so long.
const QUIET: Duration = Duration::from_secs(1);
const QUIET_CPU: Duration = Duration::from_millis(20);
/// It knows within seconds who is still connected, and ends thousands of connections in less.
const LONGEST_SETTLING: Duration = Duration::from_secs(60);

pub(crate) async fn run(size: Size) -> Result<()> {
    raise_files();
    let allowed = u32::try_from(file_limit().saturating_sub(OTHER_FILES) / 2).unwrap_or(u32::MAX);
    let n_wanted = size.of(CONNECTIONS) as usize;
    let n_connections = n_wanted.min(allowed as usize);
    if n_connections < n_wanted {
        report::line(
            "connections that the limit of open files allows here, half of them for one app",
            &format!("{} of {}", number(n_connections as f64), number(n_wanted as f64)),
        )?;
    }
    let folder = tempfile::tempdir()?;
    let server = Server::start(folder.path())?;
    make_production(&server).await?;
    report::progress("registering channels");
    let devices = register(&server, n_connections.div_ceil(OF_CHANNEL)).await?;
    report::progress("opening connections");
    // What handshakes leave behind in the allocator is the same for the first ones as for all.
    let n_first = n_connections / 10;
    let mut sockets = open_all(server.address, &devices, 0..n_first, None).await?;
    let before = server.process().memory()?.resident;
    sockets.extend(open_all(server.address, &devices, n_first..n_connections, None).await?);
    report::heading(format_args!("{} live connections", number(n_connections as f64)))?;
    let taken = server.process().memory()?.resident.saturating_sub(before) as f64 / (n_connections - n_first) as f64;
    report::goal(
        "memory of the server for each that is idle",
        &format!("{taken:.0} bytes"),
        "3,000",
        taken <= 3_000.0,
    )?;

    idle(&server, n_connections, size.time(IDLE)).await?;

    let waiting = register(&server, 1).await?.pop().context("there is no device")?;
    let mut waiting = LastSocket::open(server.address, &waiting).await?;
    let broadcast = broadcast(&server, &mut sockets, &mut waiting, size).await?;
    drop(waiting);
    let last = sockets.first().map(|socket| socket.at.clone()).context("there is no connection")?;
    let returning = n_connections.saturating_sub(RESUMES)..n_connections;
    sockets.truncate(returning.start);
    resume(&server, &devices, returning, &last).await?;
    drop(sockets);
    writing_alone(&server, &devices[0], n_connections, broadcast, size).await?;
    latency(&server, &server, &devices[0], "on one node").await?;
    server.stop()?;
    two_nodes().await
}

/// The device is connected to one node, and the request comes to the other.
async fn two_nodes() -> Result<()> {
    let cluster = Cluster::durable().map_err(|why| anyhow!(why))?;
    let (url, any_port) = (cluster.fresh_database(), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    let one = Server::start_node(folders[0].path(), &url, any_port)?;
    let other = Server::start_node(folders[1].path(), &url, any_port)?;
    make_production(&one).await?;
    let devices = register(&one, 1).await?;
    latency(&one, &other, &devices[0], "on two nodes").await?;
    other.stop()?;
    one.stop()
}

/// In an app in development, the sandbox would keep every message for every recipient as well.
async fn make_production(server: &Server) -> Result<()> {
    let change = json!({"mode": "production"}).to_string();
    let change = request("PATCH", &format!("/operator/apps/{APP_KEY}"), &operator_authorization(), &change);
    Connection::open(server.address).await?.expect(&change).await.map(drop)
}

async fn register(server: &Server, n_channels: usize) -> Result<Vec<Device>> {
    let authorization = device_authorization();
    let mut connection = Connection::open(server.address).await?;
    let body = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}}).to_string();
    let register = request("POST", "/api/channels", &authorization, &body);
    let mut devices = Vec::with_capacity(n_channels);
    for _ in 0..n_channels {
        let made = connection.expect(&register).await?;
        let channel = made["channel_id"].as_str().context("a channel without an id")?.to_owned();
        let head = format!("{authorization}\r\nX-UA-Channel-ID: {channel}");
        let token = connection.expect(&request("GET", "/api/auth/device", &head, "")).await?;
        devices.push(Device { channel, token: token["token"].as_str().context("no token")?.to_owned() });
    }
    Ok(devices)
}

/// What connections take that nothing happens on, the looks of the server at its database included.
async fn idle(server: &Server, n_connections: usize, time: Duration) -> Result<()> {
    report::progress("leaving them alone");
    let cpu = server.process().cpu()?;
    tokio::time::sleep(time).await;
    let spent = server.process().cpu()?.saturating_sub(cpu);
    let each = spent.as_secs_f64() * 1e9 / time.as_secs_f64() / n_connections as f64;
    report::line("CPU time of the server a second for each that is idle", &format!("{each:.0} ns"))
}

/// Messages per second of CPU time.
#[derive(Clone, Copy)]
struct Broadcast {
    ours: f64,
    bare: f64,
}

fn push_to_all() -> Vec<u8> {
    let push = json!({"audience": "all", "device_types": ["web"],
                      "notification": {"alert": "The doors open at eight. See you there!"}});
    request("POST", "/api/push", &master_authorization(), &push.to_string())
}

/// One message to all, in rounds that take turns with a bare loop of writes of as many bytes. Nobody reads while it is written:
/// devices are on other machines, and to wake their readers on this one would be a part of the time, and not always the same.
async fn broadcast(
    server: &Server,
    sockets: &mut [LiveSocket],
    last: &mut LastSocket,
    size: Size,
) -> Result<Broadcast> {
    let (mut connection, push) = (Connection::open(server.address).await?, push_to_all());
    // As many as ours, if the limit of open files allows it: writing to more of them is dearer, because less is in the caches.
    let n_left = file_limit().saturating_sub(sockets.len() as u64 + OTHER_FILES) / 2;
    let mut bare = BareSockets::open(sockets.len().min(usize::try_from(n_left)?)).await?;
    let (n_rounds, n_messages) = (size.rounds(ROUNDS), size.of(MESSAGES_OF_ROUND) as usize);
    let n_pushes = n_messages.div_ceil(sockets.len().max(1));
    let (mut ours, mut theirs, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..n_rounds {
        report::progress(&format!("round {} of {n_rounds}", round + 1));
        let (cpu, mut n_bytes) = (server.process().cpu()?, 0);
        for _ in 0..n_pushes {
            let began = Instant::now();
            connection.expect(&push).await?;
            last.message()?;
            times.push(began.elapsed());
            for socket in sockets.iter_mut() {
                n_bytes = socket.message().await?;
            }
        }
        let spent = server.process().cpu()?.saturating_sub(cpu);
        ours.push((n_pushes * sockets.len()) as f64 / spent.as_secs_f64());
        theirs.push(bare.messages_per_second(n_bytes, n_messages.div_ceil(bare.clients.len().max(1))).await?);
    }
    let (ours, bare) = (median(ours), median(theirs));
    report::goal("messages per CPU second", &number(ours), "100,000", ours >= 100_000.0)?;
    report::line("a bare loop of writes of as many bytes, per CPU second", &number(bare))?;
    report::goal("messages, of the bare loop", &percent(ours / bare), "90 %", ours >= bare * 0.9)?;
    report::line(
        "from the request to the last of all connections",
        &duration(Sample::of(times, Duration::ZERO).median()),
    )?;
    Ok(Broadcast { ours, bare })
}

/// The same pushes while only one device is connected: what they take apart from writing. With fewer connections than
/// wanted it is a larger part of the whole.
async fn writing_alone(
    server: &Server,
    device: &Device,
    n_connections: usize,
    broadcast: Broadcast,
    size: Size,
) -> Result<()> {
    let mut socket = LiveSocket::open(server.address, device, 0, None).await?;
    settle(server, size).await?;
    let (mut connection, push) = (Connection::open(server.address).await?, push_to_all());
    let cpu = server.process().cpu()?;
    for _ in 0..MESSAGES {
        connection.expect(&push).await?;
        socket.message().await?;
    }
    let of_push = server.process().cpu()?.saturating_sub(cpu) / u32::try_from(MESSAGES)?;
    report::line("CPU time of a push to all while one device is connected", &duration(of_push))?;
    let writing = n_connections as f64 / broadcast.ours - of_push.as_secs_f64();
    let share = n_connections as f64 / writing / broadcast.bare;
    report::line("messages without that, of the bare loop", &percent(share))
}

/// Waits until one device is connected as the server sees it, and the server does nothing: ending all the others takes CPU time,
/// which would count as that of pushes.
async fn settle(server: &Server, size: Size) -> Result<()> {
    report::progress("waiting until the server has ended all other connections");
    let (mut connection, until) = (Connection::open(server.address).await?, Instant::now() + LONGEST_SETTLING);
    let ask = request("GET", "/api/live", &master_authorization(), "");
    let time = size.time(QUIET);
    loop {
        let n_connected = connection.expect(&ask).await?["connected"].as_u64().context("nobody is counted")?;
        let cpu = server.process().cpu()?;
        tokio::time::sleep(time).await;
        let spent = server.process().cpu()?.saturating_sub(cpu);
        let is_over = Instant::now() >= until;
        if n_connected == 1 && (spent <= QUIET_CPU || is_over || size.is_trial()) {
            let a_second = spent.div_f64(time.as_secs_f64());
            return report::line("CPU time of the server a second before that", &duration(a_second));
        }
        ensure!(
            !is_over,
            "{n_connected} devices are connected {} s after all but one left.",
            LONGEST_SETTLING.as_secs()
        );
    }
}

/// The connections with these numbers were closed, and come back.
async fn resume(server: &Server, devices: &[Device], numbers: Range<usize>, after: &str) -> Result<()> {
    let n_resumes = numbers.len();
    let began = Instant::now();
    let sockets = open_all(server.address, devices, numbers, Some(after)).await?;
    let time = began.elapsed();
    drop(sockets);
    let name = format!("{} devices come back", number(n_resumes as f64));
    report::goal(&name, &duration(time), "2 s for 10,000", time <= Duration::from_secs(2))
}

async fn latency(connected: &Server, asked: &Server, device: &Device, place: &str) -> Result<()> {
    let mut socket = LiveSocket::open(connected.address, device, 0, None).await?;
    let mut connection = Connection::open(asked.address).await?;
    let push = json!({"audience": {"channel": device.channel}, "device_types": ["web"],
                      "notification": {"alert": "The doors open at eight."}});
    let push = request("POST", "/api/push", &master_authorization(), &push.to_string());
    let mut times = Vec::new();
    for _ in 0..MESSAGES {
        let began = Instant::now();
        connection.expect(&push).await?;
        socket.message().await?;
        times.push(began.elapsed());
    }
    let sample = Sample::of(times, Duration::ZERO);
    let is_met = sample.median() <= Duration::from_millis(50);
    let name = format!("from the request to the socket {place}");
    report::goal(&format!("{name}, median"), &duration(sample.median()), "50 ms", is_met)?;
    report::line(&format!("{name}, p99"), &duration(sample.percentile(99)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Pairs of sockets within this process.
struct BareSockets {
    servers: Vec<TcpStream>,
    clients: Vec<TcpStream>,
}

impl BareSockets {
    async fn open(n_sockets: usize) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (mut servers, mut clients) = (Vec::with_capacity(n_sockets), Vec::with_capacity(n_sockets));
        for _ in 0..n_sockets {
            let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
            let (stream, _) = accepted?;
            stream.set_nodelay(true)?;
            stream.writable().await?;
            servers.push(stream);
            clients.push(client?);
        }
        Ok(Self { servers, clients })
    }

    /// Writes a message to each, as often as told.
    async fn messages_per_second(&mut self, n_bytes: usize, n_messages: usize) -> Result<f64> {
        let (message, mut buffer, mut spent) = (vec![b'a'; n_bytes], vec![0; n_bytes], Duration::ZERO);
        for _ in 0..n_messages {
            let cpu = thread_cpu()?;
            for server in &self.servers {
                let n_written = server.try_write(&message).context("a bare socket does not take a message")?;
                ensure!(n_written == n_bytes, "a bare socket takes a part of a message");
            }
            spent += thread_cpu()?.saturating_sub(cpu);
            for client in &mut self.clients {
                client.read_exact(&mut buffer).await?;
            }
        }
        Ok((n_messages * self.clients.len()) as f64 / spent.as_secs_f64())
    }
}
