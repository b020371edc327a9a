//! Tests that all kernels of this CPU give the same bits as plain f64 operations.

use proptest::prelude::*;

use super::*;

/// Every operation on the given numbers, as bits.
struct Everything<'a>(&'a [f64; 48]);

impl Work for Everything<'_> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) -> Vec<u64> {
        let mut out = Vec::new();
        let lines = self.0.as_chunks::<16>().0;
        let [x, y, z] = [0, 1, 2].map(|i| Line(lines[i]));
        for first in (0..16).step_by(S::LANES) {
            let [a, b, c] = [x, y, z].map(|line| s.load(&line.0[first..]));
            let results = [
                a.add(b),
                a.sub(b),
                a.mul(b),
                a.div(b),
                a.fma(b, c),
                a.max(b),
                a.sqrt(),
                a.where_greater(b, c, s.splat(7.0)),
            ];
            for (i, result) in results.into_iter().enumerate() {
                let mut lanes = [0.0; 8];
                result.store(&mut lanes);
                let place = |lane: usize| [i, first + lane];
                for lane in 0..S::LANES {
                    assert_eq!(result.lane(lane).to_bits(), lanes[lane].to_bits());
                    let [i, at] = place(lane);
                    out.push((at * 8 + i, lanes[lane].to_bits()));
                }
            }
        }
        out.sort_by_key(|entry| entry.0);
        let mut bits: Vec<u64> = out.into_iter().map(|entry| entry.1).collect();
        bits.extend(self.wide(s, x, y, z));
        bits.extend(self.quads(s));
        bits
    }
}

impl Everything<'_> {
    #[inline(always)]
    fn wide<S: Simd>(&self, s: S, x: Line<16>, y: Line<16>, z: Line<16>) -> Vec<u64> {
        let [a, b, c] = [&x, &y, &z].map(|line| s.load16(line));
        let results = [
            a.add(b),
            a.sub(b),
            a.mul(b),
            a.div(b),
            a.fma(b, c),
            a.max(b),
        ];
        let mut bits = Vec::new();
        for result in results {
            let mut line = Line::default();
            result.store(&mut line);
            bits.extend(line.0.map(f64::to_bits));
            bits.extend([result.sum(), result.lane(3), result.lane(14)].map(f64::to_bits));
        }
        for length in 0..=20 {
            let mut list = [7.0; 20];
            let part = s.load16_some(&self.0[..length]).add(s.splat16(0.0));
            part.store_some(&mut list[..length]);
            let read = length.min(16);
            assert_eq!(list[..read], self.0[..read]);
            assert!(list[read..].iter().all(|x| *x == 7.0));
            bits.push(part.sum().to_bits());
        }
        bits
    }

    /// The quads of eight lanes, for any register width.
    #[inline(always)]
    fn quads<S: Simd>(&self, s: S) -> Vec<u64> {
        let numbers = self.0.as_chunks::<4>().0;
        let mut quads = [numbers[0], numbers[1], numbers[2]];
        let mut bits = Vec::new();
        for first in (0..2).step_by(S::LANES / 4) {
            let pairs = s.pairs([&numbers[3 + first], &numbers[4]]);
            let loaded = s.quads([&numbers[5 + first], &numbers[6]]);
            let (product, factor) = (pairs.mul(loaded), s.splat(self.0[40]));
            product.accumulate_quad::<0>(factor, &mut quads[first]);
            if S::LANES == 8 {
                product.accumulate_quad::<1>(factor, &mut quads[1]);
            }
            let mut lanes = [0.0; 8];
            pairs.add(loaded).store(&mut lanes);
            bits.extend(lanes[..S::LANES].iter().map(|x| x.to_bits()));
        }
        bits.extend(quads.as_flattened().iter().map(|x| x.to_bits()));
        bits
    }
}

/// Draws of the generators.
struct Draws([[u64; 8]; 4]);

impl Work for Draws {
    type Output = Vec<[u64; 8]>;

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) -> Vec<[u64; 8]> {
        let mut draws = vec![[0; 8]; 50];
        s.xoshiro256pp(&mut self.0, &mut draws);
        draws.extend(self.0);
        draws
    }
}

/// Ordinary numbers, mixed with edge cases.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -10.0..10.0,
        1 => prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE / 3.0]),
    ]
}

proptest! {
    #[test]
    fn all_kernels_give_the_same_bits(numbers in prop::array::uniform::<_, 48>(number())) {
        let plain = Everything(&numbers).run(Portable::PLAIN);
        for kernel in Kernel::available() {
            prop_assert_eq!(&kernel.run(Everything(&numbers)), &plain);
        }
        // Compares with the f64 operators.
        for i in 0..16 {
            let [x, y, z] = [numbers[i], numbers[16 + i], numbers[32 + i]];
            let max = if x > y { x } else { y };
            let chosen = if x > y { z } else { 7.0 };
            let expected = [x + y, x - y, x * y, x / y, x.mul_add(y, z), max, x.sqrt(), chosen];
            for (bits, expected) in plain[8 * i..].iter().zip(expected) {
                let same = f64::from_bits(*bits).to_bits() == expected.to_bits();
                prop_assert!(same || f64::from_bits(*bits).is_nan() && expected.is_nan());
            }
        }
    }

    #[test]
    fn all_kernels_draw_the_same(state in prop::array::uniform4(prop::array::uniform8(any::<u64>()))) {
        let plain = Draws(state).run(Portable::PLAIN);
        for kernel in Kernel::available() {
            prop_assert_eq!(&kernel.run(Draws(state)), &plain);
        }
    }
}

