//! The command line as a table: words on the left, what they mean on the right.
mod accepted;
mod declared;
mod refused;
mod settled;

use std::ffi::OsString;
use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::commands::{ALIASES, WITH_TAIL};
use super::doctor_command::Doctor;
use super::globals::{SHORTHANDS, SPELLINGS};
use super::primitives::{Complete, Watch};
use super::table::{HELP, Table};
use super::values::Expectation;
use super::*;
use crate::cli::exit::Exit;
use crate::cli::terminal::{ColorRule, Stream};
use crate::protocol::pointer::Pointer;

/// Splits a line into words as a shell does with single quotes.
fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from).collect()
}

/// The fields of a struct that differ from those of another, as `name: value`.
fn differences(value: &impl std::fmt::Debug, from: &impl std::fmt::Debug) -> Vec<String> {
    let fields = |text: String| -> Vec<String> {
        let body = text.split_once(" { ").map_or("", |(_, body)| body);
        let mut fields = vec![String::new()];
        let (mut depth, mut quoted) = (0, false);
        for c in body.strip_suffix(" }").unwrap_or(body).chars() {
            quoted ^= c == '"';
            depth += i32::from(!quoted && "([{".contains(c));
            depth -= i32::from(!quoted && ")]}".contains(c));
            let last = fields.last_mut().unwrap();
            match c {
                ',' if depth == 0 && !quoted => fields.push(String::new()),
                c if !(last.is_empty() && c == ' ') => last.push(c),
                _ => {}
            }
        }
        fields
    };
    let (value, from) = (fields(format!("{value:?}")), fields(format!("{from:?}")));
    value.into_iter().filter(|field| !from.contains(field)).collect()
}

/// What a command line means: the command, its words, its options, then what is set otherwise.
fn meaning(line: &str) -> String {
    let invocation = match parse(words(line)) {
        Ok(invocation) => invocation,
        Err(Stop { why: Why::Help(page), .. }) => return format!("help: {page:?}"),
        Err(Stop { why: Why::Version, output, .. }) => return format!("version: {output:?}"),
        Err(Stop { why: Why::Usage(mistake), .. }) => return format!("error: {mistake}"),
    };
    let Invocation { globals, access, command, tail } = &*invocation;
    let mut out = command.name().to_owned();
    let mut add = |text: String| out.push_str(&format!(" {text}"));
    let mut switch = |on: bool, name: &str| on.then(|| name.to_owned()).map_or((), &mut add);
    match command {
        Command::Call(call) => {
            switch(call.no_schema, "--no-schema");
            switch(call.no_check, "--no-check");
            switch(call.check_arguments, "--check-arguments");
            switch(call.dry_run, "--dry-run");
            switch(call.check_output, "--check-output");
            switch(call.task, "--task");
            switch(call.wait, "--wait");
            demands(&call.select, &call.expect, call.save.as_ref()).for_each(&mut add);
            add(format!("{} {} {:?}", call.server, call.tool, call.args));
        }
        Command::Tools(tools) => {
            tools.grep.iter().for_each(|grep| add(format!("--grep {grep}")));
            add(format!("{} {:?}", tools.server().unwrap_or("--all"), tools.pattern()));
        }
        Command::Schema(schema) => {
            switch(schema.output_schema, "--output-schema");
            switch(schema.example, "--example");
            add(format!("{} {}", schema.server, schema.tool));
        }
        Command::Info(info) => add(info.server.clone()),
        Command::Ping(ping) => add(ping.server.clone()),
        Command::Rpc(rpc) => {
            switch(rpc.envelope, "--envelope");
            switch(rpc.dry_run, "--dry-run");
            demands(&rpc.select, &rpc.expect, None).for_each(&mut add);
            add(format!("{} {} {:?}", rpc.server, rpc.method, rpc.params));
        }
        other => many(other).unwrap_or_else(|| primitive(other)).into_iter().for_each(&mut add),
    }
    if !tail.is_empty() {
        add(format!("-- {tail:?}"));
    }
    let mut set = differences(globals, &Globals::from_args(&["mcpmini"], &[]).unwrap());
    set.extend(differences(access, &Access::default()));
    if !set.is_empty() {
        add(format!("| {}", set.join(", ")));
    }
    out
}

/// The options and words of the commands about servers as such, and for the shell.
fn configuration(command: &Command) -> Vec<String> {
    let switched = |switches: &[(bool, &str)], words: String| {
        let switches = switches.iter().filter(|(on, _)| *on).map(|(_, name)| (*name).to_owned());
        switches.chain([words]).collect()
    };
    match command {
        Command::Add(add) => {
            let switches = [(add.project, "--project"), (add.force, "--force")];
            switched(&switches, format!("{:?}", add.words(false)))
        }
        Command::Remove(remove) => switched(&[(remove.project, "--project")], remove.name.clone()),
        Command::Config(config) => {
            let words = format!("{} {:?} {:?}", config.action.word(), config.from, config.names);
            switched(&[(config.copy, "--copy"), (config.force, "--force")], words)
        }
        Command::Discover(wanted) => {
            let switches = [
                (wanted.standard, "--standard"),
                (wanted.html, "--html"),
                (wanted.probe, "--probe"),
                (wanted.allow_http, "--allow-http"),
                (wanted.offline, "--offline"),
            ];
            switched(&switches, format!("{:?} {}", wanted.max_card_bytes, wanted.place))
        }
        Command::Card(card) => {
            let switches = [
                (card.connect, "--connect"),
                (card.standard, "--standard"),
                (card.allow_http, "--allow-http"),
                (card.offline, "--offline"),
            ];
            let (action, entry) = (card.action().word(), &card.entry);
            switched(&switches, format!("{action} {entry:?} {:?} {}", card.var, card.place()))
        }
        Command::Approve(approve) => vec![format!("{:?} {:?}", approve.name, approve.accept)],
        Command::Login(login) => {
            let switches = [(login.no_browser, "--no-browser"), (login.device, "--device")];
            switched(&switches, login.server.clone())
        }
        Command::Logout(logout) => vec![logout.server.clone()],
        Command::Token(token) => vec![token.server.clone()],
        Command::Replay(replay) => vec![format!("{:?} {:?}", replay.file, replay.name)],
        Command::Completions(completions) => vec![completions.shell.word().to_owned()],
        other => panic!("{} is no command of these", other.name()),
    }
}

