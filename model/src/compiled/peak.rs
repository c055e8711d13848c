//! What a core can do at most: the instruction of a kernel on registers alone.

use super::kernel::SimdLevel;
use super::narrow_kernel::NarrowKernel;
use super::precision::Precision;

/// Multiplies and adds `rounds` times as often as fits into the registers, at `level`; returns how
/// many multiplications that were. `None` if there is no kernel of its own for the precision there.
pub fn multiply_add(level: SimdLevel, precision: Precision, rounds: u64) -> Option<u64> {
    let kernel = NarrowKernel::choose(precision, level);
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: levels come from `SimdLevel::available` and kernels from `NarrowKernel::choose`,
        // which have asked the CPU.
        let per_round = unsafe {
            match (precision, kernel, level) {
                (_, Some(NarrowKernel::Int8Vnni), _) => x86::int8_vnni(rounds),
                (_, Some(NarrowKernel::Bf16), _) => x86::bf16(rounds),
                (_, Some(NarrowKernel::Int8Avx2), _) => x86::int8_avx2(rounds),
                (Precision::F32, None, SimdLevel::Avx512) => x86::f32_avx512(rounds),
                (Precision::F32, None, SimdLevel::Avx2) => x86::f32_avx2(rounds),
                _ => return None,
            }
        };
        Some(rounds * per_round)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (kernel, rounds);
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::hint::black_box;
    use std::mem::transmute;

    /// Writes a function that runs `$operation` on `$chains` independent sums, and returns how many
    /// numbers a round multiplies.
    macro_rules! peak {
        ($name:ident, $features:literal, $chains:literal x $numbers:literal,
         $zero:expr, $input:expr, |$sum:ident, $x:ident| $operation:expr) => {
            /// # Safety
            /// The CPU has the features.
            #[target_feature(enable = $features)]
            pub unsafe fn $name(rounds: u64) -> u64 {
                let mut sums = [$zero; $chains];
                let $x = black_box($input);
                for _ in 0..rounds {
                    for sum in &mut sums {
                        let $sum = *sum;
                        *sum = $operation;
                    }
                }
                black_box(sums);
                $chains * $numbers
            }
        };
    }

    peak!(f32_avx512, "avx512f", 16 x 16, _mm512_setzero_ps(), _mm512_setzero_ps(),
          |sum, x| _mm512_fmadd_ps(x, x, sum));
    peak!(f32_avx2, "avx2,fma", 12 x 8, _mm256_setzero_ps(), _mm256_setzero_ps(),
          |sum, x| _mm256_fmadd_ps(x, x, sum));
    peak!(int8_vnni, "avx512f,avx512vnni", 16 x 64, _mm512_setzero_si512(),
          _mm512_setzero_si512(), |sum, x| _mm512_dpbusd_epi32(sum, x, x));
    peak!(int8_avx2, "avx2", 12 x 16, _mm256_setzero_si256(), _mm256_setzero_si256(),
          |sum, x| _mm256_add_epi32(sum, _mm256_madd_epi16(x, sum)));
    // SAFETY: both types are 512 bits of plain data.
    peak!(bf16, "avx512f,avx512bf16", 16 x 32, _mm512_setzero_ps(),
          unsafe { transmute::<__m512i, __m512bh>(_mm512_setzero_si512()) },
          |sum, x| _mm512_dpbf16_ps(sum, x, x));
}
