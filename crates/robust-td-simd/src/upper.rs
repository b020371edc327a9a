//! Clears the upper halves of the vector registers after code that leaves them dirty.

/// Zeroes all bits above the lowest 128 of the first sixteen vector registers.
///
/// The compiler does this at the end of vector code that it generates. Assembly has to do it explicitly. If it does
/// not, every later SSE instruction preserves the old upper half of its result register and so depends on whatever wrote
/// it last. Scalar code, including libm's logarithm, is SSE code and runs several times slower until the registers are
/// cleared. The calling convention lets every function overwrite the upper halves, so a call is always sound.
#[inline]
pub fn clean_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has AVX.
        unsafe { zero_upper() }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn zero_upper() {
    std::arch::x86_64::_mm256_zeroupper();
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// The bits of XINUSE for nonzero upper halves: AVX (2) and ZMM_Hi256 (6).
    const UPPER: u64 = 1 << 2 | 1 << 6;

    #[target_feature(enable = "xsave,xsavec")]
    fn in_use() -> u64 {
        // SAFETY: XSAVEC comes with XGETBV(1), and the caller has checked that the system enabled XSAVE.
        unsafe { std::arch::x86_64::_xgetbv(1) }
    }

    /// Sets all bits of one register, as assembly without `vzeroupper` does.
    #[target_feature(enable = "avx")]
    fn dirty() {
        // SAFETY: `ymm0` is declared as overwritten; nothing else changes.
        unsafe { std::arch::asm!("vcmptrueps ymm0, ymm0, ymm0", out("ymm0") _) };
    }

    #[test]
    fn the_upper_halves_are_clean_afterwards() {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("avx") && has!("xsave") && has!("xsavec")) {
            return;
        }
        // SAFETY: the features were detected.
        unsafe {
            dirty();
            clean_upper_halves();
            assert_eq!(in_use() & UPPER, 0);
        }
    }
}
