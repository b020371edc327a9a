//! Converts the cells of one column of record batches.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ListArray, StringArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

use crate::batch::Batch;
use crate::fault::{FaultKind, shown};
use crate::layout::Target;
use crate::read::quantity;
use crate::row::{LogRow, refused_number};
use crate::value;

/// The cells of a column in the current record batch.
enum Cells {
    Numbers(ScalarBuffer<f64>),
    /// Integers, where f64 would lose digits that distinguish episodes; those without a sign wrap.
    Whole(Vec<i64>, bool),
    Text(StringArray),
    /// Lists, with their shared values.
    Lists(ListArray, ScalarBuffer<f64>),
}

/// A column with a role.
pub(crate) struct ArrowColumn {
    index: usize,
    target: Target,
    cells: Cells,
    /// The array itself, for its null mask.
    array: Option<ArrayRef>,
}

/// Whether cells of this type are lists.
pub(crate) fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_))
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_floating() || quantity::is_quantity(data_type)
}

/// Whether seconds make sense.
fn takes_times(target: Target) -> bool {
    matches!(
        target,
        Target::Obs(_) | Target::NextObs(_) | Target::Level { .. }
    )
}

impl ArrowColumn {
    /// A column of the given type; on failure, the types that its target accepts.
    pub fn new(index: usize, target: Target, data_type: &DataType) -> Result<Self, &'static str> {
        let cells = match (target, data_type) {
            (target, DataType::List(item)) if target.is_list() && is_number(item.data_type()) => {
                Cells::Numbers(ScalarBuffer::default())
            }
            (target, _) if target.is_list() => return Err("a list of numbers"),
            (target, kind)
                if (target.is_name() || matches!(target, Target::Level { .. }))
                    && kind.is_integer() =>
            {
                Cells::Whole(Vec::new(), *kind == DataType::UInt64)
            }
            (Target::Level { .. }, DataType::Utf8) => Cells::Text(StringArray::new_null(0)),
            (Target::Episode | Target::Cluster, DataType::Boolean) => {
                return Err("integers or text");
            }
            (_, DataType::Boolean) => Cells::Numbers(ScalarBuffer::default()),
            (_, kind) if is_number(kind) && (takes_times(target) || !quantity::is_time(kind)) => {
                Cells::Numbers(ScalarBuffer::default())
            }
            (target, DataType::Utf8)
                if target.is_name() || matches!(target, Target::Terminated | Target::Truncated) =>
            {
                Cells::Text(StringArray::new_null(0))
            }
            (Target::Terminated | Target::Truncated, _) => return Err("flags"),
            (target, _) if target.is_name() => return Err("integers or text"),
            (Target::Level { .. }, _) => return Err("text, a number or a flag"),
            (Target::Obs(_) | Target::NextObs(_), DataType::Utf8) => {
                return Err("a number; if it is a category, name it in one-hot");
            }
            (_, kind) if quantity::is_time(kind) => {
                return Err("a number; write a time as one, such as seconds since a start");
            }
            (_, DataType::Utf8) => return Err("a number; write its cells as numbers, not as text"),
            _ => return Err("a number"),
        };
        Ok(Self {
            index,
            target,
            cells,
            array: None,
        })
    }

    /// The index of the column in its file or table.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The destination of its cells.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Converts the cells of the next record batch.
    pub fn load(&mut self, array: &ArrayRef) {
        self.array = (array.null_count() > 0).then(|| array.clone());
        match &mut self.cells {
            Cells::Numbers(_) | Cells::Lists(..) if is_list(array.data_type()) => {
                let list = array.as_list::<i32>().clone();
                let numbers = numbers(list.values());
                self.cells = Cells::Lists(list, numbers);
            }
            Cells::Numbers(cells) => *cells = numbers(array),
            Cells::Whole(numbers, _) => to_i64(array, numbers),
            Cells::Text(text) => *text = array.as_string::<i32>().clone(),
            Cells::Lists(..) => {}
        }
    }

    /// Forgets the numbers of the last record batch, so that their memory can be freed elsewhere.
    pub fn unload(&mut self) {
        self.array = None;
        if let Cells::Numbers(cells) = &mut self.cells {
            *cells = ScalarBuffer::default();
        }
    }

    /// The cells, if they are numbers and none is missing.
    pub fn numbers(&self) -> Option<&[f64]> {
        match (&self.cells, &self.array) {
            (Cells::Numbers(numbers), None) => Some(numbers),
            _ => None,
        }
    }

    /// Adds some cells to their column of a batch; false, perhaps after only some of them, if one is bad. Observations are left out.
    pub fn append_and_check(&self, rows: Range<usize>, batch: &mut Batch) -> bool {
        let (flags, names) = match self.target {
            Target::Obs(_) | Target::NextObs(_) => return true,
            _ if self.array.is_some() => return false,
            Target::Terminated => (Some(batch.terminated.to_mut()), None),
            Target::Truncated => (Some(batch.truncated.to_mut()), None),
            Target::Episode => (None, Some(batch.episodes.to_mut())),
            Target::Cluster => (None, Some(batch.clusters.to_mut())),
            _ => (None, None),
        };
        match (&self.cells, self.target, flags, names) {
            (Cells::Numbers(numbers), Target::Reward, ..) => {
                let good = |good, x: &f64| good & x.is_finite();
                batch.rewards.extend_from_slice(&numbers[rows.clone()]);
                numbers[rows].iter().fold(true, good)
            }
            (Cells::Numbers(numbers), Target::Ratio, ..) => {
                let good = |x: &f64| x.is_finite() && *x >= 0.0;
                let ratios = batch.ratios.to_mut();
                ratios.extend_from_slice(&numbers[rows.clone()]);
                numbers[rows].iter().all(good)
            }
            (Cells::Numbers(numbers), _, Some(flags), _) => {
                put(&numbers[rows], flags, |&x| value::numeric_flag(x))
            }
            (Cells::Text(text), _, Some(flags), _) => {
                put(rows, flags, |i| value::flag(text.value(i).as_bytes()))
            }
            (Cells::Numbers(numbers), _, _, Some(names)) => {
                put(&numbers[rows], names, |&x| value::numeric_episode(x))
            }
            (Cells::Whole(numbers, _), _, _, Some(names)) => {
                put(&numbers[rows], names, |&x| Ok(value::whole_episode(x)))
            }
            (Cells::Text(text), _, _, Some(names)) => put_names(rows.map(|i| text.value(i)), names),
            _ => false,
        }
    }

    /// Puts cell i into the row.
    #[inline]
    pub fn read(&self, i: usize, row: &mut LogRow) -> Result<(), FaultKind> {
        if self.array.as_ref().is_some_and(|array| array.is_null(i)) {
            return Err(FaultKind::Missing);
        }
        match (&self.cells, self.target) {
            (Cells::Lists(list, numbers), _) => {
                let offsets = list.value_offsets();
                let (start, end) = (offsets[i] as usize, offsets[i + 1] as usize);
                read_list(list.values(), numbers, start, end, row.list(self.target))
            }
            (Cells::Numbers(numbers), Target::Terminated | Target::Truncated) => {
                row.set_flag(self.target, value::numeric_flag(numbers[i])?);
                Ok(())
            }
            (Cells::Numbers(numbers), target) if target.is_name() => {
                let id = value::numeric_episode(numbers[i])?;
                row.set_id(target, id, || numbers[i].to_string());
                Ok(())
            }
            (Cells::Numbers(numbers), Target::Level { .. }) => {
                row.set_number_level(self.target, numbers[i])
            }
            (Cells::Whole(numbers, unsigned), Target::Level { .. }) => {
                let number = numbers[i];
                match unsigned {
                    true => whole_level(row, self.target, i128::from(number as u64)),
                    false => whole_level(row, self.target, i128::from(number)),
                }
            }
            (Cells::Text(text), Target::Level { .. }) => {
                row.set_level(self.target, text.value(i).as_bytes())
            }
            (Cells::Numbers(numbers), _) => match row.set_number(self.target, numbers[i]) {
                true => Ok(()),
                false => Err(refused_number(numbers[i], numbers[i].to_string())),
            },
            (Cells::Whole(numbers, _), _) => {
                let id = value::whole_episode(numbers[i]);
                row.set_id(self.target, id, || numbers[i].to_string());
                Ok(())
            }
            (Cells::Text(text), target) if target.is_name() => {
                let text = text.value(i);
                let id = value::episode(text.as_bytes())?;
                row.set_id(target, id, || shown(text.trim().as_bytes()));
                Ok(())
            }
            (Cells::Text(text), _) => {
                row.set_flag(self.target, value::flag(text.value(i).as_bytes())?);
                Ok(())
            }
        }
    }
}

