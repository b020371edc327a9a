//! Tests the evaluation of policies that were not followed, against straightforward computations on the same log.

use std::fmt::Write as _;

use robust_td_core::random::Stream;
use robust_td_data::{
    Evaluation, FindingKind, Fit, Log, OffPolicyEstimate, OffPolicyMethod, Table, TargetKind,
    evaluate,
};
use tempfile::TempDir;

const STATES: usize = 4;
const ACTIONS: usize = 3;
const DISCOUNT: f64 = 0.9;

/// What the policy that is followed, another one and one between them do in a state.
fn policies(state: usize) -> [[f64; ACTIONS]; 3] {
    let logged = [
        [0.5, 0.3, 0.2],
        [0.2, 0.5, 0.3],
        [0.25, 0.25, 0.5],
        [0.4, 0.4, 0.2],
    ];
    let target = [
        [0.2, 0.2, 0.6],
        [0.6, 0.3, 0.1],
        [0.5, 0.25, 0.25],
        [0.1, 0.5, 0.4],
    ];
    let (logged, target) = (logged[state], target[state]);
    let mild = std::array::from_fn(|a| 0.8 * logged[a] + 0.2 * target[a]);
    [logged, target, mild]
}

pub fn draw(stream: &mut Stream, weights: &[f64]) -> usize {
    let (mut left, last) = (stream.uniform(), weights.len() - 1);
    for (k, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return k;
        }
    }
    last
}

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub episode: usize,
    pub state: usize,
    pub action: usize,
    pub reward: f64,
    pub next: usize,
    pub terminated: bool,
    pub truncated: bool,
}

/// Episodes that terminate, or are cut.
pub fn rows(episodes: usize, cut: f64, seed: u64) -> Vec<Row> {
    let mut stream = Stream::new(seed, 0);
    let mut rows = Vec::new();
    for episode in 0..episodes {
        let mut state = draw(&mut stream, &[0.4, 0.3, 0.2, 0.1]);
        loop {
            let action = draw(&mut stream, &policies(state)[0]);
            let step = draw(&mut stream, &[0.5, 0.3, 0.2]);
            let next = (state + action * 2 + step) % STATES;
            let reward = (state * 2) as f64 - action as f64 + stream.uniform() - 0.5;
            let end = stream.uniform();
            let terminated = end < 0.15;
            let truncated = !terminated && end < 0.15 + cut;
            rows.push(Row {
                episode,
                state,
                action,
                reward,
                next,
                terminated,
                truncated,
            });
            if terminated || truncated {
                break;
            }
            state = next;
        }
    }
    rows
}

/// The log as CSV with next observations, or with a last row for the final observation of an episode that was cut.
pub fn csv(rows: &[Row], next_obs: bool, policy: usize) -> String {
    let mut text = String::from(
        "episode,obs_0,action,reward,terminated,truncated,behaviour_prob,target_0,target_1,target_2",
    );
    if next_obs {
        text += ",next_obs_0,next_target_0,next_target_1,next_target_2";
    }
    text.push('\n');
    let joined = |state: usize| policies(state)[policy].map(|p| p.to_string()).join(",");
    for row in rows {
        let chance = policies(row.state)[0][row.action];
        let Row {
            episode,
            state,
            action,
            reward,
            next,
            terminated,
            truncated,
        } = row;
        let flags = format!("{},{}", u8::from(*terminated), u8::from(*truncated));
        write!(
            text,
            "{episode},{state},{action},{reward},{flags},{chance},{}",
            joined(*state)
        )
        .unwrap();
        match (next_obs, truncated) {
            (true, _) => writeln!(text, ",{next},{}", joined(*next)).unwrap(),
            (false, false) => text.push('\n'),
            (false, true) => {
                writeln!(text, "\n{episode},{next},0,0,0,0,0.5,{}", joined(*next)).unwrap();
            }
        }
    }
    text
}

pub fn fit(text: &str) -> Fit {
    evaluated(text, |evaluation| evaluation)
}

