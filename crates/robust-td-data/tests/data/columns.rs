//! Tests columns by name, categories and predictions by name.

use std::path::Path;

use robust_td_data::{
    ColumnMap, Error, Evaluation, FindingKind, Fit, Format, Log, Model, Purpose, evaluate, inspect,
};

/// A walk over four states, with a number beside it, in episodes of 25 rows.
struct Walk {
    state: Vec<usize>,
    x: Vec<f64>,
    reward: Vec<f64>,
}

const STATES: [&str; 4] = ["amber", "blue", "cyan", "dun"];

fn walk(rows: usize) -> Walk {
    let mut seed = 7_u64;
    let mut draw = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / (1_u64 << 31) as f64
    };
    let mut at = 0;
    let mut walk = Walk {
        state: Vec::new(),
        x: Vec::new(),
        reward: Vec::new(),
    };
    for _ in 0..rows {
        let x = (1000.0 * draw()).round() / 256.0;
        walk.state.push(at);
        walk.x.push(x);
        walk.reward.push(at as f64 + x / 4.0);
        at = (at + (4.0 * draw()) as usize) % 4;
    }
    walk
}

impl Walk {
    fn csv(&self, level: impl Fn(usize) -> String) -> String {
        let rows = self.state.iter().enumerate().map(|(t, &state)| {
            format!(
                "{},{},{},{}\n",
                t / 25,
                self.x[t],
                level(state),
                self.reward[t]
            )
        });
        format!("episode,x,state,reward\n{}", rows.collect::<String>())
    }

    /// The same log with the columns in another order.
    fn permuted(&self) -> String {
        let rows = self.state.iter().enumerate().map(|(t, &state)| {
            format!(
                "{},{},{t},{},{}\n",
                self.reward[t],
                STATES[state],
                self.x[t],
                t / 25
            )
        });
        format!("reward,state,t,x,episode\n{}", rows.collect::<String>())
    }

    fn ndjson(&self) -> String {
        let rows = self.state.iter().enumerate().map(|(t, &state)| {
            format!(
                "{{\"state\": \"{}\", \"x\": {}, \"reward\": {}, \"episode\": {}}}\n",
                STATES[state],
                self.x[t],
                self.reward[t],
                t / 25
            )
        });
        rows.collect()
    }
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn text(state: usize) -> String {
    STATES[state].to_owned()
}

fn bits(fit: &Fit) -> Vec<u64> {
    fit.theta_bar().iter().map(|x| x.to_bits()).collect()
}

const SPEC: &str = "standardise(x) + one-hot(state) + bias";

fn fit(file: &str, spec: &str) -> Fit {
    evaluate([file]).discount(0.9).features(spec).run().unwrap()
}

fn refused(evaluation: Evaluation) -> String {
    evaluation.discount(0.9).run().unwrap_err().to_string()
}

#[test]
fn texts_give_the_answer_of_integer_codes() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(2000);
    let texts = write(folder.path(), "texts.csv", &walk.csv(text));
    let codes = write(folder.path(), "codes.csv", &walk.csv(|s| s.to_string()));
    let by_text = fit(&texts, SPEC);
    let by_name = fit(&codes, SPEC);
    let columns = ColumnMap::parse(["obs=x,state"]).unwrap();
    let by_number = |spec| {
        let evaluation = evaluate([&codes]).columns(columns.clone());
        evaluation.discount(0.9).features(spec).run().unwrap()
    };
    assert_eq!(bits(&by_text), bits(&by_name));
    // The map of before, with other columns left out by hand.
    let before = by_number("standardise + one-hot(column=1) + bias");
    assert_eq!(before.theta_bar().len(), 7);
    assert_eq!(
        by_text.feature_names(),
        [
            "x",
            "one-hot(state=amber)",
            "one-hot(state=blue)",
            "one-hot(state=cyan)",
            "one-hot(state=dun)",
            "bias"
        ]
    );
    assert_eq!(by_name.feature_names()[1], "one-hot(state=0)");
    let own = by_number("standardise(x) + one-hot(column=1) + bias");
    assert_eq!(bits(&own), bits(&by_text));
    let values = by_text.predict(&texts).unwrap();
    assert_eq!(values, own.predict(&codes).unwrap());
    // The answer is exact: rewards are linear in the features, and the next state does not depend on x.
    assert!(by_text.converged().unwrap());
}

