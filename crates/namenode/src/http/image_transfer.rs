//! `/imagetransfer`: images and edits for `dfsadmin -fetchImage`, a secondary NameNode or a standby, and the images that these two
//! send back.
//! Source: `ImageServlet.java`, `TransferFsImage.java`, Hadoop 3.5.0.

use super::{answer, page, parameter, set};
use crate::core::Core;
use crate::received_image::NotTaken;
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_journal::{SentImage, StoredFile};
use surus_net::http::{BodyReader, HttpBody, Incoming, Request, Response, StatusCode};
use surus_types::{HdfsError, TxId};

/// A file is read and sent in such pieces.
const PIECE_BYTES: usize = 256 << 10;
const PIECES_MAX: usize = 4;
/// A sender who says nothing for so long is given up on. Source: `dfs.image.transfer.timeout`, Hadoop 3.5.0.
const IDLE_MAX: Duration = Duration::from_secs(60);

pub async fn serve(core: &Arc<Core>, query: &str) -> Response<HttpBody> {
    if let Some(refusal) = parameter(query, "storageInfo").and_then(|theirs| check_storage(core, &theirs)) {
        return refusal;
    }
    let job = {
        let (core, query) = (Arc::clone(core), query.to_owned());
        core.runtime.clone().spawn_blocking(move || find(&core, &query))
    };
    match job.await {
        Ok(Ok(Some(stored))) => {
            let [usual, bootstrap] = core.config.transfer_bytes_per_second;
            let is_bootstrap = parameter(query, "bootstrapstandby").as_deref() == Some("true");
            send(core, stored, if is_bootstrap { bootstrap } else { usual })
        }
        Ok(Ok(None)) => refused(StatusCode::NOT_FOUND, format!("There is no file for {query}")),
        Ok(Err(error)) => refused(StatusCode::GONE, error.message),
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// Another file system's images and edits are none of ours.
fn check_storage(core: &Core, theirs: &str) -> Option<Response<HttpBody>> {
    let id = &core.id;
    let namespace_id = id.namespace_id as i32;
    let ours = format!("{}:{namespace_id}:{}:{}", id.layout_version, id.creation_time_ms, id.cluster_id);
    let text = format!("This namenode has storage info {ours} but the secondary expected {theirs}");
    (theirs != ours).then(|| refused(StatusCode::FORBIDDEN, text))
}

/// An image that somebody sends. Source: `ImageServlet.PutImageParams`, Hadoop 3.5.0.
pub async fn receive(core: &Arc<Core>, request: Request<Incoming>) -> Response<HttpBody> {
    let query = request.uri().query().unwrap_or("").to_owned();
    let Some(image) = sent_image(&request, &query) else {
        return refused(StatusCode::GONE, "Illegal parameters to TransferFsImage".to_owned());
    };
    let Some(theirs) = parameter(&query, "storageInfo").filter(|theirs| !theirs.is_empty()) else {
        return refused(StatusCode::GONE, "Illegal parameters to TransferFsImage".to_owned());
    };
    if let Some(refusal) = check_storage(core, &theirs) {
        return refusal;
    }
    let runtime = core.runtime.clone();
    let mut body = BodyReader::new(request.into_body(), runtime.clone()).with_idle_max(IDLE_MAX);
    let job = {
        let core = Arc::clone(core);
        runtime.spawn_blocking(move || core.take_image(&image, &mut body))
    };
    match job.await {
        Ok(Ok(())) => page("text/plain;charset=utf-8", String::new()),
        Ok(Err(NotTaken::Conflict(text))) => {
            tracing::info!("{text}");
            refused(StatusCode::CONFLICT, text)
        }
        Ok(Err(NotTaken::Failed(error))) => {
            tracing::warn!("an image was sent and not taken: {}", error.message);
            refused(StatusCode::GONE, format!("PutImage failed. {}", error.message))
        }
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// `None`: something is missing or does not parse. Every sender of Hadoop's tells the MD5.
fn sent_image(request: &Request<Incoming>, query: &str) -> Option<SentImage> {
    let number = |name: &str| parameter(query, name)?.parse::<u64>().ok().filter(|number| *number > 0);
    let is_rollback = match parameter(query, "imageFile").as_deref() {
        None | Some("IMAGE") => false,
        Some("IMAGE_ROLLBACK") => true,
        Some(_) => return None,
    };
    let md5 = surus_journal::parse_md5(request.headers().get("X-MD5-Digest")?.to_str().ok()?)?;
    Some(SentImage { txid: TxId(number("txid")?), is_rollback, len: number("File-Length")?, md5 })
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

/// At most so many bytes a second; 0: any.
fn send(core: &Core, stored: StoredFile, bytes_per_second: u64) -> Response<HttpBody> {
    let StoredFile { name, file, len, md5 } = stored;
    let (sender, body) = HttpBody::stream(PIECES_MAX, Some(len));
    core.runtime.spawn_blocking(move || {
        let (began, mut at) = (Instant::now(), 0);
        while at < len {
            std::thread::sleep(too_early(at, bytes_per_second, began.elapsed()));
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

/// How long a sender at so many bytes a second (0: any) who has sent `at` bytes must still wait for its next piece.
fn too_early(at: u64, bytes_per_second: u64, elapsed: Duration) -> Duration {
    let earliest = at.saturating_mul(1_000_000).checked_div(bytes_per_second).map(Duration::from_micros);
    earliest.unwrap_or_default().saturating_sub(elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_to_the_bandwidth() {
        let ms = Duration::from_millis;
        assert_eq!(too_early(0, 1_000_000, ms(0)), ms(0));
        assert_eq!(too_early(500_000, 1_000_000, ms(200)), ms(300));
        assert_eq!(too_early(500_000, 1_000_000, ms(700)), ms(0));
        assert_eq!(too_early(u64::MAX, 0, ms(0)), ms(0));
    }
}
