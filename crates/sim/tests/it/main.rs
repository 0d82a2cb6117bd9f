//! The simulator from outside, by a client that has nothing in common with it but the protocols.

#[cfg(test)]
mod apns;
#[cfg(test)]
mod browsers;
#[cfg(test)]
mod client;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fcm;
#[cfg(test)]
mod open_platforms;
#[cfg(test)]
mod signing;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod webpush;