#[test]
fn formats_order_and_threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(1500);
    let csv = write(folder.path(), "log.csv", &walk.csv(text));
    let one = fit(&csv, SPEC);
    for (name, content) in [
        ("permuted.csv", walk.permuted()),
        ("log.ndjson", walk.ndjson()),
    ] {
        let file = write(folder.path(), name, &content);
        assert_eq!(bits(&fit(&file, SPEC)), bits(&one), "{name}");
        assert_eq!(
            one.predict(&file).unwrap(),
            one.predict(&csv).unwrap(),
            "{name}"
        );
    }
    for threads in [1, 2, 3] {
        let fit = evaluate([&csv])
            .discount(0.9)
            .features(SPEC)
            .threads(threads)
            .run();
        assert_eq!(bits(&fit.unwrap()), bits(&one));
    }
    // Patterns, and the same log in two files.
    assert_eq!(
        bits(&fit(&csv, "standardise(x*) + one-hot(st?te) + bias")),
        bits(&one)
    );
    let all = walk.csv(text);
    let (header, rows) = all.split_once('\n').unwrap();
    let cut = rows.match_indices('\n').nth(699).unwrap().0 + 1;
    let a = write(
        folder.path(),
        "a.csv",
        &format!("{header}\n{}", &rows[..cut]),
    );
    let b = write(
        folder.path(),
        "b.csv",
        &format!("{header}\n{}", &rows[cut..]),
    );
    let two = evaluate([&a, &b])
        .discount(0.9)
        .features(SPEC)
        .run()
        .unwrap();
    assert_eq!(bits(&two), bits(&one));
    // Resumed, also from a saved model.
    let first = fit(&a, SPEC);
    let saved = Model::from_json(&first.model().to_json().unwrap()).unwrap();
    let both = evaluate([&b]).resume(saved).run().unwrap();
    assert_eq!(bits(&both), bits(&one));
}

#[test]
fn a_stream_takes_levels_that_are_given() {
    let walk = walk(800);
    let stream = || Log::stream(Format::Ndjson, std::io::Cursor::new(walk.ndjson())).unwrap();
    let message =
        refused(Evaluation::new(stream()).features("identity(x) + one-hot(state) + bias"));
    assert!(message.contains("levels=a/b/c"), "{message}");
    let message = refused(Evaluation::new(stream()).features("one-hot(state; min_count=3)"));
    assert!(message.contains("levels=a/b/c"), "{message}");
    let spec = "identity(x) + one-hot(state; levels=amber/blue/cyan/dun) + bias";
    let streamed = Evaluation::new(stream())
        .features(spec)
        .discount(0.9)
        .run()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "log.csv", &walk.csv(text));
    let whole = fit(&file, spec);
    for (a, b) in streamed
        .predict(&file)
        .unwrap()
        .values
        .iter()
        .zip(&whole.predict(&file).unwrap().values)
    {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0));
    }
    // A stream continues with the columns and levels of its model.
    let all = walk.ndjson();
    let cut = all.match_indices('\n').nth(399).unwrap().0 + 1;
    let part =
        |text: &str| Log::stream(Format::Ndjson, std::io::Cursor::new(text.to_owned())).unwrap();
    let half = Evaluation::new(part(&all[..cut]))
        .features(spec)
        .discount(0.9)
        .run()
        .unwrap();
    let model = Model::from_json(&half.model().to_json().unwrap()).unwrap();
    let resumed = Evaluation::new(part(&all[cut..]))
        .resume(model)
        .run()
        .unwrap();
    assert_eq!(bits(&resumed), bits(&streamed));
}

#[test]
fn a_learner_resumes_and_predicts_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(600);
    let file = write(folder.path(), "log.csv", &walk.csv(text));
    let permuted = write(folder.path(), "permuted.csv", &walk.permuted());
    let learner = evaluate([&file])
        .discount(0.9)
        .features(SPEC)
        .algorithm("alg1")
        .c(0.1);
    let fit = learner.run().unwrap();
    let saved = Fit::new(
        Model::from_json(&fit.model().to_json().unwrap()).unwrap(),
        0.95,
    )
    .unwrap();
    assert_eq!(
        saved.predict(&permuted).unwrap(),
        fit.predict(&file).unwrap()
    );
}