pub fn evaluated(text: &str, set: impl Fn(Evaluation) -> Evaluation) -> Fit {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("log.csv");
    std::fs::write(&file, text).unwrap();
    let evaluation = evaluate([file.to_str().unwrap()])
        .discount(DISCOUNT)
        .features("one-hot(column=0)")
        .threads(1);
    set(evaluation).run().unwrap()
}

fn estimates(fit: &Fit) -> Vec<OffPolicyEstimate> {
    fit.off_policy().unwrap().estimates
}

pub fn by(fit: &Fit, method: OffPolicyMethod) -> OffPolicyEstimate {
    let found = estimates(fit)
        .into_iter()
        .find(|found| found.method == method);
    found.unwrap_or_else(|| panic!("no {method:?} in {fit:?}"))
}

/// Q of the empirical decision process under a policy, by iteration.
fn model_based(rows: &[Row], policy: usize) -> [[f64; ACTIONS]; STATES] {
    let mut q = [[0.0; ACTIONS]; STATES];
    for _ in 0..2000 {
        let value = |state: usize| -> f64 {
            (0..ACTIONS)
                .map(|a| policies(state)[policy][a] * q[state][a])
                .sum()
        };
        let (mut sums, mut counts) = ([[0.0; ACTIONS]; STATES], [[0.0; ACTIONS]; STATES]);
        for row in rows {
            let next = if row.terminated { 0.0 } else { value(row.next) };
            sums[row.state][row.action] += row.reward + DISCOUNT * next;
            counts[row.state][row.action] += 1.0;
        }
        for s in 0..STATES {
            for a in 0..ACTIONS {
                q[s][a] = sums[s][a] / counts[s][a];
            }
        }
    }
    q
}

#[test]
fn least_squares_is_the_value_in_the_empirical_decision_process() {
    let rows = rows(300, 0.05, 1);
    let q = model_based(&rows, 1);
    let v = |s: usize| -> f64 { (0..ACTIONS).map(|a| policies(s)[1][a] * q[s][a]).sum() };
    let mut starts: Vec<usize> = rows
        .iter()
        .filter(|row| row.episode == 0)
        .map(|row| row.state)
        .take(1)
        .collect();
    starts.extend(
        rows.windows(2)
            .filter(|pair| pair[0].episode != pair[1].episode)
            .map(|pair| pair[1].state),
    );
    let value = starts.iter().map(|&s| v(s)).sum::<f64>() / starts.len() as f64;
    for next_obs in [true, false] {
        let fit = fit(&csv(&rows, next_obs, 1));
        assert_eq!(fit.converged(), Some(true));
        let start = fit.start_value().unwrap();
        assert!(
            (start.value - value).abs() < 1e-9,
            "{} is not {value}",
            start.value
        );
        assert!(start.lower < value && value < start.upper);
        for s in 0..STATES {
            for a in 0..ACTIONS {
                let mut input = vec![s as f64, 0.0, 0.0, 0.0];
                input[1 + a] = 1.0;
                let found = fit.value(&input).unwrap();
                assert!(
                    (found - q[s][a]).abs() < 1e-9,
                    "Q({s},{a}) = {found}, not {}",
                    q[s][a]
                );
            }
            let mut input = vec![s as f64];
            input.extend(policies(s)[1]);
            assert!((fit.value(&input).unwrap() - v(s)).abs() < 1e-9);
        }
        assert!(fit.check().is_none());
        let report = fit.off_policy().unwrap();
        assert_eq!(report.target, TargetKind::Probabilities);
        assert_eq!(report.actions, ["0", "1", "2"]);
        assert_eq!(report.unsupported_share, Some(0.0));
        assert_eq!(report.estimates[0].value, start.value);
    }
}

/// Importance sampling and doubly robust by a loop over stored episodes, with the values of the whole log.
struct Naive {
    per_decision: f64,
    weighted: f64,
    robust: f64,
    effective: f64,
}

