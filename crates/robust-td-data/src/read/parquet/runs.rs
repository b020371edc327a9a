//! Walks over the runs in which Parquet stores levels and the indices of dictionaries, without expanding them.

/// Calls `run` with each value and the number of times that it is repeated, until `count` values or the end of the bytes.
///
/// The hybrid of run lengths and packed bits: a number 2n before n copies of a value, 2n + 1 before 8n packed values.
pub(super) fn walk<E>(
    mut bytes: &[u8],
    width: u8,
    mut count: u64,
    mut run: impl FnMut(u32, u64) -> Result<(), E>,
) -> Result<(), E> {
    let width = usize::from(width.min(32));
    while count > 0
        && let Some((head, rest)) = number(bytes)
    {
        if head & 1 == 0 {
            let size = width.div_ceil(8);
            let Some((value, rest)) = rest.split_at_checked(size) else {
                return Ok(());
            };
            let mut whole = [0; 4];
            whole[..size].copy_from_slice(value);
            let length = (head >> 1).min(count);
            run(u32::from_le_bytes(whole), length)?;
            (bytes, count) = (rest, count - length);
        } else {
            let groups = (head >> 1).min(rest.len() as u64 / width.max(1) as u64 + 1);
            let (packed, rest) = rest.split_at(rest.len().min(groups as usize * width));
            let available = match width {
                0 => (head >> 1).saturating_mul(8),
                _ => (packed.len() * 8 / width) as u64,
            };
            let length = available.min(count);
            match width {
                0 => run(0, length)?,
                _ => {
                    for k in 0..length as usize {
                        run(unpacked(packed, k * width, width), 1)?;
                    }
                }
            }
            (bytes, count) = (rest, count - length);
        }
    }
    Ok(())
}

/// The `width` bits from a place on, the lowest first.
fn unpacked(packed: &[u8], at: usize, width: usize) -> u32 {
    let mut value = 0_u64;
    for (k, byte) in packed[at / 8..].iter().take(5).enumerate() {
        value |= u64::from(*byte) << (8 * k);
    }
    let mask = (1_u64 << width) - 1;
    (value >> (at % 8) & mask) as u32
}

/// A number of seven bits per byte, the lowest first, and what follows it.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (k, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * k as u32)?;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[k + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(bytes: &[u8], width: u8, count: u64) -> Vec<u32> {
        let mut values = Vec::new();
        let walked: Result<(), ()> = walk(bytes, width, count, |value, times| {
            values.extend(std::iter::repeat_n(value, times as usize));
            Ok(())
        });
        walked.unwrap();
        values
    }

    #[test]
    fn runs_and_packed_values_are_those_that_were_stored() {
        // Five times 6 in three bits, then the packed values 0 to 7 of the format's documentation.
        let bytes = [10, 6, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(
            expanded(&bytes, 3, 13),
            [6, 6, 6, 6, 6, 0, 1, 2, 3, 4, 5, 6, 7]
        );
        assert_eq!(expanded(&bytes, 3, 7), [6, 6, 6, 6, 6, 0, 1]);
        // Values of more than a byte.
        assert_eq!(expanded(&[4, 0x34, 0x12], 13, 9), [0x1234, 0x1234]);
        let packed = [3, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(expanded(&packed, 32, 8), [1, u32::MAX]);
        // Values of no bits.
        assert_eq!(expanded(&[6, 3], 0, 20), [0; 11]);
    }

    #[test]
    fn what_is_cut_or_claims_too_much_ends() {
        assert!(expanded(&[], 1, 5).is_empty());
        assert!(expanded(&[10], 3, 5).is_empty());
        assert_eq!(
            expanded(&[0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0b1010_1010], 1, 100).len(),
            8
        );
        let mut total = 0;
        let walked: Result<(), ()> = walk(
            &[0xfe, 0xff, 0xff, 0xff, 0x0f, 1],
            1,
            u64::MAX,
            |_, times| {
                total += times;
                Ok(())
            },
        );
        assert_eq!((walked, total), (Ok(()), (1 << 31) - 1));
        let refused = walk(&[10, 6], 3, 5, |value, _| Err(value));
        assert_eq!(refused, Err(6));
    }
}
