//! Parses the header of a NumPy file: `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }`.
//!
//! The header is a Python literal of a fixed form. Nothing else is accepted, and the parser never nests, so its work
//! grows with the header's length only.

use std::io::{ErrorKind, Read};

use super::{MAX_HEADER, NpyError};

/// The maximum number of axes of a NumPy array.
const MAX_AXES: usize = 64;

/// The contents of a header.
#[derive(Debug, PartialEq)]
pub struct Header {
    /// The type of the elements.
    pub descr: String,
    /// Whether the first index runs fastest.
    pub fortran_order: bool,
    /// The length along each axis.
    pub shape: Vec<usize>,
}

impl Header {
    /// Reads the magic string, the version and the header.
    pub fn read(reader: &mut impl Read) -> Result<Self, NpyError> {
        let [magic @ .., major, _minor] = bytes::<8>(reader).map_err(|error| match error {
            NpyError::HeaderCut => NpyError::Magic,
            other => other,
        })?;
        if magic != *b"\x93NUMPY" {
            return Err(NpyError::Magic);
        }
        let length = match major {
            1 => usize::from(u16::from_le_bytes(bytes(reader)?)),
            2 | 3 => u32::from_le_bytes(bytes(reader)?) as usize,
            _ => return Err(NpyError::Version { major }),
        };
        if length > MAX_HEADER {
            return Err(NpyError::HeaderLength { length });
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(cut)?;
        Parser {
            text: &text,
            position: 0,
        }
        .header()
    }
}

fn bytes<const N: usize>(reader: &mut impl Read) -> Result<[u8; N], NpyError> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes).map_err(cut)?;
    Ok(bytes)
}

fn cut(error: std::io::Error) -> NpyError {
    match error.kind() {
        ErrorKind::UnexpectedEof => NpyError::HeaderCut,
        _ => NpyError::Unreadable(error),
    }
}

struct Parser<'a> {
    text: &'a [u8],
    position: usize,
}

impl Parser<'_> {
    fn header(mut self) -> Result<Header, NpyError> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect(b'{', "{")?;
        while !self.take(b'}') {
            self.skip_spaces();
            let start = self.position;
            let key = self.string()?;
            self.expect(b':', ":")?;
            let repeated = match key.as_str() {
                "descr" => descr.replace(self.string()?).is_some(),
                "fortran_order" => fortran_order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => true,
            };
            if repeated {
                self.position = start;
                return Err(self.wrong("descr, fortran_order or shape, each once,"));
            }
            if !self.take(b',') {
                self.expect(b'}', ", or }")?;
                break;
            }
        }
        self.skip_spaces();
        if self.position < self.text.len() {
            return Err(self.wrong("the end"));
        }
        let missing = |key| NpyError::MissingKey { key };
        Ok(Header {
            descr: descr.ok_or(missing("descr"))?,
            fortran_order: fortran_order.ok_or(missing("fortran_order"))?,
            shape: shape.ok_or(missing("shape"))?,
        })
    }

    /// A string without escapes, in single or double quotes.
    fn string(&mut self) -> Result<String, NpyError> {
        self.skip_spaces();
        let quote = match self.text.get(self.position) {
            Some(&quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.wrong("a string")),
        };
        let rest = &self.text[self.position + 1..];
        let Some(length) = rest.iter().position(|&b| b == quote || b == b'\\') else {
            return Err(self.wrong("a string that ends"));
        };
        if rest[length] != quote {
            return Err(self.wrong("a string without escapes"));
        }
        self.position += length + 2;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.skip_spaces();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.position..].starts_with(word.as_bytes()) {
                self.position += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("True or False"))
    }

    /// A tuple of integers: `()`, `(2,)`, `(2, 3)`.
    fn shape(&mut self) -> Result<Vec<usize>, NpyError> {
        self.expect(b'(', "(")?;
        let mut shape = Vec::new();
        while !self.take(b')') {
            if shape.len() == MAX_AXES {
                return Err(self.wrong("at most 64 axes"));
            }
            shape.push(self.integer()?);
            // One axis is written with a comma, since (2) is a number.
            if !self.take(b',') {
                if shape.len() == 1 {
                    return Err(self.wrong(", after the only axis"));
                }
                self.expect(b')', ", or )")?;
                break;
            }
        }
        Ok(shape)
    }

    fn integer(&mut self) -> Result<usize, NpyError> {
        self.skip_spaces();
        let rest = &self.text[self.position..];
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&rest[..length]).unwrap_or_default();
        let Ok(integer) = digits.parse() else {
            return Err(self.wrong("an integer >= 0"));
        };
        self.position += length;
        // Python 2 marks its long integers.
        self.take(b'L');
        Ok(integer)
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    /// Skips spaces, and the byte if it is the next one.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        let found = self.text.get(self.position) == Some(&byte);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), NpyError> {
        match self.take(byte) {
            true => Ok(()),
            false => Err(self.wrong(expected)),
        }
    }

    /// The error at the current position.
    fn wrong(&self, expected: &'static str) -> NpyError {
        const SHOWN: usize = 12;
        let rest = &self.text[self.position.min(self.text.len())..];
        let shown = String::from_utf8_lossy(&rest[..rest.len().min(SHOWN)]);
        NpyError::Header {
            position: self.position,
            found: match rest.is_empty() {
                true => "the end".into(),
                false => format!("{:?}", shown),
            },
            expected,
        }
    }
}
