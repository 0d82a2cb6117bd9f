//! The console as its visitors meet it: pages over a real socket, on both databases.

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod audience;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod clicking_twice;
#[cfg(test)]
mod composing;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod drafting;
#[cfg(test)]
mod finding;
#[cfg(test)]
mod first;
#[cfg(test)]
mod getting_in;
#[cfg(test)]
mod happenings;
#[cfg(test)]
mod installation;
#[cfg(test)]
mod local_times;
#[cfg(test)]
mod menu;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod oidc;
#[cfg(test)]
mod overtaken;
#[cfg(test)]
mod people;
#[cfg(test)]
mod planned;
#[cfg(test)]
mod platforms;
#[cfg(test)]
mod reports;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod surviving;
#[cfg(test)]
mod taking_back;
#[cfg(test)]
mod teams;
#[cfg(test)]
mod templates;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod typed_audience;
#[cfg(test)]
mod visitor;
#[cfg(test)]
mod web_pages;
#[cfg(test)]
mod webhooks;
#[cfg(test)]
mod without_credentials;