fn naive(rows: &[Row], q: &dyn Fn(usize, usize, usize) -> f64) -> Naive {
    let count = rows.last().unwrap().episode + 1;
    let episodes: Vec<Vec<Row>> = (0..count)
        .map(|k| {
            rows.iter()
                .filter(|row| row.episode == k)
                .copied()
                .collect()
        })
        .collect();
    let rho = |row: &Row| policies(row.state)[1][row.action] / policies(row.state)[0][row.action];
    let weights = |episode: &[Row]| -> Vec<f64> {
        (0..episode.len())
            .map(|t| episode[..=t].iter().map(rho).product())
            .collect()
    };
    let power = |t: usize| DISCOUNT.powi(t as i32);
    let complete: Vec<&Vec<Row>> = episodes
        .iter()
        .filter(|e| e.last().unwrap().terminated)
        .collect();
    let n = complete.len() as f64;
    let per_decision = complete
        .iter()
        .map(|e| {
            (0..e.len())
                .map(|t| power(t) * weights(e)[t] * e[t].reward)
                .sum::<f64>()
        })
        .sum::<f64>()
        / n;
    let longest = complete.iter().map(|e| e.len()).max().unwrap();
    let weighted = (0..longest)
        .map(|t| {
            let top: f64 = complete
                .iter()
                .filter(|e| t < e.len())
                .map(|e| weights(e)[t] * e[t].reward)
                .sum();
            let bottom: f64 = complete
                .iter()
                .map(|e| *weights(&e[..=t.min(e.len() - 1)]).last().unwrap())
                .sum();
            power(t) * top / bottom
        })
        .sum();
    let v =
        |k: usize, s: usize| -> f64 { (0..ACTIONS).map(|a| policies(s)[1][a] * q(k, s, a)).sum() };
    let robust = episodes.iter().enumerate().map(|(k, e)| {
        let terms = (0..e.len()).map(|t| {
            let next = if e[t].terminated {
                0.0
            } else {
                v(k, e[t].next)
            };
            power(t)
                * weights(e)[t]
                * (e[t].reward + DISCOUNT * next - q(k, e[t].state, e[t].action))
        });
        v(k, e[0].state) + terms.sum::<f64>()
    });
    let robust = robust.sum::<f64>() / episodes.len() as f64;
    let mean = |e: &[Row]| {
        let powers: f64 = (0..e.len()).map(power).sum();
        (0..e.len()).map(|t| power(t) * weights(e)[t]).sum::<f64>() / powers
    };
    let u: Vec<f64> = complete.iter().map(|e| mean(e)).collect();
    let effective = u.iter().sum::<f64>().powi(2) / u.iter().map(|u| u * u).sum::<f64>();
    Naive {
        per_decision,
        weighted,
        robust,
        effective,
    }
}

#[test]
fn importance_sampling_and_doubly_robust_agree_with_a_plain_loop() {
    // With fewer than 40 episodes the values are those of the whole log.
    for (episodes, cut) in [(35, 0.0), (38, 0.05)] {
        let rows = rows(episodes, cut, 2);
        let q = model_based(&rows, 1);
        let expected = naive(&rows, &|_, s, a| q[s][a]);
        for next_obs in [true, false] {
            let fit = fit(&csv(&rows, next_obs, 1));
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
                    "{found} is not {expected}"
                );
            };
            close(
                by(&fit, OffPolicyMethod::PerDecision).value,
                expected.per_decision,
            );
            close(by(&fit, OffPolicyMethod::Weighted).value, expected.weighted);
            let robust = by(&fit, OffPolicyMethod::DoublyRobust);
            close(robust.value, expected.robust);
            assert_eq!(robust.cross_fitted, Some(false));
            assert_eq!(robust.episodes, episodes as u64);
            let found = by(&fit, OffPolicyMethod::PerDecision).effective_sample_size;
            close(found.unwrap(), expected.effective);
            let kinds: Vec<FindingKind> = fit.findings().iter().map(|found| found.kind).collect();
            assert_eq!(
                kinds.contains(&FindingKind::CutEpisodes),
                cut > 0.0,
                "{kinds:?}"
            );
        }
    }
}

