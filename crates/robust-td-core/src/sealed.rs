//! Seals plain data as bytes that another machine can check before it uses them.
//!
//! Layout: magic (8 bytes), format version (u32), kind (8 bytes), the digest of the job that it belongs to (32 bytes), length of the body
//! (u64), SHA-256 of everything else (32 bytes), body (postcard). Integers are little-endian.
//!
//! The digest finds damage, not malice: whoever can write a state can also write its digest. So what is decoded is plain data whose sizes are
//! those of the bytes, and its reader checks that it fits the job.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

const MAGIC: &[u8; 8] = b"RTDSTATE";
/// Version of the format; raised when the meaning of the bytes changes.
pub const VERSION: u32 = 4;
const HEADER: usize = 8 + 4 + 8 + 32 + 8 + 32;

/// What identifies a job: the digest of its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Job([u8; 32]);

impl Job {
    /// The job with this description.
    #[must_use]
    pub fn of(description: &[u8]) -> Self {
        Self(Sha256::digest(description).into())
    }

    /// No job in particular: that of a description itself.
    pub const NONE: Self = Self([0; 32]);
}

/// What bytes hold; eight characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(pub &'static [u8; 8]);

impl Kind {
    fn name(self) -> String {
        String::from_utf8_lossy(self.0).trim().to_owned()
    }
}

/// Why bytes are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// Bytes that are damaged or something else.
    #[error("a {kind} cannot be read: {what}")]
    Damaged {
        /// What was expected.
        kind: String,
        /// What is wrong.
        what: &'static str,
    },
    /// Another version of the format.
    #[error(
        "a {kind} has format version {found}, but this program reads version {VERSION}; use the same version of robust-td everywhere"
    )]
    Version {
        /// What was expected.
        kind: String,
        /// The version found.
        found: u32,
    },
    /// A part of another job.
    #[error("a {kind} belongs to another job: other options, files or another plan")]
    Foreign {
        /// What was expected.
        kind: String,
    },
}

/// The bytes of a value.
pub fn seal<T: Serialize>(kind: Kind, job: Job, value: &T) -> Vec<u8> {
    // Plain data: serializing to memory cannot fail, and empty bytes are refused when they are read.
    seal_encoded(kind, job, &postcard::to_stdvec(value).unwrap_or_default())
}

/// The bytes of a value that is encoded already; for tests of forged states.
#[doc(hidden)]
#[must_use]
pub fn seal_encoded(kind: Kind, job: Job, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(kind.0);
    bytes.extend_from_slice(&job.0);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    let digest = digest(&bytes, body);
    bytes.extend_from_slice(&digest);
    bytes.extend_from_slice(body);
    bytes
}

/// The value in bytes that [`seal`] made.
///
/// # Errors
/// When they are of another version, kind or job, or damaged.
pub fn open<T: DeserializeOwned>(kind: Kind, job: Job, bytes: &[u8]) -> Result<T, SealError> {
    let damaged = |what| SealError::Damaged {
        kind: kind.name(),
        what,
    };
    let (head, body) = bytes
        .split_at_checked(HEADER)
        .ok_or_else(|| damaged("it is too short"))?;
    if head[..8] != *MAGIC {
        return Err(damaged("it does not start with the header of a state"));
    }
    let found = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if found != VERSION {
        let kind = kind.name();
        return Err(SealError::Version { kind, found });
    }
    if head[12..20] != *kind.0 {
        return Err(damaged("it holds something else"));
    }
    if digest(&head[..HEADER - 32], body) != head[HEADER - 32..] {
        return Err(damaged("its checksum does not match"));
    }
    if head[20..52] != job.0 {
        return Err(SealError::Foreign { kind: kind.name() });
    }
    let (value, rest) =
        postcard::take_from_bytes(body).map_err(|_| damaged("its content cannot be decoded"))?;
    match rest.is_empty() {
        true => Ok(value),
        false => Err(damaged("bytes follow its content")),
    }
}

fn digest(head: &[u8], body: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(head)
        .chain_update(body)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind(b"test    ");

    #[test]
    fn every_changed_byte_is_refused() {
        let (job, value) = (Job::of(b"job"), vec![1.5, f64::NAN, -0.0]);
        let bytes = seal(KIND, job, &value);
        let found: Vec<f64> = open(KIND, job, &bytes).unwrap();
        assert!(
            found
                .iter()
                .zip(&value)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(open::<Vec<f64>>(KIND, job, &other).is_err(), "byte {at}");
            assert!(open::<Vec<f64>>(KIND, job, &bytes[..at]).is_err());
        }
        let foreign = open::<Vec<f64>>(KIND, Job::NONE, &bytes);
        assert!(matches!(foreign, Err(SealError::Foreign { .. })));
        assert!(open::<Vec<f64>>(Kind(b"other   "), job, &bytes).is_err());
    }

    #[test]
    fn a_length_without_its_bytes_takes_no_memory() {
        // A list that claims 2^60 numbers, with a valid checksum.
        let mut body = postcard::to_stdvec(&(1_u64 << 60)).unwrap();
        body.push(0);
        let bytes = seal_encoded(KIND, Job::NONE, &body);
        let found = open::<Vec<f64>>(KIND, Job::NONE, &bytes);
        assert!(matches!(found, Err(SealError::Damaged { what, .. }) if what.contains("decoded")));
    }
}
