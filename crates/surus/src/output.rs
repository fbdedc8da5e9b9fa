//! Text for stdout. A reader that went away (`surus keys | head`) is no error and no reason to panic.

use std::io::Write;

/// Writes `text` as it is.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
