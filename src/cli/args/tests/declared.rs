//! The table of commands and options, and what holds for any words.

use super::*;

#[test]
fn the_table_holds_what_it_promises() {
    let table = Table::default();
    for flag in table.flags() {
        assert!(flag.long.starts_with("--") && flag.long.len() > 3, "{flag:?}");
        assert!(flag.description.len() > 10 && !flag.description.ends_with('.'), "{flag:?}");
        assert!(!flag.description.contains(['{', '}']), "argh doubles braces: {flag:?}");
        let same = table.flags().iter().filter(|other| other.long == flag.long);
        assert_eq!(same.count(), 1, "{flag:?}");
        if let Some(letter) = flag.short {
            assert!(letter.is_ascii_alphabetic(), "a digit would make numbers flags: {flag:?}");
            let same = table.flags().iter().filter(|other| other.short == Some(letter));
            assert_eq!(same.count(), 1, "{flag:?}");
        }
    }
    for command in table.commands() {
        assert!(command.name.len() > 2 && command.description.len() > 10);
        assert!(!command.examples.is_empty(), "{}", command.name);
        assert!(command.positionals.iter().all(|word| !word.description.is_empty()));
        assert_eq!(command.positionals.iter().filter(|word| word.hidden).count(), 0);
    }
    for (name, usual) in SPELLINGS {
        assert!(table.flags().iter().all(|flag| flag.long != *name), "{name}");
        assert!(table.flags().iter().any(|flag| flag.long == *usual), "{usual}");
    }
    for (short, long, _) in SHORTHANDS {
        assert!(table.long(short).is_some_and(|flag| flag.value.is_none()), "{short}");
        assert!(
            table.long(long).is_some_and(|flag| flag.value.is_some() && !flag.repeats),
            "{long}"
        );
    }
    for name in ALIASES.iter().map(|(_, usual, _)| usual).chain(WITH_TAIL) {
        assert!(table.commands().iter().any(|command| command.name == *name), "{name}");
    }
}

/// Options that are not given are not parsed.
#[test]
fn no_option_is_the_default() {
    assert_eq!(Globals::from_args(&["mcpmini"], &[]), Ok(Globals::default()));
    assert_eq!(Access::from_args(&["mcpmini"], &[]), Ok(Access::default()));
}

#[test]
fn every_command_is_in_the_table() {
    let table = Table::default();
    let declared = Command::get_args_info().commands.into_iter().map(|command| command.command);
    assert!(declared.eq(table.commands().iter().cloned()));
    for command in table.commands() {
        let letter = super::table::short_name(command).map(String::from);
        for word in [command.name].into_iter().chain(letter.as_deref()) {
            assert_eq!(table.command(word).as_ref(), Some(command), "{word}");
        }
    }
}

/// An option that several commands declare must be the same in each: the table keeps the first.
#[test]
fn an_option_means_the_same_everywhere() {
    let table = Table::default();
    let globals = Globals::get_args_info();
    let commands: Vec<_> = Command::get_args_info().commands;
    let of_commands = commands.iter().flat_map(|command| command.command.flags);
    for info in globals.flags.iter().chain(of_commands).filter(|info| info.long != HELP) {
        let flag = table.long(info.long).unwrap();
        let takes_value = info.kind != argh::FlagInfoKind::Switch;
        assert_eq!(flag.short, info.short, "{info:?}");
        assert_eq!(flag.value.is_some(), takes_value, "{info:?}");
        assert_eq!(flag.description, info.description, "{info:?}");
    }
    for info in commands.iter().flat_map(|command| command.command.flags) {
        let is_global = globals.flags.iter().any(|global| global.long == info.long);
        assert!(!is_global || info.long == HELP, "{} is an option of every command", info.long);
    }
}

