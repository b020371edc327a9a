//! Measures the lists and texts of a page before they are decoded.

use std::sync::Arc;

use parquet::basic::{Encoding, Type};
use parquet::column::page::Page;
use parquet::schema::types::ColumnDescriptor;

use super::budget::{Budget, PER_NUMBER, PER_TEXT};
use super::window::{TooLarge, Window};
use super::{delta, runs};

/// Texts of a dictionary up to this length are counted as if all were as long as the longest.
const SHORT: u64 = 64;

/// What is known of a column whose rows may differ in size.
pub(super) struct Contents {
    budget: Arc<Budget>,
    is_text: bool,
    /// The bytes per value of a list.
    each: u64,
    /// The largest repetition and definition levels.
    repetition: i16,
    definition: i16,
    window: Window,
    /// What the window has counted for in the budget.
    counted: u64,
    /// The lengths of the texts of the dictionary, unless all are short; the longest.
    lengths: Vec<u32>,
    longest: u64,
}

/// A data page without its frame.
struct Data<'a> {
    values: u32,
    encoding: Encoding,
    /// The repetition levels; `None` if they are not stored in runs.
    repetition: Option<&'a [u8]>,
    bytes: &'a [u8],
}

impl Contents {
    pub fn new(column: &ColumnDescriptor, budget: Arc<Budget>) -> Self {
        Self {
            is_text: column.physical_type() == Type::BYTE_ARRAY,
            each: PER_NUMBER + u64::try_from(column.type_length()).unwrap_or(0),
            repetition: column.max_rep_level(),
            definition: column.max_def_level(),
            window: Window::new(budget.batch_rows, budget.most_growing),
            counted: 0,
            lengths: Vec::new(),
            longest: 0,
            budget,
        }
    }

    /// Refuses a page with which a record batch would take too much memory.
    pub fn check(&mut self, page: &Page) -> Result<(), String> {
        if !self.is_text && self.repetition == 0 {
            return Ok(());
        }
        if let Page::DictionaryPage { buf, .. } = page {
            if self.is_text {
                self.set_dictionary(buf);
            }
            return Ok(());
        }
        let data = self.data(page)?;
        let before = self.window.total();
        let too_large = |TooLarge(size)| self.too_large(size);
        match self.repetition > 0 {
            true => {
                let mut window = self.window.clone();
                self.add_lists(&data, &mut window)?.map_err(too_large)?;
                self.window = window;
            }
            false => {
                let window = self.with_texts(&data)?.map_err(too_large)?;
                self.window = window;
            }
        }
        if self.is_text {
            self.budget.add_texts(self.window.total() - before)?;
        }
        let replaced = self.budget.replace(self.counted, self.window.size());
        self.counted = self.window.size();
        replaced.map_err(|size| self.too_large(size))
    }

    fn too_large(&self, size: u64) -> String {
        format!(
            "the lists or texts of {} need {size} bytes of memory, but the limit for a file of {} bytes is {}",
            crate::words::counted(self.budget.batch_rows as u64, "row", "rows"),
            self.budget.length,
            self.budget.most_growing
        )
    }

    fn set_dictionary(&mut self, bytes: &[u8]) {
        let lengths = || {
            let mut rest = bytes;
            std::iter::from_fn(move || {
                let (length, after) = rest.split_first_chunk::<4>()?;
                let length = u32::from_le_bytes(*length);
                rest = after.get(length as usize..).unwrap_or_default();
                Some(length)
            })
        };
        self.longest = u64::from(lengths().max().unwrap_or(0));
        self.lengths = match self.longest > SHORT {
            true => lengths().collect(),
            false => Vec::new(),
        };
    }

