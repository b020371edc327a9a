//! Stops long work at SIGINT, SIGTERM and SIGHUP; a second signal ends the process at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use robust_td_data::{Monitor, files};

use crate::message;

/// How long work may take to stop before the process ends without it: time to write a checkpoint.
const GRACE: Duration = Duration::from_secs(10);
/// The same where nothing is lost, such as a program that waits for its input.
const SHORT_GRACE: Duration = Duration::from_millis(600);
/// The time between two checks of the thread that waits for signals.
const TICK: Duration = Duration::from_millis(50);

/// The signals that were caught.
static STOP: OnceLock<Stop> = OnceLock::new();

/// Whether a signal asked to stop.
#[derive(Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
    /// Whether the process ends if the work does not.
    impatient: AtomicBool,
    /// What a signal stops, if it is not a run with a checkpoint.
    work: OnceLock<Work>,
}

/// Work on logs.
#[derive(Debug)]
enum Work {
    /// Stopping it loses everything, sooner or later.
    Files,
    /// Stopping it saves the rows so far. Once it has ended, its answer may take a while.
    Stream(Monitor),
}

/// Catches signals from now on, for work that looks at the flag.
pub fn catch() -> &'static Stop {
    let mut first = false;
    let stop = STOP.get_or_init(|| {
        first = true;
        Stop::default()
    });
    if first {
        stop.impatient.store(true, Ordering::Relaxed);
        stop.install();
        // Without this thread a second signal still ends the process.
        let _ = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || stop.watch());
    }
    stop
}

/// The signal that asked to stop, if one did.
pub fn signal() -> Option<Signal> {
    STOP.get().and_then(Stop::signal)
}

impl Stop {
    /// Set by a signal.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Cancels work on files at a signal.
    pub fn cancelling(&self) -> Monitor {
        self.work.get_or_init(|| Work::Files);
        Monitor::cancelled_by(self.flag.clone())
    }

    /// Ends a stream at a signal.
    pub fn ending(&self) -> Monitor {
        let monitor = Monitor::ended_by(self.flag.clone());
        self.work.get_or_init(|| Work::Stream(monitor.clone()));
        monitor
    }

    /// From now on the work is not cut short: results are written.
    pub fn wait(&self) {
        self.impatient.store(false, Ordering::Relaxed);
    }

    /// The signal that asked to stop, if one did.
    pub fn signal(&self) -> Option<Signal> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => Some(Signal(number as u8)),
        }
    }

    fn watch(&self) {
        while !self.flag.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
        }
        // Reading may wait for ever: opening a pipe, or for the next row.
        std::thread::sleep(SHORT_GRACE);
        if let Some(state) = self.nothing_to_lose() {
            self.end(state);
        }
        std::thread::sleep(GRACE.saturating_sub(SHORT_GRACE));
        if !self.has_ended() {
            let seconds = GRACE.as_secs();
            self.end(&format!(
                "; the current step did not end within {seconds} seconds"
            ));
        }
    }

    /// What to say of work that leaves nothing behind, however it ends.
    fn nothing_to_lose(&self) -> Option<&'static str> {
        match self.work.get()? {
            Work::Files => Some("; nothing was written"),
            Work::Stream(monitor) if monitor.rows() == 0 && !self.has_ended() => {
                Some(" before the first row; there is no row to save")
            }
            Work::Stream(_) => None,
        }
    }

    /// Whether a stream has ended, so that its answer is made.
    fn has_ended(&self) -> bool {
        match self.work.get() {
            Some(Work::Stream(monitor)) => monitor.ended_after().is_some(),
            _ => false,
        }
    }

    /// Ends the process, unless results are being written.
    fn end(&self, state: &str) {
        if let Some(signal) = self.signal()
            && self.impatient.load(Ordering::Relaxed)
        {
            files::remove_temporaries();
            message::print(&format!("stopped by {}{state}", signal.name()));
            std::process::exit(signal.exit_code().into());
        }
    }

    #[cfg(unix)]
    fn install(&self) {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::flag;
        let ignored = ignored();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // As with `nohup`.
            if ignored >> (signal - 1) & 1 == 1 {
                continue;
            }
            // In this order: the first signal sets the flag, the second finds it set. If the system refuses a handler, the
            // signal ends the process, as it would anyway.
            let code = 128 + signal;
            let _ = flag::register_conditional_shutdown(signal, code, self.flag.clone());
            let _ = flag::register_usize(signal, self.signal.clone(), signal as usize);
            let _ = flag::register(signal, self.flag.clone());
        }
    }

    #[cfg(not(unix))]
    fn install(&self) {}
}

/// The signals that the process ignores, as a set of bits; none where the system does not say.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap_or_default();
    u64::from_str_radix(line.trim(), 16).unwrap_or(0)
}

/// A signal that asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(u8);

impl Signal {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            1 => "SIGHUP",
            2 => "SIGINT",
            15 => "SIGTERM",
            _ => "a signal",
        }
    }

    /// The exit code of a process that it stopped, as shells report it.
    pub fn exit_code(self) -> u8 {
        128 + self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_shells() {
        let codes = [1, 2, 15].map(|number| (Signal(number).name(), Signal(number).exit_code()));
        assert_eq!(codes, [("SIGHUP", 129), ("SIGINT", 130), ("SIGTERM", 143)]);
    }
}
