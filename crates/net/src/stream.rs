//! Blocking TCP for the data-transfer protocol: listening, connecting and sending with time limits, and sending
//! straight from a file.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Binds `addr` with SO_REUSEADDR, as servers that restart need it.
///
/// # Errors
/// The address cannot be resolved or bound.
pub fn listen(addr: impl ToSocketAddrs, backlog: i32) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "the address resolves to nothing");
    for addr in addr.to_socket_addrs()? {
        match listen_on(addr, backlog) {
            Ok(listener) => return Ok(listener),
            Err(e) => last = e,
        }
    }
    Err(last)
}

fn listen_on(addr: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    let kind = socket2::Type::STREAM;
    let socket = socket2::Socket::new(socket2::Domain::for_address(addr), kind, Some(socket2::Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&addr.into())?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

/// Connects to the first address of `addr` (`host:port`) that answers within `timeout`.
///
/// # Errors
/// Name resolution, refusal, or `TimedOut`.
pub fn connect(addr: impl ToSocketAddrs, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "the address resolves to nothing");
    for addr in addr.to_socket_addrs()? {
        match TcpStream::connect_timeout(&addr, timeout) {
            Ok(stream) => return Ok(stream),
            Err(e) => last = e,
        }
    }
    Err(last)
}

/// Connects for data transfer: no delay of small segments, and `timeout` for every read and write too.
/// Zero means "for ever".
///
/// # Errors
/// As `connect`.
pub fn connect_data(addr: impl ToSocketAddrs, connect: Duration, timeout: Duration) -> io::Result<TcpStream> {
    let stream = self::connect(addr, connect)?;
    prepare_data(&stream, timeout)?;
    Ok(stream)
}

/// Sets up a stream that was accepted or connected for data transfer.
///
/// # Errors
/// The socket is broken.
pub fn prepare_data(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let timeout = (!timeout.is_zero()).then_some(timeout);
    stream.set_read_timeout(timeout)?;
    stream.set_write_timeout(timeout)
}

/// Writes all slices, with one system call where the socket takes them at once. Changes `slices`.
///
/// # Errors
/// Those of the socket; `WriteZero` where it takes nothing more.
pub fn write_all_vectored(mut stream: &TcpStream, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    IoSlice::advance_slices(&mut slices, 0);
    while !slices.is_empty() {
        match stream.write_vectored(slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut slices, count),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Sends `bytes` and tells the kernel that more follows, so that it makes full segments (`MSG_MORE`).
///
/// # Errors
/// Those of the socket.
pub fn write_all_more(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let flags = rustix::net::SendFlags::MORE | rustix::net::SendFlags::NOSIGNAL;
    while !bytes.is_empty() {
        match rustix::net::send(stream, bytes, flags) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// Sends `len` bytes of `file` from `offset` without a copy through this process.
///
/// # Errors
/// Those of the socket; `UnexpectedEof` where the file ends before.
pub fn send_file(stream: &TcpStream, file: &File, mut offset: u64, len: usize) -> io::Result<()> {
    let mut left = len;
    while left > 0 {
        match rustix::fs::sendfile(stream, file, Some(&mut offset), left) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => left -= count,
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// A name or address by which other machines reach this one: `host_name` where it resolves to more than loopback, else the
/// address of the interface that the default route leaves by. `None`: this machine has neither.
pub fn reachable_name(host_name: &str) -> Option<String> {
    use std::net::{Ipv4Addr, UdpSocket};
    let is_beyond = |ip: std::net::IpAddr| !ip.is_loopback() && !ip.is_unspecified();
    let resolved = (host_name, 0).to_socket_addrs();
    if resolved.is_ok_and(|mut addresses| addresses.any(|address| is_beyond(address.ip()))) {
        return Some(host_name.to_owned());
    }
    // Connecting a datagram socket sends nothing: it chooses a route. The address is one kept for documentation (RFC 5737).
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let own = socket.local_addr().ok()?.ip();
    is_beyond(own).then(|| own.to_string())
}
