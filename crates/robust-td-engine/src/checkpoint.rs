//! Writes and reads checkpoints that survive a kill at any moment.
//!
//! Layout: magic (8 bytes), format version (u32), plan hash (32 bytes), length of the body (u64),
//! BLAKE3 of everything else (32 bytes), body (postcard). Integers are little-endian. A new
//! checkpoint is written to a temporary file, synced, read back, and renamed over the old one, so a complete checkpoint
//! always exists.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"RTDCHKPT";
/// Version of the format; raised when the meaning of the bytes changes.
pub const VERSION: u32 = 5;
/// The start of the names of temporary files; leftovers of killed runs are recognised by it.
const TEMPORARY: &str = ".robust-td-";
const HEADER: usize = 8 + 4 + 32 + 8 + 32;

/// The progress of one unit, encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Not started.
    Waiting,
    /// In progress: its state.
    Running(Vec<u8>),
    /// Done: its result.
    Finished(Vec<u8>),
}

/// Encodes plain data; writing to memory cannot fail.
pub(crate) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).unwrap_or_default()
}

/// Decodes a part of a checkpoint.
pub(crate) fn decode<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|_| Error::CheckpointDamaged {
        path: path.into(),
        what: "its content cannot be decoded",
    })
}

/// Refuses a part of a checkpoint that does not fit its plan.
pub(crate) fn require(path: &Path, fits: bool) -> Result<()> {
    match fits {
        true => Ok(()),
        false => Err(Error::CheckpointDamaged {
            path: path.into(),
            what: "its content does not fit the plan",
        }),
    }
}

/// Replaces the checkpoint at `path`.
pub(crate) fn write(path: &Path, plan: &blake3::Hash, stages: &[Stage]) -> Result<()> {
    let io = |source| Error::CheckpointIo {
        path: path.into(),
        source,
    };
    let body = encode(&stages);
    let mut head = Vec::with_capacity(HEADER);
    head.extend_from_slice(MAGIC);
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(plan.as_bytes());
    head.extend_from_slice(&(body.len() as u64).to_le_bytes());
    let checksum = checksum(&head, &body);
    head.extend_from_slice(checksum.as_bytes());

    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let replace = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(directory)?;
        // Another process removes temporary files that no process has locked. Where locks do not work it removes none.
        let _ = file.as_file().try_lock();
        file.write_all(&head)?;
        file.write_all(&body)?;
        file.as_file().sync_all()?;
        read_back(file.as_file_mut(), [&head, &body])?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    match replace() {
        // The file was removed before it was locked.
        Err(error) if error.kind() == ErrorKind::NotFound => replace().map_err(io),
        done => done.map_err(io),
    }
}

/// Checks that a file has these bytes.
fn read_back(file: &mut File, parts: [&[u8]; 2]) -> std::io::Result<()> {
    let mut found = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut found)?;
    match found == parts.concat() {
        true => Ok(()),
        false => Err(std::io::Error::other(
            "the bytes read back are not those written; check the disk",
        )),
    }
}

/// Reads the checkpoint of a plan with `units` units; `None` if there is no file.
pub(crate) fn read(path: &Path, plan: &blake3::Hash, units: usize) -> Result<Option<Vec<Stage>>> {
    match fs::read(path) {
        Ok(bytes) => parse(path, &bytes, plan, units).map(Some),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::CheckpointIo {
            path: path.into(),
            source,
        }),
    }
}

/// The stages in the bytes of a checkpoint; `path` is for messages.
pub(crate) fn parse(
    path: &Path,
    bytes: &[u8],
    plan: &blake3::Hash,
    units: usize,
) -> Result<Vec<Stage>> {
    let damaged = |what| Error::CheckpointDamaged {
        path: path.into(),
        what,
    };
    let (head, body) = bytes
        .split_at_checked(HEADER)
        .ok_or_else(|| damaged("it is too short"))?;
    if head[..8] != *MAGIC {
        return Err(damaged("it does not start with the checkpoint header"));
    }
    let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if version != VERSION {
        return Err(Error::CheckpointVersion {
            path: path.into(),
            found: version,
            expected: VERSION,
        });
    }
    if checksum(&head[..HEADER - 32], body).as_bytes() != &head[HEADER - 32..] {
        return Err(damaged("its checksum does not match"));
    }
    if head[12..44] != *plan.as_bytes() {
        let found = head[12..20].iter().map(|b| format!("{b:02x}")).collect();
        let expected = plan.to_hex()[..16].into();
        return Err(Error::CheckpointForeign {
            path: path.into(),
            found,
            expected,
        });
    }
    let stages: Vec<Stage> = decode(path, body)?;
    match stages.len() == units {
        true => Ok(stages),
        false => Err(damaged("its number of units does not match the plan")),
    }
}

fn checksum(head: &[u8], body: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update(head).update(body).finalize()
}
