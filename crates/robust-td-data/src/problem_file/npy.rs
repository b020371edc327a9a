//! Reads an array of numbers from a NumPy file.

use std::fs;
use std::io::Read;
use std::path::Path;

use ndarray::ArrayD;
use ndarray_npy::{ReadDataError, ReadNpyError, ReadNpyExt, ReadableElement};
use py_literal::Value;

use super::array::{Array, Origin};

/// Reads the array of `key` from the file that the problem file calls `file`.
pub fn read(key: &str, file: &str, path: &Path) -> Result<Array, String> {
    let origin = Origin::Npy(file.to_string());
    let name = origin.name(key);
    let bytes = fs::read(path).map_err(|error| format!("{name}: cannot be read: {error}"))?;
    let array = ArrayD::<Number>::read_npy(&bytes[..])
        .map_err(|error| format!("{name}: {}", describe(error)))?;
    let shape = array.shape().to_vec();
    if array.is_empty() {
        return Err(format!("{name}: the array is empty"));
    }
    // Iteration goes in row order, whatever the order in the file.
    let entries: Vec<f64> = array.iter().map(|number| number.0).collect();
    if let Some(k) = entries.iter().position(|value| !value.is_finite()) {
        return Err(format!(
            "{name}: {} is {}, not a finite number",
            place(&shape, k),
            entries[k]
        ));
    }
    Ok(Array {
        shape,
        entries,
        origin,
    })
}

/// A number of any type that NumPy stores, as f64.
struct Number(f64);

// The elements that come with the reader each accept one type and allocate what the header asks for before they look at
// the data; this one accepts every real type and trusts the bytes that are there.
impl ReadableElement for Number {
    fn read_to_end_exact_vec<R: Read>(
        mut reader: R,
        descriptor: &Value,
        len: usize,
    ) -> Result<Vec<Self>, ReadDataError> {
        let wrong = || ReadDataError::WrongDescriptor(descriptor.clone());
        let text = descriptor.as_string().ok_or_else(wrong)?;
        let (size, decode) = decoder(text).ok_or_else(wrong)?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        let needed = len.checked_mul(size).ok_or(ReadDataError::MissingData)?;
        if bytes.len() < needed {
            return Err(ReadDataError::MissingData);
        }
        if bytes.len() > needed {
            return Err(ReadDataError::ExtraBytes(bytes.len() - needed));
        }
        let big_endian = text.starts_with('>');
        Ok(bytes
            .chunks_exact_mut(size)
            .map(|chunk| {
                if big_endian {
                    chunk.reverse();
                }
                Number(decode(chunk))
            })
            .collect())
    }
}

/// The size of an element in bytes and its value from its little-endian bytes.
type Decoder = (usize, fn(&[u8]) -> f64);

/// How to read the elements that a NumPy type descriptor such as `<f8` announces.
fn decoder(descriptor: &str) -> Option<Decoder> {
    macro_rules! decoder {
        ($number:ty) => {{
            const SIZE: usize = size_of::<$number>();
            let decode: fn(&[u8]) -> f64 = |bytes| {
                let mut whole = [0; SIZE];
                whole.copy_from_slice(bytes);
                <$number>::from_le_bytes(whole) as f64
            };
            Some((SIZE, decode))
        }};
    }
    let kind = descriptor.strip_prefix(['<', '>', '|', '='])?;
    match kind {
        "f8" => decoder!(f64),
        "f4" => decoder!(f32),
        "i8" => decoder!(i64),
        "i4" => decoder!(i32),
        "i2" => decoder!(i16),
        "i1" => decoder!(i8),
        "u8" => decoder!(u64),
        "u4" => decoder!(u32),
        "u2" => decoder!(u16),
        "u1" | "b1" => decoder!(u8),
        _ => None,
    }
}

/// Says what is wrong with a file in words that do not need the reader's source.
fn describe(error: ReadNpyError) -> String {
    match error {
        ReadNpyError::WrongDescriptor(descriptor) => {
            format!("its elements are {descriptor}, not real numbers")
        }
        ReadNpyError::MissingData => "the file ends before its array does".into(),
        ReadNpyError::ExtraBytes(count) => {
            format!("the file goes on for {count} bytes after its array")
        }
        ReadNpyError::ParseHeader(error) => format!("not a NumPy file: {error}"),
        ReadNpyError::Io(error) => format!("the header cannot be read: {error}"),
        other => other.to_string(),
    }
}

/// The place of entry `k` of an array: `row 2, column 1`, or the index along each axis.
fn place(shape: &[usize], k: usize) -> String {
    let mut rest = k;
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&length| {
            let position = rest % length;
            rest /= length;
            position
        })
        .collect();
    index.reverse();
    match index[..] {
        [row, column] => format!("row {row}, column {column}"),
        _ => format!("entry {index:?}"),
    }
}