/// The mean return, that of the logged policy, and the standard errors of importance sampling from first principles.
#[test]
fn intervals_and_mean_returns_are_those_of_the_episodes() {
    let rows = rows(400, 0.0, 3);
    let fit = fit(&csv(&rows, true, 2));
    let mut returns = vec![0.0; 400];
    let mut weighted = vec![(0.0, 1.0, 1.0); 400];
    let mut power = 1.0;
    for (i, row) in rows.iter().enumerate() {
        if i > 0 && rows[i - 1].episode != row.episode {
            power = 1.0;
        }
        returns[row.episode] += power * row.reward;
        let (sum, weight, _) = &mut weighted[row.episode];
        *weight *= policies(row.state)[2][row.action] / policies(row.state)[0][row.action];
        *sum += power * *weight * row.reward;
        power *= DISCOUNT;
    }
    let mean = returns.iter().sum::<f64>() / 400.0;
    let found = fit.monte_carlo().unwrap();
    assert!((found.value - mean).abs() < 1e-9 && found.episodes == 400);
    let mean = weighted.iter().map(|x| x.0).sum::<f64>() / 400.0;
    let variance = weighted.iter().map(|x| (x.0 - mean).powi(2)).sum::<f64>() / 399.0;
    let own = by(&fit, OffPolicyMethod::PerDecision);
    let half = 1.96 * (variance / 400.0).sqrt();
    // The interval is by t quantiles, and skewness lengthens its upper side more than it shortens the other.
    let [below, above] = [own.value - own.lower, own.upper - own.value];
    assert!(below > 0.9 * half && below < 1.1 * half, "{below} {half}");
    assert!(above > 0.99 * half && above < 1.6 * half, "{above} {half}");
    assert!(below + above > 2.0 * half, "{below} {above} {half}");
    assert!(
        !fit.findings()
            .iter()
            .any(|found| found.kind == FindingKind::MonteCarloDiffers)
    );
}

#[test]
fn following_the_logged_policy_gives_the_same_on_policy_value() {
    let rows = rows(3000, 0.0, 4);
    let off = fit(&csv(&rows, true, 0));
    // Without an action the log is one of the policy that was followed.
    let text = csv(&rows, true, 0)
        .replacen("action", "unused", 1)
        .replacen("target_", "x_", 3)
        .replacen("next_target_", "y_", 3);
    let on = fit(&text);
    assert!(on.off_policy().is_none());
    let [a, b] = [&off, &on].map(|fit| fit.start_value().unwrap());
    let width = b.upper - b.lower;
    assert!((a.value - b.value).abs() < 0.25 * width, "{a:?} {b:?}");
    assert!((a.upper - a.lower) < 1.2 * width, "{a:?} {b:?}");
    for method in [OffPolicyMethod::PerDecision, OffPolicyMethod::Weighted] {
        let found = by(&off, method);
        let mean = on.monte_carlo().unwrap();
        assert!((found.value - mean.value).abs() < 1e-9, "{found:?}");
        assert!((found.effective_sample_size.unwrap() - 3000.0).abs() < 1e-6);
    }
}

#[test]
fn all_estimates_agree_within_their_errors() {
    let fit = fit(&csv(&rows(4000, 0.0, 5), true, 2));
    let all = estimates(&fit);
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|found| found.reason.is_none()), "{all:?}");
    assert_eq!(all[3].cross_fitted, Some(true));
    for pair in all.windows(2) {
        let half = |found: &OffPolicyEstimate| (found.upper - found.lower) / 2.0;
        let joint = half(&pair[0]).hypot(half(&pair[1]));
        assert!(
            (pair[0].value - pair[1].value).abs() < 1.5 * joint,
            "{pair:?}"
        );
    }
    // The doubly robust estimate is more precise than importance sampling.
    assert!(all[3].upper - all[3].lower < all[1].upper - all[1].lower);
}