/// The options and words of the commands for many requests and many servers.
fn many(command: &Command) -> Option<Vec<String>> {
    let switch = |on: bool, name: &str| on.then(|| name.to_owned());
    let (switches, words) = match command {
        Command::Batch(batch) => {
            let switches = vec![
                switch(batch.ordered, "--ordered"),
                switch(batch.keep_going, "--keep-going"),
                switch(batch.no_schema, "--no-schema"),
                switch(batch.check_arguments, "--check-arguments"),
            ];
            (switches, format!("{:?} {} {}", batch.jobs, batch.server, batch.input))
        }
        Command::Bench(bench) => {
            let (calls, jobs) = (bench.calls, bench.jobs);
            let words =
                format!("{calls:?} {jobs:?} {} {} {:?}", bench.server, bench.tool, bench.args);
            (vec![switch(bench.keep_going, "--keep-going")], words)
        }
        Command::Session(session) => (Vec::new(), format!("{:?}", session.servers)),
        Command::Servers(servers) => {
            (vec![switch(servers.check, "--check")], format!("{:?}", servers.names))
        }
        Command::Doctor(doctor) => {
            let Doctor { fail_on, only, require_auth, sticky, baseline, write_baseline, server } =
                doctor;
            let fail_on = fail_on.map(|it| format!("--fail-on {}", it.word()));
            let files: Vec<_> = baseline.iter().chain(write_baseline).collect();
            let words = format!("{only:?} {sticky:?} {files:?} {server}");
            (vec![fail_on, switch(*require_auth, "--require-auth")], words)
        }
        Command::Cache(cache) => (Vec::new(), format!("{:?} {:?}", cache.action, cache.server)),
        _ => return None,
    };
    Some(switches.into_iter().flatten().chain([words]).collect())
}

/// The options and words of the commands beside tools.
fn primitive(command: &Command) -> Vec<String> {
    match command {
        Command::Find(find) => {
            let switches = [(find.regex, "-E"), (find.ignore_case, "-i")].into_iter();
            let switches = switches.filter(|(on, _)| *on).map(|(_, name)| name.to_owned());
            switches.chain([format!("{} {:?}", find.pattern, find.servers)]).collect()
        }
        Command::Resources(resources) => vec![resources.server.clone()],
        Command::Templates(templates) => vec![templates.server.clone()],
        Command::Read(read) => {
            let demands = demands(&read.select, &read.expect, read.save.as_ref());
            demands.chain([format!("{} {} {:?}", read.server, read.uri, read.more)]).collect()
        }
        Command::Prompts(prompts) => vec![prompts.server.clone()],
        Command::Prompt(prompt) => {
            let demands = demands(&prompt.select, &prompt.expect, prompt.save.as_ref());
            let words = format!("{} {} {:?}", prompt.server, prompt.name, prompt.args);
            demands.chain([words]).collect()
        }
        Command::Complete(complete) => {
            let Complete { context, server, reference, argument, prefix } = complete;
            let context = context.iter().map(|known| format!("--context {}", known.key));
            context.chain([format!("{server} {reference} {argument} {prefix:?}")]).collect()
        }
        Command::Skills(skills) => vec![skills.server.clone()],
        Command::Skill(skill) => {
            let all = skill.with_files.then(|| "--with-files".to_owned());
            let install = skill.install.as_ref().map(|dir| format!("--install {}", dir.display()));
            let words = format!("{} {} {:?}", skill.server, skill.skill, skill.file);
            all.into_iter().chain(install).chain([words]).collect()
        }
        Command::Task(task) => {
            let demands = demands(&task.select, &task.expect, task.save.as_ref());
            let words =
                format!("{} {} {} {:?}", task.action.word(), task.server, task.id, task.args);
            demands.chain([words]).collect()
        }
        Command::Watch(watch) => {
            let Watch { tools, prompts, resource_list, resources, count, server, uris } = watch;
            let lists = [(tools, "--tools"), (prompts, "--prompts"), (resource_list, "--lists")];
            let lists = lists.into_iter().filter(|(on, _)| **on).map(|(_, name)| name.to_owned());
            lists.chain([format!("{server} {resources:?} {uris:?} {count:?}")]).collect()
        }
        other => configuration(other),
    }
}

/// What is wanted of an answer, option by option.
fn demands(
    select: &[Pointer],
    expect: &[Expectation],
    save: Option<&PathBuf>,
) -> impl Iterator<Item = String> {
    let select = select.iter().map(|pointer| format!("--select {pointer}"));
    let expect =
        expect.iter().map(|Expectation { pointer, value }| format!("--expect {pointer}={value}"));
    let save = save.map(|directory| format!("--save {}", directory.display()));
    select.chain(expect).chain(save).collect::<Vec<_>>().into_iter()
}

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(meaning(line), expected, "{line}");
}