/// Adds what cells mean; false, after those before it, if one is bad.
fn put<C, T>(
    cells: impl IntoIterator<Item = C>,
    out: &mut Vec<T>,
    read: impl Fn(C) -> Result<T, FaultKind>,
) -> bool {
    cells.into_iter().all(|cell| {
        let value = read(cell);
        let good = value.is_ok();
        out.extend(value);
        good
    })
}

/// As [`put`], for names. Rows of an episode follow each other, and names can be long.
fn put_names<'a>(cells: impl Iterator<Item = &'a str>, out: &mut Vec<u64>) -> bool {
    let mut last: Option<(&str, u64)> = None;
    for text in cells {
        let id = match last {
            Some((same, id)) if same == text => id,
            _ => match value::episode(text.as_bytes()) {
                Ok(id) => id,
                Err(_) => return false,
            },
        };
        last = Some((text, id));
        out.push(id);
    }
    true
}

/// Puts the level of an integer into the row.
fn whole_level(row: &mut LogRow, target: Target, number: i128) -> Result<(), FaultKind> {
    match number.unsigned_abs() < 1 << 52 {
        true => row.set_number_level(target, number as f64),
        false => row.set_level(target, number.to_string().as_bytes()),
    }
}

#[inline]
fn read_list(
    values: &ArrayRef,
    numbers: &[f64],
    start: usize,
    end: usize,
    out: &mut Vec<f64>,
) -> Result<(), FaultKind> {
    let entries = &numbers[start..end];
    if values.null_count() > 0 && (start..end).any(|at| values.is_null(at)) {
        return Err(FaultKind::Missing);
    }
    if let Some(number) = entries.iter().find(|number| !number.is_finite()) {
        return Err(refused_number(*number, number.to_string()));
    }
    out.extend_from_slice(entries);
    Ok(())
}

