//! Sets up and runs everything this project promises.

fn main() {}
