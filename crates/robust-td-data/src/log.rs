//! Describes a log: which files to read, and how.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use robust_td_core::features::ColumnUse;

use crate::columns::ColumnMap;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::files::WriteError;
use crate::fingerprint::Fingerprints;
use crate::inspect::{DataReport, Inspector};
use crate::kept::Keep;
use crate::labels::Labels;
use crate::monitor::Monitor;
use crate::observed::Observed;
use crate::options::{Purpose, ReadAs, ReadOptions, Selection};
use crate::origin::{self, Origin};
use crate::path_name::path_of;
use crate::preset::Preset;
use crate::reader::Reader;
use crate::reading::{Here, Reading, Version, fixed};
use crate::role::Role;
use crate::schema::Schema;
use crate::source::{Compression, Format, Source, is_pipe};
use crate::stored::{Seek, Storage, Stores};
use crate::table::Table;

/// The rows per batch: few, so that an answer on a stream does not wait.
const STREAM_ROWS: usize = 64;

/// The name of a table in memory, for messages.
const TABLE: &str = "log";

/// A log: files, patterns such as `logs/*.parquet`, a stream or a table in memory, with the options for reading it.
#[derive(Debug)]
pub struct Log {
    input: Input,
    format: Option<Format>,
    columns: ColumnMap,
    preset: Preset,
    dialect: Dialect,
    skip_bad_rows: u64,
    monitor: Monitor,
    fingerprints: Fingerprints,
    observed: Observed,
    /// The feature maps that `observed` is made of.
    maps: Option<Vec<String>>,
    labels: Labels,
    keep: Keep,
    /// The actions of the model that predicts.
    actions: Vec<String>,
    /// The file and row that it is read from.
    from: (usize, u64),
    /// The length of observations, if it is known.
    dimension: Option<usize>,
    /// Sizes and times of files that may not be here yet.
    known: HashMap<String, (u64, u64)>,
    /// A place in a text file before the row that it is read from.
    seek: Option<Seek>,
    stores: Stores,
}

#[derive(Debug)]
enum Input {
    /// Names of files, patterns, and `-` for standard input.
    Names(Vec<String>),
    /// A stream, until it is opened.
    Stream(Option<Source>),
    /// A table in memory.
    Table(Arc<Table>),
}

impl Log {
    /// Files and patterns; `-` is standard input, whose format must be set.
    pub fn files<I>(names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self::of(Input::Names(names.into_iter().map(Into::into).collect()))
    }

    /// A stream of CSV or NDJSON, which can be read only once.
    ///
    /// # Errors
    /// When the format is Parquet, which needs a file.
    pub fn stream(format: Format, input: impl Read + Send + 'static) -> Result<Self> {
        let source = Source::stream("stream", format, Compression::None, input)?;
        Ok(Self::of(Input::Stream(Some(source))))
    }

    /// A table in memory. The results are those of the same rows in a file.
    #[must_use]
    pub fn table(table: Table) -> Self {
        Self::of(Input::Table(Arc::new(table)))
    }

    fn of(input: Input) -> Self {
        Self {
            input,
            format: None,
            columns: ColumnMap::default(),
            preset: Preset::default(),
            dialect: Dialect::default(),
            skip_bad_rows: 0,
            monitor: Monitor::default(),
            fingerprints: Fingerprints::default(),
            observed: Observed::default(),
            maps: None,
            labels: Labels::default(),
            keep: Keep::default(),
            actions: Vec::new(),
            from: (0, 0),
            dimension: None,
            known: HashMap::new(),
            seek: None,
            stores: Stores::default(),
        }
    }

    /// Reads from a row of a file on, in numbers from 0 and from 1; some rows before it may be read as well.
    pub(crate) fn read_from(&mut self, file: usize, row: u64) {
        self.from = (file, row);
    }

    /// Sets what this machine adds.
    pub(crate) fn with_here(mut self, here: &Here) -> Self {
        self.monitor = here.monitor.clone();
        (self.seek, self.stores) = (here.seek, here.stores.clone());
        self
    }

    /// Reads the files that a storage has from there, by ranges, instead of from this machine.
    #[must_use]
    pub fn storage(mut self, storage: Arc<dyn Storage>) -> Self {
        self.stores = Stores(Some(storage));
        self
    }

    /// Sets the sizes in bytes and the times of the last change, in nanoseconds, of files that may not be on this machine yet.
    #[must_use]
    pub fn known_files(mut self, files: impl IntoIterator<Item = (String, u64, u64)>) -> Self {
        let files = files.into_iter();
        self.known = files
            .map(|(name, size, changed)| (name, (size, changed)))
            .collect();
        self
    }

