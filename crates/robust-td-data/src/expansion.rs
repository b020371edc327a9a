//! Stops reading compressed text that expands beyond anything a log does.

use std::io::{Error, Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that any compressed file may expand to, and those per byte of it. Logs shrink to a tenth or a fiftieth.
const ANY: u64 = 128 << 20;
const PER_BYTE: u64 = 256;
/// Lines of any compressed file, and those per byte of it: as many as a Parquet file may have rows.
const LINES: u64 = 2_800_000;
const LINES_PER_BYTE: u64 = 8;

/// Counts the bytes that are read.
pub(crate) struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let count = self.inner.read(out)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// What a compressed input expands to, up to a limit.
struct Expanded<R> {
    inner: R,
    stored: Arc<AtomicU64>,
    read: u64,
    lines: u64,
}

impl<R: Read> Read for Expanded<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let count = self.inner.read(out)?;
        self.read += count as u64;
        self.lines += out[..count].iter().filter(|byte| **byte == b'\n').count() as u64;
        let stored = self.stored.load(Ordering::Relaxed);
        let limit = stored.saturating_mul(PER_BYTE).saturating_add(ANY);
        let most_lines = stored.saturating_mul(LINES_PER_BYTE).max(LINES);
        let (limit, what) = match (self.read > limit, self.lines > most_lines) {
            (true, _) => (limit, "bytes"),
            (false, true) => (most_lines, "lines"),
            (false, false) => return Ok(count),
        };
        Err(Error::other(format!(
            "{stored} compressed bytes expand to more than {limit} {what}; decompress the file if that is right"
        )))
    }
}

/// Decompresses an input, up to the limit.
pub(crate) fn expanded<D: Read + Send + 'static>(
    input: Box<dyn Read + Send>,
    decoder: impl FnOnce(Counted<Box<dyn Read + Send>>) -> Result<D>,
) -> Result<Box<dyn Read + Send>> {
    let stored = Arc::new(AtomicU64::new(0));
    let inner = decoder(Counted {
        inner: input,
        count: stored.clone(),
    })?;
    Ok(Box::new(Expanded {
        inner,
        stored,
        read: 0,
        lines: 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bomb_is_stopped_and_a_log_is_not() {
        let repeated = |byte: u8, count: u64| -> Box<dyn Read + Send> {
            Box::new(std::io::Cursor::new(
                zstd::encode_all(std::io::repeat(byte).take(count), 1).unwrap(),
            ))
        };
        let length = |byte: u8, count: u64| {
            let mut input = expanded(repeated(byte, count), zstd::Decoder::new)?;
            std::io::copy(&mut input, &mut std::io::sink())
        };
        assert_eq!(length(b'0', 1 << 24).unwrap(), 1 << 24);
        let message = length(b'0', 1 << 28).unwrap_err().to_string();
        assert!(message.contains("expand to more than"), "{message}");
        assert_eq!(length(b'\n', 1 << 21).unwrap(), 1 << 21);
        let message = length(b'\n', 1 << 23).unwrap_err().to_string();
        assert!(message.contains("more than 2800000 lines"), "{message}");
    }
}
