//! A progress bar for transfers that take long, where standard error is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Read, Write};
use std::time::{Duration, Instant};

/// A transfer that is over sooner shows nothing.
const SHOW_AFTER: Duration = Duration::from_millis(1500);

pub struct Progress {
    name: String,
    /// Bytes in all, where that is known.
    length: Option<u64>,
    done: u64,
    started: Instant,
    is_terminal: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(name: &str, length: Option<u64>) -> Self {
        Progress {
            name: name.to_string(),
            length,
            done: 0,
            started: Instant::now(),
            is_terminal: io::stderr().is_terminal(),
            bar: None,
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if !self.is_terminal {
            return;
        }
        match &self.bar {
            Some(bar) => bar.set_position(self.done),
            None if self.started.elapsed() >= SHOW_AFTER => {
                let (bar, template) = match self.length {
                    Some(length) => {
                        (ProgressBar::new(length), "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
                    }
                    None => (ProgressBar::no_length(), "{msg} {bytes} {bytes_per_sec}"),
                };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                bar.set_message(self.name.clone());
                // What was done unseen counts for the rate as well.
                self.bar = Some(bar.with_position(self.done).with_elapsed(self.started.elapsed()));
            }
            None => {}
        }
    }

    /// `source`, counted.
    pub fn reading<'a>(&'a mut self, source: &'a mut dyn Read) -> Counted<'a, dyn Read + 'a> {
        Counted { inner: source, progress: self }
    }

    /// `out`, counted.
    pub fn writing<'a>(&'a mut self, out: &'a mut dyn Write) -> Counted<'a, dyn Write + 'a> {
        Counted { inner: out, progress: self }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A stream whose bytes move the bar.
pub struct Counted<'a, T: ?Sized> {
    inner: &'a mut T,
    progress: &'a mut Progress,
}

impl Read for Counted<'_, dyn Read + '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buf)?;
        self.progress.advance(len);
        Ok(len)
    }
}

impl Write for Counted<'_, dyn Write + '_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let len = self.inner.write(buf)?;
        self.progress.advance(len);
        Ok(len)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
