//! Devices of an explained audience that would get nothing: in production, messages fail for a platform without credentials.

use model::app::{AppKey, Mode};
use model::device_type::DeviceType;
use sending::PlatformName;
use targeting::{DeviceTypeCount, Warning};
use tenancy::App;

use crate::edge::Edge;
use crate::error::Result;

/// The part of a question that leaves platforms out.
const PATH: &str = "device_types";

/// A warning for each platform that lacks credentials and has devices in the audience that nothing else reaches.
pub(super) async fn warnings(edge: &Edge, app: &App, counts: &[DeviceTypeCount]) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    if app.mode != Mode::Production {
        return Ok(warnings);
    }
    let sending = edge.engine.sending();
    for DeviceTypeCount { device_type, reachable, live, .. } in counts {
        let n_devices = reachable - live;
        if n_devices > 0
            && let Some(platform) = sending.lacking(app.id, device_type).await?
        {
            // Phones that are reached by UnifiedPush need the key pair for browsers in place of Google's credentials. Those that
            // Amazon reaches need Google's as well as Amazon's: without them the platform is not sent to.
            let has_phones = *device_type == DeviceType::Android;
            let may_be_reached = has_phones && sending.lacking(app.id, &DeviceType::Web).await?.is_none();
            let message = sentence(&app.key, device_type, &platform, n_devices, may_be_reached);
            warnings.push(Warning { path: PATH.to_owned(), message, near: Vec::new() });
        }
    }
    Ok(warnings)
}

fn sentence(
    key: &AppKey,
    device_type: &DeviceType,
    platform: &PlatformName,
    n_devices: u64,
    may_be_reached: bool,
) -> String {
    let who = match (n_devices, may_be_reached) {
        (1, false) => format!("1 {device_type} device"),
        (1, true) => format!("1 {device_type} device, if not reached by UnifiedPush,"),
        (_, false) => format!("{n_devices} {device_type} devices"),
        (_, true) => format!("Of {n_devices} {device_type} devices, those not reached by UnifiedPush"),
    };
    format!(
        "{who} would get nothing: the app is in production and has no credentials for {platform}. \
         Set them on the page Platforms of the console, or with `aerogram platform set {key} {platform} …`."
    )
}
