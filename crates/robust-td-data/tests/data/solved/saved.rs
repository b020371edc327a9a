//! Tests that a saved answer is restored to the bit, and that a damaged one is refused.

use robust_td_data::{Fit, Model};
use serde_json::{Value, json};

use super::log::{Folder, csv, episodes, fit, walk};

#[test]
fn a_restored_answer_is_the_same_to_the_bit() {
    let folder = Folder::new();
    let continuous = csv(&episodes(2000, 2));
    let states = walk(8, 300, 2);
    let plain: String = (states.lines())
        .map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    for (text, features) in [
        (&continuous, "standardise + bias"),
        (&states, "one-hot(count=12) + bias"),
        (&states, "one-hot(count=5000)"),
        (&plain, "one-hot"),
        (&plain, "identity"),
    ] {
        let fit = fit(text, features);
        let path = folder.path("model.json");
        fit.save(&path).unwrap();
        let restored = Fit::load(&path).unwrap();
        let file = folder.write("new.csv", text);
        let [a, b] = [&fit, &restored].map(|fit| fit.predict(&file).unwrap());
        assert_eq!(a.values.len(), text.lines().count() - 1);
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&a.values), bits(&b.values), "{features}");
        assert_eq!(bits(&a.lower), bits(&b.lower), "{features}");
        assert_eq!(bits(&a.upper), bits(&b.upper), "{features}");
        assert_eq!(fit.start_value(), restored.start_value());
        assert_eq!(fit.monte_carlo(), restored.monte_carlo());
        assert_eq!(fit.check(), restored.check());
        assert_eq!(fit.findings(), restored.findings());
        assert_eq!(fit.feature_names(), restored.feature_names());
        assert_eq!(fit.steps(), restored.steps());
        assert_eq!(fit.converged(), restored.converged());
    }
}

/// A change of a model's text.
type Damage = (&'static str, fn(&mut Value));

#[test]
fn damaged_answers_are_refused_without_a_panic() {
    let damages: [Damage; 22] = [
        ("theta too short", |m| {
            drop(m["theta"].as_array_mut().unwrap().pop())
        }),
        ("theta too long", |m| {
            m["theta"].as_array_mut().unwrap().push(json!(1.0))
        }),
        ("theta not finite", |m| m["theta"][0] = json!("inf")),
        ("theta null", |m| m["theta"][0] = Value::Null),
        ("no theta", |m| {
            drop(m.as_object_mut().unwrap().remove("theta"))
        }),
        ("no groups", |m| m["influence"]["groups"] = json!(0)),
        ("negative groups", |m| m["influence"]["groups"] = json!(-4)),
        ("other groups", |m| m["influence"]["groups"] = json!(7)),
        ("too many groups", |m| {
            m["influence"]["groups"] = json!(1_u64 << 60)
        }),
        ("influence too short", |m| {
            drop(m["influence"]["rows"].as_array_mut().unwrap().pop());
        }),
        ("features of the influence", |m| {
            m["influence"]["features"] = json!([[{"clusters": 1.0, "rows": 1.0}, 1.0]]);
        }),
        ("scale too short", |m| {
            drop(m["identified"]["scale"].as_array_mut().unwrap().pop());
        }),
        ("never of another length", |m| {
            m["identified"]["never"] = json!([1.0])
        }),
        ("columns", |m| {
            m["assessment"]["columns"] = json!(["a", "b", "c", "d"])
        }),
        ("no columns", |m| m["assessment"]["columns"] = json!([])),
        ("starts too short", |m| {
            m["assessment"]["starts"]["features"] = json!([1.0])
        }),
        ("contributions", |m| {
            m["assessment"]["starts"]["contributions"] = json!([1.0, 2.0]);
        }),
        ("negative starts", |m| {
            m["assessment"]["starts"]["count"] = json!(-1)
        }),
        ("discount", |m| m["discount"] = json!(1.5)),
        ("an unknown key", |m| m["wisdom"] = json!(1)),
        ("an unknown solver", |m| {
            m["facts"]["solver"] = json!("guess")
        }),
        ("negative transitions", |m| {
            m["facts"]["transitions"] = json!(-1)
        }),
    ];
    let text = fit(&csv(&episodes(2000, 2)), "identity + bias");
    let text = text.model().to_json().unwrap();
    Model::from_json(&text).unwrap();
    for (what, damage) in damages {
        let mut model: Value = serde_json::from_str(&text).unwrap();
        damage(&mut model["model"]["solved"]);
        let refused = Model::from_json(&Model::sealed(&model["model"].to_string()));
        let message = refused
            .err()
            .unwrap_or_else(|| panic!("{what} is accepted"));
        assert!(!message.to_string().contains('\n'), "{what}: {message}");
    }
    let mut both: Value = serde_json::from_str(&text).unwrap();
    both["model"]["learned"] = both["model"]["solved"].clone();
    assert!(Model::from_json(&Model::sealed(&both["model"].to_string())).is_err());
}

/// Numbers that a model's checks cannot tell from others must not stop the program.
#[test]
fn nonsense_that_fits_does_not_panic() {
    for (text, features) in [
        (csv(&episodes(2000, 2)), "identity + bias"),
        (walk(8, 300, 2), "one-hot(count=12) + bias"),
    ] {
        let fit = fit(&text, features);
        let text = fit.model().to_json().unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        for number in [-5.0, 0.0, 1e-300, 1e300] {
            let changes: [fn(&mut Value, f64); 4] = [
                |m, x| m["influence"]["log"]["clusters"] = json!(x),
                |m, x| m["influence"]["log"]["rows"] = json!(x),
                |m, x| m["influence"]["rows"][1] = json!(x),
                |m, x| {
                    if let Some(first) = m["influence"]["features"].get_mut(0) {
                        first[0]["clusters"] = json!(x);
                        first[1] = json!(x);
                    }
                },
            ];
            for change in changes {
                let mut model = whole.clone();
                change(&mut model["model"]["solved"], number);
                let Ok(model) = Model::from_json(&Model::sealed(&model["model"].to_string()))
                else {
                    continue;
                };
                let fit = Fit::new(model, 0.9).unwrap();
                let _ = (fit.start_value(), fit.uncertainty(), fit.findings());
                let obs = vec![1.0; fit.model().features().inputs()];
                let _ = fit.interval(&obs).unwrap();
            }
        }
    }
}
