//! What a running node can tell of its installation's health: the half of `aerogram doctor` that needs no files.

use base::Result;
use boxed::boxed;
use events::WebhookLag;
use model::app::{AppKey, Mode};
use model::device_type::DeviceType;
use providers::platform::Provider;
use sending::{Lacking, PlatformNotice};
use store::Trouble;
use tenancy::App;

use crate::metrics::Backlog;
use crate::{Engine, NodeView};

/// A job of a dead node is taken over by another within 15 seconds. A job that waits for longer than this has no worker.
const MOST_OVERDUE_SECONDS: i64 = 60;

/// Everything that is looked at.
#[derive(Clone, Debug)]
pub struct Health {
    /// What is wrong with the database, if anything.
    pub database: Option<Trouble>,
    /// Log records that were missing when the database file was opened.
    pub n_missing_records: i64,
    /// Whether timed work waits because the clock has jumped.
    pub is_clock_in_doubt: bool,
    /// How many jobs wait for a worker, and for how many seconds the first of them, if that is too long.
    pub overdue: Option<(i64, i64)>,
    pub platforms: Vec<PlatformNotice>,
    pub webhooks: Vec<WebhookLag>,
    /// Those that are there, and those that ended without saying so.
    pub nodes: Vec<NodeView>,
    /// All apps, whose names people know.
    pub apps: Vec<App>,
    pub without_credentials: Vec<WithoutCredentials>,
}

/// Devices of an app in production that nothing reaches, since what delivers to them has no credentials.
#[derive(Clone, Debug)]
pub struct WithoutCredentials {
    pub app: AppKey,
    pub lacking: Lacking,
}

#[boxed]
impl Engine {
    /// By how many milliseconds the clock of this node is ahead of the database's, if it runs no jobs beside others for that.
    pub fn clock_wrong_by(&self) -> Option<i64> {
        self.rooms.shared_clock.wrong_by()
    }

    /// Looks at everything. While the database cannot be asked, only that is told.
    pub async fn health(&self) -> Result<Health> {
        let database = self.ask_database().await?;
        let mut health = Health {
            database,
            n_missing_records: self.rooms.store.n_missing_records(),
            is_clock_in_doubt: !self.rooms.clock_watch.is_settled(),
            overdue: None,
            platforms: Vec::new(),
            webhooks: Vec::new(),
            nodes: Vec::new(),
            apps: Vec::new(),
            without_credentials: Vec::new(),
        };
        if matches!(health.database, Some(Trouble::Reading | Trouble::Misplaced)) {
            return Ok(health);
        }
        let Backlog { n_overdue, overdue_seconds, .. } = self.backlog().await?;
        health.overdue = (overdue_seconds > MOST_OVERDUE_SECONDS).then_some((n_overdue, overdue_seconds));
        health.platforms = self.rooms.sending.platform_notices().await?;
        health.webhooks = self.rooms.events.webhook_lags().await?;
        health.nodes = self.nodes().await?;
        health.apps = self.rooms.tenancy.apps().await?;
        health.without_credentials = self.without_credentials(&health.apps).await?;
        Ok(health)
    }

    /// Devices are counted by their index, which takes memory: so only those of apps and types that may lack something.
    async fn without_credentials(&self, apps: &[App]) -> Result<Vec<WithoutCredentials>> {
        let (sending, now) = (&self.rooms.sending, self.rooms.clock.now());
        let configured = sending.configured_providers().await?;
        let mut found = Vec::new();
        for app in apps.iter().filter(|app| app.mode == Mode::Production) {
            let mut families = self.rooms.events.devices(app.id, now).await?.by_family;
            families.retain(|_, counts| counts.opted_in > 0);
            let mut suspects = Vec::new();
            for family in families.into_keys() {
                let Some(device_type) = DeviceType::from_name(family) else { continue };
                let Some(provider) = Provider::of(&device_type) else { continue };
                // Google's credentials are not enough for all Android devices.
                let is_served = device_type != DeviceType::Android && configured.contains(&(app.id, provider));
                if !is_served && sending.may_lack(app.id, &device_type).await? {
                    suspects.push(device_type);
                }
            }
            if suspects.is_empty() {
                continue;
            }
            match self.lacking(app, suspects).await {
                Ok(lacking) => {
                    found.extend(
                        lacking.into_iter().map(|lacking| WithoutCredentials { app: app.key.clone(), lacking }),
                    );
                }
                // The others are told of all the same.
                Err(error) if !error.is_of_database() => {
                    let (app, error) = (app.key.as_str(), &error as &dyn std::error::Error);
                    tracing::error!(app, error, "devices without credentials cannot be counted");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    async fn lacking(&self, app: &App, suspects: Vec<DeviceType>) -> Result<Vec<Lacking>> {
        let counts = self.rooms.targeting.count_everyone(app.id, suspects).await?;
        self.rooms.sending.lacking(app.id, &counts).await
    }
}
