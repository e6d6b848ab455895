//! A person at the terminal: forms and pages.

use std::process::Child;
use std::time::{Duration, Instant};
use std::{io, thread};

use serde_json::{Value, json};

use super::support::{LIMIT, Scratch, wait_until};
use super::terminal::{CTRL_D, Terminal};
use super::{Way, every_way};

/// A call at a terminal.
struct Sitting {
    terminal: Terminal,
    child: Call,
}

/// A call that does not outlive the test.
struct Call(Child);

impl Drop for Call {
    fn drop(&mut self) {
        // It has ended, unless the test has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Sitting {
    /// Begins a call; none where there are no terminals.
    fn begin(scratch: &Scratch, way: &Way, words: &[&str]) -> Option<Self> {
        let terminal = Terminal::open()?;
        let mut command = scratch.mcpmini(["call", &way.server, "--elicit", "ask"]);
        // The browser is a script that writes down what it should open.
        let browser = scratch.write("browser", "#!/bin/sh\necho \"$1\" >>\"${0%/*}/opened\"\n");
        command.args(words).env("BROWSER", format!("sh {browser}")).env("NO_COLOR", "1");
        let child = Call(terminal.attach(&mut command).spawn().unwrap());
        Some(Self { terminal, child })
    }

    /// Waits for the end of the call; returns its exit code, its answer and all that was shown.
    #[track_caller]
    fn end(mut self) -> (i32, Value, String) {
        let mut status = None;
        let deadline = Instant::now() + LIMIT;
        while status.is_none() {
            assert!(Instant::now() < deadline, "no end: {}", self.terminal.shown());
            thread::sleep(Duration::from_millis(5));
            status = self.child.0.try_wait().unwrap();
        }
        let out = io::read_to_string(self.child.0.stdout.take().unwrap()).unwrap();
        let out = serde_json::from_str(&out).unwrap_or_default();
        (status.unwrap().code().unwrap(), out, self.terminal.close())
    }
}

/// Does something with a call over each way.
fn over_every_way(words: &[&str], what: impl Fn(&Scratch, &mut Terminal), expected: &Value) {
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let Some(mut sitting) = Sitting::begin(&scratch, &way, words) else { return };
        what(&scratch, &mut sitting.terminal);
        let (code, out, shown) = sitting.end();
        assert_eq!((code, &out), (0, expected), "{}: {shown}", way.name);
        // The server tried to wipe the screen.
        assert!(!shown.contains("\u{1b}[2J"), "{}", way.name);
    }
}

fn accepted(content: &Value) -> Value {
    json!({ "form": { "action": "accept", "content": content } })
}

#[test]
fn a_form_is_filled_field_by_field() {
    let fill = |_: &Scratch, terminal: &mut Terminal| {
        terminal.expect("asks for input.");
        terminal.expect("  Tell me about[2J yourself.");
        terminal.expect("Your name (text, 2 to 20 characters)");
        terminal.expect("  As your friends call you.");
        terminal.answer("> ", "A");
        terminal.expect("it must have at least 2 characters");
        terminal.answer("> ", "");
        terminal.expect("it is needed");
        terminal.answer("> ", "Ada 🎉");
        terminal.expect("age (whole number, 18 to 150)");
        terminal.answer("> ", "seventeen");
        terminal.expect("it must be a number");
        terminal.answer("> ", "36");
        terminal.expect("height (number, may be left out)");
        terminal.answer("[1.5] > ", "");
        terminal.expect("email (an e-mail address, may be left out)");
        terminal.answer("> ", "nobody");
        terminal.answer("it must be an e-mail address", "a@b.c");
        terminal.answer("page (a URL", "");
        terminal.answer("born (a date", "/skip");
        terminal.answer("now (a date with time", "");
        terminal.answer("[yes] > ", "n");
        terminal.expect("  1) small");
        terminal.answer("[large] > ", "1");
        terminal.expect("  1) Red");
        terminal.answer("> ", "green");
        terminal.answer("2) Dog", "2");
        terminal.answer("tags (any of these, with commas, may be left out)", "3, a");
        terminal.answer("[Tuna] > ", "1,2");
        terminal.expect("Your answers:");
        terminal.expect("  Your name: Ada 🎉");
        terminal.expect("  born: (left out)");
        terminal.expect("  tags: c, a");
        terminal.answer("Send this? (y)es, (e)dit, (n)o > ", "yes");
    };
    let content = json!({
        "name": "Ada 🎉", "age": 36, "height": 1.5, "email": "a@b.c", "happy": false,
        "size": "small", "colour": "#0f0", "pet": "p2", "tags": ["c", "a"], "fish": ["f1", "f2"],
    });
    over_every_way(&["form"], fill, &accepted(&content));
}

