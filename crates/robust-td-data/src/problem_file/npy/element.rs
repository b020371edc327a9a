//! Decodes the elements of a NumPy array as f64.

/// How the numbers of an array are stored.
#[derive(Clone, Copy)]
pub struct Element {
    /// Bytes per number.
    pub size: usize,
    /// Whether the bytes must be reversed to be little-endian.
    big_endian: bool,
    /// A number from its little-endian bytes.
    value: fn(&[u8]) -> f64,
}

/// The element type of a descriptor such as `<f8`; `None` unless it is a real number.
pub fn find(descriptor: &str) -> Option<Element> {
    macro_rules! little_endian {
        ($number:ty) => {{
            const SIZE: usize = size_of::<$number>();
            let value: fn(&[u8]) -> f64 = |bytes| {
                let mut whole = [0; SIZE];
                whole.copy_from_slice(bytes);
                <$number>::from_le_bytes(whole) as f64
            };
            (SIZE, value)
        }};
    }
    let kind = descriptor.strip_prefix(['<', '>', '|', '='])?;
    let (size, value) = match kind {
        "f8" => little_endian!(f64),
        "f4" => little_endian!(f32),
        "i8" => little_endian!(i64),
        "i4" => little_endian!(i32),
        "i2" => little_endian!(i16),
        "i1" => little_endian!(i8),
        "u8" => little_endian!(u64),
        "u4" => little_endian!(u32),
        "u2" => little_endian!(u16),
        "u1" | "b1" => little_endian!(u8),
        _ => return None,
    };
    let native = descriptor.starts_with('=') && cfg!(target_endian = "big");
    Some(Element {
        size,
        big_endian: descriptor.starts_with('>') || native,
        value,
    })
}

impl Element {
    /// The numbers in bytes whose length is a multiple of `size`.
    pub fn decode(&self, mut bytes: Vec<u8>) -> Vec<f64> {
        bytes
            .chunks_exact_mut(self.size)
            .map(|chunk| {
                if self.big_endian {
                    chunk.reverse();
                }
                (self.value)(chunk)
            })
            .collect()
    }
}
