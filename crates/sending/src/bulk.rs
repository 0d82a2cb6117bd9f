//! Files of recipients for bulk sending: taken in row by row, and forgotten after a while.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use devices::{ChangeContext, address_key, create_open};
use model::bulk::{BulkRecipient, BulkRow};
use model::channel::OpenRegistration;
use model::device_type::DeviceType;
use model::ids::{AppId, BulkId, ChannelId, Ordinal};
use serde_json::json;
use store::bulk_rows::{self, BulkValues};
use store::documents::{self, DocumentKind};
use store::{Tx, channels};

use crate::Sending;

/// Rows of a file that are written by one transaction.
const ROWS_PER_TRANSACTION: usize = 1000;
/// Rows that are deleted by one transaction.
const PORTION: u32 = 2000;
/// How long a file can be sent to.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A file that is being received. Nothing can be sent to it before it is finished, and one whose process has died is forgotten like
/// others.
pub struct BulkUpload {
    sending: Sending,
    app: AppId,
    id: BulkId,
    device_type: DeviceType,
    rows: Vec<BulkRow>,
}

#[boxed]
impl Sending {
    pub async fn begin_bulk_upload(&self, app: AppId, device_type: DeviceType) -> Result<BulkUpload> {
        let now = self.0.clock.now();
        let id = BulkId::at(now);
        let body = json!({ "device_type": device_type.to_string() }).to_string();
        let begin =
            move |tx: &mut Tx<'_>| documents::put(tx, app, DocumentKind::BulkUpload, &id.to_string(), &body, now);
        self.0.store.write(app, begin).await?;
        Ok(BulkUpload { sending: self.clone(), app, id, device_type, rows: Vec::new() })
    }

    /// Deletes files that nothing is sent to any more.
    pub async fn forget_old_bulk_uploads(&self, app: AppId) -> Result<()> {
        let oldest = self.0.clock.now().minus(KEPT_FOR);
        let heads = self.0.store.read(move |tx| documents::heads(tx, app, DocumentKind::BulkUpload)).await?;
        for head in heads.into_iter().filter(|head| head.modified < oldest) {
            self.forget_bulk_upload(app, head.id.parse().map_err(Error::internal)?).await?;
        }
        Ok(())
    }

    async fn forget_bulk_upload(&self, app: AppId, id: BulkId) -> Result<()> {
        let delete_some = move |tx: &mut Tx<'_>| bulk_rows::delete_some(tx, app, id, PORTION);
        while self.0.store.write(app, delete_some).await? == u64::from(PORTION) {}
        let delete = move |tx: &mut Tx<'_>| documents::delete(tx, app, DocumentKind::BulkUpload, &id.to_string());
        self.0.store.write(app, delete).await?;
        Ok(())
    }
}

#[boxed]
impl BulkUpload {
    pub async fn add(&mut self, row: BulkRow) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() < ROWS_PER_TRANSACTION { Ok(()) } else { self.write().await }
    }

    /// Writes the last rows and returns the id by which pushes name the file.
    pub async fn finish(mut self) -> Result<BulkId> {
        self.write().await?;
        Ok(self.id)
    }

    /// Ends the upload without a file.
    pub async fn give_up(self) -> Result<()> {
        self.sending.forget_bulk_upload(self.app, self.id).await
    }

    /// Addresses that no channel has become channels. Channels that do not exist are left out.
    async fn write(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let (id, device_type) = (self.id, self.device_type.clone());
        let write = move |tx: &mut Tx<'_>, context: &mut ChangeContext<'_>| {
            let values = recipients(tx, context, &device_type, &rows)?;
            Ok(bulk_rows::put(tx, context.app, id, &values)?)
        };
        self.sending.0.devices.change_audience(self.app, write).await
    }
}

fn recipients(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    device_type: &DeviceType,
    rows: &[BulkRow],
) -> Result<Vec<BulkValues>> {
    let ids = rows.iter().filter_map(|row| match &row.recipient {
        BulkRecipient::Channel(id) => Some(*id),
        BulkRecipient::Address(_) => None,
    });
    let known = channels::holders(tx, context.app, ids)?;
    let known: HashMap<ChannelId, Ordinal> = known.into_iter().map(|holder| (holder.id, holder.ordinal)).collect();
    // One row for each channel: of two the last counts.
    let mut found: BTreeMap<Ordinal, String> = BTreeMap::new();
    for BulkRow { recipient, values } in rows {
        let ordinal = match (recipient, device_type) {
            (BulkRecipient::Channel(id), _) => known.get(id).copied(),
            (BulkRecipient::Address(address), DeviceType::Open(platform)) => {
                let registered = channels::by_key(tx, context.app, &address_key(device_type, address))?;
                let register = || OpenRegistration::of_address(platform.clone(), address.clone());
                match registered {
                    Some(ordinal) => Some(ordinal),
                    None => Some(create_open(tx, context, &register())?.ordinal),
                }
            }
            // Only the files of open platforms have addresses.
            (BulkRecipient::Address(_), _) => None,
        };
        if let Some(ordinal) = ordinal {
            found.insert(ordinal, serde_json::to_string(values).map_err(Error::internal)?);
        }
    }
    Ok(found.into_iter().collect())
}
