//! `aerogram location`: places of the world, with the ids that audiences name them by.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::listing::Cell::{At, Each, KeysEnding};
use super::listing::Listing;
use crate::client::{Client, query};
use crate::config::{AppLogin, Name, Remote};
use crate::output::{self, ID, NAME, TEXT};

/// The API answers with all places at once, a thousand at most.
const MOST: usize = 1_000;

const PLACES: Listing = Listing {
    path: "/api/location",
    items: "features",
    columns: &[
        ("PLACE_ID", ID, At("/id")),
        ("TYPE", NAME, At("/properties/boundary_type")),
        ("CENTER", NAME.left_out(1), Each("/centroid", "")),
        ("NAME", TEXT, At("/properties/name")),
        ("INSIDE", TEXT.left_out(2), KeysEnding("/properties/context", "_name")),
    ],
};

#[derive(Args, Debug)]
pub(crate) struct Location {
    #[command(subcommand)]
    command: LocationCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum LocationCommand {
    /// Find places by their name
    Search {
        /// The name, or the beginning of it
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        kind: Kind,
    },
    /// Find the places that contain a point, or that touch a box
    At {
        /// LATITUDE,LONGITUDE, or those of two opposite corners
        #[arg(value_name = "POINT", allow_hyphen_values = true)]
        point: Name,
        #[command(flatten)]
        kind: Kind,
    },
    /// Show a place, as JSON
    Show {
        /// The id, as `search` and `at` show it
        #[arg(value_name = "ID")]
        id: Name,
    },
}

#[derive(Args, Debug)]
struct Kind {
    /// Only places of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = ["country", "province", "county", "city"])]
    kind: Option<String>,
}

impl Location {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (client, is_json) = (Client::app(&self.remote, &self.login)?, self.remote.json);
        match &self.command {
            LocationCommand::Search { name, kind } => {
                let path = query(PLACES.path, &[("q", Some(name)), ("type", kind.kind.as_deref())]);
                PLACES.show(&client, path, MOST, is_json).await?;
            }
            LocationCommand::At { point, kind } => {
                let path = query(&path_of(point), &[("type", kind.kind.as_deref())]);
                PLACES.show(&client, path, MOST, is_json).await?;
            }
            LocationCommand::Show { id } => {
                let reply = client.get(&path_of(id)).await?;
                if is_json { reply.print()? } else { output::pretty(&reply.read::<Value>()?)? }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn path_of(place: &Name) -> String {
    format!("{}/{}", PLACES.path, place.segment())
}
