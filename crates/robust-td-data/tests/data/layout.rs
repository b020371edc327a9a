//! Tests how columns are assigned to roles.

use robust_td_data::{
    ColumnMap, Error, Format, Preset, Purpose, ReadOptions, Reader, Result, Schema,
};

use crate::table::{read_bits, text};

fn schema(header: &str, preset: Preset, columns: &[&str]) -> Result<Schema> {
    let width = header.split(',').count();
    let csv = format!("{header}\n{}\n", vec!["1"; width].join(","));
    let options = ReadOptions {
        preset,
        columns: ColumnMap::parse(columns)?,
        ..ReadOptions::default()
    };
    Ok(Reader::open(vec![text(Format::Csv, &csv)], options)?
        .schema()
        .clone())
}

fn message(header: &str, columns: &[&str]) -> String {
    schema(header, Preset::Standard, columns)
        .unwrap_err()
        .to_string()
}

#[test]
fn the_presets_know_their_columns() {
    let logs = [
        (
            Preset::Minari,
            "episode_id,observations_0,observations_1,rewards,terminations,truncations",
        ),
        (
            Preset::Rllib,
            "eps_id,obs_0,obs_1,new_obs_0,new_obs_1,rewards,terminateds,truncateds",
        ),
        (
            Preset::D3rlpy,
            "episode,observation:0,observation:1,action:0,reward,terminals,timeouts",
        ),
        (
            Preset::D4rl,
            "observations_0,observations_1,rewards,terminals,timeouts",
        ),
    ];
    for (preset, header) in logs {
        let schema = schema(header, preset, &[]).unwrap();
        assert_eq!(schema.observations.len(), 2, "{preset:?}");
        assert!(
            schema.reward && schema.terminated && schema.truncated,
            "{preset:?}"
        );
        assert_eq!(schema.episode, preset != Preset::D4rl, "{preset:?}");
        assert_eq!(schema.next_obs, preset == Preset::Rllib, "{preset:?}");
        assert_eq!(preset.name().parse::<Preset>().unwrap(), preset);
    }
    assert!("gym".parse::<Preset>().is_err());
}

#[test]
fn minari_needs_episodes_to_tell_its_final_observations() {
    let header = "observations,rewards,terminations,truncations";
    assert!(matches!(
        schema(header, Preset::Minari, &[]),
        Err(Error::LayoutNeeds { .. })
    ));
    // Two episodes of two steps, the first terminated, the second truncated: 3 rows each, the last one padded.
    let csv = "episode_id,observations,rewards,terminations,truncations\n\
               0,1,10,0,0\n0,2,20,1,0\n0,3,0,0,0\n1,4,40,0,0\n1,5,50,0,1\n1,6,0,0,0\n";
    let options = ReadOptions {
        preset: Preset::Minari,
        ..ReadOptions::default()
    };
    let steps = crate::pairing::steps_with(vec![text(Format::Csv, csv)], options);
    assert_eq!(
        steps,
        ["*1 10 ->2", " 2 20 end", "*4 40 ->5", " 5 50 cut 6"],
        "no transition starts from the padding"
    );
}

#[test]
fn a_lone_done_is_refused_until_its_meaning_is_said() {
    assert_eq!(
        message("obs_0,reward,done", &[]),
        "log: column done is ambiguous: terminated or truncated? \
         Map it as terminated=done or truncated=done"
    );
    for name in ["Dones", "terminal", "is_terminal"] {
        let message = message(&format!("obs_0,reward,{name}"), &[]);
        assert!(message.contains(&format!("terminated={name}")), "{message}");
    }
    let said = |columns: &[&str]| schema("obs_0,reward,done", Preset::Standard, columns).unwrap();
    assert!(said(&["terminated=done"]).terminated && !said(&["terminated=done"]).truncated);
    assert!(said(&["truncated=done"]).truncated && !said(&["truncated=done"]).terminated);
    assert!(schema("obs_0,reward,done,terminated", Preset::Standard, &[]).is_ok());
    assert!(message("obs_0,reward,done", &["terminated=done", "truncated=done"]).contains("both"));
}

/// A column that differs from the name of a role by its case alone was left out without a word.
#[test]
fn the_case_of_letters_is_asked_about() {
    assert_eq!(
        message("obs_0,reward,Terminated", &[]),
        "log: Terminated is not read as terminated, because the case of letters matters; map it as terminated=Terminated"
    );
    for (header, map) in [
        ("Obs_0,Obs_1,reward", "obs=Obs_0,Obs_1"),
        ("obs_0,Reward", "reward=Reward"),
        ("obs_0,reward,EPISODE", "episode=EPISODE"),
    ] {
        let message = message(header, &[]);
        assert!(message.ends_with(&format!("map it as {map}")), "{message}");
        assert!(schema(header, Preset::Standard, &[map]).is_ok());
    }
    let both = "obs_0,reward,terminated,Terminated";
    assert!(schema(both, Preset::Standard, &[]).is_ok());
}

#[test]
fn single_columns_can_be_named_as_features() {
    let header = "age,income,visits,spent";
    for columns in [
        &["obs=visits,age", "reward=spent"][..],
        &["obs=visits", "obs=age", "reward=spent"],
    ] {
        let schema = schema(header, Preset::Standard, columns).unwrap();
        assert_eq!(schema.observations, ["visits", "age"]);
    }
    let csv = "age,visits,spent\n30,2,9\n";
    let options = ReadOptions {
        columns: ColumnMap::parse(["obs=visits,age", "reward=spent"]).unwrap(),
        ..ReadOptions::default()
    };
    let rows = read_bits(vec![text(Format::Csv, csv)], options).unwrap();
    assert_eq!(rows[0].0, [2.0_f64.to_bits(), 30.0_f64.to_bits()]);
}

#[test]
fn a_named_column_is_meant_whatever_else_there_is() {
    let header = "obs,obs_0,reward";
    let named = schema(header, Preset::Standard, &["obs=obs"]).unwrap();
    assert_eq!(named.observations, ["obs"]);
    let stem = schema("x_0,x_1,obs,reward", Preset::Standard, &["obs=x"]).unwrap();
    assert_eq!(stem.observations, ["x_0", "x_1"]);
}

#[test]
fn prediction_needs_observations_only() {
    let options = ReadOptions {
        purpose: Purpose::Predict,
        ..ReadOptions::default()
    };
    let rows = read_bits(
        vec![text(Format::Csv, "obs_0,done,reward\n1,x,\n")],
        options,
    )
    .unwrap();
    assert_eq!(rows.len(), 1);
}

#[test]
fn what_is_wrong_with_columns_is_said() {
    let messages = [
        message("obs_0,obs_2,reward", &[]),
        message("obs_0,prize", &[]),
        message("state,reward", &[]),
        message("obs_0,obs_0,reward", &[]),
        message("obs,obs_0,reward", &[]),
        message("obs_0,reward", &["episode=run"]),
        message("obs_0,obs_1,next_obs_0,reward", &[]),
        message("obs_0,reward", &["rho"]),
        message("obs_0,reward", &["weight=rho"]),
        message("obs_0,reward", &["reward="]),
        message("obs_0,reward", &["reward=a", "reward=b"]),
        message("obs_0,reward", &["obs=reward"]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}
