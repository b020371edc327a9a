//! Tries the contents of a model file, with a digest that belongs to them.

use std::io::Cursor;

use robust_td_data::{Evaluation, Fit, Format, Log, Model};

use crate::{Verdict, refused, seeds};

/// More features than this are not computed with here.
const MOST: usize = 1 << 16;

pub(crate) fn model(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    let model = match Model::from_json(&Model::sealed(text)) {
        Ok(model) => model,
        Err(error) => return refused(&error.to_string(), ""),
    };
    let saved = model.to_json().expect("JSON");
    let again = Model::from_json(&saved);
    let again = again.unwrap_or_else(|error| panic!("a model does not read back: {error}"));
    assert_eq!(
        again.to_json().expect("JSON"),
        saved,
        "a model reads back to the same bits"
    );
    if model.features().outputs() > MOST {
        return Verdict::Accepted;
    }
    let observation = vec![0.25; model.features().inputs()];
    let [fit, restored] = [model, again].map(|model| Fit::new(model, 0.9));
    let (fit, restored) = match (fit, restored) {
        (Ok(fit), Ok(restored)) => (fit, restored),
        (Err(one), Err(other)) => {
            assert_eq!(one.to_string(), other.to_string());
            return refused(&one.to_string(), "");
        }
        _ => panic!("a restored model differs"),
    };
    let shown = |fit: &Fit| {
        let value = fit.value(&observation).map(f64::to_bits).ok();
        let interval = fit.interval(&observation).ok();
        let deviation = fit.return_deviation(&observation).ok();
        let about = (fit.start_value(), fit.uncertainty(), fit.findings());
        format!("{value:?} {interval:?} {deviation:?} {about:?}")
    };
    assert_eq!(shown(&fit), shown(&restored));
    assert!(serde_json::to_string(&fit.report()).is_ok());
    if bytes.len().is_multiple_of(8) {
        let rows = Cursor::new(seeds::log(20).into_bytes());
        let log = Log::stream(Format::Csv, rows).expect("a stream");
        let resumed = Evaluation::new(log).threads(1).resume(fit.into_model());
        if let Err(error) = resumed.run() {
            assert!(error.is_invalid_input(), "{error:?}");
            refused(&error.to_string(), "");
        }
    }
    Verdict::Accepted
}
