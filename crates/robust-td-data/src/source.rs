//! Finds the inputs, infers their formats from their names and opens them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Stdin};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::expansion::expanded;
use crate::fingerprint::Fingerprints;
use crate::monitor::Monitor;
use crate::path_name::{name_of, path_of};
use crate::stored::{Stored, Stores};
use crate::table::Table;

/// The number of decompressed bytes after which to look whether the work is cancelled.
const PIECE: u64 = 1 << 24;

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per line.
    Ndjson,
    /// Apache Parquet.
    Parquet,
    /// A table in memory.
    Table,
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "csv" => Ok(Self::Csv),
            "ndjson" | "jsonl" => Ok(Self::Ndjson),
            "parquet" => Ok(Self::Parquet),
            _ => Err(Error::UnknownName {
                what: "format",
                name: name.to_owned(),
                choices: "csv, ndjson, parquet",
            }),
        }
    }
}

/// The compression of a text file; Parquet compresses internally.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed.
    #[default]
    None,
    /// gzip, one member or several.
    Gzip,
    /// Zstandard, one frame or several.
    Zstd,
}

/// One input.
pub struct Source {
    name: String,
    format: Format,
    compression: Compression,
    origin: Origin,
}

enum Origin {
    File(PathBuf),
    /// A named pipe or a device, which can be opened only once.
    Pipe(PathBuf),
    Stream(Box<dyn Read + Send>),
    Table(Arc<Table>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Expands names and patterns (`*`, `?`, `[...]`, `**`) to inputs; `-` is stdin.
    ///
    /// The files of a pattern are sorted by name, byte by byte; an existing file whose name looks like a
    /// pattern is taken literally. The format is inferred from the name (`.csv`, `.tsv`, `.ndjson`, `.jsonl`,
    /// `.json`, `.parquet`, text formats also with `.gz` or `.zst`) unless given; compression also from the first bytes.
    ///
    /// # Errors
    /// When there is no input, a pattern is malformed or matches nothing, stdin or a file is named twice, or a format
    /// is unknown.
    pub fn find<S: AsRef<str>>(names: &[S], format: Option<Format>) -> Result<Vec<Self>> {
        Self::find_in(names, format, &Stores::default())
    }

    /// The same, where some files may be stored elsewhere.
    pub(crate) fn find_in<S: AsRef<str>>(
        names: &[S],
        format: Option<Format>,
        stores: &Stores,
    ) -> Result<Vec<Self>> {
        let mut sources = Vec::new();
        for name in names {
            let name = name.as_ref();
            if name == "-" {
                if sources
                    .iter()
                    .any(|s: &Self| matches!(s.origin, Origin::Stream(_)))
                {
                    return Err(Error::NoInput {
                        what: "stdin can be read only once",
                    });
                }
                sources.push(Self::stdin(std::io::stdin(), format)?);
            } else if stores.length(name).is_some() {
                sources.push(Self::file(name, format)?);
            } else {
                for path in matches(name)? {
                    sources.push(Self::file(path, format)?);
                }
            }
        }
        if sources.is_empty() {
            return Err(Error::NoInput {
                what: "no input file is given",
            });
        }
        check_distinct(&sources)?;
        Ok(sources)
    }

    /// A file.
    ///
    /// # Errors
    /// When no format is given and the name does not show it.
    pub fn file(path: impl Into<PathBuf>, format: Option<Format>) -> Result<Self> {
        let path = path.into();
        let name = name_of(&path);
        let (told, compression) = by_name(&path);
        if path.is_dir() {
            let message = format!("it is a directory; name its files, such as {name}/*.csv");
            return Err(Error::Open {
                file: name,
                source: std::io::Error::other(message),
            });
        }
        let format = format
            .or(told)
            .ok_or_else(|| Error::UnknownFormat { file: name.clone() })?;
        if format == Format::Parquet && compression != Compression::None {
            return Err(Error::NotAStream { file: name });
        }
        let origin = match is_pipe(&path) {
            true if format == Format::Parquet => return Err(Error::NotAStream { file: name }),
            true => Origin::Pipe(path),
            false => Origin::File(path),
        };
        Ok(Self {
            name,
            format,
            compression,
            origin,
        })
    }

    /// A stream of CSV or NDJSON, with a name for messages.
    ///
    /// # Errors
    /// When the format is Parquet, which requires a file.
    pub fn stream(
        name: impl Into<String>,
        format: Format,
        compression: Compression,
        input: impl Read + Send + 'static,
    ) -> Result<Self> {
        let name = name.into();
        if format == Format::Parquet {
            return Err(Error::NotAStream { file: name });
        }
        Ok(Self {
            name,
            format,
            compression,
            origin: Origin::Stream(Box::new(input)),
        })
    }

    /// A table in memory, with a name for messages.
    pub fn table(name: impl Into<String>, table: Arc<Table>) -> Self {
        Self {
            name: name.into(),
            format: Format::Table,
            compression: Compression::None,
            origin: Origin::Table(table),
        }
    }

    fn stdin(stdin: Stdin, format: Option<Format>) -> Result<Self> {
        let format = format.ok_or_else(|| Error::UnknownFormat {
            file: "stdin".to_owned(),
        })?;
        Self::stream("stdin", format, Compression::None, stdin)
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether it can be read only once.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.origin, Origin::Stream(_) | Origin::Pipe(_))
    }

