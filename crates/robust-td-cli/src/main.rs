//! Runs the command `robust-td`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    robust_td_cli::main(std::env::args_os().skip(1)).into()
}
