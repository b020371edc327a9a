//! Measures texts that are stored by their differences, before they are decoded.

use super::runs::number;

const FORM: &str = "lengths of texts are malformed";

/// The number of lengths that a block of them claims to have.
pub(super) fn count(bytes: &[u8]) -> Result<u64, &'static str> {
    Ok(Head::read(bytes)?.0.count)
}

/// The sum of the lengths in a block, and what follows it.
pub(super) fn sum(bytes: &[u8]) -> Result<(u64, &[u8]), &'static str> {
    let (head, mut rest) = Head::read(bytes)?;
    let Some(mut left) = head.count.checked_sub(1) else {
        return Ok((0, rest));
    };
    let mut value = head.first;
    let mut sum = length(value)?;
    while left > 0 {
        let (least, after) = number(rest).ok_or(FORM)?;
        let least = signed(least);
        let (widths, after) = after.split_at_checked(head.parts).ok_or(FORM)?;
        rest = after;
        for &width in widths {
            if left == 0 {
                break;
            }
            let width = usize::from(width);
            let size = (head.per_part / 8).checked_mul(width).ok_or(FORM)?;
            // The last part of the last block may be cut.
            let (packed, after) = rest.split_at(rest.len().min(size));
            rest = after;
            for k in 0..left.min(head.per_part as u64) {
                value = value.wrapping_add(least as i32).wrapping_add(bits(
                    packed,
                    k as usize * width,
                    width,
                )? as i32);
                sum = sum.saturating_add(length(value)?);
            }
            left = left.saturating_sub(head.per_part as u64);
        }
    }
    Ok((sum, rest))
}

struct Head {
    /// Lengths per part of a block, and parts per block.
    per_part: usize,
    parts: usize,
    count: u64,
    first: i32,
}

impl Head {
    fn read(bytes: &[u8]) -> Result<(Self, &[u8]), &'static str> {
        let (block, rest) = number(bytes).ok_or(FORM)?;
        let (parts, rest) = number(rest).ok_or(FORM)?;
        let (count, rest) = number(rest).ok_or(FORM)?;
        let (first, rest) = number(rest).ok_or(FORM)?;
        let block = usize::try_from(block).map_err(|_| FORM)?;
        let parts = usize::try_from(parts).map_err(|_| FORM)?;
        let uneven = !block.is_multiple_of(128) || !block.is_multiple_of(parts);
        if parts == 0 || block == 0 || uneven || !(block / parts).is_multiple_of(32) {
            return Err(FORM);
        }
        let head = Self {
            per_part: block / parts,
            parts,
            count,
            first: i32::try_from(signed(first)).map_err(|_| FORM)?,
        };
        Ok((head, rest))
    }
}

fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn length(value: i32) -> Result<u64, &'static str> {
    u64::try_from(value).map_err(|_| FORM)
}

/// The `width` bits from a place on, the lowest first.
fn bits(packed: &[u8], at: usize, width: usize) -> Result<u32, &'static str> {
    match width {
        0 => Ok(0),
        1..=32 => {
            let mut value = 0_u64;
            let bytes = packed.get(at / 8..).ok_or(FORM)?;
            if bytes.len() * 8 < at % 8 + width {
                return Err(FORM);
            }
            for (k, byte) in bytes.iter().take(5).enumerate() {
                value |= u64::from(*byte) << (8 * k);
            }
            Ok((value >> (at % 8) & ((1_u64 << width) - 1)) as u32)
        }
        _ => Err(FORM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_lengths() {
        // Blocks of 128 in 4 parts; five lengths 7, 8, 9, 10, 11: first 7, differences of 1 and no bits.
        let bytes = [0x80, 1, 4, 5, 14, 2, 0, 0, 0, 0, 99];
        assert_eq!(count(&bytes), Ok(5));
        assert_eq!(sum(&bytes), Ok((45, &[99_u8][..])));
        // Differences 0, 1, 2, 3 in two bits above a least of 0: 7, 7, 8, 10, 13.
        let mut packed = vec![0x80, 1, 4, 5, 14, 0, 2, 0, 0, 0, 0b1110_0100];
        packed.extend([0; 7]);
        packed.push(99);
        assert_eq!(sum(&packed), Ok((45, &[99_u8][..])));
        assert_eq!(sum(&[0x80, 1, 4, 0, 0]), Ok((0, &[][..])));
        assert_eq!(sum(&[0x80, 1, 4, 1, 6, 8]), Ok((3, &[8_u8][..])));
    }

    #[test]
    fn malformed_lengths_are_refused() {
        // A negative length, parts of another size, a cut, a width of 40 bits.
        for bytes in [
            &[0x80, 1, 4, 1, 1][..],
            &[0x80, 1, 3, 5, 14, 2, 0, 0, 0, 0],
            &[0x80, 1, 4, 5, 14, 2, 0, 0],
            &[0x80, 1, 4, 5, 14, 2, 40, 0, 0, 0, 1, 1],
            &[0, 4, 5, 14],
            &[],
        ] {
            assert_eq!(sum(bytes), Err(FORM));
        }
    }
}
