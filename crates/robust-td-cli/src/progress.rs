//! Shows the progress of a long run on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::message;

/// Prints a line on standard error when that is a terminal.
pub fn say(line: &str) {
    if std::io::stderr().is_terminal() {
        message::print(line);
    }
}

/// Prints where the results are to standard error, terminal or not, so that logs show it too.
pub fn finish(line: &str) {
    message::print(line);
}

/// A bar with rate and time left on standard error, or nothing when that is not a terminal.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar for work counted in `unit`, such as "lane-steps".
    pub fn new(unit: &str) -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let template = format!("{{wide_bar}} {{percent}} %  {{rate}} {unit}/s  {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.with_key(
                "rate",
                |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                    // A terminal that cannot be written to shows no rate; the run continues.
                    let _ = write!(out, "{:.2e}", state.per_sec());
                },
            ));
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar }
    }

    /// Prints a line above the bar, or nothing when standard error is not a terminal.
    pub fn say(&self, line: &str) {
        self.bar.println(message::one_line(line));
    }

    /// Shows how much is done; work done before a resume does not count towards the rate.
    pub fn show(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.bar.set_position(done);
            self.bar.reset_eta();
        }
        self.bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
