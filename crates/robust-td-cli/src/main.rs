//! Runs the command `robust-td`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Takes memory from the system in large pages, if `.cargo/config.toml` of the repository is in force when it is built.
#[cfg(all(target_os = "linux", feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    robust_td_cli::main(std::env::args_os().skip(1)).into()
}
