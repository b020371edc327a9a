//! Defines the thread and kernel options.

use robust_td_engine::{Kernel, MOST_THREADS};
use robust_td_simd::{KernelError, set_kernel};

use crate::failure::Failure;

/// Thread and kernel options; they do not change the results.
#[derive(Debug, Clone, clap::Args)]
// No group: the options of sweeps include this struct in a group of the same name.
#[group(skip)]
pub struct Machine {
    /// Number of threads, up to 1024; 0 means one per CPU
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(0..=MOST_THREADS as i64)
    )]
    threads: u16,

    #[command(flatten)]
    kernel: KernelOption,
}

/// The kernel option; it does not change the results.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub struct KernelOption {
    /// Vector instructions: auto, scalar, portable, avx2 or avx512
    #[arg(long, value_name = "KERNEL", default_value = "auto")]
    kernel: String,
}

impl KernelOption {
    /// The kernel, if this CPU supports it; learners and feature maps use it from now on.
    pub fn select(&self) -> Result<Kernel, Failure> {
        let usage = |error: KernelError| Failure::Usage(error.to_string());
        let kernel = self.kernel.parse().map_err(usage)?;
        set_kernel(kernel).map_err(usage)?;
        Ok(kernel)
    }
}

impl Machine {
    /// The kernel; see [`KernelOption::select`].
    pub fn kernel(&self) -> Result<Kernel, Failure> {
        self.kernel.select()
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        robust_td_engine::threads(self.threads.into())
    }
}
