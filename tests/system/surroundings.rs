//! Standard input, servers and processes, which scripts alone cannot bring along.

use crate::harn::{harn_with_input, scratch};
#[cfg(target_os = "linux")]
use crate::wait::{find, until};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Returns the output of a script with some standard input.
fn printed(name: &str, script: &str, input: &[u8]) -> String {
    let path = scratch(&format!("system-{name}")).join("script.harn");
    fs::write(&path, script).unwrap();
    let outcome = harn_with_input(&["run", path.to_str().unwrap()], input, &[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
    outcome.out
}

#[test]
fn lines_of_standard_input_and_what_is_left_of_it() {
    let script = "println(read_line())\nprintln(read_line())\nprintln(read_stdin())\nprintln(read_line())\n";
    assert_eq!(printed("lines", script, b"one\r\n\nthree\nfour"), "one\n\nthree\nfour\nnil\n");
}

#[test]
fn standard_input_that_is_no_text_or_has_no_end() {
    let script = "println(unwrap_err(try { read_line() }).code)\nprintln(read_line())\n";
    assert_eq!(printed("no-text", script, b"a\xffb\nnext\n"), "HARN-IO-004\nnext\n");
    let long = [vec![b'x'; (16 << 20) + 10], b"\n".to_vec()].concat();
    assert_eq!(printed("long", "println(unwrap_err(try { read_line() }).code)\n", &long), "HARN-IO-003\n");
}

#[test]
fn what_a_task_asks_is_answered_by_a_line() {
    let script =
        "pipeline default(task) {\n  println(\"so\", task.ask(\"Which?\"))\n  println(task.ask(\"And?\"))\n}\n";
    assert_eq!(printed("ask", script, b"the first\n"), "Which?\nso the first\nAnd?\nnil\n");
}

/// A request as the server read it: its first line, headers and body.
fn request(stream: &TcpStream) -> (String, String, String) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut headers) = (String::new(), String::new());
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        headers.push_str(&line.to_lowercase());
    }
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    (first.trim().to_owned(), headers, String::from_utf8(body).unwrap())
}

/// Starts a server on this machine that echoes its requests, and answers some paths in unusual
/// ways. Returns its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        // Requests to `/busy` so far.
        let busy = Arc::new(AtomicUsize::new(0));
        for stream in listener.incoming().flatten() {
            let busy = busy.clone();
            thread::spawn(move || answer(stream, &busy));
        }
    });
    address
}

fn answer(mut stream: TcpStream, busy: &AtomicUsize) {
    let (first, headers, body) = request(&stream);
    let path = first.split(' ').nth(1).unwrap_or("").to_owned();
    let say = |status: &str, more: &str, text: &[u8]| {
        let head = format!("HTTP/1.1 {status}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n", text.len());
        [head.as_bytes(), text].concat()
    };
    // `/to/STATUS/URL` redirects to the URL with the status.
    let redirect = path.strip_prefix("/to/").and_then(|to| to.split_once('/'));
    let reply = match path.as_str() {
        _ if redirect.is_some() => {
            let (status, to) = redirect.unwrap_or_default();
            say(&status.replace("%20", " "), &format!("location: {}\r\n", to.replace(' ', "%20")), b"")
        }
        "/missing" => say("404 Not Found", "", b"no such page"),
        // The third request succeeds; `retry-after` makes the waits short.
        "/busy" if busy.fetch_add(1, Ordering::SeqCst) < 2 => say("503 Service Unavailable", "retry-after: 0\r\n", b""),
        "/busy" => say("200 OK", "", b"{\"n\": 1}"),
        "/login" => say("302 Found", "location: /cookies\r\nset-cookie: id=7; Path=/\r\nset-cookie: a=b\r\n", b""),
        "/cookies" => {
            let cookies: Vec<&str> = headers.lines().filter(|line| line.starts_with("cookie")).collect();
            say("200 OK", "", cookies.join(" | ").as_bytes())
        }
        "/pages" => say("200 OK", "link: </pages?n=2>; rel=\"next\"\r\n", b"[1, 2]"),
        "/pages?n=2" => say("200 OK", "", b"[3]"),
        "/lines" => say("200 OK", "", b"one\r\ntwo\nthree"),
        "/twice" => say("200 OK", "x-many: a\r\nx-many: b\r\n", b""),
        "/bytes" => say("200 OK", "", b"\xff\x00"),
        "/moved" => say("302 Found", "location: /echo\r\n", b""),
        "/round" => say("302 Found", "location: /round\r\n", b""),
        // It never answers: the client closes the connection.
        "/slow" => return drop(stream.read(&mut [0])),
        "/broken" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
        "/large" => say("200 OK", "", &vec![b'x'; (32 << 20) + 1]),
        _ => {
            let kind = headers.lines().find(|line| line.starts_with("content-type")).unwrap_or("no content-type");
            let mine = headers.lines().find(|line| line.starts_with("x-mine")).unwrap_or("no x-mine");
            say("200 OK", "x-server: test\r\n", format!("{first} | {kind} | {mine} | {body}").as_bytes())
        }
    };
    // A client that has heard enough closes its end.
    let _ = stream.write_all(&reply);
}

