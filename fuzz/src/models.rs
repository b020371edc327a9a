//! Tries the contents of a model file, with a digest that belongs to them.

use robust_td_data::{Fit, Model};

use crate::{Verdict, refused};

pub(crate) fn model(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    let sealed = Model::sealed(text);
    let model = match Model::from_json(&sealed) {
        Ok(model) => model,
        Err(error) => return refused(&error.to_string(), ""),
    };
    let saved = model.to_json().expect("JSON");
    if let Ok(again) = Model::from_json(&saved) {
        assert_eq!(
            again.to_json().expect("JSON"),
            saved,
            "a model reads back to the same bits"
        );
    }
    if model.features().outputs() > 1 << 16 {
        return Verdict::Accepted;
    }
    let observation = vec![0.25; model.features().inputs()];
    if let Ok(fit) = Fit::new(model, 0.9) {
        let _ = (fit.value(&observation), fit.interval(&observation));
        let _ = (
            fit.start_value(),
            fit.uncertainty(),
            fit.findings(),
            fit.report(),
        );
    }
    Verdict::Accepted
}