#[test]
fn next_columns_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(500);
    let mut rows = String::from("x,state,reward,next_state,next_x\n");
    for t in 0..499 {
        let (here, next) = (STATES[walk.state[t]], STATES[walk.state[t + 1]]);
        rows += &format!(
            "{},{here},{},{next},{}\n",
            walk.x[t],
            walk.reward[t],
            walk.x[t + 1]
        );
    }
    let explicit = write(folder.path(), "explicit.csv", &rows);
    let found = fit(&explicit, SPEC);
    assert_eq!(found.steps(), 499);
    let report = Log::files([&explicit]).inspect().unwrap();
    assert!(report.schema.next_obs);
    assert_eq!(report.categories[0].levels, 4);
    // The same transitions by pairing; only the moments of the map have one row more.
    let plain = rows
        .lines()
        .map(|line| line.rsplitn(3, ',').nth(2).unwrap());
    let mut plain: String = plain.map(|line| format!("{line}\n")).collect();
    plain += &format!("{},{},0\n", walk.x[499], STATES[walk.state[499]]);
    let paired = fit(&write(folder.path(), "paired.csv", &plain), SPEC);
    assert_eq!(paired.steps(), 499);
    for (a, b) in found
        .predict(&explicit)
        .unwrap()
        .values
        .iter()
        .zip(&paired.predict(&explicit).unwrap().values)
    {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0));
    }
    let lacking = rows.replace("next_x", "other");
    let lacking = write(folder.path(), "lacking.csv", &lacking);
    let message = refused(evaluate([lacking]).features(SPEC));
    assert!(
        message.contains("no column next_x for the role next_obs"),
        "{message}"
    );
}

#[test]
fn a_wrong_name_is_refused_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "log.csv", &walk(100).csv(text));
    for (spec, expected) in [
        (
            "standardise(x) + one-hot(sate) + bias",
            "no column is named sate; did you mean state?",
        ),
        ("standardise(num_*)", "no column matches num_*"),
        (
            "standardise(x, reward)",
            "the column reward cannot be both obs and reward",
        ),
    ] {
        let message = refused(evaluate([&file]).features(spec));
        assert!(message.contains(expected), "{message}");
    }
    let message = refused(evaluate([&file]).features("standardise(y)"));
    assert!(message.contains("episode, x, state, reward"), "{message}");
    let message = refused(evaluate([&file]));
    assert!(
        message.contains("such as standardise(x) + one-hot(state) + bias"),
        "{message}"
    );
    let message = refused(evaluate([&file]).features("standardise(x, state)"));
    assert!(
        message.contains("state has text, not numbers; use one-hot(state)"),
        "{message}"
    );
}

#[test]
fn predictions_need_every_column_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(1000);
    let file = write(folder.path(), "log.csv", &walk.csv(text));
    let fit = fit(&file, SPEC);
    let new = write(folder.path(), "new.csv", "t,state,x\n1,blue,0.5\n2,dun,2\n");
    let values = fit.predict(&new).unwrap();
    assert!(values.unseen.is_none() && values.values.len() == 2);
    let swapped = write(folder.path(), "swapped.csv", "x,state\n0.5,blue\n2,dun\n");
    assert_eq!(fit.predict(&swapped).unwrap(), values);
    let renamed = write(folder.path(), "renamed.csv", "a,b\n0.5,blue\n2,dun\n");
    let by_hand = ColumnMap::parse(["obs=a,b"]).unwrap();
    assert_eq!(
        fit.predict_log(Log::files([&renamed]).columns(by_hand))
            .unwrap(),
        values
    );
    let lacking = write(folder.path(), "lacking.csv", "x,stat\n0.5,blue\n");
    let message = fit.predict(&lacking).unwrap_err().to_string();
    assert!(message.contains("no column is named state"), "{message}");
}

/// Without a map that names them, and the same to the bit as plain words in the same order.
#[test]
fn texts_with_separators_and_quotes_are_levels() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(500);
    let odd = ["a,b", "say \"hi\"", "\"quoted\"", ",x"];
    let quoted = |state: usize| format!("\"{}\"", odd[state].replace('"', "\"\""));
    let plain = |state: usize| ["c", "d", "a", "b"][state].to_owned();
    let ndjson = walk.state.iter().enumerate().map(|(t, &state)| {
        let (x, reward, episode) = (walk.x[t], walk.reward[t], t / 25);
        let state = odd[state];
        format!(
            "{{\"episode\": {episode}, \"x\": {x}, \"state\": {state:?}, \"reward\": {reward}}}\n"
        )
    });
    let files = [
        ("quoted.csv", walk.csv(quoted)),
        ("plain.csv", walk.csv(plain)),
        ("log.ndjson", ndjson.collect()),
    ];
    let [quoted, plain, ndjson] = files.map(|(name, text)| {
        let file = write(folder.path(), name, &text);
        let columns = ColumnMap::parse(["obs=x,state"]).unwrap();
        let log = Log::files([file]).columns(columns);
        Evaluation::new(log).discount(0.9).run().unwrap()
    });
    assert_eq!(bits(&quoted), bits(&plain));
    assert_eq!(bits(&quoted), bits(&ndjson));
    let names = quoted.feature_names();
    assert!(names.contains(&"one-hot(state=,x)".to_owned()), "{names:?}");
    assert_eq!(names, ndjson.feature_names());
}