#[test]
fn requests_and_answers() {
    let base = server();
    let script = format!(
        "let r = http_get(\"{base}/echo?a=1\", {{headers: {{\"X-Mine\": \"yes\"}}}})\n\
         println(r.status, r.ok, r.headers[\"x-server\"])\nprintln(r.body)\n\
         println(http_post(\"{base}/echo\", {{b: [1, nil], a: \"x\"}}).body)\n\
         println(http_post(\"{base}/echo\", \"text\").body)\n\
         println(http_post(\"{base}/echo\", \"<a/>\", {{headers: {{\"Content-Type\": \"text/xml\"}}}}).body)\n\
         println(http_post(\"{base}/echo\").body)\n\
         let missing = http_get(\"{base}/missing\")\nprintln(missing.status, missing.ok, missing.body)\n\
         println(http_get(\"{base}/twice\").headers[\"x-many\"])\n\
         println(type_of(http_get(\"{base}/bytes\").body))\n\
         println(http_get(\"{base}/moved\").body)\n"
    );
    let want = "200 true test\n\
                GET /echo?a=1 HTTP/1.1 | no content-type | x-mine: yes | \n\
                POST /echo HTTP/1.1 | content-type: application/json | no x-mine | {\"a\":\"x\",\"b\":[1,null]}\n\
                POST /echo HTTP/1.1 | content-type: text/plain; charset=utf-8 | no x-mine | text\n\
                POST /echo HTTP/1.1 | content-type: text/xml | no x-mine | <a/>\n\
                POST /echo HTTP/1.1 | no content-type | no x-mine | \n\
                404 false no such page\na, b\nbytes\n\
                GET /echo HTTP/1.1 | no content-type | no x-mine | \n";
    assert_eq!(printed("http", &script, b""), want);
}

#[test]
fn methods_queries_forms_and_attempts() {
    let base = server();
    let script = format!(
        "println(http_put(\"{base}/echo\", {{a: 1}}).body)\n\
         println(http_patch(\"{base}/echo\", nil, {{json: \"text\"}}).body)\n\
         println(http_delete(\"{base}/echo?a=1#top\", {{query: {{b: [\"x y\", 2], none: nil}}}}).body)\n\
         println(http_request(\"post\", \"{base}/echo\", nil, {{form: {{q: \"a&b\"}}}}).body)\n\
         let head = http_head(\"{base}/echo\")\nprintln(head.ok, head.headers[\"x-server\"], head.body.empty)\n\
         println(http_get(\"{base}/busy\", {{retries: 1}}).status)\n\
         println(http_get(\"{base}/busy\", {{retries: 3}}).json())\n\
         println(unwrap_err(try {{ http_get(\"{base}/missing\").json() }}).message)\n\
         println(unwrap_err(try {{ http_request(\"BREW\", \"{base}/\") }}).message)\n\
         println(unwrap_err(try {{ http_post(\"{base}/\", \"x\", {{json: 1}}) }}).message)\n"
    );
    let want = "PUT /echo HTTP/1.1 | content-type: application/json | no x-mine | {\"a\":1}\n\
                PATCH /echo HTTP/1.1 | content-type: application/json | no x-mine | \"text\"\n\
                DELETE /echo?a=1&b=x+y&b=2 HTTP/1.1 | no content-type | no x-mine | \n\
                POST /echo HTTP/1.1 | content-type: application/x-www-form-urlencoded | no x-mine | q=a%26b\n\
                true test true\n503\n{n: 1}\n\
                invalid JSON: expected ident at line 1 column 2\nunknown HTTP method `BREW`\n\
                a request has one body: pass the argument, `form`, `json` or `multipart`\n";
    assert_eq!(printed("http-methods", &script, b""), want);
}

