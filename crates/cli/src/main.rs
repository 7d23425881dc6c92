//! The program `fw`: hands its arguments to the library and returns the exit code.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    framewright::source::remove_temporary_files_on_signals();
    fw_cli::run(std::env::args_os()).into()
}