/// The value of a policy in the process that the rows are drawn from, by iteration.
pub fn truth(policy: usize) -> f64 {
    let mut value = [0.0; STATES];
    for _ in 0..500 {
        value = std::array::from_fn(|state| {
            let action_value = |a: usize| {
                let next = [0.5, 0.3, 0.2].into_iter().enumerate();
                let next = next.map(|(step, p)| p * value[(state + 2 * a + step) % STATES]);
                2.0 * state as f64 - a as f64 + 0.85 * DISCOUNT * next.sum::<f64>()
            };
            (0..ACTIONS)
                .map(|a| policies(state)[policy][a] * action_value(a))
                .sum()
        });
    }
    [0.4, 0.3, 0.2, 0.1]
        .iter()
        .zip(value)
        .map(|(p, v)| p * v)
        .sum()
}

/// Intervals of importance sampling are right where they are shown, and a reason is shown where they are not: logs that lack the episodes
/// with large weights look precise.
#[test]
fn weights_out_of_reach_have_a_reason_instead_of_an_interval() {
    let methods = [
        OffPolicyMethod::PerDecision,
        OffPolicyMethod::Weighted,
        OffPolicyMethod::DoublyRobust,
    ];
    let (logs, value) = (80, truth(2));
    let mut inside = [0; 3];
    for log in 0..logs {
        let found = fit(&csv(&rows(300, 0.0, 100 + log), true, 2));
        for (k, method) in methods.into_iter().enumerate() {
            let own = by(&found, method);
            assert!(own.upper.is_finite() && own.reason.is_none(), "{own:?}");
            inside[k] += u64::from(own.lower <= value && value <= own.upper);
        }
    }
    // 95 % of 80 logs: 71 or fewer have a probability of 1 in 50,000.
    assert!(inside.iter().all(|count| *count > 70), "{inside:?}");
    let strong = fit(&csv(&rows(300, 0.0, 7), true, 1));
    for method in methods {
        let own = by(&strong, method);
        assert!(
            own.lower.is_infinite() && own.upper.is_infinite(),
            "{own:?}"
        );
        assert!(own.weight_skewness.unwrap() > 0.5, "{own:?}");
        assert!(own.reason.unwrap().contains("so skewed"));
    }
    let findings = strong.findings();
    let finding = findings
        .iter()
        .find(|x| x.kind == FindingKind::FewEffectiveEpisodes);
    assert!(
        finding.unwrap().message.contains("has no interval"),
        "{finding:?}"
    );
    let sentences = strong.off_policy().unwrap().unknown_intervals();
    assert!(
        sentences[0].starts_with("No interval of importance sampling"),
        "{sentences:?}"
    );
}

#[test]
fn an_action_that_the_log_never_shows_makes_the_value_unknown() {
    let mut rows = rows(500, 0.0, 6);
    // State 1 never shows action 0, which the policy takes there in 60 % of cases.
    rows.iter_mut()
        .filter(|row| row.state == 1 && row.action == 0)
        .for_each(|row| row.action = 1);
    let found = fit(&csv(&rows, true, 1));
    let start = found.start_value().unwrap();
    assert!(
        start.upper.is_infinite() && start.lower.is_infinite(),
        "{start:?}"
    );
    let share = found.off_policy().unwrap().unsupported_share.unwrap();
    assert!((0.05..0.5).contains(&share), "{share}");
    let kinds: Vec<FindingKind> = found.findings().iter().map(|found| found.kind).collect();
    assert!(kinds.contains(&FindingKind::UnsupportedPolicy), "{kinds:?}");
    // So does the value of an action after which the policy gets there, but not a policy that avoids it.
    let interval = found.interval(&[0.0, 0.0, 1.0, 0.0]).unwrap().unwrap();
    assert!(interval.0.is_infinite(), "{interval:?}");
    // The same policy as the log is supported.
    let own = fit(&csv(&rows, true, 0));
    assert!(own.off_policy().unwrap().unsupported_share.unwrap() > 0.0);
}