#[test]
fn cookies_forms_pages_and_bodies_that_are_read_as_they_come() {
    let base = server();
    let script = format!(
        "let jar = cookie_jar()\nprintln(http_get(\"{base}/login\", {{cookies: jar}}).body)\n\
         println(jar.map({{ cookie -> cookie.name }}))\n\
         println(http_get(\"{base}/cookies\", {{cookies: jar, headers: {{Cookie: \"own=1\"}}}}).body)\n\
         println(http_get(\"{base}/cookies\").body == \"\")\n\
         println(http_get(\"{base}/login\", {{cookies: {{mine: 1}}}}).body)\n\
         let form = http_post(\"{base}/echo\", nil, {{multipart: {{a: \"1\", f: {{content: \"x\", filename: \"f.txt\"}}}}}})\n\
         println(form.body.split(\"harn-\").count, form.body.contains(\"name=\\\"f\\\"; filename=\\\"f.txt\\\"\"))\n\
         println(http_paginate(\"{base}/pages\").to_list())\n\
         let lines = http_get(\"{base}/lines\", {{stream: \"lines\"}})\nprintln(lines.status, lines.body.to_list())\n\
         println(http_get(\"{base}/lines\", {{stream: \"bytes\"}}).body.map({{ piece -> len(piece) }}).sum())\n\
         var length = 0\n\
         for piece in http_get(\"{base}/large\", {{stream: \"bytes\"}}).body {{\n  length += len(piece)\n}}\nprintln(length)\n\
         let broken = http_get(\"{base}/broken\", {{stream: \"lines\"}})\n\
         println(unwrap_err(try {{ broken.body.to_list() }}).category)\n\
         let late = try {{ http_get(\"{base}/slow\", {{stream: \"lines\", timeout_ms: 300}}) }}\n\
         println(unwrap_err(late).category)\n"
    );
    let want = "cookie: id=7; a=b\n[id, a]\ncookie: own=1; id=7; a=b\ntrue\ncookie: mine=1\n5 true\n[1, 2, 3]\n\
                200 [one, two, three]\n14\n33554433\nconnection\ntimeout\n";
    assert_eq!(printed("http-more", &script, b""), want);
}

#[test]
fn a_proxy_of_the_environment_gets_the_requests() {
    let proxy = server();
    let path = scratch("system-proxy").join("script.harn");
    fs::write(&path, "println(http_get(\"http://example.invalid/echo?a=1\").body)\n").unwrap();
    let outcome = harn_with_input(&["run", path.to_str().unwrap()], b"", &[("http_proxy", proxy.as_str())]);
    assert_eq!(outcome.out, "GET http://example.invalid/echo?a=1 HTTP/1.1 | no content-type | no x-mine | \n");
}

