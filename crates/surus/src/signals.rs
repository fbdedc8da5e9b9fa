//! SIGTERM and SIGINT, so that a daemon ends what it does before it goes.

use crate::exit;
use anyhow::Result;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals are caught from when this is made.
pub struct Signals {
    runtime: Runtime,
    terminate: Signal,
    interrupt: Signal,
}

/// The signal that came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    Terminate,
    Interrupt,
}

impl Received {
    /// The exit code of a JVM that the signal ended.
    pub fn exit_code(self) -> u8 {
        match self {
            Received::Terminate => exit::SIGTERM,
            Received::Interrupt => exit::SIGINT,
        }
    }

    /// As Hadoop's daemons log it.
    pub fn log_line(self) -> &'static str {
        match self {
            Received::Terminate => "RECEIVED SIGNAL 15: SIGTERM",
            Received::Interrupt => "RECEIVED SIGNAL 2: SIGINT",
        }
    }
}

impl Signals {
    /// Catches both signals.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn catch() -> Result<Signals> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let (terminate, interrupt) = {
            let _context = runtime.enter();
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
        };
        Ok(Signals { runtime, terminate, interrupt })
    }

    /// Waits for the first one.
    pub fn wait(&mut self) -> Received {
        let (terminate, interrupt) = (&mut self.terminate, &mut self.interrupt);
        self.runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => Received::Terminate,
                _ = interrupt.recv() => Received::Interrupt,
            }
        })
    }
}
