//! The pages: each a function that makes its calls and draws their answers.

pub(crate) mod accounts;
pub(crate) mod apps;
pub(crate) mod audience;
pub(crate) mod audit;
pub(crate) mod automation;
pub(crate) mod calendar;
pub(crate) mod compose;
pub(crate) mod events;
pub(crate) mod experiments;
pub(crate) mod home;
pub(crate) mod login;
pub(crate) mod message;
pub(crate) mod messages;
pub(crate) mod people;
pub(crate) mod person;
pub(crate) mod platforms;
pub(crate) mod profile;
pub(crate) mod recipients;
pub(crate) mod reports;
pub(crate) mod sandbox;
pub(crate) mod schedules;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod team;
pub(crate) mod webhooks;
