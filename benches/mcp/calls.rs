//! A call of a tool over stdio, compared with the same message over bare pipes to the same server.

use crate::options::Options;
use crate::server::WORD;
use base::call::LocalFuture;
use base::data::Data;
use mcp::{Client, ClientSettings, Endpoint, Era, Launcher, Listener, RunningProcess, ServerProcess, SilentObserver};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The longest time of a call beyond the server's own, in microseconds.
const MOST_MICROS: f64 = 150.0;
/// The calls of one run.
const CALLS: usize = 500;

struct BenchLauncher;

impl Launcher for BenchLauncher {
    fn launch(&self) -> Result<ServerProcess, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = tokio::process::Command::new(program);
        command.arg(WORD).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok(ServerProcess {
                stdin: Box::new(stdin),
                stdout: Box::new(stdout),
                stderr: Box::new(stderr),
                process: Box::new(BenchProcess(child)),
            }),
            _ => Err("the server has no pipes".to_owned()),
        }
    }
}

struct BenchProcess(tokio::process::Child);

impl RunningProcess for BenchProcess {
    fn wait(&mut self) -> LocalFuture<'_, io::Result<i64>> {
        Box::pin(async { self.0.wait().await.map(|status| status.code().unwrap_or(-1).into()) })
    }
}

struct Silent;

impl Listener for Silent {
    fn notified(&self, _: &str, _: &Data) {}
}

/// Compares the medians; whether the limit is held.
pub(crate) fn run(options: &Options) -> bool {
    let mut extra = Vec::new();
    for _ in 0..options.runs {
        match (through_pipes(), through_client()) {
            (Ok(bare), Ok(client)) => extra.push((client - bare, bare, client)),
            (Err(why), _) | (_, Err(why)) => {
                println!("MISSED  calls: {why}");
                return false;
            }
        }
    }
    extra.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (more, bare, client) = extra[extra.len() / 2];
    let held = more <= MOST_MICROS;
    println!(
        "{}  a call of a tool over stdio: {client:.1} µs, {bare:.1} µs over bare pipes: {more:.1} µs more, at most {MOST_MICROS} µs",
        if held { "held  " } else { "MISSED" }
    );
    held
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn through_pipes() -> Result<f64, String> {
    let failed = |error: io::Error| error.to_string();
    let program = std::env::current_exe().map_err(failed)?;
    let mut child =
        Command::new(program).arg(WORD).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no pipes".to_owned());
    };
    let mut output = BufReader::new(output);
    let mut line = String::new();
    let mut times = Vec::with_capacity(CALLS);
    for id in 0..CALLS {
        let request = format!(
            "{{\"id\":{id},\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"name\":\"tool0\",\"arguments\":{{\"text\":\"hello\"}},\"_meta\":{{\"progressToken\":{id}}}}}}}\n"
        );
        let began = Instant::now();
        input.write_all(request.as_bytes()).map_err(failed)?;
        line.clear();
        output.read_line(&mut line).map_err(failed)?;
        times.push(began.elapsed());
        if !line.contains("done") {
            return Err(format!("the server answered {line:?}"));
        }
    }
    drop(input);
    child.wait().map_err(failed)?;
    Ok(median(times))
}

fn through_client() -> Result<f64, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let settings = ClientSettings {
            name: "bench".into(),
            timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(60),
            era: Some(Era::Sessions),
            elicitation: false,
            reminders: false,
        };
        let client = Client::new(settings, Endpoint::Process(Box::new(BenchLauncher)), Rc::new(Silent));
        let tools = client.tools().await.map_err(|error| error.message)?;
        let tool = tools.tools.first().ok_or("the server has no tools")?;
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let arguments = Data::dict([("text", Data::from("hello"))]);
            let began = Instant::now();
            let result = client.call_tool(&tool.name, arguments, &tool.input_schema, &SilentObserver).await;
            times.push(began.elapsed());
            let result = result.map_err(|error| error.message)?;
            if result.at("content").as_list().is_none() {
                return Err(format!("the server answered {}", result.to_json()));
            }
        }
        client.close().await;
        Ok(median(times))
    })
}
