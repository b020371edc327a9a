//! Decompresses a Parquet page, which must have exactly the size that its header gives, without taking more memory than that.

use std::io::{Cursor, Read};
use std::sync::{Mutex, PoisonError};

use parquet::basic::Compression;
use zstd::bulk::Decompressor;

/// What decompression keeps for the next page of any column: as many states as threads have needed at the same time.
#[derive(Default)]
pub(super) struct Codecs {
    zstd: Mutex<Vec<Decompressor<'static>>>,
}

impl Codecs {
    /// Appends what `stored` holds, which must be `size` bytes.
    pub fn decompress(
        &self,
        compression: Compression,
        stored: &[u8],
        size: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let start = out.len();
        let end = start + size;
        let named = |name: &str, error: &dyn std::fmt::Display| format!("{name}: {error}");
        match compression {
            Compression::UNCOMPRESSED => out.extend_from_slice(stored),
            Compression::SNAPPY => {
                out.resize(end, 0);
                let length = snap::raw::Decoder::new().decompress(stored, &mut out[start..]);
                let length = length.map_err(|error| named("snappy", &error))?;
                out.truncate(start + length);
            }
            Compression::GZIP(_) => {
                let limit = size as u64 + 1;
                let decoder = flate2::read::MultiGzDecoder::new(stored);
                let read = decoder.take(limit).read_to_end(out);
                read.map_err(|error| named("gzip", &error))?;
            }
            Compression::ZSTD(_) => {
                let decompressed = self.zstd(stored, size, out);
                decompressed.map_err(|error| named("zstd", &error))?;
            }
            Compression::LZ4_RAW => {
                out.resize(end, 0);
                let length = lz4_flex::block::decompress_into(stored, &mut out[start..]);
                let length = length.map_err(|error| named("lz4", &error))?;
                out.truncate(start + length);
            }
            Compression::LZ4 => lz4(stored, size, out)?,
            other => return Err(format!("its compression {other} is not supported")),
        }
        match out.len() == end {
            true => Ok(()),
            false => Err(format!(
                "a page does not have the {size} bytes that its header gives"
            )),
        }
    }

    /// Appends to memory that need not be cleared first. The threads of a file must not wait for each other here.
    fn zstd(&self, stored: &[u8], size: usize, out: &mut Vec<u8>) -> std::io::Result<()> {
        let free = || self.zstd.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = free().pop();
        let mut decoder = match kept {
            Some(decoder) => decoder,
            None => Decompressor::new()?,
        };
        out.reserve_exact(size);
        let start = out.len() as u64;
        let mut rest = Cursor::new(out);
        rest.set_position(start);
        let decompressed = decoder.decompress_to_buffer(stored, &mut rest);
        free().push(decoder);
        decompressed.map(|_| ())
    }
}

/// The framings that writers used for the first LZ4 of Parquet: that of Hadoop, LZ4's own, or none.
fn lz4(stored: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let start = out.len();
    out.resize(start + size, 0);
    if hadoop(stored, &mut out[start..]).is_some() {
        return Ok(());
    }
    out.truncate(start);
    let frame = lz4_flex::frame::FrameDecoder::new(stored);
    if frame.take(size as u64 + 1).read_to_end(out).is_ok() {
        return Ok(());
    }
    out.resize(start + size, 0);
    let length = lz4_flex::block::decompress_into(stored, &mut out[start..]);
    out.truncate(start + length.map_err(|error| format!("lz4: {error}"))?);
    Ok(())
}

/// Fills `out` from blocks with their two sizes before them; `None` if it is of another form.
fn hadoop(mut stored: &[u8], mut out: &mut [u8]) -> Option<()> {
    while !stored.is_empty() {
        let (plain, rest) = stored.split_first_chunk::<4>()?;
        let (packed, rest) = rest.split_first_chunk::<4>()?;
        let [plain, packed] = [plain, packed].map(|size| u32::from_be_bytes(*size) as usize);
        let (block, left) = (rest.get(..packed)?, rest.get(packed..)?);
        let (here, after) = out.split_at_mut_checked(plain)?;
        if lz4_flex::block::decompress_into(block, here).ok()? != plain {
            return None;
        }
        (stored, out) = (left, after);
    }
    out.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn every_compression_gives_its_bytes_and_never_more() {
        let plain: Vec<u8> = (0..5000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let raw = lz4_flex::block::compress(&plain);
        let mut hadoop = Vec::new();
        for half in plain.chunks(plain.len() / 2) {
            let block = lz4_flex::block::compress(half);
            hadoop.extend((half.len() as u32).to_be_bytes());
            hadoop.extend((block.len() as u32).to_be_bytes());
            hadoop.extend(block);
        }
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        frame.write_all(&plain).unwrap();
        let codecs = Codecs::default();
        for (compression, stored) in [
            (Compression::UNCOMPRESSED, plain.clone()),
            (
                Compression::SNAPPY,
                snap::raw::Encoder::new().compress_vec(&plain).unwrap(),
            ),
            (
                Compression::GZIP(Default::default()),
                gzip.finish().unwrap(),
            ),
            (
                Compression::ZSTD(Default::default()),
                zstd::bulk::compress(&plain, 1).unwrap(),
            ),
            (Compression::LZ4_RAW, raw.clone()),
            (Compression::LZ4, raw),
            (Compression::LZ4, hadoop),
            (Compression::LZ4, frame.finish().unwrap()),
        ] {
            let mut out = Vec::with_capacity(1 << 20);
            out.extend([1, 2]);
            codecs
                .decompress(compression, &stored, plain.len(), &mut out)
                .unwrap();
            assert!(out[2..] == plain && out[..2] == [1, 2], "{compression}");
            for size in [0, 1, plain.len() - 1, plain.len() + 1] {
                // Also in a buffer that was larger.
                let wide = &mut Vec::with_capacity(1 << 20);
                let refused = codecs.decompress(compression, &stored, size, wide);
                assert!(refused.is_err(), "{compression} {size}");
                let mut out = Vec::new();
                let refused = codecs.decompress(compression, &stored, size, &mut out);
                assert!(refused.is_err(), "{compression} {size}");
                assert!(out.len() <= plain.len() + 1, "{compression} {size}");
            }
        }
        let refused = codecs.decompress(Compression::LZO, &[], 1, &mut Vec::new());
        assert!(refused.unwrap_err().contains("LZO"));
    }
}
