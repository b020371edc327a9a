//! Makes inputs that are right, to start from.

use std::io::{Cursor, Write};

use robust_td_data::{Evaluation, Format, Log};

fn rows(count: usize) -> impl Iterator<Item = [f64; 4]> {
    (0..count).map(|i| {
        let x = i as f64;
        [
            (0.7 * x).cos(),
            (1.3 * x).sin(),
            0.1 * x,
            f64::from(i % 7 == 6),
        ]
    })
}

/// A log as CSV.
pub(crate) fn log(count: usize) -> String {
    let mut text = String::from("obs_0,obs_1,reward,terminated,episode\n");
    for (i, [x, y, r, end]) in rows(count).enumerate() {
        text += &format!("{x},{y},{r},{end},{}\n", i / 7);
    }
    text
}

fn strings(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn csv() -> Vec<Vec<u8>> {
    let mut seeds = strings(&[
        "obs,reward,terminated\n\"[1, 2]\",0.5,false\n\"[3, 4]\",1,true\n",
        "# made by hand\nobs_0;reward;episode\n1;0.5;a\n2;1;a\n\n3;0;b\n",
        "obs_0,next_obs_0,reward,truncated,rho\n1,2,0,0,1\n2,3,1,1,0.5\n",
        "obs_0,reward\n1e308,1e308\n-1e308,1e308\n1e308,-1e308\n5e-324,0\n",
    ]);
    seeds.push(log(40).into_bytes());
    seeds
}

pub(crate) fn ndjson() -> Vec<Vec<u8>> {
    let mut text = String::new();
    for [x, y, r, end] in rows(30) {
        text += &format!(
            "{{\"obs\": [{x}, {y}], \"reward\": {r}, \"terminated\": {}}}\n",
            end > 0.0
        );
    }
    let mut seeds = strings(&[
        "{\"obs_0\": 1, \"reward\": 2, \"episode\": \"a\"}\n{\"reward\": 1, \"episode\": \"a\", \"obs_0\": 3}\n",
        "{\"obs\": [1], \"next_obs\": [2], \"reward\": 0, \"truncated\": true, \"extra\": {\"deep\": [[1]]}}\n",
    ]);
    seeds.push(text.into_bytes());
    seeds
}

pub(crate) fn gzip() -> Vec<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(log(60).as_bytes()).expect("memory");
    vec![encoder.finish().expect("memory")]
}

pub(crate) fn zstd() -> Vec<Vec<u8>> {
    vec![zstd::encode_all(log(60).as_bytes(), 1).expect("memory")]
}

/// Files of other writers are in the corpus.
pub(crate) fn parquet() -> Vec<Vec<u8>> {
    let target = crate::Target::find("parquet").map(crate::Target::corpus);
    let files = target.into_iter().flatten().map(|(_, bytes)| bytes);
    files.collect()
}

/// The models of several algorithms, without the frame of the file.
pub(crate) fn model() -> Vec<Vec<u8>> {
    let algorithms = [
        None,
        Some("alg1"),
        Some("alg1-auto"),
        Some("lstd"),
        Some("td-lambda"),
    ];
    let mut seeds = Vec::new();
    for algorithm in algorithms {
        let text = Cursor::new(log(80).into_bytes());
        let log = Log::stream(Format::Csv, text).expect("a stream");
        let mut evaluation = Evaluation::new(log).discount(0.9).threads(1);
        if let Some(algorithm) = algorithm {
            evaluation = evaluation.algorithm(algorithm).horizon(60).phi_inf(2.0);
        }
        if let Ok(fit) = evaluation.run() {
            let text = fit.model().to_json().expect("JSON");
            let at = text.find("\"model\":").map_or(0, |at| at + 8);
            seeds.push(text.as_bytes()[at..text.len() - 1].to_vec());
        }
    }
    seeds
}

pub(crate) fn sweep() -> Vec<Vec<u8>> {
    strings(&[
        "problem = \"two-state\"\nset = { epsilon = 0.1 }\nsteps = 1000\nruns = 4\nc = { from = 0.001, to = 1, per_decade = 2 }\n",
        "problem = \"paper-ring\"\nsteps = 10000\nsimulate = 100\nruns = 2\nscales = [0.5, 1]\nc = [0.1, 1]\nschedule = [\"decaying\", \"constant\"]\n",
        include_str!("../../experiments/figure1.toml"),
    ])
}

pub(crate) fn experiment() -> Vec<Vec<u8>> {
    strings(&[
        "problem = \"two-state\"\nvary = { epsilon = [0.3, 0.1] }\nalgorithms = [\"alg1:c=0.1\", \"bhandari-c\"]\nhorizon = 1000\nruns = 8\n",
        include_str!("../../experiments/doubling.toml"),
    ])
}

pub(crate) fn problem() -> Vec<Vec<u8>> {
    strings(&[
        "discount = 0.9\nstart = 0\ntransition = [[0.2, 0.8], [0.8, 0.2]]\nreward = [[0.2, 1.0], [-1.0, 0.4]]\nfeatures = [[0.3, 1.0], [-0.3, 1.0]]\n",
        "discount = 0.5\ntransition = \"P.csv\"\nreward = [1, 2]\nfeatures = [[1], [0.5]]\n",
        "discount = 0.9\nmdp.transition = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]\nmdp.reward = [[[0, 1], [1, 0]]]\npolicy = [[0.5, 0.5], [0.2, 0.8]]\nfeatures = [[1.0], [0.5]]\n",
    ])
}

pub(crate) fn matrix() -> Vec<Vec<u8>> {
    let mut npy = b"\x93NUMPY\x01\x00v\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    npy.extend(format!("{header:<117}\n").bytes());
    npy.extend([0.2, 0.8, 0.8, 0.2].into_iter().flat_map(f64::to_le_bytes));
    vec![npy, b"0.2,0.8\n0.8,0.2\n".to_vec()]
}

pub(crate) fn features() -> Vec<Vec<u8>> {
    strings(&[
        "standardise + bias",
        "identity | polynomial(degree=3)",
        "tiles(tilings=8, bins=8, low=0, high=1) + one-hot(obs_0, count=5)",
        "rbf(centres=3, low=0, high=1)",
        "fourier(order=2, low=-1, high=1)",
    ])
}
