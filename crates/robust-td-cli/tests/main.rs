//! Runs the integration tests as one program, so that it is linked once.

mod bad_problems;
mod certify;
mod common;
mod compare;
mod compare_refusals;
mod edges;
mod experiment;
mod families;
mod faults;
mod good_problems;
mod limits;
mod odd_names;
mod problems;
mod reproduce;
