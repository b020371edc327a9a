//! Starts the command `robust-td`.

fn main() {}