#[test]
fn a_level_that_the_log_lacks_is_reported_and_unbounded() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "log.csv", &walk(1000).csv(text));
    let fit = fit(&file, SPEC);
    let new = write(
        folder.path(),
        "new.csv",
        "x,state\n0.5,blue\n0.5,red\n1,green\n",
    );
    let found = fit.predict(&new).unwrap();
    assert!(found.lower[0].is_finite() && found.upper[0].is_finite());
    for i in [1, 2] {
        assert_eq!(
            (found.lower[i], found.upper[i]),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
    }
    let unseen = found.unseen.unwrap();
    assert_eq!(
        (unseen.rows, unseen.row, unseen.level.as_str()),
        (2, 2, "\"red\"")
    );
    assert_eq!(unseen.finding().kind, FindingKind::UnseenLevels);
    // Without its own feature, the value is that of the others.
    let bias = fit.theta_bar()[5];
    let scale = found.values[2] - found.values[1];
    assert!((found.values[1] - bias).abs() < (found.values[0] - bias).abs() + scale.abs() * 10.0);
}

#[test]
fn rare_levels_are_joined_and_missing_ones_are_a_level() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(1000);
    let mut n = 0;
    let mut log = String::from("x,city,reward\n");
    for t in 0..1000 {
        let city = match t {
            10 | 20 => "Oslo",
            30 => "Bern",
            t if t % 50 == 3 => "",
            _ => STATES[walk.state[t]],
        };
        n += usize::from(city.is_empty());
        log += &format!("{},{city},{}\n", walk.x[t], walk.reward[t]);
    }
    let file = write(folder.path(), "log.csv", &log);
    let message = refused(evaluate([&file]).features("one-hot(city)"));
    assert!(message.contains("row 4 (line 5), column city"), "{message}");
    assert!(
        message.contains("one-hot(city; missing=level)"),
        "{message}"
    );
    let fit = fit(
        &file,
        "standardise(x) + one-hot(city; min_count=20, missing=level) + bias",
    );
    let names = fit.feature_names();
    assert_eq!(
        names[5..],
        ["one-hot(city is missing)", "one-hot(city is rare)", "bias"]
    );
    let new = write(
        folder.path(),
        "new.csv",
        "x,city\n1,Oslo\n1,Bern\n1,\n1,Rome\n",
    );
    let found = fit.predict(&new).unwrap();
    assert_eq!(found.values[0], found.values[1]);
    assert_ne!(found.values[0], found.values[2]);
    let unseen = found.unseen.unwrap();
    assert_eq!((unseen.rows, unseen.row), (1, 4));
    assert_eq!(n, 20);
    let report = inspect([&file]).unwrap();
    assert_eq!(
        (report.categories[0].levels, report.categories[0].missing),
        (6, 20)
    );
}

#[test]
fn columns_of_text_are_part_of_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(1000);
    let log = walk
        .csv(text)
        .replace("episode,x,state,reward", "episode,obs_0,obs_1,reward");
    let file = write(folder.path(), "log.csv", &log);
    let by_default = evaluate([&file]).discount(0.9).run().unwrap();
    assert_eq!(
        by_default.report().features,
        "standardise + one-hot(obs_1) + bias"
    );
    let named = fit(&file, "standardise(obs_0) + one-hot(obs_1) + bias");
    assert_eq!(bits(&by_default), bits(&named));
    let mapped = write(folder.path(), "mapped.csv", &walk.csv(text));
    let columns = ColumnMap::parse(["obs=x,state"]).unwrap();
    let mapped = evaluate([&mapped])
        .columns(columns)
        .discount(0.9)
        .run()
        .unwrap();
    assert_eq!(bits(&mapped), bits(&named));
    assert!(
        !mapped
            .findings()
            .iter()
            .any(|found| found.kind == FindingKind::LowRank)
    );
    // A map without names takes the numbers only; text must be in some map.
    let unnamed = fit(&file, "standardise + one-hot(column=1) + bias");
    assert_eq!(bits(&unnamed), bits(&named));
    let message = refused(evaluate([&file]).features("standardise + bias"));
    assert!(
        message.contains("column obs_1 has text, and no map uses it; add one-hot(obs_1)"),
        "{message}"
    );
    // Typical rows show the text.
    let rows = by_default.report().typical_rows;
    assert!(rows.iter().all(|row| matches!(&row.obs[1], robust_td_data::Entry::Text(level) if STATES.contains(&level.as_str()))));
}

