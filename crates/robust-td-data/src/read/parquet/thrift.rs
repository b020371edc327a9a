//! Reads Thrift's compact protocol, in which Parquet describes itself, without trusting it.
//!
//! Strict where the format leaves no choice: numbers have at most ten bytes, fields come in ascending order, nesting is limited.
//! Lists of flags, which Parquet does not use where this reads, are refused: readers disagree on their size.

/// The nesting that is followed.
const DEEPEST: usize = 32;

/// What is wrong with the bytes.
pub(super) type Fault = &'static str;

const ENDS: Fault = "a description ends too early";
const FORM: Fault = "a description is malformed";

/// The types of fields that occur.
pub(super) const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
pub(super) const I32: u8 = 5;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Bytes that are still to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    used: usize,
}

impl<'a> Thrift<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, used: 0 }
    }

    /// The number of bytes read.
    pub fn used(&self) -> usize {
        self.used
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.bytes.get(self.used).ok_or(ENDS)?;
        self.used += 1;
        Ok(byte)
    }

    fn skip(&mut self, count: u64) -> Result<(), Fault> {
        let left = (self.bytes.len() - self.used) as u64;
        if count > left {
            return Err(ENDS);
        }
        self.used += count as usize;
        Ok(())
    }

    fn unsigned(&mut self) -> Result<u64, Fault> {
        let mut number = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(FORM);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(FORM)
    }

    /// A signed number of 32 bits.
    pub fn int(&mut self) -> Result<i32, Fault> {
        let number = self.unsigned()?;
        let signed = (number >> 1) as i64 ^ -((number & 1) as i64);
        i32::try_from(signed).map_err(|_| FORM)
    }

    /// Calls `field` with the id and type of each field of a structure; it reads the value, or returns false to have it skipped.
    pub fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, i16, u8) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let mut last = 0_i16;
        loop {
            let head = self.byte()?;
            let (delta, kind) = (head >> 4, head & 0xf);
            if kind == 0 {
                return Ok(());
            }
            let id = match delta {
                0 => i16::try_from(self.int()?).map_err(|_| FORM)?,
                _ => last.checked_add(i16::from(delta)).ok_or(FORM)?,
            };
            if id <= last {
                return Err(FORM);
            }
            last = id;
            if !field(self, id, kind)? {
                self.pass(kind, DEEPEST)?;
            }
        }
    }

    /// The number of entries of a list, and their type.
    pub fn list(&mut self) -> Result<(u64, u8), Fault> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.unsigned()?,
            count => u64::from(count),
        };
        let kind = head & 0xf;
        // Every entry has a byte or more, except flags.
        let flags = matches!(kind, TRUE | FALSE) && count > 0;
        match flags || count > (self.bytes.len() - self.used) as u64 {
            true => Err(FORM),
            false => Ok((count, kind)),
        }
    }

    /// Skips a value.
    fn pass(&mut self, kind: u8, depth: usize) -> Result<(), Fault> {
        let deeper = depth.checked_sub(1).ok_or(FORM)?;
        match kind {
            TRUE | FALSE => Ok(()),
            3 => self.skip(1),
            4..=6 => self.unsigned().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.unsigned()?;
                self.skip(length)
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.pass(kind, deeper))
            }
            STRUCT => self.fields(|fields, _, kind| {
                fields.pass(kind, deeper)?;
                Ok(true)
            }),
            13 => self.skip(16),
            _ => Err(FORM),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lists_and_structures_are_read_and_skipped() {
        // Field 1: i32 -3; field 2: list of two i32; field 4: text of two bytes; field 5: a structure; end.
        let bytes = [
            0x15, 5, 0x19, 0x25, 2, 4, 0x28, 2, b'a', b'b', 0x1c, 0x15, 2, 0, 0, 9,
        ];
        let (mut thrift, mut seen) = (Thrift::new(&bytes), Vec::new());
        let read = thrift.fields(|fields, id, kind| {
            seen.push((id, kind));
            if id == 1 {
                assert_eq!(fields.int(), Ok(-3));
            }
            Ok(id == 1)
        });
        assert_eq!(read, Ok(()));
        assert_eq!(seen, [(1, I32), (2, LIST), (4, 8), (5, STRUCT)]);
        assert_eq!(thrift.used(), bytes.len() - 1);
    }

    #[test]
    fn what_would_take_long_or_recurse_is_refused() {
        let refused = |bytes: &[u8]| Thrift::new(bytes).fields(|_, _, _| Ok(false)).unwrap_err();
        // 2^31 flags, which would take no byte each.
        assert_eq!(refused(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]), FORM);
        // 2^31 numbers in a few bytes.
        assert_eq!(refused(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 7, 0]), FORM);
        // Structures within structures.
        assert_eq!(refused(&[0x1c; 100_000]), FORM);
        // Fields that do not ascend, and a number that does not end.
        assert_eq!(refused(&[0x25, 0, 0x05, 2, 0, 0]), FORM);
        let mut long = vec![0x15];
        long.extend([0xff; 50]);
        assert_eq!(refused(&long), FORM);
        assert_eq!(refused(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x7f]), ENDS);
        assert_eq!(refused(&[]), ENDS);
    }
}
