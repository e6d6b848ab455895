//! The stdio binding: a message a line.

use std::io::{self, BufRead, Write};
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use std::{process, thread};

use serde_json::{Value, json};

use crate::protocol::{Client, Incoming, respond};
use crate::{Options, asking, changes, faults};

/// Serves until stdin ends.
pub(crate) fn serve(options: &'static Options) -> io::Result<()> {
    if options.has_fault("orphan") {
        // It inherits stdin, stdout and stderr, as what a shell starts in the background does.
        Command::new("sleep").arg("60").spawn()?;
    }
    faults::begin(options);
    let (sender, lines) = mpsc::channel();
    thread::scope(|scope| {
        // Reading in a thread of its own: the log shows a message when it comes, not only when
        // the server has finished what it is at.
        scope.spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                options.log(&line);
                if sender.send(line).is_err() {
                    break;
                }
            }
            options.log("EOF");
            if options.has_fault("stay") {
                thread::sleep(Duration::from_secs(60));
            }
            // Nobody waits for an answer any more, whatever the server is at.
            process::exit(0);
        });
        let mut client = Pipe { lines: &lines };
        while let Ok(line) = lines.recv() {
            answer(&line, options, &mut client);
        }
    });
    Ok(())
}

fn answer(line: &str, options: &'static Options, client: &mut Pipe<'_>) {
    let Ok(message) = serde_json::from_str::<Incoming<'_>>(line) else {
        eprintln!("demo-server: not a message: {line:.200}");
        if options.has_fault("fragile") {
            process::exit(1);
        }
        return;
    };
    if changes::take(&message, options, |line| {
        write_line(line);
        true
    }) {
        return;
    }
    // Notifications and late responses want no answer.
    if let (Some(id), Some(_)) = (message.id, &message.method)
        && !options.has_fault("silent")
    {
        let response = respond(id, &message, options, client);
        write_line(&faults::spoil(line, response, options));
    } else if let (None, Some(answer)) = (message.id, faults::to_notification(options)) {
        write_line(&answer);
    }
}

/// Writes a line; ends the program when nobody reads any more.
fn write_line(line: &str) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush()).is_err() {
        process::exit(0);
    }
}

/// The client at the other end of stdin and stdout.
struct Pipe<'a> {
    lines: &'a Receiver<String>,
}

impl Client for Pipe<'_> {
    fn notify(&mut self, notification: &Value) {
        write_line(&notification.to_string());
    }

    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        let id = asking::next_id();
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        write_line(&request.to_string());
        loop {
            let mut response: Value = serde_json::from_str(&self.lines.recv().ok()?).ok()?;
            if response["id"] == id {
                return response.get_mut("result").map(Value::take);
            }
        }
    }
}
