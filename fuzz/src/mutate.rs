//! Changes inputs: bytes, numbers, lengths, and pieces of other inputs.

/// Random numbers, the same for the same seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number (SplitMix64).
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.draw() % end.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Numbers and words at the edges.
const WORDS: &[&str] = &[
    "0",
    "-0.0",
    "-1",
    "1e308",
    "-1e308",
    "1e-308",
    "5e-324",
    "1e309",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "null",
    "true",
    "18446744073709551615",
    "9223372036854775807",
    "9007199254740993",
    "4294967296",
    "65536",
    "1e-160",
    "0.999999999999",
    "[]",
    "{}",
    "\"\"",
    "[[[[",
    "]]",
    "\\u0000",
    "\u{1b}[31m",
    "\u{202e}",
    "''",
    "#",
    "=",
    "\n",
    "\r\n",
    ",,,,",
    ";",
    "\t",
];
/// Sizes at the edges.
const SIZES: &[u64] = &[
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    u64::MAX / 2,
    u64::MAX,
];

/// The longest input that is made.
pub const LONGEST: usize = 1 << 17;

/// A changed copy of an input, with pieces of another one.
pub fn mutate(random: &mut Random, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 + random.below(4) {
        change(random, &mut bytes, other);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(bytes.len() + 1);
    let end = bytes.len().min(at + 1 + random.below(16));
    match random.below(12) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.draw() as u8,
        2 if at < bytes.len() => bytes[at] = SIZES[random.below(5)] as u8,
        3 => drop(bytes.drain(at..end)),
        4 => {
            let word = random.of(WORDS);
            bytes.splice(at..at, word.bytes());
        }
        5 => number(random, bytes, at),
        6 => {
            let size = SIZES[random.below(SIZES.len())].to_le_bytes();
            let width = [1, 2, 4, 8][random.below(4)];
            let end = bytes.len().min(at + width);
            bytes.splice(at..end, size[..width].iter().copied());
        }
        7 => {
            // A number of seven bits per byte in place of another one.
            let length = bytes[at..]
                .iter()
                .take_while(|byte| *byte & 0x80 != 0)
                .count()
                + 1;
            let end = bytes.len().min(at + length);
            bytes.splice(at..end, varint(SIZES[random.below(SIZES.len())]));
        }
        8 => {
            let piece = bytes[at..end].to_vec();
            let times = 1 + random.below(40);
            bytes.splice(at..at, piece.repeat(times));
        }
        9 if !other.is_empty() => {
            let from = random.below(other.len());
            let to = other.len().min(from + 1 + random.below(200));
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        10 => bytes.truncate(at),
        _ => {
            // A line, or what stands for one, elsewhere.
            let line = bytes[at..end].to_vec();
            let place = random.below(bytes.len() + 1);
            bytes.splice(place..place, line);
        }
    }
}

/// Replaces the decimal number at or after a place.
fn number(random: &mut Random, bytes: &mut Vec<u8>, at: usize) {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || b".-+eE".contains(byte);
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = at + start;
    let length = bytes[start..]
        .iter()
        .take_while(|byte| is_digit(byte))
        .count();
    let word = random.of(WORDS);
    bytes.splice(start..start + length, word.bytes());
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
