//! `harn attach`: joins a running daemon as an agent of ACP on standard input and output.

use serve::channels::{AttachSettings, attach};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;
use stdlib::limits::parse_time;

/// The variable with the secret.
const SECRET: &str = "HARN_CHANNEL_SECRET";

#[derive(clap::Args)]
pub(crate) struct AttachArgs {
    /// Address of the daemon, as HOST:PORT
    #[arg(value_name = "ADDR", default_value = "127.0.0.1:41300")]
    address: String,
    /// File with the secret of the channel [default: the variable HARN_CHANNEL_SECRET]
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// How long to try to connect, at the beginning and after the connection broke
    #[arg(long, value_name = "DURATION", value_parser = parse_time, default_value = "60s")]
    wait: Duration,
}

pub(crate) fn run(args: AttachArgs) -> i32 {
    match joined(args) {
        Ok(()) => 0,
        Err((message, help)) => {
            eprintln!("error: {}\n  help: {help}", crate::report::visible(&message));
            1
        }
    }
}

fn joined(args: AttachArgs) -> Result<(), (String, &'static str)> {
    let secret = match &args.secret_file {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| (format!("cannot read `{}`: {error}", file.display()), "check the path"))?,
        None => std::env::var(SECRET).map_err(|_| {
            (
                format!("`{SECRET}` is not set"),
                "set it to the secret that `harn channel add` printed, or pass `--secret-file`",
            )
        })?,
    };
    let settings = AttachSettings { address: args.address, secret: secret.trim().to_owned(), wait: args.wait };
    let (lines, read) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let write = |line: &str| {
        let mut out = io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()
    };
    let report = |text: &str| eprintln!("harn: {}", crate::report::visible(text));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| (format!("could not start the async runtime: {error}"), "free system resources"))?;
    let ended = runtime.block_on(attach(settings, read, write, report));
    ended.map_err(|error| (error.to_string(), error.help()))
}