#[test]
fn own_headers_do_not_follow_a_redirect_to_another_origin() {
    let (first, second) = (server(), server());
    let headers = "{headers: {\"X-Mine\": \"key\", \"Authorization\": \"Bearer key\", \"Content-Type\": \"text/xml\"}}";
    let script = format!(
        "for status in [\"301 Moved\", \"303 See Other\", \"307 Temporary\", \"308 Permanent\"] {{\n  \
           for url in [\"{second}/echo\", \"{second}/to/302 Found/{first}/echo\", \"{first}/echo\"] {{\n    \
             println(http_post(\"{first}/to/${{status}}/${{url}}\", \"<a/>\", {headers}).body)\n  }}\n}}\n\
         let failed = try {{ http_get(\"{first}/to/302 Found/{second}/round\", {headers}) }}\n\
         println(unwrap_err(failed).category)\n"
    );
    let elsewhere = "GET /echo HTTP/1.1 | no content-type | no x-mine | \n";
    let with_body = "POST /echo HTTP/1.1 | content-type: text/xml | no x-mine | <a/>\n";
    // A redirect within the origin keeps the headers; one with 301 or 303 has no body.
    let own = "GET /echo HTTP/1.1 | no content-type | x-mine: key | \n";
    let own_with_body = "POST /echo HTTP/1.1 | content-type: text/xml | x-mine: key | <a/>\n";
    let seen = [elsewhere, elsewhere, own].concat().repeat(2);
    let kept = [with_body, elsewhere, own_with_body].concat().repeat(2);
    assert_eq!(printed("http-redirects", &script, b""), format!("{seen}{kept}connection\n"));
}

