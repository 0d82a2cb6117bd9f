//! What a node says about itself when it starts, to the other nodes and to the operator.

use std::net::SocketAddr;

use clap::ValueEnum;
use engine::NodeFacts;
use rustix::system::uname;

use crate::config::Node;

pub(super) fn node_facts(node: &Node, address: SocketAddr, operator: &str) -> NodeFacts {
    let roles = node.roles.iter().filter_map(ValueEnum::to_possible_value);
    NodeFacts {
        name: node.name.clone().or_else(host_name),
        address: address.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        roles: roles.map(|role| role.get_name().to_owned()).collect(),
        operator: Some(operator.to_owned()),
    }
}

/// In a container this is mostly its id, or the name of its pod.
fn host_name() -> Option<String> {
    let name = uname().nodename().to_string_lossy().into_owned();
    (!name.is_empty()).then_some(name)
}