#[test]
fn answers_can_be_changed_before_they_are_sent() {
    let fill = |_: &Scratch, terminal: &mut Terminal| {
        // What the command line answers is offered.
        terminal.answer("[Bo] > ", "");
        terminal.answer("> ", "20");
        for _ in 0..11 {
            terminal.answer("> ", "/skip");
        }
        terminal.answer("Send this?", "e");
        terminal.answer("[Bo] > ", "Cy");
        terminal.answer("[20] > ", "");
        for _ in 0..11 {
            terminal.answer("> ", "/skip");
        }
        terminal.answer("Send this?", "perhaps");
        terminal.answer("Send this?", "y");
    };
    // A field without anything to offer has a prompt without brackets.
    let fill_all = |scratch: &Scratch, terminal: &mut Terminal| fill(scratch, terminal);
    let content = json!({ "name": "Cy", "age": 20 });
    over_every_way(&["form", "--answer", "name=Bo"], fill_all, &accepted(&content));
}

#[test]
fn a_question_is_declined_or_dismissed() {
    type Act = fn(&mut Terminal);
    let rows: &[(Act, &str)] = &[
        (|terminal| terminal.answer("> ", "/decline"), "decline"),
        (|terminal| terminal.answer("> ", "/cancel"), "cancel"),
        (
            |terminal| {
                terminal.expect("> ");
                terminal.press(CTRL_D);
            },
            "cancel",
        ),
    ];
    for (act, action) in rows {
        let expected = json!({ "form": { "action": action } });
        over_every_way(&["form"], |_, terminal| act(terminal), &expected);
    }
}

#[test]
fn a_page_is_opened_after_a_yes() {
    let agree = |scratch: &Scratch, terminal: &mut Terminal| {
        terminal.expect("wants you to open a page in your browser.");
        terminal.expect("  Connect your account.");
        terminal.expect("https://demo.example/connect?id=7");
        terminal.expect("Its host is demo.example.");
        assert!(!scratch.path("opened").exists());
        terminal.answer("Open it? (y)es, (n)o > ", "");
        terminal.answer("Open it? (y)es, (n)o > ", "y");
        let opened = || scratch.lines("opened") == ["https://demo.example/connect?id=7"];
        wait_until("the browser", opened);
    };
    over_every_way(&["connect"], agree, &json!({ "connect": { "action": "accept" } }));
}

#[test]
fn a_page_is_not_opened_without_a_yes() {
    let answer = |line: &'static str| {
        move |scratch: &Scratch, terminal: &mut Terminal| {
            terminal.expect("Open it?");
            terminal.press(line);
            assert!(!scratch.path("opened").exists());
        }
    };
    let words = ["connect", "url=http://demo.example/"];
    let decline = json!({ "connect": { "action": "decline" } });
    over_every_way(&words, answer("no\n"), &decline);
    over_every_way(&words, answer(CTRL_D), &json!({ "connect": { "action": "cancel" } }));
    let beware = |scratch: &Scratch, terminal: &mut Terminal| {
        terminal.expect("Beware: what you type there is not encrypted.");
        answer("n\n")(scratch, terminal);
    };
    over_every_way(&words, beware, &decline);
}

#[test]
fn what_is_no_page_is_not_even_shown_as_one() {
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let words = ["connect", "url=file:///etc/passwd"];
        let Some(sitting) = Sitting::begin(&scratch, &way, &words) else { return };
        let (code, _, shown) = sitting.end();
        assert_eq!(code, 10, "{}: {shown}", way.name);
        assert!(shown.contains("the URL is none that can be opened"), "{}: {shown}", way.name);
        assert!(!shown.contains("Open it?") && !scratch.path("opened").exists());
    }
}

#[test]
fn questions_come_one_after_the_other() {
    let answer = |_: &Scratch, terminal: &mut Terminal| {
        terminal.answer("Your name (text)", "Ada");
        terminal.answer("Send this?", "y");
    };
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let words = ["interview", "--root", "/", "--sample", "cmd:echo yes"];
        let Some(mut sitting) = Sitting::begin(&scratch, &way, &words) else { return };
        answer(&scratch, &mut sitting.terminal);
        let (code, out, shown) = sitting.end();
        assert_eq!(code, 0, "{}: {shown}", way.name);
        assert_eq!(out["form"]["content"]["name"], "Ada", "{}", way.name);
    }
}

#[test]
fn a_person_may_take_longer_than_a_server() {
    let answer = |_: &Scratch, terminal: &mut Terminal| {
        terminal.expect("Open it?");
        thread::sleep(Duration::from_millis(1500));
        terminal.press("y\n");
    };
    let expected = json!({ "connect": { "action": "accept" } });
    over_every_way(&["connect", "--timeout", "1s"], answer, &expected);
}