#[test]
fn one_wrong_cell_does_not_make_a_category() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..50).map(|t| format!("{},1\n", t % 7)).collect();
    let file = write(
        folder.path(),
        "log.csv",
        &format!("obs_0,reward\noops,1\n{rows}"),
    );
    let message = refused(evaluate([&file]));
    assert!(
        message.contains("row 1 (line 2), column obs_0: \"oops\" is not a number"),
        "{message}"
    );
    assert!(message.contains("use one-hot(obs_0)"), "{message}");
    let skipped = evaluate([&file])
        .skip_bad_rows(1)
        .discount(0.9)
        .run()
        .unwrap();
    assert_eq!(skipped.bad_rows(), 1);
    // Text first, numbers after what was looked at.
    let words: String = (0..300).map(|t| format!("{},1\n", STATES[t % 4])).collect();
    let file = write(
        folder.path(),
        "late.csv",
        &format!("obs_0,reward\n{words}17,1\n"),
    );
    let message = refused(evaluate([&file]));
    assert!(
        message.contains("17 is a number, but the first rows are text"),
        "{message}"
    );
    assert_eq!(fit(&file, "one-hot(obs_0)").theta_bar().len(), 5);
}

#[test]
fn integers_of_any_size_are_exact_in_a_category() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ["9007199254740992", "9007199254740993", "9007199254740994"];
    let rows: String = (0..300)
        .map(|t| format!("{},{}\n", ids[t % 3], t % 3))
        .collect();
    let file = write(folder.path(), "log.csv", &format!("id,reward\n{rows}"));
    let fit = fit(&file, "one-hot(id)");
    assert_eq!(fit.theta_bar().len(), 3);
    assert_eq!(fit.feature_names()[1], "one-hot(id=9007199254740993)");
    let report = inspect([&file]).unwrap();
    let rounded = |found: &&robust_td_data::Finding| found.kind == FindingKind::RoundedIntegers;
    let found = report.findings.iter().find(rounded).unwrap();
    assert!(found.message.contains("one-hot(id)"), "{}", found.message);
}

#[test]
fn sizes_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(1025);
    let file = write(
        folder.path(),
        "long.csv",
        &format!("city,reward\na,1\n{long},1\n"),
    );
    let message = refused(evaluate([&file]).features("one-hot(city)"));
    assert!(
        message.contains("row 2 (line 3), column city") && message.contains("1024 bytes"),
        "{message}"
    );
    let rows: String = (0..100_001).map(|t| format!("u{t},1\n")).collect();
    let file = write(folder.path(), "many.csv", &format!("user,reward\n{rows}"));
    let message = refused(evaluate([&file]).features("one-hot(user)"));
    assert!(
        message.contains("column user has more than 100000"),
        "{message}"
    );
}

#[test]
fn elements_of_a_list_have_names() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walk(400);
    let lists: String = (0..400)
        .map(|t| {
            format!(
                "{{\"obs\": [{}, {}], \"reward\": {}}}\n",
                walk.x[t], walk.state[t], walk.reward[t]
            )
        })
        .collect();
    let file = write(folder.path(), "log.ndjson", &lists);
    let named = fit(&file, "standardise(obs[0]) + one-hot(obs[1]) + bias");
    let by_number = fit(&file, "standardise(obs[0]) + one-hot(column=1) + bias");
    assert_eq!(bits(&named), bits(&by_number));
    let flat: String = (0..400)
        .map(|t| format!("{},{}\n", walk.x[t], walk.state[t]))
        .collect();
    let flat = write(folder.path(), "flat.csv", &format!("obs_0,obs_1\n{flat}"));
    assert_eq!(
        named.predict(&flat).unwrap().values,
        named.predict(&file).unwrap().values
    );
}

#[test]
fn what_is_read_does_not_depend_on_the_model_only() -> Result<(), Error> {
    // A model of plain columns predicts lists, as before.
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..200)
        .map(|t| format!("{},{},{}\n", t % 5, t % 3, t % 5))
        .collect();
    let file = write(
        folder.path(),
        "log.csv",
        &format!("obs_0,obs_1,reward\n{rows}"),
    );
    let fit = evaluate([&file]).discount(0.5).run()?;
    let lists = write(
        folder.path(),
        "lists.ndjson",
        "{\"obs\": [1, 2]}\n{\"obs\": [4, 0]}\n",
    );
    let flat = write(folder.path(), "flat.csv", "obs_1,obs_0\n2,1\n0,4\n");
    assert_eq!(fit.predict(&lists)?, fit.predict(&flat)?);
    let mut log = Log::files([&flat]);
    assert_eq!(
        log.open(Purpose::Predict)?.schema().observations,
        ["obs_0", "obs_1"]
    );
    Ok(())
}
