//! Files of the offline viewers: read through a sliding window, written through a buffer.

use std::io::{self, Write};
use std::path::Path;
use surus_disk::{Disk, DiskFile, OpenMode, RealDisk};

const WINDOW_BYTES: usize = 1 << 20;
const BUFFER_BYTES: usize = 256 << 10;

/// A file that is read from front to back.
pub struct Window {
    file: Box<dyn DiskFile>,
    len: u64,
    bytes: Vec<u8>,
    start: u64,
}

impl Window {
    /// # Errors
    /// `PATH (No such file or directory)`, as Java says it, or the disk's.
    pub fn open(path: &str) -> io::Result<Window> {
        let file = RealDisk.open(Path::new(path), OpenMode::Read).map_err(|e| java_text(path, &e))?;
        let len = file.len()?;
        Ok(Window { file, len, bytes: Vec::new(), start: 0 })
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// Up to `count` bytes at `at`; fewer at the end of the file.
    pub fn get(&mut self, at: u64, count: usize) -> io::Result<&[u8]> {
        let at = at.min(self.len);
        let end = at.saturating_add(count as u64).min(self.len);
        if at < self.start || end > self.start + self.bytes.len() as u64 {
            let bytes = (count.max(WINDOW_BYTES) as u64).min(self.len - at) as usize;
            self.bytes.resize(bytes, 0);
            self.start = at;
            self.file.read_exact_at(&mut self.bytes, at)?;
        }
        let from = (at - self.start) as usize;
        Ok(&self.bytes[from..from + (end - at) as usize])
    }
}

impl io::Read for Window {
    /// Reads on from where the last read ended.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.start)?;
        self.start += count as u64;
        Ok(count)
    }
}

/// Where a viewer writes: a file, or standard output.
pub struct Output {
    file: Option<(Box<dyn DiskFile>, u64)>,
    also_to_screen: bool,
    buffer: Vec<u8>,
}

impl Output {
    /// `path` `-`: standard output.
    ///
    /// # Errors
    /// The disk's.
    pub fn create(path: &str, also_to_screen: bool) -> io::Result<Output> {
        let file = match path {
            "-" => None,
            _ => Some((RealDisk.open(Path::new(path), OpenMode::Create).map_err(|e| java_text(path, &e))?, 0)),
        };
        let also_to_screen = also_to_screen || file.is_none();
        Ok(Output { file, also_to_screen, buffer: Vec::with_capacity(BUFFER_BYTES + 4096) })
    }

    /// The buffer, to append to; `spill` sends it on its way when it is full.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    pub fn spill(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.spill()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some((file, position)) = &mut self.file {
            file.write_all_at(&self.buffer, *position)?;
            *position += self.buffer.len() as u64;
        }
        if self.also_to_screen {
            let mut screen = io::stdout().lock();
            screen.write_all(&self.buffer)?;
            screen.flush()?;
        }
        self.buffer.clear();
        Ok(())
    }
}

/// As Java names it: `/nonexistent (No such file or directory)`.
fn java_text(path: &str, error: &io::Error) -> io::Error {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        _ => return io::Error::new(error.kind(), error.to_string()),
    };
    io::Error::new(error.kind(), format!("{path} ({reason})"))
}