#[test]
fn a_policy_may_be_given_by_its_actions() {
    let rows = rows(400, 0.0, 7);
    let best = |state: usize| (state + 1) % ACTIONS;
    let line = |row: &Row, next: bool| {
        let Row {
            episode,
            state,
            action,
            reward,
            terminated,
            ..
        } = row;
        let mut line = format!(
            "{episode},{state},{action},{reward},{},{}",
            u8::from(*terminated),
            best(*state)
        );
        if next {
            write!(line, ",{},{}", row.next, best(row.next)).unwrap();
        }
        line + "\n"
    };
    let text = |next: bool| -> String {
        let header = match next {
            true => "episode,obs_0,action,reward,terminated,target_action,next_obs_0,next_action\n",
            false => "episode,obs_0,action,reward,terminated,target_action\n",
        };
        header.to_owned() + &rows.iter().map(|row| line(row, next)).collect::<String>()
    };
    let [complete, successors] = [true, false].map(|next| fit(&text(next)));
    let value = complete.start_value().unwrap();
    assert!((value.value - successors.start_value().unwrap().value).abs() < 1e-9);
    let report = complete.off_policy().unwrap();
    assert_eq!(
        (report.target, report.estimates.len()),
        (TargetKind::Actions, 1)
    );
    // The same by probabilities.
    let mut probabilities =
        String::from("episode,obs_0,action,reward,terminated,target_0,target_1,target_2\n");
    for row in &rows {
        let mut weights = [0, 0, 0];
        weights[best(row.state)] = 1;
        let [a, b, c] = weights;
        let Row {
            episode,
            state,
            action,
            reward,
            terminated,
            ..
        } = row;
        writeln!(
            probabilities,
            "{episode},{state},{action},{reward},{},{a},{b},{c}",
            u8::from(*terminated)
        )
        .unwrap();
    }
    let again = fit(&probabilities).start_value().unwrap();
    assert!((again.value - value.value).abs() < 1e-9);
    // Without the policy at the first rows, the logged action is taken there.
    let later = text(true).replacen("target_action", "unused", 1);
    let later = fit(&later);
    let kinds: Vec<FindingKind> = later.findings().iter().map(|found| found.kind).collect();
    assert!(
        kinds.contains(&FindingKind::PolicyAtStartUnknown),
        "{kinds:?}"
    );
}

#[test]
fn actions_may_have_names_and_tables_may_hold_them() {
    let rows = rows(200, 0.0, 8);
    let names = ["left", "stay", "right"];
    let expected = fit(&csv(&rows, false, 1)).start_value().unwrap();
    let mut text = String::from("episode,obs_0,move,reward,terminated,p_left,p_stay,p_right\n");
    for row in &rows {
        let Row {
            episode,
            state,
            action,
            reward,
            terminated,
            ..
        } = row;
        let weights = policies(*state)[1].map(|p| p.to_string()).join(",");
        writeln!(
            text,
            "{episode},{state},{},{reward},{},{weights}",
            names[*action],
            u8::from(*terminated)
        )
        .unwrap();
    }
    for columns in ["target=p_*", "target=p_left,p_stay,p_right"] {
        let columns = robust_td_data::ColumnMap::parse(["action=move", columns]).unwrap();
        let found = evaluated(&text, |evaluation| evaluation.columns(columns.clone()));
        assert_eq!(found.start_value().unwrap().value, expected.value);
        assert_eq!(found.off_policy().unwrap().actions, names);
        assert_eq!(found.feature_names()[0], "left: one-hot(obs_0=0)");
    }
    let column = |value: &dyn Fn(&Row) -> f64| rows.iter().map(value).collect::<Vec<f64>>();
    let target: Vec<f64> = rows.iter().flat_map(|row| policies(row.state)[1]).collect();
    let table = Table::default()
        .matrix("obs", column(&|row| row.state as f64), 1)
        .unwrap()
        .numbers("reward", column(&|row| row.reward))
        .unwrap()
        .numbers("action", column(&|row| row.action as f64))
        .unwrap()
        .numbers("episode", column(&|row| row.episode as f64))
        .unwrap()
        .numbers(
            "terminated",
            column(&|row| f64::from(u8::from(row.terminated))),
        )
        .unwrap()
        .matrix("target", target, ACTIONS)
        .unwrap();
    let evaluation = Evaluation::new(Log::table(table)).discount(DISCOUNT);
    let found = evaluation.features("one-hot(column=0)").run().unwrap();
    assert_eq!(found.start_value().unwrap(), expected);
}