#[test]
fn answers_that_are_none() {
    let base = server();
    let script = format!(
        "for path in [\"slow\", \"broken\", \"large\", \"round\"] {{\n  \
           let e = unwrap_err(try {{ http_get(\"{base}/${{path}}\", {{timeout_ms: path == \"slow\" ? 300 : 20000}}) }})\n  \
           println(path, e.code, e.category)\n}}\n"
    );
    let want = "slow HARN-NET-003 timeout\nbroken HARN-NET-002 connection\nlarge HARN-NET-004 too_large\n\
                round HARN-NET-002 connection\n";
    assert_eq!(printed("http-failures", &script, b""), want);
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_writes_too_much_is_ended_with_those_it_started() {
    let mark = scratch("system-group").join("pid");
    let script = format!(
        "let r = try {{ exec(\"sh\", \"-c\", \"sleep 1000 & echo $! > '{}'; exec yes\") }}\nprintln(unwrap_err(r).code)\n",
        mark.display()
    );
    assert_eq!(printed("group", &script, b""), "HARN-IO-003\n");
    let pid = fs::read_to_string(mark).unwrap().trim().parse().unwrap();
    until("the program that was started in the background ends", || is_over(pid));
}

#[test]
fn no_program_starts_after_the_time_of_the_run() {
    let folder = scratch("system-late");
    let (path, mark) = (folder.join("script.harn"), folder.join("started"));
    // The error can be caught, and the run has some more time to clean up.
    let script = format!("let late = try {{ while true {{ }} }}\nexec(\"touch\", \"{}\")\n", mark.display());
    fs::write(&path, script).unwrap();
    let outcome = harn_with_input(&["run", "--timeout", "500ms", path.to_str().unwrap()], b"", &[]);
    assert_eq!(outcome.code, Some(3), "{}{}", outcome.out, outcome.err);
    assert!(outcome.err.contains("HARN-LIM-002") && !mark.exists(), "{}", outcome.err);
}

/// A program of a tool can read neither the environment of the run nor that of the process that has started it, whatever
/// the user may do.
#[cfg(target_os = "linux")]
#[test]
fn a_command_does_not_read_the_environment_of_the_run() {
    let folder = scratch("system-environ");
    let path = folder.join("script.harn");
    let script = format!(
        "let shell = shell_tool({{root: \"{}\", allow: [\"sh\"]}})\n\
         llm_mock({{tool_calls: [{{name: \"shell\", arguments: {{command: \"sh probe.sh\"}}}}]}})\n\
         let result = agent_loop(\"go\", nil, {{provider: \"mock\", tools: [shell], max_iterations: 1}})\n\
         println(transcript_messages(result.transcript).last().content)\n",
        folder.display()
    );
    fs::write(&path, script).unwrap();
    // Its parent is the run.
    let probe = "for file in environ maps auxv; do tr '\\0' '\\n' < /proc/$PPID/$file | head -c 9999; done\n\
                 ls /proc/$PPID/fd /proc/$PPID/cwd\necho read\ngrep Cap /proc/self/status\n";
    fs::write(folder.join("probe.sh"), probe).unwrap();
    let key = ("ANTHROPIC_API_KEY", "sk-that-no-tool-may-read");
    let outcome = harn_with_input(&["run", path.to_str().unwrap()], b"", &[key]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.out.contains("read\n"), "{}", outcome.out);
    for secret in [key.1, "ANTHROPIC_API_KEY", "[heap]", "Cargo.toml"] {
        assert!(!outcome.out.contains(secret), "{secret} in {}", outcome.out);
    }
    let capabilities = |name: &str| {
        let line = outcome.out.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    // chown, dac_override, fowner, fsetid, setgid, setuid, net_bind_service
    let kept = [0, 1, 3, 4, 6, 7, 10].iter().map(|bit| 1_u64 << bit).sum::<u64>();
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(capabilities(set) & !kept, 0, "{set} {}", outcome.out);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_ends_with_harn_even_if_that_is_killed() {
    let folder = scratch("system-killed");
    let (path, mark) = (folder.join("script.harn"), folder.join("pid"));
    let script = format!("exec(\"sh\", \"-c\", \"echo $$ > '{}'; exec sleep 60\")\n", mark.display());
    fs::write(&path, script).unwrap();
    let mut harn = std::process::Command::new(env!("CARGO_BIN_EXE_harn")).arg("run").arg(&path).spawn().unwrap();
    let pid = || fs::read_to_string(&mark).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let pid = find("the program", || pid().ok_or_else(String::new));
    assert!(!is_over(pid));
    harn.kill().unwrap();
    harn.wait().unwrap();
    until("the program ends", || is_over(pid));
}

/// Checks whether a process has ended. The state follows the name; a process that its parent has not waited for is a zombie.
#[cfg(target_os = "linux")]
fn is_over(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

/// Checks that the kernel confines a shell to its root, if the kernel has Landlock. Prints which
/// case it saw.
#[cfg(target_os = "linux")]
#[test]
fn a_command_reaches_no_file_outside_of_its_root_where_the_kernel_has_landlock() {
    let folder = scratch("system-landlock");
    let inside = folder.join("in");
    fs::create_dir_all(&inside).unwrap();
    fs::write(folder.join("secret.txt"), "secret\n").unwrap();
    let script = format!(
        "let shell = shell_tool({{root: \"{}\", allow: [\"sh\"]}})\n\
         llm_mock({{tool_calls: [{{id: \"c\", name: \"shell\", arguments: {{command: \"sh run.sh\"}}}}]}})\n\
         agent_loop(\"go\", nil, {{provider: \"mock\", tools: [shell], reminders: false, max_iterations: 1}})\n",
        inside.display()
    );
    fs::write(
        inside.join("run.sh"),
        "cat ../secret.txt > in.txt\necho x > ../out.txt\necho x > $TMPDIR/x && echo y > y.txt\n",
    )
    .unwrap();
    printed("landlock-script", &script, b"");
    let leaked = fs::read_to_string(inside.join("in.txt")).unwrap();
    let wrote = folder.join("out.txt").exists();
    assert_eq!(
        fs::read_to_string(inside.join("y.txt")).unwrap(),
        "y\n",
        "the root and its own temporary folder are open"
    );
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.trim();
    match (leaked.as_str(), wrote) {
        ("", false) => println!("Landlock is present (kernel {kernel})"),
        ("secret\n", true) => println!("Landlock is not present (kernel {kernel})"),
        other => panic!("neither all nor nothing is held: {other:?}"),
    }
}