    /// The file, if it can be read again.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            _ => None,
        }
    }

    pub(crate) fn open(self, opening: Opening<'_>) -> Result<Opened> {
        let failed = |source| Error::Open {
            file: self.name.clone(),
            source,
        };
        let mut place = None;
        let input: Box<dyn Read + Send> = match self.origin {
            Origin::Stream(input) => Box::new(Ending(input, opening.monitor.clone())),
            Origin::Pipe(path) => {
                let file = File::open(path).map_err(failed)?;
                Box::new(Ending(Box::new(file), opening.monitor.clone()))
            }
            Origin::Table(table) => return Ok(Opened::Table(table)),
            Origin::File(_) if opening.stores.length(&self.name).is_some() => {
                let stored = opening.stores.open(&self.name);
                let stored = stored.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
                if self.format == Format::Parquet {
                    return Ok(Opened::File(stored));
                }
                let input = stored.read_from(0).map_err(failed)?;
                place = Some(stored);
                input
            }
            Origin::File(path) => {
                let file = File::open(&path).map_err(failed)?;
                let data = file.metadata().map_err(failed)?;
                if data.is_dir() {
                    return Err(failed(std::io::ErrorKind::IsADirectory.into()));
                }
                opening.fingerprints.open(&self.name, &path, &data)?;
                let file = Arc::new(file);
                let stored = Stored::Here(file.clone(), path);
                if self.format == Format::Parquet {
                    return Ok(Opened::File(stored));
                }
                place = Some(stored);
                Box::new(file)
            }
        };
        let (compression, input) = match self.compression {
            Compression::None => by_bytes(input).map_err(failed)?,
            told => (told, input),
        };
        let input = compression.decode(input).map_err(failed)?;
        let text = place.map(|stored| TextFile {
            stored,
            compression,
        });
        Ok(Opened::Text(input, text))
    }
}

impl Compression {
    /// The bytes that were compressed.
    fn decode(self, input: Box<dyn Read + Send>) -> std::io::Result<Box<dyn Read + Send>> {
        match self {
            Self::None => Ok(input),
            Self::Gzip => expanded(input, |input| Ok(flate2::read::MultiGzDecoder::new(input))),
            Self::Zstd => expanded(input, zstd::Decoder::new),
        }
    }
}

/// A text file that can be read again.
pub(crate) struct TextFile {
    stored: Stored,
    compression: Compression,
}

impl TextFile {
    /// Its text from a byte on. What is compressed is decompressed from its start, but not parsed, as long as the work is not cancelled.
    ///
    /// # Errors
    /// Those of opening it, and of what is before that byte, if it is compressed.
    pub fn read_from(&self, byte: u64, monitor: &Monitor) -> std::io::Result<Box<dyn Read + Send>> {
        if self.compression == Compression::None {
            return self.stored.read_from(byte);
        }
        let mut text = self.compression.decode(self.stored.read_from(0)?)?;
        let mut left = byte;
        while left > 0 && !monitor.is_cancelled() {
            let mut piece = text.by_ref().take(left.min(PIECE));
            match std::io::copy(&mut piece, &mut std::io::sink())? {
                0 => break,
                length => left -= length,
            }
        }
        Ok(text)
    }
}

