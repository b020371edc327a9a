//! Lists every method by its id.

use crate::error::{Error, Result};
use crate::learner::method::Method;
use crate::learner::{
    adatd, alg1, bhandari, certified_constant, coin_betting, dog, doubling, etd, gtd2, implicit_td,
    li_exponential, liu_olshevsky, lstd, mitra, optimal_stopping, patil, q_learning, samsonov,
    single_stepsize, srikant_ying, swift_td, td_lambda, tdc,
};
use crate::portfolio;

/// All methods, in the order of the documentation.
pub static METHODS: &[&Method] = &[
    &alg1::DECAYING,
    &alg1::CONSTANT,
    &doubling::METHOD,
    &bhandari::A,
    &bhandari::B,
    &bhandari::C,
    &liu_olshevsky::METHOD,
    &adatd::METHOD,
    &srikant_ying::METHOD,
    &patil::TAIL,
    &patil::REGULARISED,
    &samsonov::METHOD,
    &mitra::METHOD,
    &li_exponential::PLAIN,
    &li_exponential::REGULARISED,
    &single_stepsize::METHOD,
    &single_stepsize::MIXING_FREE,
    &certified_constant::METHOD,
    &td_lambda::METHOD,
    &implicit_td::METHOD,
    &lstd::METHOD,
    &gtd2::METHOD,
    &tdc::METHOD,
    &etd::METHOD,
    &swift_td::METHOD,
    &coin_betting::METHOD,
    &dog::DOG,
    &dog::T_DOG,
    &optimal_stopping::METHOD,
    &q_learning::METHOD,
    &portfolio::METHOD,
];

/// The methods that weigh samples by their importance ratios; the others take every sample as on-policy.
pub static OFF_POLICY: &[&Method] = &[
    &td_lambda::METHOD,
    &implicit_td::METHOD,
    &lstd::METHOD,
    &gtd2::METHOD,
    &tdc::METHOD,
    &etd::METHOD,
];

/// The method with an id.
///
/// # Errors
/// Lists the ids that exist.
pub fn find(id: &str) -> Result<&'static Method> {
    let found = METHODS.iter().find(|method| method.id == id);
    found.copied().ok_or_else(|| Error::UnknownMethod {
        name: id.into(),
        known: METHODS.iter().map(|method| method.id).collect(),
    })
}

/// Stores an id by name and restores the one that exists.
pub(crate) mod id {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(id: &&'static str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(id)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static str, D::Error> {
        let name = String::deserialize(deserializer)?;
        super::find(&name)
            .map(|method| method.id)
            .map_err(D::Error::custom)
    }
}
