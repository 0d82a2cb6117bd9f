//! The descriptions of all routes, for the OpenAPI document: one file per area, in the order of the reference.
//!
//! They are apart from the table of routes, because the program serves a text made of them and does not need them itself.

mod accounts;
mod attributes;
mod channels;
mod contacts;
mod demo;
mod devices;
mod drafts;
mod events;
mod experiments;
mod lists;
mod live;
mod location;
mod message_center;
mod named_users;
mod operator;
mod pipelines;
mod platforms;
mod privacy;
mod push;
mod remote_data;
mod reports;
mod requests;
mod sandbox;
mod schedules;
mod search;
mod segments;
mod server_tokens;
mod service;
mod subscription_lists;
mod tags;
mod templates;
mod webhooks;

use crate::openapi::Area;

pub(crate) fn areas() -> Vec<Area> {
    vec![
        push::area(),
        message_center::area(),
        schedules::area(),
        drafts::area(),
        templates::area(),
        templates::content_area(),
        pipelines::area(),
        experiments::area(),
        remote_data::messages(),
        remote_data::forms(),
        remote_data::flags(),
        remote_data::holdouts(),
        remote_data::config(),
        channels::area(),
        channels::open_area(),
        channels::old_area(),
        named_users::area(),
        tags::area(),
        attributes::area(),
        subscription_lists::area(),
        segments::area(),
        lists::area(),
        lists::change_area(),
        location::area(),
        search::area(),
        events::area(),
        reports::area(),
        reports::push_area(),
        sandbox::area(),
        requests::area(),
        privacy::area(),
        devices::area(),
        live::area(),
        contacts::area(),
        operator::area(),
        accounts::area(),
        server_tokens::area(),
        platforms::area(),
        webhooks::area(),
        demo::area(),
        service::area(),
    ]
}