/// What opening a source needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub fingerprints: &'a Fingerprints,
    pub monitor: &'a Monitor,
    pub stores: &'a Stores,
}

/// A stream whose end is an error once it is ended from outside: its last line may be cut.
struct Ending(Box<dyn Read + Send>, Monitor);

impl Read for Ending {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(out) {
            Ok(0) if !out.is_empty() && self.1.is_ended() => Err(std::io::Error::other("ended")),
            read => read,
        }
    }
}

/// Whether a name is a pipe or a device: what is read from it is gone.
pub(crate) fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// The opened form of a source.
pub(crate) enum Opened {
    /// With the file, if it can be read again.
    Text(Box<dyn Read + Send>, Option<TextFile>),
    File(Stored),
    Table(Arc<Table>),
}

/// The compression that the first bytes show, and all bytes.
fn by_bytes(
    mut input: Box<dyn Read + Send>,
) -> std::io::Result<(Compression, Box<dyn Read + Send>)> {
    let kinds = [
        (Compression::Gzip, &b"\x1f\x8b"[..]),
        (Compression::Zstd, &b"\x28\xb5\x2f\xfd"[..]),
    ];
    let (mut bytes, mut length) = ([0; 4], 0);
    // Text is recognised by its first byte: a stream may not have a second one yet.
    let found = loop {
        let seen = &bytes[..length];
        if let Some((kind, _)) = kinds.iter().find(|(_, magic)| seen.starts_with(magic)) {
            break *kind;
        }
        if !kinds.iter().any(|(_, magic)| magic.starts_with(seen)) {
            break Compression::None;
        }
        match input.read(&mut bytes[length..]) {
            Ok(0) => break Compression::None,
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    let first = std::io::Cursor::new(bytes).take(length as u64);
    Ok((found, Box::new(first.chain(input))))
}

fn by_name(path: &Path) -> (Option<Format>, Compression) {
    let extension = |path: &Path| {
        let extension = path.extension().and_then(|e| e.to_str());
        extension.map(str::to_lowercase).unwrap_or_default()
    };
    let (inner, compression) = match extension(path).as_str() {
        "gz" => (path.with_extension(""), Compression::Gzip),
        "zst" | "zstd" => (path.with_extension(""), Compression::Zstd),
        _ => (path.to_owned(), Compression::None),
    };
    let format = match extension(&inner).as_str() {
        "csv" | "tsv" | "tab" => Some(Format::Csv),
        "ndjson" | "jsonl" | "json" => Some(Format::Ndjson),
        "parquet" | "pq" => Some(Format::Parquet),
        _ => None,
    };
    (format, compression)
}

/// Refuses a file that is named twice, by whatever path: its rows would count twice.
fn check_distinct(sources: &[Source]) -> Result<()> {
    let mut seen = HashMap::new();
    for source in sources {
        // What cannot be found is reported when it is opened.
        if let Origin::File(path) | Origin::Pipe(path) = &source.origin
            && let Ok(path) = path.canonicalize()
            && let Some(first) = seen.insert(path, source.name())
        {
            return Err(Error::FileTwice {
                file: source.name().to_owned(),
                first: first.to_owned(),
            });
        }
    }
    Ok(())
}

fn matches(name: &str) -> Result<Vec<PathBuf>> {
    let path = path_of(name);
    // Without a wildcard the name is a file's; opening it reports any problem.
    if path.exists() || !name.contains(['*', '?', '[']) {
        return Ok(vec![path]);
    }
    let failed = |message: String| Error::Pattern {
        pattern: name.to_owned(),
        message,
    };
    let mut paths = Vec::new();
    for path in glob::glob(name).map_err(|error| failed(error.to_string()))? {
        let path = path.map_err(|error| failed(error.to_string()))?;
        if path.is_file() {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(Error::NoMatch {
            pattern: name.to_owned(),
        });
    }
    paths.sort();
    Ok(paths)
}