    /// The size of a file and the time of its last change; zeros where they are not known.
    pub(crate) fn version(&self, file: &str) -> Version {
        let known = self.known.get(file).copied();
        known.unwrap_or_else(|| origin::version(file))
    }

    /// Refuses observations of another length.
    pub(crate) fn expect_dimension(&mut self, dimension: usize) {
        self.dimension = Some(dimension);
    }

    /// The columns that are copied to predictions.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// The format of files; inferred from their names by default.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Names of columns that differ from the layout's.
    #[must_use]
    pub fn columns(mut self, columns: ColumnMap) -> Self {
        self.columns = columns;
        self
    }

    /// The column names of a known tool.
    #[must_use]
    pub fn layout(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// The decimal sign of numbers in CSV files: a point, the default, or a comma.
    #[must_use]
    pub fn decimal(mut self, sign: char) -> Self {
        self.dialect.decimal = Some(sign);
        self
    }

    /// The sign between groups of three digits in CSV files, such as a point or a space; by default there is none.
    #[must_use]
    pub fn thousands(mut self, sign: char) -> Self {
        self.dialect.thousands = Some(sign);
        self
    }

    /// Skips up to this many bad rows; by default the first one is an error.
    #[must_use]
    pub fn skip_bad_rows(mut self, rows: u64) -> Self {
        self.skip_bad_rows = rows;
        self
    }

    /// The column that names clusters of rows that may depend on each other.
    #[must_use]
    pub fn cluster(mut self, column: impl Into<String>) -> Self {
        self.columns = self.columns.with_cluster(column);
        self
    }

    /// Counts the rows that are read, and stops reading when it is cancelled.
    #[must_use]
    pub fn monitor(mut self, monitor: Monitor) -> Self {
        self.monitor = monitor;
        self
    }

    /// Reads the columns that feature maps name.
    ///
    /// # Errors
    /// When a map is malformed.
    pub(crate) fn use_columns_of(&mut self, specs: &[&str]) -> Result<()> {
        self.observed = Observed::Used(Arc::new(ColumnUse::of(specs)?));
        self.maps = Some(specs.iter().map(|&spec| spec.to_owned()).collect());
        Ok(())
    }

    /// The texts of the categories that were read.
    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The files that are stored elsewhere.
    pub(crate) fn stores(&self) -> &Stores {
        &self.stores
    }

    /// What counts the rows and stops the reading.
    pub(crate) fn monitored(&self) -> &Monitor {
        &self.monitor
    }

    /// How to read these files of it on another machine.
    pub(crate) fn reading(&self, files: &[String], schema: &Schema) -> Reading {
        Reading {
            files: files.to_vec(),
            format: self.format,
            columns: self.columns.clone(),
            preset: self.preset,
            dialect: self.dialect,
            skip_bad_rows: self.skip_bad_rows,
            fixed: fixed(&self.observed, schema),
            maps: self.maps.clone(),
            here: Here::default(),
        }
    }

    /// Reads numbers and columns as another log.
    pub(crate) fn read_like(&mut self, dialect: Dialect, observed: Observed) {
        (self.dialect, self.observed) = (dialect, observed);
    }

    /// Whether it consists of files.
    pub(crate) fn is_files(&self) -> bool {
        matches!(self.input, Input::Names(_)) && !self.is_stream()
    }

    /// The files that were read, and how.
    pub(crate) fn origin(&self, files: &[String]) -> Origin {
        // A table in memory has no file to read again.
        let files = match self.input {
            Input::Table(_) => &[],
            _ => files,
        };
        let sized = |file: &String| (file.clone(), self.version(file).0);
        Origin {
            files: files.iter().map(sized).collect(),
            format: self.format,
            columns: self.columns.clone(),
            preset: self.preset,
            dialect: self.dialect,
            skip_bad_rows: self.skip_bad_rows,
        }
    }

    /// Puts the files of another log first, and reads all as that log was read where nothing else is set.
    ///
    /// # Errors
    /// When one of these files cannot be found, or has changed.
    pub(crate) fn after(&mut self, origin: &Origin) -> Result<()> {
        let before = origin.unchanged()?;
        let Input::Names(names) = &mut self.input else {
            return Err(Error::OriginInMemory);
        };
        let new = Source::find(names, self.format.or(origin.format))?;
        if let Some(again) = new
            .iter()
            .find(|source| before.iter().any(|name| name == source.name()))
        {
            let file = again.name().to_owned();
            return Err(Error::OriginAgain { file });
        }
        names.splice(0..0, before);
        self.format = self.format.or(origin.format);
        self.skip_bad_rows = self.skip_bad_rows.max(origin.skip_bad_rows);
        Ok(())
    }

    /// Reads as another log was read where nothing else is set.
    pub(crate) fn default_layout(&mut self, other: &ReadAs) {
        if !other.inputs.is_empty() {
            self.observed = Observed::Fixed {
                inputs: other.inputs.as_slice().into(),
                by_name: self.columns.get(Role::Obs).is_none(),
            };
        }
        self.columns.add_others(&other.columns);
        if self.preset == Preset::default() {
            self.preset = other.preset;
        }
        if self.dialect.is_default() {
            self.dialect = other.dialect;
        }
    }

    /// Expects the actions of a model of state-action features, or the probabilities of all of them.
    pub(crate) fn expect_actions(&mut self, actions: &[String]) {
        self.actions = actions.to_vec();
    }

    /// Whether bad rows may be skipped.
    pub(crate) fn skips(&self) -> bool {
        self.skip_bad_rows > 0
    }

    /// The column settings.
    pub(crate) fn column_map(&self) -> &ColumnMap {
        &self.columns
    }

    /// Whether a cluster column is set.
    pub(crate) fn has_clusters(&self) -> bool {
        self.columns.get(Role::Cluster).is_some()
    }

    /// How it is read, for other files of the same kind.
    pub(crate) fn layout_used(&self) -> ReadAs {
        ReadAs {
            columns: self.columns.clone(),
            preset: self.preset,
            dialect: self.dialect,
            inputs: Vec::new(),
        }
    }

    /// Refuses an output that would replace one of the files.
    ///
    /// # Errors
    /// When the output is one of the files, by whatever name.
    pub fn check_output(&self, path: &Path) -> std::result::Result<(), WriteError> {
        let (Input::Names(names), Ok(output)) = (&self.input, std::fs::canonicalize(path)) else {
            return Ok(());
        };
        // What cannot be found is reported when it is read.
        let sources = Source::find(names, self.format).unwrap_or_default();
        let same = |source: &Source| {
            std::fs::canonicalize(path_of(source.name())).is_ok_and(|name| name == output)
        };
        match sources.iter().any(same) {
            true => Err(WriteError::NotAFile {
                path: path.into(),
                what: "it is one of the files to read; name another",
            }),
            false => Ok(()),
        }
    }

    /// Whether part of it can be read only once.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        match &self.input {
            Input::Names(names) => {
                (names.iter()).any(|name| name == "-" || is_pipe(&path_of(name)))
            }
            Input::Stream(_) => true,
            Input::Table(_) => false,
        }
    }

    /// Opens the log from its start.
    ///
    /// # Errors
    /// When there is no input, the first cannot be opened, its columns do not match, or a stream was opened before.
    pub fn open(&mut self, purpose: Purpose) -> Result<Reader> {
        self.open_with(purpose, 1)
    }

    /// As [`Log::open`], with this number of threads to decode.
    pub(crate) fn open_with(&mut self, purpose: Purpose, threads: usize) -> Result<Reader> {
        let mut options = ReadOptions {
            columns: self.columns.clone(),
            preset: self.preset,
            dialect: self.dialect,
            purpose,
            skip_bad_rows: self.skip_bad_rows,
            threads,
            monitor: self.monitor.clone(),
            actions: self.actions.clone(),
            dimension: self.dimension,
            ..ReadOptions::default()
        };
        if self.is_stream() {
            options.batch_rows = STREAM_ROWS;
        }
        let sources = match &mut self.input {
            Input::Names(names) => Source::find_in(names, self.format, &self.stores)?,
            Input::Table(table) => vec![Source::table(TABLE, table.clone())],
            Input::Stream(source) => vec![source.take().ok_or(Error::NoInput {
                what: "a stream can be read only once",
            })?],
        };
        let selection = Selection {
            observed: self.observed.clone(),
            fingerprints: self.fingerprints.clone(),
            labels: self.labels.clone(),
            keep: match purpose {
                Purpose::Predict => self.keep.clone(),
                _ => Keep::Nothing,
            },
            from: self.from,
            seek: self.seek,
            stores: self.stores.clone(),
        };
        Reader::open_with(sources, options, selection)
    }

    /// Reports on the log without learning from it; bad rows are counted, not refused.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn inspect(self) -> Result<DataReport> {
        let reader = self.skip_bad_rows(u64::MAX).open(Purpose::Inspect)?;
        Inspector::inspect(reader)
    }
}

/// Reports on files without learning from them: their contents, and what looks wrong.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("log.csv");
/// # std::fs::write(&file, "obs_0,reward,terminated\n1,0,0\n2,0,0\n3,5,1\n")?;
/// # let file = file.to_str().unwrap();
/// let report = robust_td_data::inspect([file])?;
/// assert_eq!((report.rows, report.transitions), (3, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the files cannot be read; [`Log::inspect`] takes more options.
pub fn inspect<I>(files: I) -> Result<DataReport>
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    Log::files(files).inspect()
}