#[test]
fn options_name_the_words_they_take() {
    let check = |long: &str, words: Vec<&str>| {
        let description = Table::default().long(long).unwrap().description;
        for word in words {
            assert!(description.contains(word), "{long} should name {word}");
        }
    };
    check("--output", Format::ALL.iter().map(|value| value.word()).collect());
    check("--http", choices::Http::ALL.iter().map(|value| value.word()).collect());
    check("--transport", choices::Transport::ALL.iter().map(|value| value.word()).collect());
    check("--id-format", choices::IdFormat::ALL.iter().map(|value| value.word()).collect());
    check("--color", choices::Color::ALL.iter().map(|value| value.word()).collect());
    let limits = crate::protocol::jsonrpc::Limits::default();
    check("--max-message", vec![&format!("{}MiB", limits.message >> 20)]);
    check("--max-depth", vec![&limits.depth.to_string()]);
    check("--timeout", vec![&format!("default {}", settings::TIMEOUT)]);
    check("--max-time", vec![&settings::MAX_TIME.to_string()]);
    check("--start-timeout", vec![&settings::START_TIMEOUT.to_string()]);
    let shutdown = crate::cli::duration::show(settings::SHUTDOWN_TIMEOUT);
    check("--shutdown-timeout", vec![&shutdown]);
}

/// The reason why argh never sees a help flag: in front of a command it hands the word `help` to
/// the command, which takes it for a word of its own and runs.
#[test]
fn argh_would_run_the_command_that_help_is_wanted_for() {
    #[derive(Debug, PartialEq, FromArgs)]
    #[argh(help_triggers("-h", "--help"))]
    /// program
    struct Program {
        #[argh(subcommand)]
        command: Ping,
    }
    #[derive(Debug, PartialEq, FromArgs)]
    #[argh(subcommand, name = "ping", help_triggers("-h", "--help"))]
    /// command
    struct Ping {
        #[argh(positional)]
        servers: Vec<String>,
    }
    let command = Ping { servers: vec!["help".into(), "s".into()] };
    let program = Program::from_args(&["program"], &["--help", "ping", "s"]);
    assert_eq!(program, Ok(Program { command }));
    check("--help ping s", r#"help: Command("ping")"#);
}

/// xorshift64*, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % limit
    }
}

#[test]
fn no_words_make_it_panic() {
    let table = Table::default();
    let mut pieces: Vec<String> =
        "- -- --- = --= -= -5 '' help -h --help a=1 a:={} é -é --é= \u{1b} \
        answers: fd: fd:3 0 30s 99999999999999999999h json auto x:1:::1 A: sha256: @- --roots raw c"
            .split(' ')
            .map(|piece| piece.trim_matches('\'').to_owned())
            .collect();
    pieces.extend(table.flags().iter().map(|flag| flag.long.to_owned()));
    pieces.extend(table.flags().iter().map(|flag| format!("{}=x", flag.long)));
    pieces.extend(table.flags().iter().filter_map(|flag| Some(format!("-{}", flag.short?))));
    pieces.extend(table.commands().iter().map(|command| command.name.to_owned()));
    let mut random = Random(0x6d63_706d_696e);
    for _ in 0..5_000 {
        let mut line: Vec<String> = Vec::new();
        for _ in 0..random.below(8) {
            let mut word = pieces[random.below(pieces.len())].clone();
            if random.below(4) == 0 {
                word.push_str(&pieces[random.below(pieces.len())]);
            }
            line.push(word);
        }
        let outcome = parse(line.iter().map(OsString::from).collect());
        let (before, after) = match line.iter().position(|word| word == "--") {
            Some(cut) => (&line[..cut], &line[cut + 1..]),
            None => (&line[..], &[][..]),
        };
        match outcome {
            Ok(invocation) => {
                assert!(!before.iter().any(|word| word == "-h" || word == HELP), "{line:?}");
                let is_call = matches!(invocation.command, Command::Call(_));
                assert!(!is_call || invocation.tail == after, "{line:?}");
                assert!(invocation.settings(&|_| None).is_ok(), "{line:?}");
            }
            Err(stop) => {
                let farewell = stop.farewell(&|_| None, |_| false);
                assert!(farewell.text.ends_with('\n'), "{line:?}");
                assert!(!farewell.text.contains('\u{1b}'), "{line:?}");
            }
        }
    }
}
