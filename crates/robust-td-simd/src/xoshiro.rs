//! Draws from eight Xoshiro256++ generators in parallel (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021).

/// One word of each of eight generators.
type Word = [u64; 8];

/// The next draws of eight generators: the high 53 bits of their outputs.
#[inline(always)]
pub fn plain(state: &mut [Word; 4], draws: &mut [Word]) {
    let [mut a, mut b, mut c, mut d] = *state;
    for draw in draws {
        for g in 0..8 {
            let sum = a[g].wrapping_add(d[g]).rotate_left(23).wrapping_add(a[g]);
            draw[g] = sum >> 11;
            let shifted = b[g] << 17;
            c[g] ^= a[g];
            d[g] ^= b[g];
            b[g] ^= c[g];
            a[g] ^= d[g];
            c[g] ^= shifted;
            d[g] = d[g].rotate_left(45);
        }
    }
    *state = [a, b, c, d];
}

/// The same with 512-bit instructions, which the compiler does not generate by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub fn avx512(state: &mut [Word; 4], draws: &mut [Word]) {
    use std::arch::x86_64::*;
    // SAFETY: a word is 512 bits, and the access needs no alignment.
    let read = |word: &Word| unsafe { _mm512_loadu_epi64(word.as_ptr().cast()) };
    // SAFETY: as above.
    let write = |word: &mut Word, x| unsafe { _mm512_storeu_epi64(word.as_mut_ptr().cast(), x) };
    let [mut a, mut b, mut c, mut d] = [0, 1, 2, 3].map(|i| read(&state[i]));
    for draw in draws {
        let sum = _mm512_rol_epi64::<23>(_mm512_add_epi64(a, d));
        write(draw, _mm512_srli_epi64::<11>(_mm512_add_epi64(sum, a)));
        let shifted = _mm512_slli_epi64::<17>(b);
        c = _mm512_xor_epi64(c, a);
        d = _mm512_xor_epi64(d, b);
        b = _mm512_xor_epi64(b, c);
        a = _mm512_xor_epi64(a, d);
        c = _mm512_xor_epi64(c, shifted);
        d = _mm512_rol_epi64::<45>(d);
    }
    for (word, x) in state.iter_mut().zip([a, b, c, d]) {
        write(word, x);
    }
}

/// The same with 256-bit instructions: two times four generators.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub fn avx2(state: &mut [Word; 4], draws: &mut [Word]) {
    use std::arch::x86_64::*;
    // SAFETY: a quad is 256 bits, and the access needs no alignment.
    let read = |quad: &[u64; 4]| unsafe { _mm256_loadu_si256(quad.as_ptr().cast()) };
    // SAFETY: as above.
    let write =
        |quad: &mut [u64; 4], x| unsafe { _mm256_storeu_si256(quad.as_mut_ptr().cast(), x) };
    let mut words = [0, 1, 2, 3]
        .map(|i| state[i].as_chunks::<4>().0)
        .map(|quads| [read(&quads[0]), read(&quads[1])]);
    for draw in draws {
        let [a, b, c, d] = &mut words;
        for (h, quad) in draw.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let sum = _mm256_add_epi64(a[h], d[h]);
            let turned =
                _mm256_or_si256(_mm256_slli_epi64::<23>(sum), _mm256_srli_epi64::<41>(sum));
            write(
                quad,
                _mm256_srli_epi64::<11>(_mm256_add_epi64(turned, a[h])),
            );
            let shifted = _mm256_slli_epi64::<17>(b[h]);
            c[h] = _mm256_xor_si256(c[h], a[h]);
            d[h] = _mm256_xor_si256(d[h], b[h]);
            b[h] = _mm256_xor_si256(b[h], c[h]);
            a[h] = _mm256_xor_si256(a[h], d[h]);
            c[h] = _mm256_xor_si256(c[h], shifted);
            d[h] = _mm256_or_si256(_mm256_slli_epi64::<45>(d[h]), _mm256_srli_epi64::<19>(d[h]));
        }
    }
    for (word, quads) in state.iter_mut().zip(words) {
        for (quad, x) in word.as_chunks_mut::<4>().0.iter_mut().zip(quads) {
            write(quad, x);
        }
    }
}
