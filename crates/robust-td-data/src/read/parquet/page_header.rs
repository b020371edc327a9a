//! Reads the header of a Parquet page.

use parquet::basic::Encoding;

use super::thrift::{FALSE, Fault, I32, STRUCT, TRUE, Thrift};

/// What a header says, with sizes that are not negative.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PageHeader {
    /// The size of the page without compression, and as stored.
    pub plain_size: usize,
    pub stored_size: usize,
    pub kind: Kind,
}

/// The kinds of pages.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Data {
        values: u32,
        encoding: Encoding,
        definition: Encoding,
        repetition: Encoding,
    },
    DataV2 {
        values: u32,
        nulls: u32,
        rows: u32,
        encoding: Encoding,
        definition_size: u32,
        repetition_size: u32,
        compressed: bool,
    },
    Dictionary {
        values: u32,
        encoding: Encoding,
        sorted: bool,
    },
    /// An index, or what later versions of the format may add.
    Other,
}

impl PageHeader {
    /// Reads a header; with it, its length.
    pub fn read(bytes: &[u8]) -> Result<(Self, usize), Fault> {
        let mut thrift = Thrift::new(bytes);
        let mut outer = Numbers::<4>::default();
        let (mut one, mut dictionary, mut two) = (None, None, None);
        thrift.fields(|fields, id, kind| {
            match (id, kind) {
                (5, STRUCT) => one = Some(Numbers::<4>::read(fields)?),
                (7, STRUCT) => dictionary = Some(Numbers::<3>::read(fields)?),
                (8, STRUCT) => two = Some(Numbers::<7>::read(fields)?),
                _ => return outer.take(fields, id, kind),
            }
            Ok(true)
        })?;
        let part = "the header of a page lacks a part";
        let kind = match outer.int(1)? {
            0 => {
                let numbers = one.ok_or(part)?;
                Kind::Data {
                    values: numbers.size(1)?,
                    encoding: encoding(numbers.int(2)?)?,
                    definition: encoding(numbers.int(3)?)?,
                    repetition: encoding(numbers.int(4)?)?,
                }
            }
            2 => {
                let numbers = dictionary.ok_or(part)?;
                Kind::Dictionary {
                    values: numbers.size(1)?,
                    encoding: encoding(numbers.int(2)?)?,
                    sorted: numbers.0[2] == Some(1),
                }
            }
            3 => {
                let numbers = two.ok_or(part)?;
                Kind::DataV2 {
                    values: numbers.size(1)?,
                    nulls: numbers.size(2)?,
                    rows: numbers.size(3)?,
                    encoding: encoding(numbers.int(4)?)?,
                    definition_size: numbers.size(5)?,
                    repetition_size: numbers.size(6)?,
                    compressed: numbers.0[6] != Some(0),
                }
            }
            _ => Kind::Other,
        };
        let header = Self {
            plain_size: outer.size(2)? as usize,
            stored_size: outer.size(3)? as usize,
            kind,
        };
        Ok((header, thrift.used()))
    }
}

/// The numbers and flags of a structure, by their ids from 1.
struct Numbers<const N: usize>([Option<i32>; N]);

impl<const N: usize> Default for Numbers<N> {
    fn default() -> Self {
        Self([None; N])
    }
}

impl<const N: usize> Numbers<N> {
    fn read(fields: &mut Thrift<'_>) -> Result<Self, Fault> {
        let mut numbers = Self::default();
        fields.fields(|fields, id, kind| numbers.take(fields, id, kind))?;
        Ok(numbers)
    }

    /// Takes a field if it is one of these.
    fn take(&mut self, fields: &mut Thrift<'_>, id: i16, kind: u8) -> Result<bool, Fault> {
        let place = usize::try_from(id - 1).ok();
        let Some(place) = place.and_then(|place| self.0.get_mut(place)) else {
            return Ok(false);
        };
        *place = Some(match kind {
            I32 => fields.int()?,
            TRUE => 1,
            FALSE => 0,
            _ => return Err("the header of a page is malformed"),
        });
        Ok(true)
    }

    fn int(&self, id: usize) -> Result<i32, Fault> {
        self.0[id - 1].ok_or("the header of a page lacks a number")
    }

    fn size(&self, id: usize) -> Result<u32, Fault> {
        u32::try_from(self.int(id)?).map_err(|_| "the header of a page has a negative size")
    }
}

#[allow(deprecated, reason = "old files pack levels in bits")]
fn encoding(number: i32) -> Result<Encoding, Fault> {
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return Err("a page has an unknown encoding"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_every_kind_are_read() {
        // Type 0, sizes 100 and 60, data page of 7 values, plain, levels by runs; a byte that is not part of it.
        let data = [
            0x15, 0, 0x15, 200, 1, 0x15, 120, 0x2c, 0x15, 14, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0, 77,
        ];
        let (header, length) = PageHeader::read(&data).unwrap();
        assert_eq!((header.plain_size, header.stored_size), (100, 60));
        assert_eq!(length, data.len() - 1);
        let expected = Kind::Data {
            values: 7,
            encoding: Encoding::PLAIN,
            definition: Encoding::RLE,
            repetition: Encoding::RLE,
        };
        assert_eq!(header.kind, expected);
        // A dictionary of 3 values.
        let dictionary = [
            0x15, 4, 0x15, 8, 0x15, 8, 0x4c, 0x15, 6, 0x15, 0, 0x11, 0, 0,
        ];
        let expected = Kind::Dictionary {
            values: 3,
            encoding: Encoding::PLAIN,
            sorted: true,
        };
        assert_eq!(PageHeader::read(&dictionary).unwrap().0.kind, expected);
        // Version 2, not compressed.
        let two = [
            0x15, 6, 0x15, 8, 0x15, 8, 0x5c, 0x15, 10, 0x15, 2, 0x15, 8, 0x15, 0, 0x15, 2, 0x15, 0,
            0x12, 0, 0,
        ];
        let expected = Kind::DataV2 {
            values: 5,
            nulls: 1,
            rows: 4,
            encoding: Encoding::PLAIN,
            definition_size: 1,
            repetition_size: 0,
            compressed: false,
        };
        assert_eq!(PageHeader::read(&two).unwrap().0.kind, expected);
        let negative = [0x15, 4, 0x15, 8, 0x15, 1, 0x4c, 0x15, 6, 0x15, 0, 0, 0];
        assert!(
            PageHeader::read(&negative)
                .unwrap_err()
                .contains("negative")
        );
        for cut in 0..data.len() - 1 {
            assert!(PageHeader::read(&data[..cut]).is_err(), "{cut}");
        }
    }
}
