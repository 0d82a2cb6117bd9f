//! Counts per hour and platform, raised in the transaction of what they count.

use model::ids::AppId;
use model::time::UtcMillis;

use crate::{Result, Tx};

/// What is counted. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Sends,
}

impl Metric {
    const fn name(self) -> &'static str {
        match self {
            Metric::Sends => "sends",
        }
    }
}

pub fn add(tx: &mut Tx<'_>, app: AppId, metric: Metric, at: UtcMillis, platform: &str, n: u64) -> Result<()> {
    tx.execute(
        "insert into counter (app, metric, hour, platform, n) values ($1, $2, $3, $4, $5)
         on conflict (app, metric, hour, platform) do update set n = counter.n + excluded.n",
        &[
            app.into(),
            metric.name().into(),
            at.0.div_euclid(3_600_000).into(),
            platform.into(),
            i64::try_from(n).unwrap_or(i64::MAX).into(),
        ],
    )?;
    Ok(())
}

/// The total of one metric and platform over all time.
pub fn total(tx: &mut Tx<'_>, app: AppId, metric: Metric, platform: &str) -> Result<i64> {
    tx.query_one(
        "select coalesce(cast(sum(n) as bigint), 0) from counter where app = $1 and metric = $2 and platform = $3",
        &[app.into(), metric.name().into(), platform.into()],
        |row| row.get(0),
    )
}
