//! Bodies: whole, or streamed from and to threads that block.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::error::Error;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// Data of one piece of a body that is read while it leaves. A body of up to this size leaves with the head, in one write.
pub const PIECE_BYTES: usize = 256 << 10;
/// Pieces that wait for a slow client.
const PIECES_MAX: usize = 2;
/// How much of a refused upload is read so that the client sees the answer rather than a broken connection.
const DRAIN_BYTES_MAX: usize = 8 << 20;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(2);

/// The body of an answer.
pub enum HttpBody {
    /// Known in full; `None` once it was sent, or empty.
    Full(Option<Bytes>),
    /// Pieces that a thread or task sends. With a length the answer has a Content-Length, else it is chunked.
    Stream { pieces: mpsc::Receiver<io::Result<Bytes>>, left: Option<u64> },
    /// Pieces made one by one as the socket takes them, on the connection's task: making one must be quick. Chunked.
    Pulled(Pull),
}

/// Makes the next piece of a body; `None` at its end. An error breaks the connection off.
pub type Pull = Box<dyn FnMut() -> Option<io::Result<Bytes>> + Send>;

impl HttpBody {
    pub fn empty() -> Self {
        HttpBody::Full(None)
    }

    /// A body fed from elsewhere. At most `pieces_max` pieces wait in between; `length` becomes Content-Length.
    pub fn stream(pieces_max: usize, length: Option<u64>) -> (BodySender, Self) {
        let (sender, pieces) = mpsc::channel(pieces_max.max(1));
        (BodySender(sender), HttpBody::Stream { pieces, left: length })
    }

    /// The bytes of a range, which `read` fills buffer by buffer, in order, each from its offset on. The first piece is read
    /// before this returns, further ones on a thread of their own as the body leaves: an error there is logged with `what`, and
    /// breaks the body off.
    ///
    /// # Errors
    /// That of the first piece.
    pub fn ranged<E: Error + Send + Sync + 'static>(
        runtime: &Handle,
        what: String,
        range: Range<u64>,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E> + Send + 'static,
    ) -> Result<Self, E> {
        let length = range.end - range.start;
        let room = move |at| vec![0; usize::try_from(range.end - at).unwrap_or(usize::MAX).min(PIECE_BYTES)];
        let mut first = room(range.start);
        if !first.is_empty() {
            read(range.start, &mut first)?;
        }
        if first.len() as u64 == length {
            return Ok(first.into());
        }
        let (sender, body) = HttpBody::stream(PIECES_MAX, Some(length));
        let send = move |sender: &BodySender| -> io::Result<()> {
            let mut at = range.start + first.len() as u64;
            sender.send_blocking(Bytes::from(first))?;
            while at < range.end {
                let mut piece = room(at);
                read(at, &mut piece).map_err(io::Error::other)?;
                at += piece.len() as u64;
                sender.send_blocking(Bytes::from(piece))?;
            }
            Ok(())
        };
        runtime.spawn_blocking(move || {
            if let Err(error) = send(&sender) {
                tracing::info!("{what}: {error}");
                sender.fail(error);
            }
        });
        Ok(body)
    }
}

impl From<Bytes> for HttpBody {
    fn from(bytes: Bytes) -> Self {
        HttpBody::Full((!bytes.is_empty()).then_some(bytes))
    }
}

impl From<Vec<u8>> for HttpBody {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for HttpBody {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<&'static str> for HttpBody {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            HttpBody::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            HttpBody::Stream { pieces, left } => pieces.poll_recv(cx).map(|piece| {
                let piece = piece?;
                if let (Some(left), Ok(piece)) = (left.as_mut(), &piece) {
                    *left = left.saturating_sub(piece.len() as u64);
                }
                Some(piece.map(Frame::data))
            }),
            HttpBody::Pulled(next) => Poll::Ready(next().map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, HttpBody::Full(None) | HttpBody::Stream { left: Some(0), .. })
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            HttpBody::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            HttpBody::Stream { left: Some(left), .. } => SizeHint::with_exact(*left),
            HttpBody::Stream { left: None, .. } | HttpBody::Pulled(_) => SizeHint::default(),
        }
    }
}

/// The feeding end of a streamed body. Dropped before the promised length, it breaks the connection off.
pub struct BodySender(mpsc::Sender<io::Result<Bytes>>);

impl BodySender {
    /// Sends a piece from a thread that may block. Never call it on a runtime's worker.
    ///
    /// # Errors
    /// `BrokenPipe` once the client is gone.
    pub fn send_blocking(&self, piece: Bytes) -> io::Result<()> {
        self.0.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Sends a piece from a task.
    ///
    /// # Errors
    /// `BrokenPipe` once the client is gone.
    pub async fn send(&self, piece: Bytes) -> io::Result<()> {
        self.0.send(Ok(piece)).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Ends the body with an error, so that the client sees a broken connection and not a short file.
    pub fn fail(self, error: io::Error) {
        let _ = self.0.try_send(Err(error));
    }
}

/// A request's body as a blocking reader, for threads outside the runtime (`spawn_blocking`).
pub struct BodyReader {
    body: Incoming,
    runtime: Handle,
    rest: Bytes,
    idle_max: Option<Duration>,
}

impl BodyReader {
    pub fn new(body: Incoming, runtime: Handle) -> Self {
        BodyReader { body, runtime, rest: Bytes::new(), idle_max: None }
    }

    /// Gives up on a client that sends nothing for so long.
    #[must_use]
    pub fn with_idle_max(mut self, idle_max: Duration) -> Self {
        self.idle_max = Some(idle_max);
        self
    }

    /// The next piece as it arrived; `None` at the end.
    ///
    /// # Errors
    /// The connection broke, or the client's framing is wrong.
    pub fn next_piece(&mut self) -> io::Result<Option<Bytes>> {
        if !self.rest.is_empty() {
            return Ok(Some(std::mem::take(&mut self.rest)));
        }
        loop {
            let (body, idle_max) = (&mut self.body, self.idle_max);
            let frame = self.runtime.block_on(async {
                match idle_max {
                    Some(idle_max) => tokio::time::timeout(idle_max, body.frame()).await.map_err(io::Error::from),
                    None => Ok(body.frame().await),
                }
            });
            match frame? {
                None => return Ok(None),
                Some(Err(e)) => return Err(io::Error::other(e)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data()
                        && !data.is_empty()
                    {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

impl io::Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            match self.next_piece()? {
                Some(piece) => self.rest = piece,
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.rest.len());
        buffer[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}

/// Reads what a client is sending anyway, within limits.
pub async fn drain(mut body: Incoming) {
    let mut left = DRAIN_BYTES_MAX;
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, async {
        while !body.is_end_stream() && left > 0 {
            match body.frame().await {
                Some(Ok(frame)) => left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len)),
                _ => return,
            }
        }
    })
    .await;
}