#[test]
fn values_of_actions_and_of_policies_are_predicted_and_saved() {
    let rows = rows(200, 0.0, 9);
    let found = fit(&csv(&rows, false, 1));
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let model = folder.path().join("model.json");
    found.save(&model).unwrap();
    let loaded = Fit::load(&model).unwrap();
    assert_eq!(loaded.off_policy(), found.off_policy());
    let actions = write("actions.csv", "obs_0,action\n2,1\n3,0\n");
    let policy = write(
        "policy.csv",
        "target_0,target_1,target_2,obs_0\n0.25,0.25,0.5,2\n0,1,0,3\n",
    );
    for fit in [&found, &loaded] {
        let q = fit.predict(&actions).unwrap();
        assert_eq!(q.values[0], fit.value(&[2.0, 0.0, 1.0, 0.0]).unwrap());
        assert_eq!(q.values[1], fit.value(&[3.0, 1.0, 0.0, 0.0]).unwrap());
        let v = fit.predict(&policy).unwrap();
        assert_eq!(v.values[0], fit.value(&[2.0, 0.25, 0.25, 0.5]).unwrap());
        assert!(v.lower[0] < v.values[0] && v.values[0] < v.upper[0]);
    }
    let message = found
        .predict(write("none.csv", "obs_0\n2\n"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("action") && message.contains("target_0"),
        "{message}"
    );
    let message = found
        .predict(write("bad.csv", "obs_0,action\n2,7\n"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("row 1 (line 2), column action: \"7\" is not an action (0, 1, 2)"),
        "{message}"
    );
}

#[test]
fn bad_probabilities_are_bad_rows() {
    let header = "obs_0,action,reward,target_0,target_1,behaviour_prob\n0,0,1,0.5,0.5,0.5\n";
    let message = |row: &str| {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("log.csv");
        std::fs::write(&file, format!("{header}{row}\n")).unwrap();
        let run = evaluate([file.to_str().unwrap()]).discount(0.9).run();
        run.unwrap_err().to_string()
    };
    for (row, expected) in [
        (
            "0,1,1,0.5,0.4,0.5",
            "row 2 (line 3), column target_0: the probabilities of all actions sum to 0.9",
        ),
        (
            "0,1,1,1.5,-0.5,0.5",
            "row 2 (line 3), column target_0: \"1.5\" is not a probability",
        ),
        (
            "0,1,1,0.5,0.5,0",
            "row 2 (line 3), column behaviour_prob: \"0\" is not the probability of the action",
        ),
        ("0,1,1,0.5,0.5,1.2", "column behaviour_prob: \"1.2\""),
        (
            "0,2,1,0.5,0.5,0.5",
            "column action: \"2\" is not an action (0, 1)",
        ),
        (
            "0,1.5,1,0.5,0.5,0.5",
            "column action: \"1.5\" is not an action (0, 1)",
        ),
        (
            "0,\" up \",1,0.5,0.5,0.5",
            "column action: \"up\" is not an action (0, 1)",
        ),
        (
            "0,-1,1,0.5,0.5,0.5",
            "column action: \"-1\" is not an action (0, 1)",
        ),
        ("0,,1,0.5,0.5,0.5", "column action: the value is missing"),
    ] {
        let found = message(row);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn an_action_alone_changes_nothing() {
    let rows = rows(100, 0.0, 10);
    let text = csv(&rows, true, 1)
        .replacen("target_", "x_", 3)
        .replacen("next_target_", "y_", 3);
    let without = text.replacen("action", "unused", 1);
    let [with, without] = [text, without].map(|text| fit(&text));
    assert_eq!(with.theta_bar(), without.theta_bar());
    assert!(with.off_policy().is_none());
}

#[test]
fn contradictions_and_missing_columns_are_reported() {
    let rows = rows(100, 0.0, 11);
    let text = csv(&rows, false, 1);
    // A rho of 1 in every row is not the ratio of the probabilities.
    let with_rho: String = text
        .lines()
        .enumerate()
        .map(|(k, line)| match k {
            0 => format!("{line},rho\n"),
            _ => format!("{line},1\n"),
        })
        .collect();
    let found = fit(&with_rho);
    let finding = found
        .findings()
        .into_iter()
        .find(|found| found.kind == FindingKind::RatioContradicts);
    let finding = finding.unwrap();
    assert!(
        finding.file.is_some() && finding.row.is_some() && finding.count > 50,
        "{finding:?}"
    );
    assert_eq!(estimates(&found)[1].value, estimates(&fit(&text))[1].value);
    // The policy at the next observation is needed.
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("log.csv");
    std::fs::write(&file, csv(&rows, true, 1).replacen("next_target_", "y_", 3)).unwrap();
    let run = |algorithm: Option<&str>, text: String| {
        std::fs::write(&file, text).unwrap();
        let mut evaluation = evaluate([file.to_str().unwrap()]).discount(0.9);
        if let Some(id) = algorithm {
            evaluation = evaluation.algorithm(id);
        }
        evaluation.run().unwrap_err().to_string()
    };
    let message = run(None, csv(&rows, true, 1).replacen("next_target_", "y_", 3));
    assert!(
        message.contains("next_target_0") && message.contains("next_action"),
        "{message}"
    );
    let message = run(Some("alg1"), csv(&rows, true, 1));
    assert!(
        message.contains("only the algorithm auto evaluates"),
        "{message}"
    );
    let message = run(None, csv(&rows, false, 1).replacen("action", "unused", 1));
    assert!(message.contains("the role action"), "{message}");
}

#[test]
fn the_result_does_not_depend_on_threads_or_on_the_format() {
    let rows = rows(2000, 0.02, 12);
    let text = csv(&rows, false, 1);
    let one = fit(&text);
    let many = evaluated(&text, |evaluation| evaluation.threads(3));
    assert_eq!(one.theta_bar(), many.theta_bar());
    assert_eq!(one.off_policy(), many.off_policy());
    assert_eq!(one.monte_carlo(), many.monte_carlo());
}

#[test]
fn ratios_alone_give_importance_sampling_too() {
    let rows = rows(60, 0.0, 13);
    let mut text = String::from("episode,obs_0,reward,next_obs_0,terminated,rho\n");
    for row in &rows {
        let Row {
            episode,
            state,
            action,
            reward,
            next,
            terminated,
            ..
        } = row;
        let rho = policies(*state)[1][*action] / policies(*state)[0][*action];
        writeln!(
            text,
            "{episode},{state},{reward},{next},{},{rho}",
            u8::from(*terminated)
        )
        .unwrap();
    }
    let found = fit(&text);
    let report = found.off_policy().unwrap();
    assert_eq!(
        (report.target, report.estimates.len()),
        (TargetKind::Ratios, 3)
    );
    let expected = naive(&rows, &|_, _, _| 0.0);
    let close =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    close(
        by(&found, OffPolicyMethod::PerDecision).value,
        expected.per_decision,
    );
    close(
        by(&found, OffPolicyMethod::Weighted).value,
        expected.weighted,
    );
}