#[test]
fn the_process_keeps_the_kernel_that_was_set() {
    for kernel in Kernel::available() {
        set_kernel(kernel).unwrap();
        assert_eq!(current_kernel(), kernel);
    }
    assert_eq!(current_kernel(), Kernel::best());
}

#[test]
fn names_are_read_back() {
    for kernel in Kernel::ALL {
        assert_eq!(kernel.to_string().parse(), Ok(kernel));
    }
    assert_eq!("auto".parse(), Ok(Kernel::best()));
    let name = "sse".to_owned();
    assert_eq!("sse".parse::<Kernel>(), Err(KernelError::Unknown { name }));
}

#[test]
fn offsets_name_rows_and_slots() {
    let at = [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0]];
    let offsets = &Offsets::new(at.to_vec());
    let table: Vec<f64> = (0..17).map(f64::from).collect();
    let rows = Rows::<2, 2>::new(&table, offsets);
    let expected = (
        &[4.0, 5.0],
        &[[6.0, 7.0], [8.0, 9.0]],
        &[[10.0, 11.0], [12.0, 13.0]],
    );
    assert_eq!(rows.get(1, 3), expected);
    let mut numbers: Vec<f64> = (0..18).map(f64::from).collect();
    let last = Offsets::new(vec![[6; 8]]);
    let mut slots = Slots::<2, 2>::new(&mut numbers[..16], 4, &last);
    assert_eq!(
        [*slots.get(0, 5, 1), *slots.get(0, 5, 2)],
        [[14.0, 15.0], [6.0, 7.0]]
    );
    // One number or slot too few.
    let refused =
        |check: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err();
    assert!(refused(&|| _ = Rows::<2, 2>::new(&table[1..], offsets)));
    assert!(refused(
        &|| _ = Slots::<1, 2>::new(&mut [0.0; 15], 8, offsets)
    ));
    assert!(refused(
        &|| _ = Slots::<1, 2>::new(&mut [0.0; 16], 7, offsets)
    ));
    assert!(refused(
        &|| _ = Slots::<2, 2>::new(&mut [0.0; 16], 4, offsets)
    ));
}

/// The table in the crate's header is complete.
#[test]
fn unsafe_code_is_listed() {
    let files = [
        ("dispatch.rs", include_str!("dispatch.rs")),
        ("kernel.rs", include_str!("kernel.rs")),
        ("line.rs", include_str!("line.rs")),
        ("links.rs", include_str!("links.rs")),
        ("offsets.rs", include_str!("offsets.rs")),
        ("portable.rs", include_str!("portable.rs")),
        ("upper.rs", include_str!("upper.rs")),
        ("vector.rs", include_str!("vector.rs")),
        ("wide.rs", include_str!("wide.rs")),
        ("x86.rs", include_str!("x86.rs")),
        ("xoshiro.rs", include_str!("xoshiro.rs")),
    ];
    let header = include_str!("lib.rs");
    assert_eq!(header.matches("\nmod ").count(), files.len() + 1);
    for (name, text) in files {
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let uses: usize = code.map(|line| line.matches("unsafe ").count()).sum();
        let listed = format!("//! | `{name}` | {uses} |");
        assert_eq!(header.contains(&listed), uses > 0, "{name}: {uses}");
        assert_eq!(header.contains(&format!("`{name}`")), uses > 0, "{name}");
    }
}

#[test]
fn links_are_checked_and_followed() {
    let next = vec![1, 2, 0, 2, 1, 0];
    let links = Links::new(2, vec![3, u64::MAX, 5, u64::MAX, 0, u64::MAX], next.clone());
    let (mut visits, mut entries) = ([[9; 8]; 2], [[9; 8]; 2]);
    let mut rows = [0, 1, 2, 0, 1, 2, 0, 1];
    let draws = [[3, 6, 1, 4, 5, 0, 3, 7], [5; 8]];
    links.walk(&mut rows, &draws, &mut visits, &mut entries);
    assert_eq!(visits, [[0, 1, 2, 0, 1, 2, 0, 1], [1, 2, 0, 2, 0, 1, 1, 2]]);
    assert_eq!(
        entries,
        [[0, 3, 5, 1, 2, 4, 0, 3], [2, 5, 1, 5, 1, 2, 2, 5]]
    );
    assert_eq!(rows, [0, 0, 2, 0, 2, 0, 0, 0]);
    let refused =
        |check: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err();
    assert!(refused(
        &|| _ = Links::new(2, vec![0; 6], vec![1, 2, 0, 3, 1, 0])
    ));
    assert!(refused(&|| _ = Links::new(2, vec![0; 5], next.clone())));
    assert!(refused(&|| _ = Links::new(4, vec![0; 6], next.clone())));
    assert!(refused(&|| links.walk(&mut [3; 8], &[], &mut [], &mut [])));
}

#[test]
fn short_lists_are_refused() {
    struct Short;
    impl Work for Short {
        type Output = f64;
        #[inline(always)]
        fn run<S: Simd>(&mut self, s: S) -> f64 {
            s.load(&[1.0; 3]).sum()
        }
    }
    for kernel in Kernel::available() {
        assert!(std::panic::catch_unwind(|| kernel.run(Short)).is_err());
    }
}