fn convert<T: ArrowPrimitiveType, U>(
    array: &ArrayRef,
    out: &mut Vec<U>,
    as_u: impl Fn(T::Native) -> U,
) {
    out.extend(array.as_primitive::<T>().values().iter().map(|&v| as_u(v)));
}

/// The numbers of an array; those of an array of f64 are shared with it.
fn numbers(array: &ArrayRef) -> ScalarBuffer<f64> {
    match array.as_primitive_opt::<Float64Type>() {
        Some(array) => array.values().clone(),
        None => {
            let mut numbers = Vec::new();
            to_f64(array, &mut numbers);
            numbers.into()
        }
    }
}

pub(crate) fn to_f64(array: &ArrayRef, out: &mut Vec<f64>) {
    out.clear();
    match array.data_type() {
        DataType::Float64 => out.extend_from_slice(array.as_primitive::<Float64Type>().values()),
        DataType::Float32 => convert::<Float32Type, _>(array, out, f64::from),
        DataType::Float16 => convert::<Float16Type, _>(array, out, |v| v.to_f64()),
        DataType::Int8 => convert::<Int8Type, _>(array, out, f64::from),
        DataType::Int16 => convert::<Int16Type, _>(array, out, f64::from),
        DataType::Int32 => convert::<Int32Type, _>(array, out, f64::from),
        DataType::Int64 => convert::<Int64Type, _>(array, out, |v| v as f64),
        DataType::UInt8 => convert::<UInt8Type, _>(array, out, f64::from),
        DataType::UInt16 => convert::<UInt16Type, _>(array, out, f64::from),
        DataType::UInt32 => convert::<UInt32Type, _>(array, out, f64::from),
        DataType::UInt64 => convert::<UInt64Type, _>(array, out, |v| v as f64),
        DataType::Boolean => {
            let flags = array.as_boolean().values();
            out.extend(flags.iter().map(|flag| f64::from(u8::from(flag))));
        }
        // `ArrowColumn::new` rejects all other types.
        other if !quantity::to_f64(array, out) => unreachable!("a column of type {other}"),
        _ => {}
    }
}

pub(crate) fn to_i64(array: &ArrayRef, out: &mut Vec<i64>) {
    out.clear();
    match array.data_type() {
        DataType::Int8 => convert::<Int8Type, _>(array, out, i64::from),
        DataType::Int16 => convert::<Int16Type, _>(array, out, i64::from),
        DataType::Int32 => convert::<Int32Type, _>(array, out, i64::from),
        DataType::Int64 => convert::<Int64Type, _>(array, out, |v| v),
        DataType::UInt8 => convert::<UInt8Type, _>(array, out, i64::from),
        DataType::UInt16 => convert::<UInt16Type, _>(array, out, i64::from),
        DataType::UInt32 => convert::<UInt32Type, _>(array, out, i64::from),
        // Numbers from 2^63 on wrap to negative ones, so they stay distinct.
        DataType::UInt64 => convert::<UInt64Type, _>(array, out, |v| v as i64),
        // `ArrowColumn::new` rejects all other types.
        other => unreachable!("an episode column of type {other}"),
    }
}
