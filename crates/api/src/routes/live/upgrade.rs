//! From a request to a WebSocket: the handshake of RFC 6455, after which the socket goes to the room of live connections.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use live::{Connection, End, Opening, Refused, accept_key};
use model::ids::AppId;

use crate::auth::LIVE_PROTOCOL;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::fair_share::Permit;
use crate::serve::{CallerAddress, Seat, take_socket};

const VERSION: &str = "13";

/// Upgrades the connection, and serves it in a task of its own. Clients in browsers see no status but 101, so that those that
/// cannot connect are told why by the code of a close frame. The socket is counted for its address until it is closed, whether the
/// device could connect or not.
pub(super) async fn connect(edge: &Edge, opening: Opening, mut request: Request) -> Result<Response> {
    let response = handshake(request.headers())?;
    let live = edge.engine.live().clone();
    let seat = request.extensions_mut().remove::<Seat>().ok_or_else(no_socket)?;
    let app = opening.caller.app().id;
    let opened = match (edge.admit_live(app), seat.admit_live()) {
        (Ok(of_app), Some(of_address)) => {
            let _turn = edge.begin_handshake(app).await?;
            live.open(opening).await?.map(|opened| (opened, of_app, of_address))
        }
        (Err(_), _) | (_, None) => Err(Refused(End::TooMany)),
    };
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Some((stream, first)) = upgrade.await.ok().and_then(take_socket) else { return };
        match opened {
            Ok((opened, of_app, of_address)) => {
                drop(seat);
                // A task of its own, which is as large as an idle connection needs and not as an opening does.
                tokio::spawn(stay(opened.connect(stream), first, of_app, of_address));
            }
            Err(Refused(end)) => {
                live::refuse(&stream, end).await;
                drop(seat);
            }
        }
    });
    Ok(response)
}

async fn stay(connection: Connection, first: Bytes, of_app: Permit<AppId>, of_address: Permit<CallerAddress>) {
    connection.run(first).await;
    // A device that sees its connection closed may open the next at once, so the places are given back before it is.
    drop((of_app, of_address));
}

fn no_socket() -> Error {
    Error::invalid("upgrade", "This address speaks HTTP/1.1 and WebSockets.")
}

fn handshake(headers: &HeaderMap) -> Result<Response> {
    let text = |name: http::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if !text(UPGRADE).is_some_and(|value| value.eq_ignore_ascii_case("websocket")) {
        return Err(no_socket());
    }
    if text(SEC_WEBSOCKET_VERSION) != Some(VERSION) {
        return Err(Error::invalid("sec-websocket-version", "This must be 13, the version of RFC 6455."));
    }
    let accept = text(SEC_WEBSOCKET_KEY).and_then(accept_key);
    let accept = accept.ok_or_else(|| Error::invalid("sec-websocket-key", "This must be sixteen bytes in base64."))?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let answer = response.headers_mut();
    answer.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accept).map_err(Error::internal)?);
    if let Some(offered) = text(SEC_WEBSOCKET_PROTOCOL) {
        if !offered.split(',').any(|protocol| protocol.trim() == LIVE_PROTOCOL) {
            return Err(Error::invalid("sec-websocket-protocol", "The only protocol here is aerogram.live.1."));
        }
        answer.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(LIVE_PROTOCOL));
    }
    Ok(response)
}
