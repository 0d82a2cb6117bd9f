//! The limits of callers, as far as the system allows: every connection is an open file.

use api::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Node;

/// Open files besides the connections of callers: the database, its threads, and connections to providers.
const OTHER_FILES: u64 = 1024;

/// Raises the soft limit of open files to the hard one. Many systems set it to 1,024 for the sake of programs that this one is
/// not, and a service that runs out of files accepts nobody.
pub(super) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, ?current, ?maximum, "the limit of open files cannot be raised");
    }
}

pub(super) fn of(node: &Node) -> Limits {
    let wanted = node.callers.connections;
    let allowed = getrlimit(Resource::Nofile).current.map_or(u64::MAX, connections_with);
    let connections = usize::try_from(allowed).unwrap_or(usize::MAX).min(wanted);
    if connections < wanted {
        let text = "the limit of open files allows fewer connections than the setting 'connections'";
        tracing::warn!(connections, "{text}; raise it (ulimit -n, LimitNOFILE) or lower the setting");
    }
    let wanted_live = node.callers.live_connections;
    let live_connections = usize::try_from(allowed).unwrap_or(usize::MAX).min(wanted_live);
    if live_connections < wanted_live {
        let text = "the limit of open files allows fewer live connections than the setting 'live_connections'";
        tracing::warn!(live_connections, "{text}; raise it (ulimit -n, LimitNOFILE) or lower the setting");
    }
    Limits {
        connections,
        connections_per_address: node.callers.connections_per_address,
        live_connections,
        live_connections_lacking: wanted_live - live_connections,
        wrong_credentials_per_minute: node.callers.wrong_credentials_per_minute,
        ..Limits::default()
    }
}

/// Half of very few files are for connections.
fn connections_with(files: u64) -> u64 {
    files.saturating_sub(OTHER_FILES).max(files / 2)
}
