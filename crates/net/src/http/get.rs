//! A plain GET for commands that read what a daemon serves: `fsck`, images. HTTP/1.0, so that the body is neither chunked nor
//! followed by another answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes of status line and headers at most.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// An answer whose body has not been read yet.
pub struct HttpAnswer {
    pub status: u16,
    /// Text behind the status.
    pub reason: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Box<dyn BufRead + Send>,
}

impl HttpAnswer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Asks `address` (`host:port`) for `path_and_query`. The body ends where the server says, or with the connection.
///
/// # Errors
/// No connection, or an answer that is not HTTP's. `timeout` bounds the connect and each read.
pub fn get(address: &str, path_and_query: &str, timeout: Duration) -> io::Result<HttpAnswer> {
    let stream = crate::stream::connect(address, timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    send(stream, address, &format!("GET {path_and_query}"), "", &[])
}

/// As [`get`], or with a JSON body a POST of it, of which the whole answer has to be there `within` that time.
///
/// # Errors
/// As [`get`]; so do reads of the body when the time is over (`TimedOut`).
pub fn exchange(address: &str, path_and_query: &str, body: Option<&[u8]>, within: Duration) -> io::Result<HttpAnswer> {
    let deadline = Instant::now() + within;
    let stream = crate::stream::connect(address, within)?;
    let Some(body) = body else {
        return send(Timed { stream, deadline }, address, &format!("GET {path_and_query}"), "", &[]);
    };
    let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    send(Timed { stream, deadline }, address, &format!("POST {path_and_query}"), &headers, body)
}

/// A stream on which every step has what is left of the time.
struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        // The system takes no time at all for no limit.
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buf)
    }
}

impl Write for Timed {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(buf)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn send<S: Read + Write + Send + 'static>(
    mut stream: S,
    address: &str,
    what: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<HttpAnswer> {
    let request = format!("{what} HTTP/1.0\r\nHost: {address}\r\nUser-Agent: surus\r\nAccept: */*\r\n{headers}\r\n");
    stream.write_all(&[request.as_bytes(), body].concat())?;
    read_answer(stream)
}

fn read_answer(stream: impl Read + Send + 'static) -> io::Result<HttpAnswer> {
    let bad = || io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP's");
    let mut head = BufReader::new(stream).take(HEAD_BYTES_MAX);
    let mut line = || {
        let mut text = String::new();
        head.read_line(&mut text)?;
        if text.ends_with('\n') { Ok(text.trim_end().to_owned()) } else { Err(bad()) }
    };
    let first = line()?;
    let mut words = first.splitn(3, ' ');
    let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let status = words.next().and_then(|status| status.parse().ok()).filter(|_| is_http).ok_or_else(bad)?;
    let reason = words.next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let text = line()?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(bad)?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let rest = head.into_inner();
    let body: Box<dyn BufRead + Send> = match length {
        Some(length) => Box::new(rest.take(length)),
        None => Box::new(rest),
    };
    Ok(HttpAnswer { status, reason, headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn an_answer_is_read_to_its_end() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap().to_string();
        let serve = std::thread::spawn(move || {
            for answer in ["HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nX: y\r\n\r\nabcdef", "nonsense\r\n\r\n"] {
                let (mut stream, _) = server.accept().unwrap();
                let mut request = [0; 1024];
                let read = stream.read(&mut request).unwrap();
                assert!(request[..read].starts_with(b"GET /fsck?path=%2F HTTP/1.0\r\nHost: 127.0.0.1:"));
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let ask = || get(&address, "/fsck?path=%2F", Duration::from_secs(5));
        let mut answer = ask().unwrap();
        assert_eq!((answer.status, answer.reason.as_str(), answer.header("x")), (404, "Not Found", Some("y")));
        let mut body = String::new();
        answer.body.read_to_string(&mut body).unwrap();
        assert_eq!(body, "abc");
        assert_eq!(ask().err().map(|e| e.kind()), Some(io::ErrorKind::InvalidData));
        serve.join().unwrap();
    }

    #[test]
    fn an_exchange_has_one_deadline() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap().to_string();
        let serve = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            stream.read_exact(&mut [0; 16]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            // Each read is answered in time; the end is not.
            for _ in 0..100 {
                std::thread::sleep(Duration::from_millis(50));
                if stream.write_all(b"x").is_err() {
                    return;
                }
            }
        });
        let begin = Instant::now();
        let mut body = String::new();
        let read = exchange(&address, "/drip", Some(b"{}"), Duration::from_millis(400))
            .and_then(|mut answer| answer.body.read_to_string(&mut body));
        let kind = read.unwrap_err().kind();
        assert!(matches!(kind, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{kind:?}");
        assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
        serve.join().unwrap();
    }
}
