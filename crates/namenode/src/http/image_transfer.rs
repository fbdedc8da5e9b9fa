//! `/imagetransfer`: images and edits for `dfsadmin -fetchImage`, a secondary NameNode or a standby. Only sends.
//! Source: `ImageServlet.java`, `TransferFsImage.java`, Hadoop 3.5.0.

use super::{answer, page, parameter, set};
use crate::core::Core;
use std::sync::Arc;
use surus_journal::StoredFile;
use surus_net::http::{HttpBody, Response, StatusCode};
use surus_types::{HdfsError, TxId};

/// A file is read and sent in such pieces.
const PIECE_BYTES: usize = 256 << 10;
const PIECES_MAX: usize = 4;

pub async fn serve(core: &Arc<Core>, query: &str) -> Response<HttpBody> {
    if let Some(theirs) = parameter(query, "storageInfo") {
        let id = &core.id;
        let namespace_id = id.namespace_id as i32;
        let ours = format!("{}:{namespace_id}:{}:{}", id.layout_version, id.creation_time_ms, id.cluster_id);
        if theirs != ours {
            let text = format!("This namenode has storage info {ours} but the secondary expected {theirs}");
            return refused(StatusCode::FORBIDDEN, text);
        }
    }
    let job = {
        let (core, query) = (Arc::clone(core), query.to_owned());
        core.runtime.clone().spawn_blocking(move || find(&core, &query))
    };
    match job.await {
        Ok(Ok(Some(stored))) => send(core, stored),
        Ok(Ok(None)) => refused(StatusCode::NOT_FOUND, format!("There is no file for {query}")),
        Ok(Err(error)) => refused(StatusCode::GONE, error.message),
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

fn refused(status: StatusCode, text: String) -> Response<HttpBody> {
    let mut response = page("text/plain;charset=utf-8", text);
    *response.status_mut() = status;
    response
}

fn find(core: &Core, query: &str) -> Result<Option<StoredFile>, HdfsError> {
    let illegal = || HdfsError::io("Illegal parameters to TransferFsImage");
    let number = |name: &str| {
        let text = parameter(query, name).ok_or_else(illegal)?;
        text.parse().map(TxId).map_err(|_| illegal())
    };
    if parameter(query, "getimage").is_some() {
        let txid = match parameter(query, "txid").as_deref() {
            Some("latest") => None,
            _ => Some(number("txid")?),
        };
        return core.journal.open_image(txid);
    }
    if parameter(query, "getedit").is_some() {
        return core.journal.open_edits(number("startTxId")?, number("endTxId")?);
    }
    Err(illegal())
}

fn send(core: &Core, stored: StoredFile) -> Response<HttpBody> {
    let StoredFile { name, file, len, md5 } = stored;
    let (sender, body) = HttpBody::stream(PIECES_MAX, Some(len));
    core.runtime.spawn_blocking(move || {
        let mut at = 0;
        while at < len {
            let mut piece = vec![0; (len - at).min(PIECE_BYTES as u64) as usize];
            if let Err(error) = file.read_exact_at(&mut piece, at) {
                sender.fail(error);
                return;
            }
            at += piece.len() as u64;
            if sender.send_blocking(piece.into()).is_err() {
                return;
            }
        }
    });
    let mut response = answer(StatusCode::OK, Some("application/octet-stream"), body);
    set(&mut response, "Content-Disposition", &format!("attachment; filename={name}"));
    set(&mut response, "X-Image-Edits-Name", &name);
    if let Some(md5) = md5 {
        set(&mut response, "X-MD5-Digest", &md5);
    }
    response
}
