//! Bulk sending: files of recipients with values for texts, and pushes to everybody in one.

use axum::extract::State;
use http::StatusCode;
use model::bulk::BulkCsv;
use model::device_type::{DeviceType, OpenPlatform};
use model::ids::{BulkId, OperationId};
use model::json::OneOrMany;
use model::payload::Push;
use schemars::JsonSchema;
use sending::BulkUpload;
use serde::Serialize;
use tenancy::App;

use super::lists::PIECE;
use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::not_offered::{EMAIL, SMS};
use crate::path_vars::PathVars;
use crate::upload::Upload;

#[derive(Serialize, JsonSchema)]
pub(super) struct UploadedFile {
    /// By which a push names the file in its audience.
    bulk_id: BulkId,
    /// The columns of the file.
    field_names: Vec<String>,
}

pub(super) async fn upload(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
    body: Upload,
) -> Result<Answer> {
    let device_type = match name.as_str() {
        "ios" => DeviceType::Ios,
        "android" => DeviceType::Android,
        "amazon" => DeviceType::Amazon,
        "web" => DeviceType::Web,
        other => {
            body.discard().await;
            return Err(match other {
                "email" => Error::NotOffered(EMAIL),
                "sms" | "mms" => Error::NotOffered(SMS),
                _ => Error::NotFound(
                    "There are no such devices; use ios, android, amazon, web or open/<platform>.".to_owned(),
                ),
            });
        }
    };
    receive(&edge, &app, device_type, body).await
}

pub(super) async fn upload_open(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
    body: Upload,
) -> Result<Answer> {
    let platform = match OpenPlatform::new(&name) {
        Ok(platform) => platform,
        Err(why) => {
            body.discard().await;
            return Err(Error::NotFound(why.to_owned()));
        }
    };
    receive(&edge, &app, DeviceType::Open(platform), body).await
}

async fn receive(edge: &Edge, app: &App, device_type: DeviceType, mut body: Upload) -> Result<Answer> {
    let _permit = edge.admit_transfer(app.id)?;
    let csv = BulkCsv::new(&device_type);
    let mut upload = edge.engine.sending().begin_bulk_upload(app.id, device_type).await?;
    match add_all(&mut upload, csv, &mut body).await {
        Ok(field_names) => {
            let bulk_id = upload.finish().await?;
            Answer::changed(OperationId::random(), UploadedFile { bulk_id, field_names })
        }
        Err(error) => {
            body.discard().await;
            // The caller can do something about the refusal only. An upload that is not given up now is forgotten in a month.
            if let Err(error) = upload.give_up().await {
                tracing::debug!(error = &error as &dyn std::error::Error, "an upload could not be given up");
            }
            Err(error)
        }
    }
}

/// Stores all rows and returns the names of the columns.
async fn add_all(upload: &mut BulkUpload, mut csv: BulkCsv, body: &mut Upload) -> Result<Vec<String>> {
    while let Some(chunk) = body.chunk().await? {
        for piece in chunk.chunks(PIECE) {
            for row in csv.feed(piece).map_err(Error::UnusableFile)? {
                upload.add(row).await?;
            }
        }
    }
    let (last, columns) = csv.finish().map_err(Error::UnusableFile)?;
    if let Some(row) = last {
        upload.add(row).await?;
    }
    Ok(columns)
}

pub(super) async fn send(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let push = input.parse(Push::parse_bulk_send).await?;
    let accepted = edge.engine.sending().accept_pushes(&app, OneOrMany::One(push), input.idempotency_key).await?;
    Ok(Answer::ok(accepted)?.data_attribute("push_ids").status(StatusCode::ACCEPTED))
}

pub(super) async fn validate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let push = input.parse(Push::parse_bulk_send).await?;
    edge.engine.sending().validate_pushes(&app, OneOrMany::One(push)).await?;
    Answer::ok(Done {})
}
