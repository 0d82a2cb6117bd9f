//! The engine as its users meet it: through the API, on both databases, with a clock and workers that the tests step.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod amazon;
#[cfg(test)]
mod audiences;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod browsers;
#[cfg(test)]
mod chance;
#[cfg(test)]
mod deleted_tags;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod devices;
#[cfg(test)]
mod events;
#[cfg(test)]
mod expiry;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod fairness;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod firefox;
#[cfg(test)]
mod following;
#[cfg(test)]
mod installation;
#[cfg(test)]
mod leases;
#[cfg(test)]
mod live_activities;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod nobody;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod open_platforms;
#[cfg(test)]
mod out_of_reach;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod provider;
#[cfg(test)]
mod refused_addresses;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod steering;
#[cfg(test)]
mod unified_push;
#[cfg(test)]
mod web_push_story;
