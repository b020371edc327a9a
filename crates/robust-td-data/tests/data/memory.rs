//! Tests logs in memory: the same rows give the same bits as in a file.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, LargeListArray, RecordBatch, StringViewArray,
    TimestampSecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use robust_td_data::{
    Error, Evaluation, Format, Log, Monitor, ReadOptions, Source, Table as Memory, evaluate,
};

use crate::table::{any_table, read_bits, text};

/// A random walk with rewards and episodes of 50 steps.
fn walk(rows: usize) -> (Vec<f64>, Vec<f64>, Vec<bool>, Vec<u64>) {
    let (mut x, mut seed) = (0.0_f64, 1_u64);
    let (mut obs, mut reward, mut end, mut episode) = (vec![], vec![], vec![], vec![]);
    for t in 0..rows {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let noise = (seed >> 40) as f64 / f64::from(1 << 24) - 0.5;
        x = 0.9 * x + noise;
        obs.extend([x, x * x]);
        reward.push(x + noise);
        end.push(t % 50 == 49);
        episode.push((t / 50) as u64);
    }
    (obs, reward, end, episode)
}

#[test]
fn a_table_gives_the_fit_of_its_file() {
    let (obs, reward, end, episode) = walk(40_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv");
    let mut csv = String::from("obs_0,obs_1,reward,terminated,episode\n");
    for t in 0..reward.len() {
        let (x, y) = (obs[2 * t], obs[2 * t + 1]);
        let end = u8::from(end[t]);
        csv += &format!("{x},{y},{},{end},{}\n", reward[t], episode[t]);
    }
    std::fs::write(&path, csv).unwrap();
    let table = || {
        let table = Memory::default().matrix("obs", obs.clone(), 2).unwrap();
        let table = table.numbers("reward", reward.clone()).unwrap();
        let table = table.flags("terminated", &end).unwrap();
        table.ids("episode", episode.clone()).unwrap()
    };
    let path = path.to_str().unwrap();
    for algorithm in ["auto", "alg1", "lstd"] {
        let of = |evaluation: Evaluation| {
            let fit = evaluation.discount(0.9).algorithm(algorithm).threads(2);
            fit.run().unwrap()
        };
        let (file, memory) = (
            of(evaluate([path])),
            of(Evaluation::new(Log::table(table()))),
        );
        assert_eq!(file.theta_bar(), memory.theta_bar(), "{algorithm}");
        assert_eq!(file.start_value(), memory.start_value(), "{algorithm}");
        assert_eq!(file.check(), memory.check(), "{algorithm}");
        assert_eq!(
            file.interval(&[0.1, 0.2]).unwrap(),
            memory.interval(&[0.1, 0.2]).unwrap()
        );
    }
    // A model of data in memory cannot be solved again together with a file.
    let fit = Evaluation::new(Log::table(table()))
        .discount(0.9)
        .run()
        .unwrap();
    let again = evaluate([path]).resume(fit.into_model()).run();
    assert!(matches!(again, Err(Error::OriginInMemory)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_table_of_any_batches_gives_the_rows_of_a_file(table in any_table(), cut in 1_usize..20, batch_rows in 1_usize..30) {
        let options = ReadOptions { batch_rows, ..ReadOptions::default() };
        let from_text = read_bits(vec![text(Format::Csv, &table.csv(false))], options.clone()).unwrap();
        for lists in [false, true] {
            let records = RecordBatch::try_from_iter(table.columns(lists)).unwrap();
            let from = (0..records.num_rows()).step_by(cut);
            let batches = from.map(|at| records.slice(at, cut.min(records.num_rows() - at))).collect();
            let memory = Memory::of_batches(records.schema(), batches).unwrap();
            let source = Source::table("log", Arc::new(memory));
            prop_assert_eq!(&read_bits(vec![source], options.clone()).unwrap(), &from_text);
        }
    }
}

#[test]
fn the_types_of_data_frames_are_read() {
    let lists = |rows: &[[f64; 2]]| -> ArrayRef {
        let rows = rows.iter().map(|row| Some(row.map(Some)));
        Arc::new(LargeListArray::from_iter_primitive::<
            arrow_array::types::Float64Type,
            _,
            _,
        >(rows))
    };
    let obs = lists(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    let names: DictionaryArray<Int32Type> = ["a", "a", "b", "b"].into_iter().collect();
    let flags = StringViewArray::from(vec!["False", "True", "False", "True"]);
    let reward = Float64Array::from(vec![1.0, 2.0, 3.0, 4.0]);
    let table = Memory::default().column("obs", obs).unwrap();
    let table = table.column("reward", Arc::new(reward)).unwrap();
    let table = table.column("terminated", Arc::new(flags)).unwrap();
    let table = table.column("episode", Arc::new(names)).unwrap();
    let report = Log::table(table).inspect().unwrap();
    assert_eq!(
        (report.rows, report.transitions, report.dimension),
        (4, 4, 2)
    );
    assert_eq!(report.episodes.count, 2);
}

#[test]
fn wrong_columns_and_cells_are_named() {
    let number = |values: Vec<Option<f64>>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
    let table = |reward: ArrayRef| {
        let table = Memory::default()
            .matrix("obs", vec![1.0, 2.0, 3.0], 1)
            .unwrap();
        table.column("reward", reward)
    };
    let run = |reward| {
        let log = Log::table(table(reward).unwrap());
        let fit = Evaluation::new(log).discount(0.9).run();
        fit.unwrap_err().to_string()
    };
    assert_eq!(
        run(number(vec![Some(1.0), None, Some(2.0)])),
        "log: row 2, column reward: the value is missing"
    );
    assert_eq!(
        run(number(vec![Some(1.0), Some(2.0), Some(f64::NAN)])),
        "log: row 3, column reward: \"NaN\" is not a finite number"
    );
    let stamps = TimestampSecondArray::from(vec![1, 2, 3]).with_timezone("Europe/Vienna");
    assert_eq!(
        run(Arc::new(stamps)),
        "log: column reward has the type Timestamp(s, \"Europe/Vienna\"), not a number; write a time as one, such as seconds since a start"
    );
    let short = table(number(vec![None])).unwrap_err().to_string();
    assert_eq!(short, "the column reward has 1 rows, but obs has 3");
    let empty = Memory::of_batches(
        Arc::new(Schema::new(vec![
            Field::new("obs", DataType::Float64, true),
            Field::new("reward", DataType::Float64, true),
        ])),
        vec![],
    );
    let none = Evaluation::new(Log::table(empty.unwrap()))
        .discount(0.9)
        .run();
    assert!(matches!(none, Err(Error::NoRows { .. })));
}

#[test]
fn a_cancelled_evaluation_stops() {
    let (obs, reward, ..) = walk(40_000);
    for (algorithm, threads) in [("auto", 1), ("auto", 2), ("alg1", 1)] {
        let table = Memory::default().matrix("obs", obs.clone(), 2).unwrap();
        let table = table.numbers("reward", reward.clone()).unwrap();
        let monitor = Monitor::default();
        let stop = monitor.clone();
        let evaluation = Evaluation::new(Log::table(table))
            .discount(0.9)
            .algorithm(algorithm)
            .threads(threads)
            .monitor(monitor.clone())
            .on_progress(move |_| stop.cancel());
        match algorithm {
            "auto" => assert!(matches!(evaluation.run(), Err(Error::Cancelled))),
            _ => {
                monitor.cancel();
                assert!(matches!(evaluation.run(), Err(Error::Cancelled)));
            }
        }
    }
}
