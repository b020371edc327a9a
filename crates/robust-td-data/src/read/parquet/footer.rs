//! Checks the footer of a Parquet file before the Parquet library reads it.
//!
//! The library builds the tree of columns by recursion, and skips unknown fields one by one, however many a list claims to have:
//! a footer of a few bytes could exhaust the stack or take hours.

use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader as _;

use super::thrift::{Fault, I32, LIST, STRUCT, Thrift};
use crate::stored::Stored;

/// The nesting of columns that is read.
const DEEPEST: usize = 64;
/// The length of the footer and the mark at the end of a file.
const END: u64 = 8;

/// Checks the description at the end of a file of this length.
pub(super) fn check(file: &Stored, length: u64) -> Result<(), String> {
    let failed = |error: ParquetError| error.to_string();
    let Some(place) = length.checked_sub(END) else {
        return Err(format!(
            "a file of {length} bytes is too short to be Parquet"
        ));
    };
    let end = file.get_bytes(place, END as usize).map_err(failed)?;
    let [a, b, c, d, mark @ ..] = &end[..] else {
        return Err("its end cannot be read".to_owned());
    };
    if mark != b"PAR1" {
        return Err(
            "it does not end like a Parquet file; it may be truncated or of another format"
                .to_owned(),
        );
    }
    let described = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
    let Some(start) = place.checked_sub(described) else {
        return Err(format!(
            "its footer claims {described} bytes of a file of {length}"
        ));
    };
    let bytes = file.get_bytes(start, described as usize).map_err(failed)?;
    footer(&bytes).map_err(|fault| format!("its footer is damaged: {fault}"))
}

/// Walks over the whole footer.
fn footer(bytes: &[u8]) -> Result<(), Fault> {
    Thrift::new(bytes).fields(|fields, id, kind| match (id, kind) {
        (2, LIST) => schema(fields).map(|()| true),
        _ => Ok(false),
    })
}

/// Checks the nesting of the list of columns, which are in the order of a walk over their tree.
fn schema(list: &mut Thrift<'_>) -> Result<(), Fault> {
    let (count, kind) = list.list()?;
    if kind != STRUCT && count > 0 {
        return Err("the list of columns is malformed");
    }
    // The children that are still to come of each column that has some.
    let mut open: Vec<i32> = Vec::new();
    for _ in 0..count {
        let mut children = 0;
        list.fields(|fields, id, kind| {
            if (id, kind) == (5, I32) {
                children = fields.int()?;
                return Ok(true);
            }
            Ok(false)
        })?;
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > 0 {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > DEEPEST {
            return Err("columns are nested too deeply");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with columns that have these numbers of children.
    fn with_children(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0xfc];
        let count = children.len();
        bytes.extend([
            (count & 0x7f) as u8 | 0x80,
            (count >> 7 & 0x7f) as u8 | 0x80,
            (count >> 14) as u8,
        ]);
        for &children in children {
            // A name (field 4) and the number of children (field 5).
            bytes.extend([0x48, 1, b'x', 0x15, 2 * children, 0]);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn columns_that_are_nested_too_deeply_are_refused() {
        assert_eq!(footer(&with_children(&[2, 0, 1, 0])), Ok(()));
        assert_eq!(footer(&with_children(&[1; 64])), Ok(()));
        let refused = footer(&with_children(&vec![1; 100_000]));
        assert_eq!(refused, Err("columns are nested too deeply"));
        // Many columns beside each other are not nested.
        let group = [&[60][..], &[0; 60]].concat();
        let wide = [&[2][..], &group, &group].concat();
        assert_eq!(footer(&with_children(&wide)), Ok(()));
    }
}