    /// The levels and values of a data page.
    fn data<'a>(&self, page: &'a Page) -> Result<Data<'a>, String> {
        let short = || "a page ends within its levels".to_owned();
        match page {
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                ..
            } => {
                type Levels<'a> = Result<(Option<&'a [u8]>, &'a [u8]), String>;
                let levels = |bytes: &'a [u8], largest: i16, encoding: Encoding| -> Levels<'a> {
                    if largest == 0 {
                        return Ok((Some(&[][..]), bytes));
                    }
                    if encoding != Encoding::RLE {
                        // Packed bits, all of them stored.
                        let bits = *num_values as usize * usize::from(width(largest));
                        let rest = bytes.get(bits.div_ceil(8)..);
                        return Ok((None, rest.ok_or_else(short)?));
                    }
                    let (size, rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
                    let size = u32::from_le_bytes(*size) as usize;
                    let (levels, rest) = rest.split_at_checked(size).ok_or_else(short)?;
                    Ok((Some(levels), rest))
                };
                let (repetition, rest) = levels(buf, self.repetition, *rep_level_encoding)?;
                let (_, bytes) = levels(rest, self.definition, *def_level_encoding)?;
                Ok(Data {
                    values: *num_values,
                    encoding: *encoding,
                    repetition,
                    bytes,
                })
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let first = *rep_levels_byte_len as usize;
                let levels = first + *def_levels_byte_len as usize;
                Ok(Data {
                    values: *num_values,
                    encoding: *encoding,
                    repetition: Some(buf.get(..first).ok_or_else(short)?),
                    bytes: buf.get(levels..).ok_or_else(short)?,
                })
            }
            Page::DictionaryPage { .. } => Err(short()),
        }
    }

    /// The bytes of the texts of a page; `None` for those of a dictionary.
    fn texts(&self, data: &Data<'_>) -> Result<Option<u64>, String> {
        let own = data.bytes.len() as u64 + PER_TEXT * u64::from(data.values);
        let counted = |count: u64| match count > u64::from(data.values) {
            true => Err(format!(
                "a page of {} values has {count} texts",
                data.values
            )),
            false => Ok(()),
        };
        Ok(match data.encoding {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => None,
            Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                counted(delta::count(data.bytes)?)?;
                Some(own)
            }
            Encoding::DELTA_BYTE_ARRAY => {
                counted(delta::count(data.bytes)?)?;
                let (shared, rest) = delta::sum(data.bytes)?;
                counted(delta::count(rest)?)?;
                Some(own.saturating_add(shared))
            }
            _ => Some(own),
        })
    }

    /// The window after the texts of a page that are not in lists.
    fn with_texts(&self, data: &Data<'_>) -> Result<Result<Window, TooLarge>, String> {
        let count = u64::from(data.values);
        let mut window = self.window.clone();
        if let Some(bytes) = self.texts(data)? {
            return Ok(window.start_together(count, bytes).map(|()| window));
        }
        if self.lengths.is_empty() {
            return Ok(window
                .start(count, self.longest + PER_TEXT)
                .map(|()| window));
        }
        let Some((&width, indices)) = data.bytes.split_first() else {
            return Ok(Ok(window));
        };
        let walked = runs::walk(indices, width, count, |index, times| {
            let length = self.lengths.get(index as usize).copied().unwrap_or(0);
            window.start(times, u64::from(length) + PER_TEXT)
        });
        Ok(walked.map(|()| window))
    }

    /// Adds the lists of a page to the window.
    fn add_lists(
        &self,
        data: &Data<'_>,
        window: &mut Window,
    ) -> Result<Result<(), TooLarge>, String> {
        let mut each = self.each;
        if self.is_text {
            match self.texts(data)? {
                None => each += self.longest,
                Some(bytes) => {
                    if let Err(error) = window.grow(bytes) {
                        return Ok(Err(error));
                    }
                }
            }
        }
        let count = u64::from(data.values);
        let Some(levels) = data.repetition else {
            return Ok(window.grow(count.saturating_mul(each)));
        };
        Ok(runs::walk(
            levels,
            width(self.repetition),
            count,
            |level, times| match level {
                0 => window.start(times, each),
                _ => window.grow(times.saturating_mul(each)),
            },
        ))
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        // Less cannot be too much.
        let _ = self.budget.replace(self.counted, 0);
    }
}

/// The number of bits of a level.
fn width(largest: i16) -> u8 {
    (16 - largest.max(0).leading_zeros()) as u8
}
