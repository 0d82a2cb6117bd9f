//! Devices of an explained audience that would get nothing: in production, messages fail for a platform without credentials.

use model::app::{AppKey, Mode};
use sending::Lacking;
use targeting::{DeviceTypeCount, Warning};
use tenancy::App;

use crate::edge::Edge;
use crate::error::Result;

/// The part of a question that leaves platforms out.
const PATH: &str = "device_types";

/// A warning for each platform that lacks credentials and has devices in the audience that nothing else reaches.
pub(super) async fn warnings(edge: &Edge, app: &App, counts: &[DeviceTypeCount]) -> Result<Vec<Warning>> {
    if app.mode != Mode::Production {
        return Ok(Vec::new());
    }
    let lacking = edge.engine.sending().lacking(app.id, counts).await?;
    let warning = |lacking: &Lacking| {
        let message = sentence(&app.key, lacking);
        Warning { path: PATH.to_owned(), message, near: Vec::new() }
    };
    Ok(lacking.iter().map(warning).collect())
}

fn sentence(key: &AppKey, Lacking { device_type, delivery_type, platform, n_devices }: &Lacking) -> String {
    let devices = if *n_devices == 1 { "device" } else { "devices" };
    let of_which = delivery_type.map(|it| format!(" with the delivery type {}", it.word())).unwrap_or_default();
    format!(
        "{n_devices} {device_type} {devices}{of_which} would get nothing: the app is in production and has no credentials for \
         {platform}. Set them on the page Platforms of the console, or with `aerogram platform set {key} {platform} …`."
    )
}
