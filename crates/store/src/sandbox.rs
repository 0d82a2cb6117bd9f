//! The sandbox of an app: the last requests that providers would have got, bounded.

use model::ids::{AppId, ChannelId, DeliveryId, PushId};
use model::time::UtcMillis;

use crate::{Result, Tx, app_numbers};

/// How many deliveries are kept per app.
pub const KEPT: i64 = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxDelivery {
    pub delivery: DeliveryId,
    pub push: PushId,
    pub channel: ChannelId,
    pub device_type: String,
    pub transport: String,
    pub at: UtcMillis,
    /// The request as JSON.
    pub request: String,
}

/// Which deliveries to list; `None` means all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    pub push: Option<PushId>,
    pub channel: Option<ChannelId>,
}

pub fn add(tx: &mut Tx<'_>, app: AppId, deliveries: &[SandboxDelivery]) -> Result<()> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let n_added = i64::try_from(deliveries.len()).unwrap_or(i64::MAX);
    let numbers = app_numbers::to_change(tx, app)?;
    numbers.sandbox_head += n_added;
    let head = numbers.sandbox_head;
    let rows: Vec<_> = deliveries
        .iter()
        .zip(head - n_added + 1..)
        .map(|(delivery, position)| {
            vec![
                app.into(),
                position.into(),
                delivery.delivery.into(),
                delivery.push.into(),
                delivery.channel.into(),
                delivery.device_type.as_str().into(),
                delivery.transport.as_str().into(),
                delivery.at.into(),
                delivery.request.as_str().into(),
            ]
        })
        .collect();
    tx.write_many(
        "insert into sandbox (app, position, delivery, push, channel, device_type, transport, at, request)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        &rows,
    )?;
    tx.write("delete from sandbox where app = $1 and position <= $2", &[app.into(), (head - KEPT).into()])?;
    Ok(())
}

/// The position of the newest delivery.
pub fn head(tx: &mut Tx<'_>, app: AppId) -> Result<i64> {
    Ok(app_numbers::current(tx, app)?.map_or(0, |numbers| numbers.sandbox_head))
}

/// The oldest `at_most` deliveries after a position, oldest first, each with its position.
pub fn after(
    tx: &mut Tx<'_>,
    app: AppId,
    position: i64,
    filter: Filter,
    at_most: u32,
) -> Result<Vec<(i64, SandboxDelivery)>> {
    select(tx, app, filter, "position > $2 order by position limit $3", position, at_most)
}

/// The newest `at_most` deliveries before a position, newest first.
pub fn before(
    tx: &mut Tx<'_>,
    app: AppId,
    position: i64,
    filter: Filter,
    at_most: u32,
) -> Result<Vec<(i64, SandboxDelivery)>> {
    select(tx, app, filter, "position < $2 order by position desc limit $3", position, at_most)
}

/// Deletes all deliveries. Positions go on from where they are.
pub fn clear(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    let head = head(tx, app)?;
    tx.write("delete from sandbox where app = $1 and position <= $2", &[app.into(), head.into()])?;
    Ok(())
}

/// The newest `at_most` deliveries before a position, oldest first.
pub fn newest(
    tx: &mut Tx<'_>,
    app: AppId,
    position: i64,
    filter: Filter,
    at_most: u32,
) -> Result<Vec<(i64, SandboxDelivery)>> {
    let mut found = before(tx, app, position, filter, at_most)?;
    found.reverse();
    Ok(found)
}

fn select(
    tx: &mut Tx<'_>,
    app: AppId,
    filter: Filter,
    tail: &str,
    position: i64,
    at_most: u32,
) -> Result<Vec<(i64, SandboxDelivery)>> {
    let mut params = vec![app.into(), position.into(), at_most.into()];
    let mut narrow = String::new();
    if let Some(push) = filter.push {
        params.push(push.into());
        narrow += &format!("push = ${} and ", params.len());
    }
    if let Some(channel) = filter.channel {
        params.push(channel.into());
        narrow += &format!("channel = ${} and ", params.len());
    }
    let sql = format!(
        "select position, delivery, push, channel, device_type, transport, at, request from sandbox
         where app = $1 and {narrow}{tail}"
    );
    tx.query(&sql, &params, |row| {
        let position = row.next()?;
        let delivery = SandboxDelivery {
            delivery: row.next()?,
            push: row.next()?,
            channel: row.next()?,
            device_type: row.next()?,
            transport: row.next()?,
            at: row.next()?,
            request: row.next()?,
        };
        Ok((position, delivery))
    })
}
