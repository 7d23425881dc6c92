//! The program `fw`: hands its arguments to the library and returns the exit code.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    fw_cli::run(std::env::args_os()).into()
}
