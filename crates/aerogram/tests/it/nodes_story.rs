//! Several nodes on one PostgreSQL database: one stands still, is cut off or is restarted, and nobody notices.

mod detour;
mod installation;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use testkit::balanced::{Balanced, Retries};
use testkit::client::Caller;
use tokio::task::JoinSet;

use detour::Detour;
use installation::{Installation, N_REGISTERED, address_of, name_of, within};

const N_DEVICES: usize = 10_000;
/// What the documentation promises: no more than this many of a block are repeated when another node takes over.
const WINDOW: usize = 4096;
/// Requests that are answered before the endpoint falls silent, and those that a node then has under way.
const ANSWERED: usize = 2;
const UNDER_WAY: usize = 4;
const ROUNDS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stood_still_sends_nothing_that_another_has_sent() {
    let Some(installation) = Installation::new(N_DEVICES).await else { return };
    let stopped = installation.start(0, installation.url());
    let (push, _) = begin_push(&installation, &stopped.caller).await;
    stopped.server.pause();
    installation.receiver.release();
    let other = installation.start(1, installation.url());
    // Its connections live on, so that the others wait for the lease to run out.
    installation.wait_until_done(&other.caller, &push, N_DEVICES).await;

    let n_messages = installation.receiver.values().len();
    stopped.server.signal("CONT");
    installation.wait_until_idle(&stopped.caller).await;
    assert_eq!(installation.receiver.values().len(), n_messages, "it has gone on sending");
    assert_window(&installation, n_messages);
    let address = stopped.address.to_string();
    stopped.stop();
    let taken = events(&other.stop_and_tell(), "node.lease_expired");
    assert!(!taken.is_empty(), "nobody is told that its work was taken up");
    let is_stopped_one = |told: &Value| told["address"] == address && told["name"] == name_of(0);
    assert!(taken.iter().all(|told| is_stopped_one(told) && told["jobs"].as_u64() > Some(0)), "{taken:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_cut_off_from_the_database_sends_nothing_more_when_it_is_back() {
    let Some(installation) = Installation::new(N_DEVICES).await else { return };
    let detour = Detour::start(installation.url()).await;
    let cut_off = installation.start(0, detour.url());
    let (push, _) = begin_push(&installation, &cut_off.caller).await;
    detour.cut();
    installation.receiver.release();
    let other = installation.start(1, installation.url());
    installation.wait_until_done(&other.caller, &push, N_DEVICES).await;

    let n_messages = installation.receiver.values().len();
    detour.mend();
    installation.wait_until_idle(&cut_off.caller).await;
    assert_eq!(installation.receiver.values().len(), n_messages, "it has gone on sending");
    assert_window(&installation, n_messages);
    cut_off.stop();
    other.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_killed_is_listed_as_dead_and_the_log_of_another_tells_of_it() {
    let Some(installation) = Installation::new(N_DEVICES).await else { return };
    let killed = installation.start(0, installation.url());
    let (push, _) = begin_push(&installation, &killed.caller).await;
    let other = installation.start(1, installation.url());
    killed.server.signal("KILL");
    drop(killed.server.wait());
    installation.receiver.release();
    installation.wait_until_done(&other.caller, &push, N_DEVICES).await;
    let listed = installation.wait_for_one_dead_node(&other.caller).await;
    let (dead, alive): (Vec<_>, Vec<_>) = listed.iter().partition(|node| node["alive"] == false);
    assert_eq!((&dead[0]["name"], &alive[0]["name"]), (&name_of(0).into(), &name_of(1).into()), "{listed:?}");
    let shown = installation.wait_for_one_dead_line(&other);
    let [_, first, second] = shown.lines().collect::<Vec<_>>()[..] else { panic!("{shown}") };
    assert!(first.contains("dead") && second.contains("alive"), "{shown}");
    assert!(shown.lines().next().unwrap().ends_with("JOBS  LOG LAG  DATABASE MS  CLOCK MS"), "{shown}");
    assert!(shown.contains(&name_of(0)) && shown.contains(&name_of(1)), "{shown}");
    let doctor = installation.doctor(&other.caller).await;
    assert!(doctor.contains(&format!("The node {} (127.0.0.1:", name_of(0))), "{doctor}");
    let log = other.stop_and_tell();
    let died = events(&log, "node.died");
    assert!(!died.is_empty(), "{log}");
    for told in died {
        assert_eq!((&told["node"], &told["address"]), (&dead[0]["node_id"], &dead[0]["address"]), "{told}");
        assert_eq!(told["name"], name_of(0), "{told}");
    }
}

/// A push of which the first requests are recorded, and as many as possible are under way.
async fn begin_push(installation: &Installation, caller: &Caller) -> (String, usize) {
    installation.receiver.hold_after(ANSWERED);
    let push = installation.push_to_all(caller).await;
    let received = installation.receiver.wait_for(ANSWERED + UNDER_WAY).await;
    (push, received.len())
}

/// The lines of a log with the name of an event.
fn events(log: &str, name: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["event"] == name).collect()
}

fn assert_window(installation: &Installation, n_messages: usize) {
    let served: HashSet<String> = installation.receiver.values().iter().map(address_of).collect();
    assert_eq!(served.len(), N_DEVICES, "every device is served");
    assert!(n_messages - N_DEVICES <= WINDOW, "{} deliveries were repeated", n_messages - N_DEVICES);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_fails_and_nothing_is_sent_twice_while_nodes_are_restarted_in_turn() {
    let Some(installation) = Installation::new(N_REGISTERED).await else { return };
    // Addresses of their own: nobody else takes the port of a node while it is restarted.
    let start = |number| installation.start_at(number, installation.url(), &format!("127.0.0.{}:0", number + 2));
    let mut nodes: Vec<_> = (0..2).map(start).collect();
    let addresses: Arc<[_]> = nodes.iter().map(|node| node.address).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for number in 0..N_REGISTERED {
        let mut caller = Balanced::new(addresses.clone(), number, Retries::Unsent);
        let (is_over, calls) = (is_over.clone(), installation.calls_of(number));
        clients.spawn(async move {
            let mut n_pushes = 0;
            for call in calls.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let reply = caller.call(call).await.unwrap_or_else(|error| panic!("{} failed: {error}", call.path));
                assert!(reply.is_success(), "{}: {} {:?}", call.path, reply.status, reply.body);
                n_pushes += usize::from(call.path == "/api/push");
            }
            n_pushes
        });
    }
    for _ in 0..ROUNDS {
        for number in 0..nodes.len() {
            let node = nodes.remove(number);
            let listen = node.address;
            within(async { tokio::task::spawn_blocking(move || node.stop()).await.unwrap() }).await;
            nodes.insert(number, installation.start_at(number, installation.url(), &listen.to_string()));
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let n_pushes: usize = clients.join_all().await.into_iter().sum();
    installation.wait_until_idle(&nodes[0].caller).await;
    installation.wait_until_idle(&nodes[1].caller).await;
    let ids: Vec<String> =
        installation.receiver.values().iter().map(|message| message["send_id"].to_string()).collect();
    assert!(n_pushes > 0);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), n_pushes, "every accepted push arrives");
    assert_eq!(ids.len(), n_pushes, "and once");
    nodes.into_iter().for_each(installation::Node::stop);
}
