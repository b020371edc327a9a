//! Says with how many threads and which vector code to run.

use robust_td_engine::Kernel;
use robust_td_simd::{KernelError, set_kernel};

use crate::failure::Failure;

/// How to run; nothing here changes the results.
#[derive(Debug, Clone, clap::Args)]
// Without a group of its own: the sweeps' options are a group of the same name around it.
#[group(skip)]
pub struct Machine {
    /// Number of threads; 0 means one per CPU
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    threads: usize,

    /// Code that computes the updates: auto, scalar, portable, avx2 or avx512
    #[arg(long, value_name = "KERNEL", default_value = "auto")]
    kernel: String,
}

impl Machine {
    /// The kernel, if this CPU has it; from now on learners run with it, too.
    pub fn kernel(&self) -> Result<Kernel, Failure> {
        let usage = |error: KernelError| Failure::Usage(error.to_string());
        let kernel = self.kernel.parse().map_err(usage)?;
        set_kernel(kernel).map_err(usage)?;
        Ok(kernel)
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        robust_td_engine::threads(self.threads)
    }
}
